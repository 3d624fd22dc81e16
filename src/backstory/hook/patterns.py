"""What counts as a secret or as personal data: one table, each row with its own example.

A row is (name, anchors, pattern, example, judge, how). The anchors are literals of which at least one
stands in every text the pattern can match, so a row without its anchor is never run. The pattern is a
plain string, compiled by the engine only when it is needed. The judge sees a match and answers where
the span to replace ends, or 0 to leave it alone (or -N, and go on at N): that is where placeholders, code
and versions escape.

`how` says where anchors are looked for, and how matches are found (runs and shapes: see redact.py):
  equals  in the text as it is, if it has an equals sign; the pattern is searched for
  run     the same, if the text has a run of 20 letters, digits, underscores and hyphens
  long    the same, if the run has 33
  solid   the same, if the text has a run of 20 letters and digits
  tail    the same, if an underscore stands before 16 of them
  word    in the lowercase text; every match starts at an anchor
  left    the same, but a match starts up to 64 characters before its anchor
  inside  the same, but the pattern is searched for
  words   in the shape of words: letters, digits, _ and - are w
  dash, dot, number   in the shape of numbers: any digit is 0, space and hyphen are -
  thin    in that shape, every number one digit long
  packed  in that shape, without separators

No anchor holds a character that JSON may escape: a raw JSON document can be checked unparsed.
Nothing is imported here: the hook loads this file while an agent waits.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable

    Judge = Callable[[re.Match[str]], int]

IDENT = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
LONGEST = 256  # patterns read at most this much of a value, so hostile input stays linear; judges extend


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


class Row:
    """One kind of secret or personal data."""

    __slots__ = ("anchors", "example", "how", "judge", "name", "pattern")

    def __init__(
        self,
        name: str,
        anchors: tuple[str, ...],
        pattern: str,
        example: str,
        judge: "Judge",
        how: str = "run",
    ) -> None:
        self.name = name
        self.anchors = anchors
        self.pattern = pattern
        self.example = example
        self.judge = judge
        self.how = how


# --- What is not a secret -------------------------------------------------------------------------

PLACEHOLDERS = _words(
    """
    example placeholder changeme change-me change_me your xxxx dummy redacted insert replace sample
    foobar fixme notreal not-real not_real fake **** .... …
    """
)
COUNTING = _words("123456 1234567 12345678 123456789 1234567890 0123456789 654321")


def placeholder(value: str) -> bool:
    """Whether a value only stands for a secret: `ghp_your_token_here`, `sk-xxxxxxxx`, `changeme`."""
    low = value.lower()
    return len(set(low[-16:])) <= 3 or low in COUNTING or any(word in low for word in PLACEHOLDERS)


def template(value: str) -> bool:
    """Whether something else fills the value in: `${X}`, `$X`, `<key>`, `{{ x }}`, `%s`, `%X%`."""
    if value[0] in "$<{" or value.startswith(("%s", "%(", "%{")) or (value[0] == value[-1] == "%"):
        return True
    return "${" in value or "{{" in value or "$(" in value


def glued(text: str, at: int) -> bool:
    """Whether a match is the tail of a longer word; a literal `\\n` before it, as in nested JSON, is not."""
    if not at or not (text[at - 1].isascii() and text[at - 1].isalnum()):
        return False
    return not (text[at - 1] in "nrtbf" and text[at - 2 : at - 1] == "\\")


def extend(text: str, end: int, chars: str = IDENT) -> int:
    """The end of the run of characters that a bounded pattern may have cut."""
    while end < len(text) and text[end] in chars:
        end += 1
    return end


class Grain:
    """How a value is made up: what tells random strings and passwords from words and identifiers."""

    __slots__ = ("digits", "letters", "lower", "parts", "special", "upper")

    def __init__(self, value: str) -> None:
        self.digits = self.letters = self.lower = self.upper = self.special = 0
        # Each part is a run of letters and digits: (length, digits, capitals, changes of character class).
        self.parts: list[tuple[int, int, int, int]] = []
        length = digits = upper = turns = 0
        last = ""
        for char in value + " ":
            if not char.isalnum():
                if length:
                    self.parts.append((length, digits, upper, turns))
                length = digits = upper = turns = 0
                last = ""
                self.special += char in "!@#$%^&*?~"
                continue
            kind = "0" if "0" <= char <= "9" else "A" if char.isupper() else "a"
            # A capital that starts a word is no change: HttpServer is two words, hFz9Kq is not.
            turns += bool(last) and kind != last and not (last == "A" and kind == "a")
            length += 1
            digits += kind == "0"
            upper += kind == "A"
            last = kind
            self.digits += kind == "0"
            self.upper += kind == "A"
            self.lower += kind == "a"
        self.letters = self.upper + self.lower

    def random(self) -> bool:
        """Whether some part looks drawn by a machine."""
        return any(
            (size >= 8 and digits and turns >= 3)
            or (size >= 10 and size > digits >= 2)
            or (size >= 20 and not digits and 0.3 <= upper / size <= 0.7)
            for size, digits, upper, turns in self.parts
        )

    def chosen(self, quoted: bool) -> bool:
        """Whether it looks like a password that a person chose."""
        if not self.letters:
            return self.digits >= 6 and (len(self.parts) == 1 or self.special > 0)
        return bool(
            (self.special and self.digits)
            or (quoted and self.special > 1)
            or (self.upper and self.lower and self.digits)
            or any(size >= 5 and size > digits > 0 for size, digits, _, _ in self.parts)
        )


def looks_secret(value: str, human: bool, quoted: bool) -> bool:
    """Whether the value given to a secret's name is a secret, and not code, a template or a path."""
    if len(value) < (6 if human else 8) or template(value) or placeholder(value):
        return False
    if value[0] == "^" or "://" in value:
        return False  # a pattern, a URL
    if not human and value.islower() and not any(digit in value for digit in "0123456789"):
        return False  # words: the usual case, and Grain is slow
    grain = Grain(value[:64])
    if value[0] in "/~." and not any(size >= 16 and turns >= 5 for size, _, _, turns in grain.parts):
        return False  # a path
    if grain.random():
        return True
    if not human:
        return bool(quoted and grain.special and grain.digits and grain.letters)
    if not quoted and not grain.special and ("pass" in value.lower() or "pwd" in value.lower()):
        return False  # password=password2 is a variable
    return grain.chosen(quoted)


