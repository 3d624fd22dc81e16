"""Windows paths that were pasted into JSON without escaping, made whole again.

Two things happen to `C:\\temp\\new.jsonl` on that road. Where a backslash starts no JSON escape (`\\U`), the
document does not parse; where it does (`\\t`, `\\n`), it parses, and the path holds a tab and a newline.
So an unparsable document gets its stray backslashes doubled, and a control character in a path becomes the
two characters that it was. Loaded only when something is broken.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_ESCAPES = frozenset('"\\/bfnrtu')
_HEX = frozenset("0123456789abcdefABCDEF")
_CONTROLS = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}
_PATH_KEYS = frozenset(("cwd", "path", "file", "filePath", "workdir", "directory"))
_LEVELS = 4


def parse_unescaped(text: str, parse: "Callable[[str], object]") -> object:
    """The document with its stray backslashes doubled; raises what `parse` raises if that does not help."""
    from backstory.hook.payload import BadPayload

    try:
        value = parse(_doubled(text))
    except BadPayload as error:
        closed = _closed(text)
        if closed == text:
            raise
        try:
            value = parse(_doubled(closed))
        except BadPayload:
            raise error from None
    if isinstance(value, dict):
        restore_paths(value)
    return value


def _doubled(text: str) -> str:
    """Every backslash that starts no JSON escape, doubled."""
    parts = text.split("\\")
    out = [parts[0]]
    paired = False
    for part in parts[1:]:
        if paired:  # this backslash was the second of `\\`
            out.append(part)
            paired = False
        elif not part:
            out.append("")
            paired = True
        elif part[0] not in _ESCAPES or (part[0] == "u" and not _HEX.issuperset(part[1:5].ljust(4))):
            out.append("\\" + part)
        else:
            out.append(part)
    return "\\".join(out)


def _closed(text: str) -> str:
    """`"C:\\dir\\"` before a comma or a brace ends in a folder's backslash, not in an escaped quote."""
    out = []
    done = 0
    while (found := text.find('\\"', done)) >= 0:
        start = text.rfind('"', 0, found)
        after = text[found + 2 : found + 64].lstrip()
        is_path = text[start + 2 : start + 4] == ":\\" or text[start + 1 : start + 3] == "\\\\"
        ends = not after or after[0] == "}" or (after[0] == "," and after[1:].lstrip()[:1] == '"')
        out.append(text[done:found] + ('\\\\"' if is_path and ends else '\\"'))
        done = found + 2
    return "".join(out) + text[done:]


def restore_paths(value: "dict[str, Any]", depth: int = 0) -> None:
    """In every field that holds a path: control characters back to what they were, in place."""
    for key, item in value.items():
        if isinstance(item, str):
            if _names_path(key) and not item.isprintable() and not item.startswith("/"):
                value[key] = "".join([_CONTROLS.get(c, c) for c in item])
        elif isinstance(item, dict) and depth < _LEVELS:
            restore_paths(item, depth + 1)


def _names_path(key: object) -> bool:
    return isinstance(key, str) and (key in _PATH_KEYS or key.endswith(("_path", "Path", "_dir")))
