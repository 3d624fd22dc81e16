"""Connections to the team's database, and the transaction of one asker.

Each transaction says with SET LOCAL who asks: tenant and member, never by `set_config()`, which Citus does
not carry to its workers. The policies of the database answer to that; our own WHERE clauses come on top.
"""

import logging
import threading
from collections.abc import Callable
from typing import Any, TypeVar

import psycopg
from psycopg_pool import ConnectionPool, PoolTimeout

from backstory.team.grave_journal import GraveJournal
from backstory.team.migrator import SCHEMA, require_bounded_role, require_newest
from backstory.team.refusal import Refusal

T = TypeVar("T")
Connection = psycopg.Connection[tuple[Any, ...]]
Replay = Callable[[Connection, GraveJournal], None]

log = logging.getLogger(__name__)
_TRIES = 4
_WAIT_SECONDS = 5.0
_STATEMENT_MS = 30_000
_NAMES = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_-")


class Database:
    """The pool, and what must be true before anybody is answered: role, schema, journal replayed."""

    def __init__(self, url: str, journal: GraveJournal, replay: Replay, owner_url: str = "") -> None:
        self.url, self.owner_url, self.journal = url, owner_url, journal
        self._replay, self._replayed_for = replay, ""
        self._replaying = threading.Lock()
        with psycopg.connect(url, options=f"-c search_path={SCHEMA}") as first:
            require_bounded_role(first)
            require_newest(first)
            row = first.execute("SELECT id FROM server").fetchone()
            self.server = str(row[0]) if row else ""
            citus = first.execute("SELECT 1 FROM pg_extension WHERE extname = 'citus'").fetchone()
        self._on_citus = citus is not None
        self._pool: ConnectionPool[Connection] = ConnectionPool(
            url,
            min_size=2,
            max_size=16,
            timeout=_WAIT_SECONDS,
            reconnect_timeout=3_600,
            kwargs={
                "autocommit": True,
                "options": f"-c search_path={SCHEMA} -c statement_timeout={_STATEMENT_MS}",
            },
            configure=self._prepare,
            open=True,
        )

    def close(self) -> None:
        """Let all connections go."""
        self._pool.close()

    def run(self, work: Callable[["Asking"], T], again: bool = True) -> T:
        """Do `work` in one transaction. What lost a race, or its connection, is done `again`.

        `again` is for what changes nothing when it is done twice: a connection may break after the commit.
        """
        for number in range(_TRIES):
            last = number == _TRIES - 1
            try:
                return self._once(work)
            except (psycopg.errors.SerializationFailure, psycopg.errors.DeadlockDetected) as error:
                if last:
                    raise Refusal("busy", "too many write to this at once") from error
            except (psycopg.OperationalError, psycopg.InterfaceError, PoolTimeout) as error:
                if last or not again or isinstance(error, PoolTimeout | psycopg.errors.QueryCanceled):
                    log.warning("the database does not answer: %s", str(error).strip().splitlines()[:1])
                    raise Refusal("no_database", "the team's database cannot be reached") from error
        raise AssertionError("unreachable")

    def _once(self, work: Callable[["Asking"], T]) -> T:
        with self._pool.connection() as connection:
            asking = Asking(connection, self.journal)
            try:
                answer = work(asking)
                asking.commit()
            except BaseException:
                asking.roll_back()
                raise
            return answer

    def _prepare(self, connection: Connection) -> None:
        """Once for each connection: Citus' setting, and the journal, where the database may be another."""
        if self._on_citus:
            connection.execute("SET citus.propagate_set_commands = 'local'")
        row = connection.execute(
            "SELECT pg_postmaster_start_time()::text || oid::text FROM pg_database "
            "WHERE datname = current_database()"
        ).fetchone()
        which = str(row[0]) if row else ""
        with self._replaying:
            if which != self._replayed_for:
                self._replay(connection, self.journal)
                self._replayed_for = which


class Asking:
    """One transaction; `as_tenant` begins it, `as_member` says who asks."""

    def __init__(self, connection: Connection, journal: GraveJournal | None) -> None:
        self.connection, self.journal = connection, journal
        self._begun = False

    def as_tenant(self, tenant: str) -> None:
        """Begin; nothing but what a token or an invitation needs is seen yet."""
        assert not self._begun
        self._begun = True
        self.connection.execute(f"BEGIN; SET LOCAL backstory.tenant = '{_checked(tenant)}'".encode())

    def as_member(self, member: str, role: str) -> None:
        """From here on the rows of this member are seen."""
        self.connection.execute(
            f"SET LOCAL backstory.member = '{_checked(member)}'; "
            f"SET LOCAL backstory.role = '{_checked(role)}'".encode()
        )

    def one(self, statement: str, *values: Any) -> tuple[Any, ...] | None:
        """The first row of an answer."""
        return self.connection.execute(statement.encode(), values).fetchone()

    def all(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """All rows of an answer."""
        return self.connection.execute(statement.encode(), values).fetchall()

    def do(self, statement: str, *values: Any) -> int:
        """Change something; how many rows."""
        return self.connection.execute(statement.encode(), values).rowcount

    def commit(self) -> None:
        """What was done is kept when this returns."""
        if self._begun:
            self._begun = False
            self.connection.execute("COMMIT")

    def roll_back(self) -> None:
        """Undo, if the connection still lives; the pool looks at it afterwards."""
        if self._begun and not self.connection.closed:
            self._begun = False
            try:
                self.connection.execute("ROLLBACK")
            except psycopg.Error:
                self.connection.close()


def _checked(word: str) -> str:
    """SET takes no parameters, so what stands in it is letters and digits only."""
    if not _NAMES.issuperset(word):
        raise Refusal("malformed", "an id has small letters and digits only")
    return word
