"""Everything that is kept, as plain values, for another database (`row_import.py`); nothing is lost.

What is derived from these rows (text index, jobs, prepared briefs) is made again where they arrive. Rows are
known by their ids, so that taking in the same export twice changes nothing. A memory's row has its sources in
it, as an event's has its payload: no cut can part them.
"""

import json
import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from backstory.store.compression import unpack_text
from backstory.store.event_ids import counted_id

FORMAT = 2  # 1 had the sources of memories as rows of their own
# In the order in which they refer to each other. The number of a row is local and left out.
TABLES = (
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
    "injections": f"t.session_id {_SOME}",
    "injected": f"t.injection_id IN (SELECT id FROM injections WHERE session_id {_SOME})",  # noqa: S608 - constants
    "model_answers": f"t.session_id {_SOME}",
    "model_calls": f"t.session_id {_SOME}",
}

_SOURCES = """
    SELECT json_group_array(event_id)
    FROM (SELECT event_id FROM memory_sources WHERE memory_id = t.id ORDER BY event_id)
"""

Row = dict[str, Any]
Values = Sequence[object] | Mapping[str, object]


class RowExport:
    """Reads everything of one database as plain rows."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection

    def head(self) -> Row:
        """What the first line of an export says: the ids' key goes along, or nothing would be recognised."""
        row = self._db.execute("SELECT value FROM meta WHERE key = 'key'").fetchone()
        version = self._db.execute("PRAGMA user_version").fetchone()[0]
        return {"backstory": FORMAT, "schema": version, "key": row[0]}

    def rows(self, sessions: Collection[str] | None = None) -> Iterator[tuple[str, Row]]:
        """Every row with its table; of some sessions only, if they are named."""
        for table in TABLES:
            if table == "memory_sources":
                continue
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
        return self._some("memories", "id", ids)

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
        elif table == "memories":
            extra = f", ({_SOURCES})"
        found = self._db.execute(
            f"SELECT {columns}{extra} FROM {table} t {join} {condition} ORDER BY {order}",  # noqa: S608
            values,
        )
        for row in found:
            value = dict(zip(names, row, strict=False))
            if table == "events" and row[-1] is not None:
                if (payload := unpack_text(row[-1])) is not None:
                    value["payload"] = payload
                else:
                    value["payload_size"] = 0  # damaged: the event goes without it
            elif table == "memories":
                value["sources"] = json.loads(row[-1])
            yield value

    def _columns(self, table: str) -> list[str]:
        found = self._db.execute(f"PRAGMA table_info({table})").fetchall()
        return [name for _, name, *_ in found if name != "row"]

    def _keys(self, table: str) -> list[str]:
        found = self._db.execute(f"PRAGMA table_info({table})").fetchall()
        return [name for _, name, _, _, _, key in found if key] or ["rowid"]
