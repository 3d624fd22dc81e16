"""opencode's sessions, from its database and from the files of older versions."""

import json
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.wire.opencode_store import ROWS, SECRET, database, files, oldest_files

from backstory.agents import agent, opencode_database
from backstory.agents.history_source import Trail
from backstory.agents.opencode_history import HISTORY
from backstory.foreign_database import Unreadable
from backstory.model import Action, Event, Kind, Outcome

WORK, SUBAGENT, FULL = (
    next(row["id"] for row in ROWS["session"] if test(row))
    for test in (
        lambda row: any(child["parent_id"] == row["id"] for child in ROWS["session"]),
        lambda row: row["parent_id"],
        lambda row: (
            not row["parent_id"] and not any(child["parent_id"] == row["id"] for child in ROWS["session"])
        ),
    )
)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return database(tmp_path / "opencode.db")


def trails(place: Path) -> dict[str, Trail]:
    return {trail.part: trail for trail in map(HISTORY.identify, HISTORY.find(place)) if trail}


def read(trail: Trail) -> tuple[list[Event], Counter[str]]:
    reader = HISTORY.reader(trail, 0)
    found = [event for line in HISTORY.lines(trail, 0) for event in reader.feed(line)]
    return found + reader.finish(), reader.counts


def changed(change: Callable[[dict[str, Any]], None]) -> dict[str, list[dict[str, Any]]]:
    """The rows, each part's JSON changed."""
    rows: dict[str, list[dict[str, Any]]] = json.loads(json.dumps(ROWS))
    for row in rows["part"]:
        part = json.loads(row["data"])
        change(part)
        row["data"] = json.dumps(part)
    return rows


# --- what a session holds ---------------------------------------------------------------------------------


# MP-10, MP-11
def test_a_session_is_read_in_order_without_the_noise_of_its_steps(data: Path) -> None:
    events, counts = read(trails(data)[WORK])
    assert [(event.kind, event.action, event.outcome) for event in events] == [
        (Kind.PROMPT, "", ""),
        (Kind.TOOL, Action.RUN, Outcome.OK),
        (Kind.TOOL, Action.RUN, Outcome.FAILED),
        (Kind.TOOL, Action.WRITE, Outcome.OK),
        (Kind.TOOL, Action.EDIT, Outcome.OK),
        (Kind.TOOL, Action.READ, Outcome.FAILED),
        (Kind.TOOL, Action.DELEGATE, Outcome.OK),
        (Kind.REASONED, "", ""),
        (Kind.SAID, "", ""),
        (Kind.TURN_ENDED, "", Outcome.OK),
    ]
    assert [event.at for event in events] == sorted(event.at for event in events)
    assert {event.where.cwd for event in events} == {"/home/dev/project"}
    assert {event.session for event in events} == {WORK}
    assert counts["skipped"] > 0
    assert counts["unknown"] == counts["malformed"] == 0


def test_a_prompt_is_read_without_the_quotes_of_the_command_line(data: Path) -> None:
    [stored] = [
        row for row in ROWS["part"] if "split at commas" in row["data"] and row["session_id"] == WORK
    ][:1]
    assert json.loads(stored["data"])["text"].startswith('"')
    prompt = read(trails(data)[WORK])[0][0]
    assert prompt.text == "Make the reader split at commas"


# MP-11, CM-53
def test_reasoning_is_kept_under_its_own_name(data: Path) -> None:
    [thought] = [event for event in read(trails(data)[WORK])[0] if event.kind is Kind.REASONED]
    assert thought.text == "Commas it is, because the export has them."


def test_a_sub_agents_session_belongs_to_the_one_that_started_it(data: Path) -> None:
    trail = trails(data)[SUBAGENT]
    assert (trail.session, trail.subagent) == (WORK, SUBAGENT)
    events, _ = read(trail)
    assert [event.kind for event in events] == [Kind.TOOL, Kind.SAID, Kind.SUBAGENT_ENDED]
    assert {(event.session, event.subagent, event.subagent_type) for event in events} == {
        (WORK, SUBAGENT, "general")
    }


