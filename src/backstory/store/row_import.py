"""The rows of an export, taken into a database in an order in which nothing forgotten can come back.

The whole export is looked at first: what does not fit, or refers to what is not there, is refused before
anything is written. Then what its home has forgotten is forgotten here, and then rows are written, as many
at a time as the caller likes: each only if neither it nor anything that it was made of is buried, a memory
together with its sources. So whatever cuts an export or ends its import, what is there is sound, and taking
it in again goes on.
"""

import re
import sqlite3
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from backstory.errors import Failed
from backstory.store import row_check
from backstory.store.compression import pack
from backstory.store.event_ids import EventIds
from backstory.store.import_filter import TITLE, ImportFilter, Row
from backstory.store.job_queue import DISTIL, Jobs
from backstory.store.records import REPLACED, Reach
from backstory.store.row_erasure import EVENT, MEMORY, SESSION, RowErasure
from backstory.store.row_export import TABLES

_REFERS: Mapping[str, tuple[tuple[str, str], ...]] = MappingProxyType(
    {
        "places": (("project_id", "projects"),),
        "sessions": (("project_id", "projects"),),
        "turns": (("session_id", "sessions"),),
        "events": (("session_id", "sessions"),),
        "memories": (("project_id", "projects"), ("session_id", "sessions")),
        "memory_sources": (("memory_id", "memories"),),
        "injected": (("injection_id", "injections"),),
        "model_answers": (("session_id", "sessions"),),
    }
)

Rows = Iterable[tuple[str, Row]]


