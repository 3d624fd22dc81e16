"""The commands that keep the memory in order, as a person types them."""

import json
import os
from pathlib import Path

import pexpect
import pytest

from .memory import Memory


def first_event(memory: Memory) -> str:
    handle: str = memory.json("timeline", "--limit", "1")["events"][0]["id"]
    return handle


def test_forget_shows_first_and_then_forgets(worked: Memory) -> None:
    before = worked.json("status")["events"]
    shown = worked.call("forget", "--since", "1d", "--dry-run")
    assert shown.returncode == 0
    assert "This touches" in shown.stdout
    assert worked.json("status")["events"] == before
    done = worked.json("forget", "--since", "1d", "--yes")
    assert done["forgotten"]
    assert len(done["events"]) == before
    assert worked.json("status")["events"] == 0


def test_forget_asks_before_it_does(worked: Memory) -> None:
    handle = first_event(worked)
    refused = worked.call("forget", handle)
    assert (refused.returncode, "--yes" in refused.stderr) == (1, True)
    child = pexpect.spawn(
        os.sys.executable,  # type: ignore[attr-defined]
        ["-m", "backstory", "forget", handle],
        env={**worked.environment, "TERM": "dumb"},
        cwd=str(worked.project),
        encoding="utf-8",
        timeout=120,
    )
    child.expect("for good")
    child.sendline("n")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 130
    assert worked.call("show", handle).returncode == 0


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("forget",), "nothing to forget"),
        (("forget", "zzzzzz"), "nothing has the handle"),
        (("forget", "--text", "a", "--yes"), "too short"),
        (("forget", "--pattern", "(", "--yes"), "no regular expression"),
        (("forget", "--since", "yesterdayish"), "yesterdayish"),
        (("forget", "--text", "x y z", "--pattern", "x"), "exclude each other"),
        (("restore", "1999", "--yes"), "--list"),
        (("export", "--since", "soonish"), "soonish"),
        (("export", "--since", "2026-01-02", "--until", "2026-01-01"), "nothing lies between"),
        (("cleanup", "--max-age", "-1"), "max-age"),
    ],
)
def test_cce_74_bad_input_gets_one_line_and_the_next_step(
    worked: Memory, words: tuple[str, ...], says: str
) -> None:
    """CCE-74: an unparsable date is refused with a hint."""
    done = worked.call(*words)
    assert done.returncode in (1, 2)
    assert says in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_backup_is_made_listed_and_gone_back_to(worked: Memory) -> None:
    made = worked.json("backup")
    assert Path(made["path"]).exists()
    [listed] = worked.json("backup", "--list")["backups"]
    assert listed["events"] == made["events"]
    worked.json("forget", "--since", "1d", "--yes")
    plan = worked.json("restore", "--dry-run")
    assert (plan["restored"], plan["before"]["events"]) == (False, 0)
    worked.json("restore", "--yes")
    assert worked.json("status")["events"] == 0, "what was forgotten stays forgotten"


def test_mp_26_repair_warns_and_waits_before_it_runs(worked: Memory) -> None:
    """MP-26."""
    done = worked.call("repair")
    assert done.returncode == 0
    assert "Ctrl-C leaves all as it is" in done.stderr
    assert "The database is repaired" in done.stdout


def test_mp_26_no_repair_is_accepted_and_does_nothing(worked: Memory, tmp_path: Path) -> None:
    """MP-26: a deprecated word of the importer that others switch from."""
    before = worked.json("status")["events"]
    done = worked.call("import", "claude-code", "--path", str(tmp_path), "--no-repair")
    assert "deprecated" in done.stderr
    assert worked.json("status")["events"] == before
    assert "--no-repair" not in worked.call("import", "--help").stdout


def test_mp_25_nothing_repairs_by_itself(worked: Memory) -> None:
    """MP-25: a damaged database is reported, never touched."""
    worked.call("status")
    database = worked.home / "backstory.db"
    data = bytearray(database.read_bytes())
    data[4096 * 4 : 4096 * 9] = b"\xff" * 4096 * 5
    database.write_bytes(data)
    found = worked.call("doctor")
    assert "backstory repair" in found.stdout + found.stderr
    worked.call("search", "anything")
    assert not (worked.home / "backups").exists()


def test_an_export_is_its_owners_alone_and_never_written_over(worked: Memory, tmp_path: Path) -> None:
    file = tmp_path / "all.jsonl"
    assert worked.call("export", str(file)).returncode == 0
    assert file.stat().st_mode & 0o077 == 0
    assert "--force" in worked.call("export", str(file)).stderr
    assert worked.call("export", str(file), "--force").returncode == 0
    assert worked.call("export").stdout.splitlines()[1:] == file.read_text().splitlines()[1:]
    assert json.loads(worked.call("export", "--format", "json").stdout)["sessions"]
    assert worked.call("export", "--format", "markdown").stdout.startswith("# What was learned")


def test_cmem_18_cleanup_prints_the_count(worked: Memory) -> None:
    """CMEM-18."""
    assert worked.json("cleanup", "--max-age", "0", "--dry-run")["count"] >= 0
    assert "session" in worked.call("cleanup").stderr


def test_scrub_finds_nothing_in_a_clean_memory(worked: Memory) -> None:
    assert "No secret" in worked.call("scrub").stderr
