"""Work to be done, as rows: asked for once, leased to one worker, retried with growing delay, then parked.

A parked job stays visible and never blocks a younger one. Leases are taken by a conditional UPDATE, so that
a worker that was killed loses nothing: its lease runs out.
"""

import sqlite3

from backstory.store.protocol import Job

LEASE_MS = 60_000
_FIRST_DELAY_MS = 2_000
_LONGEST_DELAY_MS = 6 * 3_600_000


class Jobs:
    """The work queue of one database."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection

    def ask(self, kind: str, subject: str, now: int) -> bool:
        """Ask for a piece of work; False if it was waiting already. A parked one gets a new chance."""
        cursor = self._db.execute(
            """
            INSERT INTO jobs (kind, subject, state, asked_at) VALUES (?, ?, 'waiting', ?)
            ON CONFLICT (kind, subject) DO UPDATE SET state = 'waiting', asked_at = excluded.asked_at,
                attempts = 0, not_before = 0, done_at = NULL
            WHERE jobs.state <> 'waiting'
            """,
            (kind, subject, now),
        )
        return cursor.rowcount > 0

    def lease(self, now: int, kind: str, newest: bool = False) -> Job | None:
        """Take the oldest (or newest) piece of work of this kind that is due, or None."""
        while (job := self._due(now, kind, "DESC" if newest else "ASC")) is not None:
            taken = self._db.execute(
                """
                UPDATE jobs SET state = 'leased', leased_to = :until
                WHERE kind = :kind AND subject = :subject
                  AND (state = 'waiting' OR (state = 'leased' AND leased_to < :now))
                """,
                {"until": now + LEASE_MS, "kind": kind, "subject": job.subject, "now": now},
            )
            if taken.rowcount == 1:
                break
        return job

    def _due(self, now: int, kind: str, order: str) -> Job | None:
        for due in ("state = 'waiting' AND not_before <= :now", "state = 'leased' AND leased_to < :now"):
            row = self._db.execute(
                f"""
                SELECT kind, subject, state, attempts, not_before, last_error FROM jobs
                WHERE kind = :kind AND {due} ORDER BY asked_at {order} LIMIT 1
                """,  # noqa: S608 - the two conditions above, and ASC or DESC
                {"now": now, "kind": kind},
            ).fetchone()
            if row is not None:
                return Job(*row)
        return None

    def reclaim(self) -> int:
        """Take back all leases: whoever holds the worker's lock knows that their holders are gone."""
        return self._db.execute("UPDATE jobs SET state = 'waiting' WHERE state = 'leased'").rowcount

    def done(self, job: Job, now: int) -> None:
        """The work is done; asked for again in the meantime, it is due again."""
        self._db.execute(
            "UPDATE jobs SET state = 'done', done_at = ?, last_error = '' WHERE kind = ? AND subject = ? "
            "AND state = 'leased'",
            (now, job.kind, job.subject),
        )

    def failed(self, job: Job, error: str, now: int, max_attempts: int) -> str:
        """Note a failure; returns the job's new state: waiting (for a retry) or parked."""
        attempts = job.attempts + 1
        state = "parked" if attempts >= max_attempts else "waiting"
        delay = min(_FIRST_DELAY_MS * 4 ** (attempts - 1), _LONGEST_DELAY_MS)
        self._db.execute(
            """
            UPDATE jobs SET state = ?, attempts = ?, not_before = ?, last_error = ?
            WHERE kind = ? AND subject = ?
            """,
            (state, attempts, now + delay, error[:500], job.kind, job.subject),
        )
        return state

    def all(self, state: str | None = None) -> list[Job]:
        """The jobs in a state, or all, oldest first."""
        rows = self._db.execute(
            """
            SELECT kind, subject, state, attempts, not_before, last_error FROM jobs
            WHERE :state IS NULL OR state = :state ORDER BY asked_at
            """,
            {"state": state},
        )
        return [Job(*row) for row in rows]

    def counts(self) -> dict[str, int]:
        """How many jobs are in each state."""
        return dict(self._db.execute("SELECT state, count(*) FROM jobs GROUP BY state"))
