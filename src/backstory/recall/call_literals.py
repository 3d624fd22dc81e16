"""What a call's payload must hold, literally, for any prepared note on it to be possible.

Before a tool call the hook's shell runs one `grep` with these literals over the payload, and starts Python
only if it finds one. They are of all projects together: which project a call belongs to is not known without
Python, and a literal too many costs a few milliseconds, one too few a note. So each literal must appear
however the agent's encoder writes JSON, and whatever a command's key leaves out (`hook/normalize.py`).

What `grep` takes grows with all of them, at every call of every agent: so each is short, and where there are
too many of them every call passes.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any

from backstory.hook.normalize import INTERPRETERS

# How literals are chosen, by number: a file of another one is made anew. No payload holds this line.
_FORMAT = b"\x012\n"
# A payload with one of these is not filtered: encoders differ in what they write as \uXXXX and whether they
# write \/, Python knows more spaces than a literal can name, and `./` alone is no part of a command's key.
_UNFILTERED = (
    *("\\u", "\\/", "\\r", "\\f", "./ ", "\t", "\r", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x1f"),
    *("\x85", "\xa0", "\u1680", *map(chr, range(0x2000, 0x200B))),
    *("\u2028", "\u2029", "\u202f", "\u205f", "\u3000"),
)
_ANY_PAYLOAD = "{"
_DAMAGED = "surrogateescape"  # bytes of a damaged file come back as they were
_DIFFERS = '"\\\ufffd'  # the last stands for bytes that were no UTF-8
#: A word of at least so many characters is a literal by itself; shorter ones stand in too many texts.
_TELLING = 7
# So much of one is looked for, its end, which tells more of a path; and so many bytes of all together: grep
# takes 10 ms for them, and what makes 6 MB of long commands took 5 s and 600 MB.
_LONGEST = 40
_MOST_BYTES = 64 * 1024
# What may stand before the second word of two, besides the first one and a space: raw JSON, so an escape is
# two characters. `./` before a word is left out of keys.
_BEFORE = ("  ", "\\t", "\\t ", "./")
_BEFORE_ON_NEXT_LINE = ("\\n", "\\n ")


def call_literals(prepared: Mapping[str, Any]) -> set[str]:
    """The literals for a project's notes on commands and edits."""
    found: set[str] = set()
    for command in _with_notes(prepared.get("commands")):
        found |= _of_words(command, _BEFORE + _BEFORE_ON_NEXT_LINE)
    for stem in _with_notes(prepared.get("stems")):
        program, _, script = stem.rpartition(" ")
        if program.partition(" ")[0] in INTERPRETERS:  # options may stand between the two
            found.add(_longest(_runs(script)))
        else:
            found |= _of_words(stem, _BEFORE, telling=len(stem) + 1)
    for edit in _with_notes(prepared.get("edits")):
        found.add(_longest(_runs(edit.partition("\n")[0])))
    return {literal[-_LONGEST:] for literal in found}


def filter_file(literals: Iterable[str]) -> bytes:
    """The literals as `grep -f` reads them; where they are too many, one that every payload has."""
    file = _FORMAT + b"".join(_line(text) for text in (*_UNFILTERED, *sorted(literals)))
    return file if len(file) <= _MOST_BYTES else filter_file([_ANY_PAYLOAD])


def with_literals(file: bytes, literals: Iterable[str]) -> bytes:
    """A file that `filter_file` made, with these as well; itself if it knows them."""
    known = set(file.removeprefix(_FORMAT).decode("utf-8", _DAMAGED).split("\n")) - {""}
    new = known.union(literals)
    return file if _ANY_PAYLOAD in known or new == known else filter_file(new.difference(_UNFILTERED))


def _line(text: str) -> bytes:
    return text.encode("utf-8", _DAMAGED) + b"\n"


def is_current(file: bytes) -> bool:
    """Whether a file of literals was made as this version makes it."""
    return file.startswith(_FORMAT)


def _with_notes(table: object) -> Iterator[str]:
    return (key for key, notes in table.items() if notes) if isinstance(table, dict) else iter(())


def _of_words(key: str, before: tuple[str, ...], telling: int = _TELLING) -> set[str]:
    """One long word of a command, or else two that follow each other, with what may stand between them."""
    words = key.split()
    longest = _longest([run for word in words for run in _runs(word)])
    if len(longest) >= telling:
        return {longest}
    pairs = [(_runs(first)[-1], _runs(second)[0]) for first, second in pairwise(words)]
    if not any(map(all, pairs)):
        return {longest}
    first, second = max(filter(all, pairs), key=lambda pair: len(pair[0]) + len(pair[1]))
    return {f"{first} {second}", *(each + second for each in before)}


def _runs(text: str) -> list[str]:
    """The parts of a text that all encoders of JSON write alike, empty ones at its ends included."""
    kept = (char if char.isprintable() and char not in _DIFFERS else "\0" for char in text)
    return "".join(kept).split("\0")


def _longest(runs: Iterable[str]) -> str:
    return max(runs, key=len, default="") or _ANY_PAYLOAD
