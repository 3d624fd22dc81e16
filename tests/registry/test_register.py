"""`backstory session`: what a host's own scripts did, with the same files."""

import json
import os
import sqlite3
import stat
import subprocess
import time
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from backstory.registry.host_session import WAIT_SECONDS, session_id_in

from .conftest import Host


def test_registering_writes_the_entry_and_the_id_that_older_readers_look_for(host: Host) -> None:
    """NC-1, NC-15: `sessions.<name>` with its four fields, the top-level id, one JSON line."""
    host.keeps("db-42", "db-43")
    before = int(time.time())
    assert host.registers() == {
        "session_id": "db-42",
        "session_name": "default",
        "schema_version": 1,
        "wrote_state": True,
        "wrote_sentinel": True,
    }
    whole = host.written()
    entry = whole["sessions"]["default"]
    assert set(entry) == {"started", "epoch", "session_id", "last_seen"}
    assert (entry["session_id"], whole["session_id"], whole["schema_version"]) == ("db-42", "db-42", 1)
    assert before <= entry["epoch"] <= time.time()
    assert (
        datetime.strptime(entry["started"], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC).timestamp()
        == (entry["epoch"])
    )
    assert host.sentinel.read_text() == "claude-1"
    for file in (host.state, host.sentinel):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_each_name_has_its_own_entry_and_what_others_keep_in_the_file_stays(host: Host) -> None:
    host.state.write_text(json.dumps({"seen_email_ids": [1, 2], "sessions": {"other": {"epoch": 7}}}))
    host.environment["NANOCLAW_SESSION_NAME"] = "maintenance"
    host.registers()
    whole = host.written()
    assert whole["seen_email_ids"] == [1, 2]
    assert whole["sessions"]["other"] == {"epoch": 7}
    assert "maintenance" in whole["sessions"]


def test_the_second_variable_names_the_session_if_the_first_is_empty(host: Host) -> None:
    host.environment = {"CLAUDE_SESSION_ID": "", "CLAUDE_CODE_SESSION_ID": "code-7"}
    assert host.registers()["wrote_sentinel"]
    assert host.sentinel.read_text() == "code-7"
    assert not host.needs_bootstrap()


def test_a_dozen_hosts_at_once_all_land_in_the_file(host: Host) -> None:
    """NC-2: the whole read-modify-write runs under the lock at <state>.lock."""
    running = []
    for number in range(12):
        host.environment["NANOCLAW_SESSION_NAME"] = f"group-{number}"
        command, environment = host.command("register")
        running.append(
            subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        )
    for process in running:
        process.communicate(timeout=120)
        assert process.returncode == 0
    assert set(host.written()["sessions"]) == {f"group-{number}" for number in range(12)}


def test_a_writer_waits_for_whoever_holds_the_lock(host: Host) -> None:
    """NC-2: any other program's flock on <state>.lock is respected."""
    import fcntl

    with host.state.with_name("session-state.json.lock").open("a") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        command, environment = host.command("register")
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(1.5)
        assert process.poll() is None
        assert not host.state.exists()
        fcntl.flock(held, fcntl.LOCK_UN)
    process.communicate(timeout=60)
    assert process.returncode == 0
    assert host.state.exists()


def test_state_and_sentinel_are_replaced_as_wholes(host: Host) -> None:
    """NC-3: each write is a new file renamed over the old one; nothing else is left behind."""
    host.registers()
    before = {file: file.stat().st_ino for file in (host.state, host.sentinel)}
    with host.state.open() as old_state, host.sentinel.open() as old_sentinel:
        host.environment |= {"CLAUDE_SESSION_ID": "claude-2", "NANOCLAW_SESSION_NAME": "two"}
        host.registers()
        assert json.loads(old_state.read())["sessions"].keys() == {"default"}, "the old file is whole"
        assert old_sentinel.read() == "claude-1"
    assert all(file.stat().st_ino != inode for file, inode in before.items())
    left = {path.name for path in host.root.iterdir() if path.is_file()}
    assert left == {"session-state.json", "session-state.json.lock", "session_bootstrapped"}


