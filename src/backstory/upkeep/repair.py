"""A new database from what a damaged one still gives.

The damaged one is never worked on: its files are copied first, a new database is built beside it from the
copy, checked, and only then takes its place. The copies stay in the backups. What lay on a broken page is
read again from the agents' own transcripts, as far as they still have it.
"""

import contextlib
from dataclasses import dataclass
from pathlib import Path

from backstory.errors import Failed
from backstory.paths import Home
from backstory.store import copies, salvage, schema
from backstory.store.copies import Contents


@dataclass(frozen=True, slots=True)
class Repaired:
    """What was rescued of each table (rows found, rows lost, as far as known), and where the old one is."""

    rescued: dict[str, salvage.Rescued]
    now: Contents
    kept: Path


def repair(home: Home) -> Repaired:
    """Build, check and swap in a new database; for who holds the worker's lock."""
    schema.refuse_newer(copies.schema_of(home.database), str(home.database))
    folder = copies.set_aside(home, "damaged")
    new = home.root / copies.UNFINISHED[1]
    new.unlink(missing_ok=True)
    with contextlib.ExitStack() as held:
        try:
            old = held.enter_context(copies.alone(home.database))
        except Failed:
            copies.drop_aside(home, folder)
            raise
        held.callback(new.unlink, missing_ok=True)
        rescued = salvage.rebuild(
            folder / home.database.name, new, fallback=copies.listed(home), database=home.database
        )
        made = copies.look(new)
        if made.damage or made.schema == 0 or made.events != rescued["events"].rows:
            told = made.damage or f"{made.events} of {rescued['events'].rows} events"
            raise Failed(f"the new database is not whole ({told}): the old one was left as it is")
        if not made.events and not made.memories and rescued["events"].unreadable != 0:
            raise Failed(
                f"nothing can be read of {home.database}: go back to a backup with `backstory restore`; "
                f"a copy of it is in {folder}"
            )
        copies.put_in_place(new, home, old)
        return Repaired(rescued, made, folder)
