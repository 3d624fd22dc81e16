"""Editing JSON and JSONC as text: what is touched changes, everything else stays byte for byte.

The text is parsed into nodes that know where they stand; an edit finds its node by a path of keys and
indexes, and cuts or pastes there. What is pasted follows the file's own style: indentation, line ends,
one line or many. Comments, trailing commas, a BOM and duplicate keys (the last one counts) are tolerated.
Deleting what was inserted gives back the text of before; only `{ }` comes back as `{}`.
"""

import json
import re
from dataclasses import dataclass
from typing import Any

from backstory.errors import UsageError

Path = tuple[str | int, ...]

_BOM = "\ufeff"
# Comments and whitespace, then the last stretch of whitespace alone; matches everywhere.
_GAP = re.compile(r"(?:[ \t\r\n]*(?P<comment>//[^\r\n]*|/\*[\s\S]*?\*/))*(?P<space>[ \t\r\n]*)")
# Comments behind something on its line belong to it, so an insertion goes behind them.
_REMARK = re.compile(r"(?:[ \t]*/\*[^\r\n]*?\*/)*(?P<line>[ \t]*//[^\r\n]*)?")
_NO_NUMBER = re.compile(r"-?Inf|NaN")
_SCALARS = json.JSONDecoder()
_REST_OF_LINE = re.compile(r"[ \t]*+(?:,[ \t]*+)?(?=[\r\n])")


class InvalidJson(UsageError):
    """The text is not JSON, or not of the shape that it must have; says where."""

    def __init__(self, text: str, at: int, reason: str) -> None:
        before = text[:at].removeprefix(_BOM)
        self.line = before.count("\n") + 1
        self.column = len(before) - (before.rfind("\n") + 1) + 1
        self.reason = reason
        super().__init__(f"line {self.line}, column {self.column}: {reason}")


@dataclass(frozen=True, slots=True)
class Node:
    """A value and where it stands; `items` are those of an object or array, in the order of the text."""

    start: int
    end: int
    value: Any
    items: tuple["Item", ...] = ()


@dataclass(frozen=True, slots=True)
class Item:
    """One member of an object or element of an array.

    `lead` is where the whitespace before it starts, `noted` whether a line comment stands before that, and
    `comma` where the comma behind it is, or -1.
    """

    key: str | int
    lead: int
    noted: bool
    start: int
    node: Node
    comma: int


def parse(text: str) -> Node:
    """The whole text as one node; `InvalidJson` if it is none."""
    _, at, _ = _skip(text, len(_BOM) if text.startswith(_BOM) else 0)
    try:
        root = _value(text, at)
    except RecursionError:
        raise InvalidJson(text, at, "nested too deeply") from None
    _, at, _ = _skip(text, root.end)
    if at < len(text):
        raise InvalidJson(text, at, "something follows after the end")
    return root


def find(root: Node, path: Path) -> Node:
    """The node at that path, or `KeyError`."""
    for key in path:
        root = _item(root, key).node
    return root


def _item(node: Node, key: str | int) -> Item:
    for item in reversed(node.items):
        if item.key == key:
            return item
    raise KeyError(key)


def _skip(text: str, at: int) -> tuple[int, int, bool]:
    """Past whitespace and comments: where the last whitespace starts and ends, and whether `//` is before."""
    gap = _GAP.match(text, at)
    assert gap
    return gap.start("space"), gap.end(), (gap["comment"] or "").startswith("//")


def _value(text: str, at: int) -> Node:
    if text.startswith(("{", "["), at):
        return _container(text, at)
    if _NO_NUMBER.match(text, at):  # the decoder would take it
        raise InvalidJson(text, at, "expecting value")
    try:
        value, end = _SCALARS.raw_decode(text, at)
    except json.JSONDecodeError as error:
        raise InvalidJson(text, error.pos, error.msg[:1].lower() + error.msg[1:]) from None
    except ValueError as error:  # a number of thousands of digits
        raise InvalidJson(text, at, str(error)) from None
    return Node(at, end, value)


def _container(text: str, start: int) -> Node:
    is_object = text[start] == "{"
    close = "}" if is_object else "]"
    items: list[Item] = []
    at = start + 1
    while True:
        lead, at, noted = _skip(text, at)
        if text.startswith(close, at):
            break
        if items and items[-1].comma < 0:
            raise InvalidJson(text, at, f"expecting ',' or '{close}'")
        begin = at
        key: str | int = len(items)
        if is_object:
            key, at = _key(text, at)
        node = _value(text, at)
        _, at, _ = _skip(text, node.end)
        comma = at if text.startswith(",", at) else -1
        at = node.end if comma < 0 else comma + 1
        items.append(Item(key, lead, noted, begin, node, comma))
    members = {item.key: item.node.value for item in items}
    return Node(start, at + 1, members if is_object else list(members.values()), tuple(items))


