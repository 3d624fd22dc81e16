"""What happens on a full disk and on a read-only one, played inside a mount namespace of its own.

    unshare --mount python -m tests.faults.mounted full FOLDER

Root ignores permissions, so a small file system is the only honest way. The parent test runs this as a process.
"""

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path

from tests.faults.world import command, worker
from tests.story import House

_SMALL = "3m"


def mount(folder: Path, *options: str) -> None:
    subprocess.run(["mount", *options, str(folder)], check=True)


def fire(house: House, number: int, size: int = 20_000) -> bool:
    """One tool call through the real hook; whether its event is whole in the spool."""
    fields = {"tool_name": "Bash", "tool_input": {"command": f"step {number}"}, "tool_use_id": f"t{number}"}
    payload = STORY.payload("PostToolUse", **fields, tool_response="x" * size)
    done = house.fires("PostToolUse", payload)
    assert (done.returncode, done.stdout) == (0, b""), "the agent goes on, whatever happens"
    return not list(house.home.spool.glob("*.fail")) or _whole(house, number)


def _whole(house: House, number: int) -> bool:
    needle = f'step {number}"'.encode()
    files = [path.read_bytes() for path in house.home.spool.iterdir() if path.is_file()]
    return any(needle in data and data.endswith(b"\x1e") for data in files)


def full(house: House) -> None:
    """Nothing whose hook wrote all of it is lost; the rest is counted and told."""
    written = [0] + [number for number in range(1, 250) if fire(house, number)]
    assert 20 < len(written) < 250, "the disk should have run full on the way"
    worker(house)
    _told_of(house, "is full")
    mount(house.home.root, "-o", "remount,size=200m")
    assert worker(house) == 0
    targets = {event.target for event in house.events(STORY)}
    assert targets == {f"step {number}" for number in written}
    failed = house.counter("failed")
    assert failed == 250 - len(written), (failed, len(written))
    house.close()
    assert "could not record" in command(house, "brief").stdout
    assert "hook" in command(house, "doctor").stdout


def no_inodes(house: House) -> None:
    """Room for data, and none for new files: what could not be written is marked and counted, and told."""
    root = house.home.root
    assert fire(house, 1)
    assert worker(house) == 0
    used = os.statvfs(root)
    mount(root, "-o", f"remount,nr_inodes={used.f_files - used.f_favail}")
    assert not fire(house, 2)
    assert [path.name for path in house.home.spool.iterdir() if path.name.endswith(".open.fail")]
    _told_of(house, "no inodes")
    mount(root, "-o", "remount,nr_inodes=10000")
    assert worker(house) == 0
    assert (root / "hook" / "spare").exists(), "for the next time"
    assert house.counter("failed") == 1
    assert {event.target for event in house.events(STORY)} == {"step 0", "step 1"}


def _told_of(house: House, what: str) -> None:
    """The cause is named, and nobody is told to repair what is whole."""
    status = command(house, "status")
    assert what in status.stdout + status.stderr, status
    doctor = command(house, "doctor").stdout
    assert what in doctor
    assert "backstory repair" not in doctor, doctor
    assert what in command(house, "restore", "--dry-run").stderr


def read_only(house: House) -> None:
    """What is known is still told; what cannot be written is said; afterwards everything goes on."""
    fire(house, 1)
    house.fires("UserPromptSubmit", STORY.payload("UserPromptSubmit", prompt="Count the blue whales"))
    worker(house)
    house.close()
    mount(house.home.root, "-o", "remount,ro")
    start = house.fires("SessionStart", house.session().payload("SessionStart", source="startup"))
    assert start.returncode == 0
    assert "blue whales" in json.loads(start.stdout)["hookSpecificOutput"]["additionalContext"]
    assert house.fires("Stop", STORY.payload("Stop")).returncode == 0
    refused = command(house, "remember", "We deploy on Fridays")
    assert refused.returncode == 4
    assert len(refused.stderr.strip().splitlines()) == 1
    assert "read-only" in refused.stderr
    assert worker(house) != 0
    _told_of(house, "read-only file system")
    plan = command(house, "restore", "--dry-run")
    assert (plan.returncode, "would replace" in plan.stderr) == (0, True), plan
    assert json.loads(command(house, "restore", "--dry-run", "--json").stdout)["before"]["events"] > 0
    assert command(house, "backup", "--list").returncode == 0
    assert command(house, "restore", "--yes").returncode == 4
    found = command(house, "search", "blue whales")
    assert (found.returncode, "blue whales" in found.stdout) == (0, True), "what is there can be read"
    for reads in (("log",), ("timeline",), ("status",), ("ask", "blue whales")):
        done = command(house, *reads)
        assert done.returncode == 0, done
    mount(house.home.root, "-o", "remount,rw")
    fire(house, 2)
    assert worker(house) == 0
    assert {"step 1", "step 2"} <= {event.target for event in house.events(STORY)}


