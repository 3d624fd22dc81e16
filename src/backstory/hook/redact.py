"""Redaction: secrets and personal data leave a text before it is stored, shown or sent anywhere.

Most texts hold nothing. So a text is first searched for literal anchors (patterns.py), at the speed of
`in`, without loading `re`; only rows whose anchors stand in the text run their patterns. Digits have no
literals, so their anchors are sought in the text's *shape*: every digit a 0, space and hyphen a -, …

A secret may be cut by characters that nobody sees (zero-width, soft hyphen, NUL, colour codes) or by a
shell's line continuation. When such characters stand in a text, it is searched a second time without
them, and what is found there is mapped back, so the whole original span goes.

What is found is replaced by `[redacted:NAME]`, `<private>…</private>` by `[private]`, again and again
until nothing is found: redacting twice is redacting once.
"""

from backstory.hook.patterns import (
    IDENT,
    LONGEST,
    ROWS,
    STEMS,
    Row,
    assigns_secret,
    key_names_secret,
    looks_secret,
    whole,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Iterator
    from typing import Any

    Span = tuple[int, int, int]  # start, end, rank of the row
    Anchors = tuple[tuple[str, int], ...]  # each with the rank of its row

SHORTEST = 6  # a@b.co
PASSES = 8  # rows that uncover each other; real texts need one
# Strings of events repeat (ids, paths, names of tools, outputs: 8 of 10), so what was clean is remembered.
MEMO_LONGEST = 65_536
MEMO_ROOM = 2_000_000
HEADER = "authorization: "
SCHEMES = ("basic", "bearer", "bot", "digest", "token", "apikey")

# Not a row: what its owner has marked stays private, whatever the settings say.
_TAG = r"(?i:<(/?)private(?:\s[^<>]{0,200})?>)"
PRIVATE = Row("private", ("<private",), _TAG, "<private>x</private>", whole, "word")

# --- What nobody sees -------------------------------------------------------------------------------

# Colour codes and terminal titles, single characters, a shell's line continuation, and the same
# characters still written as JSON escapes.
UNSEEN = (
    "\x1b\\[[0-?]{0,64}[ -/]{0,8}[@-~]|\x1b\\][^\x07\x1b\n]{0,512}(?:\x07|\x1b\\\\)|\x1b[()][0-9AB]"
    "|\x1b[@-Z\\\\-_]"
    "|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u034f\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f"
    "\ufeff\ud800-\udfff\U000e0000-\U000e01ef]"
    "|\\\\\r?\n"
    "|\\\\u(?i:00(?:0[0-8bcef]|1[0-9a-f]|7f|[89][0-9a-f]|ad)|034f|180e|200[b-f]|202[a-e]|206[0-9a-f]"
    "|fe0[0-9a-f]|feff|d[89a-f][0-9a-f]{2})(?:\\[[0-9;]{0,20}m)?"
)
_CODES = "000 001 007f 008 009 00ad 034 180 200 202 206 fe d8 d9 da db dc dd de df"
UNSEEN_ESCAPES = tuple("\\u" + code for code in _CODES.split())
# Escapes of raw JSON that could hide an anchor: those, and ASCII written as \u00XX.
HIDING_ESCAPES = (*UNSEEN_ESCAPES, *(f"\\u00{digit}" for digit in "234567"))

# --- Shapes -----------------------------------------------------------------------------------------


def _classes(default: str, *classes: tuple[str, bytes]) -> bytes:
    table = bytearray(default.encode()) * 256
    for target, members in classes:
        for member in members:
            table[member] = ord(target)
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
    ("z", b"\x8b\x8c\x8d\x8e\x8f"),
    ("y", b"\xaa\xab\xac\xad\xae"),
    ("a", b"\xa0"),
    ("b", b"\xb8"),
    ("c", b"\xbb"),
)
UNSEEN_SHAPES = (
    ("\x02", ("\x02p", "\x02q", "\x02l", "\x02z", "\x02y")),
    ("\x03", ("\x03q", "\x03pz", "\x03py")),
    ("\x04", ("\x04b", "\x04c")),
    ("\x05", ("\x05a",)),
    ("\x06", ("\x06a",)),
    ("\x07", ("\x07z",)),
)
LONG_NUMBER = "0" * 13
# Anchors are tried only after something shorter that they share.
FOLDED_GATES = (*STEMS, "bearer", "<", "@")
TOKEN_GATES = ("sk-", "hooks", "gh", "k_")
WORDS = _classes(" ", ("w", IDENT.encode()), (".", b"."))
LETTERS = _classes(" ", ("n", IDENT.rstrip("_-").encode()), ("_", b"_"))
# Anchors of tokens are tried only in texts with a run as long as the token's.
RUN, LONG_RUN, SOLID_RUN, TAIL_RUN = "w" * 20, "w" * 33, "n" * 20, "_" + "n" * 16
RUN_KINDS = ("run", "long", "solid", "tail", "equals")


