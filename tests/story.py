"""Sessions told step by step, and the home that remembers them.

A `Story` is one session of an agent: each step leaves in the spool exactly what the hook would, one payload
and its trailer, and writes what the agent itself would write into its transcript. A `House` is a home with
its store: it works (one round, as the worker does) and tells what it knows.

    story = house.session()
    story.starts().prompts("fix the login").runs("pytest", fails="1 failed").edits("auth.py").stops("Done.")
    house.works()
    assert [e.kind for e in house.events(story)] == [...]
"""

import contextlib
import itertools
import json
import os
import sqlite3
import subprocess
import time
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from backstory import settings
from backstory.app import App
from backstory.atomic import lock
from backstory.capture.hook_bundle import write_hook_files
from backstory.gzip_pieces import gzip_members
from backstory.hook.hook_command import hook_command
from backstory.hook.project_identity import session_id
from backstory.model import Event, Session, StoredEvent
from backstory.paths import Home
from backstory.pipeline import Pipeline
from backstory.recall.brief import Brief, brief_for
from backstory.store import Store, open_store
from backstory.store.compression import unpack
from backstory.store.job_queue import COMPILE, DAY, LINT

TRAILER = b"\x1e"
_pids = itertools.count(10_000)


class Clock:
    """Gives every step of every story a later time than the one before, close to now."""

    def __init__(self) -> None:
        self._last = 0

    def begin(self) -> None:
        """A test begins: what an earlier one did to the time is over."""
        self._last = 0

    def tick(self, seconds: float = 0.002) -> int:
        """The next time in nanoseconds; never in the future, unless a story is very long."""
        self._last = max(self._last + int(seconds * 1e9), time.time_ns() - 20 * 10**9)
        return self._last


CLOCK = Clock()


def leave(
    home: Home, event: str, data: bytes, agent: str = "claude-code", at_ns: int = 0, trailer: bytes = TRAILER
) -> Path:
    """Put a file into the spool as a hook does; without its trailer the hook has not finished."""
    home.spool.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = home.spool / f"{agent}.{event}.{os.getpid()}.{next(_pids)}"
    path.write_bytes(data + trailer)
    at_ns = at_ns or CLOCK.tick()
    os.utime(path, ns=(at_ns, at_ns))
    return path


