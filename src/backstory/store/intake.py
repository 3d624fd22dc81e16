"""The rows of an export, taken into a database in an order in which nothing forgotten can come back.

The whole export is looked at first: what does not fit, or refers to what is not there, is refused before
anything is written. Then what its home has forgotten is forgotten here, and then rows are written, as many
at a time as the caller likes: each only if neither it nor anything that it was made of is buried, a memory
together with its sources. So whatever cuts an export or ends its import, what is there is sound, and taking
it in again goes on.
"""

import re
import sqlite3
import zlib
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from backstory.errors import Failed
from backstory.store import incoming
from backstory.store.dump import TABLES
from backstory.store.event_ids import EventIds
from backstory.store.forgetting import EVENT, MEMORY, SESSION, Forgetting
from backstory.store.jobs import Jobs
from backstory.store.values import REPLACED, Reach

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
_TITLE = "title"

Row = Mapping[str, Any]
Rows = Iterable[tuple[str, Row]]


class Intake:
    """Takes one export into one database: `look` first, then `forget`, `write` and `finish`."""

    def __init__(
        self, connection: sqlite3.Connection, event_ids: EventIds, forgetting: Forgetting, jobs: Jobs
    ) -> None:
        self._db = connection
        self._event_ids = event_ids
        self._forgetting = forgetting
        self._jobs = jobs
        self._shapes = {table: incoming.columns(connection, table) for table in TABLES}
        self._keys = {table: _key(connection, table) for table in TABLES}
        # what one side or the other has forgotten; what its source has merely replaced is kept, and hidden
        self._graves = {
            row[0] for row in connection.execute("SELECT id FROM tombstones WHERE reason <> ?", (REPLACED,))
        }
        self._theirs: dict[str, dict[str, Any]] = {}  # their tombstones that are not here
        self._ids: dict[str, set[str]] = {
            kind: set() for kind in ("projects", "sessions", "injections", "memories")
        }
        self._sessions: dict[str, tuple[str, str]] = {}  # their projects and parents
        self._remembered: set[tuple[str, str]] = set()  # projects and sessions of memories
        # older exports have the sources of their memories as rows of their own, behind them
        self._sources: dict[str, list[str]] = {}
        self._unsure = ""  # the memory whose sources such an export ends with
        self._gone: set[str] = set()  # sessions that were forgotten
        self._empty: set[str] = set()  # projects all of whose sessions were
        self._shaken: set[str] = set()  # sessions that have lost an event
        self._shaky: set[str] = set()  # memories that rest on what was forgotten
        self._untitled: set[str] = set()  # sessions whose title may tell what was forgotten
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
                if values[column] not in self._ids[kind] and not self._there(kind, {"id": values[column]}):
                    raise Failed(
                        f"a row of {table} refers to something that this export does not have: "
                        "it was changed or cut, and nothing of it was taken in"
                    )
            self._note(table, values, row)
        self._gone = {
            sid for sid, (_, parent) in self._sessions.items() if {sid, parent} & self._graves
        } | self._graves
        every = {(project, sid) for sid, (project, _) in self._sessions.items()} | self._remembered
        self._empty = {project for project, sid in every if sid in self._gone} - {
            project for project, sid in every if sid not in self._gone
        }

    def _fitting(self, table: str, row: Row) -> dict[str, Any]:
        if table not in self._shapes:
            raise Failed(f"no export has rows of {table[:40]!r}: this one was changed")
        return incoming.fitting(table, self._shapes[table], row)

    def _note(self, table: str, values: Row, row: Row) -> None:
        self._unsure = ""
        match table:
            case "projects" | "injections":
                self._ids[table].add(values["id"])
            case "sessions":
                self._ids[table].add(values["id"])
                self._sessions[values["id"]] = values["project_id"], values.get("parent_id", "")
            case "events":
                if values["id"] in self._graves:
                    self._shaken.add(values["session_id"])
            case "memories":
                self._remembered.add((values["project_id"], values["session_id"]))
                if incoming.sources(row) is None:
                    self._ids[table].add(values["id"])
            case "memory_sources":
                self._sources.setdefault(values["memory_id"], []).append(values["event_id"])
                self._unsure = values["memory_id"]
            case "tombstones" if not self._there(table, {"id": values["id"]}):
                self._theirs[values["id"]] = dict(values)
                if values["reason"] != REPLACED:
                    self._graves.add(values["id"])

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
            for what in (EVENT, MEMORY, SESSION, _TITLE)
        }
        named = Reach(ids[EVENT], ids[MEMORY], ids[SESSION])
        reach = self._forgetting.with_lineage(named)
        lost = set(self._forgetting.touched(reach)) - reach.sessions
        self._forgetting.remove(reach, named, 0)
        for sid in lost | {grave.partition("/")[0] for grave in ids[_TITLE]}:
            if self._there("sessions", {"id": sid}):
                self._forgetting.retitle(sid)
                self._jobs.ask("distil", sid, now)

    def write(self, rows: Rows, now: int) -> dict[str, int]:
        """Write rows that are not there yet and may be; inside a transaction. How many were new, by table."""
        new: dict[str, int] = {}
        for table, row in rows:
            values = self._kept(table, self._fitting(table, row), row)
            if values is None:
                if row.get("id") in self._shaky and not self._there(table, {"id": row["id"]}):
                    self._jobs.ask("distil", row["session_id"], now)  # made again from what is left
                continue
            done = self._insert(table, values)
            if done.rowcount > 0:
                new[table] = new.get(table, 0) + 1
                if table == "memories":
                    self._tie(values["id"], self._sources_of(values["id"], row) or [])
            if table == "events" and isinstance(row.get("payload"), str):
                self._bring(values["id"], row["payload"])
        return new

    def count(self, rows: Rows) -> dict[str, int]:
        """How many rows `write` would find new, by table; writes nothing."""
        new: dict[str, int] = {}
        for table, row in rows:
            values = self._kept(table, self._fitting(table, row), row)
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

    def _kept(self, table: str, values: dict[str, Any], row: Row) -> dict[str, Any] | None:
        """The values that may be written of a row; None if nothing may."""
        if table != "model_calls" and values.get("session_id") in self._gone:
            return None
        match table:
            case "projects":
                return None if values["id"] in self._empty else values
            case "places":
                return None if values["project_id"] in self._empty else values
            case "sessions":
                return self._session(values)
            case "turns" if values["prompt_id"] in self._graves:
                return values | {"prompt_id": ""}
            case "events":
                return None if values["id"] in self._graves else values
            case "memories":
                return values if self._sound(values["id"], row) else None
            case "injected":
                mid = values["memory_id"]
                return None if mid in self._shaky or mid in self._graves else values
            case "model_answers":  # what was said about a whole stretch may tell of what is gone from it
                return None if values["session_id"] in self._shaken else values
            case "model_calls" if values["session_id"] in self._gone:
                return values | {"session_id": ""}
            case "memory_sources" | "tombstones":  # written with their memories, and before everything
                return None
        return values

    def _session(self, values: dict[str, Any]) -> dict[str, Any] | None:
        sid = values["id"]
        if sid in self._gone:
            return None
        if sid not in self._shaken and f"{sid}/{_TITLE}" not in self._graves:
            return values
        if not self._there("sessions", {"id": sid}):
            self._untitled.add(sid)
        return values | {"title": ""}

    def _sound(self, mid: str, row: Row) -> bool:
        """Whether nothing that a memory rests on was forgotten; what the export does not tell might be."""
        if mid in self._graves:
            return False
        sources = self._sources_of(mid, row)
        if not self._graves or (sources is not None and self._graves.isdisjoint(sources)):
            return True
        self._shaky.add(mid)
        return False

    def _sources_of(self, mid: str, row: Row) -> Sequence[str] | None:
        told = incoming.sources(row)
        if told is not None or (self._graves and mid == self._unsure):
            return told
        return self._sources.get(mid)

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
            (zlib.compress(payload.encode("utf-8", "surrogatepass"), 1), event_id),
        )


def _key(db: sqlite3.Connection, table: str) -> list[str]:
    """What a row is known by, elsewhere too; its number is local."""
    if table == "events":
        return ["id"]
    return [name for _, name, _, _, _, key in db.execute(f"PRAGMA table_info({table})") if key]