class RowImport:
    """Takes one export into one database: `look` first, then `forget`, `write` and `finish`."""

    def __init__(
        self, connection: sqlite3.Connection, event_ids: EventIds, forgetting: RowErasure, jobs: Jobs
    ) -> None:
        self._db = connection
        self._event_ids = event_ids
        self._forgetting = forgetting
        self._jobs = jobs
        self._shapes = {table: row_check.table_columns(connection, table) for table in TABLES}
        self._keys = {table: _key(connection, table) for table in TABLES}
        # what one side or the other has forgotten; what its source has merely replaced is kept, and hidden
        buried = connection.execute("SELECT id FROM tombstones WHERE reason <> ?", (REPLACED,))
        self._admission = ImportFilter({row[0] for row in buried})
        self._theirs: dict[str, dict[str, Any]] = {}  # their tombstones that are not here
        self._untitled: set[str] = set()  # sessions whose title was not taken
        self._counted: set[tuple[object, ...]] = set()

    def meets(self, key: str) -> bool:
        """Whether ids made with an export's key are, or can be, those of this database."""
        if self._db.execute("SELECT 1 FROM sessions LIMIT 1").fetchone() is not None:
            return bool(self._db.execute("SELECT value FROM meta WHERE key = 'key'").fetchone() == (key,))
        if re.fullmatch("[0-9a-f]{32}", key) is None:
            raise Failed("the first line of this export has no key: it was changed or cut")
        return True

    # --- looking ---------------------------------------------------------------------------------------

    def look(self, rows: Rows) -> None:
        """Go through the whole export; raises `Failed` if it cannot be taken in."""
        for table, row in rows:
            values = self._fitting(table, row)
            for column, kind in _REFERS.get(table, ()):
                named = values[column]
                if not self._admission.has(kind, named) and not self._there(kind, {"id": named}):
                    raise Failed(
                        f"a row of {table} refers to something that this export does not have: "
                        "it was changed or cut, and nothing of it was taken in"
                    )
            if table == "tombstones":
                self._bury(values)
            self._admission.note(table, values, row)
        self._admission.close()

    def _bury(self, grave: dict[str, Any]) -> None:
        if not self._there("tombstones", {"id": grave["id"]}):
            self._theirs[grave["id"]] = grave
            if grave["reason"] != REPLACED:
                self._admission.graves.add(grave["id"])

    def _fitting(self, table: str, row: Row) -> dict[str, Any]:
        if table not in self._shapes:
            raise Failed(f"no export has rows of {table[:40]!r}: this one was changed")
        return row_check.fitting_values(table, self._shapes[table], row)

    def _there(self, table: str, key: Row) -> bool:
        condition = " AND ".join(f"{name} ?" if name.endswith(">") else f"{name} = ?" for name in key)
        query = f"SELECT 1 FROM {table} WHERE {condition}"  # noqa: S608 - constants
        return self._db.execute(query, list(key.values())).fetchone() is not None

    def graves(self) -> int:
        """How many things the export's home has forgotten or replaced that this one has not."""
        return len(self._theirs)

    # --- writing ---------------------------------------------------------------------------------------

    def forget(self, key: str, now: int) -> None:
        """Forget here what the export's home has forgotten, and use its key if there is nothing here yet."""
        if self._db.execute("SELECT 1 FROM sessions LIMIT 1").fetchone() is None:
            self._db.execute("UPDATE meta SET value = ? WHERE key = 'key'", (key,))
            self._event_ids.use_key(bytes.fromhex(key))
        for values in self._theirs.values():
            self._insert("tombstones", values)
        forgotten = [grave for grave in self._theirs.values() if grave["reason"] != REPLACED]
        if not forgotten:
            return
        ids = {
            what: frozenset(grave["id"] for grave in forgotten if grave["what"] == what)
            for what in (EVENT, MEMORY, SESSION, TITLE)
        }
        named = Reach(ids[EVENT], ids[MEMORY], ids[SESSION])
        reach = self._forgetting.with_lineage(named)
        lost = set(self._forgetting.touched(reach)) - reach.sessions
        self._forgetting.remove(reach, named, 0)
        for sid in lost | {grave.partition("/")[0] for grave in ids[TITLE]}:
            if self._there("sessions", {"id": sid}):
                self._forgetting.retitle(sid)
                self._jobs.ask(DISTIL, sid, now)

    def write(self, rows: Rows, now: int) -> dict[str, int]:
        """Write rows that are not there yet and may be; inside a transaction. How many were new, by table."""
        new: dict[str, int] = {}
        for table, row in rows:
            values = self._admission.of(table, self._fitting(table, row), row)
            if values is None:
                if self._admission.is_shaky(row.get("id")) and not self._there(table, {"id": row["id"]}):
                    self._jobs.ask(DISTIL, row["session_id"], now)  # made again from what is left
                continue
            done = self._insert(table, values)
            if done.rowcount > 0:
                new[table] = new.get(table, 0) + 1
                if table == "sessions" and self._admission.untitled(values["id"]):
                    self._untitled.add(values["id"])
                if table == "memories":
                    self._tie(values["id"], self._admission.sources_of(values["id"], row) or [])
            if table == "events" and isinstance(row.get("payload"), str):
                self._bring(values["id"], row["payload"])
        return new

    def count(self, rows: Rows) -> dict[str, int]:
        """How many rows `write` would find new, by table; writes nothing."""
        new: dict[str, int] = {}
        for table, row in rows:
            values = self._admission.of(table, self._fitting(table, row), row)
            if values is None:
                continue
            key = {name: values[name] for name in self._keys[table]}
            counted = {"n >": values["n"] - 1} if table == "ordinals" else {}
            if (table, *key.values()) not in self._counted and not self._there(table, key | counted):
                new[table] = new.get(table, 0) + 1
                if table != "events":  # only what an archive may name again
                    self._counted.add((table, *key.values()))
        return new

    def finish(self) -> None:
        """Give sessions whose title was not taken one from the prompts that they have."""
        for sid in sorted(self._untitled):
            if self._there("sessions", {"id": sid}):
                self._forgetting.retitle(sid)

    def _insert(self, table: str, values: Row) -> sqlite3.Cursor:
        marks = ", ".join("?" * len(values))
        statement = f"INSERT OR IGNORE INTO {table} ({', '.join(values)}) VALUES ({marks})"  # noqa: S608
        if table == "ordinals":  # who has counted further is right
            statement = """
                INSERT INTO ordinals (base, origin, n) VALUES (:base, :origin, :n)
                ON CONFLICT (base, origin) DO UPDATE SET n = excluded.n WHERE excluded.n > n
            """
        try:
            return self._db.execute(statement, values if table == "ordinals" else list(values.values()))
        except sqlite3.IntegrityError:
            raise Failed(f"a row of {table} contradicts what is here: this export was changed") from None

    def _tie(self, mid: str, sources: Iterable[str]) -> None:
        self._db.executemany(
            "INSERT OR IGNORE INTO memory_sources (memory_id, event_id) VALUES (?, ?)",
            [(mid, event_id) for event_id in sources],
        )

    def _bring(self, event_id: str, payload: str) -> None:
        """Give an event its payload, also one that is there already and whose payload was archived."""
        self._db.execute(
            """
            INSERT INTO payloads (event_row, body) SELECT row, ? FROM events WHERE id = ?
            ON CONFLICT DO NOTHING
            """,
            (pack(payload), event_id),
        )


def _key(db: sqlite3.Connection, table: str) -> list[str]:
    """What a row is known by, elsewhere too; its number is local."""
    if table == "events":
        return ["id"]
    return [name for _, name, _, _, _, key in db.execute(f"PRAGMA table_info({table})") if key]
