"""Judges of secrets: they see what a row's pattern has matched, and let placeholders and code escape.

A judge answers where the span to replace ends, or 0 to leave it alone (or -N: leave it, and go on at N).
It goes by the name that its row holds: loaded on the first hit, so a clean text does not pay for it.
"""

from backstory.hook.placeholders import (
    LONGEST,
    Grain,
    bare_end,
    extend,
    glued,
    looks_secret,
    of_words,
    placeholder,
    stands_in,
    template,
)
from backstory.hook.plaintext_passwords import (
    BARE,
    NO_PASSWORDS,
    given_to_secret,
    given_word,
    given_word_abroad,
)
from backstory.hook.secret_names import IDENT, given_by_command, name_before, names_secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable


def whole(match: "re.Match[str]") -> int:
    """Whatever matched goes."""
    return match.end(match.lastindex or 0)


def value(match: "re.Match[str]") -> int:
    """The value that a telling name precedes, unless it is a placeholder."""
    return 0 if placeholder(match[match.lastindex or 0]) else match.end(match.lastindex or 0)


def token(match: "re.Match[str]") -> int:
    """A token with a prefix of its own, unless it is a placeholder or the tail of a longer word."""
    end = 0 if glued(match.string, match.start()) else value(match)
    return extend(match.string, end) if end else 0


def bot_token(match: "re.Match[str]") -> int:
    """A token of a bot; its address has `bot` right before it."""
    if match.string[max(0, match.start() - 4) : match.start()] in ("/bot", "\\bot"):
        return extend(match.string, value(match)) if value(match) else 0
    return token(match)


def random_token(match: "re.Match[str]") -> int:
    """The same for a prefix so short that words start with it too."""
    return token(match) if Grain(match[0]).random() else 20 - match.end()


def fixed(match: "re.Match[str]") -> int:
    """The same for a token of a known length."""
    return 0 if glued(match.string, match.start()) else value(match)


def authorization(match: "re.Match[str]") -> int:
    """What follows `Authorization: Bearer`, or `Bearer` alone."""
    given, end, text = match[match.lastindex or 0], match.end(match.lastindex or 0), match.string
    if placeholder(given) or template(given) or given[0] == "[" or text[end : end + 1] in ("(", "[", "{"):
        return 0
    grain = Grain(given)
    if match.lastindex in (2, 4) and not grain.random():
        return 0
    if not grain.digits and not (grain.upper and grain.lower) and not given.endswith("="):
        return 0  # Bearer token, Bearer ACCESS_TOKEN
    return extend(text, end, IDENT + ".~+/=")


def url_password(match: "re.Match[str]") -> int:
    """The password of a URL, unless a template fills it in."""
    given, group = match[match.lastindex or 0], match.lastindex or 0
    if template(given) or given[0] in "[*" or len(set(given)) == 1 or "redacted" in given.lower():
        return 0
    if given in LOCAL_PASSWORDS and match.string[match.end() :].startswith(LOCAL_HOSTS):
        return 0  # every tutorial's database
    return match.end(group) if group == 1 or Grain(given).random() else 0  # https://TOKEN@host


def url_user(match: "re.Match[str]") -> int:
    """A token in the place of a URL's user."""
    return match.end(1) if Grain(match[1].partition(":")[0]).random() else 0


LOCAL_PASSWORDS = ("password", "pass", "postgres", "root", "mysql", "guest", "user", "admin", "test")
LOCAL_HOSTS = ("localhost", "127.0.0.1", "[::1]", "0.0.0.0")  # noqa: S104 - compared, not bound


SHORTEST_HEX = 32  # of a key that only its value tells, and that has no capitals
SHORTEST_DRAWN = 20  # of a key that only its value tells
HUMAN_KINDS = ("plain", "human")
_PLAIN = {"plain": given_word, "machine": given_to_secret}


def assigned(match: "re.Match[str]") -> int:
    """The value given to a secret's name: `password = "…"`, `api_key: …`, `--token …`."""
    text, before = match.string, name_before(match.string, match.start())
    kind, name = names_secret(before, match[1].lower()), match.start() - len(before)
    if not kind or text[name - 10 : name] == "[redacted:":
        return 0
    if not match[2].strip() and not before.startswith("-") and not given_by_command(text, match.start()):
        return _in_row(match, name)
    if kind == "keyed" and not _keyed(match, name):
        return 0
    if match.lastindex == BARE and _names_another(match[BARE]):
        return 0
    plain = _PLAIN.get(kind)
    return _given(match, kind in HUMAN_KINDS, lambda: plain is not None and plain(match, name))


def _names_another(value: str) -> bool:
    """Whether a value is itself the name of a secret that is given one: it is looked at there."""
    name, sign, _ = value[:48].partition("=")
    return bool(sign) and bool(names_secret("", name.lower()))


def _keyed(match: "re.Match[str]", name: int) -> bool:
    """Whether STRIPE_KEY is given what a machine has drawn; a key in small letters may be that of a map."""
    given = match[match.lastindex or 0]
    return (
        match.string[name : match.end(1)].isupper()
        and len(given) >= SHORTEST_DRAWN
        and (Grain(given).scattered() or _hex(given))
    )


