"""Migrations: numbered files, forward only, one transaction each; `open_store` makes a copy before the first.

A database of a newer Backstory is refused and not touched.
"""

import contextlib
import sqlite3
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path

from backstory.errors import NewerSchema, StoreUnusable
from backstory.failpoints import step

Migration = tuple[int, str]


def migrations() -> list[Migration]:
    """All migrations, numbered from 1 without gaps, with their SQL."""
    found = sorted(
        (int(entry.name.split("_", 1)[0]), entry.read_text("utf-8"))
        for entry in files("backstory.store").joinpath("migrations").iterdir()
        if entry.name.endswith(".sql")
    )
    if [number for number, _ in found] != list(range(1, len(found) + 1)):
        raise StoreUnusable("the migrations of this installation are incomplete: reinstall Backstory")
    return found


def schema_version(connection: sqlite3.Connection) -> int:
    """The number of the last migration that was applied."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def known_to(connection: sqlite3.Connection, path: Path) -> list[Migration]:
    """The migrations, if none is missing; asked before anything is set, so that a refusal changes nothing."""
    refuse_newer(schema_version(connection), str(path))
    return migrations()


def refuse_newer(found: int, what: str) -> None:
    """Raise `NewerSchema` if this Backstory does not know a schema: what it does not know, it would lose."""
    if found > (known := len(migrations())):
        raise NewerSchema(
            f"{what} has schema {found}, this Backstory knows {known}: "
            "upgrade Backstory (nothing was changed)"
        )


def apply_migrations(connection: sqlite3.Connection, wanted: Sequence[Migration]) -> None:
    """Apply migrations that are not applied yet, each as a whole or not at all."""
    for number, script in wanted:
        connection.execute("BEGIN IMMEDIATE")
        try:
            # another process may have migrated while this one waited for the lock
            if schema_version(connection) >= number:
                connection.execute("ROLLBACK")
                continue
            for statement in _statements(script):
                connection.execute(statement)
                step("migrate.statement")
            connection.execute(f"PRAGMA user_version = {number}")
            connection.execute("COMMIT")
            step("migrate.done")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            raise


def upgrade_file(path: Path) -> None:
    """Bring a database that nobody uses, such as a copy of a backup, up to date in place."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        apply_migrations(connection, migrations()[schema_version(connection) :])


def _statements(script: str) -> Iterator[str]:
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
    if statement.strip():
        raise StoreUnusable("a migration ends in an incomplete statement: reinstall Backstory")