# --- Names of secrets: password, api_key, clientSecret, --token ------------------------------------

STEMS = _words("pass pwd secret token cred auth key")
NAME_WORDS = _words(
    """
    password passwd passphrase pwd secret token credentials credential creds cred authorization auth key
    """
)
NAME_GOES_ON = {"pass": ("word", "wd", "phrase"), "cred": ("ential", "s"), "auth": ("orization",)}
HUMAN_WORDS = _words("password passwd passphrase pwd")
NAME_TAILS = _words("key base value prod dev live staging old new")
KEY_OF = _words(
    """
    api access secret private client encryption signing master account service auth shared storage ssh
    deploy webhook app hmac license admin
    """
)
# tokens of tokenizers, parsers and pagers
TOKEN_OF = _words(
    """
    next page continuation cancel cancellation pad eos bos unk mask sep cls start end stop special max
    min num sync new_line last first current
    """
)


def name_before(text: str, at: int) -> str:
    """The part of an identifier that stands before a position."""
    run = text[max(0, at - 48) : at]
    head = run.rstrip(IDENT)
    run = run[len(head) :]
    if head.endswith("\\"):  # \n or \u00e9 before a name, in text that is still JSON
        run = run[5:] if run.startswith("u") else run[1:]
    return run.lower()


def names_secret(before: str, word: str) -> str:
    """Which kind of secret an identifier names: "human" (a password), "machine" (a key), or "" for none."""
    for known in NAME_WORDS:
        if not word.startswith(known):
            continue
        tail = word[len(known) :].lstrip("_-")
        if tail and tail not in NAME_TAILS and not (tail.isdigit() and len(tail) <= 3):
            continue
        owner = before.rstrip("_-")
        if known == "key" and not owner.endswith(KEY_OF):
            continue
        if known == "token" and owner.replace("-", "_").rpartition("_")[2] in TOKEN_OF:
            continue
        if known == "auth" and before and before[-1] not in "_-":
            continue
        return "human" if known in HUMAN_WORDS else "machine"
    return ""


