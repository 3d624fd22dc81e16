"""What a damaged database still gives, in a new one of today's schema.

First by SQL, table by table, around whatever is broken. Tables that this does not give, or not all of, are
then looked for page by page (`page_reader.py`): behind a broken node, or in a file that has lost its first
pages. What is still missing comes from the newest backup that can be read.
"""

import contextlib
import shutil
import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from backstory.errors import Failed
from backstory.store import backup_copy, key_escrow, page_reader, row_check, schema
from backstory.store.compression import unpack
from backstory.store.new_database import row_counts
from backstory.store.reconstruction import Clues, rebuild_lost_rows
from backstory.store.row_erasure import carry_tombstones
from backstory.store.spool_receipts import RECEIPTS_LOST

# The text index is derived and built anew.
_DERIVED = ("passages", "passage_fts", "shelves", "vectors", "blocks", "successions")
# Of no use, or of no sort that could be told apart, when they are found on a loose page.
_ONLY_BY_SQL = (
    "meta", "jobs", "feeds", "sent", "received", "muted", "shared_by_hand", "contradictions",
)  # fmt: skip
# What they say is found out again: all work is asked for, events are looked at, transcripts read again.
_REPLACEABLE = ("jobs", "receipts", "transcripts")
_STEP = 500
_MAGIC = b"SQLite format 3\0"
_Take = Callable[[Sequence[Any]], None]


@dataclass(frozen=True, slots=True)
class Rescued:
    """How many rows of a table there are now, and how they came.

    `unreadable`: places that gave nothing (None if the schema is lost: nobody can count them); `loose`: rows
    that were found page by page; `older`: in a backup; `made`: again, from other tables or from transcripts.
    `expected`: how many there were, None if nobody knows; `lost`: how many of them are missing, likewise.
    """

    rows: int
    unreadable: int | None
    loose: int = 0
    older: int = 0
    made: int = 0
    expected: int | None = None
    lost: int | None = 0


def rebuild_database(
    source: Path, target: Path, fallback: Sequence[Path], database: Path, clues: Clues
) -> dict[str, Rescued]:
    """Make `target` from what `source` gives, a copy of `database`; what that lost comes from elsewhere."""
    with contextlib.closing(sqlite3.connect(target.as_uri(), uri=True, isolation_level=None)) as new:
        schema.apply_migrations(new, schema.migrations())
        new.execute("PRAGMA foreign_keys = OFF")
        head = _first_page(target)
        older = _attached(new, fallback)
        new.execute("BEGIN")
        _make_room_for_names(new)
        tables = _tables(new)
        with _readable(source, target.with_name("damaged.db"), head) as file:
            unreadable, expected = _by_sql(file, new, tables)
            lost = [table for table in tables if unreadable[table] != 0]
            by_sql = row_counts(new, dict.fromkeys(tables))
            _by_page(file, head, new, [table for table in lost if table not in _ONLY_BY_SQL])
        by_page = row_counts(new, dict.fromkeys(tables))
        if older:
            _fill(new, [table for table in lost if table not in _ONLY_BY_SQL])
        filled = row_counts(new, dict.fromkeys(tables))
        _keep_key(new, fallback, database)
        _trust_receipts(new, unreadable)
        _drop_damaged_payloads(new)
        rebuild_lost_rows(new, clues, lost)
        _drop_orphans(new)
        made = row_counts(new, dict.fromkeys(tables))
        new.execute("DELETE FROM meta WHERE key IN ('indexed_events', 'unshelved', 'stale_turns')")
        new.execute("COMMIT")
    # what was forgotten must not come back, neither now nor when transcripts are read again
    graves = {grave for path in fallback for grave in backup_copy.copy_tombstones(path)}
    carry_tombstones(sorted({*graves, *key_escrow.escrowed_tombstones(database)}, key=str), target)
    with contextlib.closing(sqlite3.connect(target, isolation_level=None)) as new:
        new.execute("VACUUM")
        now = row_counts(new, dict.fromkeys(tables))
    if expected["turns"] is None and unreadable["events"] == 0:
        expected["turns"] = made["turns"]  # events tell their turns
    return {
        table: Rescued(
            rows=now[table],
            unreadable=unreadable[table],
            loose=by_page[table] - by_sql[table],
            older=filled[table] - by_page[table],
            made=max(0, made[table] - filled[table]),
            expected=expected[table],
            lost=0 if table in _REPLACEABLE else _lost(unreadable[table], expected[table], made[table]),
        )
        for table in tables
    }


