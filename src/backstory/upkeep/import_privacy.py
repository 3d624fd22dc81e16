"""The rows of an export as they may be stored here: by the rules of this home and of today.

Where an export was made, a rule may have been off, or not have existed yet.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from backstory.capture.privacy import Privacy

_TEXTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "sessions": ("title", "source", "subagent_type", "end_reason"),
        "events": ("tool", "target", "reason", "text", "native_id"),
        "memories": ("text", "detail", "reason"),
        "model_calls": ("error",),
    }
)
_PLACES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "projects": ("identity", "name", "root"),
        "places": ("path",),
        "sessions": ("cwd", "branch"),
        "events": ("cwd", "branch", "worktree"),
    }
)
_JSON: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"events": ("payload",), "memories": ("files",), "model_answers": ("body",)}
)

Row = dict[str, Any]


def redacted_row(table: str, row: Row, privacy: Privacy) -> Row:
    """A row without its secrets."""
    row = _changed(row, _TEXTS.get(table, ()), privacy.text)
    row = _changed(row, _PLACES.get(table, ()), privacy.place)
    row = _changed(row, _JSON.get(table, ()), lambda text: _json(text, privacy))
    if table == "sessions":
        # stays distinct; a transcript that cannot be named is not named at all
        row = _changed(row, ("native_id",), lambda name: _native(name, str(row.get("id")), privacy))
        row = _changed(row, ("transcript",), lambda path: path if privacy.place(path) == path else "")
    return row


def _changed(row: Row, columns: tuple[str, ...], clean: Callable[[str], str]) -> Row:
    return row | {name: clean(value) for name in columns if isinstance(value := row.get(name), str) and value}


def _json(text: str, privacy: Privacy) -> str:
    return privacy.line(text.encode("utf-8", "replace")).decode().rstrip("\n")


def _native(name: str, sid: str, privacy: Privacy) -> str:
    clean = privacy.text(name)
    return name if clean == name else f"{clean}~{sid[-8:]}"
