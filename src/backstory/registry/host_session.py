"""The session's id as the host knows it: the first row of the table `sessions` in its own database.

The database is the host's and may be locked, missing or of another shape: then there is no id, and a note.
"""

from pathlib import Path

from backstory.foreign_database import open_database

WAIT_SECONDS = 10.0


def session_id_in(database: Path | None, wait: float = WAIT_SECONDS) -> tuple[str | None, str]:
    """The id, or None and a note that says why not."""
    if database is None:
        return None, "no database is named (--db or BACKSTORY_DB): the session's id is null"
    try:
        with open_database(database, ("sessions",), seconds=wait, wait=wait) as opened:
            row = next(opened.rows("SELECT session_id FROM sessions LIMIT 1"), None)
    except (OSError, ValueError) as error:
        return None, f"no session id from {database}: {error}"
    if row is None or row[0] is None:
        return None, f"no session id from {database}: its table `sessions` has none"
    return str(row[0]), ""
