"""claude-mem: observations, summaries and prompts in one database for all projects.

`sdk_sessions` ties an agent's own session id to the id under which claude-mem writes about it; older versions
name both columns differently. Rows whose session is not there any more are kept under the id that they carry.
"""

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from backstory.agents.agent import HistoryReader
from backstory.agents.history_source import Trail
from backstory.agents.json_lines import milliseconds
from backstory.agents.payload_fields import ident
from backstory.agents.payload_fields import path as clean_path
from backstory.importers import event_writer
from backstory.importers.database_sessions import database_trails, identified_trail
from backstory.importers.event_writer import Pen, bullet_list, join_lines, labelled_part
from backstory.importers.folder_names import Folders
from backstory.importers.sqlite_tables import Row, Span, Tables, open_tables
from backstory.importers.table_rows import Naming, RowReader, column_json, column_list, column_text, row_line
from backstory.model import Event

NAME = "claude-mem"
_FILE = "claude-mem.db"
_ORPHAN = "memory:"
# An agent's own session id, and claude-mem's; as they are called now and were before.
_CONTENT = ("content_session_id", "claude_session_id")
_MEMORY = ("memory_session_id", "sdk_session_id")
# table, the id by which it belongs to a session; in the order in which equal times are told
_TABLES = (
    ("sdk_sessions", _CONTENT),
    ("user_prompts", _CONTENT),
    ("tool_uses", _CONTENT),
    ("observations", _MEMORY),
    ("session_summaries", _MEMORY),
)
_COMMON = (
    *_CONTENT, *_MEMORY, "id", "created_at", "created_at_epoch", "prompt_number", "project",
    "discovery_tokens", "content_hash", "merged_into_project", "sync_rev", "synced_at", "origin_local_id",
    "origin_device_id",
)  # fmt: skip
_KNOWN = {
    "sdk_sessions": "platform_source user_prompt started_at started_at_epoch completed_at completed_at_epoch "
    "status prompt_counter custom_title worker_port observed_model observed_billing",
    "user_prompts": "session_db_id prompt_text",
    "tool_uses": "session_db_id platform_source tool_use_id tool_name tool_input tool_response cwd "
    "agent_type agent_id observation_id or_generation_id or_session_id",
    "observations": "text type title subtitle facts narrative concepts files_read files_modified agent_type "
    "agent_id metadata generated_by_model relevance_count",
    "session_summaries": "request investigated learned completed next_steps files_read files_edited notes",
}
_PARTS = (("Investigated", "investigated"), ("Learned", "learned"), ("Completed", "completed"),
          ("Notes", "notes"))  # fmt: skip


class History:
    """What claude-mem has kept."""

    resumable = False

    def root(self) -> Path:
        """Its data folder, which CLAUDE_MEM_DATA_DIR moves."""
        configured = os.environ.get("CLAUDE_MEM_DATA_DIR")
        return Path(configured) if configured else Path.home() / ".claude-mem"

    def find(self, place: Path) -> Iterator[Trail]:
        """One trail per session, with how many rows it has."""
        folders = Folders()
        return database_trails(place, _FILE, lambda tables, file: _sessions(tables, file, folders))

    def identify(self, trail: Trail) -> Trail | None:
        """It is known from the start, if its database can be read."""
        return identified_trail(trail)

    def lines(self, trail: Trail, start: int) -> Iterator[bytes]:
        """All rows of a session, as they came."""
        with open_tables(trail.path) as tables:
            found = [
                (_time(row), rank, table, row)
                for rank, (table, column) in enumerate(_TABLES)
                for row in tables.rows(table, tables.column(table, *column), _ids(tables, trail, column))
            ]
        asked = {column_text(row.get("prompt_text")) for *_, row in found}
        for _, _, table, row in sorted(found, key=lambda each: each[:2]):
            if column_text(row.get("user_prompt")) in asked:  # told by its own row
                row["user_prompt"] = None
            yield row_line(table, row)

    def reader(self, trail: Trail, start: int) -> HistoryReader:
        """Makes events of rows."""
        told = _Telling(Pen(NAME, trail.session, trail.cwd, rewrites=True), trail.updated)
        read = (told.session, told.prompt, told.tool_use, told.observation, told.summary)
        known = (frozenset((*_COMMON, *columns.split())) for columns in _KNOWN.values())
        return RowReader(dict(zip(_KNOWN, zip(read, known, strict=True), strict=True)))


def _ids(tables: Tables, trail: Trail, column: tuple[str, ...]) -> list[str]:
    """The ids that a session's rows carry in such a column."""
    if trail.part.startswith(_ORPHAN):
        return [trail.part.removeprefix(_ORPHAN)] if column is _MEMORY else []
    if column is _CONTENT:
        return [trail.part]
    memory = tables.column("sdk_sessions", *_MEMORY)
    rows = tables.rows("sdk_sessions", tables.column("sdk_sessions", *_CONTENT), [trail.part])
    return list(filter(None, (column_text(row.get(memory)) for row in rows)))


