"""How far each history of an agent was read, and how much of it is in our copy."""

import sqlite3
from collections.abc import Iterable

from backstory.store.records import CopyMark, Mark

_MARK = "session_id, offset, size, stamp, messages, held"


class TranscriptMarks:
    """The marks of one database."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection

    def get(self, key: str) -> Mark | None:
        """How far a history was read; None if it never was."""
        row = self._db.execute(f"SELECT {_MARK} FROM transcripts WHERE path = ?", (key,)).fetchone()  # noqa: S608
        return None if row is None else Mark(*row)

    def all(self) -> dict[str, Mark]:
        """All marks, by what they are noted under."""
        rows = self._db.execute(f"SELECT path, {_MARK} FROM transcripts")  # noqa: S608 - a constant
        return {key: Mark(*rest) for key, *rest in rows}

    def set(self, key: str, mark: Mark, at: int) -> None:
        """Note how far a history was read."""
        self._db.execute(
            """
            INSERT INTO transcripts (path, session_id, offset, size, stamp, messages, held, read_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (path) DO UPDATE SET session_id = excluded.session_id, offset = excluded.offset,
                size = excluded.size, stamp = excluded.stamp, messages = excluded.messages,
                held = excluded.held, read_at = excluded.read_at
            """,
            (key, mark.session_id, mark.offset, mark.size, mark.stamp, mark.messages, mark.held, at),
        )

    def copied(self, key: str) -> CopyMark:
        """How much of a transcript is in our copy of it."""
        row = self._db.execute("SELECT kept, kept_size FROM transcripts WHERE path = ?", (key,)).fetchone()
        return CopyMark(0, 0) if row is None else CopyMark(*row)

    def set_copied(self, key: str, source: int, size: int) -> None:
        """Note how much of a transcript is in our copy of it."""
        self._db.execute("UPDATE transcripts SET kept = ?, kept_size = ? WHERE path = ?", (source, size, key))

    def resize_copy(self, sid: str, size: int) -> None:
        """Note that the copy of a session's transcript was written anew; inside a transaction."""
        self._db.execute("UPDATE transcripts SET kept_size = ? WHERE session_id = ?", (size, sid))

    def drop_copies(self, sids: Iterable[str]) -> None:
        """Note that copies of these sessions' transcripts were removed; what was in them stays out."""
        self._db.executemany(
            "UPDATE transcripts SET kept = size, kept_size = 0 WHERE session_id = ?", [(sid,) for sid in sids]
        )
