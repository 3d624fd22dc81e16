"""The commands, edits and errors that notes belong to, so that a hook only has to look them up.

A command is warned about while its last outcome here is a failure, or while it is called in a way that fails
and another is known that works; what was mended is over. An edit is warned about if it did not stay or did
not help; what took it back, or helped, never is. An error whose words any program might have belongs to its
places.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from backstory.hook import error_signature, normalize
from backstory.model import Action, Kind, Memory, MemoryKind, Outcome, StoredEvent
from backstory.store import Store

Keys = dict[str, list[str]]
_AS = "running it as `"
_EDITED = re.compile(r"→ (?:fixed by|went away after) editing (?!.{0,400} and running `)")
# Something that has a name, in an error that was mended by an edit: it is about that thing.
_NAMED = re.compile(
    r"""["'`“][\w./@-]{3,}["'`”]|\b\w*[a-z0-9]_[a-z]\w*|\b[a-z]+[A-Z]\w+"""
    r"""|\b[A-Z][a-z0-9]+[A-Z]\w*(?<!Error)(?<!Exception)(?<!Warning)\b|\b\w[\w-]{1,80}\.[a-z]\w{0,4}\b"""
)
_RUNNERS = (
    *(
        "pytest",
        "python -m pytest",
        "uv run pytest",
        "poetry run pytest",
        "npm test",
        "yarn test",
        "pnpm test",
    ),
    *("npx jest", "npx vitest", "go test", "cargo test", "mypy", "ruff check", "npx tsc", "make test"),
)
_NARROWS = ("-k", "-m", "--lf", "--last-failed", "--co", "-run", "--deselect", "--ignore", "-t")
_ALL = (".", "./...")
_REPORTS = ("FAILED ", "ERROR ", "FAIL ", "--- FAIL")
_PLACES = 12


@dataclass(frozen=True, slots=True)
class Deeds:
    """Notes by what they belong to, the newest first.

    `places` are the files of those notes whose error alone does not tell; `ran` are the commands that errors
    were met with.
    """

    commands: Keys = field(default_factory=lambda: defaultdict(list))
    edits: Keys = field(default_factory=lambda: defaultdict(list))
    errors: Keys = field(default_factory=lambda: defaultdict(list))
    ran: Keys = field(default_factory=lambda: defaultdict(list))
    places: Keys = field(default_factory=dict)


def deeds(store: Store, project_id: str, memories: Iterable[Memory], roots: Sequence[str]) -> Deeds:
    """What lessons and attempts belong to."""
    tried = [memory for memory in memories if memory.kind in (MemoryKind.LESSON, MemoryKind.ATTEMPT)]
    found = Deeds()
    passed = _passed(store, project_id, min((memory.at for memory in tried), default=0))
    for memory in sorted(tried, key=lambda memory: -memory.at):
        events = [known for source in memory.sources if (known := store.events.event(source)) is not None]
        events.sort(key=lambda each: (each.event.at, each.seq))
        failed = _whole(each.event.target for each in events if _failed(each)) or _whole(
            [_shown(memory.text)]
        )
        changed = [each for each in events if _changes(each)]
        keys = [] if memory.kind is MemoryKind.ATTEMPT and changed else _command_keys(memory, failed, events)
        red = [key for key in keys if max(passed[key], passed[_runner(key)]) <= memory.at]
        _list(found.commands, red, memory)
        if memory.kind is MemoryKind.LESSON:
            _errors(found, memory, events, failed)
            edits = _beside_the_point(memory, events)
        else:
            edits = changed or (_tried(store, memory, events) if red else [])
        backs = _backs(edits)
        keys = [key for each in edits if each.id not in backs for key in _edit_keys(each, roots)]
        _list(found.edits, keys, memory)
    return found


def _list(table: Keys, keys: Iterable[str], memory: Memory) -> None:
    for key in dict.fromkeys(filter(None, keys)):
        table.setdefault(key, []).append(memory.id)


# --- commands ----------------------------------------------------------------------------------------------


def _passed(store: Store, project_id: str, since: int) -> dict[str, int]:
    """When each command passed last; so did steps that all had to, and each part of a check of everything."""
    found: dict[str, int] = defaultdict(int)
    for command, _, at in store.events.passes(project_id, since):
        keys = [normalize.as_typed(command), normalize.command_key(command)]
        if "&&" in command and not any(sign in command for sign in ("||", ";", "\n", "|")):
            keys += map(normalize.command_key, command.split("&&"))
        keys += [_runner(key) for key in keys if _checks_all(key)]
        for key in filter(None, keys):
            found[key] = max(found[key], at)
    return found


def _runner(key: str) -> str:
    """The check that a command runs on some of what there is, "" if it is none that is known."""
    return next((f"\n{name}" for name in _RUNNERS if f"{key.strip()} ".startswith(f"{name} ")), "")