def test_a_compaction_is_its_summary_and_the_words_to_go_on_are_nobodys(data: Path) -> None:
    events, _ = read(trails(data)[FULL])
    assert [event.text for event in events if event.kind is Kind.PROMPT] == ["Fill it [[full]]"]
    [summary] = [event for event in events if event.kind is Kind.COMPACTED]
    assert (summary.text, summary.reason) == ("Scripted title", "auto")
    assert "Scripted title" not in [event.text for event in events if event.kind is Kind.SAID]


def test_a_call_that_never_ended_is_left_for_later(tmp_path: Path) -> None:
    def hang(part: dict[str, Any]) -> None:
        if part["type"] == "tool":
            part["state"]["status"] = "running"

    data = database(tmp_path / "opencode.db", changed(hang))
    assert Kind.TOOL not in {event.kind for event in read(trails(data)[WORK])[0]}


@pytest.mark.parametrize(
    ("error", "kind", "outcome"),
    [
        ({"name": "APIError", "data": {"message": "overloaded"}}, Kind.TURN_FAILED, Outcome.FAILED),
        ({"name": "MessageAbortedError", "data": {}}, Kind.TURN_ENDED, Outcome.INTERRUPTED),
    ],
)
def test_how_a_turn_ends_badly(tmp_path: Path, error: object, kind: Kind, outcome: Outcome) -> None:
    rows: dict[str, list[dict[str, Any]]] = json.loads(json.dumps(ROWS))
    last = [row for row in rows["message"] if row["session_id"] == WORK][-1]
    last["data"] = json.dumps({**json.loads(last["data"]), "error": error})
    event = read(trails(database(tmp_path / "opencode.db", rows))[WORK])[0][-1]
    assert (event.kind, event.outcome) == (kind, outcome)


def test_an_older_message_that_was_completed_ends_its_turn_without_saying_how(tmp_path: Path) -> None:
    rows: dict[str, list[dict[str, Any]]] = json.loads(json.dumps(ROWS))
    for row in rows["message"]:
        message = json.loads(row["data"])
        message.pop("finish", None)
        row["data"] = json.dumps(message)
    events, _ = read(trails(database(tmp_path / "opencode.db", rows))[WORK])
    now, _ = read(trails(database(tmp_path / "now.db"))[WORK])
    assert [replace(e, transcript="") for e in events] == [replace(e, transcript="") for e in now]
    last = [row for row in rows["message"] if row["session_id"] == WORK][-1]
    last["data"] = json.dumps({**json.loads(last["data"]), "time": {"created": 1}})
    unfinished, _ = read(trails(database(tmp_path / "unfinished.db", rows))[WORK])
    assert Kind.TURN_ENDED not in {event.kind for event in unfinished}


# MP-9
@pytest.mark.parametrize("lay_down", [lambda place: database(place / "opencode.db"), files, oldest_files])
def test_mp_9_a_session_has_the_title_that_opencode_gave_it(
    tmp_path: Path, lay_down: Callable[[Path], Path]
) -> None:
    for part, title in ((WORK, "Scripted title"), (SUBAGENT, "scripted sub-task (@general subagent)")):
        place = tmp_path / part
        place.mkdir()
        trail = trails(lay_down(place))[part]
        reader = HISTORY.reader(trail, 0)
        for line in HISTORY.lines(trail, 0):
            reader.feed(line)
        assert reader.title == title


def test_the_name_of_a_session_without_a_title_is_none(tmp_path: Path) -> None:
    rows: dict[str, list[dict[str, Any]]] = json.loads(json.dumps(ROWS))
    for row in rows["session"]:
        row["title"] = "New session - 2026-11-16T04:00:00.000Z"
    trail = trails(database(tmp_path / "opencode.db", rows))[WORK]
    reader = HISTORY.reader(trail, 0)
    reader.feed(next(iter(HISTORY.lines(trail, 0))))
    assert reader.title == ""


# --- other layouts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("lay_down", [files, oldest_files])
def test_older_layouts_tell_the_same(tmp_path: Path, lay_down: Callable[[Path], Path]) -> None:
    now = trails(database(tmp_path / "opencode.db"))
    before = trails(lay_down(tmp_path / "older"))
    assert set(before) == set(now) == {WORK, SUBAGENT, FULL}
    for part, trail in now.items():
        assert (before[part].session, before[part].subagent) == (trail.session, trail.subagent)
        assert before[part].size == trail.size
        told = [(e.kind, e.native_id, e.text, e.target, e.outcome) for e in read(trail)[0]]
        assert [(e.kind, e.native_id, e.text, e.target, e.outcome) for e in read(before[part])[0]] == told


