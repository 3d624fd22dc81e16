"""Everything that is kept, as plain values, out of one database and into another; nothing is lost on the way.

What is derived from these rows (text index, jobs, prepared briefs) is made again where they arrive. Rows are
known by their ids, so that loading the same export twice changes nothing.
"""

import json
import re
import sqlite3
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from backstory.errors import Failed
from backstory.store import incoming
from backstory.store.events import counted_id
from backstory.store.forgetting import Forgetting
from backstory.store.values import Reach

FORMAT = 1
# In the order in which they refer to each other. The number of a row is local and left out.
_TABLES = (
    "projects",
    "places",
    "sessions",
    "turns",
    "events",
    "ordinals",
    "memories",
    "memory_sources",
    "injections",
    "injected",
    "model_answers",
    "model_calls",
    "counters",
    "tombstones",
)
# Which rows of them belong to some sessions; the rest goes out with everything only.
_SOME = "IN (SELECT value FROM json_each(:sessions))"
_OF_SESSIONS = {
    "projects": f"t.id IN (SELECT project_id FROM sessions WHERE id {_SOME})",  # noqa: S608 - constants
    "places": f"t.project_id IN (SELECT project_id FROM sessions WHERE id {_SOME})",  # noqa: S608 - constants
    "sessions": f"t.id {_SOME}",
    "turns": f"t.session_id {_SOME}",
    "events": f"t.session_id {_SOME}",
    "memories": f"t.session_id {_SOME}",
    "memory_sources": f"t.memory_id IN (SELECT id FROM memories WHERE session_id {_SOME})",  # noqa: S608 - constants
    "injections": f"t.session_id {_SOME}",
    "injected": f"t.injection_id IN (SELECT id FROM injections WHERE session_id {_SOME})",  # noqa: S608 - constants
    "model_answers": f"t.session_id {_SOME}",
    "model_calls": f"t.session_id {_SOME}",
}

Row = dict[str, Any]
Values = Sequence[object] | Mapping[str, object]


