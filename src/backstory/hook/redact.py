"""Redaction: secrets and personal data leave a text before it is stored, shown or sent anywhere.

Most texts hold nothing: anchors.py tells so, and only rows of the table (patterns.py) that a text may hold
run their patterns. What matches is judged (validators.py, pii.py), and neither they nor the
patterns (precompiled_patterns.py) are loaded before.

A secret may be cut by characters that nobody sees (zero-width, soft hyphen, NUL, colour codes) or by a
shell's line continuation. When such characters stand in a text, it is searched a second time without
them, and what is found there is mapped back, so the whole original span goes.

What is found is replaced by `[redacted:NAME]`, `<private>…</private>` by `[private]`, again and again
until nothing is found: redacting twice is redacting once.
"""

from backstory.hook.anchors import HIDING_ESCAPES, Prefilter, fold
from backstory.hook.patterns import ROWS, Row
from backstory.hook.secret_names import IDENT, key_names_secret, names_beside, tells_of_next

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterator
    from typing import Any

    Span = tuple[int, int, int]  # start, end, rank of the row
    Judge = Callable[[re.Match[str]], int]

SHORTEST = 6  # a@b.co
SHORTEST_TOLD = 4  # of a value whose key tells what it is
PASSES = 8  # rows that uncover each other; real texts need one
# Strings of events repeat (ids, paths, names of tools, outputs: 8 of 10), so what was clean is remembered.
# What was told once is sought in the rest of its text, where nothing says what it is.
SHORTEST_REPEATED, LONGEST_REPEATED = 8, 256
UNREPEATED = ("private", "private-key", "email", "ip", "ssn", "card", "phone", "cookie")
MEMO_LONGEST = 65_536
MEMO_ROOM = 2_000_000
HEADERS = ("set-cookie", "cookie")  # keys whose values are redacted as these headers
AT_ANCHORS = (
    *("word", "command", "command-p", "left", "block", "pipe", "at", "star", "valued", "spoken", "title"),
    *("short", "line", "http", "element", "here", "colon", "sentence"),
)
BLOCKS = ("block", "title")
AT_RUNS = ("head", "start", "digit", "whole")  # rows whose matches start there
SCHEMES = ("basic", "bearer", "bot", "digest", "token", "apikey")

# Not a row: what its owner has marked stays private, whatever the settings say.
_OPENS, _CLOSES = (
    rf"(?:{sign}|{wide}|&(?:amp;){{0,2}}(?:{name};|#0{{0,5}}{ord(sign)};|#x0{{0,5}}{ord(sign):x};)|\\{{1,2}}u00{ord(sign):x}|\\x{ord(sign):x})"
    for sign, wide, name in (("<", "[＜﹤]", "lt"), (">", "[＞﹥]", "gt"))
)
_TAG = rf"(?i:{_OPENS}[ \t]{{0,3}}\\?([/／]?)[ \t]{{0,3}}private(?:\s[^<>&]{{0,200}}?)?{_CLOSES})"
PRIVATE = Row("private", ("private",), _TAG, "<private>x</private>", "tag", "whole")

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

MARKS = r"\[private\]|\[redacted:([^\]\s]{1,99})\]"
PATTERNS = (UNSEEN, MARKS, PRIVATE.pattern, *(row.pattern for row in ROWS))

_COMPILED: "dict[str, re.Pattern[str]]" = {}


def _compiled(pattern: str) -> "re.Pattern[str]":
    if pattern not in _COMPILED:
        from backstory.hook.precompiled_patterns import automaton

        _COMPILED[pattern] = automaton(pattern)
    return _COMPILED[pattern]


_JUDGES: "dict[str, Judge]" = {}


