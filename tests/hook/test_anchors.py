"""No row's pattern matches more than its anchors announce, checked with texts made from the patterns."""

import random
import re
from collections.abc import Iterable
from re import _parser
from typing import Any

import pytest

from backstory.hook.patterns import ROWS, Row
from backstory.hook.redact import Redactor

# Judges leave alone what looks like no secret, so groups hold one more often than what the pattern makes up.
SECRETS = (
    "S3cretPa55",
    "k9J2mQ8xW4",
    "hunter2xyz!",
    "9f8e7d6c5b4a32109f8e7d6c5b4a3210",
    "9f8e/7d6C5b+4a32T09f8",
    "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A",
)
BEFORE = (
    *("", "", " ", "\n", "x", "x_", "-", '"', "a:", "a/", "=", "\\n", "é ", "use ", "the ", "mc ", "kinit "),
    *("sudo -S x ", "set user x ", "PuTTY-User-Key-File-3: ", '{"kty":"OKP",', "<key>token</key>"),
)
AFTER = ("", "", " ", "\n", "\nx,", " x", '"', ";", " | y", "é", "\\n", "@x.dev", "\n  a: b\n", " the token")
TEXTS = 120  # of each row
PRINTABLE = [chr(code) for code in range(32, 127)]


class Maker:
    """Texts that a pattern may match: what it looks for ahead and behind is not seen to."""

    def __init__(self, pattern: str, seed: int) -> None:
        self._tree = _parser.parse(pattern, re.ASCII)
        self._random = random.Random(seed)
        self._groups: dict[int, str] = {}

    def text(self) -> str:
        choice = self._random.choice
        return choice(BEFORE) + self._made(self._tree, False) + choice(AFTER)

    def _made(self, tree: Iterable[Any], fold: bool) -> str:
        return "".join(self._node(str(kind), value, fold) for kind, value in tree)

    def _node(self, kind: str, value: Any, fold: bool) -> str:
        if kind == "LITERAL":
            return self._random.choice((chr(value).lower(), chr(value).upper())) if fold else chr(value)
        if kind in ("IN", "NOT_LITERAL", "ANY"):
            return self._character(kind, value)
        if kind == "BRANCH":
            return self._made(self._random.choice(value[1]), fold)
        if kind.endswith("_REPEAT"):
            low, high, tree = value
            most = min(int(high), low + self._random.choice((0, 1, 2, 5, 20)))
            return "".join(self._made(tree, fold) for _ in range(self._random.randint(low, most)))
        if kind == "SUBPATTERN":
            return self._group(value, fold)
        if kind == "ATOMIC_GROUP":
            return self._made(value, fold)
        return self._groups.get(value, "") if kind == "GROUPREF" else ""

    def _character(self, kind: str, value: Any) -> str:
        one = re.compile(self._class(kind, value), re.ASCII)
        signs = [sign for sign in (*PRINTABLE, "\t", "\n", "é", "\u00a0", "→") if one.fullmatch(sign)]
        plain = [sign for sign in signs if sign.isascii() and sign.isalnum()]
        return self._random.choice(plain if plain and self._random.random() < 0.8 else signs)

    def _class(self, kind: str, value: Any) -> str:
        if kind == "ANY":
            return "."
        if kind == "NOT_LITERAL":
            return f"[^{re.escape(chr(value))}]"
        return f"[{''.join(self._member(str(name), member) for name, member in value)}]"

    def _member(self, name: str, member: Any) -> str:
        if name == "NEGATE":
            return "^"
        if name == "RANGE":
            return "-".join(re.escape(chr(code)) for code in member)
        if name == "CATEGORY":
            return {"DIGIT": r"\d", "SPACE": r"\s", "WORD": r"\w"}[str(member).removeprefix("CATEGORY_")]
        return re.escape(chr(member))

    def _group(self, value: tuple[int | None, int, int, Any], fold: bool) -> str:
        number, add, _, tree = value
        made = self._made(tree, fold or bool(add & re.IGNORECASE))
        if number is None:
            return made
        self._groups[number] = self._random.choice(SECRETS) if self._random.random() < 0.5 else made
        return self._groups[number]


ANCHORED, REFERENCE = Redactor(), Redactor(anchored=False)


def found(redactor: Redactor, rank: int, text: str) -> list[tuple[int, int, int]]:
    """What this row alone finds: others that find the same do not hide what it misses."""
    rows, low, _ = redactor._look(text)
    return [*redactor._find(rank, text, low)] if rank in rows else []


@pytest.mark.parametrize(
    ("rank", "row"), list(enumerate(ROWS, start=1)), ids=[f"{row.name}-{row.judge}-{row.how}" for row in ROWS]
)
def test_anchors_announce_all_that_a_row_finds(rank: int, row: Row) -> None:
    maker = Maker(row.pattern, seed=rank)
    for _ in range(TEXTS):
        text = maker.text()
        assert found(ANCHORED, rank, text) == found(REFERENCE, rank, text), text
