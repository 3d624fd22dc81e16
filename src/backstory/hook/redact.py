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

from __future__ import annotations

from backstory.hook.patterns import IDENT, ROWS, Row, assigns_secret, key_names_secret, looks_secret, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterator
    from typing import Any

    Span = tuple[int, int, int]  # start, end, rank of the row

SHORTEST = 6  # a@b.co
SHORTEST_TOKEN = 15  # xoxb-1234567890
PASSES = 8  # rows that uncover each other; real texts need one
# Short strings of events repeat (ids, paths, names of tools: 8 of 10), so what was clean is remembered.
MEMO_LENGTH = 200
MEMO_SIZE = 4096
SCHEMES = ("basic", "bearer", "bot", "digest", "token", "apikey")
_TAG = r"(?i:<(/?)private(?:\s[^<>]{0,200})?>)"
PRIVATE = Row("private", ("<private",), _TAG, "<private>x</private>", whole, "word")
LONG_NUMBER = "0" * 13

# Anchors that share one of these are tried only if it is there; single letters would be there too often.
GATES = ("-0000", ".0000", ".0.", ".00.", ".000.", "gh", "sk-", "Key=")

# What nobody sees. The class of single characters, then whole sequences: colour codes, terminal titles,
# a shell's line continuation, and the same characters still written as JSON escapes.
UNSEEN = (
    "\x1b\\[[0-?]{0,64}[ -/]{0,8}[@-~]|\x1b\\][^\x07\x1b\n]{0,512}(?:\x07|\x1b\\\\)"
    "|\x1b[()][0-9AB]|\x1b[@-Z\\\\-_]"
    "|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u034f\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f"
    "\ufeff\ud800-\udfff\U000e0000-\U000e01ef]"
    "|\\\\\r?\n"
    "|\\\\u(?i:00(?:0[0-8bcef]|1[0-9a-f]|7f|[89][0-9a-f]|ad)|034f|180e|200[b-f]|202[a-e]|206[0-9a-f]|fe0[0-9a-f]|feff"
    "|d[89a-f][0-9a-f]{2})(?:\\[[0-9;]{0,20}m)?"
)
UNSEEN_ESCAPES = (
    *("\\u000", "\\u001", "\\u007f", "\\u008", "\\u009", "\\u00ad", "\\u034", "\\u180", "\\u200", "\\u202"),
    *("\\u206", "\\ufe", "\\ud8", "\\ud9", "\\uda", "\\udb", "\\udc", "\\udd", "\\ude", "\\udf"),
)
# Escapes of raw JSON that could hide an anchor: ASCII written as \u00XX, and control characters.
HIDING_ESCAPES = (*UNSEEN_ESCAPES, *(f"\\u00{digit}" for digit in "234567"), "\\b", "\\f")


def _classes(default: str, *classes: tuple[str, bytes]) -> bytes:
    table = bytearray(default.encode("latin-1")) * 256
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
    ("\x02", b"\xc2"),
    ("\x03", b"\xe2"),
    ("\x04", b"\xef"),
    ("\x05", b"\xe1"),
    ("\x06", b"\xf3"),
    ("\x07", b"\xcd"),
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
DOTS = _classes(" ", ("w", IDENT.encode()), (".", b"."))

_COMPILED: dict[str, re.Pattern[str]] = {}


def _compiled(pattern: str) -> re.Pattern[str]:
    if pattern not in _COMPILED:
        import re

        # ASCII: otherwise the Kelvin sign is a k, and the prefilter would have to know.
        _COMPILED[pattern] = re.compile(pattern, re.ASCII)
    return _COMPILED[pattern]


def _fold(text: str) -> str:
    """The text in lowercase, each character in its place."""
    low = text.lower()
    if not text.isascii() and ("\u0130" in text or "\u212a" in text):
        low = text.replace("\u0130", "?").replace("\u212a", "?").lower()  # i with two dots, Kelvin
    return low


class _Look:
    """What a first look at a text tells: the rows to run, and whether it holds unseen characters.

    `low` is the text in lowercase if that came for free, else empty.
    """

    __slots__ = ("low", "rows", "unseen")

    def __init__(self, low: str, rows: list[int], unseen: bool) -> None:
        self.low = low
        self.rows = rows
        self.unseen = unseen


