"""What a damaged database still gives, in a new one of today's schema.

First by SQL, table by table, around whatever is broken. Tables that this does not give, or not all of, are
then looked for page by page (`pages.py`): behind a broken node, or in a file that has lost its first pages.
What is still missing comes from the newest backup that can be read.
"""

import contextlib
import os
import shutil
import sqlite3
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from backstory.store import copies, pages, schema, spare
from backstory.store.forgetting import carry_tombstones

# The text index is derived and built anew; what was read of a transcript is read again, to fill the gaps.
_DERIVED = (
    "passages",
    "passage_fts",
    "shelves",
    "vectors",
    "blocks",
    "pieces",
    "successions",
    "transcripts",
    "receipts",
)
# Of no use, or of no sort that could be told apart, when they are found on a loose page.
_ONLY_BY_SQL = ("meta", "jobs")
_STEP = 500
_MAGIC = b"SQLite format 3\0"


@dataclass(frozen=True, slots=True)
class Rescued:
    """How many rows of a table there are now, and how they came.

    `unreadable`: places that gave nothing (None if the schema is lost: nobody can count them); `loose`: rows
    that were found page by page; `older`: in a backup.
    """

    rows: int
    unreadable: int | None
    loose: int = 0
    older: int = 0


def rebuild(source: Path, target: Path, fallback: Sequence[Path], database: Path) -> dict[str, Rescued]:
    """Make `target` from what `source` gives, a copy of `database`; what that lost comes from backups."""
    os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    with contextlib.closing(sqlite3.connect(target.as_uri(), uri=True, isolation_level=None)) as new:
        schema.apply(new, schema.migrations())
        new.execute("PRAGMA foreign_keys = OFF")
        new.create_function("packed", 1, pages.packed, deterministic=True)
        head = _first_page(target)
        older = _attached(new, fallback)
        new.execute("BEGIN")
        tables = _tables(new)
        with _readable(source, target.with_name(copies.UNFINISHED[2]), head) as file:
            unreadable = _by_sql(file, new, tables)
            lost = [table for table in tables if unreadable[table] != 0]
            read = _counted(new, tables)
            _by_page(file, head, new, [table for table in lost if table not in _ONLY_BY_SQL])
        found = _counted(new, tables)
        if older:
            _fill(new, [table for table in lost if table not in _ONLY_BY_SQL])
        filled = _counted(new, tables)
        _keep_key(new, fallback, database)
        _drop_orphans(new)
        new.execute("DELETE FROM meta WHERE key IN ('indexed_events', 'unshelved')")
        new.execute("COMMIT")
    # what was forgotten must not come back, neither now nor when transcripts are read again
    graves = {grave for path in fallback for grave in copies.tombstones(path)}
    carry_tombstones(sorted({*graves, *spare.graves(database)}, key=str), target)
    with contextlib.closing(sqlite3.connect(target, isolation_level=None)) as new:
        new.execute("VACUUM")
        now = _counted(new, tables)
    return {
        table: Rescued(
            now[table], unreadable[table], found[table] - read[table], filled[table] - found[table]
        )
        for table in tables
    }


@contextlib.contextmanager
def _readable(source: Path, copy: Path, head: bytes) -> Iterator[Path]:
    """The file to read from, with nothing left beside it: a log is folded into a copy, not into `source`."""
    logs = [log for end in ("-wal", "-journal") if (log := source.with_name(source.name + end)).exists()]
    if not any(log.stat().st_size for log in logs):
        yield source
        return
    made = [copy, *(copy.with_name(log.name.replace(source.name, copy.name)) for log in logs)]
    try:
        for path, of in zip(made, (source, *logs), strict=True):
            path.unlink(missing_ok=True)
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            shutil.copyfile(of, path)
        _fold(copy, head)
        yield copy
    finally:
        for path in made:
            path.unlink(missing_ok=True)


def _fold(copy: Path, head: bytes) -> None:
    """Let SQLite put the log's pages into the file, under the head of a new one if its own is lost."""
    first = _first_page(copy)
    lent = first
    if not first.startswith(_MAGIC):  # as if it had a log, as many pages as there are, and none free
        count = copy.stat().st_size // len(head)
        lent = head[:18] + b"\2\2" + head[20:28] + count.to_bytes(4, "big") + bytes(8) + head[40:]
        _set_first_page(copy, lent)
    with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(copy)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    if _first_page(copy) == lent:  # the log had no other
        _set_first_page(copy, first)


