"""Judges of what only its surroundings tell: tokens by their prefix, options of commands, sentences.

A judge answers where the span to replace ends, or 0 to leave it alone: see validators.py.
"""

from backstory.hook.placeholders import (
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
from backstory.hook.plaintext_passwords import NO_PASSWORDS, scrambled, wordy
from backstory.hook.secret_names import IDENT
from backstory.hook.validators import argument_password

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

SHORTEST_RUN = 20  # of a token with a prefix: see `head` in anchors.py
BASE64 = IDENT + "+/="
ENDS = ".,;:!?)]}>"
UUID = [8, 4, 4, 4, 12]
SHORTEST_POSITIONAL = 4
NAMES_USER = (" -u ", " -U ", " -u=", " --user", " login ", "useradd ", "usermod ", "twine ", "supabase ")
LONGEST_LABEL = 40
LINE_STARTS = ("\n", "\\n", '"')


def _begins(text: str, start: int) -> bool:
    """Whether a run of letters, digits, _ and - starts here, apart from an escape of nested JSON."""
    if text[start - 1 : start] == "-" and text[max(0, start - 3) : start - 1].endswith(LINE_STARTS):
        return True  # a line that a diff removes
    return not glued(text, start) and text[start - 1 : start] not in ("_", "-")


def drawn(value: str) -> bool:
    """Whether a run looks drawn by a machine, and not like words, a version or a file's name."""
    grain = Grain(value[:160])
    if [size for size, *_ in grain.parts][-5:] == UUID and grain.digits >= 4:
        return True
    if (
        len(value) >= 24
        and grain.digits >= 2
        and grain.upper >= 4
        and grain.lower >= 4
        and _turns(grain) >= 8
    ):
        return True
    return any(_part_drawn(*part) for part in grain.parts)


def _part_drawn(size: int, digits: int, upper: int, turns: int) -> bool:
    lower = size - digits - upper
    if size >= 16 and digits >= 2 and size - digits >= 2 and turns >= 4:
        return True
    if size >= 12 and digits and upper >= 2 and lower >= 2 and turns >= 5:
        return True
    return size >= 20 and 0.25 <= upper / size <= 0.75


def _turns(grain: Grain) -> int:
    return sum(turns for *_, turns in grain.parts)


def head_token(match: "re.Match[str]") -> int:
    """A token with the prefix of a service, at the start of a run that looks drawn by a machine."""
    text, start = match.string, match.start()
    end = extend(text, match.end())
    if not _begins(text, start) or end - start < SHORTEST_RUN or _in_base64(text, start):
        return 0
    whole = extend(text, end, BASE64) if text[end : end + 1] in ("+", "/", "=") else end
    if placeholder(match[0]) or not drawn(text[start : min(whole, match.end() + 160)]):
        return 20 - end if end - start > 255 else 0
    return whole


def kind_token(match: "re.Match[str]") -> int:
    """A token that its kind names, after the name of a service: `acme_pat_…`."""
    text, start = match.string, match.start()
    given = match[0].partition("_")[2]
    if text[start - 1 : start] != "_" or not text[start - 2 : start - 1].isalnum():
        return 0  # get_api_… goes on in words, and a run that starts here is one of `word_token`
    mixed = len(given) >= SHORTEST_RUN and drawn(given) and Grain(given).random()
    return match.end() if mixed and not placeholder(given) and not of_words(given) else 0


def word_token(match: "re.Match[str]") -> int:
    """The same for a prefix that names in code have too: `test_InvalidHTTPCacheURLError` is one."""
    rest = match[0][match.end(1) - match.start() :]
    if not any("0" <= char <= "9" for char in match[0]) or (
        rest != rest.lower() and of_words(rest) and _numbers(rest) < 5
    ):
        return 0
    return head_token(match)


def _numbers(name: str) -> int:
    """How many numbers stand in a name: words between five of them are chance."""
    return len("".join(char if char.isdigit() else " " for char in name).split())


def _in_base64(text: str, start: int) -> bool:
    """Whether a run only goes on what stands before: base64 data has + and / in it."""
    before = text[max(0, start - 12) : start]
    return before[-1:] in ("+", "/") and len(before) > 8 and not before[:-1].strip(BASE64)


def fixed_head(match: "re.Match[str]") -> int:
    """The same for a token of a known length."""
    return match.end() if _begins(match.string, match.start()) and not placeholder(match[0]) else 0


def sized_token(match: "re.Match[str]") -> int:
    """The same for one without a prefix; data in base64 goes on before it."""
    random = drawn(match[0]) and match.string[match.start() - 1 : match.start()] not in ("+", "/", "=")
    return fixed_head(match) if random else 0


def prefixed_token(match: "re.Match[str]") -> int:
    """A token of capitals, small letters and digits behind a name of any service."""
    given = match[1]
    grain = Grain(given)
    mixed = grain.digits >= 3 and grain.upper >= 4 and grain.lower >= 4
    return fixed_head(match) if mixed and drawn(given) and not of_words(given) else 0


def wrapped_key(match: "re.Match[str]") -> int:
    """A private key in base64, at the start of a run."""
    return match.end() if _begins(match.string, match.start()) else 0


def twitter_token(match: "re.Match[str]") -> int:
    """A bearer token that starts with many As; data that does so has more signs."""
    text, start = match.string, match.start()
    if text[start - 1 : start] in ("A", "+", "/") or glued(text, start) or placeholder(match[0]):
        return 0
    return match.end() if Grain(match[0][20:]).random() else 0


def putty_key(match: "re.Match[str]") -> int:
    """The private lines of a key that PuTTY keeps."""
    near = match.string[max(0, match.start() - 20_000) : match.start()]
    return match.end(1) if "user-key-file" in near.lower() else 0


def jwk(match: "re.Match[str]") -> int:
    """The private part of a JSON Web Key."""
    near = match.string[max(0, match.start() - 4000) : match.end() + 4000]
    return match.end(1) if "kty" in near else 0


def random_value(match: "re.Match[str]") -> int:
    """A value that looks drawn by a machine, whatever its name is."""
    given = match[match.lastindex or 0]
    if template(given) or placeholder(given) or not drawn(given):
        return 0
    return match.end(match.lastindex or 0)


def _given(match: "re.Match[str]") -> str:
    return match[match.lastindex or 0]


def strict(given: str) -> bool:
    """Whether a value could be a password and hardly anything else: no word, path, number or unit."""
    if len(given) < 6 or template(given) or placeholder(given) or given.lower() in NO_PASSWORDS:
        return False
    if given[0] in "-/~.@[({<*=|" or "/" in given or "://" in given or "(" in given or "\\" in given:
        return False
    grain = Grain(given[:64])
    if not grain.digits or not grain.letters:
        return False
    if "." in given and all(part.isidentifier() or part.isdigit() for part in given.split(".")):
        return False  # a file, a version, a field
    if given.strip("0123456789.,").isalpha() and given[0].isdigit() and len(given.strip("0123456789.,")) <= 3:
        return False  # 15min, 250ms
    mixed = grain.upper and grain.lower
    if not mixed and not grain.special and "_" in given:
        return False  # a name
    return bool(
        grain.special or mixed or grain.random() or any(s >= 5 and s > d for s, d, _, _ in grain.parts)
    )


def quoted_password(match: "re.Match[str]") -> int:
    """The password that an option or a word of a command gives, if it looks like one."""
    given = _given(match).removeprefix("s.")  # of old Vault tokens
    return match.end(match.lastindex or 0) if strict(given) else 0


def tool_password(match: "re.Match[str]") -> int:
    """The same for a tool whose option gives nothing else; numbers and paths stay."""
    given = _given(match)
    if given[0] in "-/" or given.isdigit() or given.lower() in NO_PASSWORDS or given == given[0] * len(given):
        return 0
    return argument_password(match)


def positional_password(match: "re.Match[str]") -> int:
    """A secret that is a word of a command in its place, and no flag, path or address."""
    given = _given(match)
    if given[0] in "-/$%" or "://" in given or len(given) < SHORTEST_POSITIONAL or given == "*":
        return 0
    return argument_password(match)


def user_password(match: "re.Match[str]") -> int:
    """`-p …` of a command that names a user or logs in; ports and folders stay."""
    text, given = match.string, _given(match)
    before = text[max(0, match.start() - 200) : match.start()].rpartition("\n")[2].rpartition("\\n")[2]
    after = text[match.end() : match.end() + 100].partition("\n")[0]
    named = any(sign in part for sign in NAMES_USER for part in (before + " ", after + " "))
    if not named or not (
        strict(given) or scrambled(given) or (" login " in before and wordy(given, code=False))
    ):
        return 0
    return argument_password(match)


def decoded_key(match: "re.Match[str]") -> int:
    """A drawn literal that is decoded where a key is made."""
    before = match.string[max(0, match.start() - 60) : match.start()].rpartition("\n")[2].lower()
    named = any(word in before for word in ("key", "secret", "token", "password", "salt", "hmac"))
    return random_value(match) if named else 0


def cell_beside(match: "re.Match[str]") -> int:
    """The cell of an HTML table behind one that names a secret."""
    before = (
        match.string[max(0, match.start() - 40) : match.start()]
        .removesuffix("/")
        .removesuffix("<")
        .rpartition(">")[2]
        .strip(" :\t\r\n\\")
        .lower()
    )
    named = before.endswith(("password", "passphrase", "secret", "token", "api key", "api_key", "apikey"))
    return match.end(1) if named and looks_secret(match[1], True, quoted=True) else 0


def here_string(match: "re.Match[str]") -> int:
    """What `<<<` gives to a command that asks for a password."""
    before = match.string[max(0, match.start() - 120) : match.start()].rpartition("\n")[2].lower()
    asks = "sudo -s" in before or any(
        word in before for word in ("passw", "secret", "token", "login", "kinit", "cryptsetup", "luksopen")
    )
    return quoted_password(match) if asks else 0


def given_to_name(match: "re.Match[str]") -> int:
    """A drawn value that is given to a name that ends in `PAT`, `SEED`, `SALT`, …"""
    text, start, given = match.string, match.start(), match[2]
    before = text[start - 1 : start]
    camel = before.islower() and match[0][0].isupper() and match[0][1].islower()
    if not camel and glued(text, start) and text[start - 2 : start] != "-D":  # java -Dname=value
        return 0
    return match.end(2) if _drawn_literal(given) else 0


def given_to_call(match: "re.Match[str]") -> int:
    """A drawn literal that is given to a call that signs, encrypts or authenticates."""
    given = match[1]
    ids = [size for size, *_ in Grain(given).parts] == UUID
    return match.end(1) if not ids and _drawn_literal(given) else 0


def _drawn_literal(given: str) -> bool:
    if template(given) or placeholder(given) or "://" in given or given[0] in "-/~.":
        return False
    return drawn(given) and not (given.isidentifier() and of_words(given) and not given.islower())


def pgpass_line(match: "re.Match[str]") -> int:
    """The password at the end of `host:port:database:user:password`, alone on its line."""
    text, start = match.string, match.start()
    line = text[max(0, start - 80) : start].rpartition("\n")[2].rpartition("\\n")[2]
    host = line.rpartition(" ")[2].lstrip("+\"'`")
    if not host or host.strip(IDENT + ".*") or match[1].isdigit():
        return 0
    plain = host == line and wordy(match[2], code=True)
    return _without_end(match, strict) or (argument_password(match) if plain else 0)


def sql_password(match: "re.Match[str]") -> int:
    """`ALTER ROLE … PASSWORD '…'`: the statement says that it is one."""
    before = match.string[max(0, match.start() - 300) : match.start()].lower()
    said = any(word in before for word in ("role", "user", "login", "set ", "encrypted"))
    given = match[1]
    if (
        not said
        or placeholder(given)
        or template(given)
        or given[0] in ":?%@"
        or given.lower() in NO_PASSWORDS
    ):
        return 0
    return match.end(1)


def beside_name(match: "re.Match[str]") -> int:
    """A value beside its name: attributes of XML, rows of JSON."""
    text, start, given = match.string, match.start(), _given(match)
    if looks_secret(given, True, quoted=True):
        return match.end(1)
    return match.end(1) if text[start : start + 2].lower() in ("pa", "pw") and wordy(given, code=False) else 0


def string_element(match: "re.Match[str]") -> int:
    """`<string>` of Android or of a property list, if its name tells of a secret."""
    before = match.string[max(0, match.start() - 120) : match.start()].rstrip()
    key = before.rpartition("<key>")[2].removesuffix("</key>") if before.endswith("</key>") else ""
    name = (match[1] or key).lower()
    telling = name.endswith(("password", "secret", "token", "apikey", "api_key"))
    return match.end(2) if telling and looks_secret(match[2], True, quoted=True) else 0


def short_name(match: "re.Match[str]") -> int:
    """The value given to `pw`, `pass` or `psk`, names that are also parts of others."""
    text, start, given = match.string, match.start(), _given(match)
    owned = text[start - 1 : start] == "_" and match[0][:2].lower() == "pw"  # admin_pw=
    if not (owned or _begins(text, start)) or text[start - 1 : start] in (".", "$", "{", "%"):
        return 0
    quoted = text[match.start(match.lastindex or 0) - 1] in "\"'`"
    first, last = match.span(match.lastindex or 0)
    given = given if quoted else text[first : bare_end(text, first, last)].rstrip(ENDS)
    end = first + len(given)
    if quoted and text[end : end + 1] not in ('"', "'", "`", "\\"):
        return 0
    if not quoted and text[end : end + 1] in ("(", "[", "."):
        return 0
    plain = text[start : start + 2].lower() == "pw" or text[start : start + 3].lower() == "psk"
    if strict(given) or (quoted and looks_secret(given, True, quoted=True)):
        return end
    return end if plain and _alone(text, start, end) and wordy(given, code=True) else 0


def _alone(text: str, start: int, end: int) -> bool:
    """Whether a value ends its line, and nothing before its name is code."""
    rest = text[end : end + 2].lstrip(" .!")
    return not rest or rest[0] in "\r\n,\\\"'`"


def told(match: "re.Match[str]") -> int:
    """The password that a sentence tells: `the password for the db is …`."""
    group = match.lastindex or 0
    quoted, given = group < 5, match[group]
    if not _begins(match.string, match.start()):
        return 0
    if quoted:
        return match.end(group) if _quoted_in_sentence(match[1].lower(), given) else 0
    code = match[1].lower() == "passcode"
    return _without_end(match, _number if code and given[:1].isdigit() else strict)


def _number(given: str) -> bool:
    return given.isdigit() and 4 <= len(given) <= 12 and len(set(given)) > 1


def _quoted_in_sentence(subject: str, given: str) -> bool:
    if " " in given:
        return "phrase" in subject and given.count(" ") >= 2 and not placeholder(given)
    low = given.lower()
    if template(given) or stands_in(low) or low in NO_PASSWORDS:
        return False
    return wordy(given, code=False) or strict(given)


def told_machine(match: "re.Match[str]") -> int:
    """The key or token that a sentence tells."""
    if match[1].lower() == "key" and _keyed(match.string, match.start()):
        return 0
    return _without_end(match, _machine) if _begins(match.string, match.start()) else 0


def told_mixed(match: "re.Match[str]") -> int:
    """The same for one that signs cut into short runs, as base64 has it."""
    if not _begins(match.string, match.start()) or _keyed(match.string, match.start()):
        return 0
    return _without_end(match, _scattered)


def _scattered(given: str) -> bool:
    if template(given) or placeholder(given) or "://" in given or given[0] in "/~.":
        return False
    return Grain(given[:64]).scattered()


def told_before(match: "re.Match[str]") -> int:
    """What stands before `as the password`, `as the API key`."""
    return match.end(1) if strict(match[1]) or _machine(match[1]) or _scattered(match[1]) else 0


def _keyed(text: str, start: int) -> bool:
    """Whether `key` is that of a map, a cache or a table."""
    words = text[max(0, start - 24) : start].lower().split()
    return bool(words) and words[-1] in (
        "cache",
        "primary",
        "foreign",
        "public",
        "sort",
        "map",
        "partition",
        "row",
    )


def _machine(given: str) -> bool:
    if len(given) < 8 or template(given) or placeholder(given) or given[0] in "/~." or "/" in given[:3]:
        return False
    if "://" in given or "(" in given:
        return False
    if len(given) >= 16 and drawn(given):
        return not (given[0].isupper() and given.isidentifier() and of_words(given))  # the name of a type
    groups = given.split("-")
    if len(groups) >= 4 and all(len(group) in (4, 5, 6) and group.isupper() for group in groups):
        return any(char.isdigit() for char in given)  # a license key
    return len(given) >= 8 and given.isupper() and given.isalnum() and sum(map(str.isdigit, given)) >= 2


NO_KEYS = (
    "commit",
    "hash",
    "sha",
    "sha1",
    "sha256",
    "md5",
    "digest",
    "checksum",
    "revision",
    "id",
    "uuid",
    "etag",
)


def within_sentence(match: "re.Match[str]") -> int:
    """What looks like a password or a key beyond doubt, some words after a word that announces one."""
    text, given, start = match.string, match[1], match.start(1)
    said = text[match.start() : start]
    if not _begins(text, match.start()) or template(given) or placeholder(given) or "=" in said:
        return 0
    if any(word.strip(ENDS + "(").lower() in NO_KEYS for word in said.split()):
        return 0
    grain = Grain(given[:64])
    if grain.special:
        sure = grain.upper and grain.lower and grain.digits and given[0] not in "#$%&*" and strict(given)
        return match.end(1) if sure and not _names_a_place(given) else 0
    told = (
        said.rstrip(" \"'`(")
        .lower()
        .endswith((":", " is", " was", ")", " to", " with", "=", " use", " type"))
    )
    return match.end(1) if told and "/" not in given[:1] and (_machine(given) or _scattered(given)) else 0


def _names_a_place(given: str) -> bool:
    """`TokenStore#refresh2`, `user1?.name`, `README.md#Step2`: a method, a field, a part of a page."""
    head, _, tail = given.partition("#")
    return (
        bool(tail)
        and of_words(head)
        and head.isalpha()
        and (tail.isalpha() or tail.isdigit() or of_words(tail))
    )


def below_name(match: "re.Match[str]") -> int:
    """What stands alone on the line after a name that ends its own line."""
    text, end = match.string, match.end(1)
    first = text[max(0, match.start() - 60) : match.start()].rpartition("\n")[2]
    alone = text[end : end + 1] in ("", "\n", "\r", "\\")
    if not alone or len(first) > LONGEST_LABEL or first.strip(IDENT + " *:#"):
        return 0
    label = first + match[0][: match[0].find("\n")]
    if label.islower() and " " not in label and text[max(0, match.start() - 2) : match.start()].strip("\n"):
        return 0  # one argument of a list
    human = match[0][:1].lower() == "p"
    return end if (strict(match[1]) if human else len(match[1]) >= SHORTEST_RUN and drawn(match[1])) else 0


def named(match: "re.Match[str]") -> int:
    """The password that stands right after the word: `with password …`."""
    if not _begins(match.string, match.start()):
        return 0
    if match.lastindex == 1:
        return match.end(1) if strict(match[1]) or _with(match) else 0
    return _without_end(match, strict)


def _with(match: "re.Match[str]") -> bool:
    words = match.string[max(0, match.start() - 24) : match.start()].lower().split()
    return bool({"with", "mit", "avec", "con", "using"} & {*words[-3:]}) and wordy(match[1], code=False)


def labelled(match: "re.Match[str]") -> int:
    """What stands after a name in bold."""
    if not _begins(match.string, match.start()):
        return 0
    given = _given(match).rstrip(ENDS)
    quoted = match.lastindex != 3
    if match[0][:1].lower() != "p":  # a token or a key: names and hashes of code stand there too
        return _without_end(match, _machine)
    sure = strict(given) or (quoted and wordy(given, code=True) and not given.isalpha()) if given else False
    return match.start(match.lastindex or 0) + len(given) if sure else 0


def sent_password(match: "re.Match[str]") -> int:
    """What a script of `expect` sends after it has seen a prompt for a password."""
    before = match.string[max(0, match.start() - 80) : match.start()].lower()
    return quoted_password(match) if "assword" in before or "assphrase" in before else 0


def pair(match: "re.Match[str]") -> int:
    """The second of `admin / …`, after a word that tells of a login."""
    return 0 if glued(match.string, match.start()) else _without_end(match, strict)


def _without_end(match: "re.Match[str]", test: object) -> int:
    """The end of a value without the sentence's own signs, if the test holds."""
    assert callable(test)
    group = match.lastindex or 0
    given = match[group].rstrip(ENDS)
    return match.start(group) + len(given) if given and test(given) else 0
