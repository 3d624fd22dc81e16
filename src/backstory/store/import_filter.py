"""Which rows of an export may be taken in: nothing forgotten, here or there, and nothing made of it.

All of its rows are noted first (`note`, then `close`); from then on `of` tells what may be written of a row.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from backstory.store import row_check

TITLE = "title"

Row = Mapping[str, Any]


class ImportFilter:
    """What one export tells of itself, and what of it is forgotten; `graves` are the ids of that."""

    def __init__(self, graves: set[str]) -> None:
        self.graves = graves
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

    def has(self, table: str, row_id: str) -> bool:
        """Whether such a row was noted."""
        return row_id in self._ids[table]

    def note(self, table: str, values: Row, row: Row) -> None:
        """Note a row of the export, and the values that fit the table."""
        self._unsure = ""
        match table:
            case "projects" | "injections":
                self._ids[table].add(values["id"])
            case "sessions":
                self._ids[table].add(values["id"])
                self._sessions[values["id"]] = values["project_id"], values.get("parent_id", "")
            case "events":
                if values["id"] in self.graves:
                    self._shaken.add(values["session_id"])
            case "memories":
                self._remembered.add((values["project_id"], values["session_id"]))
                if row_check.row_sources(row) is None:
                    self._ids[table].add(values["id"])
            case "memory_sources":
                self._sources.setdefault(values["memory_id"], []).append(values["event_id"])
                self._unsure = values["memory_id"]

    def close(self) -> None:
        """All rows were noted."""
        self._gone = {
            sid for sid, (_, parent) in self._sessions.items() if {sid, parent} & self.graves
        } | self.graves
        every = {(project, sid) for sid, (project, _) in self._sessions.items()} | self._remembered
        self._empty = {project for project, sid in every if sid in self._gone} - {
            project for project, sid in every if sid not in self._gone
        }

    def of(self, table: str, values: dict[str, Any], row: Row) -> dict[str, Any] | None:
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
            case "turns" if values["prompt_id"] in self.graves:
                return values | {"prompt_id": ""}
            case "events":
                return None if values["id"] in self.graves else values
            case "memories":
                return values if self._sound(values["id"], row) else None
            case "injected":
                mid = values["memory_id"]
                return None if mid in self._shaky or mid.partition(".")[0] in self.graves else values
            case "model_answers":  # what was said about a whole stretch may tell of what is gone from it
                return None if values["session_id"] in self._shaken else values
            case "model_calls" if values["session_id"] in self._gone:
                return values | {"session_id": ""}
            case "memory_sources" | "tombstones":  # written with their memories, and before everything
                return None
        return values

    def _session(self, values: dict[str, Any]) -> dict[str, Any] | None:
        if values["id"] in self._gone:
            return None
        return values | {"title": ""} if self.untitled(values["id"]) else values

    def untitled(self, sid: str) -> bool:
        """Whether a session's title may tell what was forgotten."""
        return sid in self._shaken or f"{sid}/{TITLE}" in self.graves

    def _sound(self, mid: str, row: Row) -> bool:
        """Whether nothing that a memory rests on was forgotten; what the export does not tell might be."""
        if mid in self.graves:
            return False
        sources = self.sources_of(mid, row)
        if not self.graves or (sources is not None and self.graves.isdisjoint(sources)):
            return True
        self._shaky.add(mid)
        return False

    def is_shaky(self, mid: object) -> bool:
        """Whether a memory was refused because it rests on what was forgotten."""
        return mid in self._shaky

    def sources_of(self, mid: str, row: Row) -> Sequence[str] | None:
        """The events that a memory rests on; None if the export does not tell."""
        told = row_check.row_sources(row)
        if told is not None or (self.graves and mid == self._unsure):
            return told
        return self._sources.get(mid)
