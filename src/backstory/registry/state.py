"""`session-state.json`: one entry for each session name, read and written whole, under one exclusive lock.

    {"schema_version": 1, "sessions": {"default": {"started", "epoch", "session_id", "last_seen"}},
     "session_id": …}

What others keep in the file stays. A file of a newer version is nobody's to rewrite; one that cannot be
understood is begun anew, with a note.
"""

import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from backstory.atomic import lock, write_atomic
from backstory.errors import Failed
from backstory.registry.places import Places

SCHEMA_VERSION = 1
_LOCK_SECONDS = 30.0


class RegistryFailed(Failed):
    """Lock, state or sentinel cannot be read or written."""

    exit_code = 1


@dataclass(slots=True)
class State:
    """What the file says: `whole` as it stands, `sessions` the part of it that is ours, and notes."""

    whole: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    newer: bool = False

    @property
    def sessions(self) -> dict[str, dict[str, Any]]:
        """The entries by name, those that are entries."""
        found = self.whole.get("sessions", {})
        return {name: entry for name, entry in found.items() if isinstance(entry, dict)}


def read(path: Path) -> State:
    """The state as it can be used; what cannot be understood is left out, with a note."""
    try:
        whole = json.loads(path.read_bytes().decode("utf-8"))
    except FileNotFoundError:
        return State()
    except OSError as error:
        raise RegistryFailed(f"the state {path} cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        return State(notes=[f"the state {path} is malformed ({error}): begun anew"])
    if not isinstance(whole, dict):
        return State(notes=[f"the state {path} is a {type(whole).__name__}, not an object: begun anew"])
    version = whole.get("schema_version", 0)
    if isinstance(version, int) and version > SCHEMA_VERSION:
        note = f"the state {path} is of version {version}, newer than {SCHEMA_VERSION}: left as it is"
        return State(notes=[note], newer=True)
    if not isinstance(whole.get("sessions", {}), dict):
        kind = type(whole.pop("sessions")).__name__
        return State(whole, [f"`sessions` in {path} is a {kind}, not an object: begun anew"])
    return State(whole)


def register(places: Places, name: str, session_id: str | None, now: datetime) -> State:
    """Write that a session with this name starts; the state as written, or untouched if it is newer."""
    with _changing(places) as state:
        stamp = _stamp(now)
        entry = {"started": stamp, "epoch": int(now.timestamp()), "session_id": session_id}
        state.whole["sessions"] = {**state.sessions, name: {**entry, "last_seen": stamp}}
        state.whole["session_id"] = session_id
    return state


def end(places: Places, name: str, now: datetime) -> tuple[State, bool]:
    """Write that a session is over; False if there is none of this name."""
    with _changing(places) as state:
        known = name in state.sessions
        if known:
            ended = {**state.sessions[name], "last_seen": _stamp(now), "ended": _stamp(now)}
            state.whole["sessions"] = {**state.sessions, name: ended}
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
        state = read(places.state)
        yield state
        if state.newer:
            return
        state.whole["schema_version"] = SCHEMA_VERSION
        try:
            write_atomic(places.state, json.dumps(state.whole, indent=2).encode())
        except OSError as error:
            raise RegistryFailed(
                f"the state {places.state} cannot be written: {error.strerror or error}"
            ) from None


def _stamp(now: datetime) -> str:
    return f"{now.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