def key_names_secret(low: str) -> str:
    """The same for a whole key of a JSON object, in lowercase."""
    for stem in STEMS:
        at = low.rfind(stem)
        if at >= 0:
            kind = names_secret(name_before(low, at), low[at:])
            if kind:
                return kind
    return ""


def assigns_secret(low: str, stem: str) -> bool:
    """Whether some secret's name with this stem is followed by something that could give it a value.

    Exact enough to skip `input_tokens`, `author` and `keyboard`; never misses what the row `secret` matches.
    """
    goes_on = NAME_GOES_ON.get(stem, ()) + NAME_TAILS
    at = low.find(stem)
    while at >= 0:
        place, at = at, low.find(stem, at + 1)
        rest = low[place + len(stem) : place + len(stem) + 48]
        if rest[:1].isalpha() and not rest.startswith(goes_on):
            continue
        after = rest.lstrip(IDENT)
        gap = after.lstrip(" \t\"'`]\\")
        if gap and (
            gap[0] in ":=>!"
            or gap.startswith("is")
            or "\\" in after[: len(after) - len(gap)]
            or (after[0] in " \t" and name_before(low, place).startswith("--"))
        ):
            word = stem + rest[: len(rest) - len(after)].rstrip("_-")
            if names_secret(name_before(low, place), word):
                return True
    return False


# --- Judges: where does the span end, or 0 ---------------------------------------------------------


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
    if match.lastindex == 2 and not grain.random():
        return 0
    if not grain.digits and not (grain.upper and grain.lower) and not given.endswith("="):
        return 0  # Bearer token, Bearer ACCESS_TOKEN
    return extend(text, end, IDENT + ".~+/=")


def url_password(match: "re.Match[str]") -> int:
    """The password of a URL, unless a template fills it in."""
    given = match[1]
    if template(given) or given[0] in "[*" or len(set(given)) == 1 or "redacted" in given.lower():
        return 0
    return match.end(1)


def assigned(match: "re.Match[str]") -> int:
    """The value given to a secret's name: `password = "…"`, `api_key: …`, `--token …`."""
    text, group = match.string, match.lastindex or 0
    start, end = match.span(group)
    before, sign, quoted = name_before(text, match.start()), match[2].strip(), group < 6
    kind = names_secret(before, match[1].lower())
    if not kind or text[match.start() - len(before) - 10 : match.start() - len(before)] == "[redacted:":
        return 0
    if not sign and not before.startswith("--"):
        return 0
    given, after = match[group], text[end : end + 1]
    if quoted and end - start < LONGEST and after and after not in "\"'`\\":
        return 0  # words with spaces between them: a message, not a secret
    if not quoted:
        if after and after in "([{":
            return 0  # a call
        given = given.rstrip(".,:!?")
        end = start + len(given)
    if (sign == ">" and after != "<") or not looks_secret(given, kind == "human", quoted):
        return 0
    if sign == "is" and not any("0" <= char <= "9" for char in given):
        return 0
    if quoted:
        quote, nested = text[start - 1], text[start - 2 : start - 1] == "\\"
        while end < len(text) and text[end] != quote and not text[end].isspace():
            if nested and text[end : end + 2] == "\\" + quote:
                break
            end += 2 if text[end] == "\\" else 1
        return min(end, len(text))
    return extend(text, end, IDENT + "+/=.") if len(given) >= LONGEST else end


GIT_PEOPLE = _words("author author: commit: committer committer: tagger tagger:")
SAFE_DOMAINS = _words("example test invalid localhost local")
LONG_TLDS = _words(
    """
    academy agency cloud codes company consulting design digital email energy engineering finance global
    group health internal media money museum network online photography science services shop software
    solutions space store studio systems today tools travel ventures works world amsterdam berlin london
    paris
    """
)
FILE_TYPES = _words(
    """
    png jpg jpeg gif svg webp json html css tsx jsx mjs cjs lock tgz whl txt yml yaml toml mount timer
    scope slice
    """
)


