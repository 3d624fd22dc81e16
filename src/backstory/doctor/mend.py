"""What can be mended without a risk: nothing is deleted but what a kill left behind, nothing is repaired.

Each remedy says what it did, or nothing if there was nothing to do. A damaged database is not touched: that
is what `backstory repair` and `restore` are for, and a person decides.
"""

import os
import stat
import time
from collections.abc import Callable, Iterator

from backstory.app import App
from backstory.capture import hookfiles, proof, sites
from backstory.capture.importing import Wish
from backstory.doctor.check import Check, ok, warn
from backstory.errors import BackstoryError
from backstory.store.health import examine

_ABANDONED_SECONDS = 3_600
# What a killed backup, restore, repair or atomic write leaves: never anything that is used.
_PARTS = ("backups/*.part", "restoring.db", "repairing.db", ".*.????????", "*/.*.????????")


def mend(app: App) -> Iterator[Check]:
    """Mend what can be mended; tells what was."""
    if not app.home.root.is_dir():
        return
    remedies = _OF_FILES
    if app.home.database.exists():
        health = examine(app.home.database)
        remedies += () if health.unreadable or health.damage else _OF_THE_DATABASE
    for name, remedy in remedies:
        try:
            if done := remedy(app):
                yield ok(name, f"mended: {done}")
        except (OSError, BackstoryError) as error:
            yield warn(name, f"not mended: {error}", "mend what is named below first")


def _permissions(app: App) -> str:
    if os.name != "posix":
        return ""
    changed = 0
    for path in (app.home.root, *app.home.root.rglob("*")):
        mode = path.lstat().st_mode
        if not stat.S_ISLNK(mode) and mode & 0o077:
            path.chmod(stat.S_IMODE(mode) & ~0o077)
            changed += 1
    return f"{changed} files or folders are their owner's alone now" if changed else ""


def _hook_files(app: App) -> str:
    if not sites.known(app.home) or hookfiles.hook_files_current(app.home.root):
        return ""
    hookfiles.write_hook_files(app.home.root)
    app.publish_settings(app.settings)
    return f"{app.home.hook} was written anew"


def _leftovers(app: App) -> str:
    limit = time.time() - _ABANDONED_SECONDS
    removed = 0
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
    return f"{len(parked)} parked jobs were tried again, {app.try_again(parked)} failed again"


def _index(app: App) -> str:
    if app.store.passages.sound():
        return ""
    app.reindex()
    return "it was built again from the events"


def _gaps(app: App) -> str:
    brought = 0
    app.catch_up()
    for found in list(proof.compare(app.home, app.store, app.settings, sites.known(app.home))):
        if found.missing:
            wish = Wish(session=found.session, again=True, min_messages=1, user="doctor")
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