# --- The engine -------------------------------------------------------------------------------------

_COMPILED: "dict[str, re.Pattern[str]]" = {}


def _compiled(pattern: str) -> "re.Pattern[str]":
    if pattern not in _COMPILED:
        import re

        # ASCII: otherwise the Kelvin sign is a k, and the prefilter would have to know.
        _COMPILED[pattern] = re.compile(pattern, re.ASCII)
    return _COMPILED[pattern]


class Redactor:
    """Replaces secrets and personal data. `off` names rows to leave out, `extra` adds (name, regex)."""

    def __init__(
        self,
        off: frozenset[str] | tuple[str, ...] = (),
        extra: tuple[tuple[str, str], ...] = (),
        anchored: bool = True,
    ) -> None:
        for _, pattern in extra:
            _compiled(pattern)  # a broken pattern is the settings' error, so it is raised here
        kept = tuple(row for row in ROWS if row.name not in off)
        self._rows = (PRIVATE, *kept, *(Row(name, (), pattern, "", whole) for name, pattern in extra))
        self._extra = list(range(1 + len(kept), len(self._rows)))
        self._anchored = anchored  # False is the reference of the tests: every pattern, everywhere
        self._secret = next((rank for rank, row in enumerate(self._rows) if row.name == "secret"), -1)
        self._tokens: dict[int, tuple[tuple[str, Anchors], ...]] = {}
        self._folded = _gated(self._anchors("word", "left", "inside"), FOLDED_GATES)
        self._words = self._anchors("words")
        self._dashed, self._dotted = self._anchors("dash"), self._anchors("dot")
        self._thin, self._packed = self._anchors("thin"), self._anchors("packed")
        self._numbers = self._anchors("number")
        self._clean: set[str] = set()
        self._room = MEMO_ROOM
        self._keys: dict[str, tuple[str, str]] = {}

    def redact(self, text: str) -> str:
        """The text without secrets and personal data; the same object if there were none."""
        if text in self._clean:
            return text
        clean = self._run(text, {})
        if clean is text and len(text) <= MEMO_LONGEST:
            self._room -= len(text) + 100
            if self._room < 0:
                self._clean.clear()
                self._room = MEMO_ROOM
            self._clean.add(text)
        return clean

    def redact_counted(self, text: str) -> tuple[str, dict[str, int]]:
        """The same, and how many of which name were found."""
        counts: dict[str, int] = {}
        return self._run(text, counts), counts

    def suspicious(self, text: str) -> bool:
        """Whether redaction could change this text or, if it is raw JSON, any string in it."""
        rows, low, unseen = self._look(text)
        if rows or unseen:
            return True
        if "\\" not in text:
            return False
        if "\\\\" in text:
            if "\\\\\\n" in text or "\\\\\\r" in text:
                return True  # a line continuation
            text, low = text.replace("\\\\", ""), ""
        if "\\b" in text or "\\f" in text:
            return True
        return "\\u" in text and any(escape in (low or _fold(text)) for escape in HIDING_ESCAPES)

    def redact_json(self, value: object) -> object:
        """The same structure with its strings redacted; a key such as "password" tells about its value."""
        top: dict[object, object] = {}
        changed = False
        # A stack, not recursion: payloads may be nested deeper than Python's stack.
        todo: list[tuple[object, Any, object, str]] = [(value, top, None, "")]
        while todo:
            item, into, place, kind = todo.pop()
            new: Any = item
            if isinstance(item, str):
                new = self._leaf(item, kind)
                changed = changed or new is not item
            elif isinstance(item, list | tuple):
                new = [None] * len(item)
                todo.extend((child, new, index, kind) for index, child in enumerate(item))
            elif isinstance(item, dict):
                new = {}
                for name, child in item.items():
                    label, told = self._key(name) if isinstance(name, str) else (name, "")
                    changed = changed or label is not name
                    while label in new:
                        label += "'"
                    new[label] = None  # keeps the order of the keys
                    todo.append((child, new, label, told))
            into[place] = new
        return top[None] if changed else value

    def redact_bytes(self, data: bytes) -> bytes:
        """The same for bytes of any kind, such as a file that could not be parsed."""
        # surrogateescape keeps every byte, as latin-1 would, but lets us see UTF-8's unseen characters.
        text = data.decode("utf-8", "surrogateescape")
        clean = self.redact(text)
        return data if clean is text else clean.encode("utf-8", "surrogateescape")

    # --- JSON -----------------------------------------------------------------------------------------

    def _key(self, name: str) -> tuple[str, str]:
        known = self._keys.get(name)
        if known is None:
            low = _fold(name if name.isascii() and name.isprintable() else _compiled(UNSEEN).sub("", name))
            known = (self.redact(name), key_names_secret(low) if self._secret > 0 else "")
            if len(self._keys) < 4096 and len(name) < 256:
                self._keys[name] = known
        # The memo may hold an equal string: an unchanged key must stay the same object.
        return (name, known[1]) if known[0] == name else known

    def _leaf(self, text: str, kind: str) -> str:
        if kind and len(text) >= SHORTEST:
            seen = text if text.isascii() and text.isprintable() else _compiled(UNSEEN).sub("", text)
            words = seen.split()
            if len(words) == 1 and looks_secret(words[0][:LONGEST], kind == "human", quoted=True):
                return "[redacted:secret]"
            if len(words) == 2 and words[0].lower() in SCHEMES:
                header = self.redact(f"{HEADER}{seen}")
                if header != f"{HEADER}{seen}":
                    return header.removeprefix(HEADER)
        clean = self.redact(text)
        return text if clean == text else clean

    # --- One text -------------------------------------------------------------------------------------

    def _run(self, text: str, counts: dict[str, int]) -> str:
        for _ in range(PASSES):
            spans = self._spans(text)
            if not spans:
                break
            parts: list[str] = []
            at = 0
            for start, end, rank in spans:
                name = self._rows[rank].name
                parts += (text[at:start], f"[redacted:{name}]" if rank else "[private]")
                at = end
                counts[name] = counts.get(name, 0) + 1
            text = "".join((*parts, text[at:]))
        return text

    def _spans(self, text: str) -> "list[Span]":
        """What to replace, in order, without overlaps: the row that stands first in the table names it."""
        if len(text) < SHORTEST and not self._extra:
            return []
        rows, low, unseen = self._look(text)
        found = [span for rank in rows for span in self._find(rank, text, low)]
        if unseen:
            found += self._seen_through(text)
        if found and ("[redacted:" in text or "[private]" in text):
            found = self._outside_marks(text, found)
        merged: list[Span] = []
        for start, end, rank in sorted(found):
            if merged and start < merged[-1][1]:
                last = merged[-1]
                merged[-1] = (last[0], max(last[1], end), min(last[2], rank))
            else:
                merged.append((start, end, rank))
        return merged

    def _seen_through(self, text: str) -> "list[Span]":
        """Spans that appear once the unseen characters are taken out, mapped back."""
        seen = _compiled(UNSEEN).sub("", text)
        rows, low, _ = self._look(seen)
        found = [span for rank in rows for span in self._find(rank, seen, low)]
        if not found or len(seen) == len(text):
            return []
        from bisect import bisect_right

        seen_at, text_at = [0], [0]  # from this place in what is seen on, the text runs from that place
        for match in _compiled(UNSEEN).finditer(text):
            seen_at.append(seen_at[-1] + match.start() - text_at[-1])
            text_at.append(match.end())

        def back(place: int) -> int:
            piece = bisect_right(seen_at, place) - 1
            return text_at[piece] + place - seen_at[piece]

        return [
            (back(start), len(text) if end == len(seen) and not rank else back(end - 1) + 1, rank)
            for start, end, rank in found
        ]

    def _outside_marks(self, text: str, found: "list[Span]") -> "list[Span]":
        """Spans without those that cut into, or lie within, what an earlier pass has left."""
        names = {row.name for row in self._rows}
        marks = [
            match.span()
            for match in _compiled(r"\[private\]|\[redacted:([^\]\s]{1,99})\]").finditer(text)
            if match[1] is None or match[1] in names
        ]
        kept, first = [], 0
        for span in sorted(found):
            while first < len(marks) and marks[first][1] <= span[0]:
                first += 1
            near = first
            while near < len(marks) and marks[near][0] < span[1] and not _cuts(span, marks[near]):
                near += 1
            if near == len(marks) or marks[near][0] >= span[1]:
                kept.append(span)
        return kept

    # --- Which rows -----------------------------------------------------------------------------------

    def _anchors(self, *hows: str) -> "Anchors":
        kept = [(rank, row) for rank, row in enumerate(self._rows) if row.how in hows]
        return tuple((anchor, rank) for rank, row in kept for anchor in row.anchors)

    def _look(self, text: str) -> tuple[list[int], str, bool]:
        """The rows to run, the text in lowercase if that was free, and whether it may hold the unseen."""
        if not self._anchored:
            return list(range(len(self._rows))), "", True
        rows = list(self._extra)
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

        for gate, anchors in self._folded:
            if gate in low:
                for anchor, rank in anchors:
                    if assigns_secret(low, gate) if rank == self._secret else anchor in low:
                        rows.append(rank)
        if len(text) > len(TAIL_RUN):
            words = data.translate(WORDS).decode("latin-1")
            # Every payload of Claude Code holds a toolu_ id; its underscore is none of a token.
            letters = data.replace(b"toolu_", b"toolu ").translate(LETTERS).decode("latin-1")
            run = RUN in words
            kinds = run | (run and LONG_RUN in words) << 1
            kinds |= (SOLID_RUN in letters) << 2 | (TAIL_RUN in letters) << 3 | ("=" in text) << 4
            tokens = self._tokens.get(kinds)
            if tokens is None:  # anchors of tokens by the kinds of runs that texts have, each kind a bit
                hows = (how for bit, how in enumerate(RUN_KINDS) if kinds >> bit & 1)
                tokens = self._tokens[kinds] = _gated(self._anchors(*hows), TOKEN_GATES)
            for gate, anchors in tokens:
                if gate in text:
                    for anchor, rank in anchors:
                        if anchor in text:
                            rows.append(rank)
            for anchor, rank in self._words if run else ():
                if anchor in words:
                    rows.append(rank)

        shape = data.translate(SHAPE).decode("latin-1")
        if "00-0000" in shape:
            rows += _present(self._dashed, shape)
        dots = shape.count("0.0")
        if dots > 1:
            rows += _present(self._dotted, shape)
            rows += _present(self._thin, _thinned(shape, dots))
        if "+" in shape and "+0" in shape:
            rows += _present(self._packed, shape.replace("-", "").replace(".", "").replace(")", ""))
        if LONG_NUMBER in shape and _may_be_card(data, shape):
            rows += _present(self._numbers, shape)
        unseen = (
            unseen
            or "\x01" in shape
            or ("\\" in text and _hides_in_escapes(text, low))
            or (wide and _hides_in_unicode(shape))
        )
        return rows if len(rows) < 2 else sorted(set(rows)), "" if wide else low, unseen

    # --- One row --------------------------------------------------------------------------------------

    def _find(self, rank: int, text: str, low: str) -> "Iterator[Span]":
        row = self._rows[rank]
        pattern = _compiled(row.pattern)
        if not rank:
            yield from _private(pattern.finditer(text), len(text))
            return
        starts = None
        if self._anchored and row.how in ("word", "left"):
            starts = iter(_places(low or _fold(text), row.anchors))
        at = 0
        while True:
            if starts is None:
                match = pattern.search(text, at) if at <= len(text) else None
                if match is None:
                    return
            else:
                place = next(starts, -1)
                if place < 0:
                    return
                if place < at:
                    continue
                if row.how == "left":
                    run = text[max(at, place - 64) : place]
                    place -= len(run) - len(run.rstrip(IDENT + ".%+"))
                    if text[place] == row.anchors[0]:
                        continue
                match = pattern.match(text, place)
                if match is None:
                    continue
            start, end = match.start(match.lastindex or 0), row.judge(match)
            if end > start:
                yield start, end, rank
            # A match that was left alone may hide another that starts inside it, unless its judge says more.
            at = max(abs(end), match.start() + 1)