def email(match: "re.Match[str]") -> int:
    """An e-mail address; git authors, remotes, scp targets, package versions and examples stay."""
    text, start, end = match.string, match.start(), match.end()
    if start and text[start - 1] in IDENT + ".%+":
        return 0  # the pattern stops at 64 characters; no address is longer
    local, _, domain = match[0].lower().rpartition("@")
    labels = domain.split(".")
    if len(labels[-1]) > 4 and labels[-1] not in LONG_TLDS:
        return 0
    if labels[-1] in FILE_TYPES or labels[-1] in SAFE_DOMAINS or "example" in labels[:-1]:
        return 0
    if labels[0].isdigit() and labels[1].isdigit():
        return 0  # package@1.2.beta
    if local == "git" or "noreply" in domain or "noreply" in local.replace("-", "").replace("_", ""):
        return 0
    if text[end : end + 1] in ("(", "["):
        return 0  # matrix @ module.call()
    if text[end : end + 1] == ":":
        target = text[end + 1 : end + 81].split(maxsplit=1)
        if target and not text[end + 1].isspace() and ("/" in target[0] or "~" in target[0]):
            return 0  # user@host:path
    line = text[max(0, start - 160) : start].rpartition("\n")[2].rpartition("\\n")[2].lower()
    words = line.split()
    if line.endswith("<") and (words[0] in GIT_PEOPLE or "-by:" in line or "--author" in line):
        return 0
    if any(word in ("ssh", "scp", "sftp", "rsync", "ssh-copy-id", "mosh") for word in words[-6:]):
        return 0
    authority = words[-1] if words and not line[-1:].isspace() else ""
    if "://" in authority and "/" not in authority.rpartition("://")[2]:
        return 0  # https://user@host: the row url-password looks after it
    return end


VERSION_WORDS = _words(
    """
    version versions ver v release released package pkg build tag revision rev firmware driver upgrade
    upgraded section chapter schema sdk bump chrome
    """
)
ADDRESS_WORDS = _words(
    """
    host hostname ip ipv4 addr address server ping dns nameserver resolver peer client remote connect
    connected connecting curl wget ssh telnet nc traceroute dig nslookup listen bind gateway proxy
    upstream origin src dst endpoint forwarded-for real-ip remote_addr ip_address ipaddress clientip
    client_ip host_ip
    """
)
RESOLVERS = _words("8.8.8.8 8.8.4.4 1.1.1.1 1.0.0.1 9.9.9.9 4.2.2.2 149.112.112.112")


def public_ip(match: "re.Match[str]") -> int:
    """A public IPv4 address; private, reserved and documentation ranges and versions stay."""
    text, start, end = match.string, match.start(), match.end()
    parts = match[0].split(".")
    if glued(text, start) or text[start - 1 : start] in (".", "_"):
        return 0
    if any(part[0] == "0" and part != "0" for part in parts):
        return 0
    a, b, c, d = (int(part) for part in parts)
    if max(a, b, c, d) > 255 or a in (0, 10, 127) or a >= 224:
        return 0
    if (a, b) in ((192, 168), (169, 254), (198, 18), (198, 19)) or (a == 172 and 16 <= b < 32):
        return 0
    if (a == 100 and 64 <= b < 128) or (a, b, c) in ((192, 0, 0), (192, 0, 2), (198, 51, 100), (203, 0, 113)):
        return 0
    before = text[max(0, start - 40) : start].rpartition("\n")[2].lower()
    bare = before.rstrip(" \t\"'`:=([{<>~^@!")
    signs = before[len(bare) :]
    word = bare[len(bare.rstrip(IDENT)) :]
    if word.endswith("version") or word in VERSION_WORDS:
        return 0
    if any(sign in signs for sign in ("==", ">=", "<=", "~", "^")):
        return 0
    if before.endswith("/") and before[-2:-1].isalnum():
        return 0  # Chrome/120.0.0.0
    # 1.2.3.4, 4.18.0.240: could be a version, so the context must say that it is an address.
    versionlike = a < 30 and sum(part <= 9 for part in (a, b, c, d)) >= 2 and match[0] not in RESOLVERS
    if versionlike and (before.endswith("-") or text[end : end + 1] == "-"):
        return 0
    if versionlike and not (
        before.endswith("//")
        or word in ADDRESS_WORDS
        or word.endswith(ADDRESS_WORDS[:10])
        or (text[end : end + 1] in (":", "/") and text[end + 1 : end + 2].isdigit())
        or text.strip() == match[0]
    ):
        return 0
    return end


