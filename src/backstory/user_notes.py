"""Remembering what a person says: durable at once, found at once, however busy the worker is.

A note goes into the spool first. Then it is stored, between two transactions of whoever else writes; the file
stays until a drain finds its receipt, so that a database that is being restored or mended loses nothing. When
somebody writes for longer than one wants to wait, the drain stores it; until then it is found beside the
store, in one of its own that lives in memory.
"""

import contextlib
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from backstory.capture.note_payload import KINDS, USER, Note, new_id, note_draft, spool_note, waiting_notes
from backstory.capture.privacy import Privacy
from backstory.capture.project_lookup import storable_name
from backstory.errors import StoreBusy, StoreUnusable, UsageError
from backstory.hook.project_identity import resolve_place, session_id
from backstory.model import Memory, MemoryKind, MemoryStatus, Project, Scope, Speaker, Tier
from backstory.paths import Home
from backstory.recall.prepare import section_of
from backstory.recall.rows import row
from backstory.search.answer import Answer
from backstory.store import Store, scratch_store
from backstory.store.disk_errors import find_obstacle
from backstory.store.job_queue import BRIEF
from backstory.store.memories import memory_id
from backstory.store.records import Arrival

LONGEST = 20_000
_WAIT_SECONDS = 0.5


def kind_named(name: str) -> MemoryKind:
    """The kind that somebody asks for by name."""
    if name not in KINDS:
        raise UsageError(f"nothing can be remembered as {name!r}: known are {', '.join(KINDS)}")
    return MemoryKind(name)


def save_note(
    home: Home, store: Store, privacy: Privacy, project: Project, folder: Path, text: str, kind: str, at: int,
    said_by: Speaker = Speaker.USER,
) -> Memory:  # fmt: skip
    """Keep what somebody says for a project; `kind` is one that was asked for, or ""."""
    from backstory.distil.spoken import kind_of  # distilling is most of what there is to import
    from backstory.supersession import write_supersessions

    if not text.strip():
        raise UsageError("there is nothing to remember: say it in one sentence")
    if len(text) > LONGEST:
        raise UsageError(f"that is too long to remember: say it in at most {LONGEST} characters")
    if why := find_obstacle(home.database):
        raise StoreUnusable(str(why))
    as_kind = kind_named(kind) if kind else kind_of(text)
    clean = privacy.text(text.strip())
    place = privacy.place(storable_name(str(folder)))
    session = _session(store, project)
    commit = resolve_place(str(folder)).commit
    note = Note(
        new_id(), session, clean, as_kind, at, storable_name(str(folder)), place, project, commit=commit,
        said_by=said_by,
    )  # fmt: skip
    if _told(note).id in store.tombstones.of_kind("memory"):
        note = replace(note, again=True)
    memory = _told(note)
    receipt = spool_note(home, note, row(section_of(as_kind), memory))
    try:
        with store.transaction(_WAIT_SECONDS):
            _store_note(store, note)
            store.spool_receipts.add([receipt])
            store.jobs.ask(BRIEF, project.id, at)
            if as_kind in (MemoryKind.DECISION, MemoryKind.FACT):
                write_supersessions(store, project.id)
    except StoreBusy:
        return memory  # it lies in the spool: whoever drains it stores it
    except StoreUnusable:
        (home.spool / receipt.name).unlink(missing_ok=True)
        raise
    return store.memories.memory(memory.id) or memory


def unsaved_notes(home: Home, store: Store) -> Store | None:
    """A store in memory with the notes that are not in the real one yet; None if there are none."""
    notes = [note for note in waiting_notes(home) if not _known(store, note)]
    if not notes:
        return None
    found = scratch_store()
    with found.transaction():
        for note in notes:
            _store_note(found, note, store)
    return found


def found_beside(
    home: Home, store: Store, answer: Answer, limit: int, ask: Callable[[Store], Answer]
) -> Answer:
    """An answer, and before it what the notes say that are not in the store yet."""
    waits = unsaved_notes(home, store)
    if waits is None:
        return answer
    with contextlib.closing(waits):
        more = ask(waits)
    if not more.hits:
        return answer
    hits = (*more.hits, *answer.hits)[:limit]
    return replace(answer, hits=hits, abstained=False, time_note=more.time_note)


def _known(store: Store, note: Note) -> bool:
    """Whether the store has a note's memory already, or must not have it."""
    mid = _told(note).id
    return store.memories.kept(mid) is not None or mid in store.tombstones.of_kind("memory")


def _store_note(store: Store, note: Note, known_by: Store | None = None) -> None:
    """Store a note and its memory, inside a transaction; `known_by` is the store that gives it its id."""
    event = note.event
    key = (known_by or store).events.key(event)
    added = store.events.add([Arrival(event, note.project, key)])[0]
    session = store.events.session(added.session_id)
    assert session is not None
    store.memories.add(session, note_draft(added.event_id, event), Tier.VERBATIM, USER)


def _told(note: Note) -> Memory:
    """The memory that a note becomes."""
    sid = session_id(USER, note.session)
    told = note_draft("", note.event)
    return Memory(
        memory_id(sid, note.kind, told.subject), note.project.id, note.project.name, sid, USER, note.kind,
        Tier.VERBATIM, MemoryStatus.CANDIDATE if told.auto else MemoryStatus.CONFIRMED, Scope.PROJECT,
        note.text, "", "", told.files, told.said_by, note.at, told.weight, pinned=False, turn=0, made_by=USER,
    )  # fmt: skip


def _session(store: Store, project: Project) -> str:
    """What the session of a project's notes is called; one that was forgotten is not taken up again."""
    name = f"user-{project.id}"
    buried: Iterable[str] = store.tombstones.of_kind("session")
    number = 1
    while session_id(USER, name) in buried:
        number += 1
        name = f"user-{project.id}-{number}"
    return name
