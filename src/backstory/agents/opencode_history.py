"""opencode's own history, read into the same events that our plugin gives.

A session becomes lines, whichever way it is kept: one that names it, then for each message its own record,
its parts, and a mark where it ends. Steps, snapshots and patches say nothing that the tools did not; texts
that opencode wrote itself ("synthetic") are nobody's words. Sub-agents have sessions of their own that name
their parent: their events belong to the session at the top.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from backstory.agents import opencode, opencode_database, opencode_files, plugin_events
from backstory.agents.agent import HistoryReader
from backstory.agents.history_source import Trail, history_files, trail_of
from backstory.agents.json_lines import ORIGIN, LineReader, Row, milliseconds
from backstory.agents.payload_fields import flatten_text, ident, mapping, path, string
from backstory.agents.plugin_tools import tool_event
from backstory.file_reader import read_bytes
from backstory.model import Event, Kind, Where

_NOISE = frozenset(("step-start", "step-finish", "snapshot", "patch", "file", "agent", "retry", "subtask"))
_DATABASE = "opencode*.db"
# What a session is called until opencode has found a title.
_UNTITLED = re.compile(r"(New|Child) session - \d{4}-\d\d-\d\dT")
_GENERATIONS = 20  # a parent's parent's …; more is a loop


class Reader(LineReader):
    """Reads the lines of one session (see `lines_of`)."""

    def __init__(self, session: str, offset: int = 0, transcript: str = "", subagent: str = "") -> None:
        super().__init__(session, offset, transcript)
        self._subagent = subagent
        self._kind = ""
        self._cwd = ""
        self._at = 0
        self._id = ""
        self._message: Row = {}
        self._typed: list[str] = []
        self._texts: list[str] = []
        self._spoke_last = False
        self._auto = ""
        self._growing: list[Event] = []  # texts of the last message that may still be written on

    def row(self, row: Row) -> None:
        """What one line means."""
        data = mapping(row.get("data"))
        match row.get("row"):
            case "session":
                self._cwd, self._kind = path(data.get("directory")), ident(data.get("agent"))
                title = string(data.get("title")).strip()
                self.title = "" if _UNTITLED.match(title) else title
            case "message":
                self._begin(row, data)
            case "part":
                self._part(ident(row.get("id")), row, data)
            case "end":
                self._end()
            case _:
                self.counts["unknown"] += 1

    def give_up(self) -> None:
        """Calls stand in one part with their results; only a text that was never finished waits."""
        self._add(self._growing)
        self._growing = []

    def _make(self, at: int) -> plugin_events.Make:
        self._at = at or self._at
        agent = string(self._message.get("agent")) or string(self._message.get("mode")) or self._kind
        return partial(
            Event,
            opencode.NAME,
            self.session,
            at=self._at,
            transcript=self.transcript,
            where=Where(path(mapping(self._message.get("path")).get("cwd")) or self._cwd),
            subagent=self._subagent,
            subagent_type=ident(agent) or "subagent" if self._subagent else "",
            origin=ORIGIN,
        )

    def _begin(self, row: Row, data: Row) -> None:
        self.give_up()
        self._message, self._id = data, ident(row.get("id")) or ident(data.get("id"))
        self._typed, self._texts, self._spoke_last = [], [], False
        self._at = milliseconds(mapping(data.get("time")).get("created")) or milliseconds(row.get("time"))

    def _part(self, id: str, row: Row, data: Row) -> None:
        kind, times = string(data.get("type")), mapping(data.get("time"))
        at = (
            milliseconds(times.get("end"))
            or milliseconds(times.get("start"))
            or milliseconds(row.get("time"))
        )
        text = string(data.get("text"))
        if kind == "compaction":
            self._auto = "auto" if data.get("auto") is True else "manual"
        elif kind in _NOISE or data.get("synthetic") is True or data.get("ignored") is True:
            self.counts["skipped"] += 1
        elif kind == "text" and self._message.get("role") == "user":
            self._typed.append(text)
        elif kind == "text" and self._message.get("summary") is True:
            self._texts.append(text)
        elif kind in ("text", "reasoning"):
            said = Kind.SAID if kind == "text" else Kind.REASONED
            self._spoke_last = said is Kind.SAID
            spoken = plugin_events.speech_events(self._make(at), said, text, id)
            if self._is_written_on(times):
                self._growing += spoken
            else:
                self._add(spoken)
        elif kind == "tool":
            self._spoke_last = False
            self._tool(data, milliseconds(row.get("time")))
        else:
            self.counts["unknown"] += 1

    def _tool(self, part: Row, at: int) -> None:
        state = mapping(part.get("state"))
        times, metadata = mapping(state.get("time")), mapping(state.get("metadata"))
        status, output = state.get("status"), string(state.get("output"))
        if status not in ("completed", "error"):
            self.counts["skipped"] += 1  # it still runs, or its end was never written
            return
        code = metadata.get("exit")
        error = string(state.get("error")) if status == "error" else None
        if error is None and isinstance(code, int) and code != 0:
            error = f"Exit code {code}\n{output}"
        make = self._make(milliseconds(times.get("end")) or at)
        name, inputs, call = ident(part.get("tool")), mapping(state.get("input")), ident(part.get("callID"))
        stopped = metadata.get("interrupted") is True
        self._add([tool_event(name, inputs, output, error, make, call, stopped)])

    def _end(self) -> None:
        """Now all of a message is known."""
        message, times = self._message, mapping(self._message.get("time"))
        if message.get("role") == "user":
            if self._subagent:  # its task stands in the call that started it
                self.counts["skipped"] += 1
                return
            prompt = opencode.typed_text("\n".join(self._typed))
            self._add(
                plugin_events.prompt_events(self._make(milliseconds(times.get("created"))), prompt, self._id)
            )
            return
        make = self._make(milliseconds(times.get("completed")))
        error = mapping(message.get("error"))
        stopped = error.get("name") == "MessageAbortedError"
        if message.get("summary") is True:
            if summary := "\n".join(self._texts).strip():
                self._add(plugin_events.compaction_events(make, summary, self._auto, self._id))
        elif error and not stopped:
            details = flatten_text(mapping(error.get("data")).get("message"))
            self._add([plugin_events.turn_failure_event(make, string(error.get("name")), details, self._id)])
        elif stopped or self._is_last(string(message.get("finish")), times):
            self._add([plugin_events.turn_end_event(make, self._id, bool(self._subagent), stopped)])

    def _is_last(self, finish: str, times: Row) -> bool:
        """Whether a message ends its turn; older versions do not say how it finished, only when."""
        if finish:
            return finish != "tool-calls"
        return self._spoke_last and milliseconds(times.get("completed")) > 0

    def _is_written_on(self, part_times: Row) -> bool:
        """Whether a text has a beginning and neither it nor its message has an end."""
        done = milliseconds(part_times.get("end")) or self._message.get("error")
        done = done or milliseconds(mapping(self._message.get("time")).get("completed"))
        return not done and milliseconds(part_times.get("start")) > 0

    def _add(self, events: list[Event]) -> None:
        for event in events:
            self.pairs.add(event)


# --- sessions as lines ------------------------------------------------------------------------------------


def _line(row: str, id: str, at: int, data: bytes) -> bytes:
    """One record as a line. Its JSON is not looked at: if it is broken, the line is, and is counted."""
    head = json.dumps({"row": row, "id": id, "time": at}).encode()
    return head[:-1] + b', "data": ' + data.replace(b"\n", b" ") + b"}\n"


def _end(id: str) -> bytes:
    return _line("end", id, 0, b"{}")


class OpencodeHistory:
    """The database, and the trees of files that came before it."""

    resumable = False

    def root(self) -> Path:
        """Where this user's sessions lie."""
        return opencode.history_place()

    def find(self, place: Path) -> Iterator[Trail]:
        """Every session in the databases of a place, then those that only files tell of."""
        if place.is_file() and place.suffix == ".json":
            yield _trail_of_file(place, {place.stem: _parent(place)})
            return
        databases = [place] if place.is_file() else [trail.path for trail in _databases(place)]
        seen: set[str] = set()
        for database in databases:
            for trail in _trails_of_database(database):
                seen.add(trail.part)
                yield trail
        if place.is_dir():
            lying = [file for file in opencode_files.session_files(place) if file.stem not in seen]
            parents = {file.stem: _parent(file) for file in lying}
            yield from (_trail_of_file(file, parents) for file in lying)

    def identify(self, trail: Trail) -> Trail | None:
        """It was named when it was found; what could not be read then says why now."""
        if not trail.session:
            opencode_database.session_rows(trail.path)
            return None
        return trail

    def lines(self, trail: Trail, start: int) -> Iterator[bytes]:
        """The session's records, one line each."""
        own = trail.part
        if trail.path.suffix == ".json":
            yield _line("session", own, 0, _bytes(trail.path))
            for message, parts in opencode_files.message_files(trail.path):
                yield _line("message", message.stem, 0, _bytes(message))
                for part in parts:
                    yield _line("part", part.stem, 0, _bytes(part))
                yield _end(message.stem)
            return
        directory, title = opencode_database.folder_and_title(trail.path, own)
        yield _line("session", own, 0, json.dumps({"directory": directory, "title": title}).encode())
        for id, at, data, held in opencode_database.message_rows(trail.path, own):
            yield _line("message", id, at, data.encode())
            for part_id, part_at, part_data in held:
                yield _line("part", part_id, part_at, part_data.encode())
            yield _end(id)

    def reader(self, trail: Trail, start: int) -> HistoryReader:
        """A reader for these lines."""
        return Reader(trail.session, start, str(trail.path), trail.subagent)


