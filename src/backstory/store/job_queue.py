"""Work to be done, as rows: asked for once, leased to one worker, retried with growing delay, then parked.

A parked job stays visible and never blocks a younger one. A try is counted when the job is leased, so that
a worker that dies of a job has counted it: who finds the lease of a dead worker takes it back, and parks the
job when that happened too often.
"""

import sqlite3
from collections.abc import Iterable, Sequence

from backstory.store.records import Job

# The kinds of job; `pipeline.py` tells who does each, for how long, and what follows. First: an agent's own
# transcript is read, a session distilled, a project's decisions compared, a brief prepared, its answers to
# plain starts finished; vectors are made, notes on commands looked up again, a transcript is copied.
TRANSCRIPT, DISTIL, SUPERSEDE, BRIEF, ANSWERS = "transcript", "distil", "supersede", "brief", "answers"
EMBED, NOTES, ARCHIVE = "embed", "notes", "archive"
# What is written down: the log of a project (or of a session, before a compaction), the wiki, a check of it,
# and what a model writes in it. Their subject is a project, a session, or what is shared.
DAY, COMPILE, LINT, PROSE = "day", "compile", "lint", "prose"
# Kinds that ask a model: whoever does them holds the model's lock, not the worker's.
REFINE = "refine"
ASKING = (REFINE, PROSE)
# Everything derived is made again: of a session, without asking a model; the text index (of all, or of the
# memories that it lacks); the look for sessions of which nothing was captured.
REBUILD, REINDEX, PROVE = "rebuild", "reindex", "prove"
# What a round of work does first, in this order: commands wait for it.
ROUND = (TRANSCRIPT, DISTIL, REBUILD, REINDEX, SUPERSEDE, BRIEF, PROVE, ANSWERS)
# Work that is no job, but whose tries are counted as if it were: a worker may die of it, too.
DRAIN, INDEX = "drain", "index"
# So often a worker may be ended by its limits while doing a job; then the job is parked.
ENDED_MOST = 3
# How the last error of such a job begins.
ENDED = "the worker was ended while doing this"
_FIRST_DELAY_MS = 2_000
_LONGEST_DELAY_MS = 6 * 3_600_000
_LONGEST_WAIT_MS = 31 * 86_400_000
# How long the first failures of a kind wait for their next try, if not ever longer; then it cools down.
_QUICK_TRIES = dict.fromkeys(ASKING, (2_000, 4_000))
_COLUMNS = "kind, subject, state, attempts, not_before, last_error, asked_at"
# What a model writes in a wiki waits until the wiki has what it was about to get, but not longer than this.
_SETTLES_MS = 3_600_000
_SETTLED = f"""
    (kind <> '{PROSE}' OR asked_at <= :now - {_SETTLES_MS} OR NOT EXISTS (
        SELECT 1 FROM jobs w WHERE w.subject = jobs.subject AND w.kind IN ('{DAY}', '{COMPILE}')
            AND w.state IN ('waiting', 'leased')))
"""  # noqa: S608 - constants of this file