def clear(text: str, start: int) -> bool:
    """Whether digits start here, and are no part of an id, a hash, a date or a longer number."""
    return not glued(text, start) and text[start - 1 : start] not in ("-", "_", ".", "/", "+", "#")


def ssn(match: "re.Match[str]") -> int:
    """A US social security number that could have been issued."""
    text, start = match.string, match.start()
    area, group, serial = match[0][:3], match[0][4:6], match[0][7:]
    if not clear(text, start) or area in ("000", "666") or area[0] == "9":
        return 0
    if group == "00" or serial == "0000":
        return 0
    before = text[max(0, start - 40) : start].lower()
    if " " in match[0] and "ssn" not in before and "social" not in before:
        return 0
    return match.end()


def card(match: "re.Match[str]") -> int:
    """A payment card number: a known issuer, the right length, a valid check digit."""
    text, start = match.string, match.start()
    number = match[0].replace(" ", "").replace("-", "")
    size, two, four = len(number), int(number[:2]), int(number[:4])
    known = (
        (number[0] == "4" and size in (13, 16, 19))
        or ((51 <= two <= 55 or 2221 <= four <= 2720) and size == 16)
        or (two in (34, 37) and size == 15)
        or ((two in (62, 65, 35) or four == 6011 or 6440 <= four <= 6499) and 16 <= size <= 19)
        or ((3000 <= four <= 3059 or two in (36, 38, 39)) and size == 14)
    )
    if not known or not clear(text, start) or len(set(number)) == 1:
        return 0
    if len(number) == len(match[0]):
        name = text[max(0, start - 24) : start].rstrip(" \t\"'`:=\\").lower()
        if name.endswith("id") and not name.endswith("paid"):
            return 0
    total = 0
    for place, digit in enumerate(reversed(number)):
        weighed = int(digit) * (1 + place % 2)
        total += weighed - 9 if weighed > 9 else weighed
    return 0 if total % 10 else match.end()


def phone(match: "re.Match[str]") -> int:
    """A US phone number; with spaces only where the text says that it is one."""
    text, start = match.string, match.start()
    if not clear(text, start):
        return 0
    if match[0].count(" ") > 1 or (match[0].count(" ") == 1 and "(" not in match[0] and match[0][1] != " "):
        before = text[max(0, start - 24) : start].lower()
        if not any(word in before for word in ("phone", "tel", "call", "mobile", "cell", "fax")):
            return 0
    return match.end()


def world_phone(match: "re.Match[str]") -> int:
    """A phone number with its country code; signed numbers, floats and diff counts stay."""
    text, start, number = match.string, match.start(), match[0]
    if glued(text, start) or text[start - 1 : start] in ("+", "-", ")", "_", "]"):
        return 0
    digits = sum(char.isdigit() for char in number)
    separators = "".join("0" if char.isdigit() else char for char in number[1:]).split("0")
    marks = [mark for mark in separators if mark]
    if any(mark not in (" ", "-", ".", " (", "(", ")", ") ", ")-") for mark in marks) or len(marks) > 6:
        return 0
    if digits < (9 if marks else 10) or "".join(marks).count(".") == 1:
        return 0
    return match.end()


# --- The table --------------------------------------------------------------------------------------

