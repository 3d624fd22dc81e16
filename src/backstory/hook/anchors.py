"""Which rows of the table a text may hold, found at the speed of `in`, without loading `re`.

Most texts hold nothing. So a text is first searched for literal anchors, and only rows whose anchors stand
in it run their patterns. Digits have no literals, so their anchors are sought in the text's *shape*: every
digit a 0, space and hyphen a -, … Where a row's anchors are sought, and how its matches are found:

  equals  in the text as it is, if it has an equals sign; the pattern is searched for
  path    the same, if the text has a run of 20 letters, digits, underscores and hyphens
  head    the same, but where the run starts, or after a _ or - in it; the match starts there
  start   the same, but where the run starts
  digit   the same, if the run has a digit
  foot    the same, but right before the run
  whole   the same, but in the last 10 characters of a run of 36, where the match starts
  spoken  in the 300 lowercase characters before a run that a space precedes; a match starts at an anchor
  given   right before a run, with a sign that gives it and quotes between; the pattern is searched for
  call    in the 120 lowercase characters before a run that a quote precedes, with a (; it is searched for
  address in the 120 characters before a run that a slash precedes; the pattern is searched for
  long    the same, if the run has 33
  word    in the lowercase text; every match starts at an anchor
  command, command-p   the same, if the text has an option, or an option that starts with p
  beside  the same, if the text has the letters pass; the pattern is searched for
  left    in the lowercase text; a match starts up to 64 characters before its anchor
  inside  in the lowercase text; the pattern is searched for
  block   in the lowercase text; each match is a place from which secret_columns.py reads lines and cells
  title   the same, if a separator of cells comes next
  tag     the same as inside, if the anchor is the name of a tag
  line    the same as word, if the line ends there
  sentence   the same as word, if one of the next words has six characters and a digit
  short   the same as word, if a colon or an equals sign comes next
  http    the same as word, if the text has those letters
  pipe, at, tilde, star   the same as word, if the text has that sign
  colon   the same as word, if the text has a colon before four digits
  valued  the same as word, if the text has a stem of a secret's name and the word value
  element the same as word, if the text has a stem of a secret's name
  here    the same as word, if the text has a <
  lengthy in the text as it is, if a run has 43
  dollar  in the text as it is, if it has a dollar sign
  words   in the shape of words: letters, digits, _ and - are w
  shapes  the same, if a run has 43
  hextet  in the shape of hex digits, if the first is a 2 or 3
  url     if the text has an @ and a colon before a slash; the pattern is searched for
  dash, dot, number   in the shape of numbers: any digit is 0, space and hyphen are -
  thin    in that shape, every number one digit long
  packed  in that shape, without separators
"""

from backstory.hook.patterns import STEMS, Row
from backstory.hook.secret_names import IDENT, assigns_secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    Anchors = list[tuple[str, int]]  # each with the rank of its row
    Shared = list[tuple[str, list[int]]]  # each with the ranks of its rows
    Group = list[tuple[str, str, list[int]]]  # an anchor, the shorter one that it contains, ranks of rows

_CODES = "000 001 007f 008 009 00ad 034 180 200 202 206 fe d8 d9 da db dc dd de df"
UNSEEN_ESCAPES = tuple("\\u" + code for code in _CODES.split())
# Escapes of raw JSON that could hide an anchor: those, and ASCII written as \u00XX.
HIDING_ESCAPES = (*UNSEEN_ESCAPES, *(f"\\u00{digit}" for digit in "234567"))


def _classes(default: str, *classes: tuple[str, bytes]) -> bytes:
    table = bytearray(default.encode()) * 256
    for target, members in classes:
        code = ord(target)
        for member in members:
            table[member] = code
    return bytes(table)


