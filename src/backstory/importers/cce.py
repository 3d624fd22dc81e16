"""code-context-engine: one `memory.db` per project: prompts, tool calls, summaries, decisions, code areas.

It writes summaries and decisions in short, with the articles left out. The text is kept as it is and marked
as compressed. Times are seconds since 1970, and 0 is a time. Decisions and code areas may belong to no
session.
"""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from backstory.agents.agent import HistoryReader
from backstory.agents.history_source import Trail
from backstory.agents.markdown_history import short_id
from backstory.agents.payload_fields import ident, mapping
from backstory.agents.payload_fields import path as clean_path
from backstory.file_reader import read_text
from backstory.importers import event_writer
from backstory.importers.database_sessions import database_trails, identified_trail
from backstory.importers.event_writer import Pen, join_lines, labelled_part
from backstory.importers.folder_names import Folders
from backstory.importers.sqlite_tables import Row, Span, Tables, as_number, open_tables
from backstory.importers.table_rows import Naming, RowReader, column_json, column_text, row_line
from backstory.model import Event

NAME = "cce"
_FILE = "memory.db"
_NOBODYS = "without a session"
# in the order in which equal times are told
_TABLES = ("sessions", "prompts", "tool_events", "turn_summaries", "decisions", "code_areas")
_COMMON = ("id", "session_id", "prompt_number", "created_at", "created_at_epoch")
_KNOWN = {
    "sessions": "project started_at started_at_epoch ended_at ended_at_epoch exit_reason prompt_count status "
    "rollup_summary rollup_summary_at_epoch",
    "prompts": "prompt_text",
    "tool_events": "tool_name payload_id summary raw_input raw_output size_bytes",
    "turn_summaries": "summary tier",
    "decisions": "decision reason source",
    "code_areas": "file_path description source",
}

# What tells rows apart where their table has no ids; the rest of a row may be changed.
_KEYS = {
    "prompts": ("prompt_number",),
    "tool_events": ("prompt_number", "tool_name", "created_at_epoch"),
    "turn_summaries": ("prompt_number",),
    "decisions": ("decision", "created_at_epoch"),
    "code_areas": ("file_path", "description"),
}