def _databases(place: Path) -> Iterator[Trail]:
    head, _, tail = _DATABASE.partition("*")
    return (trail for trail in history_files(place, f"*{tail}") if trail.path.name.startswith(head))


def _trails_of_database(file: Path) -> Iterator[Trail]:
    try:
        rows = opencode_database.session_rows(file)
    except OSError:
        yield from history_files(file, file.name)  # the others are found all the same
        return
    parents = {row.id: row.parent for row in rows}
    for row in rows:
        trail = Trail(file, row.size, row.updated, row.updated, part=row.id)
        yield _owned(trail, parents)


def _trail_of_file(file: Path, parents: Mapping[str, str]) -> Trail:
    return _owned(trail_of(file, file.stat(), opencode_files.count_parts(file), file.stem), parents)


def _owned(trail: Trail, parents: Mapping[str, str]) -> Trail:
    """The trail with the session that its events belong to: its own, or the one at the top."""
    top = trail.part
    for _ in range(_GENERATIONS):
        if not parents.get(top):
            break
        top = parents[top]
    return replace(trail, session=top, subagent=trail.part if top != trail.part else "")


def _parent(file: Path) -> str:
    try:
        told = json.loads(_bytes(file))
    except ValueError:
        return ""
    return ident(mapping(told).get("parentID"))


def _bytes(file: Path) -> bytes:
    try:
        return read_bytes(file)
    except OSError:
        return b""


HISTORY = OpencodeHistory()