# Of UTF-8 bytes: \x01 is a control character; \x02 to \x07 start a sequence that may be unseen, and
# letters tell how it goes on (E2 80 8B is U+200B). A superset is enough, the pattern decides.
SHAPE = _classes(
    "x",
    ("\x01", bytes((*range(9), 11, 12, *range(14, 32), 127))),
    ("0", b"0123456789"),
    ("-", b"- "),
    (".", b"."),
    ("+", b"+"),
    (")", b"()"),
    *((chr(2 + index), bytes((lead,))) for index, lead in enumerate(b"\xc2\xe2\xef\xe1\xf3\xcd")),
    ("l", bytes(range(0x82, 0xA0))),
    ("p", b"\x80"),
    ("q", b"\x81"),
    ("z", b"\x8b\x8c\x8d\x8e\x8f\xaa\xab\xac\xad\xae"),
    ("a", b"\xa0"),
    ("b", b"\xb8"),
    ("c", b"\xbb"),
)
UNSEEN_SHAPES = (
    ("\x02", ("\x02p", "\x02q", "\x02l", "\x02z")),
    ("\x03", ("\x03q", "\x03pz")),
    ("\x04", ("\x04b", "\x04c")),
    ("\x05", ("\x05a",)),
    ("\x06", ("\x06a",)),
    ("\x07", ("\x07z",)),
)
HOWS = (
    *("equals", "path", "word", "command", "command-p", "left", "inside"),
    *("beside", "head", "start", "digit", "block", "dollar", "pipe", "at", "tilde", "star", "colon"),
    *(
        "valued",
        "element",
        "here",
        "address",
        "spoken",
        "given",
        "call",
        "whole",
        "foot",
        "shapes",
        "lengthy",
        "url",
        "title",
        "short",
        "sentence",
        "line",
        "http",
        "tag",
    ),
    *("words", "hextet", "dash", "dot", "number", "thin", "packed"),
)
LONG_NUMBER = "0" * 13
BETWEEN = " \t\"'`*]\\"  # a name and the sign that follows it
FOLLOWED = {"title": "|,;)(\r\n", "short": ":=", "line": "\r\n"}
# Anchors are tried only after something shorter that they share.
FOLDED_GATES = (
    *(stem for stem in STEMS if stem != "pwd"),
    *("pw", "bearer", "private", "@", "cookie", "senha", "contrase", "login", "identified "),
    *("log in", "sign in", "unlock", "kennwort", "rabbitmqctl", "psk"),
)
WORDS = _classes(" ", ("w", IDENT.encode()), (".", b"."))
HEX = _classes(" ", ("h", b"0123456789abcdefABCDEF"), (":", b":"))
# Of a tag: as it is, escaped, in full width as UTF-8 (that of \uff1c and \ufe64) or as JSON has it.
OPENERS = ("<", "lt;", "60;", "3c;", "u003c", "x3c", "\xef\xbc\x9c", "\xef\xb9\xa4", "uff1c", "ufe64")
REACH, AHEAD, SELDOM = 32, 170, 12  # longer than any anchor; than what stands between one and its sign
TELLING = (*STEMS, "pw", "bearer")  # pwd is sought behind its gate, pw
RUN, LONG_RUN, DOTTED_RUN = "w" * 20, "w" * 43, "." + "w" * 20
SAID, ADDRESS, NAMED = 300, 120, 56
GIVEN, GIVES, ITS_NUMBER = frozenset("=: \t\"'`>"), " \t\"'`:=>\\]", "0123456789/"
SENTENCE, MOST_WORDS, SHORTEST_TOLD, AFTER_SUBJECT = 900, 12, 6, ("s", ",", ":", " ", "")
DIGIT = frozenset("0123456789")
QUOTES = ('"', "'", "`")
SPEECH = (" ", '"', "'", "`")
MAILBOX = frozenset(IDENT + ".%+")
DASHES = ("", " ", ">", "\n")  # what follows a hyphen that starts no option
DIGITS = "0" * 15  # the anchor of a run that starts with digits
HEXTET = "hhhh:"