def counted_again(rescued: Mapping[str, Rescued], rows: Mapping[str, int]) -> dict[str, Rescued]:
    """What was rescued, after the rest was made again from events and transcripts."""
    again = {
        table: max(0, rows[table] - each.rows) if each.unreadable != 0 or each.lost != 0 else 0
        for table, each in rescued.items()
    }
    return {
        table: replace(
            each,
            rows=rows[table],
            made=each.made + again[table],
            lost=None if each.lost is None else max(0, each.lost - again[table]),
        )
        for table, each in rescued.items()
    }


def _lost(unreadable: int | None, expected: int | None, made: int) -> int | None:
    """How many rows of a table are missing; None if nobody can tell."""
    if expected is not None:
        return max(0, expected - made)
    return 0 if unreadable == 0 else None


def _make_room_for_names(new: sqlite3.Connection) -> None:
    for shape in (page_reader.SESSION_NAMES, page_reader.PROJECT_NAMES):
        new.execute(f"CREATE TEMP TABLE {shape.table} ({', '.join(shape.columns)})")


def _trust_receipts(new: sqlite3.Connection, unreadable: dict[str, int | None]) -> None:
    """Have transcripts read again, to fill the gaps, and receipts believed only where nothing was lost.

    Otherwise the drain looks whether the events themselves are stored.
    """
    if not new.execute("SELECT 1 FROM main.meta WHERE key = 'key'").fetchone():
        return  # what is read again would not be recognised: only the notes keep it from coming twice
    new.execute("UPDATE transcripts SET offset = 0, size = 0, stamp = 0, messages = 0, held = 0")
    if unreadable["events"] == 0 and unreadable["receipts"] == 0:
        return
    new.execute("DELETE FROM receipts")
    new.execute("INSERT OR REPLACE INTO main.meta (key, value) VALUES (?, '1')", (RECEIPTS_LOST,))


def _drop_damaged_payloads(new: sqlite3.Connection) -> None:
    new.create_function("readable", 1, lambda body: unpack(body) is not None, deterministic=True)
    damaged = "SELECT event_row FROM payloads WHERE NOT readable(body)"
    new.execute(f"UPDATE events SET payload_size = 0 WHERE row IN ({damaged})")  # noqa: S608 - a constant
    new.execute("DELETE FROM payloads WHERE NOT readable(body)")


@contextlib.contextmanager
def _readable(source: Path, copy: Path, head: bytes) -> Iterator[Path]:
    """The file to read from: a log is folded into a copy, which goes with its folder, not into `source`."""
    logs = [log for end in ("-wal", "-journal") if (log := source.with_name(source.name + end)).exists()]
    if not any(log.stat().st_size for log in logs):
        yield source
        return
    made = [copy, *(copy.with_name(log.name.replace(source.name, copy.name)) for log in logs)]
    for path, of in zip(made, (source, *logs), strict=True):
        shutil.copyfile(of, path)
    _fold(copy, head)
    yield copy


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
        return file.read(backup_copy.PAGE)


def _set_first_page(path: Path, page: bytes) -> None:
    with path.open("r+b") as file:
        file.write(page)


def _by_sql(
    file: Path, new: sqlite3.Connection, tables: Sequence[str]
) -> tuple[dict[str, int | None], dict[str, int | None]]:
    """Read what SQL gives: how much of each table it could not (None: it does not know the table), and how
    many rows there were (None: nobody knows).
    """
    with contextlib.closing(sqlite3.connect(f"{file.as_uri()}?mode=ro&immutable=1", uri=True)) as old:
        old.text_factory = lambda data: data.decode("utf-8", "replace")
        with contextlib.suppress(sqlite3.DatabaseError):
            old.execute("PRAGMA writable_schema = ON")  # read on with a schema that is partly wrong
        names = _names(old)
        known = "events" in names
        unreadable = {
            table: _rescue(old, new, table) if table in names else (0 if known else None) for table in tables
        }
        expected = {table: _expected(old, table) if table in names else None for table in tables}
    return unreadable, expected


def _expected(old: sqlite3.Connection, table: str) -> int | None:
    """How many rows a table had: its indexes know it though the table itself is broken."""
    indexes = [row[1] for row in _attempt(old, f"PRAGMA index_list({table})")]
    ways = ["NOT INDEXED", *(f'INDEXED BY "{name}"' for name in indexes)]
    found = [_attempt(old, f"SELECT count(*) FROM {table} {way}") for way in ways]  # noqa: S608 - names of ours
    return max((int(str(rows[0][0])) for rows in found if rows), default=None)


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
    wanted = [*page_reader.table_shapes(new, tables), page_reader.SESSION_NAMES, page_reader.PROJECT_NAMES]
    fits = {table: _Fitting(new, table) for table in tables}
    with contextlib.closing(page_reader.Pages(file, len(head), reserved=head[20])) as every:
        for shape, row in every.rows(wanted):
            names = shape.columns[: len(row)]
            if shape.table not in fits or fits[shape.table](dict(zip(names, row, strict=True))):
                marks = ", ".join("?" * len(row))
                new.execute(f"INSERT OR IGNORE INTO {shape.table} ({', '.join(names)}) VALUES ({marks})", row)  # noqa: S608