def _hex(given: str) -> bool:
    return len(given) >= SHORTEST_HEX and given.isalnum() and given.islower() and Grain(given).random()


def _is_drawn(given: str) -> bool:
    return len(given) >= SHORTEST_DRAWN and Grain(given).scattered()


def _in_row(match: "re.Match[str]", name: int) -> int:
    """A line of a table that is a name, two blanks or more, and a value: what `vault kv get` prints."""
    text, group = match.string, match.lastindex or 0
    start, end = match.span(group)
    ends = text[end : end + 2].lstrip(" \t")
    gap = text[match.end(1) : start]
    if group < BARE or gap.strip(" \t") or len(gap) < 2 or (ends and ends[0] not in "\r\n\\"):
        return 0
    line = text[max(0, name - 40) : name].rpartition("\n")[2]
    if line.strip(" \t│|") and not line.endswith("\\n"):
        return 0
    given = text[start:end]
    return (
        end
        if looks_secret(given, False, quoted=True) or (len(given) >= 8 and Grain(given).scattered())
        else 0
    )


def assigned_abroad(match: "re.Match[str]") -> int:
    """The same for a name in another language: `Passwort: …`, `mot de passe : …`."""
    if glued(match.string, match.start()):
        return 0
    return _given(match, True, lambda: given_word_abroad(match, match.start()))


def _given(match: "re.Match[str]", human: bool, plain: "Callable[[], bool]") -> int:
    text, group = match.string, match.lastindex or 0
    start, end = match.span(group)
    sign, quoted = match[2].strip(), group < BARE
    end = end if quoted else bare_end(text, start, end)
    given, after = text[start:end], text[end : end + 1]
    if quoted and end - start < LONGEST and after and after not in "\"'`\\":
        return 0  # words with spaces between them: a message, not a secret
    if not quoted:
        if after and after in "([{":
            return 0  # a call
        given = given.rstrip(".,:!?")
        end = start + len(given)
        if not human and sign == ":" and given[:1].isupper() and given.isidentifier() and of_words(given):
            return 0  # the name of a type
    if sign == "," and given.isidentifier() and (of_words(given) or given.islower()) and not _is_drawn(given):
        return 0  # a list of names
    if (sign == ">" and after != "<") or (sign in ("||", "??") and not quoted):
        return 0
    if not given or not (looks_secret(given, human, quoted) or plain()):
        return 0
    if sign.isalpha() and not any("0" <= char <= "9" for char in given):
        return 0  # password is wrong
    if quoted:
        quote, nested = text[start - 1], text[start - 2 : start - 1] == "\\"
        while end < len(text) and text[end] != quote and not text[end].isspace():
            if nested and text[end : end + 2] == "\\" + quote:
                break
            end += 2 if text[end] == "\\" else 1
        return min(end, len(text))
    return extend(text, end, IDENT + "+/=." if len(given) >= LONGEST else "!?")


def option_password(match: "re.Match[str]") -> int:
    """The password that an option gives: `sshpass -p …`."""
    text = match.string
    if glued(text, match.start()) or text[match.start() - 1 : match.start()] in ("_", "-"):
        return 0
    return argument_password(match)


def argument_password(match: "re.Match[str]") -> int:
    """The same where nothing before the match matters."""
    text, group = match.string, match.lastindex or 0
    given, (start, end) = match[group], match.span(group)
    if template(given) or given[0] in ",.:;+&)]}[*" or len(set(given)) == 1 < len(given):
        return 0
    if stands_in(given.lower()) or (given.isupper() and given.isalpha()):
        return 0
    quote = text[start - 1] if text[start - 1] in "\"'" else ""
    while end < len(text) and end - start >= LONGEST and not text[end].isspace() and text[end] not in "\"'":
        end += 1
    return 0 if quote and text[end : end + 1] not in (quote, "\\") else end


def login_password(match: "re.Match[str]") -> int:
    """The same in a file of logins: `machine … login … password …`; the fields of a struct stay."""
    return 0 if match[1].lower() in NO_PASSWORDS else option_password(match)


def command_password(match: "re.Match[str]") -> int:
    """The same for `mysql -p…` and `curl -u user:…`; ports and user ids stay."""
    given = match[match.lastindex or 0]
    if given.startswith(("//", "ort=", "assword")) or len(set(given)) == 1:
        return 0
    if not given.strip("0123456789.:/") and (len(given) <= 5 or ":" in given):
        return 0  # --user 1000:1000, docker run --name mysql -p3306:3306
    return option_password(match)


SESSION_WORDS = ("sess", "sid", "auth", "token", "jwt", "csrf", "xsrf", "login", "remember")


def cookie(match: "re.Match[str]") -> int:
    """What a cookie's header holds, if one of its cookies could be somebody's session."""
    text, group = match.string, match.lastindex or 0
    pairs = [match[1] + "=" + match[2]] if group == 2 else match[3].split(";")
    for pair in pairs:
        name, _, given = pair.strip().partition("=")
        named = any(word in name.lower() for word in SESSION_WORDS)
        if given and looks_secret(given[:LONGEST], named, quoted=False):
            end = match.end(group)
            while end < len(text) and not text[end].isspace() and text[end] not in "\"'`;,\\":
                end += 1
            return end
    return 0