class Redactor:
    """Replaces secrets and personal data. `off` names rows to leave out, `extra` adds (name, regex)."""

    def __init__(
        self,
        off: frozenset[str] | tuple[str, ...] = (),
        extra: tuple[tuple[str, str], ...] = (),
        anchored: bool = True,
    ) -> None:
        self._rows = (PRIVATE, *(row for row in ROWS if row.name not in off))
        self._rows += tuple(Row(name, (), pattern, "", whole) for name, pattern in extra)
        for _, pattern in extra:
            _compiled(pattern)  # a broken pattern is the settings' error, so it is raised here
        self._extra = tuple(range(len(self._rows) - len(extra), len(self._rows)))
        self._names = frozenset(row.name for row in self._rows)
        self._anchored = anchored  # False is the reference that tests compare with: every pattern, everywhere
        self._exact = self._gated("scan")
        self._folded = self._gated("word", "left", "inside")
        self._shapes = self._gated("shape")
        self._packed = self._gated("packed")
        self._dots = self._gated("dots")
        self._secret = next((rank for rank, row in enumerate(self._rows) if row.name == "secret"), 0)
        self._clean: set[str] = set()
        self._keys: dict[str, tuple[str, str]] = {}

    def redact(self, text: str) -> str:
        """The text without secrets and personal data; the same object if there were none."""
        if len(text) > MEMO_LENGTH:
            return self._run(text, None)
        if text in self._clean:
            return text
        clean = self._run(text, None)
        if clean is text:
            if len(self._clean) >= MEMO_SIZE:
                self._clean.clear()
            self._clean.add(text)
        return clean

    def redact_counted(self, text: str) -> tuple[str, dict[str, int]]:
        """The same, and how many of which name were found."""
        counts: dict[str, int] = {}
        return self._run(text, counts), counts

    def suspicious(self, text: str) -> bool:
        """Whether redaction could change this text or, if it is raw JSON, any string in it."""
        if self._extra:
            return True
        look = self._look(text)
        if look.rows or look.unseen:
            return True
        if "\\" not in text:
            return False
        if "\\\\\\n" in text or "\\\\\\r" in text:
            return True
        bare = (look.low or _fold(text)).replace("\\\\", "")
        return "\\" in bare and any(escape in bare for escape in HIDING_ESCAPES)

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
            low = _fold(name)
            if self._look(name).unseen:
                low = _compiled(UNSEEN).sub("", low)
            known = (self.redact(name), key_names_secret(low) if self._secret else "")
            if len(self._keys) < 4096 and len(name) < 256:
                self._keys[name] = known
        return known

    def _leaf(self, text: str, kind: str) -> str:
        if kind and len(text) >= SHORTEST:
            scheme, space, rest = text.partition(" ")
            if not space or scheme.lower() not in SCHEMES:
                scheme, rest = "", text
            seen = rest if rest.isprintable() and rest.isascii() else _compiled(UNSEEN).sub("", rest)
            if not any(char.isspace() for char in seen) and looks_secret(seen[:256], kind == "human", True):
                return f"{scheme} [redacted:secret]" if scheme else "[redacted:secret]"
        return self.redact(text)

    # --- One text ---------------------------------------------------------------------------------------

    def _run(self, text: str, counts: dict[str, int] | None) -> str:
        for _ in range(PASSES):
            spans = self._spans(text)
            if not spans:
                break
            parts, at = [], 0
            for start, end, rank in spans:
                name = self._rows[rank].name
                parts += (text[at:start], f"[redacted:{name}]" if rank else "[private]")
                at = end
                if counts is not None:
                    counts[name] = counts.get(name, 0) + 1
            text = "".join((*parts, text[at:]))
        return text

    def _spans(self, text: str) -> list[Span]:
        """What to replace, in order, without overlaps: the row that stands first in the table names it."""
        if len(text) < SHORTEST and not self._extra:
            return []
        look = self._look(text)
        found = [span for rank in look.rows for span in self._find(rank, text, look.low)]
        if look.unseen:
            found += self._seen_through(text)
        if not found:
            return []
        if "[redacted:" in text or "[private]" in text:
            found = self._outside_marks(text, found)
        merged: list[Span] = []
        for start, end, rank in sorted(found):
            if merged and start < merged[-1][1]:
                last = merged[-1]
                merged[-1] = (last[0], max(last[1], end), min(last[2], rank))
            else:
                merged.append((start, end, rank))
        return merged

    def _seen_through(self, text: str) -> list[Span]:
        """Spans that appear once the unseen characters are taken out, mapped back."""
        from bisect import bisect_right

        parts: list[str] = []
        at = size = 0
        seen_at, text_at = [0], [0]  # from this place in what is seen on, the text runs from that place
        for match in _compiled(UNSEEN).finditer(text):
            parts.append(text[at : match.start()])
            size += match.start() - at
            at = match.end()
            seen_at.append(size)
            text_at.append(at)
        if not at:
            return []
        seen = "".join((*parts, text[at:]))

        def back(place: int) -> int:
            piece = bisect_right(seen_at, place) - 1
            return text_at[piece] + place - seen_at[piece]

        look = self._look(seen)
        return [
            (back(start), len(text) if end == len(seen) and not rank else back(end - 1) + 1, rank)
            for rank in look.rows
            for start, end, _ in self._find(rank, seen, look.low)
        ]

    def _outside_marks(self, text: str, found: list[Span]) -> list[Span]:
        """Spans without those that cut into, or lie within, what an earlier pass has left."""
        marks = [
            match.span()
            for match in _compiled(r"\[private\]|\[redacted:([^\]\s]{1,99})\]").finditer(text)
            if match[1] is None or match[1] in self._names
        ]
        return [span for span in found if not any(_cuts(span, mark) for mark in marks)]

    # --- Which rows ---------------------------------------------------------------------------------------

    def _gated(self, *hows: str) -> dict[str, tuple[tuple[str, int], ...]]:
        """Gates, each with its anchors and the rank of their rows."""
        groups: dict[str, tuple[tuple[str, int], ...]] = {}
        for rank, row in enumerate(self._rows):
            for anchor in row.anchors if row.how in hows and row.name != "secret" else ():
                gate = next((gate for gate in GATES if gate in anchor), anchor)
                groups[gate] = (*groups.get(gate, ()), (anchor, rank))
        return groups

    def _look(self, text: str) -> _Look:
        if not self._anchored:
            return _Look("", list(range(len(self._rows))), True)
        rows = list(self._extra)
        unseen = False
        try:
            data = text.encode()
        except UnicodeEncodeError:  # half of a surrogate pair
            data, unseen = text.encode("utf-8", "surrogatepass"), True
        # One byte a character, whatever the text: anchors are ASCII, and `in` is six times faster in str than
        # in bytes.
        wide = len(data) != len(text)
        if wide:
            text, low = data.decode("latin-1"), data.lower().decode("latin-1")
        else:
            low = text.lower()
        shape = data.translate(SHAPE).decode("latin-1")
        if len(text) >= SHORTEST_TOKEN:
            for gate in self._exact:
                if gate in text:
                    for anchor, rank in self._exact[gate]:
                        if anchor in text:
                            rows.append(rank)
        for gate in self._folded:
            if gate in low:
                for anchor, rank in self._folded[gate]:
                    if anchor in low:
                        rows.append(rank)
        if self._secret and assigns_secret(low):
            rows.append(self._secret)
        for gate in self._shapes:
            if gate in shape:
                for anchor, rank in self._shapes[gate]:
                    if anchor in shape and (anchor != LONG_NUMBER or _may_be_card(data, shape)):
                        rows.append(rank)
        if "+0" in shape and self._packed:
            packed = shape.replace("-", "").replace(".", "").replace(")", "")
            rows += [rank for anchors in self._packed.values() for anchor, rank in anchors if anchor in packed]
        if len(text) > 57 and self._dots:
            dots = data.translate(DOTS).decode("latin-1")
            rows += [rank for anchors in self._dots.values() for anchor, rank in anchors if anchor in dots]
        unseen = (
            unseen
            or "\x01" in shape
            or ("\\" in text and _hides_in_escapes(text, low))
            or (wide and _hides_in_unicode(shape))
        )
        return _Look("" if wide else low, rows if len(rows) < 2 else sorted(set(rows)), unseen)

    # --- One row ------------------------------------------------------------------------------------------

    def _find(self, rank: int, text: str, low: str) -> Iterator[Span]:
        row = self._rows[rank]
        pattern = _compiled(row.pattern)
        if not rank:
            yield from _private(pattern, text)
            return
        at, starts = 0, None
        if self._anchored and row.how in ("word", "left"):
            starts = iter(_places(low or _fold(text), row.anchors))
        while True:
            if starts is None:
                match = pattern.search(text, at)
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
                match = pattern.match(text, place)
                if match is None:
                    continue
            start, end = match.start(match.lastindex or 0), row.judge(match)
            if end > start:
                yield start, end, rank
            # A match that was left alone may hide another that starts inside it.
            at = max(end, match.start() + 1)


