"""Everything as JSON lines, to keep or to move; or what was learned, as JSON or Markdown, to read.

The first line says what it is. An export is redacted as the memory is, and again where it is taken in; the
spool is left out.
"""

import contextlib
import json
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from datetime import tzinfo
from itertools import islice
from pathlib import Path
from typing import Any

from backstory import clock, file_reader
from backstory.capture.privacy import Privacy
from backstory.errors import Failed, SourceMissing
from backstory.failpoints import step
from backstory.model import Memory, MemoryKind, Session
from backstory.store import Store, schema, scratch_store
from backstory.store.row_export import FORMAT
from backstory.store.row_import import RowImport
from backstory.upkeep import event_archive
from backstory.upkeep.import_privacy import redacted_row

_BATCH = 1_000
_READABLE = range(1, FORMAT + 1)
_HEADINGS = {
    MemoryKind.SUMMARY: "What it was about",
    MemoryKind.DECISION: "Decisions",
    MemoryKind.LESSON: "What failed, and what fixed it",
    MemoryKind.ATTEMPT: "Tried in vain",
    MemoryKind.COMMAND: "Commands that work",
    MemoryKind.PREFERENCE: "Wishes",
    MemoryKind.NEXT_STEP: "Open",
    MemoryKind.FACT: "To remember",
}

Row = dict[str, Any]


def export_lines(store: Store, sessions: list[Session] | None = None) -> Iterator[str]:
    """All rows, one JSON object a line, as of one moment; of some sessions only, if they are given."""
    ids = None if sessions is None else [session.id for session in sessions]
    with store.snapshot():
        yield json.dumps({**store.row_export.head(), "at": clock.now_ms()})
        for table, row in store.row_export.rows(ids):
            step("export.line")
            yield json.dumps({"table": table, **row}, ensure_ascii=False)


def load_export(store: Store, path: Path, privacy: Privacy, dry: bool = False) -> tuple[dict[str, int], bool]:
    """Take in an export; gives what was new by table, and whether ids of later captures will meet these.

    It is read twice: nothing is written before all of it was looked at. `dry`: only tells what would be new.
    """
    if not path.is_file():
        raise SourceMissing(f"there is no file {path}")
    file = _File(path)
    head = file.head()
    key = str(head.get("key"))
    intake = store.row_import()
    same_key = intake.meets(key)
    intake.look(file.rows())
    new = {"tombstones": graves} if (graves := intake.graves()) else {}
    if not dry:
        with store.transaction():
            intake.forget(key, clock.now_ms())
    with contextlib.closing(file.rows()) as rows:
        while batch := [(table, redacted_row(table, row, privacy)) for table, row in islice(rows, _BATCH)]:
            for table, count in _written(store, intake, batch, dry).items():
                new[table] = new.get(table, 0) + count
    if not dry:
        with store.transaction():
            intake.finish()
    if file.torn:
        raise Failed(f"{file.torn}; what stood before it {'can be' if dry else 'is'} taken in")
    return new, same_key


def _written(store: Store, intake: RowImport, batch: list[tuple[str, Row]], dry: bool) -> dict[str, int]:
    if dry:
        return intake.count(batch)
    with store.transaction():
        new = intake.write(batch, clock.now_ms())
    step("import.batch")
    return new


def preview_export(store: Store | None, path: Path, privacy: Privacy) -> tuple[dict[str, int], bool]:
    """What taking in an export would give; without a store, into a new one."""
    if store is not None:
        return load_export(store, path, privacy, dry=True)
    with contextlib.closing(scratch_store()) as empty:
        return load_export(empty, path, privacy, dry=True)


@dataclass(slots=True)
class _File:
    """An export, or an archive; `torn` tells which of its lines is none, once its rows were read."""

    path: Path
    torn: str = ""

    def head(self) -> Row:
        """What its first line says; raises `Failed` if this is no export, or a newer one."""
        with contextlib.closing(self._lines()) as lines:
            head = _parsed(next(lines, b""))
        if head is None or head.get("backstory") not in _READABLE:
            raise Failed(f"{self.path} is no export of this Backstory's: its first line does not say so")
        schema.refuse_newer(_number(head.get("schema")), str(self.path))
        return head

    def rows(self) -> Generator[tuple[str, Row]]:
        """All rows with their tables, up to a line that is none."""
        with contextlib.closing(self._lines()) as lines:
            for number, line in enumerate(lines, 1):
                if (row := _parsed(line)) is None:
                    self.torn = f"{self.path}:{number}: this line is no JSON object"
                    return
                if number > 1:
                    yield str(row.pop("table", "")), row

    def _lines(self) -> Generator[bytes]:
        if self.path.name.endswith(event_archive.SUFFIX):
            yield from (line.encode() for line in event_archive.archive_lines(self.path))
            return
        yield from file_reader.read_lines(self.path)


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


def _parsed(line: bytes) -> Row | None:
    try:
        value = json.loads(line.decode())
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def markdown_lines(store: Store, sessions: list[Session], zone: tzinfo | None) -> Iterator[str]:
    """What was learned in each session, to read."""
    yield "# What was learned\n"
    for session in sessions:
        memories = [m for m in store.memories.of_session(session.id) if m.kind in _HEADINGS]
        yield f"\n## {clock.stamp(session.started_at, zone)} · {session.project_name} · {session.agent}\n"
        yield f"\n{_one_line(session.title) or 'untitled'} (`{session.id}`)\n"
        for kind, heading in _HEADINGS.items():
            if told := [m for m in memories if m.kind is kind]:
                yield f"\n### {heading}\n\n"
                yield from (_bullet(memory) for memory in told)


def _bullet(memory: Memory) -> str:
    because = "" if memory.reason.lower().startswith("because") else "because "
    reason = f" — {because}{_one_line(memory.reason)}" if memory.reason else ""
    return f"- {_one_line(memory.text)}{reason} (`{memory.id}`)\n"


def _one_line(text: str) -> str:
    return " ".join(text.split())
