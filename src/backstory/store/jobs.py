"""Work to be done, as rows: asked for once, leased to one worker, retried with growing delay, then parked.

A parked job stays visible and never blocks a younger one. Leases are taken by a conditional UPDATE, so that
a worker that was killed loses nothing: its lease runs out.
"""

import sqlite3

from backstory.store.values import Job

LEASE_MS = 60_000
# What is written down: the log of a project (or of a session, before a compaction), the wiki, a check of it,
# and what a model writes in it. Their subject is a project, a session, or what is shared.
DAY, COMPILE, LINT, PROSE = "day", "compile", "lint", "prose"
# Kinds that ask a model: whoever does them holds the model's lock, not the worker's.
ASKING = ("refine", PROSE)
_FIRST_DELAY_MS = 2_000
_LONGEST_DELAY_MS = 6 * 3_600_000
_LONGEST_WAIT_MS = 31 * 86_400_000
# How long the first failures of a kind wait for their next try, if not ever longer; then it cools down.
_QUICK_TRIES = dict.fromkeys(ASKING, (2_000, 4_000))
_COLUMNS = "kind, subject, state, attempts, not_before, last_error, asked_at"


class Jobs:
    """The work queue of one database."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection

    def ask(self, kind: str, subject: str, now: int, due: int = 0) -> bool:
        """Ask for a piece of work, not before it is due; False if it was waiting already.

        A parked one gets a new chance. One that waits without having failed is hastened if `due` is earlier.
        """
        cursor = self._db.execute(
            """
            INSERT INTO jobs (kind, subject, state, asked_at, not_before) VALUES (?, ?, 'waiting', ?, ?)
            ON CONFLICT (kind, subject) DO UPDATE SET state = 'waiting', asked_at = excluded.asked_at,
                attempts = 0, not_before = excluded.not_before, done_at = NULL
            WHERE jobs.state <> 'waiting'
                OR (jobs.attempts = 0 AND excluded.not_before > 0
                    AND jobs.not_before > excluded.not_before)
            """,
            (kind, subject, now, due),
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
                SELECT {_COLUMNS} FROM jobs
                WHERE kind = :kind AND {due} ORDER BY asked_at {order} LIMIT 1
                """,  # noqa: S608 - the two conditions above, and ASC or DESC
                {"now": now, "kind": kind},
            ).fetchone()
            if row is not None:
                return Job(*row)
        return None

    def due_at(self, kind: str) -> int | None:
        """When the next work of this kind is due, or None; who was leased it may be dead."""
        row = self._db.execute(
            "SELECT min(not_before) FROM jobs WHERE kind = ? AND state IN ('waiting', 'leased')", (kind,)
        ).fetchone()
        return None if row[0] is None else int(row[0])

    def any_due(self, now: int, asking: bool) -> bool:
        """Whether some work could be done now; of what a model is asked only if `asking`."""
        marks = ",".join("?" * len(ASKING))
        row = self._db.execute(
            f"""
            SELECT 1 FROM jobs WHERE state = 'waiting' AND not_before <= ? AND (? OR kind NOT IN ({marks}))
            LIMIT 1
            """,  # noqa: S608 - question marks
            (now, asking, *ASKING),
        ).fetchone()
        return row is not None

    def reclaim(self, asking: bool = False) -> int:
        """Take back leases: who holds the worker's lock, or the model's, knows that nobody else is at it."""
        marks = ",".join("?" * len(ASKING))
        return self._db.execute(
            f"""
            UPDATE jobs SET state = 'waiting'
            WHERE state = 'leased' AND kind {"" if asking else "NOT"} IN ({marks})
            """,  # noqa: S608 - question marks
            ASKING,
        ).rowcount

    def done(self, job: Job, now: int) -> None:
        """The work is done; asked for again in the meantime, it is due again."""
        self._db.execute(
            "UPDATE jobs SET state = 'done', done_at = ?, last_error = '' WHERE kind = ? AND subject = ? "
            "AND state = 'leased'",
            (now, job.kind, job.subject),
        )

    def failed(self, job: Job, error: str, now: int, max_attempts: int, at_least: int = 0) -> str:
        """Note a failure; returns the job's new state: waiting (for a retry, in no less time) or parked."""
        attempts = job.attempts + 1
        state = "parked" if attempts >= max_attempts else "waiting"
        delay = max(_delay(job.kind, attempts), at_least)
        self._db.execute(
            """
            UPDATE jobs SET state = ?, attempts = ?, not_before = ?, last_error = ?
            WHERE kind = ? AND subject = ?
            """,
            (state, attempts, now + delay, error[:500], job.kind, job.subject),
        )
        return state

    def postpone(self, job: Job, until: int, why: str) -> None:
        """Leave it for later: no failure, and no try either."""
        self._db.execute(
            """
            UPDATE jobs SET state = 'waiting', not_before = ?, last_error = ?
            WHERE kind = ? AND subject = ? AND state = 'leased'
            """,
            (until, why[:500], job.kind, job.subject),
        )

    def thaw(self, kind: str, now: int, subject: str = "") -> int:
        """What failed and cools down is due at once, all of a kind or one of it."""
        return self._db.execute(
            """
            UPDATE jobs SET not_before = ?
            WHERE kind = ? AND state = 'waiting' AND attempts > 0 AND (? = '' OR subject = ?)
            """,
            (now, kind, subject, subject),
        ).rowcount

    def hasten_stranded(self, now: int) -> int:
        """What waits longer than anything ever does is due now: the clock was ahead when that was written."""
        return self._db.execute(
            "UPDATE jobs SET not_before = :now WHERE state = 'waiting' AND not_before > :now + :longest",
            {"now": now, "longest": _LONGEST_WAIT_MS},
        ).rowcount

    def retry(self, job: Job, now: int) -> bool:
        """A person wants it tried again, now; False if it is not waiting or parked any more."""
        changed = self._db.execute(
            """
            UPDATE jobs SET state = 'waiting', attempts = 0, not_before = 0, asked_at = ?
            WHERE kind = ? AND subject = ? AND state IN ('waiting', 'parked')
            """,
            (now, job.kind, job.subject),
        )
        return changed.rowcount == 1

    def drop(self, job: Job) -> bool:
        """A person wants it no more; False if it is not waiting or parked any more."""
        changed = self._db.execute(
            "DELETE FROM jobs WHERE kind = ? AND subject = ? AND state IN ('waiting', 'parked')",
            (job.kind, job.subject),
        )
        return changed.rowcount == 1

    def all(self, state: str | None = None) -> list[Job]:
        """The jobs in a state, or all, oldest first."""
        rows = self._db.execute(
            f"""
            SELECT {_COLUMNS} FROM jobs
            WHERE :state IS NULL OR state = :state ORDER BY asked_at
            """,  # noqa: S608 - columns of this file
            {"state": state},
        )
        return [Job(*row) for row in rows]

    def counts(self) -> dict[str, int]:
        """How many jobs are in each state."""
        return dict(self._db.execute("SELECT state, count(*) FROM jobs GROUP BY state"))


def _delay(kind: str, attempts: int) -> int:
    if kind in _QUICK_TRIES:
        quick = _QUICK_TRIES[kind]
        return quick[attempts - 1] if attempts <= len(quick) else _LONGEST_DELAY_MS
    grown: int = _FIRST_DELAY_MS * 4 ** (attempts - 1)
    return min(grown, _LONGEST_DELAY_MS)
