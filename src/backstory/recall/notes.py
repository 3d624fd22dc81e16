"""What may be said at work, prepared by the worker: a file of notes for each project, flags for the shell.

A note belongs to a command or an edit that failed, or to an error that was mended: the hook only looks its
keys up (`hook/work_notes.py`); `deeds.py` knows which these are. A command whose like failed before gets what
the project knows about such commands, looked up here ahead. What has to do with a prompt, or with an error
that is not known, the hook looks up itself (`lookup.py`). A flag in `briefs/at/<folder>/` says that a folder
has notes of a kind; without one, no hook starts Python. Before a tool call the payload must also hold one of
the literals in `briefs/before.literals` (`call_literals.py`): those of all prepared notes, or it is away.
"""

import json
import os
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from backstory import clock
from backstory.atomic import make_private_dir, write_own
from backstory.file_reader import read_bytes
from backstory.hook import normalize
from backstory.hook.work_notes import KEYED, MOST, may_have_flags, met_before
from backstory.model import Action, MemoryKind, Outcome
from backstory.paths import Home
from backstory.recall.call_literals import call_literals, filter_file, is_current, with_literals
from backstory.recall.deeds import deeds
from backstory.recall.lookup import Found, Lookup
from backstory.recall.rows import Row, history_row, stamped
from backstory.recall.standing import Standing
from backstory.settings import Settings, load_settings
from backstory.store import Store
from backstory.store.passage_reader import reading

FORMAT = 1
SWITCHES = tuple(f"notes.{kind}" for kind in MOST)
# kind, and how many of its latest may be said
_KINDS = (
    (MemoryKind.LESSON, 80),
    (MemoryKind.ATTEMPT, 40),
    (MemoryKind.DECISION, 60),
    (MemoryKind.PREFERENCE, 20),
    (MemoryKind.FACT, 20),
    (MemoryKind.COMMAND, 20),
)
_STAMPS = 200  # files; a hook looks at those of the notes that it says
# So many commands whose like failed are looked up ahead, the latest first; of each so many rows, so long.
_STEMS, _ROWS, _ROOM = 40, 4, 1_200
_SESSIONS = 200
# The filter of calls is made anew after so long.
_FILTER_SECONDS = 86_400
# They are looked up again when there are so many times as many passages.
_GROWN = 1.05


def write_notes(home: Home, store: Store, project_id: str) -> None:
    """Write a project's notes and their flags; without notes there are no files."""
    settings, _ = load_settings(home)
    project = store.projects.get(project_id)
    path = home.notes / f"{project_id}.json"
    before = _read(path)
    value = _with_stems(home, store, notes(store, project_id), before)
    value["flags"] = _kinds(settings, value)
    _let_pass(home, path, call_literals(value))  # first: no note is to be said that the filter does not know
    if value["notes"] or value["size"]:
        value["name"] = project.name if project else ""
        make_private_dir(home.notes)
        write_own(path, json.dumps(value, ensure_ascii=False).encode())
    else:
        path.unlink(missing_ok=True)
    _flag_all(home, value["flags"], _roots(store, project_id))


def flag_again(home: Home, store: Store) -> None:
    """Put up the flags for prepared notes that the settings allow now, and take down the others."""
    settings, _ = load_settings(home)
    for path in sorted(home.notes.glob("*.json")):
        value = _read(path)
        value["flags"] = _kinds(settings, value)
        write_own(path, json.dumps(value, ensure_ascii=False).encode())
        _flag_all(home, value["flags"], _roots(store, path.stem))


def _let_pass(home: Home, path: Path, literals: set[str]) -> None:
    """Let calls pass that hold one of a project's literals; `path` is where its notes will lie.

    The filter holds those of all projects, and some that are not needed any more: it is made anew, of all
    notes, only when it is a day old, was made by another version, or is away.
    """
    try:
        file = read_bytes(home.call_literals)
        age = time.time() - home.call_literals.stat().st_mtime
    except OSError:
        file, age = b"", 0.0
    fresh = is_current(file) and abs(age) < _FILTER_SECONDS
    if fresh:
        new = with_literals(file, literals)
    else:
        others = (each for each in home.notes.glob("*.json") if each != path)
        new = filter_file(literals.union(*(call_literals(_read(each)) for each in others)))
    if new != file or not fresh:
        write_own(home.call_literals, new)


def flagged(home: Home, folder: str) -> bool:
    """Whether a folder, or one around it, has a flag of any kind."""
    around = [Path(folder), *Path(folder).parents] if may_have_flags(folder) else []
    return any((_flags(home, str(each)) / f".{kind}").exists() for each in around for kind in MOST)


def pending(home: Home, store: Store, session_id: str, project_id: str) -> list[str]:
    """Notes on errors that a session's last turn ended with, for the agents that take none with the error."""
    prepared = _read(home.notes / f"{project_id}.json")
    if not prepared.get("errors"):
        return []
    events = store.events.of_session(session_id)
    last = max((each.turn for each in events), default=0)
    left: dict[str, str] = {}
    for each in events:
        if each.turn == last and each.event.action is Action.RUN:
            key = normalize.command_key(each.event.target)
            left.pop(key, None)
            if each.event.outcome is Outcome.FAILED:
                left[key] = each.event.text
    found = [note for command, error in left.items() for note in met_before(error, command, prepared)[:1]]
    return list(dict.fromkeys(found))