def _judge(name: str) -> "Judge":
    if name not in _JUDGES:
        from backstory.hook import context_validators, pii, validators

        module = next(module for module in (validators, context_validators, pii) if hasattr(module, name))
        _JUDGES[name] = getattr(module, name)
    return _JUDGES[name]


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
        self._rows = (
            PRIVATE,
            *kept,
            *(Row(name, (), pattern, "", "inside", "whole") for name, pattern in extra),
        )
        self._shortest = 0 if extra else SHORTEST
        self._anchored = anchored  # False is the reference of the tests: every pattern, everywhere
        self._secret = next((rank for rank, row in enumerate(self._rows) if row.name == "secret"), -1)
        self._look = Prefilter(self._rows, self._secret).look if anchored else self._everything
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
        return "\\u" in text and any(escape in (low or fold(text)) for escape in HIDING_ESCAPES)

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
                lines = self._block(item)
                changed = changed or lines is not item
                item = lines
                new = [None] * len(item)
                told = kind
                for index, child in enumerate(item):
                    if isinstance(child, str) and child[:1] == "-":
                        todo.append((child, new, index, kind if child[:2] == "--" else told))
                        told = (tells_of_next(child) and self._key(child)[1]) or kind
                    else:
                        todo.append((child, new, index, told))
                        told = kind
            elif isinstance(item, dict):
                new = {}
                beside = (kind or self._beside(item)) if "value" in item or "Value" in item else ""
                for name, child in item.items():
                    label, told = self._key(name) if isinstance(name, str) else (name, "")
                    changed = changed or label is not name
                    while label in new:
                        label += "'"
                    new[label] = None  # keeps the order of the keys
                    if beside and name in ("value", "Value"):
                        told = beside
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

    def _block(self, items: "list[Any] | tuple[Any, ...]") -> "list[Any] | tuple[Any, ...]":
        """A text given line by line, as a patch is: what spans several of its lines goes as a whole."""
        if len(items) < 2:
            return items
        if all(isinstance(item, str) for item in items):
            text = "\n".join(items)
            clean = self.redact(text)
            return items if clean is text else [*clean.split("\n")]
        return self._private_blocks(items)

    def _private_blocks(self, items: "list[Any] | tuple[Any, ...]") -> "list[Any] | tuple[Any, ...]":
        """The blocks of a message; a private span that one of them leaves open hides those up to its end."""
        kept, hidden, changed = [], False, False
        for item in items:
            text = item.get("text") if isinstance(item, dict) else item
            if not isinstance(text, str):
                kept.append(item)
                continue
            whole = "<private>" + text if hidden else text
            if hidden:
                text, changed = self.redact(whole), True
                item = {**item, "text": text} if isinstance(item, dict) else text
            if hidden or fold(whole).find("private") >= 0:
                hidden = self._left_open(whole)
            kept.append(item)
        return kept if changed else items

    def _left_open(self, text: str) -> bool:
        depth = 0
        for tag in _compiled(_TAG).finditer(text):
            depth = max(0, depth - 1) if tag[1] else depth + 1
        return depth > 0

    def _key(self, name: str) -> tuple[str, str]:
        known = self._keys.get(name)
        if known is None:
            low = fold(name if name.isascii() and name.isprintable() else _compiled(UNSEEN).sub("", name))
            kind = next((header for header in HEADERS if low.endswith(header)), "")
            if not kind and self._secret > 0:
                kind = key_names_secret(low)
                kind = "" if kind == "keyed" else kind
            known = (self.redact(name), kind)
            if len(self._keys) < 4096 and len(name) < 256:
                self._keys[name] = known
        # The memo may hold an equal string: an unchanged key must stay the same object.
        return (name, known[1]) if known[0] == name else known

    def _beside(self, item: "dict[Any, object]") -> str:
        """What the name in `{"name": "API_KEY", "value": "…"}` tells about the value."""
        return next((kind for name in names_beside(item) if (kind := self._key(name)[1])), "")

    def _leaf(self, text: str, kind: str) -> str:
        if kind and len(text) >= SHORTEST_TOLD:
            seen = text if text.isascii() and text.isprintable() else _compiled(UNSEEN).sub("", text)
            words = seen.split()
            header = kind if kind in HEADERS else "pat" if kind == "drawn" else ""
            if not header and len(words) == 1:
                from backstory.hook.placeholders import LONGEST, looks_secret
                from backstory.hook.plaintext_passwords import wordy

                word = words[0][:LONGEST]
                if looks_secret(word, kind != "machine", quoted=True):
                    return "[redacted:secret]"
                if kind == "plain" and wordy(word, code=False):
                    return "[redacted:secret]"
            if not header and len(words) == 2 and words[0].lower() in SCHEMES:
                header = "authorization"
            if header:
                whole = f"{header}: {seen}"
                clean = self.redact(whole)
                if clean != whole:
                    return clean.removeprefix(f"{header}: ")
        clean = self.redact(text)
        return text if clean == text else clean

    # --- One text -------------------------------------------------------------------------------------

    def _run(self, text: str, counts: dict[str, int]) -> str:
        told: set[str] = set()
        for _ in range(PASSES):
            spans = self._spans(text)
            if not spans:
                break
            parts: list[str] = []
            at = 0
            for start, end, rank in spans:
                name = self._rows[rank].name
                parts += (text[at:start], f"[redacted:{name}]" if rank else "[private]")
                if name not in UNREPEATED and SHORTEST_REPEATED <= end - start <= LONGEST_REPEATED:
                    told.add(text[start:end])
                at = end
                counts[name] = counts.get(name, 0) + 1
            text = "".join((*parts, text[at:]))
        if told:
            from backstory.hook.private_spans import without_repeats

            clean = without_repeats(text, told, counts)
            if clean != text:  # what stood beside a repeat may be seen for what it is now
                return self._run(clean, counts)
        return text

    def _spans(self, text: str) -> "list[Span]":
        """What to replace, in order, without overlaps: the row that stands first in the table names it."""
        if len(text) < self._shortest:
            return []
        rows, low, unseen = self._look(text)
        found = [span for rank in rows for span in self._find(rank, text, low)]
        through = self._seen_through(text) if unseen else None
        if through is not None:  # tags of private spans may be cut too: the text without the unseen tells
            found = [span for span in found if span[2]] + through
        if not found:
            return []
        from backstory.hook.private_spans import merged, outside_marks

        if "[redacted:" in text or "[private]" in text:
            names = {None, *(row.name for row in self._rows)}
            marks = _compiled(MARKS).finditer(text)
            found = outside_marks([mark.span() for mark in marks if mark[1] in names], found)
        return merged(found)

    def _seen_through(self, text: str) -> "list[Span] | None":
        """Spans that appear once the unseen characters are taken out, mapped back; None if there are none."""
        seen = _compiled(UNSEEN).sub("", text)
        if len(seen) == len(text):
            return None
        rows, low, _ = self._look(seen)
        found = [span for rank in rows for span in self._find(rank, seen, low)]
        if not found:
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

    def _everything(self, text: str) -> tuple[list[int], str, bool]:
        return list(range(len(self._rows))), "", True

    # --- One row --------------------------------------------------------------------------------------

    def _find(self, rank: int, text: str, low: str) -> "Iterator[Span]":
        from backstory.hook.private_spans import places, private, run_starts

        row = self._rows[rank]
        pattern = _compiled(row.pattern)
        if not rank:
            yield from private(pattern.finditer(text), text)
            return
        judge = _judge(row.judge if row.how not in BLOCKS else "whole")
        starts: Iterator[int] | None = None
        if self._anchored and row.how in AT_ANCHORS:
            starts = iter(places(low or fold(text), row.anchors))
        elif self._anchored and row.how in AT_RUNS:
            starts = run_starts(text)
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
            if row.how in BLOCKS:
                yield from self._cells(row, match, rank)
                at = match.start() + 1
                continue
            start, end = match.start(match.lastindex or 0), judge(match)
            if end > start:
                yield start, end, rank
            # A match that was left alone may hide another that starts inside it, unless its judge says more.
            at = max(abs(end), match.start() + 1)

    def _cells(self, row: Row, match: "re.Match[str]", rank: int) -> "Iterator[Span]":
        """What lines after a match hold, where a column or a document tells what it is."""
        from backstory.hook import secret_columns

        finder: Callable[[re.Match[str]], Iterator[tuple[int, int]]] = getattr(secret_columns, row.judge)
        for start, end in finder(match):
            yield start, end, rank
