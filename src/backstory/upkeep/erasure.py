"""Plans and carries out forgetting, in the database and in every file that has the words.

A memory that is named takes the events along that it rests on; an event takes the memories along that were
made of it. A memory that only has the words in it, such as a session's summary, goes without its events: what
is left of its session is distilled again.
"""

import gzip
import re
import shutil
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from backstory import clock
from backstory.atomic import write_atomic
from backstory.capture.transcript_archive import copy_of, kept_copies, kept_lines
from backstory.errors import Failed, UsageError
from backstory.failpoints import step
from backstory.file_reader import LARGEST_HISTORY, read_bytes
from backstory.front_matter import split_front_matter
from backstory.hook import spool
from backstory.knowledge.page_erasure import Unwanted, erase_pages, exported_with, others_with, pages_with
from backstory.knowledge.vault import vault_of
from backstory.knowledge.vault_export import export_vault, exported_to
from backstory.model import Project
from backstory.paths import Home
from backstory.recall import notes, prepare, ready_answers
from backstory.recall.prepare import FORGOT
from backstory.store import Store, backup_copy
from backstory.store.job_queue import ANSWERS, BRIEF, DISTIL, SUPERSEDE
from backstory.store.new_database import UNFINISHED, clear_leftovers, leftover_files
from backstory.store.records import Reach
from backstory.upkeep import event_archive
from backstory.upkeep.injected_copies import InjectedCopies, copies_with
from backstory.upkeep.normal_form import contains_words, finds_pattern, folded_text

# Files here are copies of words that the database has too: whichever has the words goes as a whole.
_TOLD = ("spool", "logs", "briefs", "trouble.json")
# Seen to by itself: rows, pages, transcripts that lose lines, copies that are named; and code without words.
_APART = ("knowledge", "transcripts", "archive", "backups", "hook")
_MEMORY_ID = re.compile(r"\bm[0-9a-f]{14}\b")
_SHORTEST = 3


@dataclass(frozen=True, slots=True)
class ErasureRequest:
    """What is to be forgotten: any of these, together."""

    ids: tuple[str, ...] = ()
    project_id: str | None = None
    text: str = ""
    pattern: str = ""
    since: int | None = None
    until: int | None = None


@dataclass(frozen=True, slots=True)
class ErasurePlan:
    """What forgetting touches: `copies` are transcripts that lose lines, `answers` sessions whose models'
    answers have the words.

    What still has it: `backups`, `needed` (settings), the agents' own files, and the `projects` called so.
    """

    named: Reach
    reach: Reach
    sessions: dict[str, str]
    files: tuple[Path, ...]
    copies: tuple[Path, ...]
    archives: tuple[Path, ...]
    backups: tuple[Path, ...]
    needed: tuple[Path, ...]
    out_of_reach: tuple[str, ...]
    pages: tuple[Path, ...]
    projects: tuple[str, ...]
    unwanted: Unwanted
    echo: InjectedCopies
    unreadable: int = 0  # events whose payloads are damaged: nobody can tell whether they have the words
    damaged: tuple[Path, ...] = ()  # archives of which only a part can be read
    damaged_copies: tuple[Path, ...] = ()  # kept transcripts of which only a part can be read
    answers: frozenset[str] = frozenset()
    exported: tuple[Path, ...] = ()  # pages that we copied into repositories
    exports: tuple[tuple[Project, str], ...] = ()  # the projects whose copies those are, with their folders

    def __bool__(self) -> bool:
        return bool(self.reach or self.sessions or self.files or self.pages or self.exported)

    def told_files(self, home: Home) -> tuple[list[Path], int]:
        """The files that go, one by one; and how many of those that were prepared for hooks."""
        files = [path for path in self.files if home.briefs not in path.parents]
        return files, len(self.files) - len(files)


# Pages that list others; what a person added stands outside our blocks and headings.
_LOG = "log.md"
_OVERVIEWS = (_LOG, "index.md", "highlights.md", "daily/*.md", "weekly/*.md", "facts/index.md")
_OPENS, _CLOSES = "<!-- backstory", "<!-- /backstory -->"
_OUR_LINES = ("#", "What happened in ")