class _Fitting:
    """Tells whether values are such as a table has: what a broken page gives may be none of it."""

    def __init__(self, new: sqlite3.Connection, table: str) -> None:
        self._table = table
        self._shape = [each for each in row_check.table_columns(new, table) if each.type != "BLOB"]

    def __call__(self, row: dict[str, Any]) -> bool:
        try:
            row_check.fitting_values(self._table, self._shape, row)
        except Failed:
            return False
        return True


def _attached(new: sqlite3.Connection, fallback: Sequence[Path]) -> bool:
    """Make the newest backup that can be read known as `older`."""
    for path in reversed(fallback):
        found = backup_copy.copy_contents(path, whole=False)
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
    fits = _Fitting(new, table)
    odd: set[object] = set()

    def take(row: Sequence[Any]) -> None:
        if fits(dict(zip(shared, row, strict=True))):
            new.execute(insert, row)
        else:
            odd.add(row[0])

    key = _key(new, table)
    unreadable = 0
    for order in ("ASC", "DESC"):
        try:
            for row in old.execute(f"SELECT {names} FROM {table} ORDER BY {key} {order}"):  # noqa: S608
                take(row)
            break
        except sqlite3.DatabaseError:
            unreadable += 1
    if unreadable and key in ("rowid", "row", "event_row"):
        unreadable = _by_number(old, new, table, names, key, take)
    return unreadable + len(odd)


def _key(new: sqlite3.Connection, table: str) -> str:
    keys = [row[1] for row in new.execute(f"PRAGMA main.table_info({table})") if row[5]]
    return ", ".join(keys) or "rowid"


def _by_number(
    old: sqlite3.Connection, new: sqlite3.Connection, table: str, names: str, key: str, take: _Take
) -> int:
    """Every row by its number, so that one broken page costs only what is on it."""
    beyond = 0
    try:
        last = int(old.execute(f"SELECT max({key}) FROM {table}").fetchone()[0] or 0)  # noqa: S608
    except sqlite3.DatabaseError:
        last = int(new.execute(f"SELECT coalesce(max({key}), 0) FROM {table}").fetchone()[0])  # noqa: S608
        beyond = 1  # nobody knows how many
    return beyond + sum(
        _span(old, f"SELECT {names} FROM {table} WHERE {key} BETWEEN ? AND ?", take, span)  # noqa: S608
        for span in _spans(1, last, _STEP)
    )


def _spans(first: int, last: int, step: int) -> Iterator[tuple[int, int]]:
    for start in range(first, last + 1, step):
        yield start, min(start + step - 1, last)


def _span(old: sqlite3.Connection, select: str, take: _Take, span: tuple[int, int]) -> int:
    """Read a range of rows, halving it where it breaks; gives the number of rows that cannot be read."""
    try:
        for row in old.execute(select, span).fetchall():
            take(row)
        return 0
    except sqlite3.DatabaseError:
        first, last = span
        if first == last:
            return 1
        middle = (first + last) // 2
        return _span(old, select, take, (first, middle)) + _span(old, select, take, (middle + 1, last))


def _attempt(db: sqlite3.Connection, query: str) -> list[tuple[object, ...]]:
    try:
        return db.execute(query).fetchall()
    except sqlite3.DatabaseError:
        return []


def _keep_key(new: sqlite3.Connection, fallback: Sequence[Path], database: Path) -> None:
    """Without the local key, everything that is captured again would count as new."""
    if new.execute("SELECT 1 FROM main.meta WHERE key = 'key'").fetchone():
        return
    kept = next(
        filter(None, (key_escrow.escrowed_key(database), *map(backup_copy.copy_key, reversed(fallback)))), ""
    )
    if kept:
        new.execute("INSERT INTO main.meta (key, value) VALUES ('key', ?)", (kept,))


def _drop_orphans(new: sqlite3.Connection) -> None:
    """Rows that refer to something that is lost for good."""
    for statement in (
        "DELETE FROM payloads WHERE event_row NOT IN (SELECT row FROM events)",
        "DELETE FROM turns WHERE session_id NOT IN (SELECT id FROM sessions)",
        "DELETE FROM memory_sources WHERE memory_id NOT IN (SELECT id FROM memories)",
        "DELETE FROM model_answers WHERE session_id NOT IN (SELECT id FROM sessions)",
        "DELETE FROM injected WHERE injection_id NOT IN (SELECT id FROM injections)",
        "DELETE FROM places WHERE project_id NOT IN (SELECT id FROM projects)",
    ):
        new.execute(statement)
