"""MemPalace: drawers of verbatim text in wings and rooms, kept by Chroma in SQLite.

Chroma spreads a drawer over rows, one per key; its text is the key `chroma:document`. A wing and a room make
one session. Drawers are documents here: most are pieces of files or of conversations, and who said what in
them is not told apart.
"""

import json
import os
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from backstory.agents.agent import HistoryReader
from backstory.agents.history_source import Trail
from backstory.agents.json_lines import milliseconds
from backstory.agents.payload_fields import ident, mapping
from backstory.file_reader import read_text
from backstory.importers import event_writer
from backstory.importers.database_sessions import database_trails, identified_trail
from backstory.importers.event_writer import Pen, join_lines, labelled_part
from backstory.importers.folder_names import Folders
from backstory.importers.markdown_pages import parse_moment
from backstory.importers.sqlite_tables import Row, Span, Tables, open_tables
from backstory.importers.table_rows import RowReader, column_text, row_line
from backstory.model import Event

NAME = "mempalace"
_FILE = "chroma.sqlite3"
_TEXT = "chroma:document"
_VALUES = ("string_value", "int_value", "float_value", "bool_value")
_VARIABLES = ("MEMPALACE_PALACE_PATH", "MEMPALACE_PALACE", "MEMPAL_PALACE_PATH", "MEMPALACE_PATH")
# When what a drawer holds was written, best first; then when it was put there.
_DATES = ("authored_at", "content_date", "date", "timestamp", "filed_at", "created_at")
_SHOWN = ("hall", "topic", "agent", "added_by", "type", "importance")
_AT_ONCE = 500
_KNOWN = frozenset(
    (
        "drawer", "\0at", _TEXT, "wing", "room", "source_file", *_DATES, *_SHOWN, "entities", "chunk_index",
        "chunk_total", "source_mtime", "line_start", "line_end", "content_date_source", "normalize_version",
        "id_recipe", "source_dir_ino", "ingest_mode", "extract_mode", "convo_chunker_version",
    )
)  # fmt: skip
# What Chroma keeps beside the drawers: pointers to them, made by MemPalace from the drawers themselves.
_DERIVED = "closets"

# The numbers of drawers by wing and room.
Rooms = dict[tuple[str, ...], list[object]]


class History:
    """What MemPalace has kept."""

    resumable = False

    def __init__(self) -> None:
        self._found: dict[Path, Rooms] = {}  # what `find` has seen: looking again for each room takes long

    def root(self) -> Path:
        """The palace, where its environment or its configuration says."""
        for name in _VARIABLES:
            if configured := os.environ.get(name):
                return Path(configured).expanduser()
        try:
            config = json.loads(read_text(Path.home() / ".mempalace" / "config.json"))
            if configured := column_text(mapping(config).get("palace_path")):
                return Path(configured).expanduser()
        except (OSError, ValueError):
            pass
        return Path.home() / ".mempalace" / "palace"

    def find(self, place: Path) -> Iterator[Trail]:
        """One trail per room of a wing."""
        folders = Folders()

        def rooms(tables: Tables, file: Trail) -> Iterator[Trail]:
            self._found[file.path] = _by_room(tables)
            said = tables.spans("embedding_metadata", tables.column("embedding_metadata", "id"), "")
            return _rooms(self._found[file.path], said, file, folders)

        return database_trails(place, _FILE, rooms)

    def identify(self, trail: Trail) -> Trail | None:
        """It is known from the start, if its database can be read."""
        return identified_trail(trail)

    def lines(self, trail: Trail, start: int) -> Iterator[bytes]:
        """The drawers of a room, each as one row."""
        with open_tables(trail.path) as tables:
            rooms = self._found.get(trail.path) or _by_room(tables)
            numbers = rooms.get(tuple(json.loads(trail.part)), [])
            for first in range(0, len(numbers), _AT_ONCE):
                for drawer in _drawers(tables, numbers[first : first + _AT_ONCE]):
                    yield row_line("drawers", drawer)

    def reader(self, trail: Trail, start: int) -> HistoryReader:
        """Makes an event of each drawer."""
        told = Pen(NAME, trail.session, trail.cwd, rewrites=True)
        return RowReader({"drawers": (lambda row: _told(told, row, trail.updated), None)})


def _segments(tables: Tables) -> list[object]:
    """Where Chroma keeps the rows of the collections that are no index of others."""
    kept = [row["id"] for row in tables.rows("collections") if _DERIVED not in column_text(row.get("name"))]
    return [row["id"] for row in tables.rows("segments", tables.column("segments", "collection"), kept)]


def _by_room(tables: Tables) -> Rooms:
    """The numbers of all drawers, by wing and room."""
    named: dict[object, dict[str, str]] = defaultdict(dict)
    for row in tables.rows(
        "embedding_metadata", tables.column("embedding_metadata", "key"), ["wing", "room"]
    ):
        named[row["id"]][column_text(row.get("key"))] = column_text(row.get("string_value"))
    rooms: Rooms = defaultdict(list)
    column = tables.column("embeddings", "segment_id")
    for row in tables.rows("embeddings", column, _segments(tables)):
        name = named[row["id"]]
        rooms[name.get("wing", ""), name.get("room", "")].append(row["id"])
    return rooms


def _rooms(rooms: Rooms, said: Mapping[str, Span], file: Trail, folders: Folders) -> Iterator[Trail]:
    for (wing, room), numbers in rooms.items():
        project = wing.removeprefix("wing_") or NAME
        drawers = sum((said.get(column_text(number), Span()) for number in numbers), Span())
        yield replace(
            file,
            size=len(numbers),
            stamp=drawers.mark + 1,
            session=ident(f"{NAME}:{wing or 'no wing'}:{room or 'no room'}"),
            part=json.dumps([wing, room], ensure_ascii=False),
            cwd=folders.called(project),
            project=project,
        )


def _drawers(tables: Tables, numbers: list[object]) -> Iterator[Row]:
    found: dict[object, Row] = {}
    for row in tables.rows("embeddings", "id", numbers):
        found[row["id"]] = {"drawer": column_text(row.get("embedding_id")), "\0at": row.get("created_at")}
    for row in tables.rows("embedding_metadata", "id", numbers):
        value = next((row[name] for name in _VALUES if row.get(name) is not None), None)
        found[row["id"]][column_text(row.get("key"))] = value
    yield from found.values()


def _told(told: Pen, row: Row, latest: int) -> list[Event]:
    content = column_text(row.get(_TEXT))
    if not content or not row["drawer"]:
        return []
    at = next((at for name in _DATES if (at := _moment(row.get(name)))), 0)
    shown = (*_SHOWN, *sorted(row.keys() - _KNOWN))  # the user's own keys too
    about = join_lines(*(labelled_part(f"{name}: ", column_text(row.get(name))) for name in shown))
    place = " / ".join(filter(None, (column_text(row.get("wing")), column_text(row.get("room")))))
    source = column_text(row.get("source_file"))
    return told.document(
        event_writer.DRAWER,
        at or _moment(row.get("\0at")) or latest,
        join_lines(content, labelled_part("\nFiled under ", place), about),
        column_text(row["drawer"]),
        source,
    )


def _moment(value: object) -> int:
    return parse_moment(value) if isinstance(value, str) else milliseconds(value)