class PlanChanged(Failed):
    """What would be forgotten is no longer what was agreed to."""


def plan_erasure(
    home: Home, store: Store, wanted: ErasureRequest, exports: Sequence[str] = ()
) -> ErasurePlan:
    """Everything that forgetting would touch; changes nothing. `exports` is the setting of that name."""
    matches = _matcher(wanted)
    old, of_sessions = event_archive.find_in_archives(home, _archived(store, wanted, matches))
    told = store.row_erasure.holding(matches) if matches else Reach()
    now = store.row_erasure.with_sources(_named(store, wanted, matches, told))
    named = Reach(now.events | old.events, now.memories, now.sessions)
    reach = store.row_erasure.with_lineage(named)
    meant = old.memories if _limited(wanted) else old.memories | told.memories
    alone = meant - reach.memories  # no event of theirs goes: they need tombstones of their own
    named = Reach(named.events, named.memories | alone, named.sessions)
    reach = Reach(reach.events, reach.memories | alone, reach.sessions)
    touched = store.row_erasure.touched(Reach(reach.events, reach.memories, reach.sessions | of_sessions))
    echo = InjectedCopies([*reach.events, *reach.memories, *reach.sessions], store.row_erasure.said_by(reach))
    repeated = _repeated(store, echo)
    echo.came_by(store.row_erasure.calls(repeated))
    reach = Reach(reach.events | repeated, reach.memories, reach.sessions)
    # what a model has made of a memory may repeat it, in whichever session
    answers = store.row_erasure.sessions_with_answer(
        lambda body: not reach.memories.isdisjoint(_MEMORY_ID.findall(body))
    )
    touched |= answers
    if matches and not _limited(wanted):
        touched |= store.row_erasure.sessions_with_title(matches)
        answers |= store.row_erasure.sessions_with_answer(matches)
        touched |= answers
        touched |= store.row_erasure.touched(Reach(sessions=frozenset(_kept_with(home, matches))))
    natives = [s.native_id for sid in reach.sessions if (s := store.events.session(sid)) is not None]
    in_file = matches or (contains_words(natives) if natives else None)
    where = (
        _mine(home, store, {*touched.values(), wanted.project_id}) if matches and _limited(wanted) else None
    )
    told_in = list(_files(home, in_file, where)) if in_file else []
    made = [file for file in _made_of(home, touched) if file.exists()]
    unfinished = leftover_files(home) if reach or told_in else []  # nobody can tell what they hold
    files = tuple(dict.fromkeys([*told_in, *made, *unfinished]))
    needed = tuple(_needed(home, in_file)) if in_file else ()
    outside = tuple(path for path in store.row_erasure.transcripts(touched) if Path(path).exists())
    archives = tuple(event_archive.archives_with(home, reach))
    unwanted = Unwanted(
        reach.memories | reach.sessions,
        None if _limited(wanted) else matches,
        echo.says,
        {sid: store.row_erasure.title_without(sid, reach.events) for sid in touched},
    )
    others = others_with(home, unwanted, lambda path: in_file is not None and _has(path, in_file))
    pages = pages_with(home, unwanted)
    exported, changed, rewritten = _exported(home, store, exports, pages, unwanted)
    damaged_copies: list[Path] = []
    return ErasurePlan(
        named=named,
        reach=reach,
        sessions=touched,
        files=files,
        copies=tuple(copies_with(home, echo, touched, damaged_copies.append)),
        archives=archives,
        backups=tuple(backup_copy.all_backup_files(home)),
        needed=tuple(
            path for path in (*needed, *others, *changed) if path.exists()
        ),  # not what was being written
        out_of_reach=outside,
        pages=tuple(pages),
        projects=tuple(store.row_erasure.projects_like(matches)) if matches and not _limited(wanted) else (),
        unwanted=unwanted,
        echo=echo,
        unreadable=len(store.row_erasure.unreadable - reach.events),
        damaged=tuple(event_archive.damaged_archives(home)),
        damaged_copies=tuple(damaged_copies),
        answers=frozenset(answers),
        exported=exported,
        exports=rewritten,
    )


