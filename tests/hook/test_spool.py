"""The spool's file format: names, trailer, order."""

import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backstory.hook import spool
from backstory.hook.time_limit import TimeLimit


def test_a_name_says_who_wrote_the_file() -> None:
    name = spool.parse_name("claude-code.PostToolUse.12.345.2")
    assert name is not None
    assert (name.agent, name.event, name.ppid, name.pid, name.serial) == (
        "claude-code",
        "PostToolUse",
        12,
        345,
        2,
    )


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            ".",
            "....",
            "a.b.1",
            "a.b.1.2.3.4",
            "a.b.x.2",
            "a.b.1.2.fail",
            "a.b.-1.2",
            ".DS_Store",
            "a..1.2",
        ),
        *(
            "a.b.1.²",
            "a/b.c.1.2",
            "../x.b.1.2",
            "é.b.1.2",
            "a.b.1.2\n",
            f"a.b.1.{'9' * 300}",
            ".a.b.1.2",
            "--.b. 1.2",
        ),
    ],
)
def test_foreign_names_are_not_ours(text: str) -> None:
    assert spool.parse_name(text) is None


@given(st.text(max_size=300))
def test_any_name_parses_or_is_none(text: str) -> None:
    name = spool.parse_name(text)
    assert name is None or "/" not in name.agent + name.event
    spool.parse_fail(text)


def test_a_mark_names_agent_event_and_reason() -> None:
    assert spool.parse_fail("claude-code.Stop.1.2.write.fail") == ("claude-code", "Stop", "write")
    assert spool.parse_fail("claude-code.Stop.1.2.3.answer-142.fail") == ("claude-code", "Stop", "answer-142")
    assert spool.parse_fail("interpreter.fail") == ("", "", "interpreter")
    assert spool.parse_fail("claude-code.Stop.1.2") is None
    assert spool.parse_fail("what.ever.fail") is None


def test_what_is_written_is_read_again_once_it_is_finished(tmp_path: Path) -> None:
    path = spool.write_spooled(str(tmp_path), "codex", "Stop", b'{"a":1}')
    assert spool.read_spooled(path) == b'{"a":1}'
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    Path(path).write_bytes(b'{"a":1}')
    assert spool.read_spooled(path) is None
    assert spool.read_spooled(str(tmp_path / "gone")) is None


def test_many_from_one_process_get_names_of_their_own(tmp_path: Path) -> None:
    paths = {
        spool.write_spooled(str(tmp_path / "spool"), "codex", "Stop", b"%d" % number) for number in range(300)
    }
    assert len(paths) == 300
    assert all(spool.parse_name(os.path.basename(path)) for path in paths)


def test_files_come_in_the_order_of_their_times_and_only_the_newest_if_asked(tmp_path: Path) -> None:
    for number in (3, 1, 2, 5, 4):
        path = tmp_path / f"codex.Stop.1.{number}"
        path.write_bytes(spool.TRAILER)
        os.utime(path, (1000 + number, 1000 + number))
    (tmp_path / "codex.Stop.1.9").mkdir()
    (tmp_path / "codex.Stop.1.8").symlink_to("codex.Stop.1.1")
    (tmp_path / "notes.txt").write_text("not ours")
    assert [entry.name.pid for entry in spool.spool_entries(str(tmp_path))] == [1, 2, 3, 4, 5]
    assert [entry.name.pid for entry in spool.spool_entries(str(tmp_path), newest=2)] == [4, 5]
    assert len(spool.spool_entries(str(tmp_path), until=TimeLimit(10, 0))) <= 1
    assert spool.spool_entries(str(tmp_path / "nowhere")) == []


def test_what_cannot_be_written_leaves_a_mark_and_raises(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(fd: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space left"):
        spool.write_spooled(str(tmp_path), "codex", "Stop", b"x")
    (mark,) = tmp_path.glob("*.fail")
    assert spool.parse_fail(mark.name) == ("codex", "Stop", "write")


def test_a_deleted_home_is_not_brought_back(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        spool.write_spooled(str(tmp_path / "home" / "spool"), "codex", "Stop", b"x")
    assert not (tmp_path / "home").exists()
