"""`session-state.json`: one entry for each session name, read and written whole, under one exclusive lock.

    {"schema_version": 1, "sessions": {"default": {"started", "epoch", "session_id", "last_seen"}},
     "session_id": …}

What others keep in the file stays, and so do its mode and owner. A file of a newer version is nobody's to
rewrite; one that cannot be understood is begun anew, with a note, and a copy is kept under a dated name. One
that cannot be read is an error: it may be whole.
"""

import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from backstory.atomic import dated_copy, lock, write_atomic
from backstory.errors import Failed
from backstory.file_reader import read_bytes, read_text
from backstory.registry.registry_paths import Places

SCHEMA_VERSION = 1
_LOCK_SECONDS = 30.0


class RegistryFailed(Failed):
    """Lock, state or sentinel cannot be read or written."""

    exit_code = 1


@dataclass(slots=True)
class State:
    """What the file says: `whole` as it stands, `sessions` the part of it that is ours, and notes.

    `damaged`: something in it could not be understood and will be gone when it is written.
    """

    whole: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    newer: bool = False
    damaged: bool = False

    @property
    def sessions(self) -> dict[str, dict[str, Any]]:
        """The entries by name, those that are entries."""
        return {name: entry for name, entry in self._entries.items() if isinstance(entry, dict)}

    def put(self, name: str, entry: dict[str, Any]) -> None:
        """Write an entry beside the others, also those that are no entries of ours."""
        self.whole["sessions"] = {**self._entries, name: entry}

    @property
    def _entries(self) -> dict[str, Any]:
        found: dict[str, Any] = self.whole.get("sessions", {})
        return found


def read_state(path: Path) -> State:
    """The state as it can be used; what cannot be understood is left out, with a note."""
    try:
        whole = json.loads(read_text(path))
    except FileNotFoundError:
        return State()
    except OSError as error:
        raise RegistryFailed(f"the state {path} cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        return State(notes=[f"the state {path} is malformed ({error}): a new one is begun"], damaged=True)
    if not isinstance(whole, dict):
        note = f"the state {path} is a {type(whole).__name__}, not an object: a new one is begun"
        return State(notes=[note], damaged=True)
    version = whole.get("schema_version", 0)
    if isinstance(version, int | float) and version > SCHEMA_VERSION:
        note = f"the state {path} is of version {version}, newer than {SCHEMA_VERSION}: left as it is"
        return State(notes=[note], newer=True)
    if not isinstance(whole.get("sessions", {}), dict):
        kind = type(whole.pop("sessions")).__name__
        return State(
            whole, [f"`sessions` in {path} is a {kind}, not an object: a new one is begun"], damaged=True
        )
    return State(whole)


def register_session(places: Places, name: str, session_id: str | None, now: datetime) -> State:
    """Write that a session with this name starts; the state as written, or untouched if it is newer."""
    with _changing(places) as state:
        stamp = _stamp(now)
        entry = {"started": stamp, "epoch": int(now.timestamp()), "session_id": session_id}
        state.put(name, {**entry, "last_seen": stamp})
        state.whole["session_id"] = session_id
    return state


def end_session(places: Places, name: str, now: datetime) -> tuple[State, bool]:
    """Write that a session is over; False if there is none of this name."""
    with _changing(places) as state:
        known = name in state.sessions
        if known:
            state.put(name, {**state.sessions[name], "last_seen": _stamp(now), "ended": _stamp(now)})
    return state, known and not state.newer


@contextlib.contextmanager
def _changing(places: Places) -> Iterator[State]:
    """The state, read and written back under the lock that every writer takes."""
    with contextlib.ExitStack() as stack:
        try:
            held = stack.enter_context(lock(places.lock, wait=_LOCK_SECONDS))
        except OSError as error:
            raise RegistryFailed(
                f"the lock {places.lock} cannot be taken: {error.strerror or error}"
            ) from None
        if not held:
            raise RegistryFailed(f"another process has held {places.lock} for {_LOCK_SECONDS:.0f} s")
        state = read_state(places.state)
        yield state
        if state.newer:
            return
        state.whole["schema_version"] = SCHEMA_VERSION
        try:
            if state.damaged:
                state.notes.append(f"what it said is kept as {_copy(places.state).name}")
            write_atomic(places.state, json.dumps(state.whole, indent=2).encode(), keep=True)
        except OSError as error:
            raise RegistryFailed(
                f"the state {places.state} cannot be written: {error.strerror or error}"
            ) from None


def _copy(state: Path) -> Path:
    """Keep what stands in the file beside it; the file itself stays, with its mode and owner."""
    copy = dated_copy(state)
    write_atomic(copy, read_bytes(state))
    return copy


def _stamp(now: datetime) -> str:
    return f"{now.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