def _exported(
    home: Home, store: Store, exports: Sequence[str], pages: list[Path], unwanted: Unwanted
) -> tuple[tuple[Path, ...], tuple[Path, ...], tuple[tuple[Project, str], ...]]:
    """Our pages in repositories that tell of it, what others made of some, and what is to be copied anew."""
    ours: list[Path] = []
    changed: list[Path] = []
    again: list[tuple[Project, str]] = []
    for project in store.projects.all() if exports else ():
        if (place := exported_to(project, exports)) is None:
            continue
        mine, others = exported_with(vault_of(home, project), place[0], pages, unwanted)
        ours += mine
        changed += others
        again += [(project, place[1])] if mine else []
    return tuple(ours), tuple(changed), tuple(again)


def hold_to(store: Store, agreed: ErasurePlan, now: ErasurePlan) -> None:
    """Raise `PlanChanged` if more would go than was agreed to, by ids.

    What was only recalled since tells of the plan itself. Pages, files and archives follow from the ids, and
    the worker writes them at any time.
    """
    more = now.reach.events - agreed.reach.events
    if (
        not more <= store.row_erasure.recalled(more)
        or now.reach.memories - agreed.reach.memories
        or now.reach.sessions - agreed.reach.sessions
    ):
        raise PlanChanged("what would be forgotten has changed since it was told")


def carry_out(
    home: Home, store: Store, what: ErasurePlan, by_agent: bool = False, with_team: bool = False
) -> ErasurePlan:
    """Forget it, all but its traces in the file; for who holds the worker's lock. Gives what became of it.

    `with_team`: what of it was shared is to be forgotten there, too; asked for in the same transaction.
    """
    now = clock.now_ms()
    touched = [store.projects.get(project_id) for project_id in sorted(set(what.sessions.values()))]
    folders = {project: store.projects.places_of(project.id) for project in filter(None, touched)}
    _drop_prepared(home, what)  # first: killed in between, no brief may tell it any more
    prepare.forgotten_file(home, store, what.reach.sessions)
    for file in what.files:
        file.unlink(missing_ok=True)
    clear_leftovers(home)
    if what.pages:
        erase_pages(home, what.unwanted)
    for project, folder in what.exports:
        vault = vault_of(home, project)
        with vault.held():
            export_vault(vault, Path(project.root), folder)
    for old in {*what.archives, *what.damaged}:
        event_archive.drop_from_archive(old, what.reach, store.row_export.head())
    for copy in {*what.copies, *what.damaged_copies}:
        _cut(store, copy, what.echo)
    with store.transaction():
        if with_team:
            store.feeds.bury(what.reach.memories)
        store.row_erasure.remove(what.reach, what.named, now)
        if by_agent:
            _count(store, what.reach, now)
        store.row_erasure.drop_answers(what.answers)
        store.transcript_marks.drop_copies(what.sessions)
        for sid, project_id in what.sessions.items():
            if sid not in what.reach.sessions:
                store.row_erasure.retitle(sid)
                store.jobs.ask(DISTIL, sid, now)
                store.jobs.ask(BRIEF, sid, now)
            if store.projects.get(project_id) is not None:
                store.jobs.ask(SUPERSEDE, project_id, now)
                store.jobs.ask(BRIEF, project_id, now)
        for file in what.files:
            subject = _prepared_for(home, file)
            if store.projects.get(subject) is not None or store.events.session(subject) is not None:
                store.jobs.ask(ANSWERS if file.parent == home.ready else BRIEF, subject, now)
    step("forget.removed")
    for project, places in folders.items():
        if store.projects.get(project.id) is None:
            _clear_project(home, project, places)
    known = {project.name for project in store.projects.all()}
    return replace(what, projects=tuple(name for name in what.projects if name in known))