class Dump:
    """Reads and writes everything of one database as plain rows."""

    def __init__(self, connection: sqlite3.Connection, forgetting: Forgetting) -> None:
        self._db = connection
        self._forgetting = forgetting

    def head(self) -> Row:
        """What the first line of an export says: the ids' key goes along, or nothing would be recognised."""
        row = self._db.execute("SELECT value FROM meta WHERE key = 'key'").fetchone()
        version = self._db.execute("PRAGMA user_version").fetchone()[0]
        return {"backstory": FORMAT, "schema": version, "key": row[0]}

    def rows(self, sessions: Collection[str] | None = None) -> Iterator[tuple[str, Row]]:
        """Every row with its table; of some sessions only, if they are named."""
        for table in _TABLES:
            if sessions is None:
                yield from ((table, row) for row in self._read(table))
            elif table == "ordinals":
                yield from ((table, row) for row in self._read(table) if self._counts_for(row, sessions))
            elif table in _OF_SESSIONS:
                values = {"sessions": json.dumps(list(sessions))}
                rows = self._read(table, f"WHERE {_OF_SESSIONS[table]}", values)
                yield from ((table, row) for row in rows)

    def _counts_for(self, row: Row, sessions: Collection[str]) -> bool:
        """Whether what an ordinal has counted is of one of these sessions: only the counted things tell."""
        key = bytes.fromhex(self.head()["key"])
        for n in range(row["n"], 0, -1):
            found = self._db.execute(
                "SELECT session_id FROM events WHERE id = ?", (counted_id(key, row["base"], n),)
            ).fetchone()
            if found is not None:
                return found[0] in sessions
        return False

    def events(self, numbers: Sequence[int]) -> Iterator[tuple[str, Row]]:
        """Some events by the numbers of their rows, with their payloads and what they refer to."""
        return self._some("events", "row", numbers)

    def memories(self, ids: Sequence[str]) -> Iterator[tuple[str, Row]]:
        """Some memories with their sources and what they refer to."""
        yield from self._some("memories", "id", ids)
        marks = ", ".join("?" * len(ids))
        for row in self._read("memory_sources", f"WHERE t.memory_id IN ({marks})", ids):
            yield "memory_sources", row

    def _some(self, table: str, key: str, values: Sequence[object]) -> Iterator[tuple[str, Row]]:
        marks = ", ".join("?" * len(values))
        of_sessions = f"SELECT session_id FROM {table} WHERE {key} IN ({marks})"  # noqa: S608 - constants
        of_projects = f"SELECT project_id FROM sessions WHERE id IN ({of_sessions})"  # noqa: S608
        for row in self._read("projects", f"WHERE t.id IN ({of_projects})", values):
            yield "projects", row
        for row in self._read("sessions", f"WHERE t.id IN ({of_sessions})", values):
            yield "sessions", row | {"title": ""}  # a session's words are those of its events
        for row in self._read(table, f"WHERE t.{key} IN ({marks})", values):
            yield table, row

    def _read(self, table: str, condition: str = "", values: Values = ()) -> Iterator[Row]:
        names = self._columns(table)
        order = "t.row" if table == "events" else ", ".join(f"t.{name}" for name in self._keys(table))
        columns = ", ".join(f"t.{name}" for name in names)
        join, extra = "", ""
        if table == "events":
            join, extra = "LEFT JOIN payloads p ON p.event_row = t.row", ", p.body"
        found = self._db.execute(
            f"SELECT {columns}{extra} FROM {table} t {join} {condition} ORDER BY {order}",  # noqa: S608
            values,
        )
        for row in found:
            value = dict(zip(names, row, strict=False))
            if table == "events" and row[-1] is not None:
                value["payload"] = zlib.decompress(row[-1]).decode("utf-8", "replace")
            yield value

    def _columns(self, table: str) -> list[str]:
        found = self._db.execute(f"PRAGMA table_info({table})").fetchall()
        return [name for _, name, *_ in found if name != "row"]

    def _keys(self, table: str) -> list[str]:
        found = self._db.execute(f"PRAGMA table_info({table})").fetchall()
        return [name for _, name, _, _, _, key in found if key] or ["rowid"]

    def take_key(self, key: str) -> bool:
        """Use the key of an export in a database that is still empty; False if it has a past of its own."""
        if self._db.execute("SELECT 1 FROM sessions LIMIT 1").fetchone() is not None:
            return bool(self._db.execute("SELECT value FROM meta WHERE key = 'key'").fetchone() == (key,))
        if re.fullmatch("[0-9a-f]{32}", key) is None:
            raise Failed("the first line of this export has no key: it was changed or cut")
        self._db.execute("UPDATE meta SET value = ? WHERE key = 'key'", (key,))
        return True

    def load(self, rows: Iterable[tuple[str, Mapping[str, Any]]]) -> dict[str, int]:
        """Write rows that are not there yet; inside a transaction. Gives how many were new, by table."""
        new: dict[str, int] = {}
        shapes = {table: incoming.columns(self._db, table) for table in _TABLES}
        for table, row in rows:
            if table not in shapes:
                raise Failed(f"no export has rows of {table[:40]!r}: this one was changed")
            values = incoming.fitting(table, shapes[table], row)
            done = self._write(table, values)
            if done.rowcount > 0:
                new[table] = new.get(table, 0) + 1
                if table == "events" and isinstance(row.get("payload"), str):
                    body = zlib.compress(row["payload"].encode("utf-8", "surrogatepass"), 1)
                    self._db.execute("INSERT INTO payloads VALUES (?, ?)", (done.lastrowid, body))
            elif table == "events" and isinstance(row.get("payload"), str):
                self._bring_back(row)
        self._bury()
        return new

    def _write(self, table: str, values: Mapping[str, Any]) -> sqlite3.Cursor:
        marks = ", ".join("?" * len(values))
        try:
            return self._db.execute(
                f"INSERT OR IGNORE INTO {table} ({', '.join(values)}) VALUES ({marks})",  # noqa: S608
                list(values.values()),
            )
        except sqlite3.IntegrityError:
            raise Failed(
                f"a row of {table} refers to something that this export does not have: it was changed or cut"
            ) from None

    def _bring_back(self, row: Mapping[str, Any]) -> None:
        """Give an event that is there the payload that was archived."""
        body = zlib.compress(row["payload"].encode("utf-8", "surrogatepass"), 1)
        self._db.execute(
            """
            INSERT INTO payloads (event_row, body) SELECT row, ? FROM events WHERE id = ?
            ON CONFLICT DO NOTHING
            """,
            (body, row["id"]),
        )

    def _bury(self) -> None:
        """What either side has forgotten stays forgotten."""
        buried = self._db.execute("SELECT id, what FROM tombstones").fetchall()
        if buried:
            kinds = [
                frozenset(i for i, what in buried if what == kind) for kind in ("event", "memory", "session")
            ]
            named = Reach(*kinds)
            self._forgetting.remove(self._forgetting.with_lineage(named), named, 0)
