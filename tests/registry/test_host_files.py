"""The state and the sentinel are the host's files: what is not ours in them, and about them, stays."""

import json
import os
import resource
import socket
import stat
import subprocess
from pathlib import Path

import pytest

from backstory.registry import session_state as states
from backstory.registry.session_state import RegistryFailed

from .conftest import Host

AS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("bits", [0o664, 0o640, 0o600, 0o666])
def test_state_and_sentinel_keep_their_mode_and_new_ones_are_private(host: Host, bits: int) -> None:
    """NC-25: a host under another uid keeps its access."""
    host.state.write_text('{"sessions": {}}')
    host.sentinel.write_text("claude-0")
    for file in (host.state, host.sentinel):
        file.chmod(bits)
    host.registers()
    assert host.runs("end").returncode == 0
    assert (mode(host.state), mode(host.sentinel)) == (bits, bits)
    for file in (host.state, host.sentinel):
        file.unlink()
    host.registers()
    assert (mode(host.state), mode(host.sentinel)) == (0o600, 0o600)


@pytest.mark.skipif(not AS_ROOT, reason="only root may give a file away")
def test_state_and_sentinel_keep_their_owner_and_group(host: Host) -> None:
    """NC-25."""
    for file in (host.state, host.sentinel):
        file.write_text("{}")
        file.chmod(0o664)
        os.chown(file, 1234, 2345)
    host.registers()
    for file in (host.state, host.sentinel):
        found = file.stat()
        assert (found.st_uid, found.st_gid, mode(file)) == (1234, 2345, 0o664)


def test_entries_that_are_no_objects_stay_when_others_are_written(host: Host) -> None:
    theirs = {"legacy": "abc", "list": [1], "null": None, "other": {"epoch": 7}}
    host.state.write_text(json.dumps({"sessions": theirs}))
    host.registers()
    assert host.runs("end").returncode == 0
    sessions = host.written()["sessions"]
    assert {name: sessions[name] for name in theirs} == theirs
    assert "ended" in sessions["default"]
    listed = json.loads(host.runs("list", "--json").stdout)["sessions"]
    assert {row["name"] for row in listed} == {"other", "default"}


def test_a_newer_state_gets_neither_state_nor_sentinel(host: Host) -> None:
    """NC-14: a session that is not in the state was not registered, and needs its bootstrap again."""
    for version in (2, 1.5, 10**30):
        host.state.write_text(json.dumps({"schema_version": version, "sessions": {}}))
        before = host.state.read_bytes()
        done = host.runs("register")
        assert done.returncode == 0
        told = json.loads(done.stdout)
        assert (told["wrote_state"], told["wrote_sentinel"]) == (False, False)
        assert "newer" in done.stderr
        assert "no session id in the environment" not in done.stderr
        assert (host.state.read_bytes(), host.sentinel.exists()) == (before, False)
        assert host.needs_bootstrap()


@pytest.mark.parametrize(
    "damaged", [b'{"sessions": {"a"', b"\xff\xfe", b"[1]", b'{"sessions": [1], "mine": 3}']
)
def test_a_state_that_is_begun_anew_is_kept_under_a_dated_name(host: Host, damaged: bytes) -> None:
    host.state.write_bytes(damaged)
    host.state.chmod(0o664)
    assert host.runs("list").returncode == 0
    assert host.state.read_bytes() == damaged, "looking changes nothing"
    done = host.runs("register")
    assert done.returncode == 0
    (kept,) = host.root.glob("session-state.json.bak-*")
    assert kept.read_bytes() == damaged
    assert kept.name in done.stderr
    assert mode(host.state) == 0o664
    host.registers()
    assert list(host.root.glob("session-state.json.bak-*")) == [kept], "a whole one is not copied"


def in_place_of(path: Path, kind: str) -> None:
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(path))
    elif kind == "device":
        path.symlink_to("/dev/zero")


@pytest.mark.parametrize("kind", ["folder", "pipe", "socket", "device"])
def test_a_state_that_cannot_be_read_is_refused_and_not_taken_for_an_empty_one(host: Host, kind: str) -> None:
    """NC-12: it may be whole; nothing is written in its place, and no sentinel either."""
    in_place_of(host.state, kind)
    with pytest.raises(RegistryFailed, match="cannot be read"):
        states.read_state(host.state)
    for words in ("register", "end", "list"):
        done = host.runs(words)
        assert (done.returncode, done.stdout) == (1, ""), words
        assert f"the state {host.state} cannot be read" in done.stderr, words
    assert not host.sentinel.exists()
    assert not host.state.is_file()


@pytest.mark.skipif(AS_ROOT, reason="root may read everything")
def test_a_state_without_permission_is_refused(host: Host) -> None:
    """NC-12."""
    host.state.write_text('{"sessions": {"a": {}}}')
    host.state.chmod(0)
    done = host.runs("register")
    assert (done.returncode, done.stdout) == (1, "")
    assert f"the state {host.state} cannot be read" in done.stderr


@pytest.mark.parametrize("kind", ["folder", "pipe", "socket", "device"])
def test_a_sentinel_that_is_no_file_never_blocks_and_is_never_replaced(host: Host, kind: str) -> None:
    """NC-6, NC-12."""
    in_place_of(host.sentinel, kind)
    assert host.needs_bootstrap()
    done = host.runs("register")
    assert (done.returncode, done.stdout) == (1, "")
    assert f"the sentinel {host.sentinel} cannot be written" in done.stderr
    assert host.sentinel.exists()
    assert not host.sentinel.is_file()


@pytest.mark.parametrize("name", ["state", "sentinel"])
def test_a_write_that_fails_is_an_error_with_its_path_and_leaves_the_old_file(host: Host, name: str) -> None:
    """NC-12, NC-26: no file may grow beyond some bytes, as on a full disk."""
    host.registers()
    file: Path = getattr(host, name)
    before = file.read_bytes()
    host.environment["CLAUDE_SESSION_ID"] = "claude-" + "2" * 3_000
    room = 100 if name == "state" else 2_000
    command, environment = host.command("register")
    done = subprocess.run(
        command,
        env={**environment, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=60,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room)),
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert f"the {name} {file} cannot be written" in done.stderr
    assert file.read_bytes() == before
    assert not [path for path in host.root.iterdir() if path.name.startswith(".")]


def test_a_database_that_is_a_pipe_gives_no_id_and_never_blocks(host: Host) -> None:
    """NC-9."""
    os.mkfifo(host.database)
    done = host.runs("register")
    assert done.returncode == 0
    assert json.loads(done.stdout)["session_id"] is None
    assert "a named pipe" in done.stderr