_NAMES = (
    r"((?i:passw(?:or)?d|passphrase|pwd|secret|token|cred(?:ential)?s?|auth(?:orization)?|key)"
    r"(?:[_-]?(?i:key|base|value|prod|dev|live|staging|old|new)|[_-]?[0-9]{1,3})?)"
)
_GIVES = (
    r"(?:\\?[\"'`])?\]?"
    r"((?:[ \t]{0,8}:[ \t]?[A-Za-z_][\w.]{0,40}"
    r"(?:\[[\w., |]{0,40}\])?(?:[ ]?\|[ ]?[\w.]{1,20}){0,2})?[ \t]{0,8}={1,3}>?"
    r"|[ \t]{0,8}(?::=?|!==?)|>|[ \t]{1,3}(?i:is)(?=[ \t:])[ \t]{0,2}:?|[ \t]{1,4})[ \t]{0,8}"
)
_QUOTED = "|".join(rf"{quote}((?:[^\s{quote}\\]|\\(?!{quote})){{4,256}})" for quote in "\"'`")
_VALUE = rf"(?:[bruf]{{0,2}}\\?(?:{_QUOTED})|([^\s\"'`,;()\[\]{{}}<>&|\\]{{4,256}}))"
_B = "[A-Za-z0-9_-]"
_STOP = "(?![A-Za-z0-9_]|[-.][0-9])"

# The examples are put together at run time, so that scanners of this repository do not take them for leaks.
_A36 = "16C7e42F292c6912E7710c838347Ae178B4a"
_HEX32 = "3f9a1c7be04d5826" + "9b1e7c20af84d356"