def test_without_an_id_no_sentinel_is_written_and_that_is_said(host: Host) -> None:
    """NC-4, NC-5: an empty id never becomes a sentinel, and always means that the bootstrap is needed."""
    host.sentinel.write_text("claude-1")
    host.environment = {}
    done = host.runs("register")
    assert done.returncode == 0
    assert json.loads(done.stdout)["wrote_sentinel"] is False
    assert "no sentinel is written" in done.stderr
    assert host.sentinel.read_text() == "claude-1"
    assert host.needs_bootstrap()
    host.sentinel.write_text("")
    assert host.needs_bootstrap(), "an empty sentinel does not match an empty id"


@pytest.mark.parametrize("found", [b"", b"\n", b"claude-10", b"claude", b"\xff\xfe", None])
def test_only_an_exact_match_means_done(host: Host, found: bytes | None) -> None:
    """NC-6: an empty, missing or different sentinel means that the bootstrap is needed."""
    if found is not None:
        host.sentinel.write_bytes(found)
    assert host.needs_bootstrap()
    host.sentinel.write_bytes(b"claude-1")
    assert not host.needs_bootstrap()


def test_a_sentinel_that_cannot_be_read_means_that_the_bootstrap_is_needed(host: Host) -> None:
    """NC-6: a folder in its place cannot be read."""
    host.sentinel.mkdir()
    assert host.needs_bootstrap()


def test_needs_bootstrap_exits_0_when_needed_and_1_when_not_with_its_reason(host: Host) -> None:
    """NC-7: and prints one JSON line."""
    done = host.runs("needs-bootstrap")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == '{"needs_bootstrap": true, "reason": "no sentinel"}\n'
    host.registers()
    done = host.runs("needs-bootstrap")
    assert done.returncode == 1
    assert json.loads(done.stdout)["needs_bootstrap"] is False
    for words in (("needs-bootstrap", "--setinel", "x"), ("needs-bootstap",), ()):
        done = host.runs(*words)
        assert (done.returncode, done.stdout) == (2, ""), "a mistyped call says neither yes nor no"


def test_a_second_session_in_the_same_container_bootstraps_again(host: Host) -> None:
    """NC-8: the first session's sentinel is not the second one's."""
    host.registers()
    assert not host.needs_bootstrap()
    host.environment["CLAUDE_SESSION_ID"] = "claude-2"
    assert host.needs_bootstrap()
    host.registers()
    assert not host.needs_bootstrap()


def test_without_a_database_the_id_is_null_with_a_note(host: Host) -> None:
    """NC-9: missing, without the table, without a row, or not a database at all."""
    done = host.runs("register")
    assert done.returncode == 0
    assert json.loads(done.stdout)["session_id"] is None
    assert str(host.database) in done.stderr
    assert not host.database.exists(), "looking does not make one"
    host.database.write_bytes(b"no database" * 400)
    assert host.registers()["session_id"] is None
    host.database.unlink()
    host.keeps()
    assert host.registers()["session_id"] is None
    assert host.written()["sessions"]["default"]["session_id"] is None


def test_a_locked_database_gives_null_after_its_wait_and_not_a_crash(host: Host) -> None:
    """NC-9: within 10 s."""
    assert WAIT_SECONDS == 10
    host.keeps("db-1")
    with closing(sqlite3.connect(host.database, isolation_level=None)) as db:
        db.execute("BEGIN EXCLUSIVE")
        begun = time.monotonic()
        found, note = session_id_in(host.database, 0.3)
    assert found is None
    assert "locked" in note
    assert time.monotonic() - begun < 10
    assert session_id_in(host.database) == ("db-1", "")


@pytest.mark.parametrize("state", [b"{not json", b"\xff\xfe\x00", b'"text"', b"[1]", b"null", b"7"])
def test_a_state_that_makes_no_sense_is_begun_anew_with_a_note(host: Host, state: bytes) -> None:
    """NC-10, NC-11: malformed, not UTF-8, or not an object."""
    host.state.write_bytes(state)
    done = host.runs("register")
    assert done.returncode == 0
    assert "a new one is begun" in done.stderr
    assert host.written()["sessions"].keys() == {"default"}


def test_sessions_that_are_no_object_are_reset_with_a_note_and_the_rest_stays(host: Host) -> None:
    """NC-11: `sessions` may be a list in a file that somebody edited."""
    host.state.write_text('{"sessions": [1], "mine": 3}')
    done = host.runs("register")
    assert "a new one is begun" in done.stderr
    assert host.written()["sessions"].keys() == {"default"}
    assert host.written()["mine"] == 3


