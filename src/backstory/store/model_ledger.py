"""What models were asked, what that took, and what they answered.

A call has its row before it is made: killed in between, its estimate counts as spent. An answer is kept by
the hash of its question, so that the same text is never sent twice.
"""

import sqlite3
from collections.abc import Sequence

from backstory.store.records import Call, ModelAnswer, Spent, SpentOn

OPEN, OK, FAILED, UNUSABLE, ANOMALY = "open", "ok", "failed", "unusable", "anomaly"
_CALL = """
    id, purpose, session_id, provider, model, finalized_at, asked_at, answered_at, parsed_at, stored_at,
    outcome, error, tokens_in, tokens_out, cost
"""


class Ledger:
    """The calls and answers of one database."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection

    def open(self, call: Call) -> None:
        """Write down a call that is about to be made, with its estimate."""
        self._db.execute(
            f"INSERT INTO model_calls ({_CALL}) VALUES ({','.join('?' * 15)})",  # noqa: S608 - constants
            tuple(call),
        )

    def settle(self, call: Call) -> None:
        """Write down how a call ended, and what it took."""
        self._db.execute(
            """
            UPDATE model_calls SET answered_at = ?, outcome = ?, error = ?, tokens_in = ?, tokens_out = ?,
                cost = ?
            WHERE id = ?
            """,
            (
                call.answered_at, call.outcome, call.error[:500], call.tokens_in, call.tokens_out, call.cost,
                call.id,
            ),
        )  # fmt: skip

    def unusable(self, call_id: str, error: str) -> None:
        """Write down that an answer could not be parsed."""
        self._db.execute(
            "UPDATE model_calls SET outcome = ?, error = ? WHERE id = ?", (UNUSABLE, error[:500], call_id)
        )

    def parsed(self, call_id: str, at: int) -> None:
        """Write down that an answer was understood."""
        self._db.execute("UPDATE model_calls SET parsed_at = ? WHERE id = ?", (at, call_id))

    def stored(self, call_id: str, at: int) -> None:
        """Write down that what an answer says is kept."""
        self._db.execute("UPDATE model_calls SET stored_at = ? WHERE id = ?", (at, call_id))

    def spent(self, since: int, session_id: str = "") -> Spent:
        """What all calls since then took, or those of one session."""
        row = self._db.execute(
            """
            SELECT count(*), coalesce(sum(tokens_in + tokens_out), 0), coalesce(sum(cost), 0)
            FROM model_calls WHERE asked_at >= ? AND (? = '' OR session_id = ?)
            """,
            (since, session_id, session_id),
        ).fetchone()
        return Spent(*row)

    def spent_on(self, since: int) -> list[SpentOn]:
        """What calls since then took, by purpose and model; the dearest first."""
        rows = self._db.execute(
            """
            SELECT purpose, provider, model, count(*), sum(outcome NOT IN ('ok', 'open')), sum(tokens_in),
                   sum(tokens_out), sum(cost)
            FROM model_calls WHERE asked_at >= ? GROUP BY purpose, provider, model
            ORDER BY sum(cost) DESC, sum(tokens_in + tokens_out) DESC
            """,
            (since,),
        )
        return [SpentOn(*row) for row in rows]

    def latest(self, limit: int, since: int = 0) -> list[Call]:
        """The latest calls, newest first."""
        rows = self._db.execute(
            f"""
            SELECT {_CALL} FROM model_calls WHERE asked_at >= ? ORDER BY asked_at DESC, id DESC LIMIT ?
            """,  # noqa: S608 - columns of this file
            (since, limit),
        )
        return [Call(*row) for row in rows]

    def keep(self, answer: ModelAnswer) -> None:
        """Keep an answer."""
        self._db.execute(
            """
            INSERT INTO model_answers (id, session_id, first_seq, last_seq, model, version, body, at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING
            """,
            tuple(answer),
        )

    def answered(self, answer_id: str) -> bool:
        """Whether this very question was answered before."""
        row = self._db.execute("SELECT 1 FROM model_answers WHERE id = ?", (answer_id,)).fetchone()
        return row is not None

    def read_through(self, sid: str) -> int:
        """Up to which event (its place in the session) a model has read a session; -1: nothing of it."""
        row = self._db.execute(
            "SELECT max(last_seq) FROM model_answers WHERE session_id = ?", (sid,)
        ).fetchone()
        return -1 if row[0] is None else int(row[0])

    def bodies(self, sid: str) -> list[tuple[str, str]]:
        """What models said about a session, oldest first, each with the model's name."""
        return self._db.execute(
            "SELECT model, body FROM model_answers WHERE session_id = ? ORDER BY at, id", (sid,)
        ).fetchall()

    def of_project(self, project_id: str) -> dict[str, list[str]]:
        """What models said about each session of a project, in the order of the sessions."""
        found: dict[str, list[str]] = {}
        for sid, body in self._db.execute(
            """
            SELECT a.session_id, a.body FROM model_answers a JOIN sessions s ON s.id = a.session_id
            WHERE s.project_id = ? ORDER BY s.started_at, s.id, a.at, a.id
            """,
            (project_id,),
        ):
            found.setdefault(sid, []).append(body)
        return found


def drop_answers(db: sqlite3.Connection, sids: Sequence[str]) -> None:
    """Forget what models said about these sessions and their parents: it may repeat anything of them.

    What calls took stays; what went wrong with them may quote an answer.
    """
    for sid in sids:
        db.execute("UPDATE model_calls SET error = '' WHERE session_id = ?", (sid,))
        db.execute("UPDATE jobs SET last_error = '' WHERE kind = 'refine' AND subject = ?", (sid,))
        db.execute(
            """
            DELETE FROM model_answers WHERE session_id = :sid
                OR session_id = (SELECT parent_id FROM sessions WHERE id = :sid)
            """,
            {"sid": sid},
        )
