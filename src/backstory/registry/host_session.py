"""The session's id as the host knows it: the first row of the table `sessions` in its own database.

The database is the host's and may be locked, missing or of another shape: then there is no id, and a note.
"""

import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from backstory.file_reader import require_database

WAIT_SECONDS = 10.0


def session_id_in(database: Path | None, wait: float = WAIT_SECONDS) -> tuple[str | None, str]:
    """The id, or None and a note that says why not."""
    if database is None:
        return None, "no database is named (--db or BACKSTORY_DB): the session's id is null"
    address = f"file:{quote(str(database.absolute()))}?mode=ro"
    try:
        require_database(database)
        with closing(sqlite3.connect(address, uri=True, timeout=wait)) as connection:
            row = connection.execute("SELECT session_id FROM sessions LIMIT 1").fetchone()
    except (sqlite3.Error, OSError, ValueError) as error:
        return None, f"no session id from {database}: {error}"
    if row is None or row[0] is None:
        return None, f"no session id from {database}: its table `sessions` has none"
    return str(row[0]), ""