def _read(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(read_bytes(path))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


# --- what a note belongs to --------------------------------------------------------------------------------


def notes(store: Store, project_id: str) -> dict[str, Any]:
    """All notes of a project with their keys."""
    told = [
        memory
        for kind, limit in _KINDS
        for memory in store.memories.of_project(project_id, [kind], limit)
        if memory.text.strip() and not memory.text.endswith("…")  # a note is whole, or is not said
    ]
    standing = Standing(store)
    rows = [standing.row(memory.kind, memory) for memory in told]
    project = store.projects.get(project_id)
    done = deeds(store, project_id, told, _roots(store, project_id))
    return {
        "v": FORMAT,
        "project": project_id,
        "made_at": clock.now_ms(),
        "notes": rows,
        "commands": done.commands,
        "edits": done.edits,
        "errors": done.errors,
        "ran": done.ran,
        "places": done.places,
    } | stamped(rows, project.root if project else "", _STAMPS)


def _with_stems(home: Home, store: Store, value: dict[str, Any], before: dict[str, Any]) -> dict[str, Any]:
    """The notes with what is known about commands whose like failed; as `before`, while little is new."""
    # the rules of distilling: only workers need them
    from backstory.failure_history import OF_LATE, failure_histories

    project_id = str(value["project"])
    size = store.passages.size_of(project_id)
    rows: dict[str, Row] = {row["id"]: row for row in value["notes"]}
    outgrown = size > _GROWN * _size(before)
    told = before.get("stems") if not outgrown else {}
    stems: dict[str, list[str]] = {}
    with reading(str(home.database)) as connection:
        told_by_key = [note for note, row in rows.items() if row["section"] in KEYED]
        looks = Lookup(connection, project_id, known=told_by_key, memories=list(rows))
        if not outgrown:
            rows.update(_still_there(store, looks, before))
        for stem in failed_stems(store, project_id):
            if isinstance(told, dict) and stem in told:
                stems[stem] = [note for note in told[stem] if note in rows]
                continue
            found = looks.about(stem, _ROWS, _ROOM)
            stems[stem] = [each.id for each in found]
            rows.update((each.id, _row(each)) for each in found if each.id not in rows)
    for each in failure_histories(store.events.deeds(project_id, OF_LATE)):
        rows[each.last.id] = history_row(each)
        stems[each.stem] = [each.last.id, *stems.get(each.stem, ())]
    said = {note for notes in stems.values() for note in notes} - {row["id"] for row in value["notes"]}
    value["notes"] += [row for note, row in rows.items() if note in said]
    return value | {"stems": stems, "size": size if outgrown else _size(before)}


def outgrown(home: Home, store: Store, project_id: str) -> bool:
    """Whether there is much that was not there when the notes on commands were looked up."""
    before = _read(home.notes / f"{project_id}.json")
    return store.passages.size_of(project_id) > _GROWN * _size(before)


def _size(prepared: dict[str, Any]) -> int:
    size = prepared.get("size")
    return size if isinstance(size, int) else 0


def _still_there(store: Store, looks: Lookup, before: dict[str, Any]) -> dict[str, Row]:
    """Rows that were looked up before and would be told so now: nothing was forgotten or rejected."""
    rows = [row for row in before.get("notes") or () if str(row.get("id"))[:1] == "e"]
    owners = {str(row["id"]).partition(".")[0] for row in rows}
    there = store.passages.of_owners(sorted(owners))
    said = {(owner, looks.says(owner, form, kind, text)) for owner, form, kind, text in there}
    return {row["id"]: row for row in rows if (str(row["id"]).partition(".")[0], row.get("text")) in said}


def _row(found: Found) -> Row:
    return {
        "id": found.id,
        "section": "note",
        "text": found.text,
        "at": found.at,
        "agent": found.agent,
        "session": found.session,
        "by": found.said_by,
    }


def failed_stems(store: Store, project_id: str) -> list[str]:
    """What commands that failed here have in common with their like, the latest first; no mere looking."""
    from backstory.failure_history import blamed_stem

    found: dict[str, None] = {}
    for command in store.events.failed_commands(project_id, _SESSIONS):
        if stem := blamed_stem(command):
            found[stem] = None
        if len(found) >= _STEMS:
            break
    return list(found)


def _roots(store: Store, project_id: str) -> list[str]:
    """The project's folder, its work trees', and folders within them, as far as sessions ran there."""
    project = store.projects.get(project_id)
    return list(dict.fromkeys([*([project.root] if project else []), *store.projects.places_of(project_id)]))


# --- flags -------------------------------------------------------------------------------------------------


def _flags(home: Home, folder: str) -> Path:
    return Path(f"{home.briefs}/at{folder}")


def _kinds(settings: Settings, prepared: dict[str, Any]) -> list[str]:
    """The kinds of notes that there may be something of, and that the settings allow."""
    present = {
        "prompt": bool(prepared.get("size") or prepared.get("notes")) and settings.notes_prompt,
        "before": any(map(prepared.get, ("commands", "edits", "stems"))) and settings.notes_before,
        "after": bool(prepared.get("size") or prepared.get("errors")) and settings.notes_after,
    }
    return [kind for kind, there in present.items() if there]


def _flag_all(home: Home, kinds: Sequence[str], folders: Iterable[str]) -> None:
    for folder in folders:
        _flag(home, folder, {kind: kind in kinds for kind in MOST})


def take_down_flags(home: Home, folders: Iterable[str]) -> None:
    """Take down the flags of folders whose project is gone."""
    _flag_all(home, (), folders)


def _flag(home: Home, folder: str, present: dict[str, bool]) -> None:
    if not may_have_flags(folder):
        return
    place = _flags(home, folder)
    if any(present.values()):
        make_private_dir(place)
    for kind, there in present.items():
        if there:
            os.close(os.open(place / f".{kind}", os.O_CREAT | os.O_WRONLY, 0o600))
        else:
            (place / f".{kind}").unlink(missing_ok=True)
    while place != home.briefs and place.is_dir() and not any(place.iterdir()):
        place.rmdir()
        place = place.parent
