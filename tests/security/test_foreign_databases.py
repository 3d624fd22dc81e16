"""Databases of other programs that somebody made so that reading them never ends: everybody gives up in time."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from backstory.agents import opencode_database
from backstory.foreign_database import Unreadable, open_database
from backstory.importers.sqlite_tables import open_tables
from backstory.registry.host_session import session_id_in
from tests.cli.memory import Memory

JOIN = (
    "CREATE VIEW message AS SELECT a.id id, a.session_id session_id, a.time_created time_created, a.data data"
    " FROM part a, part b, part c, part d"
)
ENDLESS = (
    "CREATE VIEW message AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x FROM n)"
    " SELECT x id, x session_id, x time_created, x data FROM n"
)
COMPUTED = "CREATE TABLE message (id, session_id, time_created, data AS (hex(zeroblob(30000000))), more AS (hex(data)))"
VIRTUAL = "CREATE VIRTUAL TABLE message USING fts5(id, session_id, time_created, data)"


def hostile(file: Path, how: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(file)) as made:
        made.execute("CREATE TABLE session (id, parent_id, directory, title, time_created, time_updated)")
        made.execute("CREATE TABLE part (id, message_id, session_id, time_created, data)")
        made.execute("INSERT INTO session VALUES ('ses_1', NULL, '/', 'x', 1, 1)")
        made.executemany("INSERT INTO part VALUES (?, 'm', 'ses_1', 1, '{}')", [(n,) for n in range(2000)])
        made.execute(how)
        if how == COMPUTED:
            made.execute("INSERT INTO message (id, session_id, time_created) VALUES ('m', 'ses_1', 1)")
        made.commit()
    return file


ways = pytest.mark.parametrize("how", [JOIN, ENDLESS, COMPUTED, VIRTUAL])


@ways
def test_what_is_no_plain_table_is_not_read(tmp_path: Path, how: str) -> None:
    file = hostile(tmp_path / "opencode.db", how)
    with pytest.raises(Unreadable, match="message is not a plain table"):
        opencode_database.session_rows(file)
    with pytest.raises(Unreadable):
        list(opencode_database.message_rows(file, "ses_1"))
    with open_tables(file) as tables:
        assert "message" not in tables
        assert "part" in tables
    with open_database(file) as database, pytest.raises(Unreadable):
        next(database.rows("SELECT data FROM message"))


def test_a_query_that_never_ends_is_given_up(tmp_path: Path) -> None:
    file = hostile(tmp_path / "other.db", JOIN)
    query = "SELECT count(*) FROM part a, part b, part c, part d"
    with open_database(file, seconds=0.2) as database, pytest.raises(Unreadable, match="takes too long"):
        next(database.rows(query))


def test_rows_without_an_end_are_given_up(tmp_path: Path) -> None:
    """As of damaged pages that name each other: more than the file can hold."""
    file = hostile(tmp_path / "other.db", JOIN)
    with open_database(file) as database, pytest.raises(Unreadable, match="more rows than fit"):
        for _ in database.rows("SELECT a.data, hex(zeroblob(1000)) FROM part a, part b, part c"):
            pass


def branching(file: Path) -> Path:
    """Pages of a table that all name the same page below them, some twenty levels deep: 10^30 rows."""
    with closing(sqlite3.connect(file)) as made:
        made.execute("PRAGMA page_size = 512")
        for table in ("session", "message", "part"):
            made.execute(
                f"CREATE TABLE {table} (id, message_id, session_id, parent_id, time_created, time_updated, data)"
            )
        rows = [(f"prt_{n}", "msg_1", "ses_1", n, "x" * 300) for n in range(20_000)]
        made.executemany("INSERT INTO part VALUES (?, ?, ?, NULL, ?, 1, ?)", rows)
        made.commit()
        (root,) = made.execute("SELECT rootpage FROM sqlite_master WHERE name = 'part'").fetchone()
    data = bytearray(file.read_bytes())
    pages = range(2, len(data) // 512 + 1)
    inner = [page for page in pages if data[(page - 1) * 512] == 5 and page != root][:15]
    leaf = next(page for page in reversed(pages) if data[(page - 1) * 512] == 13)
    for page, below in zip([root, *inner], [*inner, leaf], strict=True):
        at = (page - 1) * 512
        data[at + 8 : at + 12] = below.to_bytes(4, "big")
        for cell in range(int.from_bytes(data[at + 3 : at + 5], "big")):
            place = at + int.from_bytes(data[at + 12 + 2 * cell : at + 14 + 2 * cell], "big")
            data[place : place + 4] = below.to_bytes(4, "big")
    file.write_bytes(data)
    return file


def test_pages_that_name_each_other_are_no_table_without_an_end(tmp_path: Path) -> None:
    file = branching(tmp_path / "opencode.db")
    with pytest.raises(Unreadable, match="more rows than fit"):
        list(opencode_database.message_rows(file, "ses_1"))
    with open_database(file, seconds=0.5) as database, pytest.raises(Unreadable, match="takes too long"):
        list(database.rows("SELECT session_id, count(*) FROM part GROUP BY session_id"))


def test_a_host_whose_sessions_are_a_view_has_no_id(tmp_path: Path) -> None:
    file = hostile(tmp_path / "host.db", JOIN.replace("message", "sessions", 1))
    found, note = session_id_in(file)
    assert found is None
    assert "no session id" in note


def test_import_and_doctor_end_with_a_message(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "user").mkdir()
    memory = Memory(tmp_path / "home", tmp_path / "shop", tmp_path / "user")
    assert memory.run("install", "opencode", "--yes").returncode == 0
    file = hostile(memory.user / ".local/share/opencode/opencode.db", JOIN)
    done = memory.run("import", "opencode")
    assert "message is not a plain table" in done.stdout + done.stderr
    for words in (["import", "opencode", "--path", str(file)], ["doctor"], ["doctor", "--fix"]):
        done = memory.run(*words)
        assert "Traceback" not in done.stderr
        assert "message is not a plain table" in done.stdout + done.stderr, words