def _checks_all(key: str) -> bool:
    """Whether a command runs a check on all that there is."""
    rest = key.strip()[len(_runner(key)) - 1 :].split()
    narrowed = any(word.startswith(_NARROWS) for word in rest)
    return bool(_runner(key)) and not narrowed and all(word[0] == "-" or word in _ALL for word in rest)


def _command_keys(memory: Memory, failed: list[str], events: Sequence[StoredEvent]) -> list[str]:
    """The keys of the commands that a memory may warn about."""
    made = any(map(_failed, events)) or len(events) > 1
    if memory.kind is MemoryKind.LESSON and made and _AS not in memory.text:
        return []  # it was mended
    way = memory.text.partition(_AS)[2].partition("`")[0]
    same = way and normalize.command_key(way) in map(normalize.command_key, failed)  # but for its folder, say
    return [normalize.as_typed(each) if same else normalize.command_key(each) for each in failed]


def _whole(commands: Iterable[str]) -> list[str]:
    """The commands that were not cut."""
    return [command for command in dict.fromkeys(commands) if command and "…" not in command]


def _failed(stored: StoredEvent) -> bool:
    event = stored.event
    return event.kind is Kind.TOOL and event.action is Action.RUN and event.outcome is Outcome.FAILED


def _shown(text: str) -> str:
    """The command that a memory begins with."""
    return text[1:].partition("`")[0] if text.startswith("`") else ""


# --- errors ------------------------------------------------------------------------------------------------


def _errors(found: Deeds, memory: Memory, events: Sequence[StoredEvent], failed: list[str]) -> None:
    lines = _quoted(memory.detail)
    keys = [key for line in lines if (key := error_signature.line_key(line))]
    if not keys:
        return
    _list(found.errors, keys, memory)
    _list(found.ran, [key for command in failed for key in normalize.command_keys(command)], memory)
    if any(map(error_signature.is_generic, lines)) or (
        _EDITED.search(memory.text) and not any(map(_names, lines))
    ):
        outputs = [each.event.text for each in events if _failed(each)]
        told = [
            name
            for text in outputs
            for line in _reports(text, lines)
            for name in error_signature.error_files(line)
        ]
        found.places[memory.id] = list(dict.fromkeys([*memory.files, *told]))[:_PLACES]


def _quoted(detail: str) -> list[str]:
    """The errors that a lesson quotes in the first line of its detail."""
    quoted = detail.partition("\n")[0].partition('`: "')[2]
    return quoted.removesuffix('"').split('", then "') if quoted else []


def _names(line: str) -> bool:
    return _NAMED.search(line) is not None


def _reports(text: str, lines: Sequence[str]) -> list[str]:
    """The lines of an output that say where it failed: those of the error itself, and of a test's name."""
    heads = [line.rstrip("…")[:60] for line in lines]
    return [row for row in text.split("\n") if row.startswith(_REPORTS) or any(head in row for head in heads)]


# --- edits -------------------------------------------------------------------------------------------------


def _changes(stored: StoredEvent) -> bool:
    return stored.event.action in (Action.EDIT, Action.WRITE) and stored.event.outcome is not Outcome.FAILED


def _backs(edits: Sequence[StoredEvent]) -> set[str]:
    """The edits that only took an earlier one back: what they put in was good."""
    backs: set[str] = set()
    made: set[tuple[str, tuple[tuple[str, str], ...]]] = set()
    for each in edits:
        target, sides = each.event.target, normalize.edit_sides(each.event.text)
        if (target, tuple((new, old) for old, new in sides)) in made:
            backs.add(each.id)
        else:
            made.add((target, tuple(sides)))
    return backs


def _tried(store: Store, memory: Memory, failures: Sequence[StoredEvent]) -> list[StoredEvent]:
    """The edits between the failures of a command that did not pass again."""
    if len(failures) < 2 or not memory.files:
        return []
    first, last = failures[0].seq, failures[-1].seq
    events = store.events.of_session(memory.session_id)
    return [each for each in events if first < each.seq < last and _changes(each)]


def _beside_the_point(memory: Memory, events: Sequence[StoredEvent]) -> list[StoredEvent]:
    """The edits of a lesson after which the same error came again, and another file was the fix."""
    failures = [each.seq for each in events if _failed(each)]
    if len(failures) < 2 or len(_quoted(memory.detail)) != 1:
        return []
    edits = [each for each in events if _changes(each)]
    helped = {each.event.target for each in edits if each.seq > failures[-1]}
    again = [
        each
        for each in edits
        if any(before < each.seq < after for before, after in pairwise(failures))
        and each.event.target not in helped
    ]
    return again if helped else []


def _edit_keys(stored: StoredEvent, roots: Sequence[str]) -> list[str]:
    event = stored.event
    within = max((root for root in roots if event.target.startswith(f"{root}/")), key=len, default="")
    if event.action is Action.WRITE:
        return [normalize.write_key(event.target, event.text, within)]
    return normalize.edit_keys(event.target, event.text, within)