class Prefilter:
    """Looks for anchors. A row is known by its rank, `secret` is that of the row `secret` (-1 for none)."""

    def __init__(self, rows: "Sequence[Row]", secret: int) -> None:
        self._rows = rows
        self._secret = secret
        self._always = [rank for rank, row in enumerate(rows) if not row.anchors]
        by: dict[str, list[tuple[str, int]]] = {how: [] for how in HOWS}
        for rank, row in enumerate(rows):
            by[row.how] += [(anchor, rank) for anchor in row.anchors]
        folded = by["word"] + by["left"] + by["inside"] + by["block"] + by["title"] + by["tag"]
        folded += by["short"] + by["line"] + by["sentence"]
        self._folded = _gated(folded, FOLDED_GATES)
        for gate, anchors in self._folded:
            anchors += [(anchor, gate, [rank]) for anchor, rank in by["beside"]] if gate == "pass" else []
        self._joints = _by_three(by["head"])
        self._heads = _by_three(by["head"] + by["start"] + by["digit"])
        self._in_code = {rank for _, rank in by["digit"]}
        self._digits = [rank for anchor, rank in by["start"] if anchor == DIGITS]
        self._feet: dict[str, list[tuple[str, int, int]]] = {}
        for anchor, rank in by["foot"]:
            before = anchor.rstrip(IDENT)  # a foot may reach into the run
            self._feet.setdefault(before[-1], []).append((anchor, len(before), rank))
        shared = {how: _shared(by[how]) for how in HOWS}
        self._pipes, self._ats, self._tildes = shared["pipe"], shared["at"], shared["tilde"]
        self._colons = shared["colon"]
        self._stars, self._https = shared["star"], shared["http"]
        self._urls = [rank for _, rank in by["url"]]
        self._values, self._elements, self._spoken = shared["valued"], shared["element"], by["spoken"]
        self._named, self._calls = by["given"], by["call"]
        self._name_ends = {anchor[-3:] for anchor, _ in self._named}
        self._heres, self._addresses = shared["here"], by["address"]
        self._tails = {anchor for anchor, _ in by["whole"]}
        self._whole = list({rank for _, rank in by["whole"]})
        self._words, self._paths, self._equals = shared["words"], shared["path"], shared["equals"]
        self._shapes, self._lengthy, self._dollars = shared["shapes"], shared["lengthy"], shared["dollar"]
        self._undotted = [(anchor, ranks) for anchor, ranks in self._shapes if DOTTED_RUN not in anchor]
        self._commands, self._commands_p = shared["command"], shared["command-p"]
        self._hextets = [rank for _, rank in by["hextet"]]
        self._dashed, self._dotted, self._thin = shared["dash"], shared["dot"], shared["thin"]
        self._packed, self._numbers = shared["packed"], shared["number"]

    def look(self, text: str) -> tuple[list[int], str, bool]:
        """The rows to run, the text in lowercase if that was free, and whether it may hold the unseen."""
        rows = list(self._always)
        unseen = False
        try:
            data = text.encode()
        except UnicodeEncodeError:  # half of a surrogate pair
            data, unseen = text.encode("utf-8", "surrogatepass"), True
        # One byte a character: anchors are ASCII, and `in` is several times faster in str than in bytes.
        wide = len(data) != len(text)
        if wide:
            text, low = data.decode("latin-1"), data.lower().decode("latin-1")
        else:
            low = text.lower()

        words = data.translate(WORDS).decode("latin-1")
        stem = False
        if " " in words:  # more than an id or a name: something may be told, given or addressed
            stem = self._told_in(text, low, data, rows)
        if len(text) >= len(RUN):
            rows += self._tokens_in(text, words, stem)
            if "=" in text:
                rows += _present(self._equals, text)
            if "$" in text:
                rows += _present(self._dollars, text)
        shape = data.translate(SHAPE).decode("latin-1")
        if "0" in shape:
            rows += self._numbers_in(data, shape)
        unseen = (
            unseen
            or "\x01" in shape
            or ("\\" in text and _hides_in_escapes(text, low))
            or (wide and _hides_in_unicode(shape))
        )
        return rows if len(rows) < 2 else sorted(set(rows)), "" if wide else low, unseen

    def _told_in(self, text: str, low: str, data: bytes, rows: list[int]) -> bool:
        """Add the rows that a word, sign or command anchors; whether a stem of a secret's name is there."""
        stem = False
        for gate, anchors in self._folded:
            if gate in low:
                seen, near = {gate}, _near(low, gate) if len(anchors) > 1 else low
                for anchor, within, ranks in anchors:
                    if within in seen and (anchor == gate or anchor in (near if gate in anchor else low)):
                        seen.add(anchor)
                        rows += [rank for rank in ranks if self._may_match(low, anchor, rank)]
                stem = stem or gate in TELLING
        if stem:
            rows += _present(self._elements, low)
            if "value" in low:
                rows += _present(self._values, low)
        if "@" in low:
            rows += _present(self._ats, _near(low, "@", AHEAD))
            if ":/" in low or ":\\/" in low:
                rows += self._urls
        if "http" in low:
            rows += _present(self._https, low)
        if "|" in low:
            rows += _present(self._pipes, low)
        if "<" in low:
            rows += _present(self._heres, low)
        if "~" in low:
            rows += _present(self._tildes, low)
        if ":5" in low or ":6" in low:
            rows += _present(self._colons, low)
        if "*" in low:
            rows += _present(self._stars, low)
        if _has_option(low):
            rows += _present(self._commands, low)
            if " -p" in low:
                rows += _present(self._commands_p, low)
        if ":" in text and _may_be_hextet(data, low):
            rows += self._hextets

        return stem

    def _numbers_in(self, data: bytes, shape: str) -> list[int]:
        """The rows whose anchors are shapes of numbers."""
        rows: list[int] = []
        if "00-0000" in shape:
            rows += _present(self._dashed, shape)
        dot = shape.find("0.0")
        if dot >= 0:
            dotted = _dotted(shape, dot)
            if dotted:
                rows += _present(self._dotted, dotted)
                rows += _present(self._thin, dotted.replace("00", "0").replace("00", "0"))
        if "+" in shape and "+0" in shape:
            rows += _present(self._packed, shape.replace("-", "").replace(".", "").replace(")", ""))
        if LONG_NUMBER in shape and _may_be_card(data, shape):
            rows += _present(self._numbers, shape)
        return rows

    def _may_match(self, low: str, anchor: str, rank: int) -> bool:
        """Whether what follows an anchor that is there lets its row match."""
        if rank == self._secret:
            return assigns_secret(low, anchor)
        how = self._rows[rank].how
        if how == "left":
            return _addressed(low)
        if how == "tag":
            return _tagged(low, anchor)
        if how == "sentence":
            return _announces(low, anchor)
        signs = FOLLOWED.get(how)
        return signs is None or _followed(low, anchor, signs)

    def _tokens_in(self, text: str, words: str, stem: bool) -> list[int]:
        """The rows of tokens, whose anchors are tried only in texts with a run as long as the token's."""
        rows: list[int] = []
        first = words.find(RUN)
        if first < 0:
            return rows
        if len(text) > len(RUN) * 2:
            if "hook" in text:
                rows += _present(self._paths, text)
            dotted = DOTTED_RUN in words
            if dotted:
                rows += _present(self._words, words)
            if LONG_RUN in words:
                rows += _present(self._shapes if dotted else self._undotted, words)
                rows += _present(self._lengthy, text)
        rows += self._runs(text, words, first, stem)
        return rows

    def _runs(self, text: str, words: str, at: int, stem: bool) -> list[int]:
        """The rows whose anchors stand at a run's start, right before it, or in it."""
        rows: list[int] = []
        heads, feet, tails = self._heads, self._feet, self._tails
        if "." in words:
            words = words.replace(".", " ")
        while at >= 0:
            end = words.find(" ", at)
            head, before = text[at : at + 3], text[at - 1 : at]
            if head in heads or (head.isdigit() and text[at : at + 15].isdigit()):
                rows += self._heads_at(text, at, end)
            elif head[0] == "-":  # a line that a diff removes
                rows += self._heads_at(text, at + 1, end)
            if before in feet:
                rows += [rank for foot, size, rank in feet[before] if text.startswith(foot, at - size)]
            elif before == "/":
                address = text[max(0, at - ADDRESS) : at]
                if "." in address:
                    rows += [rank for anchor, rank in self._addresses if anchor in address]
            elif before == "\\":  # in raw JSON an escape stands between
                rows += self._heads_at(text, at + 1, end) + self._heads_at(text, at + 5, end)
                rows += self._heads_at(text, at + 2, end) if text[at + 1 : at + 2] == "-" else []
            if stem and before in SPEECH and " " in text[max(0, at - 3) : at]:
                said = text[max(0, at - SAID) : at].lower()
                rows += [rank for anchor, rank in self._spoken if anchor in said]
            if before in GIVEN:
                rows += self._given(text, at, before)
            last = end if end >= 0 else len(words)
            if last - at > 20:
                parts = text[at : last - 20].replace("-", "_")
                if "_" in parts:
                    rows += self._after_joints(text, parts, at)
            if last - at >= 36 and (
                text[last - 4 : last] in tails
                or text[last - 8 : last - 4] in tails
                or text[last - 10 : last - 6] in tails
            ):
                rows += self._whole
            at = words.find(RUN, end) if end >= 0 else -1
        return rows

    def _given(self, text: str, at: int, before: str) -> list[int]:
        """The rows whose name or call gives the run that starts here."""
        said = text[at - NAMED if at > NAMED else 0 : at]
        if before == ":":
            said = said[:-1].rstrip(ITS_NUMBER)
        named = said.rstrip(GIVES)
        if named[-3:].lower() in self._name_ends:
            low = named.lower()
            return [rank for name, rank in self._named if low.endswith(name)]
        if "(" in said and before in QUOTES:
            said = text[max(0, at - ADDRESS) : at].lower()
            return [rank for call, rank in self._calls if call in said]
        return []

    def _after_joints(self, text: str, parts: str, at: int) -> list[int]:
        """The rows whose anchors stand after an underscore of these parts of a run, which starts there."""
        rows: list[int] = []
        heads, joint = self._joints, parts.find("_")
        while joint >= 0:
            place = at + joint + 1
            three = text[place : place + 3]
            if three in heads:
                rows += [rank for anchor, rank in heads[three] if text.startswith(anchor, place)]
            joint = parts.find("_", joint + 1)
        return rows

    def _heads_at(self, text: str, at: int, end: int) -> list[int]:
        """The rows whose anchors stand here; `end` is the end of the run, or -1 for that of the text."""
        known = self._heads.get(text[at : at + 3], ())
        found = [rank for anchor, rank in known if text.startswith(anchor, at)]
        if found and not self._in_code.isdisjoint(found):
            run = text[at : end if end >= 0 else None].replace("_", "").replace("-", "")
            found = [rank for rank in found if rank not in self._in_code] if run.isalpha() else found
        return found + self._digits if text[at : at + 15].isdigit() else found


