"""Taking secrets out of what is stored already, by the rules of today.

What was captured before a rule existed is rewritten in place; what was distilled from it is distilled again.
"""

import gzip
from dataclasses import dataclass
from pathlib import Path

from backstory import clock
from backstory.atomic import write_atomic
from backstory.capture.privacy import Privacy
from backstory.capture.transcript_archive import kept_copies, kept_lines, redacted_line
from backstory.file_reader import LARGEST_HISTORY, read_bytes
from backstory.paths import Home
from backstory.settings import Settings
from backstory.store import Store, backup_copy
from backstory.store.job_queue import BRIEF, DISTIL, SUPERSEDE
from backstory.store.records import Reach
from backstory.upkeep import event_archive


@dataclass(frozen=True, slots=True)
class Scrubbed:
    """What had secrets in it, and which backups may still have them.

    `damaged` are archives, `damaged_copies` kept transcripts of which only a part could be read: the rest
    goes, for nobody knows what it holds.
    `unreadable`: events whose payloads are damaged.
    """

    reach: Reach
    files: tuple[Path, ...]
    backups: tuple[Path, ...]
    damaged: tuple[Path, ...] = ()
    damaged_copies: tuple[Path, ...] = ()
    unreadable: int = 0


def scrub_secrets(home: Home, store: Store, settings: Settings, really: bool) -> Scrubbed:
    """Rewrite what has secrets in it, or only tell what has; for who holds the worker's lock."""
    privacy = Privacy(settings)
    found: list[Reach] = []
    try:
        with store.transaction():
            reach = store.row_erasure.rewrite(privacy.text, privacy.body)
            found.append(reach)
            for sid, project_id in store.row_erasure.touched(reach).items():
                for kind, subject in (
                    (DISTIL, sid),
                    (BRIEF, sid),
                    (SUPERSEDE, project_id),
                    (BRIEF, project_id),
                ):
                    store.jobs.ask(kind, subject, clock.now_ms())
            if not really:
                raise _OnlyLooked
    except _OnlyLooked:
        pass
    damaged = tuple(event_archive.damaged_archives(home))
    damaged_copies: list[Path] = []
    files = tuple(_rewritten(home, store, privacy, really, damaged_copies))
    if really and found[0]:
        store.row_erasure.erase_traces()
    unreadable = len(store.row_erasure.unreadable)
    backups = tuple(backup_copy.all_backup_files(home))
    return Scrubbed(found[0], files, backups, damaged, tuple(damaged_copies), unreadable)


class _OnlyLooked(Exception):
    """Takes back what a dry run has written."""


def _rewritten(home: Home, store: Store, privacy: Privacy, really: bool, damaged: list[Path]) -> list[Path]:
    """Logs, prepared briefs, quarantined files and written-down pages that had a secret in them."""
    changed = []
    for folder in (home.logs, home.briefs, home.quarantine, home.knowledge):
        for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
            if not path.is_file() or path.is_symlink():
                continue
            data = read_bytes(path, LARGEST_HISTORY)
            clean = privacy.raw(data)
            if clean != data:
                changed.append(path)
                if really and path == home.call_literals:
                    path.unlink()  # without a literal a note would be lost; the worker makes it again
                elif really:
                    write_atomic(path, clean)
    copied = _copies(home, store, privacy, really, damaged)
    return [*changed, *copied, *_archives(home, store, privacy, really)]


def _copies(home: Home, store: Store, privacy: Privacy, really: bool, damaged: list[Path]) -> list[Path]:
    """Kept transcripts that had a secret in them; they are written anew in one piece, and go on after it.

    Of those that cannot be read in full, which are added to `damaged`, what can be read stays.
    """
    changed = []
    for path in kept_copies(home):
        before = list(kept_lines(path, damaged.append))
        after = [redacted_line(line, privacy) for line in before]
        if after != before:
            changed.append(path)
        if really and (after != before or path in damaged):
            data = gzip.compress(b"".join(after), 6)
            with store.transaction():
                store.transcript_marks.resize_copy(path.name.partition(".")[0], len(data))
                write_atomic(path, data)
    return changed


def _archives(home: Home, store: Store, privacy: Privacy, really: bool) -> list[Path]:
    """Archives that had a secret in them."""
    return [
        path
        for path in event_archive.list_archives(home)
        if event_archive.clean_archive(
            path, lambda line: redacted_line(line, privacy), store.row_export.head(), really
        )
    ]