ROWS: tuple[Row, ...] = (
    Row(
        "private-key",
        ("private key",),
        r"-----BEGIN[ A-Z0-9]{0,40}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:[^-]*+(?:-(?!----)[^-]*+)*+-----END[ A-Z0-9]{0,60}-----"
        r"|(?:(?:[\s\"'+,>|]|\\[nr])*(?:Proc-Type:[^\n\\]{0,80}|DEK-Info:[^\n\\]{0,80}|[A-Za-z0-9+/]{20,}={0,2}))*"
        r"(?:(?:\s|\\[nr])*+[A-Za-z0-9+/]{1,63}(?:={1,2}|(?=\s*+\Z|[\"'`.…])))?)",
        "-----BEGIN RSA PRIVATE " + "KEY-----\nMIIEpAIBAAKCAQEA7bq3\n-----END RSA PRIVATE " + "KEY-----",
        whole,
        "inside",
    ),
    Row(
        "aws-access-key",
        ("AKIA", "ASIA"),
        r"A(?:KIA|SIA)[A-Z0-9]{16}(?![A-Za-z0-9])",
        "AKI" + "AZ7QH3V9K2M4XW5TB",
        fixed,
        "solid",
    ),
    Row(
        "aws-secret-key",
        ("secret",),
        r"(?i:secret[_-]?(?:access[_-]?)?key)[\"'`\]\\]{0,3}[ \t]{0,8}[:=]{1,2}>?[ \t]{0,8}[\"'`\\]{0,2}"
        r"([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
        "aws_secret_access_key = " + "9drTJvcXLB89EXhqsB4Q" + "/xCqWmAbMV1nPz7uYk+T",
        value,
        "word",
    ),
    Row(
        "github-token",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        r"g(?:h[pousr]_[A-Za-z0-9]{20,255}|ithub_pat_[A-Za-z0-9]{16,255})",
        "gh" + "p_" + _A36,
        token,
        "tail",
    ),
    Row(
        "gitlab-token", ("glpat-",), rf"glpat-{_B}{{16,255}}", "glpat" + "-Xy7zK2mN9pQ4rS8tV1wB", token, "run"
    ),
    Row(
        "slack-token",
        ("xox",),
        rf"xox[a-z]-{_B}{{15,255}}",
        "xox" + "b-263594206564-2343594206574-FGqddMF8t08v8N7Oq4i57vs1",
        token,
        "run",
    ),
    Row(
        "slack-webhook",
        ("hooks.slack.com",),
        r"hooks\.slack\.com\\?/(?:services|workflows|triggers)((?:\\?/[A-Za-z0-9_-]{1,99}){1,5}\\?/[A-Za-z0-9]{20,99})",
        "https://hooks.slack.com/services" + "/T0A1B2C3D/B9Z8Y7X6W/k2Jf83hGq01LpZx7VbNm4RtY",
        value,
        "run",
    ),
    Row(
        "stripe-key",
        ("k_live_", "k_test_"),
        r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,255}",
        "sk_" + "live_4eC39HqLyjWDarjtT1zdp7dc",
        token,
        "tail",
    ),
    Row(
        "anthropic-key",
        ("sk-",),
        rf"sk-ant-{_B}{{16,255}}",
        "sk-ant" + "-api03-Rq8Zt2Lw9XvB4nKm7YpD1cJf6HsG3aUe",
        token,
        "run",
    ),
    Row(
        "openai-key",
        ("sk-",),
        rf"sk-(?!ant-){_B}{{20,255}}",
        "sk" + "-proj-8Kd02LmNqPzRt57VwXyBc91FgHjAeUiO34sT",
        random_token,
        "run",
    ),
    Row(
        "google-key",
        ("AIza",),
        rf"AIza{_B}{{30,80}}",
        "AI" + "zaSyD3kFh9LmQx72TvWz0PbNc8RgYj5EuKoAsI4",
        token,
        "long",
    ),
    Row(
        "google-oauth",
        ("ya29.",),
        rf"ya29\.{_B}{{20,255}}",
        "ya29" + ".a0AfH6SMBx7Qk2Lz9WvNt4RpYc",
        token,
        "run",
    ),
    Row(
        "jwt",
        ("eyJ",),
        rf"eyJ(?:(?<!{_B}eyJ)|(?<=\\[nrt]eyJ)){_B}{{17,}}+\.{_B}{{10,}}+(?:\.{_B}*+){{0,3}}",
        "ey" + "JhbGciOiJIUzI1NiJ9.eyJzdWIiOiI0MiJ9.c2lnbmF0dXJlLW9mLTQy",
        token,
        "run",
    ),
    Row("npm-token", ("npm_",), r"npm_[A-Za-z0-9]{30,80}", "np" + "m_" + _A36, token, "tail"),
    Row(
        "pypi-token",
        ("pypi-",),
        rf"pypi-{_B}{{40,255}}",
        "pypi" + "-AgEIcHlwaS5vcmcCJDk3ZjM1" + _A36,
        random_token,
        "long",
    ),
    Row(
        "huggingface-token",
        ("hf_",),
        r"hf_[A-Za-z0-9]{30,80}",
        "h" + "f_aBcDeFgHiJkLmNoPqRsTuVwXyZ12345678",
        token,
        "tail",
    ),
    Row("twilio-key", ("SK",), r"SK[0-9a-f]{32}(?![A-Za-z0-9])", "S" + "K" + _HEX32, fixed, "solid"),
    Row(
        "sendgrid-key",
        ("SG.",),
        rf"SG\.{_B}{{20,64}}\.{_B}{{16,128}}",
        "S" + "G.ngeVfQFYQlKU0ufo8x5d1A.TwL2iGABf9DHoTf09kqeF8tAmbihYzrnopKcx3SP5Vk",
        token,
        "run",
    ),
    Row(
        "digitalocean-token",
        ("dop_v1_",),
        r"dop_v1_[a-f0-9]{40,80}",
        "do" + "p_v1_" + _HEX32 + _HEX32,
        token,
        "tail",
    ),
    Row(
        "azure-key",
        ("Key=",),
        r"(?:Account|SharedAccess)Key=([A-Za-z0-9+/]{40,100}={0,2})",
        "Account" + "Key=" + "Zm9vYmFyK2Jhei9xdXgxMjM0NTY3ODkwYWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXo=",
        value,
        "equals",
    ),
    Row(
        "azure-sas",
        ("sig=",),
        r"sig=((?:[A-Za-z0-9+/]|%[0-9A-Fa-f]{2}){40,200}={0,2})",
        "?sv=2022-11-02&sig=" + "Zt8yXq2LkV%2BnB4mR7wPcD9sJf1HgAeUi%2FoTz5rQ%3D",
        value,
        "equals",
    ),
    Row(
        "telegram-token",
        (":AA",),
        rf"[0-9]{{8,10}}:AA{_B}{{32,64}}",
        "110201543" + ":AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw",
        token,
        "long",
    ),
    Row(
        "discord-token",
        (".wwwwww." + "w" * 27,),
        rf"[MNO][A-Za-z0-9]{_B}{{22,30}}\.{_B}{{6}}\.{_B}{{27,64}}",
        "MTk4NjIyNDgzNDcxOTI1MjQ4" + ".Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs",
        token,
        "words",
    ),
    Row(
        "discord-webhook",
        ("webhooks",),
        rf"discord(?:app)?\.com\\?/api\\?/webhooks(\\?/[0-9]{{6,32}}\\?/{_B}{{20,128}})",
        "https://discord.com/api/webhooks" + "/1098765432101234567/kJ8d_Lw2Xv9QzRt5YbNm3PcF7HsG1aUeT4oK",
        value,
        "run",
    ),
    Row(
        "authorization",
        ("authorization", "bearer"),
        r"(?i:authorization[\"'`\]\\]{0,3}[ \t]{0,4}[:=,]{1,2}[ \t]{0,4}[\"'`\\]{0,2}"
        r"(?:bearer|basic|token|bot|digest|apikey)[ \t]{1,4})([^\s\"'`\\,;]{6,256})"
        r"|(?i:bearer[ \t]{1,4})([A-Za-z0-9._~+/=-]{16,256})",
        "Authorization: Basic " + "dXNlcjpodW50ZXIyeHl6",
        authorization,
        "word",
    ),
    Row(
        "url-password",
        ("@",),
        r":(?:\\?/){2}[^\s:@/?#\"'<>\\]{0,80}:([^\s\"'<>/\\]{1,200})@(?=[A-Za-z0-9\[$.{_-])",
        "postgres://app:" + "s3cr3tpw" + "@db.internal:5432/app",
        url_password,
        "inside",
    ),
    Row("secret", STEMS, _NAMES + _GIVES + _VALUE, "DB_PASSWORD=" + "hunter2xyz", assigned, "word"),
    Row(
        "email",
        ("@",),
        r"[A-Za-z0-9._%+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,6}[A-Za-z]{2,24}(?![A-Za-z0-9_-])",
        "jane.doe@acme-corp.com",
        email,
        "left",
    ),
    Row(
        "ip",
        ("0.0.0.0",),  # noqa: S104
        r"[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}(?![A-Za-z0-9_]|\.[0-9])",
        "host 52.95.110.1",
        public_ip,
        "thin",
    ),
    Row(
        "ssn", ("000-00-0000",), r"([0-9]{3}([- ])[0-9]{2}\2[0-9]{4})" + _STOP, "SSN 219-45-6789", ssn, "dash"
    ),
    Row("card", ("0" * 13,), rf"([0-9]{{13,19}}){_STOP}", "5555555555554444", card, "number"),
    Row(
        "card",
        ("0000-0000-0000-0", "0000-000000-0000"),
        r"([0-9]{4}([ -])[0-9]{4}\2[0-9]{4}\2[0-9]{1,7}(?:\2[0-9]{1,3})?|[0-9]{4}([ -])[0-9]{6}\3[0-9]{4,5})"
        + _STOP,
        "4111 1111 1111 1111",
        card,
        "dash",
    ),
    Row(
        "phone",
        ("000-000-0000", ")-000-0000", ")000-0000"),
        r"((?:1[- ])?(?:\([2-9][0-9]{2}\)[ -]?[0-9]{3}[- ][0-9]{4}|[2-9][0-9]{2}([- ])[0-9]{3}\2[0-9]{4}))"
        + _STOP,
        "(415) 555-2671",
        phone,
        "dash",
    ),
    Row(
        "phone",
        ("000.000.0000",),
        rf"((?:1\.)?[2-9][0-9]{{2}}\.[0-9]{{3}}\.[0-9]{{4}}){_STOP}",
        "415.555.2671",
        phone,
        "dot",
    ),
    Row(
        "phone",
        ("+00000000",),
        r"\+[1-9](?:[ .()-]{0,2}[0-9]){7,14}(?![A-Za-z0-9_]|[ .()-]{0,2}[0-9])",
        "+44 20 7946 0958",
        world_phone,
        "packed",
    ),
)
