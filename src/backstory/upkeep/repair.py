"""A new database from what a damaged one still gives.

The damaged one is never worked on: its files are copied first, a new database is built beside it from the
copy, checked, and only then takes its place. The copies stay in the backups. What lay on a broken page is
read again from the agents' own transcripts, as far as they still have it.
"""

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from backstory.agents import AGENTS
from backstory.atomic import read_state
from backstory.capture.privacy import Privacy
from backstory.capture.project_lookup import ProjectLookup
from backstory.capture.transcript_archive import copy_of, kept_lines
from backstory.errors import Failed
from backstory.hook import spool
from backstory.paths import Home
from backstory.settings import Settings
from backstory.store import Store, backup_copy, salvage, schema, scratch_store
from backstory.store.backup_copy import Contents
from backstory.store.new_database import new_database, put_in_place
from backstory.store.reconstruction import Clues
from backstory.upkeep import event_archive

_LINES = 20  # of a transcript: its first ones name its session


@dataclass(frozen=True, slots=True)
class Repaired:
    """What was rescued of each table (rows found, rows lost, as far as known), and where the old one is."""

    rescued: dict[str, salvage.Rescued]
    now: Contents
    kept: Path
    key_lost: bool = False  # what is read again is not recognised: nothing is


def repair_database(home: Home, settings: Settings) -> Repaired:
    """Build, check and swap in a new database; for who holds the worker's lock."""
    schema.refuse_newer(backup_copy.schema_of(home.database), str(home.database))
    folder = backup_copy.set_aside(home, "damaged")
    with contextlib.ExitStack() as held:
        try:
            old = held.enter_context(backup_copy.exclusive_access(home.database))
        except Failed:
            backup_copy.drop_aside(home, folder)
            raise
        new = held.enter_context(new_database(home))
        rescued = salvage.rebuild_database(
            folder / home.database.name,
            new,
            fallback=backup_copy.list_copies(home),
            database=home.database,
            clues=_clues(home, settings, held.enter_context(contextlib.closing(scratch_store()))),
        )
        made = backup_copy.copy_contents(new, whole=False)
        if not made.events and not made.memories and rescued["events"].unreadable != 0:
            raise Failed(
                f"nothing can be read of {home.database}: go back to a backup with `backstory restore`; "
                f"a copy of it is in {folder}"
            )
        key = backup_copy.copy_key(new)
        put_in_place(new, home, {table: each.rows for table, each in rescued.items()}, old)
        return Repaired(rescued, made, folder, not key)


def _clues(home: Home, settings: Settings, empty: Store) -> Clues:
    """What tells of sessions and projects outside the database."""
    confirmed: dict[str, str] = read_state(home.confirmed, {})
    places = ProjectLookup(empty, confirmed, settings.project_monorepo, Privacy(settings).place)
    return Clues(tuple(AGENTS), lambda sessions: _texts(home, sessions), places.project)


def _texts(home: Home, sessions: Iterable[str]) -> Iterator[bytes]:
    """What may name these sessions: what waits in the spool, our copies of transcripts, archives."""
    for entry in spool.spool_entries(str(home.spool)):
        yield spool.read_spooled(entry.path) or b""
    for sid in sessions:
        if (copy := copy_of(home, sid)).is_file():
            yield from islice(kept_lines(copy), _LINES)
    for path in event_archive.list_archives(home):
        yield from (
            line.encode() for line in event_archive.archive_lines(path) if '"table": "sessions"' in line
        )