def crashed(house: House) -> None:
    """A log that a crash has left, and no room to fold it in: it is not damage, and nothing of it is lost."""
    for number in range(1, 20):
        assert fire(house, number, 2_000)
    struck = (
        "import os, signal, sys, backstory.store.sqlite as s\n"
        "s.Store.checkpoint = lambda self: None\n"
        "s.Store.close = lambda self: os.kill(os.getpid(), signal.SIGKILL)\n"
        "from backstory.worker import main; main([sys.argv[1]])"
    )
    run = [sys.executable, "-c", struck, str(house.home.root)]
    assert subprocess.run(run, stdin=subprocess.DEVNULL, timeout=120, check=False).returncode == -9
    log = house.home.database.with_name("backstory.db-wal")
    index = house.home.database.with_name("backstory.db-shm")
    left = log.read_bytes()
    assert left
    for gone in (False, True):
        if gone:
            index.unlink(missing_ok=True)  # as after a crash of the whole machine
        _fill(house, 0)
        for words in (("status",), ("search", "step"), ("timeline",)):
            done = command(house, *words)
            assert "step 1" in done.stdout or "20 events" in done.stdout or "is full" in done.stderr, done
        doctor = command(house, "doctor").stdout
        assert "is full" in doctor
        assert "backstory repair" not in doctor, doctor
        assert not fire(house, 20), "it does not fit"
        assert "is full" in command(house, "remember", "We deploy on Fridays").stderr
        assert log.read_bytes()[: len(left)] == left, "nothing is cut off"
        _filler(house).unlink()
    assert worker(house) == 0
    assert sorted(event.target for event in house.events(STORY)) == sorted(f"step {n}" for n in range(20))
    house.close()
    assert "whole" in command(house, "doctor").stdout


def inodes(house: House) -> None:
    """Room enough, but not for one more file: it is named, and nobody is told to repair what is whole."""
    assert fire(house, 1)
    assert worker(house) == 0
    house.close()
    for path in house.home.root.glob("backstory.db-*"):
        path.unlink()
    mount(house.home.root, "-o", "remount,nr_inodes=400")
    number = 0
    with contextlib.suppress(OSError):
        while True:
            (house.home.root / f"filler-{number}").touch()
            number += 1
    _told_of(house, "no inodes")
    for path in house.home.root.glob("filler-*"):
        path.unlink()
    assert fire(house, 2)
    assert worker(house) == 0
    assert {"step 1", "step 2"} <= {event.target for event in house.events(STORY)}
    house.close()
    assert "whole" in command(house, "doctor").stdout


def forgetting(house: House) -> None:
    """With too little room nothing is forgotten, or all of it: never a half that is taken for the whole."""
    house.fires("UserPromptSubmit", STORY.payload("UserPromptSubmit", prompt="The merger is called Bluebird"))
    assert worker(house) == 0
    for room in (0, 640 * 1024):
        _fill(house, room)
        before = _files(house)
        done = command(house, "forget", "--text", "Bluebird", "--yes")
        if done.returncode:
            assert done.returncode == 4
            assert "full" in done.stderr
        if not room:
            assert done.returncode == 4
            after = _files(house)
            changed = {path.name for path in {*after, *before} if after.get(path) != before.get(path)}
            assert not changed, f"refused before anything was touched: {changed}"
        _filler(house).unlink()
        told = [event.text for event in house.events(STORY) if "Bluebird" in event.text]
        house.close()
        assert bool(told) == (done.returncode != 0)
    command(house, "forget", "--text", "Bluebird", "--yes")
    assert worker(house) == 0
    backups = house.home.backups
    holding = [
        path for path, data in _files(house).items() if b"Bluebird" in data and backups not in path.parents
    ]
    assert holding == []


def _filler(house: House) -> Path:
    return house.home.root / "filler"


def _fill(house: House, leave: int) -> None:
    """Fill the disk up to this many bytes."""
    disk = os.statvfs(house.home.root)
    with _filler(house).open("wb", buffering=0) as file, contextlib.suppress(OSError):
        left = disk.f_bavail * disk.f_frsize - leave
        while left > 0:
            left -= file.write(bytes(min(left, 4096)))


def _files(house: House) -> dict[Path, bytes]:
    """All files with something in them, but logs, locks and what fills the disk."""
    leave_out = ("filler", "worker.lock", "backstory.db-shm")
    every = (path for path in house.home.root.rglob("*") if path.is_file() and path.name not in leave_out)
    every = (path for path in every if path.stat().st_size and house.home.logs not in path.parents)
    return {path: path.read_bytes() for path in every}


if __name__ == "__main__":
    CASES = {
        "full": full,
        "read-only": read_only,
        "crashed": crashed,
        "forgetting": forgetting,
        "inodes": inodes,
        "no-inodes": no_inodes,
    }
    folder = Path(sys.argv[2])
    home, project = folder / "home", folder / "shop"
    home.mkdir()
    project.mkdir()
    mount(home, "-t", "tmpfs", "-o", f"size={_SMALL},mode=700", "none")
    os.chdir(project)  # as agents start their hooks
    HOUSE = House(home, project)
    STORY = HOUSE.session()
    HOUSE.installs()
    HOUSE.sets("worker.linger_seconds", "0")
    fire(HOUSE, 0)
    worker(HOUSE)
    command(HOUSE, "backup")
    CASES[sys.argv[1]](HOUSE)