def fold(text: str) -> str:
    """The text in lowercase, each character in its place, as ASCII sees it."""
    if not text.isascii() and ("\u0130" in text or "\u212a" in text):
        text = text.replace("\u0130", "?").replace(
            "\u212a", "?"
        )  # the dotted I grows, the Kelvin sign is a k
    return text.lower()


def _tagged(low: str, name: str) -> bool:
    """Whether a tag of this name starts or ends somewhere, as it is or HTML-escaped."""
    at = low.find(name)
    while at >= 0:
        if low[max(0, at - 24) : at].rstrip(" \t/\\").removesuffix("\xef\xbc\x8f").endswith(OPENERS):
            return True
        at = low.find(name, at + 1)
    return False


def _addressed(low: str) -> bool:
    """Whether some @ stands between two words, as in a mail address, and does not only begin one."""
    at = low.find("@")
    while at >= 0:
        if low[at - 1 : at] in MAILBOX and low[at + 1 : at + 2] in MAILBOX and at:
            return True
        at = low.find("@", at + 1)
    return False


def _announces(low: str, anchor: str) -> bool:
    """Whether one of the words after an anchor is long enough for a password, and has a digit."""
    at = low.find(anchor)
    while at >= 0:
        at += len(anchor)
        if low[at - 1] == " " or low[at : at + 1] in AFTER_SUBJECT:
            for word in low[at : at + SENTENCE].split(None, MOST_WORDS)[:MOST_WORDS]:
                if len(word) >= SHORTEST_TOLD and not word.isalpha() and not DIGIT.isdisjoint(word):
                    return True
        at = low.find(anchor, at)
    return False