def _clear_project(home: Home, project: Project, places: Sequence[str]) -> None:
    """Remove the folders of a project that is gone: their names tell of it, too. Pages of people stay."""
    notes.take_down_flags(home, [project.root, *places])
    vault = vault_of(home, project)
    if vault.root.is_dir():
        with vault.held():
            shutil.rmtree(vault.own)
            for page in (found for name in _OVERVIEWS for found in vault.root.glob(name)):
                text = read_bytes(page).decode("utf-8", "replace")
                if page.name == _LOG or not _added(text):
                    page.unlink()
        for folder in sorted((path for path in vault.root.rglob("*") if path.is_dir()), reverse=True):
            _remove_if_empty(folder)
        _remove_if_empty(vault.root)


def _added(text: str) -> bool:
    """Whether somebody wrote into an overview outside our blocks and headings."""
    ours = False
    for line in split_front_matter(text)[1].split("\n"):
        ours = ours or line.startswith(_OPENS)
        if line.strip() and not ours and not line.startswith(_OUR_LINES):
            return True
        ours = ours and _CLOSES not in line
    return False


def _remove_if_empty(folder: Path) -> None:
    if not any(folder.iterdir()):
        folder.rmdir()


def _count(store: Store, reach: Reach, now: int) -> None:
    """Leave how much an agent forgot, and on which day; nothing of what it was."""
    sums = {"session": reach.sessions, "event": reach.events, "memory": reach.memories}
    store.counters.add(clock.day_of(now), {("", FORGOT, what): len(ids) for what, ids in sums.items() if ids})


def _drop_prepared(home: Home, what: ErasurePlan) -> None:
    """Prepared briefs are made again from what is left, in a moment; until then there are none."""
    if what.sessions:
        ready_answers.drop_all(home)  # the folders, too: their names tell where it was
    home.call_literals.unlink(missing_ok=True)  # single words of what goes, whatever it was found by
    for file in _made_of(home, what.sessions):
        file.unlink(missing_ok=True)


def _repeated(store: Store, echo: InjectedCopies) -> frozenset[str]:
    """Events in which we told of it; of what somebody did only what was done to it."""
    own = store.row_erasure.own_words()
    return frozenset(eid for eid, act, text in own if (echo.names(text) if act else echo.repeats(text)))


def _cut(store: Store, copy: Path, echo: InjectedCopies) -> None:
    """Write a kept transcript anew without the lines in which we told of it."""
    data = gzip.compress(b"".join(line for line in kept_lines(copy) if not echo.within(line)), 6)
    with store.transaction():
        store.transcript_marks.resize_copy(copy.name.partition(".")[0], len(data))
        write_atomic(copy, data)


def _made_of(home: Home, sessions: Mapping[str, str]) -> Iterator[Path]:
    """Where copies of sessions lie, and what was prepared of them and of their projects."""
    for sid, project_id in sessions.items():
        yield copy_of(home, sid)
        yield home.briefs / "sessions" / f"{sid}.json"
        yield home.briefs / f"{project_id}.json"
        yield home.notes / f"{project_id}.json"
    if sessions:  # a brief that waits for a prompt, or for a start, was made from those
        for folder in (home.briefs / "held", home.ready):
            yield from (file for file in sorted(folder.rglob("*")) if file.is_file())


def _prepared_for(home: Home, file: Path) -> str:
    """The project or session that a file was prepared for, or ""."""
    if file.parent == home.ready:
        return file.name.partition(".")[0]
    return file.stem if file.parent in (home.briefs, home.notes, home.briefs / "sessions") else ""


def _mine(home: Home, store: Store, projects: set[str | None]) -> Callable[[Path], bool]:
    """Whether words in a file may be those of these projects, where others' are to stay.

    What was prepared has its project. What waits in the spool came after it was taken in to be looked at, and
    may be anybody's. Logs and what nobody can read have no project: in doubt the words go.
    """

    def mine(file: Path) -> bool:
        subject = _prepared_for(home, file)
        session = store.events.session(subject) if subject.startswith("s") else None
        if subject:
            return (session.project_id if session else subject) in projects
        return file.parent != home.spool and not {home.briefs / "held", home.ready} & set(file.parents)

    return mine


