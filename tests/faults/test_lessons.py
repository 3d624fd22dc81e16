"""What went wrong in other memory tools, each as a test that it does not go wrong here.

The rest of the list stands elsewhere: ten stale readers and a reader that pins the log in test_database.py,
forgetting that races a job in tests/upkeep/test_erasure.py, a downgrade in tests/store/test_sqlite.py.
"""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from backstory.agents.history_source import JsonLines
from backstory.app import App
from backstory.hook.hook_command import hook_command
from backstory.paths import Home
from tests.mcp.server import Server
from tests.story import House, Story

pytestmark = pytest.mark.faults


@pytest.fixture
def house(house: House) -> House:
    house.installs()
    house.sets("worker.linger_seconds", "0")
    return house


def command(house: House, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "backstory", *words],
        cwd=house.project,
        env={**os.environ, "BACKSTORY_HOME": str(house.home.root)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def descendants(of: str) -> list[int]:
    """Processes whose environment carries this mark."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if of.encode() in (entry / "environ").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks at processes through /proc")
def test_an_llm_child_with_our_hooks_installed_does_not_multiply(house: House, tmp_path: Path) -> None:
    """A model that we start is an agent, too, with our own hooks: each of its hooks must start nothing.

    The child below is such an agent: it runs every hook that is installed, and whatever a hook starts would do
    the same again.
    """
    child = tmp_path / "agent.sh"
    hooks = [hook_command(str(house.home.root), "claude-code", event) for event in ("SessionStart", "Stop")]
    child.write_text("\n".join(f"echo '{{}}' | sh -c {json.dumps(hook)}" for hook in hooks) + "\necho done\n")
    mark = f"LESSON={tmp_path.name}"
    done = subprocess.run(
        ["sh", str(child)],
        env={"PATH": os.environ["PATH"], "BACKSTORY_GUARD": "1", "LESSON": tmp_path.name},
        capture_output=True,
        timeout=60,
    )
    assert done.stdout == b"done\n", "no brief for our own child"
    time.sleep(0.3)
    assert descendants(mark) == []
    assert house.spooled() == []
    free = subprocess.run(
        ["sh", str(child)],
        env={"PATH": os.environ["PATH"], "LESSON": tmp_path.name, "BACKSTORY_HOME": str(house.home.root)},
        capture_output=True,
        timeout=60,
    )
    assert free.returncode == 0
    deadline = time.monotonic() + 30
    while descendants(mark) and time.monotonic() < deadline:  # without the guard there is a worker: it ends
        time.sleep(0.1)
    assert descendants(mark) == []


def test_n_stops_cost_no_more_than_the_new_text(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each stop reads on in the transcript from its last prompt, not from its beginning."""
    read: list[int] = []
    lines = JsonLines.lines

    def counted(self: JsonLines, trail: object, start: int) -> object:
        for line in lines(self, trail, start):  # type: ignore[arg-type]
            read.append(len(line))
            yield line

    monkeypatch.setattr(JsonLines, "lines", counted)
    story = house.told().starts()
    for number in range(30):
        story.prompts(f"Ask {number}").says("word " * 400).runs(f"make {number}", "ok").stops(
            f"Did {number}."
        )
        house.works()
    assert story.transcript is not None
    written = story.transcript.stat().st_size
    assert written < sum(read) < 4 * written, "thirty stops from the beginning would be fifteen times as much"
    assert sum(event.kind == "prompt" for event in house.events(story)) == 30


def test_nothing_truncates_the_log_under_other_connections(house: House) -> None:
    """A reader in the middle of its work sees the same rows, whatever is done meanwhile."""
    story = house.session().starts()
    for number in range(50):
        story.runs(f"step {number}", "ok")
    house.works()
    house.close()
    wal = house.home.database.with_name("backstory.db-wal")
    with closing(sqlite3.connect(house.home.database, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        before = reader.execute("SELECT id, text FROM events ORDER BY row").fetchall()
        story.runs("one more", "ok")
        house.works()
        size = wal.stat().st_size
        assert size
        with App(house.home) as app:
            app.back_up()
            app.store.checkpoint()
            app.store.retention.compact()
            app.rebuild()
        assert wal.stat().st_size >= size, "what the reader may still need was cut off"
        assert reader.execute("SELECT id, text FROM events ORDER BY row").fetchall() == before
        reader.execute("COMMIT")
        assert len(reader.execute("SELECT id FROM events").fetchall()) == len(before) + 1
        assert reader.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_what_is_saved_is_found_in_every_interface(house: House) -> None:
    """Saved by the command line, by MCP, by a hook; found by the command line, by MCP, by the next brief."""
    command(house, "remember", "the aardvark lives in tank 4")
    server = Server(house.home.root, house.project)
    try:
        server.ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "t"})
        server.call("remember", text="the bandicoot lives in tank 5")
        story = house.session()
        story.starts().prompts("The capybara lives in tank 6, because it swims").stops("Noted.")
        for word in ("aardvark", "bandicoot", "capybara"):
            assert word in command(house, "search", word)
            assert word in server.call("search", query=word)
            assert word in house.brief().text
    finally:
        server.process.communicate(timeout=20)


def test_a_needle_in_the_last_line_of_a_2_mb_event_is_found(house: House) -> None:
    hay = "".join(f"line {number}: nothing to be seen here at all\n" for number in range(47_000))
    assert len(hay) > 2_000_000
    story = house.session().starts()
    story.runs("cat everything", hay + "the zyzzyva needle").stops("Read.")
    house.works()
    with App(house.home) as app:
        assert [hit.session for hit in app.search("zyzzyva needle", None).hits][:1] == [story.id]


def test_work_done_before_an_out_of_memory_kill_is_kept(house: House) -> None:
    """The first events are stored when the memory runs out at a later one; given more, nothing is lost."""
    small = house.session().starts()
    for number in range(40):
        small.runs(f"step {number}", "ok")
    large = house.session().starts()
    large.runs("cat core", "x" * 60_000_000)
    limited = (
        "import resource\n"
        "resource.setrlimit(resource.RLIMIT_AS, (160 << 20, 160 << 20))\n"
        f"from backstory.worker import main; import sys; sys.exit(main([{str(house.home.root)!r}]))"
    )
    house.close()
    short = subprocess.run([sys.executable, "-c", limited], capture_output=True, timeout=120)
    ran = [event.target for event in house.events(small) if event.target]
    assert ran == [f"step {number}" for number in range(40)], short.stderr.decode()
    house.close()
    subprocess.run(
        [sys.executable, "-I", "-m", "backstory.worker", str(house.home.root)], timeout=120, check=True
    )
    assert house.spooled() == []
    stored = [event for event in house.events(large) if event.target]
    aside = sorted(house.home.quarantine.glob("*.reason"))
    assert stored or aside, "it is stored, or kept aside with its reason"


def a_file_in_its_place(folder: Path) -> None:
    if folder.exists():
        folder.rmdir()
    folder.write_text("")


def in_place_of(folder: Path) -> None:
    """A file where a folder should be."""
    if folder.is_dir():
        folder.rmdir()
    folder.write_text("")


BREAKAGES: dict[str, Callable[[Home], object]] = {
    "no database file may be made": lambda home: home.database.mkdir(),
    "a database of nonsense": lambda home: home.database.write_bytes(b"nonsense" * 1_000),
    "no script": lambda home: (home.hook / "hook.sh").unlink(),
    "a spool that is a file": lambda home: a_file_in_its_place(home.spool),
    "no compiled code": lambda home: (home.hook / "hook.pyc").unlink(),
    "settings of nonsense": lambda home: home.settings.write_bytes(b"\xff\x00"),
    "briefs that are a file": lambda home: a_file_in_its_place(home.briefs),
    "a lock that is a folder": lambda home: home.worker_lock.mkdir(),
    "no home": lambda home: shutil.rmtree(home.root),
}


@pytest.mark.parametrize("event", ["Stop", "SubagentStop", "SessionEnd"])
@pytest.mark.parametrize("case", sorted(BREAKAGES))
def test_a_stop_hook_prints_nothing_and_exits_0_in_every_failure(house: House, case: str, event: str) -> None:
    """A Stop hook that prints or fails may keep an agent from stopping, or make it go on for ever."""
    house.home.spool.mkdir(mode=0o700, exist_ok=True)
    BREAKAGES[case](house.home)
    story: Story = house.session()
    done = house.fires(event, story.payload(event, stop_hook_active=True))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