def _hides_in_escapes(text: str, low: str) -> bool:
    if "\\\n" in text or "\\\r\n" in text:
        return True
    return "\\u" in low and any(escape in low for escape in UNSEEN_ESCAPES)


def _hides_in_unicode(shape: str) -> bool:
    for lead, sequences in UNSEEN_SHAPES:
        if lead in shape and any(sequence in shape for sequence in sequences):
            return True
    return False


def _cuts(span: Span, mark: tuple[int, int]) -> bool:
    start, end, _ = span
    apart = end <= mark[0] or mark[1] <= start
    around = start <= mark[0] and mark[1] <= end and (start, end) != mark
    return not apart and not around


def _places(low: str, anchors: tuple[str, ...]) -> list[int]:
    places = []
    for anchor in anchors:
        at = low.find(anchor)
        while at >= 0:
            places.append(at)
            at = low.find(anchor, at + 1)
    return sorted(places)


def _private(pattern: re.Pattern[str], text: str) -> Iterator[Span]:
    """Private spans: nested ones end with the outermost, an unclosed one with the text."""
    depth = start = 0
    for match in pattern.finditer(text):
        if not match[1]:
            start = start if depth else match.start()
            depth += 1
        elif depth:
            depth -= 1
            if not depth:
                yield start, match.end(), 0
    if depth:
        yield start, len(text), 0


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
