"""Documentation made searchable: Markdown, text and reStructuredText, never source code.

A document's sections are events of their own kind, in one session per project that no agent had. They are
found by search and labelled as what they are; nothing is distilled from them, so that nobody's words are
taken for the user's. A file that changed replaces what was imported of it before.
"""

import logging
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from fnmatch import fnmatch
from hashlib import blake2s
from pathlib import Path

from backstory import clock
from backstory.capture.importer import ImportLine, ImportTally, Tag
from backstory.capture.privacy import IGNORED, Privacy
from backstory.errors import SourceMissing, UsageError
from backstory.file_reader import mtime_ns, read_bytes, regular_file
from backstory.hook.project_identity import session_id
from backstory.model import Action, Event, Kind, Project, StoredEvent, Where
from backstory.store import Store
from backstory.store.records import REPLACED, Arrival, Mark

log = logging.getLogger(__name__)
AGENT = "docs"
SUFFIXES = (".md", ".markdown", ".txt", ".rst")
_NO_PROSE = ("requirements*.txt", "constraints*.txt", "CMakeLists.txt", "robots.txt", "*.min.*")
_PASSED_OVER = frozenset(
    ("node_modules", "venv", "env", "site-packages", "__pycache__", "vendor", "dist", "build", "target")
)
_LARGEST = 1_000_000
_SECTION = 4_000
_HEADING = re.compile(r"^(?=#{1,3} \S)|^(?=[^\s][^\n]*\n(?:={3,}|-{3,}|~{3,})\s*$)", re.MULTILINE)


class Documents:
    """Imports the documents of one folder into a project."""

    def __init__(
        self,
        store: Store | None,
        privacy: Privacy,
        folder: Path,
        project: Project,
        user: str,
        again: bool = False,
    ) -> None:
        self.tally = ImportTally()
        self._store = store
        self._privacy = privacy
        self._folder = folder
        self._shown = privacy.place(str(folder))
        self._project = project
        self._user = user
        self._again = again
        self._session = f"{AGENT}-{project.id}"

    def bring(
        self, dry: bool, said: Callable[[ImportLine], None], progress: Callable[[int, int], None]
    ) -> ImportTally:
        """Import what is new or has changed; tells of each file."""
        found = list(document_files(self._folder))
        marks = self._store.transcript_marks.all() if self._store and not self._again else {}
        before = self._known()
        for number, (path, stat) in enumerate(found, 1):
            key = f"{AGENT}:{self._project.id}:{self._privacy.place(str(path))}"
            mark = Mark("", 0, stat.st_size, mtime_ns(stat))
            known = marks.get(key)
            try:
                line = self._one(path, known, mark, before.pop(self._name(path), []), key, dry)
            except OSError as error:
                line = ImportLine(Tag.SKIP, AGENT, self._name(path), path, why=str(error), failed=True)
            self.tally.add(line)
            said(line)
            progress(number, len(found))
        if self._store and not dry:
            self._forget([old.id for gone in before.values() for old in gone])
        return self.tally

    def _name(self, path: Path) -> str:
        folder = self._folder if self._folder.is_dir() else self._folder.parent
        return self._privacy.place(path.relative_to(folder).as_posix())

    def _known(self) -> dict[str, list[StoredEvent]]:
        """What is stored of this folder's documents, by their names."""
        if self._store is None:
            return {}
        stored = self._store.events.of_session(session_id(AGENT, self._session))
        buried = self._store.tombstones.among(each.id for each in stored)
        known: dict[str, list[StoredEvent]] = {}
        for each in stored:
            if each.id not in buried and each.event.where.cwd == self._shown:
                known.setdefault(each.event.target, []).append(each)
        return known

    def _one(
        self, path: Path, known: Mark | None, mark: Mark, before: list[StoredEvent], key: str, dry: bool
    ) -> ImportLine:
        name = self._name(path)
        line = ImportLine(Tag.SKIP, AGENT, name, path, why="unchanged")
        if known is not None and (known.size, known.stamp) == (mark.size, mark.stamp):
            return line
        content = read_bytes(path, _LARGEST, follow=path == self._folder)
        events = [] if b"\0" in content else list(self._events(content, name, mark.stamp))
        if not events:
            if self._store and not dry:
                self._forget([old.id for old in before])
            return replace(line, why="binary" if b"\0" in content else "nothing to read in it")
        if self._privacy.hidden(events[0]).text == IGNORED:
            return replace(line, why="privacy.ignore_paths")
        texts = [self._privacy.text(event.text) for event in events]
        if sorted(texts) == sorted(old.event.text for old in before):
            return line
        done = replace(line, tag=Tag.GROWN if before else Tag.NEW, events=len(events), why="")
        if self._store is None or dry:
            return done
        arrivals = [
            Arrival(replace(event, text=text), self._project, self._store.events.key(event))
            for event, text in zip(_recognised(events, texts, before), texts, strict=True)
        ]
        with self._store.transaction():
            added = self._store.events.add(arrivals)
            if self._store.tombstones.remove({result.event_id for result in added}, REPLACED):
                added = self._store.events.add(arrivals)
            sid = added[0].session_id
            self._store.events.note_import(sid, self._user, running_since=clock.now_ms() + 1)
            said = {result.event_id for result in added}
            gone = [old.id for old in before if old.id not in said]
            self._bury(gone)
            self._store.transcript_marks.set(key, mark._replace(session_id=sid), clock.now_ms())
        return done if gone or any(result.new for result in added) else line

    def _events(self, content: bytes, name: str, stamp: int) -> Iterator[Event]:
        text = content.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
        text = self._privacy.text(text)  # before it is cut: half of a private key is recognised by nobody
        for number, section in enumerate(document_sections(text)):
            yield Event(
                AGENT,
                self._session,
                Kind.DOCUMENT,
                stamp // 1_000_000,
                section,
                Action.READ,
                target=name,
                native_id=f"{self._shown}/{name}@{stamp}#{number}",
                where=Where(self._shown),
                origin="document",
            )

    def _forget(self, ids: list[str]) -> None:
        if ids and self._store:
            with self._store.transaction():
                self._bury(ids)

    def _bury(self, ids: Iterator[str] | list[str]) -> None:
        """What a document no longer says is found no more."""
        assert self._store is not None
        self._store.tombstones.add("event", ids, REPLACED, clock.now_ms())


