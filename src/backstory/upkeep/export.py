"""Everything as JSON lines, to keep or to move; or what was learned, as JSON or Markdown, to read.

The first line says what it is. An export is redacted as the memory is; the spool is left out.
"""

import contextlib
import json
import tempfile
from collections.abc import Generator, Iterator
from datetime import tzinfo
from pathlib import Path
from typing import Any

from backstory import clock
from backstory.errors import Failed, SourceMissing
from backstory.model import Memory, MemoryKind, Session
from backstory.paths import Home
from backstory.steps import step
from backstory.store import Store, open_store, schema
from backstory.store.dump import FORMAT
from backstory.upkeep import archive

_BATCH = 1_000
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


def lines(store: Store, sessions: list[Session] | None = None) -> Iterator[str]:
    """All rows, one JSON object a line, as of one moment; of some sessions only, if they are given."""
    ids = None if sessions is None else [session.id for session in sessions]
    with store.snapshot():
        yield json.dumps({**store.dump.head(), "at": clock.now_ms()})
        for table, row in store.dump.rows(ids):
            step("export.line")
            yield json.dumps({"table": table, **row}, ensure_ascii=False)


def load(store: Store, path: Path, dry: bool = False) -> tuple[dict[str, int], bool]:
    """Take in an export; gives what was new by table, and whether ids of later captures will meet these.

    `dry`: only tells what would be new.
    """
    if not path.is_file():
        raise SourceMissing(f"there is no file {path}")
    with contextlib.closing(_lines(path)) as file:
        head = _parsed(path, 1, next(file, ""))
        if head.get("backstory") != FORMAT:
            raise Failed(f"{path} is no export of this Backstory's: its first line does not say so")
        schema.refuse_newer(_number(head.get("schema")), str(path))
        new: dict[str, int] = {}
        with _kept_unless(dry, store):
            same_key = store.dump.take_key(str(head.get("key")))
        batch: list[tuple[str, dict[str, Any]]] = []
        for number, line in enumerate(file, 2):
            row = _parsed(path, number, line)
            batch.append((str(row.pop("table", "")), row))
            if len(batch) >= _BATCH:
                _write(store, batch, new, dry)
        _write(store, batch, new, dry)
    return new, same_key


def look(store: Store | None, path: Path) -> tuple[dict[str, int], bool]:
    """What taking in an export would give; without a store, into a new one."""
    if store is not None:
        return load(store, path, dry=True)
    with tempfile.TemporaryDirectory(prefix="backstory-") as folder:
        empty = open_store(Home(Path(folder, "home")))
        try:
            return load(empty, path, dry=True)
        finally:
            empty.close()


class _Undone(Exception):
    """What was done was only to be looked at."""


@contextlib.contextmanager
def _kept_unless(dry: bool, store: Store) -> Iterator[None]:
    """A transaction, which is undone at its end if nothing is to be kept."""
    with contextlib.suppress(_Undone), store.transaction():
        yield
        if dry:
            raise _Undone


def _lines(path: Path) -> Generator[str]:
    """The lines of an export, or of an archive, which is compressed."""
    if path.name.endswith(archive.SUFFIX):
        yield from archive.lines(path)
        return
    with path.open(encoding="utf-8") as file:
        yield from file


def _write(store: Store, batch: list[tuple[str, dict[str, Any]]], new: dict[str, int], dry: bool) -> None:
    with _kept_unless(dry, store):
        for table, count in store.dump.load(batch).items():
            new[table] = new.get(table, 0) + count
    batch.clear()


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


def _parsed(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
        if not isinstance(value, dict):
            raise ValueError
        return value
    except ValueError:
        raise Failed(
            f"{path}:{number}: this line is no JSON object; what stood before it is taken in"
        ) from None


def markdown(store: Store, sessions: list[Session], zone: tzinfo | None) -> Iterator[str]:
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