def _limited(wanted: ErasureRequest) -> bool:
    """Whether words are meant in one project or at one time only."""
    return wanted.project_id is not None or wanted.since is not None or wanted.until is not None


def _named(store: Store, wanted: ErasureRequest, matches: Callable[[str], bool] | None, told: Reach) -> Reach:
    events: set[str] = set()
    memories: set[str] = set()
    sessions: set[str] = set()
    for full in wanted.ids:
        {"e": events, "m": memories, "s": sessions}[full[0]].add(full)
    ranged = wanted.since is not None or wanted.until is not None
    if matches is None and wanted.project_id is not None and not ranged:
        sessions |= store.row_erasure.of_project(wanted.project_id)
    elif _limited(wanted):
        span = store.row_erasure.between(wanted.since or 0, wanted.until or 2**62, wanted.project_id)
        events |= span if matches is None else span & told.events
    elif matches is not None:
        events |= told.events
        sessions |= set(store.row_erasure.sessions_like(matches))
    return Reach(frozenset(events), frozenset(memories), frozenset(sessions))


def _archived(
    store: Store, wanted: ErasureRequest, matches: Callable[[str], bool] | None
) -> Callable[[event_archive.Row], bool]:
    """Whether a row of an archive is meant: by the same rules as one of the database."""
    ranged = wanted.since is not None or wanted.until is not None
    of_project = None if wanted.project_id is None else store.row_erasure.of_project(wanted.project_id)

    def meant(row: event_archive.Row) -> bool:
        if matches is None and not ranged:
            return False  # by id, session or project: lineage finds it
        inside = (wanted.since or 0) <= row["at"] < (wanted.until or 2**62)
        here = of_project is None or row["session_id"] in of_project
        words = matches is None or any(matches(text) for text in event_archive.row_texts(row))
        return words and here and inside

    return meant


def _matcher(wanted: ErasureRequest) -> Callable[[str], bool] | None:
    if wanted.pattern:
        try:
            return finds_pattern(re.compile(wanted.pattern))
        except re.error as error:
            raise UsageError(f"the pattern {wanted.pattern!r} is no regular expression: {error}") from None
    if wanted.text:
        if len(folded_text(wanted.text)) < _SHORTEST:
            raise UsageError(f"{wanted.text!r} is too short: it would match nearly everything")
        return contains_words([wanted.text])
    return None


def _files(
    home: Home, matches: Callable[[str], bool], where: Callable[[Path], bool] | None
) -> Iterator[Path]:
    """Files of the home that have the words, and go."""
    for top in (home.root / name for name in _TOLD):
        for path in (top, *sorted(top.rglob("*"))):
            if not path.is_file() or path.is_symlink() or path == home.forgotten:
                continue  # the latter has ids only, and without it forgotten sessions would be told
            if where is not None and not where(path):
                continue
            if _has(path, matches):
                yield path


def _needed(home: Home, matches: Callable[[str], bool]) -> list[Path]:
    """What else in the home has the words, and stays: settings, state, exports that somebody left here.

    No word is worth the settings: without them nobody knows which agents are connected.
    """
    of_rows = home.database.name
    tops = [
        path
        for path in sorted(home.root.iterdir())
        if path.name not in (*_TOLD, *_APART) and not path.name.startswith((of_rows, UNFINISHED))
    ]
    every = (path for top in tops for path in (top, *sorted(top.rglob("*"))))
    return [path for path in every if path.is_file() and not path.is_symlink() and _has(path, matches)]


def _has(path: Path, matches: Callable[[str], bool]) -> bool:
    try:
        data = read_bytes(path, LARGEST_HISTORY)
        data = gzip.decompress(data) if path.suffix == ".gz" else data
    except (OSError, EOFError, zlib.error):
        return False
    return matches(data.rstrip(spool.TRAILER).decode("utf-8", "replace"))


def _kept_with(home: Home, matches: Callable[[str], bool]) -> Iterator[str]:
    """Sessions whose kept transcript has the words, also where no event was made of them."""
    for path in kept_copies(home):
        if any(matches(line.decode("utf-8", "replace")) for line in kept_lines(path)):
            yield path.name.partition(".")[0]
