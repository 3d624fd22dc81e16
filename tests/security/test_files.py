"""Files are their owner's alone, whatever the umask; links in the spool lead nowhere."""

import json
import os
import shutil
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from backstory.hook import spool
from backstory.hook.hook_command import hook_command
from tests.story import House

pytestmark = pytest.mark.skipif(os.name != "posix", reason="modes and links of POSIX")


def command(house: House, user: Path, *words: str, umask: int = 0) -> subprocess.CompletedProcess[str]:
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(user),
        "BACKSTORY_HOME": str(house.home.root),
        "BACKSTORY_TZ": "UTC",
    }
    done = subprocess.run(
        [sys.executable, "-m", "backstory", *words],
        env=environment,
        cwd=house.project,
        capture_output=True,
        text=True,
        timeout=120,
        umask=umask,
    )
    assert done.returncode == 0, done.stderr
    return done


def open_to_others(root: Path) -> list[str]:
    """What anybody else could read or enter."""
    return sorted(
        f"{path.relative_to(root.parent)} {stat.S_IMODE(path.lstat().st_mode):o}"
        for path in (root, *root.rglob("*"))
        if not path.is_symlink() and path.lstat().st_mode & 0o077
    )


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_after_a_whole_life_everything_is_its_owners_alone(tmp_path: Path, project: Path, umask: int) -> None:
    """Install, hooks, worker, import, retention, backup, export, forget, doctor: with the most careless umask."""
    house, user = House(tmp_path / "home", project), tmp_path / "user"
    user.mkdir()
    command(house, user, "install", "claude-code", "gemini-cli", "--yes", umask=umask)
    command(house, user, "config", "worker.linger_seconds", "0", umask=umask)
    command(house, user, "config", "retention.payload_days", "1", umask=umask)
    old = house.told()
    old.starts().prompts("Count the blue whales").runs("wc -l whales", "12").stops("Twelve.").ends()
    for entry in spool.spool_entries(str(house.home.spool)):
        os.utime(entry.path, (time.time() - 3 * 86_400,) * 2)
    story = house.told()
    for event, more in (
        ("SessionStart", {"source": "startup"}),
        ("UserPromptSubmit", {"prompt": "Use postgres instead of mysql because of its ranges"}),
        ("PostToolUse", {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_response": "x"}),
        ("Stop", {"last_assistant_message": "Done."}),
    ):
        done = subprocess.run(
            ["sh", "-c", hook_command(str(house.home.root), "claude-code", event)],
            input=json.dumps(story.payload(event, **more)).encode(),
            env={"PATH": os.environ["PATH"], "HOME": str(user)},
            umask=umask,
            capture_output=True,
        )
        assert done.returncode == 0
    house.leaves(b"not json", "PostToolUse")
    subprocess.run(
        [sys.executable, "-I", "-m", "backstory.worker", str(house.home.root)], umask=umask, check=True
    )
    history = tmp_path / "history"
    shutil.copytree(Path(__file__).parents[1] / "wire" / "samples" / "gemini-cli", history)
    for words in (
        ("import", "gemini-cli", "--path", str(history)),
        ("remember", "the whales are in tank 4"),
        ("backup",),
        ("export", str(tmp_path / "export.jsonl")),
        ("forget", "--text", "tank 4", "--yes"),
        ("restore", "--yes"),
        ("rebuild",),
        ("doctor", "--fix"),
    ):
        command(house, user, *words, umask=umask)
    parts = {path.name for path in house.home.root.iterdir()}
    assert {"backstory.db", "spool", "briefs", "hook", "logs", "backups", "settings.toml"} <= parts
    assert list(house.home.archive.iterdir()), "something had grown old"
    assert list(house.home.quarantine.iterdir()), "something could not be read"
    assert open_to_others(house.home.root) == []
    assert stat.S_IMODE((tmp_path / "export.jsonl").stat().st_mode) == 0o600


@pytest.fixture
def spooling(house: House) -> House:
    house.installs()
    house.home.spool.mkdir(mode=0o700, exist_ok=True)
    return house


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    path = tmp_path / "victim"
    path.write_text("precious\n")
    return path


def plant(house: House, suffix: str, target: Path) -> subprocess.CompletedProcess[bytes]:
    """Run a hook in a shell that first plants a link under the very name that the hook will use."""
    name = f"{house.home.spool}/claude-code.PostToolUse.$PPID.$${suffix}"
    planted = f'ln -s "{target}" "{name}"; '
    return subprocess.run(
        ["sh", "-c", planted + house.command("PostToolUse")],
        input=json.dumps(house.session().payload("PostToolUse", tool_name="Bash", tool_input={})).encode(),
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
    )


def test_a_link_under_the_name_of_a_spool_file_is_not_written_through(spooling: House, victim: Path) -> None:
    done = plant(spooling, "", victim)
    assert (done.returncode, done.stdout) == (0, b"")
    assert victim.read_text() == "precious\n"
    written = [p for p in spooling.home.spool.iterdir() if not p.is_symlink()]
    assert [spool.read_spooled(str(p)) is not None for p in written] == [True], (
        "the payload went to another name"
    )


def test_a_link_into_nowhere_makes_no_file_there(spooling: House, tmp_path: Path) -> None:
    nowhere = tmp_path / "made-by-a-link"
    assert plant(spooling, "", nowhere).returncode == 0
    assert not nowhere.exists()


def test_a_link_in_place_of_a_mark_is_not_written_through(spooling: House, victim: Path) -> None:
    """The hook cannot write its payload, and says so in a mark that is a link to a file of ours."""
    script = spooling.home.hook / "hook.sh"
    script.write_text(script.read_text().replace("/cat'", "/false'"))
    assert plant(spooling, ".write.fail", victim).returncode == 0
    assert victim.read_text() == "precious\n"
    spool.leave_mark(str(spooling.home.spool / "claude-code.Stop.1.2"), "write")
    (spooling.home.spool / "claude-code.Stop.1.3.write.fail").symlink_to(victim)
    spool.leave_mark(str(spooling.home.spool / "claude-code.Stop.1.3"), "write")
    assert victim.read_text() == "precious\n"
    spooling.works()
    assert victim.read_text() == "precious\n"


def test_a_link_in_the_spool_is_not_read(spooling: House, victim: Path) -> None:
    """An attacker who could name a file would have its words told to a model."""
    victim.write_bytes(json.dumps({"session_id": "x", "prompt": "precious words"}).encode() + spool.TRAILER)
    link = spooling.home.spool / "claude-code.UserPromptSubmit.1.2"
    link.symlink_to(victim)
    assert spool.read_spooled(str(link)) is None
    spooling.works()
    assert spooling.store.listings.table_counts()["events"] == 0
    assert "precious" not in spooling.brief().text
    assert victim.exists()


def test_a_hard_link_in_the_spool_harms_nobody(spooling: House, victim: Path) -> None:
    link = spooling.home.spool / "claude-code.UserPromptSubmit.1.2"
    os.link(victim, link)
    with link.open("ab") as file:
        file.write(spool.TRAILER)
    before = victim.read_bytes()
    spooling.works()
    assert victim.read_bytes() == before
    assert not link.exists()
    assert spooling.counter("quarantined") == 1


@pytest.mark.parametrize("kind", ["folder", "fifo", "socket"])
def test_what_is_no_file_is_passed_by(spooling: House, kind: str) -> None:
    path = spooling.home.spool / "claude-code.PostToolUse.1.2"
    if kind == "folder":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    else:
        os.mknod(path, stat.S_IFSOCK | 0o600)
    story = spooling.session().starts()
    assert spooling.works()
    assert spooling.events(story)
    assert path.exists()


def test_names_that_no_hook_gives_are_left_alone(spooling: House) -> None:
    names = ["claude-code.Stop.1.2.3.4", "x", ".hidden.Stop.1.2", "claude-code.St op.1.2", "é.Stop.1.2"]
    for name in names:
        (spooling.home.spool / name).write_bytes(b"{}" + spool.TRAILER)
    spooling.works()
    assert spooling.spooled() == sorted(names)
    assert spooling.store.counters.since() == []


def test_a_brief_that_is_a_link_is_replaced_where_it_points_or_not_at_all(
    spooling: House, tmp_path: Path
) -> None:
    """Nothing but what a brief is made of can be put in front of a model: a link to other JSON says nothing."""
    story = spooling.session().starts().prompts("Count the blue whales").stops("Twelve.")
    spooling.works()
    path = spooling.home.briefs / f"{spooling.row(story).project_id}.json"
    other = tmp_path / "other.json"
    other.write_text(json.dumps({"v": 1, "rows": [{"text": 5}], "secret": "precious"}))
    path.unlink()
    path.symlink_to(other)
    assert "precious" not in spooling.brief().text


def test_a_spool_that_is_a_link_to_anothers_folder_gives_the_agent_its_answer(
    house: House, tmp_path: Path
) -> None:
    house.installs()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    if house.home.spool.exists():
        house.home.spool.rmdir()
    house.home.spool.symlink_to(elsewhere)
    done = house.fires("Stop", house.session().payload("Stop"))
    assert (done.returncode, done.stdout) == (0, b"")