def test_what_was_moved_into_the_database_is_not_read_from_its_files_again(tmp_path: Path) -> None:
    database(tmp_path / "opencode.db")
    files(tmp_path)
    found = list(HISTORY.find(tmp_path))
    assert {trail.path.name for trail in found} == {"opencode.db"}
    assert len(found) == 3


# MP-12, MP-13
def test_broken_records_are_counted_and_passed_over(tmp_path: Path) -> None:
    rows: dict[str, list[dict[str, Any]]] = json.loads(json.dumps(ROWS))
    broken = next(row for row in rows["part"] if "echo checking" in row["data"])
    broken["data"] = broken["data"][:40] + "\n"
    rows["part"].append({**broken, "id": "prt_new", "data": '{"type": "hologram"}'})
    events, counts = read(trails(database(tmp_path / "opencode.db", rows))[WORK])
    assert next(event.target for event in events if event.kind is Kind.TOOL) == "ls missing-folder"
    assert (counts["malformed"], counts["unknown"]) == (1, 1)


# MP-22
def test_words_of_any_language_come_through(tmp_path: Path) -> None:
    def translate(part: dict[str, Any]) -> None:
        if part.get("text") == "The reader splits at commas.":
            part["text"] = "読者はカンマで区切ります 🎌"

    events, _ = read(trails(database(tmp_path / "opencode.db", changed(translate)))[WORK])
    assert "読者はカンマで区切ります 🎌" in [event.text for event in events]


def test_a_session_that_went_on_has_another_size(tmp_path: Path) -> None:
    """Which is how an import knows that it grew."""
    data = database(tmp_path / "opencode.db")
    before = trails(data)[WORK]
    with closing(sqlite3.connect(data)) as opened:
        opened.execute(
            "INSERT INTO part SELECT 'prt_zzz', message_id, session_id, time_created, time_updated, data"
            " FROM part WHERE session_id = ? LIMIT 1",
            (WORK,),
        )
        opened.commit()
    assert trails(data)[WORK].size == before.size + 1


# --- what must not be read --------------------------------------------------------------------------------


@pytest.mark.parametrize("table", ["account", "control_account", "credential", "session_share"])
def test_tables_with_secrets_cannot_be_read_at_all(data: Path, table: str) -> None:
    with opencode_database.open_tables(data) as opened:
        with pytest.raises(sqlite3.DatabaseError, match=r"prohibited|not authorized"):
            opened.connection.execute(f"SELECT * FROM {table}").fetchall()
        assert opened.connection.execute("SELECT count(*) FROM session").fetchone() == (3,)


# MP-1
@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM session",
        "UPDATE part SET data = ''",
        "DROP TABLE part",
        "ATTACH 'x' AS y",
        "PRAGMA user_version",
    ],
)
def test_mp_1_nothing_can_be_changed(data: Path, statement: str) -> None:
    with opencode_database.open_tables(data) as opened, pytest.raises(sqlite3.DatabaseError):
        opened.connection.execute(statement)


def test_reading_leaves_the_folder_as_it_was_and_no_secret_comes_along(data: Path) -> None:
    before = {path.name: path.read_bytes() for path in data.parent.iterdir()}
    told = b"".join(line for trail in HISTORY.find(data.parent) for line in HISTORY.lines(trail, 0))
    assert SECRET.encode() not in told
    assert {path.name: path.read_bytes() for path in data.parent.iterdir()} == before


WRITER = """
import sqlite3, sys
writing = sqlite3.connect(sys.argv[1])
writing.execute("UPDATE session SET time_updated = 9999999999999 WHERE id = ?", sys.argv[2:])
writing.commit()
print(flush=True)
sys.stdin.read()
"""


# MP-1
@pytest.mark.parametrize("killed", [False, True])
def test_mp_1_what_opencode_has_not_yet_folded_in_is_read_too_and_left_where_it_is(
    data: Path, killed: bool
) -> None:
    words = [sys.executable, "-c", WRITER, str(data), WORK]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        if killed:
            writer.kill()
            writer.wait()
        before = {path.name: path.read_bytes() for path in data.parent.iterdir()}
        assert before["opencode.db-wal"]
        assert before["opencode.db-shm"]
        assert trails(data)[WORK].updated == 9999999999999
        assert {path.name: path.read_bytes() for path in data.parent.iterdir()} == before
        writer.communicate()