class Story:
    """One session of an agent, or with `subagent` the part of it that a sub-agent plays."""

    def __init__(
        self,
        home: Home,
        cwd: Path | str,
        session: str = "",
        agent: str = "claude-code",
        transcript: Path | None = None,
        subagent: str = "",
        subagent_type: str = "general-purpose",
    ) -> None:
        self.home = home
        self.cwd = str(cwd)
        self.session = session or str(uuid.uuid4())
        self.agent = agent
        self.transcript = transcript
        self.subagent = subagent
        self._subagent_type = subagent_type
        self._prompt_id = ""
        self._last_words = ""

    @property
    def id(self) -> str:
        """The id under which the store knows this session."""
        native = f"{self.session}/{self.subagent}" if self.subagent else self.session
        return session_id(self.agent, native)

    # --- steps -----------------------------------------------------------------------------------------

    def starts(self, source: str = "startup") -> "Story":
        return self._hook("SessionStart", source=source)

    def prompts(self, text: str, prompt_id: str = "") -> "Story":
        self._prompt_id = prompt_id or str(uuid.uuid4())
        self._last_words = ""
        self._line("user", {"role": "user", "content": text}, promptId=self._prompt_id)
        return self._hook("UserPromptSubmit", prompt=text)

    def runs(self, command: str, output: str = "", fails: str = "", tool_use_id: str = "") -> "Story":
        response = {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}
        return self.uses("Bash", {"command": command}, response, fails, tool_use_id)

    def reads(self, path: str, content: str = "x = 1\n") -> "Story":
        return self.uses(
            "Read", {"file_path": self._full(path)}, {"type": "text", "file": {"content": content}}
        )

    def writes(self, path: str, content: str = "x = 1\n") -> "Story":
        response = {"type": "create", "filePath": self._full(path), "content": content}
        return self.uses("Write", {"file_path": self._full(path), "content": content}, response)

    def edits(self, path: str, old: str = "x = 1", new: str = "x = 2") -> "Story":
        given = {"file_path": self._full(path), "old_string": old, "new_string": new}
        return self.uses("Edit", given, {"filePath": self._full(path), "oldString": old, "newString": new})

    def uses(
        self, tool: str, given: Mapping[str, Any], response: Any = "", fails: str = "", tool_use_id: str = ""
    ) -> "Story":
        use = tool_use_id or f"toolu_{uuid.uuid4().hex[:20]}"
        self._line(
            "assistant",
            {"role": "assistant", "content": [{"type": "tool_use", "id": use, "name": tool, "input": given}]},
        )
        result = {"type": "tool_result", "tool_use_id": use, "content": fails or str(response)}
        self._line(
            "user",
            {"role": "user", "content": [{**result, "is_error": True} if fails else result]},
            **({} if fails else {"toolUseResult": response}),
        )
        common = {"tool_name": tool, "tool_input": given, "tool_use_id": use}
        if fails:
            return self._hook("PostToolUseFailure", **common, error=fails, is_interrupt=False)
        return self._hook("PostToolUse", **common, tool_response=response)

    def says(self, text: str) -> "Story":
        """Something in mid-turn: no hook carries it, only the transcript."""
        self._last_words = text
        self._line("assistant", {"role": "assistant", "content": [{"type": "text", "text": text}]})
        return self

    def stops(self, text: str = "") -> "Story":
        if text:
            self.says(text)
        event = "SubagentStop" if self.subagent else "Stop"
        self._line("system", None, subtype="turn_duration")
        return self._hook(event, stop_hook_active=False, last_assistant_message=self._last_words)

    def breaks(self, error: str) -> "Story":
        return self._hook("StopFailure", error=error, error_details=error)

    def delegates(self, kind: str = "general-purpose") -> "Story":
        """The sub-agent that takes over for a while."""
        subagent = uuid.uuid4().hex[:16]
        child = Story(self.home, self.cwd, self.session, self.agent, None, subagent, kind)
        child._prompt_id = self._prompt_id
        return child

    def compacts(self, summary: str = "What was done so far.", trigger: str = "auto") -> "Story":
        self._hook("PreCompact", trigger=trigger, custom_instructions=None)
        self._line("system", None, subtype="compact_boundary", compactMetadata={"trigger": trigger})
        self._line(
            "user",
            {"role": "user", "content": summary},
            isCompactSummary=True,
            promptId=self._prompt_id,
        )
        self.starts("compact")
        return self._hook("PostCompact", trigger=trigger, compact_summary=summary)

    def clears(self) -> "Story":
        """/clear: this session ends, and another one starts in its place, which is given back."""
        self.ends("clear")
        path = self.transcript
        after = path.with_name(f"{uuid.uuid4()}.jsonl") if path else None
        return Story(self.home, self.cwd, agent=self.agent, transcript=after).starts("clear")

    def ends(self, reason: str = "other") -> "Story":
        return self._hook("SessionEnd", reason=reason)

    # --- what steps leave ------------------------------------------------------------------------------

    def sends(self, event: str, **fields: Any) -> "Story":
        """Whatever else the agent sends: an event with fields of a recording."""
        return self._hook(event, **fields)

    def payload(self, event: str, **fields: Any) -> dict[str, Any]:
        """What the agent would send for an event."""
        base: dict[str, Any] = {
            "session_id": self.session,
            "transcript_path": str(self.transcript or ""),
            "cwd": self.cwd,
            "hook_event_name": event,
        }
        if self._prompt_id:
            base["prompt_id"] = self._prompt_id
        if self.subagent:
            base |= {"agent_id": self.subagent, "agent_type": self._subagent_type}
        return base | fields

    def _hook(self, event: str, **fields: Any) -> "Story":
        data = json.dumps(self.payload(event, **fields), ensure_ascii=False).encode()
        leave(self.home, event, data, self.agent)
        return self

    def _line(self, kind: str, message: Mapping[str, Any] | None, **fields: Any) -> None:
        if self.transcript is None:
            return
        at = datetime.fromtimestamp(CLOCK.tick() / 1e9, UTC).isoformat().replace("+00:00", "Z")
        row: dict[str, Any] = {
            "type": kind,
            "uuid": str(uuid.uuid4()),
            "sessionId": self.session,
            "timestamp": at,
        }
        row |= {"cwd": self.cwd, "isSidechain": False, **({"message": message} if message else {}), **fields}
        self.transcript.parent.mkdir(parents=True, exist_ok=True)
        with self.transcript.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")

    def _full(self, path: str) -> str:
        return path if path.startswith("/") else f"{self.cwd}/{path}"


