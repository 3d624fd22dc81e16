"""A plan for an agent's files and our home, and carrying it out.

A plan holds the text of every file before and after, so that `--dry-run` shows exactly what would be written
and nothing is written that was not planned. Users' files are theirs: a file that changed meanwhile is left
alone, a link stays a link, the mode stays, and a copy goes to the backups before the file is replaced.
"""

import contextlib
import difflib
import hashlib
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from backstory import settings
from backstory.atomic import lock, write_atomic
from backstory.capture import written_files
from backstory.capture.confirmed_folders import confirmed_projects
from backstory.capture.hook_bundle import write_hook_files, write_hook_settings
from backstory.capture.ownership import require_own
from backstory.capture.written_files import Site
from backstory.errors import Failed
from backstory.paths import Home

_WORKER_SECONDS = 55  # as long as a worker heeds a wish


@dataclass(frozen=True, slots=True)
class Change:
    """One line for people.

    add, keep, update, remove (an entry); write, make, copy, delete (a file or folder); or warn.
    """

    path: Path
    action: str
    what: str


class Drafts:
    """What becomes of the agent's files, step by step. Texts as they are, None: there is no such file."""

    def __init__(self) -> None:
        self.before: dict[Path, str | None] = {}
        self.after: dict[Path, str | None] = {}
        self.changes: list[Change] = []

    def text(self, path: Path) -> str | None:
        """The file as it will be after the steps so far."""
        if path not in self.before:
            self.before[path] = self.after[path] = written_files.read_text(path)
        return self.after[path]

    def put(self, path: Path, text: str | None, changes: Iterable[Change]) -> None:
        """One step: the file's new text, and what that means in words."""
        self.after[path] = text
        self.changes += changes

    @property
    def edited(self) -> list[Path]:
        """The files that change."""
        return [path for path, text in self.after.items() if text != self.before[path]]


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be done for one agent.

    `sites` is what will be known of it afterwards; with the `last` agent goes all that is not the memory.
    """

    agent: str
    changes: tuple[Change, ...]
    before: Mapping[Path, str | None]
    after: Mapping[Path, str | None]
    sites: tuple[Site, ...] = ()
    last: bool = False

    @classmethod
    def of(
        cls,
        agent: str,
        drafts: Drafts,
        others: Iterable[Change],
        known: Iterable[Site],
        last: bool = False,
    ) -> "Plan":
        """The drafts, then what is done to other things."""
        changes = (*drafts.changes, *others)
        return cls(agent, changes, dict(drafts.before), dict(drafts.after), tuple(known), last)

    @property
    def edited(self) -> list[Path]:
        """The agent's files that it writes or deletes."""
        return [path for path, text in self.after.items() if text != self.before[path]]

    @property
    def is_current(self) -> bool:
        """Whether the files are still as they were when it was made."""
        return all(written_files.read_text(path) == text for path, text in self.before.items())

    def diff(self) -> str:
        """What would change in the agent's files, as a unified diff; empty if nothing."""
        return "".join(unified_diff(str(path), self.before[path], self.after[path]) for path in self.edited)


def unified_diff(path: str, before: str | None, after: str | None) -> str:
    """What changes in one text, as a unified diff; None: there is no such file."""
    old, new = (re.findall(r"[^\n]*\n|[^\n]+", text or "") for text in (before, after))
    was, becomes = ("/dev/null" if text is None else path for text in (before, after))
    lines = difflib.unified_diff(old, new, was, becomes)
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def carry_out(plan: Plan, home: Home) -> None:
    """Do it: the home's files before the settings that point to them, and the other way round to undo."""
    if not plan.is_current:
        changed = next(path for path, text in plan.before.items() if written_files.read_text(path) != text)
        raise Failed(f"{changed} has been changed meanwhile and stays as it is: run the command again")
    known = written_files.written_sites(home).get(plan.agent, ())
    made = {site.file: site.made for site in (*plan.sites, *known) if site.made}
    with _failures():
        if any(change.path == home.hook and change.action != "delete" for change in plan.changes):
            _write_hook(home)
        if any(site not in known for site in plan.sites):
            both = {(site.file, site.kind): site for site in (*known, *plan.sites)}
            written_files.record_sites(home, plan.agent, both.values())
        for path in plan.edited:
            _edit(path, plan.before[path], plan.after[path], made.get(path, ""), home)
        if home.root.is_dir():
            written_files.record_sites(home, plan.agent, plan.sites)
            if plan.last:
                deleted = [change.path for change in plan.changes if change.action == "delete"]
                _clear([path for path in deleted if path not in plan.after], home)


def make_home(home: Home) -> None:
    """Only what hooks run, for a plugin that finds it there; no agent's file is touched."""
    require_own(home)
    with _failures():
        _write_hook(home)


def _write_hook(home: Home) -> None:
    write_hook_files(home.root.absolute())
    loaded, _ = settings.load_settings(home)
    write_hook_settings(home.root, loaded.for_hook(confirmed_projects(home)))


@contextlib.contextmanager
def _failures() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        where = error.filename or "a file"
        raise Failed(
            f"{where} cannot be written ({error.strerror or error}): fix that and run it again"
        ) from None


def _edit(path: Path, before: str | None, after: str | None, made: str, home: Home) -> None:
    target = path.resolve()  # dotfile managers link settings: the file behind the link is written
    if before is not None and home.root.is_dir():  # a deleted home is not brought back
        _back_up(target, before, home)
    if after is None:
        target.unlink()
        with contextlib.suppress(OSError):  # not empty: somebody else's by now
            for folder in target.parents:
                if not made or not folder.is_relative_to(made):
                    break
                folder.rmdir()
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(target, after.encode(), 0o600 if target.suffix == ".json" else 0o644, keep=True)


def _back_up(file: Path, text: str, home: Home) -> None:
    place = hashlib.blake2b(os.fsencode(file.parent), digest_size=3).hexdigest()
    name = f"{file.name}.{place}.{datetime.now(UTC):%Y%m%dT%H%M%S.%fZ}"
    write_atomic(agent_backups(home) / name, text.encode())


def agent_backups(home: Home) -> Path:
    """Copies of agents' settings, made before each change."""
    return home.backups / "agents"


@contextlib.contextmanager
def _worker_gone(home: Home) -> Iterator[bool]:
    """Whether the worker's lock could be had; a worker that has much to do makes room for who wants it."""
    home.wanted.touch(mode=0o600)
    try:
        with lock(home.worker_lock, wait=_WORKER_SECONDS) as held:
            home.wanted.unlink(missing_ok=True)  # or the home is not empty
            yield held
    finally:
        home.wanted.unlink(missing_ok=True)


def _clear(paths: list[Path], home: Home) -> None:
    """Remove what is not the memory; a worker must not be at work on it, nor bring it back."""
    with _worker_gone(home) as held:
        if not held:
            raise Failed(
                f"no agent uses {home.root} any more, but a worker is still busy in it: run the command again"
            )
        # The spool goes only if it is empty, see below: a hook may have left something just now.
        for path in {*paths, agent_backups(home)} - {home.spool, home.worker_lock}:
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
    home.worker_lock.unlink(missing_ok=True)
    for flags in (home.briefs / "at", home.joined):  # for hooks that are gone
        shutil.rmtree(flags, ignore_errors=True)
    inside = (home.quarantine, home.spool, home.briefs / "sessions", home.briefs, home.backups, home.root)
    for folder in inside:
        with contextlib.suppress(OSError):
            folder.rmdir()
