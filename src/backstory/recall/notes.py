"""What may be said at work, prepared by the worker: a file of notes for each project, flags for the shell.

A note belongs to the words of a prompt, to a command or an edit that failed, to an error that was mended. The
hook only looks its keys up (`hook/work_notes.py`); `deeds.py` and `named.py` know which these are. Which
words tell something is known here: those that are rare in language and not in every note of the project. A
flag in `briefs/at/<folder>/` says that a folder has notes of a kind; without one, no hook starts Python.
"""

import json
import math
import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from backstory import clock
from backstory.atomic import make_private_dir, write_own
from backstory.embed.word_rarity import rarity
from backstory.file_reader import read_bytes
from backstory.hook import error_signature, normalize
from backstory.hook.work_notes import MOST, met_before
from backstory.model import Action, Memory, MemoryKind, Outcome
from backstory.paths import Home
from backstory.recall.deeds import deeds
from backstory.recall.named import strong
from backstory.recall.rows import stamped
from backstory.recall.standing import Standing
from backstory.search import floor
from backstory.settings import Settings, load
from backstory.store import Store

FORMAT = 1
SWITCHES = tuple(f"notes.{kind}" for kind in MOST)
# kind, and how many of its latest may be said
_KINDS = (
    (MemoryKind.LESSON, 80),
    (MemoryKind.ATTEMPT, 40),
    (MemoryKind.DECISION, 60),
    (MemoryKind.PREFERENCE, 20),
    (MemoryKind.FACT, 20),
)
_WORDS = 60
_STAMPS = 200  # files; a hook looks at those of the notes that it says
_PLAIN = 4.6  # as rare as words that every project talks of: test, file, error, add, change
_UNKNOWN = 3.0  # of another script
_NAME = 4.5
_LONGEST_PATH = 3_000

Weigh = Callable[[str, str], float]


def write(home: Home, store: Store, project_id: str) -> None:
    """Write a project's notes and their flags; without notes there are no files."""
    settings, _ = load(home)
    project = store.projects.get(project_id)
    value = notes(store, project_id, weigh)
    path = home.notes / f"{project_id}.json"
    if value["notes"]:
        value["name"] = project.name if project else ""
        make_private_dir(home.notes)
        write_own(path, json.dumps(value, ensure_ascii=False).encode())
    else:
        path.unlink(missing_ok=True)
    _flag_all(home, settings, value, _roots(store, project_id))


def flag_again(home: Home, store: Store) -> None:
    """Put up the flags for prepared notes that the settings allow now, and take down the others."""
    settings, _ = load(home)
    for path in sorted(home.notes.glob("*.json")):
        _flag_all(home, settings, _read(path), _roots(store, path.stem))


def flagged(home: Home, folder: str) -> bool:
    """Whether a folder, or one around it, has a flag of any kind."""
    around = [Path(folder), *Path(folder).parents] if _is_sound(folder) else []
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


def notes(store: Store, project_id: str, weigh: Weigh) -> dict[str, Any]:
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
    words = words_of(told, weigh)
    needed = floor.of_notes()
    by_name = strong(told)
    done = deeds(store, project_id, told, _roots(store, project_id))
    return {
        "v": FORMAT,
        "project": project_id,
        "made_at": clock.now_ms(),
        "notes": rows,
        "floor": needed.weight,
        "longer": needed.a_doubling,
        "weights": words[0],
        "words": words[1],
        "strong": by_name.alone,
        "within": by_name.within,
        "commands": done.commands,
        "edits": done.edits,
        "errors": done.errors,
        "ran": done.ran,
        "places": done.places,
        "over": done.over,
    } | stamped(rows, project.root if project else "", _STAMPS)


def weigh(term: str, word: str) -> float:
    """How much a word tells: as much as it is rare. Names are rare by themselves."""
    if normalize.is_name(term):
        return _NAME
    if not word.isascii():
        return _UNKNOWN
    rare = min(rarity(form) for form in (word, term, f"{term}e"))
    return max(0.0, min(rare - _PLAIN, _NAME))


def words_of(memories: Sequence[Memory], weigh: Weigh) -> tuple[dict[str, float], dict[str, list[str]]]:
    """The words that tell something, with their weights; and those of each note."""
    own = {
        memory.id: normalize.terms(
            " ".join((error_signature.without_generic(memory.text), memory.reason, *memory.files))
        )
        for memory in memories
    }
    notes_with = Counter(term for terms in own.values() for term in terms)
    weights: dict[str, float] = {}
    for terms in own.values():
        for term, word in terms.items():
            if term not in weights:
                weights[term] = round(weigh(term, word) / (1 + math.log2(notes_with[term]) / 2), 2)
    kept = {term: weight for term, weight in weights.items() if weight > 0}
    by_note = {
        mid: sorted((term for term in terms if term in kept), key=lambda term: -kept[term])[:_WORDS]
        for mid, terms in own.items()
    }
    return kept, by_note


def _roots(store: Store, project_id: str) -> list[str]:
    """The project's folder, its work trees', and folders within them, as far as sessions ran there."""
    project = store.projects.get(project_id)
    return list(dict.fromkeys([*([project.root] if project else []), *store.projects.places_of(project_id)]))


# --- flags -------------------------------------------------------------------------------------------------


def _flags(home: Home, folder: str) -> Path:
    return Path(f"{home.briefs}/at{folder}")


def _is_sound(folder: str) -> bool:
    """Whether a folder's name can be repeated below the home."""
    absolute = folder.startswith("/") and "\0" not in folder and len(folder) < _LONGEST_PATH
    return absolute and os.path.normpath(folder) == folder != "/"


def _flag_all(home: Home, settings: Settings, prepared: dict[str, Any], folders: Iterable[str]) -> None:
    present = {
        "prompt": bool(prepared.get("notes")) and settings.notes_prompt,
        "before": bool(prepared.get("commands") or prepared.get("edits")) and settings.notes_before,
        "after": bool(prepared.get("errors")) and settings.notes_after,
    }
    for folder in folders:
        _flag(home, folder, present)


def _flag(home: Home, folder: str, present: dict[str, bool]) -> None:
    if not _is_sound(folder):
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