def test_what_cannot_be_read_or_written_exits_1_with_its_path(host: Host) -> None:
    """NC-12: state, lock and sentinel alike; nothing on stdout, so no caller takes it for success."""
    host.state.mkdir()
    done = host.runs("register")
    assert (done.returncode, done.stdout) == (1, "")
    assert str(host.state) in done.stderr
    host.state.rmdir()
    host.environment["BACKSTORY_STATE"] = str(host.root / "file" / "state.json")
    (host.root / "file").write_text("not a folder")
    done = host.runs("register")
    assert (done.returncode, done.stdout) == (1, "")
    assert "state.json.lock" in done.stderr
    del host.environment["BACKSTORY_STATE"]
    host.sentinel.mkdir()
    (host.sentinel / "full").touch()
    done = host.runs("register")
    assert (done.returncode, done.stdout) == (1, "")
    assert str(host.sentinel) in done.stderr


def test_the_version_is_stamped_and_an_unversioned_file_is_upgraded(host: Host) -> None:
    """NC-13: on the next write, with what it held."""
    host.state.write_text('{"sessions": {"old": {"epoch": 1}}, "session_id": "x"}')
    host.registers()
    assert host.written()["schema_version"] == 1
    assert "old" in host.written()["sessions"]


def test_a_newer_state_is_no_usable_state_and_is_left_as_it_is(host: Host) -> None:
    """NC-14: neither register, end nor list rewrites it or reads entries out of it."""
    newer = b'{"schema_version": 2, "sessions": {"default": {"epoch": 1}}, "more": {}}'
    host.state.write_bytes(newer)
    assert host.registers()["wrote_state"] is False
    assert json.loads(host.runs("list", "--json").stdout)["sessions"] == []
    assert json.loads(host.runs("end").stdout)["ended"] is False
    assert host.state.read_bytes() == newer


def test_diagnostics_go_to_stderr_and_stdout_holds_one_line(host: Host) -> None:
    """NC-15: with every note that there can be."""
    host.state.write_bytes(b"{")
    host.environment = {}
    done = host.runs("register")
    assert done.stdout.count("\n") == 1
    assert json.loads(done.stdout)["wrote_state"] is True
    assert len(done.stderr.splitlines()) == 4


def test_a_flag_beats_the_environment_and_that_the_default(host: Host) -> None:
    """NC-24: for the state, the sentinel and the database."""
    host.keeps("from-environment")
    flagged = Host(host.root / "flagged")
    flagged.root.mkdir()
    flagged.keeps("from-flag")
    words = (
        "--state",
        str(flagged.state),
        "--sentinel",
        str(flagged.sentinel),
        "--db",
        str(flagged.database),
    )
    assert host.registers(*words)["session_id"] == "from-flag"
    assert flagged.state.exists()
    assert flagged.sentinel.exists()
    assert not host.state.exists()
    assert host.registers()["session_id"] == "from-environment"
    assert host.state.exists()
    command, environment = host.command("register")
    for name in ("STATE", "SENTINEL", "DB"):
        del environment[f"BACKSTORY_{name}"]
    subprocess.run(command, env=environment, check=True, capture_output=True)
    assert {"session-state.json", "session-bootstrapped"} <= set(os.listdir(host.root / "home"))


def test_a_session_is_listed_until_long_after_its_end(host: Host) -> None:
    host.registers()
    assert json.loads(host.runs("end").stdout) == {
        "session_name": "default",
        "schema_version": 1,
        "ended": True,
    }
    assert "default" in host.runs("list").stdout
    [row] = json.loads(host.runs("list", "--json").stdout)["sessions"]
    assert row["ended"] == row["last_seen"]
    assert json.loads(host.runs("end", "nobody").stdout)["ended"] is False


def test_a_name_of_the_host_is_data_and_no_path(host: Host, tmp_path: Path) -> None:
    host.environment["NANOCLAW_SESSION_NAME"] = '../../evil"}\n\x1b[31m'
    host.registers()
    assert '../../evil"}\n\x1b[31m' in host.written()["sessions"]
    assert "\x1b" not in host.runs("list").stdout
    assert not (tmp_path.parent / "evil").exists()