def _sessions(tables: Tables, file: Trail, folders: Folders) -> Iterator[Trail]:
    content, memory = (tables.column("sdk_sessions", *names) for names in (_CONTENT, _MEMORY))
    owner: dict[str, str] = {}
    projects: dict[str, str] = {}
    for row in tables.rows("sdk_sessions"):
        own = column_text(row.get(content))
        if known_as := column_text(row.get(memory)):
            owner[known_as] = own
        projects.setdefault(own, column_text(row.get("project")))
    spans: dict[str, Span] = {}
    for table, column in _TABLES:
        counted = "started_at_epoch" if table == "sdk_sessions" else "created_at_epoch"
        marked = table != "tool_uses"  # much to read, and never changed
        for value, span in tables.spans(table, tables.column(table, *column), counted, marked).items():
            own = value if column is _CONTENT else owner.get(value, f"{_ORPHAN}{value}")
            spans[own] = spans.get(own, Span()) + span
    for own, span in spans.items():
        project = projects.get(own) or _project(tables, own)
        updated = milliseconds(span.last)
        yield replace(
            file,
            size=span.count,
            stamp=span.mark + 1,
            updated=updated or file.updated,
            session=ident(f"{NAME}:{own}"),
            part=own,
            cwd=_cwd(tables, own) or folders.of_session(own) or folders.called(project),
            project=project or NAME,
        )


def _project(tables: Tables, own: str) -> str:
    """The project that rows without a session name themselves."""
    names = _MEMORY if own.startswith(_ORPHAN) else _CONTENT
    for table in (table for table, column in _TABLES if column is names):
        rows = tables.rows(table, tables.column(table, *names), [own.removeprefix(_ORPHAN)])
        if name := next((name for row in rows if (name := column_text(row.get("project")))), ""):
            return name
    return ""


def _cwd(tables: Tables, own: str) -> str:
    rows = tables.rows("tool_uses", tables.column("tool_uses", *_CONTENT), [own])
    return next((cwd for row in rows if (cwd := clean_path(row.get("cwd")))), "")


def _time(row: Row) -> int:
    return milliseconds(row.get("created_at_epoch")) or milliseconds(row.get("created_at")) or _started(row)


def _started(row: Row) -> int:
    return milliseconds(row.get("started_at_epoch")) or milliseconds(row.get("started_at"))


class _Telling:
    """What rows say."""

    def __init__(self, pen: Pen, latest: int) -> None:
        self._pen = pen
        self._latest = latest
        self._naming = Naming()

    def _at(self, row: Row) -> int:
        return _time(row) or self._latest

    def session(self, row: Row) -> Iterator[Event]:
        at, number = self._at(row), column_text(row.get("id"))
        agent = column_text(row.get("platform_source")) or "claude"
        title = column_text(row.get("custom_title"))
        about = f"{agent} session {column_text(row.get(_CONTENT[0])) or column_text(row.get(_CONTENT[1]))}"
        where = f"{about} in {column_text(row.get('project'))}"
        yield from self._pen.noted(
            event_writer.HEADER, at, join_lines(title, where), f"sdk_sessions:{number}"
        )
        yield from self._pen.prompt(at, column_text(row.get("user_prompt")), f"sdk_sessions:{number}:prompt")
        if ended := milliseconds(row.get("completed_at_epoch")) or milliseconds(row.get("completed_at")):
            yield from self._pen.ended(ended, column_text(row.get("status")))

    def prompt(self, row: Row) -> list[Event]:
        native = f"user_prompts:{column_text(row.get('id'))}"
        return self._pen.prompt(self._at(row), column_text(row.get("prompt_text")), native)

    def tool_use(self, row: Row) -> list[Event]:
        name = column_text(row.get("tool_name"))
        native = column_text(row.get("tool_use_id")) or self._naming.of("tool_uses", row, *row)
        inputs, response = column_json(row.get("tool_input")), column_json(row.get("tool_response"))
        cwd = clean_path(row.get("cwd"))
        return [self._pen.used(self._at(row), name, inputs, response, native, cwd)] if name else []

    def observation(self, row: Row) -> list[Event]:
        told = join_lines(
            column_text(row.get("title")),
            column_text(row.get("subtitle")),
            column_text(row.get("narrative")),
            bullet_list(column_list(row.get("facts"))),
            column_text(row.get("text")),
        )
        more = join_lines(
            labelled_part(event_writer.CONCEPTS, ", ".join(column_list(row.get("concepts")))),
            labelled_part(event_writer.METADATA, _metadata(row.get("metadata"))),
            labelled_part(event_writer.READ, ", ".join(column_list(row.get("files_read")))),
            labelled_part(event_writer.CHANGED, ", ".join(column_list(row.get("files_modified")))),
        )
        what = column_text(row.get("type")) or "observation"
        return self._pen.noted(
            what, self._at(row), join_lines(told, more), f"observations:{column_text(row.get('id'))}"
        )

    def summary(self, row: Row) -> Iterator[Event]:
        at, native = self._at(row), f"session_summaries:{column_text(row.get('id'))}"
        parts = [column_text(row.get("request"))]
        parts += [labelled_part(f"{label}: ", column_text(row.get(column))) for label, column in _PARTS]
        files = join_lines(
            labelled_part(event_writer.READ, ", ".join(column_list(row.get("files_read")))),
            labelled_part(event_writer.CHANGED, ", ".join(column_list(row.get("files_edited")))),
        )
        yield from self._pen.noted(event_writer.SUMMARY, at, join_lines(*parts, files), native)
        yield from self._pen.noted(
            event_writer.NEXT_STEP, at, column_text(row.get("next_steps")), f"{native}:next"
        )


def _metadata(value: object) -> str:
    found = column_json(value)
    return found if isinstance(found, str) else json.dumps(found, ensure_ascii=False) if found else ""
