"""Sessions in other tools' databases. One that cannot be read is told in its turn; the others come over."""

from collections.abc import Callable, Iterator
from pathlib import Path

from backstory.agents.history_source import Trail, history_files
from backstory.importers.sqlite_tables import Tables, open_tables


def database_trails(
    place: Path, name: str, read: Callable[[Tables, Trail], Iterator[Trail]]
) -> Iterator[Trail]:
    """The sessions that `read` finds in all databases of that name; one that is unreadable is a trail."""
    for file in history_files(place, name):
        try:
            with open_tables(file.path) as tables:
                found = list(read(tables, file))
        except OSError:
            found = [file]
        yield from found


def identified_trail(trail: Trail) -> Trail:
    """A trail that was found in a database; raises what is wrong with a database that could not be read."""
    if not trail.session:
        with open_tables(trail.path) as tables:
            raise tables.trouble()
    return trail
