"""What can be mended without a risk: nothing is deleted but what a kill left behind, nothing is repaired.

Each remedy says what it did, or nothing if there was nothing to do. A damaged database is not touched: that
is what `backstory repair` and `restore` are for, and a person decides.
"""

import os
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from backstory.app import App
from backstory.capture import coverage_audit, hook_bundle, written_files
from backstory.capture.importer import ImportOptions
from backstory.doctor.check import Check, ok, warn
from backstory.errors import BackstoryError
from backstory.store.integrity import examine_database
from backstory.store.new_database import clear_leftovers

_ABANDONED_SECONDS = 3_600
# What a killed backup, restore, repair or atomic write leaves: never anything that is used.
_PARTS = ("backups/*.part", ".*.????????", "*/.*.????????")


def apply_fixes(app: App) -> Iterator[Check]:
    """Mend what can be mended; tells what was."""
    if not app.home.root.is_dir():
        return
    yield from _mended(app, _OF_FILES)  # first: without permissions nothing else can be looked at
    if os.access(app.home.database, os.R_OK):
        health = examine_database(app.home.database)
        if not (health.unreadable or health.damage or health.unwritable):
            yield from _mended(app, _OF_THE_DATABASE)


def _mended(app: App, remedies: "_Remedies") -> Iterator[Check]:
    for name, remedy in remedies:
        try:
            if done := remedy(app):
                yield ok(name, f"mended: {done}")
        except (OSError, BackstoryError) as error:
            yield warn(name, f"not mended: {error}", "fix what is named below first")


def _permissions(app: App) -> str:
    """All of the home is for its owner, and for nobody else."""
    if os.name != "posix":
        return ""
    changed = int(_own(app.home.root))
    for folder, folders, files in os.walk(app.home.root):  # a folder is opened before it is walked through
        changed += sum(_own(Path(folder, name)) for name in (*folders, *files))
    return f"{changed} files or folders are their owner's, and theirs alone, now" if changed else ""


def _own(path: Path) -> bool:
    """Give a path the permissions that it should have; whether that was needed."""
    mode = path.lstat().st_mode
    owners = 0o700 if stat.S_ISDIR(mode) else 0o600
    wanted = (stat.S_IMODE(mode) | owners) & ~0o077
    if stat.S_ISLNK(mode) or stat.S_IMODE(mode) == wanted:
        return False
    path.chmod(wanted)
    return True


def _hook_files(app: App) -> str:
    if not written_files.written_sites(app.home) or hook_bundle.hook_files_current(app.home.root):
        return ""
    hook_bundle.write_hook_files(app.home.root)
    app.publish_settings(app.settings)
    return f"{app.home.hook} was written again"


def _leftovers(app: App) -> str:
    limit = time.time() - _ABANDONED_SECONDS
    removed = clear_leftovers(app.home)
    for pattern in _PARTS:
        for path in app.home.root.glob(pattern):
            if path.is_file() and not path.is_symlink() and path.stat().st_mtime < limit:
                path.unlink()
                removed += 1
    return f"{removed} files of interrupted work were removed" if removed else ""


def _jobs(app: App) -> str:
    parked = app.parked()
    if not parked:
        return ""
    tried = {(job.kind, job.subject) for job in app.retry_jobs(parked, here=True)}
    failed = [job for job in app.jobs() if (job.kind, job.subject) in tried and job.attempts]
    return f"{len(tried)} failed jobs were tried again, {len(failed)} failed again"


def _index(app: App) -> str:
    if app.store.passages.is_consistent():
        return ""
    app.reindex()
    return "it was built again from the events"


def _gaps(app: App) -> str:
    brought = 0
    app.catch_up()
    for found in list(
        coverage_audit.audit_sessions(
            app.home, app.store, app.settings, written_files.written_sites(app.home)
        )
    ):
        if found.missing:
            wish = ImportOptions(session=found.session, again=True, min_messages=1, user="doctor")
            brought += app.import_history([found.agent], wish).events
    if brought:
        app.prove()
    return f"{brought} events that were not captured were imported" if brought else ""


_Remedies = tuple[tuple[str, Callable[[App], str]], ...]
_OF_FILES: _Remedies = (
    ("permissions", _permissions),
    ("hook script", _hook_files),
    ("leftovers", _leftovers),
)
_OF_THE_DATABASE: _Remedies = (("jobs", _jobs), ("text index", _index), ("proof", _gaps))