def _followed(low: str, anchor: str, signs: str) -> bool:
    """Whether an anchor ends its word somewhere, and one of the signs comes next, or the line's end."""
    at = low.find(anchor)
    while at >= 0:
        at += len(anchor)
        after = low[at : at + 1]
        if not after or after in signs:
            return True
        if after in BETWEEN:
            after = low[at : at + 44]
            rest = after.lstrip(BETWEEN)
            between = after[: len(after) - len(rest)]
            if not rest or rest[0] in signs or "\t" in between or (rest[0] in "nrt" and "\\" in between):
                return True
        at = low.find(anchor, at)
    return False


def _near(low: str, gate: str, reach: int = REACH) -> str:
    """What stands around a gate that is there, where it stands seldom: its anchors are sought there only."""
    if len(low) < reach * 4:
        return low
    at, pieces = low.find(gate), []
    while at >= 0:
        pieces.append(low[max(0, at - reach) : at + reach])
        if len(pieces) > SELDOM:
            return low
        at = low.find(gate, at + len(gate))
    return "\n".join(pieces)


def _by_three(anchors: "Anchors") -> "dict[str, Anchors]":
    """Anchors by their first three characters."""
    found: dict[str, Anchors] = {}
    for anchor, rank in anchors:
        found.setdefault(anchor[:3], []).append((anchor, rank))
    return found