def _key(text: str, at: int) -> tuple[str, int]:
    """The key that stands there, and where its value starts."""
    if not text.startswith('"', at):
        raise InvalidJson(text, at, "expecting a key in double quotes, or '}'")
    key = _value(text, at)
    _, at, _ = _skip(text, key.end)
    if not text.startswith(":", at):
        raise InvalidJson(text, at, "expecting ':'")
    return key.value, _skip(text, at + 1)[1]


def insert(text: str, path: Path, key: str | None, value: Any) -> str:
    """Add a new key at the end of the object at `path` or, with None for a key, an element to the array."""
    root = parse(text)
    node = find(root, path)
    style = _Style.of(text, root)
    name = "" if key is None else json.dumps(key, ensure_ascii=False) + style.colon
    outer = _indent(text, node.start)
    inner = outer + style.unit
    if not text[node.start + 1 : node.end - 1].strip():
        new = name + style.render(value, None)
        if not root.items or "\n" in text[root.start : root.end]:
            new = style.newline + inner + name + style.render(value, inner) + style.newline + outer
        return text[: node.start + 1] + new + text[node.end - 1 :]
    last = node.items[-1] if node.items else None
    behind = node.start + 1 if last is None else last.node.end if last.comma < 0 else last.comma + 1
    remark = _REMARK.match(text, behind)
    at = remark.end() if remark else behind
    many_lines = bool(remark and remark["line"])
    if last is None:
        many_lines = many_lines or "\n" in text[at : node.end]
    elif "\n" in (lead := text[last.lead : last.start]):
        many_lines, inner = True, lead[lead.rfind("\n") + 1 :]
    new = style.newline + inner if many_lines else style.space
    new += name + style.render(value, inner if many_lines else None)
    new += "," if last and last.comma >= 0 else ""
    comma = "," if last and last.comma < 0 else ""
    return text[:behind] + comma + text[behind:at] + new + text[at:]


def replace(text: str, path: Path, value: Any) -> str:
    """Put another value where the one at `path` stands."""
    root = parse(text)
    node = find(root, path)
    item = _item(find(root, path[:-1]), path[-1]) if path else None
    own_line = item is None or "\n" in text[item.lead : item.start]
    new = _Style.of(text, root).render(value, _indent(text, node.start) if own_line else None)
    return text[: node.start] + new + text[node.end :]


def delete(text: str, path: Path, prune: bool = False) -> str:
    """Take out the item at `path` with its comma; with `prune`, also what is empty then, except the root."""
    root = parse(text)
    parent = find(root, path[:-1])
    item = _item(parent, path[-1])
    last = item is parent.items[-1]
    # The line end of a comment before it must stay, unless another one follows at once.
    whole = bool(_REST_OF_LINE.match(text, item.node.end)) or (last and not item.noted)
    cuts = [(item.lead if whole else item.start, item.node.end)]
    if item.comma >= 0:
        spaces = "" if whole else text[item.comma + 1 :]
        cuts.append((item.comma, item.comma + 1 + len(spaces) - len(spaces.lstrip(" \t"))))
    elif len(parent.items) > 1:
        before = parent.items[-2].comma
        cuts.insert(0, (before, before + 1))
    new = text
    for start, end in reversed(cuts):
        new = new[:start] + new[end:]
    if len(parent.items) > 1:
        return new
    close = parent.end - 1 - (len(text) - len(new))
    if new[parent.start + 1 : close].strip():  # a comment
        return new
    new = new[: parent.start + 1] + new[close:]
    # Not if a key of the same name stands before it, which would come into force.
    if not prune or len(path) == 1 or [i.key for i in find(root, path[:-2]).items].count(path[-2]) > 1:
        return new
    return delete(new, path[:-1], prune=True)


def _indent(text: str, at: int) -> str:
    """The whitespace that the line of that position starts with."""
    line = text[text.rfind("\n", 0, at) + 1 : at].removeprefix(_BOM)
    return line[: len(line) - len(line.lstrip(" \t"))]


@dataclass(frozen=True, slots=True)
class _Style:
    """How a file is written, as far as its first member tells."""

    newline: str
    unit: str
    colon: str
    space: str

    @classmethod
    def of(cls, text: str, root: Node) -> "_Style":
        unit, tight = "", False
        if root.items:
            first = root.items[0]
            lead = text[first.lead : first.start]
            unit = lead[lead.rfind("\n") + 1 :] if "\n" in lead else ""
            tight = isinstance(first.key, str) and text[first.start : first.node.start].endswith(":")
        newline = "\r\n" if "\r\n" in text else "\n"
        return cls(newline, unit or "  ", ":" if tight else ": ", "" if tight else " ")

    def render(self, value: Any, indent: str | None) -> str:
        """The value as text, on one line or, with the indentation of its first line, on many."""
        if indent is None:
            return json.dumps(value, ensure_ascii=False, separators=("," + self.space, self.colon))
        lines = json.dumps(value, ensure_ascii=False, indent=self.unit, separators=(",", self.colon))
        return lines.replace("\n", self.newline + indent)