def test_a_database_of_something_else_holds_no_sessions(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "opencode.db")) as opened:
        opened.execute("CREATE TABLE notes (text)")
    assert list(HISTORY.find(tmp_path)) == []


def test_a_file_that_is_no_database_is_an_error_of_its_own(tmp_path: Path) -> None:
    """It is found, so that an import can name it, and it hides nothing else."""
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "opencode.db").write_bytes(b"not a database at all" * 100)
    database(tmp_path / "opencode.db")
    broken, *others = sorted(HISTORY.find(tmp_path), key=lambda trail: len(trail.session))
    assert len(others) == 3
    with pytest.raises(OSError, match="cannot be read"):
        HISTORY.identify(broken)


# --- where it lies ----------------------------------------------------------------------------------------


def test_things_lie_where_opencode_looks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    surface = agent("opencode").surface
    assert surface is not None
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "OPENCODE_DB", "OPENCODE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert surface.settings(None) == tmp_path / ".config" / "opencode" / "plugins" / "backstory.js"
    assert surface.settings(tmp_path / "p") == tmp_path / "p" / ".opencode" / "plugins" / "backstory.js"
    assert HISTORY.root() == tmp_path / ".local" / "share" / "opencode"
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    assert HISTORY.root() == tmp_path / "data" / "opencode"
    assert surface.settings(None) == tmp_path / "config" / "opencode" / "plugins" / "backstory.js"
    monkeypatch.setenv("OPENCODE_DB", "other.db")
    assert HISTORY.root() == tmp_path / "data" / "opencode" / "other.db"
    monkeypatch.setenv("OPENCODE_DB", str(tmp_path / "mine.db"))
    assert HISTORY.root() == tmp_path / "mine.db"


def test_a_database_of_any_name_is_read_when_it_is_named(tmp_path: Path) -> None:
    assert set(trails(database(tmp_path / "mine.db"))) == {WORK, SUBAGENT, FULL}


# --- while opencode is at work ----------------------------------------------------------------------------


def test_a_database_in_mid_transaction_is_locked_and_not_damaged(tmp_path: Path) -> None:
    file = database(tmp_path / "opencode.db")
    with closing(sqlite3.connect(file, isolation_level=None)) as writer:
        writer.execute("PRAGMA journal_mode = DELETE")
        writer.execute("PRAGMA cache_size = 2")
        writer.execute("BEGIN EXCLUSIVE")
        writer.execute("UPDATE part SET data = data || ' '")
        with pytest.raises(Unreadable, match="another program is writing to it"):
            opencode_database.session_rows(file)
        writer.execute("ROLLBACK")
    assert opencode_database.session_rows(file)


def growing(tmp_path: Path, finished: bool) -> Trail:
    """A session whose last answer is still being written."""
    rows: dict[str, list[dict[str, Any]]] = json.loads(json.dumps(ROWS))
    last = max(
        (row for row in rows["message"] if row["session_id"] == WORK), key=lambda row: row["time_created"]
    )
    message = json.loads(last["data"])
    if not finished:
        message.get("time", {}).pop("completed", None)
        message.pop("finish", None)
    last["data"] = json.dumps(message)
    for row in rows["part"]:
        part = json.loads(row["data"])
        if row["message_id"] == last["id"] and part["type"] == "text" and not finished:
            part["text"] = part["text"][:5]
            part["time"] = {"start": 1}
            row["data"] = json.dumps(part)
    return trails(database(tmp_path / f"opencode-{finished}.db", rows))[WORK]


def test_an_answer_that_is_still_being_written_waits_until_it_is_whole(tmp_path: Path) -> None:
    for finished in (False, True):
        trail = growing(tmp_path, finished)
        reader = HISTORY.reader(trail, 0)
        told = [event for line in HISTORY.lines(trail, 0) for event in reader.feed(line)]
        assert (Kind.SAID in {event.kind for event in told}) is finished
        rest = reader.finish()  # nobody writes any more: then what is there is all
        assert (Kind.SAID in {event.kind for event in rest}) is not finished