def _present(anchors: "Shared", text: str) -> list[int]:
    return [rank for anchor, ranks in anchors if anchor in text for rank in ranks]


def _shared(anchors: "Anchors") -> "Shared":
    """Each anchor once, with all rows that it anchors."""
    ranks: dict[str, list[int]] = {}
    for anchor, rank in anchors:
        ranks.setdefault(anchor, []).append(rank)
    return list(ranks.items())


def _has_option(low: str) -> bool:
    """Whether a hyphen after a blank starts an option, and not only items of a list or a dash."""
    at = low.find(" -")
    for _ in range(SELDOM):
        if at < 0:
            return False
        if low[at + 2 : at + 3] not in DASHES:
            return True
        at = low.find(" -", at + 2)
    return at >= 0


def _gated(anchors: "Anchors", gates: tuple[str, ...]) -> "list[tuple[str, Group]]":
    """The anchors below the gate that they share, each once, after the longest other one that it contains."""
    groups: dict[str, dict[str, list[int]]] = {}
    for anchor, rank in anchors:
        gate = next((gate for gate in gates if gate in anchor), anchor)
        groups.setdefault(gate, {}).setdefault(anchor, []).append(rank)
    return [(gate, _nested(gate, group)) for gate, group in groups.items()]


def _nested(gate: str, group: dict[str, list[int]]) -> "Group":
    found = []
    for anchor in sorted(group, key=len):
        within = max((other for other in group if other in anchor and other != anchor), key=len, default=gate)
        found.append((anchor, within, group[anchor]))
    return found


def _dotted(shape: str, at: int) -> str:
    """Where numbers meet at dots, if they do so more than once."""
    pieces = []
    while at >= 0:
        pieces.append(shape[max(0, at - 2) : at + 14])  # 000.000.000.000
        if len(pieces) > 31:
            return shape
        at = shape.find("0.0", at + 1)
    return "x".join(pieces) if len(pieces) > 1 else ""


def _hides_in_escapes(text: str, low: str) -> bool:
    if "\\\n" in text or ("\r" in text and "\\\r\n" in text):
        return True
    return "\\u" in low and any(escape in low for escape in UNSEEN_ESCAPES)


def _hides_in_unicode(shape: str) -> bool:
    return any(
        lead in shape and any(sequence in shape for sequence in sequences)
        for lead, sequences in UNSEEN_SHAPES
    )


def _may_be_hextet(data: bytes, low: str) -> bool:
    """Whether some four hex digits before a colon start a global IPv6 address."""
    if "::" not in low and low.count(":") < 7:
        return False  # names and times
    hexes = data.translate(HEX).decode("latin-1")
    at = hexes.find(HEXTET)
    while at >= 0:
        if low[at] in "23" and hexes[at + 5 : at + 6] in ("h", ":"):
            return True
        at = hexes.find(HEXTET, at + 1)
    return False


def _may_be_card(data: bytes, shape: str) -> bool:
    """Whether some long number starts as cards do: times in milliseconds do not."""
    if b"\\u" in data:
        return True  # in raw JSON an escape's own digits may run into the number
    at = shape.find(LONG_NUMBER)
    while at >= 0:
        if data[at] in b"23456":
            return True
        while shape[at : at + 1] == "0":
            at += 1
        at = shape.find(LONG_NUMBER, at)
    return False