def document_files(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """The documents of a folder and below, or the one that is named; hidden folders are left alone.

    No link is followed below the folder that was named: one may lead to any file of the user, and a document
    of this folder has a name of its own here.
    """
    if regular_file(folder) is not None:
        yield folder, _named(folder)
        return
    if not folder.is_dir():
        raise SourceMissing(f"{folder} does not exist: name a folder with documents, or a document")
    root = os.path.realpath(folder)
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(n for n in folders if not n.startswith(".") and n not in _PASSED_OVER)
        for name in sorted(names):
            if _is_document(name):
                path = Path(place, name)
                stat = regular_file(path)
                if stat is not None and 0 < stat.st_size <= _LARGEST and _lies_in(path, folder, root):
                    yield path, stat


def _lies_in(path: Path, folder: Path, root: str) -> bool:
    """Whether a file is where its name says, below the folder whose real path is `root`."""
    return Path(os.path.realpath(path)) == Path(root, path.relative_to(folder))


def _recognised(events: list[Event], texts: list[str], before: list[StoredEvent]) -> Iterator[Event]:
    """Each section under the id that it has; one with other words at the same stamp gets one of its own."""
    now = [old.event for old in before if old.event.at == events[0].at]
    named = {old.text: old.native_id for old in now}
    taken = {old.native_id for old in now}
    for event, text in zip(events, texts, strict=True):
        if text in named:
            yield replace(event, native_id=named.pop(text))
        elif event.native_id in taken:
            yield replace(event, native_id=f"{event.native_id}:{blake2s(text.encode()).hexdigest()}")
        else:
            yield event


def _is_document(name: str) -> bool:
    return name.lower().endswith(SUFFIXES) and not any(fnmatch(name, glob) for glob in _NO_PROSE)


def _named(file: Path) -> os.stat_result:
    """What is known of a file that was named itself; only documents are let in."""
    stat = file.stat()
    if not _is_document(file.name):
        raise UsageError(f"{file} is no document: name Markdown, text or reStructuredText, or a folder")
    if stat.st_size > _LARGEST:
        raise UsageError(f"{file} is too large: documents of up to {_LARGEST:,} bytes are imported")
    return stat


def document_sections(text: str) -> Iterator[str]:
    """The text at its headings; what is still too long is cut between paragraphs, or anywhere if it must."""
    for part in _HEADING.split(text):
        rest = part.strip()
        while len(rest) > _SECTION:
            cut = rest.rfind("\n\n", _SECTION // 2, _SECTION)
            cut = cut if cut > 0 else rest.rfind("\n", _SECTION // 2, _SECTION)
            cut = cut if cut > 0 else _SECTION
            yield rest[:cut].strip()
            rest = rest[cut:].strip()
        if rest:
            yield rest