def _first_page(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(copies.PAGE)


def _set_first_page(path: Path, page: bytes) -> None:
    with path.open("r+b") as file:
        file.write(page)


def _by_sql(file: Path, new: sqlite3.Connection, tables: Sequence[str]) -> dict[str, int | None]:
    """Read what SQL gives; how much of each table it could not, None where it does not know the table."""
    with contextlib.closing(sqlite3.connect(f"{file.as_uri()}?mode=ro&immutable=1", uri=True)) as old:
        with contextlib.suppress(sqlite3.DatabaseError):
            old.execute("PRAGMA writable_schema = ON")  # read on with a schema that is partly wrong
        names = _names(old)
        return {
            table: _rescue(old, new, table) if table in names else (0 if "events" in names else None)
            for table in tables
        }


def _names(old: sqlite3.Connection) -> set[str]:
    """The tables that a database knows; none if it does not know all that it should."""
    try:
        return {name for (name,) in old.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    except sqlite3.DatabaseError:
        return set()


def _by_page(file: Path, head: bytes, new: sqlite3.Connection, tables: Collection[str]) -> None:
    """Read the rows of these tables that lie anywhere in the file."""
    if not tables:
        return
    with contextlib.closing(pages.Pages(file, len(head), reserved=head[20])) as every:
        for shape, row in every.rows(pages.shapes(new, tables)):
            names = ", ".join(shape.columns[: len(row)])
            marks = ", ".join("?" * len(row))
            new.execute(f"INSERT OR IGNORE INTO {shape.table} ({names}) VALUES ({marks})", row)  # noqa: S608


def _attached(new: sqlite3.Connection, fallback: Sequence[Path]) -> bool:
    """Make the newest backup that can be read known as `older`."""
    for path in reversed(fallback):
        found = copies.look(path, whole=False)
        if not found.damage and found.schema <= len(schema.migrations()):
            new.execute("ATTACH ? AS older", (f"{path.as_uri()}?mode=ro&immutable=1",))
            return True
    return False


def _fill(new: sqlite3.Connection, tables: Collection[str]) -> None:
    """Take from the backup what these tables lack; numbers of rows may have been given anew since."""
    for table in tables:
        there = {row[1] for row in _attempt(new, f"PRAGMA older.table_info({table})")}
        columns = [row[1] for row in new.execute(f"PRAGMA main.table_info({table})") if row[1] in there]
        if not columns:
            continue
        same = ""
        if table == "payloads":
            same = """
                WHERE event_row IN
                    (SELECT b.row FROM older.events b JOIN main.events e ON e.row = b.row AND e.id = b.id)
            """
        names = ", ".join(columns)
        with contextlib.suppress(sqlite3.DatabaseError):
            new.execute(
                f"INSERT OR IGNORE INTO main.{table} ({names}) SELECT {names} FROM older.{table} {same}"  # noqa: S608
            )


def _counted(new: sqlite3.Connection, tables: Sequence[str]) -> dict[str, int]:
    return {
        table: int(new.execute(f"SELECT count(*) FROM main.{table}").fetchone()[0])  # noqa: S608
        for table in tables
    }


def _tables(new: sqlite3.Connection) -> list[str]:
    rows = new.execute(
        "SELECT name FROM main.sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    )
    return [name for (name,) in rows if not name.startswith(_DERIVED)]


def _rescue(old: sqlite3.Connection, new: sqlite3.Connection, table: str) -> int | None:
    """All readable rows: forwards until it breaks, then backwards, then what lies between by number.

    Gives how many places could not be read, None if not even the table's columns can.
    """
    columns = [row[1] for row in new.execute(f"PRAGMA main.table_info({table})")]
    there = {row[1] for row in _attempt(old, f"PRAGMA table_info({table})")}
    shared = [name for name in columns if name in there]
    if not shared:
        return None
    names = ", ".join(shared)
    insert = f"INSERT OR IGNORE INTO {table} ({names}) VALUES ({', '.join('?' * len(shared))})"  # noqa: S608
    key = _key(new, table)
    unreadable = 0
    for order in ("ASC", "DESC"):
        try:
            for row in old.execute(f"SELECT {names} FROM {table} ORDER BY {key} {order}"):  # noqa: S608
                new.execute(insert, row)
            break
        except sqlite3.DatabaseError:
            unreadable += 1
    if unreadable and key in ("rowid", "row", "event_row"):
        unreadable = _by_number(old, new, table, names, key, insert)
    return unreadable


def _key(new: sqlite3.Connection, table: str) -> str:
    keys = [row[1] for row in new.execute(f"PRAGMA main.table_info({table})") if row[5]]
    return ", ".join(keys) or "rowid"


def _by_number(
    old: sqlite3.Connection, new: sqlite3.Connection, table: str, names: str, key: str, insert: str
) -> int:
    """Every row by its number, so that one broken page costs only what is on it."""
    beyond = 0
    try:
        last = int(old.execute(f"SELECT max({key}) FROM {table}").fetchone()[0] or 0)  # noqa: S608
    except sqlite3.DatabaseError:
        last = int(new.execute(f"SELECT coalesce(max({key}), 0) FROM {table}").fetchone()[0])  # noqa: S608
        beyond = 1  # nobody knows how many
    return beyond + sum(
        _span(old, new, f"SELECT {names} FROM {table} WHERE {key} BETWEEN ? AND ?", insert, span)  # noqa: S608
        for span in _spans(1, last, _STEP)
    )


def _spans(first: int, last: int, step: int) -> Iterator[tuple[int, int]]:
    for start in range(first, last + 1, step):
        yield start, min(start + step - 1, last)


def _span(
    old: sqlite3.Connection, new: sqlite3.Connection, select: str, insert: str, span: tuple[int, int]
) -> int:
    """Read a range of rows, halving it where it breaks; gives the number of rows that cannot be read."""
    try:
        for row in old.execute(select, span).fetchall():
            new.execute(insert, row)
        return 0
    except sqlite3.DatabaseError:
        first, last = span
        if first == last:
            return 1
        middle = (first + last) // 2
        return _span(old, new, select, insert, (first, middle)) + _span(
            old, new, select, insert, (middle + 1, last)
        )


def _attempt(db: sqlite3.Connection, query: str) -> list[tuple[object, ...]]:
    try:
        return db.execute(query).fetchall()
    except sqlite3.DatabaseError:
        return []


def _keep_key(new: sqlite3.Connection, fallback: Sequence[Path], database: Path) -> None:
    """Without the local key, everything that is captured again would count as new."""
    if new.execute("SELECT 1 FROM main.meta WHERE key = 'key'").fetchone():
        return
    kept: list[tuple[object, ...]] = [(found,)] if (found := spare.key(database)) else []
    for path in reversed(fallback):
        kept += copies.rows(path, "SELECT value FROM meta WHERE key = 'key'")
    if kept:
        new.execute("INSERT INTO main.meta (key, value) VALUES ('key', ?)", kept[0])


def _drop_orphans(new: sqlite3.Connection) -> None:
    """Rows whose session or project is lost; a lost session is made again from one of its events."""
    new.execute(
        """
        INSERT OR IGNORE INTO sessions
            (id, agent, native_id, project_id, cwd, started_at, last_at, event_count)
        SELECT e.session_id, coalesce(max(m.agent), 'unknown'), e.session_id,
               coalesce(max(m.project_id), 'p-recovered'), max(e.cwd), min(e.at), max(e.at),
               count(DISTINCT e.id)
        FROM events e LEFT JOIN memories m ON m.session_id = e.session_id
        WHERE e.session_id NOT IN (SELECT id FROM sessions) GROUP BY e.session_id
        """
    )
    new.execute(
        """
        INSERT OR IGNORE INTO projects (id, identity, name, root, created_at, seen_at)
        SELECT project_id, 'lost:' || project_id, 'recovered', '', 0, 0 FROM sessions
        UNION SELECT project_id, 'lost:' || project_id, 'recovered', '', 0, 0 FROM memories
        """
    )
    for statement in (
        "DELETE FROM payloads WHERE NOT packed(body)",
        "DELETE FROM payloads WHERE event_row NOT IN (SELECT row FROM events)",
        "DELETE FROM turns WHERE session_id NOT IN (SELECT id FROM sessions)",
        "DELETE FROM memories WHERE session_id NOT IN (SELECT id FROM sessions)",
        "DELETE FROM memory_sources WHERE memory_id NOT IN (SELECT id FROM memories)",
        "DELETE FROM model_answers WHERE session_id NOT IN (SELECT id FROM sessions)",
        "DELETE FROM injected WHERE injection_id NOT IN (SELECT id FROM injections)",
        "DELETE FROM places WHERE project_id NOT IN (SELECT id FROM projects)",
    ):
        new.execute(statement)
