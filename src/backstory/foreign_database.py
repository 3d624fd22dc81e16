"""The one way to open another program's SQLite database: read and never touched, within limits.

Anybody may have made it. A view in the place of a table can be a query that never ends, a virtual table or a
generated column runs whatever it is made of, and damaged pages that name each other are a table without an
end. So only plain tables are read: SQLite itself refuses everything else, whatever the statement. All that is
read of one opening has a limit of time, and of bytes by what the file can hold.

Not a byte of the database is changed, and no file beside it. One that is written ahead needs care: without
its log the file alone is all there is, and it is opened as immutable; with the log and its index, the index
is opened read-only, too. With a log but no index, SQLite would make one, so a private copy is read. A
database with a rollback journal is read under SQLite's locks: its writer may be in mid-transaction.
"""

import sqlite3
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from backstory.file_reader import open_file, regular_file, require_database

SECONDS = 30.0  # inside SQLite, for all that is read of one opening
_WAIT_SECONDS = 5.0
_MOST_TABLES = 1_000
_LONGEST_VALUE = 64 * 1024 * 1024
_TIMES_THE_FILE = 8  # several queries may read the same rows
_AT_LEAST = 16 * 1024 * 1024
_STEPS = 10_000  # of SQLite's machine between two looks at the clock
_HEADER = 20
_MAGIC = b"SQLite format 3\0"
_WRITTEN_AHEAD = 2
_SCHEMA = ("sqlite_master", "sqlite_schema")
_PRAGMAS = ("quick_check",)
_ALLOWED = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_TRANSACTION)


class Unreadable(OSError):
    """Not a database, or one that cannot be read now, or not safely."""


class ForeignDatabase:
    """An open database of another program: its plain tables, and their rows."""

    def __init__(self, connection: sqlite3.Connection, file: Path, seconds: float) -> None:
        self.connection = connection
        self._file = file
        self._left = seconds
        self._begun = 0.0
        self._bytes = _most_bytes(file)
        self._description: Any = ()  # of the query whose first row was read last
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_VALUE)
        connection.set_progress_handler(self._is_over, _STEPS)
        self.columns = dict(self._plain_tables())

    def permit(self, tables: Collection[str]) -> None:
        """Let SQLite refuse all but the plain ones among these tables from here on."""
        readable = self.columns.keys() & tables

        def permitted(
            action: int, name: str | None, _column: str | None, _db: str | None, view: str | None
        ) -> int:
            known = action == sqlite3.SQLITE_READ and (name in readable or name in _SCHEMA)
            known = known or (action == sqlite3.SQLITE_PRAGMA and name in _PRAGMAS)
            fine = view is None and (known or action in _ALLOWED)
            return sqlite3.SQLITE_OK if fine else sqlite3.SQLITE_DENY

        self.connection.set_authorizer(permitted)

    def rows(self, query: str, values: Sequence[object] = ()) -> Iterator[tuple[Any, ...]]:
        """The rows of a query; `Unreadable` if there are none to be had, or not within the limits."""
        for row in self._run(query, values):
            self._bytes -= 1 + sum(len(value) for value in row if isinstance(value, str | bytes))
            if self._bytes < 0:
                raise Unreadable(f"{self._file} cannot be read: it holds more rows than fit into the file")
            yield row

    def named_rows(self, query: str, values: Sequence[object] = ()) -> Iterator[dict[str, Any]]:
        """The rows of a query by the names of their columns."""
        names: list[str] = []
        for row in self.rows(query, values):
            names = names or [column[0] for column in self._description]
            yield dict(zip(names, row, strict=True))

    def _run(self, query: str, values: Sequence[object]) -> Iterator[tuple[Any, ...]]:
        cursor = self.connection.cursor()
        try:
            row = self._timed(lambda: cursor.execute(query, values).fetchone())
            self._description = cursor.description
            while row is not None:
                yield row
                row = self._timed(cursor.fetchone)
        except (sqlite3.Error, UnicodeDecodeError) as error:  # the second: a damaged name of a column
            raise Unreadable(f"{self._file} cannot be read: {self._why(error)}") from None

    def _timed(self, read: Callable[[], tuple[Any, ...] | None]) -> tuple[Any, ...] | None:
        self._begun = time.monotonic()
        try:
            return read()
        finally:
            self._left -= time.monotonic() - self._begun

    def _is_over(self) -> bool:
        return time.monotonic() - self._begun > self._left

    def _why(self, error: Exception) -> str:
        """An error in words; a writer that is at work just now is no damage."""
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return "another program is writing to it: try again in a moment"
        return "it takes too long" if code == sqlite3.SQLITE_INTERRUPT else str(error)

    def _plain_tables(self) -> Iterator[tuple[str, frozenset[str]]]:
        """Tables with their columns: no views, no virtual tables, none that computes a column."""
        found = self.rows("SELECT name, sql FROM sqlite_master WHERE type = 'table'")
        for number, (name, made) in enumerate(list(found)):
            if number > _MOST_TABLES:
                raise Unreadable(f"{self._file} cannot be read: it has too many tables")
            if not str(made).upper().startswith("CREATE TABLE"):  # SQLite writes it so, and reads this text
                continue
            columns = list(self.rows(f"PRAGMA table_xinfo({quoted_name(str(name))})"))
            if not any(column[6] for column in columns):
                yield str(name), frozenset(str(column[1]) for column in columns)


@contextmanager
def open_database(
    file: Path,
    tables: Collection[str] | None = None,
    *,
    seconds: float = SECONDS,
    wait: float = _WAIT_SECONDS,
    copies: bool = True,
) -> Iterator[ForeignDatabase]:
    """A database, of which these tables can be read, or all; `copies`: a log without its index is copied."""
    with _untouched(file, copies) as address:
        try:
            connection = sqlite3.connect(address, uri=True, timeout=wait)
        except sqlite3.Error as error:
            raise Unreadable(f"{file} cannot be opened: {error}") from None
        with closing(connection):
            database = ForeignDatabase(connection, file, seconds)
            database.permit(database.columns if tables is None else tables)
            yield database


@contextmanager
def _untouched(file: Path, copies: bool) -> Iterator[str]:
    """The address under which SQLite leaves no trace."""
    require_database(file)
    with open_file(file) as opened_file:
        head = opened_file.read(_HEADER)
    if len(head) < _HEADER or not head.startswith(_MAGIC):
        raise Unreadable(f"{file} cannot be read: it is no SQLite database")
    log, index = (Path(f"{file}{suffix}") for suffix in ("-wal", "-shm"))
    if not log.exists():
        yield _address(file, "immutable=1" if head[18] == _WRITTEN_AHEAD else "mode=ro")
    elif index.exists():
        yield _address(file, "mode=ro&readonly_shm=1")
    elif not copies:
        yield _address(file, "mode=ro")
    else:
        import shutil  # rarely needed, and every command starts quicker without
        import tempfile

        with tempfile.TemporaryDirectory(prefix="backstory-") as folder:
            copy = Path(folder, file.name)
            shutil.copyfile(file, copy)
            shutil.copyfile(log, f"{copy}-wal")
            yield _address(copy, "mode=ro")


def _address(file: Path, how: str) -> str:
    return f"file:{quote(str(file.absolute()))}?{how}"


def _most_bytes(file: Path) -> int:
    sizes = (found.st_size for suffix in ("", "-wal") if (found := regular_file(f"{file}{suffix}")))
    return max(_AT_LEAST, _TIMES_THE_FILE * sum(sizes))


def quoted_name(name: str) -> str:
    """A name of a table or column, as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'