def _unpacked(path: Path) -> bytes:
    """A file's bytes, unpacked if it is packed; of a database also the payloads, as they were."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:  # SQLite took the log's index away with the last connection
        return b""
    if data[:2] == b"\x1f\x8b":
        return b"".join(piece for piece, _ in gzip_members(data))
    if data[:6] == b"SQLite":
        with (
            contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database,
            contextlib.suppress(sqlite3.DatabaseError),  # another database, or a damaged one
        ):
            bodies = [body for (body,) in database.execute("SELECT body FROM payloads")]
            return b"\0".join((data, *(unpack(body) or b"" for body in bodies)))
    return data


class House:
    """One home: sessions happen in it, it works, and it is asked what it knows."""

    def __init__(self, root: Path, project: Path) -> None:
        self.home = Home(root)
        self.project = project
        self._store: Store | None = None

    def session(self, cwd: Path | str | None = None, session: str = "", **options: Any) -> Story:
        """A new session in the project, or in another folder."""
        return Story(self.home, cwd or self.project, session, **options)

    def told(self, cwd: Path | None = None, session: str = "") -> Story:
        """A session whose agent writes a transcript."""
        name = session or str(uuid.uuid4())
        return self.session(cwd, name, transcript=self.home.root.parent / "transcripts" / f"{name}.jsonl")

    def leaves(self, data: bytes, event: str = "PostToolUse", **options: Any) -> Path:
        """A file in the spool with just these bytes."""
        return leave(self.home, event, data, **options)

    def sets(self, key: str, value: str) -> None:
        """What the user would write with `backstory config`."""
        settings.change_setting(self.home, key, value)

    @property
    def store(self) -> Store:
        if self._store is None:
            self._store = open_store(self.home)
        return self._store

    def close(self) -> None:
        if self._store is not None:
            self._store.close()
            self._store = None

    def works(self) -> int:
        """One round of work, as the worker does it; how much was done."""
        with lock(self.home.worker_lock, wait=10) as held:
            assert held
            return Pipeline(self.home, settings.load_settings(self.home)[0], self.store).round()

    def left(self) -> set[str]:
        """The states of what a round does; writing down comes at the end of a shift, or when it is due."""
        return {job.state for job in self.store.jobs.all() if job.kind not in (DAY, COMPILE, LINT)}

    def rebuilds(self) -> int:
        """What the command asks for, done here."""
        with App(self.home) as app:
            sessions = app._ask_for_rebuild()
        while self.works():
            pass
        return sessions

    def spooled(self) -> list[str]:
        """Names of what lies in the spool."""
        return (
            sorted(p.name for p in self.home.spool.iterdir() if p.is_file())
            if self.home.spool.exists()
            else []
        )

    def stored(self, story: Story) -> list[StoredEvent]:
        return self.store.events.of_session(story.id)

    def events(self, story: Story) -> list[Event]:
        return [stored.event for stored in self.stored(story)]

    def row(self, story: Story) -> Session:
        session = self.store.events.session(story.id)
        assert session is not None, "the session is not stored"
        return session

    def counter(self, name: str) -> int:
        """One of capture's counters, over everything."""
        return self.store.counters.total(name)

    def brief(self, folder: Path | None = None, source: str = "startup", story: Story | None = None) -> Brief:
        """What a session that starts in the folder would be told."""
        chosen = settings.load_settings(self.home)[0].for_hook({})
        session = story.session if story else ""
        return brief_for(self.home, chosen, str(folder or self.project), "claude-code", source, session)

    def found_in_home(self, needle: str) -> list[str]:
        """Files of the home, the spool's waiting files left out, that contain these bytes anywhere.

        Kept transcripts and archives are unpacked, and so is every payload of the database.
        """
        self.close()  # so that everything is in the files
        found = []
        for path in sorted(self.home.root.rglob("*")):
            waiting = path.parent == self.home.spool
            if path.is_file() and not waiting and needle.encode() in _unpacked(path):
                found.append(str(path.relative_to(self.home.root)))
        return found

    # --- real processes --------------------------------------------------------------------------------

    def installs(self) -> None:
        """Write the hook's files, as `backstory install` does."""
        write_hook_files(self.home.root)

    def command(self, event: str, agent: str = "claude-code") -> str:
        """The command line that an agent's settings would hold."""
        return hook_command(str(self.home.root), agent, event)

    def fires(
        self, event: str, payload: Mapping[str, Any], **environment: str
    ) -> subprocess.CompletedProcess[bytes]:
        """Run a hook for real, as the agent does."""
        return subprocess.run(
            ["sh", "-c", self.command(event)],
            input=json.dumps(payload).encode(),
            env={"PATH": os.environ["PATH"], "HOME": str(self.home.root.parent), **environment},
            cwd="/",
            capture_output=True,
            check=False,
            timeout=60,
        )
