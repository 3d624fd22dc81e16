"""What happens to the home: its path, its permissions, its files, its end. Nothing is lost, and it is said."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from backstory.model import Kind
from tests.story import House

from .world import command, fires, settled, steps, worker

pytestmark = pytest.mark.faults


@pytest.fixture
def house(house: House) -> House:
    return settled(house)


def test_a_home_with_spaces_and_any_script_in_its_path(tmp_path: Path, project: Path) -> None:
    house = House(tmp_path / "my höme 世界 'quoted' $HOME", project)
    house.installs()
    story = house.session()
    fires(house, story, 1)
    assert house.fires("Stop", story.payload("Stop", last_assistant_message="Done.")).returncode == 0
    deadline = time.monotonic() + 20
    while house.spooled() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert steps(house, story)[0] == "step 1"
    house.close()


@pytest.mark.skipif(os.geteuid() != 0, reason="drops to another user, as root can")
def test_permissions_that_are_lost_and_come_back(tmp_path: Path, project: Path) -> None:
    """As an ordinary user, for whom permissions mean something."""
    shutil.chown(tmp_path, 65534, 65534)
    for parent in (tmp_path, *tmp_path.parents):
        with contextlib.suppress(PermissionError):
            parent.chmod(parent.stat().st_mode | 0o711)
    house = House(tmp_path / "home", project)
    house.installs()
    story = house.told()
    # what the agent itself writes down; its hooks are fired below
    own = House(tmp_path / "elsewhere", project).session(session=story.session, transcript=story.transcript)
    own.prompts("Look around").runs("ls", "a b c", tool_use_id="t1").runs("pwd", "/", tool_use_id="t2")
    house.works()
    house.close()
    for path in (house.home.root, *house.home.root.rglob("*")):
        shutil.chown(path, 65534, 65534)

    def fire(event: str, **fields: object) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [
                "setpriv",
                "--reuid=65534",
                "--regid=65534",
                "--clear-groups",
                "sh",
                "-c",
                house.command(event),
            ],
            input=json.dumps(story.payload(event, **fields)).encode(),
            capture_output=True,
            cwd="/",
        )

    def used(command: str, use: str) -> subprocess.CompletedProcess[bytes]:
        return fire("PostToolUse", tool_name="Bash", tool_input={"command": command}, tool_use_id=use)

    house.home.spool.chmod(0o000)
    lost = used("ls", "t1")
    assert (lost.returncode, lost.stdout) == (0, b"")
    house.home.spool.chmod(0o700)
    assert used("pwd", "t2").returncode == 0
    house.works()
    assert steps(house, story) == ["pwd"], "the other one could not be spooled"
    assert fire("Stop", last_assistant_message="").returncode == 0
    house.works()
    found = [event.target for event in house.events(story) if event.kind is Kind.TOOL]
    assert sorted(found) == ["ls", "pwd"], "what no hook could bring, the transcript does"
    house.close()


@pytest.mark.parametrize("closed", ["", "backstory.db", "spool", "worker.lock", "hook"])
@pytest.mark.skipif(shutil.which("setpriv") is None, reason="takes root's power to pass over permissions")
def test_permissions_that_commands_meet_are_told_and_mended_by_one_command(house: House, closed: str) -> None:
    """Lost in mid-run: no command dies of it, no one is told to repair, and `doctor --fix` gives them back."""
    powerless = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
    story = house.session()
    fires(house, story, 1)
    assert worker(house) == 0

    def asks(*words: str) -> subprocess.CompletedProcess[str]:
        return command(house, *words, under=powerless)

    path = house.home.root / closed
    path.chmod(0o000)
    try:
        for words in (("status",), ("search", "step"), ("brief",), ("remember", "We deploy on Fridays")):
            done = asks(*words)
            told = done.stdout + done.stderr
            assert done.returncode in (0, 4), told
            assert done.returncode == 0 or "doctor --fix" in told, told
        looked = asks("doctor")
        assert looked.returncode == 2
        assert "brief  " in looked.stdout, "it comes to its end"
        assert str(path) in looked.stdout
        assert "backstory repair" not in looked.stdout
        assert "mended" in asks("doctor", "--fix").stdout
        assert "step 1" in asks("timeline").stdout
    finally:
        path.chmod(0o700)
    assert asks("status").returncode == 0
    assert steps(house, story)[:1] == ["step 1"]


def test_corrupt_settings_stop_nothing_and_are_said(house: House) -> None:
    house.home.settings.write_bytes(b"\xff\xfe not = [toml")
    story = house.session()
    fires(house, story, 1)
    assert worker(house) == 0
    assert steps(house, story) == ["step 1"]
    said = command(house, "status")
    assert (said.returncode, "the defaults hold" in said.stdout + said.stderr) == (0, True)
    assert house.home.settings.read_bytes() == b"\xff\xfe not = [toml"


def test_a_corrupt_spool_file_is_kept_aside_and_blocks_nobody(house: House) -> None:
    story = house.session()
    house.leaves(os.urandom(3_000), "PostToolUse")
    house.leaves(b"", "Stop")
    house.leaves(b"[" * 200_000, "Stop")
    fires(house, story, 1)
    assert worker(house) == 0
    assert steps(house, story) == ["step 1"]
    assert house.counter("quarantined") == 3
    assert len(list(house.home.quarantine.glob("*.reason"))) == 3


def test_a_home_deleted_in_mid_run_stays_deleted_and_disturbs_nobody(house: House) -> None:
    story = house.session()
    fires(house, story, *range(20))
    house.sets("worker.linger_seconds", "3")
    running = subprocess.Popen([sys.executable, "-I", "-m", "backstory.worker", str(house.home.root)])
    while house.spooled():
        time.sleep(0.05)
    time.sleep(1)  # it has finished its round and waits for more
    shutil.rmtree(house.home.root)
    done = house.fires(
        "PostToolUse", story.payload("PostToolUse", tool_name="Bash", tool_input={}, tool_use_id="z")
    )
    assert (done.returncode, done.stdout) == (0, b"")
    assert running.wait(30) in (0, 4)
    assert not house.home.database.exists()
