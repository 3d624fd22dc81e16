"""Copies of the database, and going back to one.

Going back never loses what is there now (it is copied first), and never brings back what was forgotten since:
all tombstones that can still be read, of the database in use and of any backup, are carried into the one that
replaces it. Nor secrets: what is brought back is cleaned by the rules of today before it is put in place.
"""

import contextlib
import shutil
from dataclasses import dataclass, field, replace
from pathlib import Path

from backstory.capture.privacy import Privacy
from backstory.errors import Failed, SourceMissing, StoreUnusable, UsageError
from backstory.paths import Home
from backstory.store import Store, backup_copy, key_escrow, schema
from backstory.store.backup_copy import Contents, Held
from backstory.store.disk_errors import find_obstacle
from backstory.store.new_database import drop_unreadable_payloads, new_database, put_in_place
from backstory.store.records import Reach
from backstory.store.row_erasure import carry_tombstones, clean_file, expected_counts

LATEST = "latest"


@dataclass(frozen=True, slots=True)
class Restored:
    """Which copy the database was replaced by, what it replaced, where that is kept, and what is there now.

    `cleaned` is what had secrets in the copy, and has none any more; `unreadable` how many of its payloads
    were damaged and are left out.
    """

    backup: Contents
    before: Contents | None
    kept: Path | None = None
    now: Contents | None = None
    cleaned: Reach = field(default_factory=Reach)
    unreadable: int = 0


def list_backups(home: Home) -> list[Contents]:
    """All backups with what they hold, newest first."""
    return [backup_copy.copy_contents(path, whole=False) for path in reversed(backup_copy.list_copies(home))]


def make_backup(home: Home, store: Store) -> Contents:
    """Copy the database, while it is in use, into the backups; the copy is checked."""
    made = backup_copy.copy_contents(store.copy_to_backups(home, backup_copy.BY_HAND))
    if made.damage:
        raise Failed(f"the copy {made.path} is damaged ({made.damage}): run `backstory doctor`")
    return made


def find_backup(home: Home, name: str) -> Contents:
    """The backup that a name, its beginning, a path or "latest" stands for; checked page by page."""
    path = Path(name)
    if not (path.is_absolute() and path.is_file()):
        path = _found(home, name)
    with backup_copy.settled(home, path) as still:
        contents = replace(backup_copy.copy_contents(still), path=path)
        strange = backup_copy.foreign_object(still)
    if contents.damage:
        raise Failed(f"the backup {path} is damaged ({contents.damage}): name another one")
    if strange:
        raise Failed(f"the backup {path} has {strange}, which Backstory does not make: name another one")
    schema.refuse_newer(contents.schema, f"the backup {path}")
    return contents


def _found(home: Home, name: str) -> Path:
    """The backup of this name; the latest is one that we made, as long as there is any."""
    every = backup_copy.list_copies(home)
    if name == LATEST:
        found = [path for path in every if backup_copy.is_ours(path)][-1:] or every[-1:]
    else:
        found = [p for p in every if p.name == name] or [p for p in every if p.name.startswith(name)]
    if not found:
        raise SourceMissing(f"no backup is called {name!r}: `backstory backup --list` lists them")
    if len(found) > 1:
        raise UsageError(f"{name!r} stands for several backups: {', '.join(p.name for p in found)}")
    return found[0]


def current_contents(home: Home) -> Contents | None:
    """What the database in use holds; one of a newer Backstory is refused."""
    if not home.database.exists():
        return None
    found = backup_copy.look_live(home.database)
    if found.damage and (why := find_obstacle(home.database)):
        if not backup_copy.is_still(home.database):
            raise StoreUnusable(str(why))
        found = backup_copy.copy_contents(home.database, whole=False)
    schema.refuse_newer(found.schema, str(home.database))
    return found


def restore_backup(home: Home, backup: Contents, privacy: Privacy) -> Restored:
    """Replace the database by a backup; for who holds the worker's lock."""
    before = current_contents(home)
    buried = {grave for path in backup_copy.list_copies(home) for grave in backup_copy.copy_tombstones(path)}
    buried |= set(key_escrow.escrowed_tombstones(home.database))
    with contextlib.ExitStack() as held:
        source = held.enter_context(backup_copy.settled(home, backup.path))
        new = held.enter_context(new_database(home))
        shutil.copyfile(source, new)
        schema.upgrade_file(new)
        unreadable = drop_unreadable_payloads(new)
        carry_tombstones(list(buried), new)
        cleaned = clean_file(new, privacy.text, privacy.body)
        connection, kept = None, None
        if before is not None:
            connection = held.enter_context(backup_copy.exclusive_access(home.database))
            kept = _kept(home, before, backup, connection)
            since = (
                set(backup_copy.copy_tombstones(kept if connection else kept / home.database.name)) - buried
            )
            if since:
                carry_tombstones(list(since), new)
        put_in_place(new, home, expected_counts(source, new), connection)
    return Restored(backup, before, kept, cleaned=cleaned, unreadable=unreadable)


def _kept(home: Home, before: Contents, backup: Contents, connection: Held | None) -> Path:
    """Where what is to be replaced lies now; raises `Failed` unless it is there, as whole as it was."""
    if connection is None:
        kept = backup_copy.set_aside(home, "damaged")
        there = (kept / home.database.name).is_file()
    else:
        kept = backup_copy.make_copy(connection, home, backup_copy.BEFORE_RESTORE, needed=backup.path)
        there = kept.is_file() and (
            bool(before.damage) or not backup_copy.copy_contents(kept, whole=False).damage
        )
    if not there:
        raise Failed(f"what is there now could not be kept in {kept}: nothing was replaced")
    return kept