def _fold(text: str) -> str:
    """The text in lowercase, each character in its place, as ASCII sees it."""
    if not text.isascii() and ("\u0130" in text or "\u212a" in text):
        text = text.replace("\u0130", "?").replace(
            "\u212a", "?"
        )  # the dotted I grows, the Kelvin sign is a k
    return text.lower()


def _present(anchors: "Anchors", text: str) -> list[int]:
    return [rank for anchor, rank in anchors if anchor in text]


def _gated(anchors: "Anchors", gates: tuple[str, ...]) -> "tuple[tuple[str, Anchors], ...]":
    groups: dict[str, Anchors] = {}
    for anchor, rank in anchors:
        gate = next((gate for gate in gates if gate in anchor), anchor)
        groups[gate] = (*groups.get(gate, ()), (anchor, rank))
    return tuple(groups.items())


def _thinned(shape: str, dots: int) -> str:
    """Where numbers meet at a dot, the shape with every number one digit long."""
    if dots < 32:  # a few times and versions
        pieces, at = [], shape.find("0.0")
        while at >= 0:
            pieces.append(shape[at : at + 14])  # 0.000.000.000
            at = shape.find("0.0", at + 1)
        shape = "x".join(pieces)
    return shape.replace("00", "0").replace("00", "0")


def _places(low: str, anchors: tuple[str, ...]) -> list[int]:
    places = []
    for anchor in anchors:
        at = low.find(anchor)
        while at >= 0:
            places.append(at)
            at = low.find(anchor, at + 1)
    return sorted(places)


def _private(tags: "Iterable[re.Match[str]]", end: int) -> "Iterator[Span]":
    """Private spans: nested ones end with the outermost, an unclosed one with the text."""
    depth = start = 0
    for tag in tags:
        if not tag[1]:
            start = start if depth else tag.start()
            depth += 1
        elif depth:
            depth -= 1
            if not depth:
                yield start, tag.end(), 0
    if depth:
        yield start, end, 0


def _cuts(span: "Span", mark: tuple[int, int]) -> bool:
    start, end, _ = span
    apart = end <= mark[0] or mark[1] <= start
    around = start <= mark[0] and mark[1] <= end and (start, end) != mark
    return not apart and not around


def _hides_in_escapes(text: str, low: str) -> bool:
    if "\\\n" in text or ("\r" in text and "\\\r\n" in text):
        return True
    return "\\u" in low and any(escape in low for escape in UNSEEN_ESCAPES)


def _hides_in_unicode(shape: str) -> bool:
    return any(
        lead in shape and any(sequence in shape for sequence in sequences)
        for lead, sequences in UNSEEN_SHAPES
    )


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