class Jobs:
    """The work queue of one database."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection

    def ask(self, kind: str, subject: str, now: int, due: int = 0) -> bool:
        """Ask for a piece of work, not before it is due; False if it was waiting already.

        A parked one gets a new chance. One that waits without having failed is hastened if `due` is earlier.
        One that ended its worker keeps its tries and its pause: it gets a single try, and ever more rarely.
        """
        cursor = self._db.execute(
            """
            INSERT INTO jobs (kind, subject, state, asked_at, not_before)
            VALUES (:kind, :subject, 'waiting', :now, :due)
            ON CONFLICT (kind, subject) DO UPDATE SET state = 'waiting', asked_at = excluded.asked_at,
                attempts = CASE WHEN jobs.state = 'leased' OR jobs.last_error LIKE :ended
                    THEN jobs.attempts ELSE 0 END,
                not_before = CASE WHEN jobs.last_error LIKE :ended
                    THEN max(jobs.not_before, excluded.not_before) ELSE excluded.not_before END,
                done_at = NULL
            WHERE jobs.state <> 'waiting'
                OR (jobs.attempts = 0 AND excluded.not_before > 0
                    AND jobs.not_before > excluded.not_before)
            """,
            {"kind": kind, "subject": subject, "now": now, "due": due, "ended": f"{ENDED}%"},
        )
        return cursor.rowcount > 0

    def lease(self, now: int, kind: str, newest: bool = False) -> Job | None:
        """Take the oldest (or newest) piece of work of this kind that is due; that counts as a try."""
        return self._lease(now, kind, f"asked_at {'DESC' if newest else 'ASC'}")

    def lease_in_order(self, now: int, kind: str) -> Job | None:
        """The same, of sessions in the order in which they began; what was imported comes last."""
        began = "(s.imported_by <> '') || printf('%020d', s.started_at)"
        order = f"(SELECT {began} FROM sessions s WHERE s.id = subject), asked_at"  # noqa: S608
        return self._lease(now, kind, order)

    def _lease(self, now: int, kind: str, order: str) -> Job | None:
        row = self._db.execute(
            f"""
            UPDATE jobs SET state = 'leased', attempts = attempts + 1
            WHERE kind = :kind AND subject = (
                SELECT subject FROM jobs
                WHERE kind = :kind AND state = 'waiting' AND not_before <= :now AND {_SETTLED}
                ORDER BY {order} LIMIT 1
            )
            RETURNING {_COLUMNS}
            """,  # noqa: S608 - one of three orders
            {"now": now, "kind": kind},
        ).fetchone()
        return None if row is None else Job(*row)

    def begin(self, kind: str, subject: str, now: int) -> int:
        """Count a try of work that nobody asked for, such as taking in a spool file; gives how many it had.

        `finished` takes the row away again.
        """
        row = self._db.execute(
            """
            INSERT INTO jobs (kind, subject, state, asked_at, attempts) VALUES (?, ?, 'leased', ?, 1)
            ON CONFLICT (kind, subject) DO UPDATE SET state = 'leased', attempts = attempts + 1
            RETURNING attempts
            """,
            (kind, subject, now),
        ).fetchone()
        return int(row[0])

    def finished(self, kind: str, subjects: Iterable[str]) -> None:
        """What was begun is done."""
        rows = [(kind, subject) for subject in subjects]
        self._db.executemany("DELETE FROM jobs WHERE kind = ? AND subject = ?", rows)

    def tries(self, kind: str) -> dict[str, int]:
        """What was begun and never finished, with how often: whoever was at it is dead."""
        return dict(self._db.execute("SELECT subject, attempts FROM jobs WHERE kind = ?", (kind,)))

    def due_at(self, kind: str, now: int) -> int | None:
        """When the next work of this kind is due, or None; who was leased it may be dead."""
        row = self._db.execute(
            f"""
            SELECT min(not_before) FROM jobs
            WHERE kind = :kind AND state IN ('waiting', 'leased') AND {_SETTLED}
            """,  # noqa: S608 - a constant of this file
            {"kind": kind, "now": now},
        ).fetchone()
        return None if row[0] is None else int(row[0])

    def due(self, kinds: Sequence[str], now: int) -> int:
        """How much work of these kinds is due now or being done."""
        marks = ",".join("?" * len(kinds))
        row = self._db.execute(
            f"""
            SELECT count(*) FROM jobs WHERE kind IN ({marks})
                AND (state = 'leased' OR (state = 'waiting' AND not_before <= ?))
            """,  # noqa: S608 - question marks
            (*kinds, now),
        ).fetchone()
        return int(row[0])

    def any_due(self, now: int, asking: bool) -> bool:
        """Whether some work could be done now; of what a model is asked only if `asking`."""
        marks = ",".join(f"'{kind}'" for kind in ASKING)
        row = self._db.execute(
            f"""
            SELECT 1 FROM jobs WHERE state = 'waiting' AND not_before <= :now AND {_SETTLED}
                AND (:asking OR kind NOT IN ({marks}))
            LIMIT 1
            """,  # noqa: S608 - constants of this file
            {"now": now, "asking": asking},
        ).fetchone()
        return row is not None

    def reclaim(self, now: int, why: str = "", most: int = 5, asking: bool = False) -> int:
        """Take back leases: who holds the worker's lock, or the model's, knows that nobody else is at it.

        The worker that had them is dead. If its limits ended it (`why` says which), the job waits a while
        before its next try and is parked after the third; killed by others, it is due at once, `most` times.
        """
        marks = ",".join("?" * (len(ASKING) + 2))
        rows = self._db.execute(
            f"""
            SELECT {_COLUMNS} FROM jobs WHERE state = 'leased' AND kind {"" if asking else "NOT"} IN ({marks})
            """,  # noqa: S608 - question marks
            (*ASKING, DRAIN, INDEX),
        ).fetchall()
        for job in (found := [Job(*row) for row in rows]):
            if why:
                self.failed(job, f"{ENDED} ({why})", now, min(most, ENDED_MOST))
            elif job.attempts >= most:
                self.failed(job, f"{ENDED} (it was killed {job.attempts} times)", now, most)
            else:
                self._db.execute(
                    "UPDATE jobs SET state = 'waiting' WHERE kind = ? AND subject = ?",
                    (job.kind, job.subject),
                )
        return len(found)

    def done(self, job: Job, now: int) -> None:
        """The work is done; asked for again in the meantime, it is due again."""
        self._db.execute(
            """
            UPDATE jobs SET state = CASE state WHEN 'leased' THEN 'done' ELSE state END,
                done_at = CASE state WHEN 'leased' THEN :now END,
                attempts = CASE state WHEN 'leased' THEN attempts - 1 ELSE 0 END, last_error = ''
            WHERE kind = :kind AND subject = :subject AND state IN ('leased', 'waiting')
            """,
            {"now": now, "kind": job.kind, "subject": job.subject},
        )

    def failed(self, job: Job, error: str, now: int, max_attempts: int, at_least: int = 0) -> str:
        """Note a failure; returns the job's new state: waiting (for a retry, in no less time) or parked."""
        state = "parked" if job.attempts >= max_attempts else "waiting"
        delay = max(_delay(job.kind, job.attempts), at_least)
        self._db.execute(
            """
            UPDATE jobs SET state = ?, attempts = ?, not_before = ?, last_error = ?
            WHERE kind = ? AND subject = ?
            """,
            (state, job.attempts, now + delay, error[:500], job.kind, job.subject),
        )
        return state

    def postpone(self, job: Job, until: int, why: str) -> None:
        """Leave it for later: no failure, and no try either."""
        self._db.execute(
            """
            UPDATE jobs SET state = 'waiting', attempts = attempts - 1, not_before = ?, last_error = ?
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
        """A person wants it tried again, now, also if a worker is at it; False if it is not to be done."""
        changed = self._db.execute(
            """
            UPDATE jobs SET state = 'waiting', attempts = 0, not_before = 0, asked_at = ?, last_error = ''
            WHERE kind = ? AND subject = ? AND state <> 'done'
            """,
            (now, job.kind, job.subject),
        )
        return changed.rowcount == 1

    def drop(self, job: Job) -> bool:
        """A person wants it no more, also if a worker is at it; False if it is not to be done."""
        changed = self._db.execute(
            "DELETE FROM jobs WHERE kind = ? AND subject = ? AND state <> 'done'", (job.kind, job.subject)
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

    def worst_attempts(self) -> int:
        """How often the work that failed most often has failed; a try under way has not failed yet."""
        row = self._db.execute(
            "SELECT max(attempts - (state = 'leased')) FROM jobs WHERE state <> 'done'"
        ).fetchone()
        return int(row[0] or 0)

    def counts(self) -> dict[str, int]:
        """How many jobs are in each state."""
        return dict(self._db.execute("SELECT state, count(*) FROM jobs GROUP BY state"))


def _delay(kind: str, attempts: int) -> int:
    if kind in _QUICK_TRIES:
        quick = _QUICK_TRIES[kind]
        return quick[attempts - 1] if attempts <= len(quick) else _LONGEST_DELAY_MS
    grown: int = _FIRST_DELAY_MS * 4 ** min(attempts - 1, 20)
    return min(grown, _LONGEST_DELAY_MS)