class History:
    """What code-context-engine has kept."""

    resumable = False

    def root(self) -> Path:
        """The storage of all its projects."""
        return Path.home() / ".cce" / "projects"

    def find(self, place: Path) -> Iterator[Trail]:
        """One trail per session, and one for what belongs to none."""
        folders = Folders()
        return database_trails(place, _FILE, lambda tables, file: _sessions(tables, file, folders))

    def identify(self, trail: Trail) -> Trail | None:
        """It is known from the start, if its database can be read."""
        return identified_trail(trail)

    def lines(self, trail: Trail, start: int) -> Iterator[bytes]:
        """All rows of a session, as they came; a tool call with its payload."""
        with open_tables(trail.path) as tables:
            own = "" if trail.part == _NOBODYS else trail.part
            rows = [
                (rank, table, row) for rank, table in enumerate(_TABLES) for row in _rows(tables, table, own)
            ]
        _date([row for _, _, row in rows], trail.updated // 1000)
        for _, table, row in sorted(rows, key=lambda each: (_seconds(each[2]), each[0])):
            yield row_line(table, row)

    def reader(self, trail: Trail, start: int) -> HistoryReader:
        """Makes events of rows."""
        told = _Telling(Pen(NAME, trail.session, trail.cwd, rewrites=True), trail.project)
        read = (told.session, told.prompt, told.tool, told.turn, told.decision, told.area)
        known = (frozenset((*_COMMON, *columns.split())) for columns in _KNOWN.values())
        return RowReader(dict(zip(_KNOWN, zip(read, known, strict=True), strict=True)))


def _rows(tables: Tables, table: str, own: str) -> Iterator[Row]:
    for row in tables.rows(table, "id" if table == "sessions" else "session_id", [own]):
        if table == "tool_events" and (payload := row.get("payload_id")) is not None:
            held = next(tables.rows("tool_event_payloads", "id", [payload]), {})
            row = {**row, **{name: value for name, value in held.items() if name != "id"}}
        yield row


def _sessions(tables: Tables, file: Trail, folders: Folders) -> Iterator[Trail]:
    if "sessions" not in tables or "decisions" not in tables:  # many tools call a database so
        return
    projects = {
        column_text(row.get("id")): column_text(row.get("project")) for row in tables.rows("sessions")
    }
    spans: dict[str, Span] = {}
    for table in _TABLES:
        column, number = (
            ("id", "started_at_epoch") if table == "sessions" else ("session_id", "created_at_epoch")
        )
        for own, span in tables.spans(table, tables.column(table, column), number).items():
            spans[own] = spans.get(own, Span()) + span
    home = _project_folder(file.path)
    name = next(filter(None, projects.values()), "") or file.path.parent.name
    for own, span in spans.items():
        project = projects.get(own) or name
        nobodys = f"{_NOBODYS} in {short_id(home or str(file.path.resolve()))}"
        yield replace(
            file,
            size=span.count,
            stamp=span.mark + 1,
            updated=span.last * 1000,
            session=ident(f"{NAME}:{own or nobodys}"),
            part=own or _NOBODYS,
            cwd=home or folders.called(project),
            project=project,
        )


def _project_folder(file: Path) -> str:
    """The project's folder, which is noted beside the database."""
    try:
        noted = json.loads(read_text(file.parent / "meta.json"))
    except (OSError, ValueError):
        return ""
    return clean_path(mapping(noted).get("project_dir"))


def _date(rows: list[Row], latest: int) -> None:
    """Rows without a time of their own have that of their prompt, or of their session's start."""
    started = next((at for row in rows if (at := row.get("started_at_epoch")) is not None), latest)
    asked = {row.get("prompt_number"): row.get("created_at_epoch") for row in rows if "prompt_text" in row}
    for row in rows:
        if row.get("created_at_epoch") is None and "started_at_epoch" not in row:
            at = asked.get(row.get("prompt_number"))
            row["created_at_epoch"] = started if at is None else at


def _seconds(row: Row) -> int:
    started = row.get("started_at_epoch")
    return as_number(row.get("created_at_epoch") if started is None else started)


class _Telling:
    """What rows say."""

    def __init__(self, pen: Pen, project: str) -> None:
        self._pen = pen
        self._project = project
        self._naming = Naming()

    def session(self, row: Row) -> Iterator[Event]:
        at, number = _seconds(row) * 1000, column_text(row.get("id"))
        about = f"session {number} in {column_text(row.get('project')) or self._project}"
        yield from self._pen.noted(event_writer.HEADER, at, about, "session")
        ended = row.get("ended_at_epoch")
        over = at if ended is None else as_number(ended) * 1000
        summed = row.get("rollup_summary_at_epoch")
        when = over if summed is None else as_number(summed) * 1000
        yield from self._pen.noted(
            f"{event_writer.COMPRESSED}{event_writer.SUMMARY}",
            when,
            column_text(row.get("rollup_summary")),
            "rollup",
        )
        if ended is not None:
            yield from self._pen.ended(
                over, column_text(row.get("exit_reason")) or column_text(row.get("status"))
            )

    def prompt(self, row: Row) -> list[Event]:
        return self._pen.prompt(
            _seconds(row) * 1000, column_text(row.get("prompt_text")), self._native("prompts", row)
        )

    def tool(self, row: Row) -> list[Event]:
        name = column_text(row.get("tool_name"))
        if not name:
            return []
        inputs, output = column_json(row.get("raw_input")), column_json(row.get("raw_output"))
        used = self._pen.used(_seconds(row) * 1000, name, inputs, output, self._native("tool_events", row))
        summary = column_text(row.get("summary"))
        return [replace(used, text=join_lines(summary, used.text)) if summary else used]

    def turn(self, row: Row) -> list[Event]:
        what = f"{event_writer.COMPRESSED}turn summary"
        told = _with(column_text(row.get("summary")), row, "tier")
        return self._pen.noted(what, _seconds(row) * 1000, told, self._native("turn_summaries", row))

    def decision(self, row: Row) -> list[Event]:
        return self._pen.noted(
            f"{event_writer.COMPRESSED}{event_writer.DECISION}",
            _seconds(row) * 1000,
            _with(column_text(row.get("decision")), row, "source"),
            self._native("decisions", row),
            reason=column_text(row.get("reason")),
        )

    def area(self, row: Row) -> list[Event]:
        path, description = column_text(row.get("file_path")), column_text(row.get("description"))
        told = _with(
            join_lines(description or path, labelled_part(event_writer.CHANGED, path)), row, "source"
        )
        return self._pen.noted("code area", _seconds(row) * 1000, told, self._native("code_areas", row))

    def _native(self, table: str, row: Row) -> str:
        return self._naming.of(table, row, *_KEYS[table])


def _with(told: str, row: Row, column: str) -> str:
    """What a row says, and where the engine has it from."""
    return (
        join_lines(told, labelled_part(f"{event_writer.METADATA}{column} ", column_text(row.get(column))))
        if told
        else ""
    )
