"""The worker as a real process: started by a hook, single, detached, and gone when there is nothing to do."""

import contextlib
import fcntl
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from backstory import worker_loop
from backstory.app import App
from backstory.atomic import lock
from backstory.capture import spool_state as waiting_module
from backstory.model import Kind
from backstory.paths import Home
from backstory.pipeline import Pipeline
from backstory.session_distillation import SessionDistiller
from backstory.store.job_queue import COMPILE, DAY, LINT
from tests.conftest import eventually
from tests.story import House, Story

pytestmark = pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks at processes through /proc")


@pytest.fixture
def house(house: House) -> Iterator[House]:
    """A home with hooks installed; no process of it is left behind."""
    house.installs()
    house.sets("worker.linger_seconds", "0")
    yield house
    for pid in workers(house):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def workers(house: House) -> list[int]:
    """Worker processes of this home."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            words = Path(f"/proc/{name}/cmdline").read_bytes().split(b"\0")
            if b"backstory.worker" in words and str(house.home.root).encode() in words:
                found.append(int(name))
    return found


def at_work(house: House) -> list[int]:
    """Those of them that have the database open."""
    found = []
    for pid in workers(house):
        with contextlib.suppress(OSError):
            opened = [os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")]
            if str(house.home.database) in opened:
                found.append(pid)
    return found


def supervisors(house: House) -> list[int]:
    """Those of them that let a child work."""
    found = workers(house)
    parents = []
    for pid in found:
        with contextlib.suppress(OSError):
            parents.append(int(state(pid)[1]))
    return [pid for pid in found if pid in parents]


def state(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def working(supervisor: subprocess.Popen[bytes]) -> int:
    """The process that works, which the started one watches."""
    pid = supervisor.pid
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])


def start(house: House) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-I", "-m", "backstory.worker", str(house.home.root)], stdin=subprocess.DEVNULL
    )


def send(process: subprocess.Popen[bytes], payload: dict[str, Any]) -> None:
    """What the agent writes to a hook's stdin."""
    assert process.stdin is not None
    process.stdin.write(json.dumps(payload).encode())
    process.stdin.close()


def at_rest(house: House) -> bool:
    return not house.spooled() and not workers(house)


def left(house: House) -> int:
    """How many jobs still wait to be done."""
    return sum(job.kind not in (DAY, COMPILE, LINT) for job in house.store.jobs.all("waiting"))


class TestStartedByHooks:
    def test_a_stop_starts_it_and_the_spool_is_empty_within_five_seconds(self, house: House) -> None:
        """CMEM-32: the normal flow, without a real client."""
        story = house.session()
        assert house.fires("UserPromptSubmit", story.payload("UserPromptSubmit", prompt="go")).returncode == 0
        done = house.fires("Stop", story.payload("Stop", last_assistant_message="Done."))
        assert (done.returncode, done.stdout) == (0, b"")
        eventually("the spool is empty", lambda: not house.spooled(), 5)
        eventually("no worker is left", lambda: not workers(house), 10)
        assert [e.kind.value for e in house.events(story)] == ["prompt", "said", "turn_ended"]

    def test_a_tool_call_never_starts_it(self, house: House) -> None:
        """CMEM-32: the immediate PostToolUse waits in the spool, and nothing of it is lost."""
        story = house.session()
        for n in range(3):
            fields = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": f"t{n}"}
            house.fires("PostToolUse", story.payload("PostToolUse", **fields, tool_response="x"))
        assert len(house.spooled()) == 3
        assert workers(house) == []
        assert not house.home.database.exists()

    def test_many_hooks_at_once_give_one_worker_and_every_event_once(self, house: House) -> None:
        """CMEM-33, MEMORIA-31: whoever works has the database open, and stays for a while."""
        house.sets("worker.linger_seconds", "30")
        worked: set[int] = set()

        def all_is_stored() -> bool:
            worked.update(at_work(house))
            others = set(workers(house)) - set(supervisors(house)) - set(at_work(house))
            return not house.spooled() and bool(worked) and not others

        stories = [house.session() for _ in range(4)]
        command = house.command("Stop")
        processes = []
        for story in stories:
            for n in range(4):
                process = subprocess.Popen(["sh", "-c", command], stdin=subprocess.PIPE)
                send(process, story.payload("Stop", prompt_id=f"p{n}", last_assistant_message=f"Done {n}."))
                processes.append(process)
        assert [process.wait(60) for process in processes] == [0] * 16
        eventually("everything is stored and nobody else is about to begin", all_is_stored, 60)
        assert len(worked) == 1
        os.kill(worked.pop(), signal.SIGKILL)
        eventually("no worker is left", lambda: not workers(house), 10)
        for story in stories:
            said = sorted(e.text for e in house.events(story) if e.text)
            assert said == [f"Done {n}." for n in range(4)]

    def test_it_outlives_its_hook_and_a_hangup_of_the_whole_group(self, house: House) -> None:
        """CM-13, MEMORIA-22, CMEM-30."""
        house.sets("worker.linger_seconds", "30")
        story = house.session()
        hook = ["sh", "-c", house.command("Stop")]
        with subprocess.Popen(
            hook, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
        ) as agent:
            send(agent, story.payload("Stop", last_assistant_message="x"))
            assert agent.stdout is not None
            pipe = os.readlink(f"/proc/self/fd/{agent.stdout.fileno()}")
            assert agent.stdout.read() == b"", "who waits for the hook's output must not wait for the worker"
            assert agent.wait(10) == 0
        for name in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(agent.pid, name)
        pid = min(eventually("a worker works", lambda: workers(house), 10))
        eventually("the spool is empty", lambda: not house.spooled(), 10)
        assert supervisors(house) == [pid], "it survived"
        eventually("it has a session of its own", lambda: state(pid)[3] == str(pid), 5)
        assert state(pid)[4] == "0", "it has no terminal"
        opened = {int(fd): os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")}
        assert [opened[fd] for fd in (0, 1, 2)] == ["/dev/null"] * 3
        assert pipe not in opened.values()
        os.kill(pid, signal.SIGKILL)

    def test_with_the_guard_set_nothing_is_written_and_nothing_started(self, house: House) -> None:
        """MEMORIA-24."""
        before = sorted(house.home.root.rglob("*"))
        done = house.fires("Stop", house.session().payload("Stop"), BACKSTORY_GUARD="1")
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
        assert sorted(house.home.root.rglob("*")) == before
        assert workers(house) == []

    def test_what_it_starts_itself_carries_the_guard(self, house: House) -> None:
        house.sets("worker.linger_seconds", "30")
        house.fires("Stop", house.session().payload("Stop"))
        (pid,) = eventually("a worker works", lambda: workers(house), 10)
        assert b"BACKSTORY_GUARD=1" in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        os.kill(pid, signal.SIGKILL)


class TestLastWords:
    def test_what_an_agent_writes_after_its_last_hook_is_read_before_the_worker_rests(
        self, house: House, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Copilot's hooks do not carry its words, and it writes the last of them when they have run."""
        story = house.told().starts().prompts("fix it").stops()
        unwritten = ["Fixed, at last."]

        def sleep(seconds: float) -> None:
            while unwritten:
                story.says(unwritten.pop())

        monkeypatch.setattr(time, "sleep", sleep)
        worker_loop.run_rounds(house.home, linger=0.5)  # a busy machine takes longer than that over one round
        assert [event.text for event in house.events(story) if event.kind is Kind.SAID] == ["Fixed, at last."]


class TestSingle:
    def test_the_second_ends_at_once_and_touches_nothing(self, house: House) -> None:
        house.session().prompts("go")
        with lock(house.home.worker_lock):
            before = sorted(house.home.root.rglob("*"))
            second = start(house)
            assert second.wait(15) == 0
            assert sorted(house.home.root.rglob("*")) == before
        assert start(house).wait(30) == 0
        assert house.spooled() == []

    def test_one_that_lost_the_race_for_the_lock_leaves_the_work_to_the_other(
        self, house: House, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """CMEM-33: both found it free; the lock decides, not the look at it."""
        house.session().prompts("go")
        house.works()
        house.session().prompts("go on")
        opened: list[Home] = []
        monkeypatch.setattr(worker_loop, "open_store", opened.append)
        monkeypatch.setattr(worker_loop, "log_to", lambda home: None)
        with lock(house.home.worker_lock):
            assert worker_loop.run_worker(house.home, linger=0) == 0
        assert (len(house.spooled()), opened) == (1, [])
        assert not (house.home.hook / "settings.json").exists()

    def test_a_glance_of_status_does_not_send_it_away(
        self, house: House, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """`status` takes the lock for a moment, to see whether a worker holds it."""
        house.session().prompts("go")
        held = house.home.worker_lock.open("w")
        fcntl.flock(held, fcntl.LOCK_EX)
        sleep = time.sleep

        def released(seconds: float) -> None:
            held.close()
            sleep(seconds)

        monkeypatch.setattr(time, "sleep", released)
        worker_loop.run_rounds(house.home, linger=0)
        assert house.spooled() == []

    def test_it_finds_the_lock_held_before_it_loads_anything(self, house: House) -> None:
        """Hooks start it every few seconds: who is not needed must cost next to nothing."""
        code = "import sys\nfrom backstory import worker\nworker.main(sys.argv[1:])\nprint(*sys.modules)"
        with lock(house.home.worker_lock):
            run = [sys.executable, "-I", "-c", code, str(house.home.root)]
            done = subprocess.run(run, capture_output=True, text=True, check=True)
        loaded = set(done.stdout.split())
        assert {name for name in loaded if name.startswith("backstory")} == {"backstory", "backstory.worker"}
        assert not loaded & {"json", "logging", "sqlite3", "tempfile", "dataclasses", "subprocess"}

    def test_what_comes_between_its_last_look_and_its_end_is_not_left_behind(
        self, house: House, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A hook that finds the lock held starts no second worker: the first must look once more."""
        story = house.session()
        checkpoint = type(house.store).checkpoint
        house.close()
        late = iter([False, True, False, False])

        def at_the_end(self: object) -> None:
            checkpoint(self)  # type: ignore[arg-type]
            if next(late):
                story.prompts("just in time")

        monkeypatch.setattr("backstory.store.sqlite.Store.checkpoint", at_the_end)
        assert worker_loop.run_rounds(house.home, linger=0) > 0
        assert house.spooled() == []
        monkeypatch.undo()
        assert [e.text for e in house.events(story)] == ["just in time"]

    def test_a_command_takes_in_what_came_while_it_worked(
        self, house: House, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        story = house.session().prompts("first")
        real, more = Pipeline.round, iter([True])

        def busy(self: Pipeline) -> int:
            done = real(self)
            if next(more, False):
                story.prompts("second")  # and its worker found the lock held
            return done

        monkeypatch.setattr(Pipeline, "round", busy)
        with App(house.home) as app:
            assert app.catch_up()
        assert house.spooled() == []


class TestIdle:
    def test_it_ends_when_nothing_is_left_and_every_new_event_starts_its_clock_again(
        self, house: House
    ) -> None:
        """CMEM-6."""
        house.sets("worker.linger_seconds", "1")
        story = house.session().prompts("one")
        process = start(house)
        for n in range(3):
            eventually("it took it in", lambda: not house.spooled(), 15)
            time.sleep(0.6)
            assert process.poll() is None
            story.prompts(f"more {n}")
        assert process.wait(15) == 0
        assert house.spooled() == []
        assert workers(house) == []

    def test_one_that_only_lingers_makes_room_for_a_command(self, house: House) -> None:
        house.sets("worker.linger_seconds", "60")
        house.session().prompts("one")
        process = start(house)
        eventually("it took it in", lambda: not house.spooled(), 15)
        with App(house.home) as app:
            app.clean_up(1_000, really=False)
        assert process.wait(15) == 0
        assert not house.home.wanted.exists()

    def test_one_that_only_lingers_does_the_jobs_that_a_command_waits_for(self, house: House) -> None:
        house.sets("worker.linger_seconds", "60")
        house.session().prompts("one")
        process = start(house)
        eventually("it took it in", lambda: not house.spooled(), 15)
        with App(house.home) as app:
            assert app.rebuild() == 1
            assert app.jobs(("waiting", "leased")) == [job for job in app.jobs() if job.kind == DAY]
        process.kill()
        process.wait()

    def test_one_that_has_much_to_do_makes_room_too_and_then_goes_on(self, house: House) -> None:
        sids = [house.session().prompts(f"ask {n}").stops("Done.").id for n in range(3)]
        house.works()
        waits = [f"nobody-{n}" for n in range(20_000)]
        with house.store.transaction():
            for sid in waits + sids:
                house.store.jobs.ask("distil", sid, 1)
        house.close()
        process = start(house)
        eventually("it is at it", lambda: left(house) < len(waits), 30)
        with App(house.home) as app:
            app.clean_up(1_000, really=False)
            assert left(house) > 0, "it waited until all was done"
        eventually("it went on", lambda: left(house) == 0, 120)
        assert process.wait(15) == 0

    def test_a_wish_of_one_that_was_killed_is_forgotten(self, house: House) -> None:
        house.home.root.mkdir(parents=True, exist_ok=True)
        house.home.wanted.write_bytes(b"")
        os.utime(house.home.wanted, (time.time() - 3600,) * 2)
        house.session().prompts("one")
        began = time.monotonic()
        worker_loop.run_rounds(house.home, linger=0.5)
        assert time.monotonic() - began >= 0.5

    def test_after_a_kill_of_the_agent_none_is_left(self, house: House) -> None:
        """CMEM-7: no worker belongs to an agent, so a dead agent leaves none."""
        story = house.session()
        returned = house.home.root.parent / "returned"
        hook = f"sh -c {shlex.quote(house.command('Stop'))}; echo > {shlex.quote(str(returned))}; sleep 60"
        with subprocess.Popen(["sh", "-c", hook], stdin=subprocess.PIPE, start_new_session=True) as agent:
            send(agent, story.payload("Stop", last_assistant_message="the last words"))
            eventually("the hook has returned", returned.exists, 10)
            os.killpg(agent.pid, signal.SIGKILL)
        eventually("no worker is left", lambda: not workers(house), 15)
        house.fires("Stop", house.session().payload("Stop"))  # the next hook of any session
        eventually("everything is at rest", lambda: at_rest(house), 15)
        assert [e.text for e in house.events(story)] == ["the last words", ""]

    def test_it_polls_without_working(self, house: House, monkeypatch: pytest.MonkeyPatch) -> None:
        rounds: list[int] = []
        real = Pipeline.round
        monkeypatch.setattr(Pipeline, "round", lambda self: (rounds.append(1), real(self))[1])  # type: ignore[func-returns-value]
        house.session().prompts("go")
        began = time.monotonic()
        worker_loop.run_rounds(house.home, linger=0.5)
        assert 0.5 <= time.monotonic() - began < 60
        assert len(rounds) <= 3

    def test_a_job_that_waits_for_its_next_try_does_not_keep_it_alive(
        self, house: House, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def breaks(*_: object) -> None:
            raise RuntimeError("always")

        monkeypatch.setattr(SessionDistiller, "distil", breaks)
        house.session().prompts("go")
        began = time.monotonic()
        worker_loop.run_rounds(house.home, linger=0.2)
        assert time.monotonic() - began < 60
        assert house.store.jobs.all("waiting")[0].attempts == 1

    def test_an_unfinished_file_does_not_keep_it_alive(self, house: House) -> None:
        house.leaves(b'{"half', trailer=b"")
        began = time.monotonic()
        worker_loop.run_rounds(house.home, linger=0)
        assert time.monotonic() - began < 60
        assert len(house.spooled()) == 1

    def test_a_file_that_cannot_be_taken_does_not_make_it_spin(
        self, house: House, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(waiting_module, "given_up", lambda entry: True)
        house.leaves(b'{"half', trailer=b"")
        began = time.monotonic()
        worker_loop.run_rounds(house.home, linger=0)
        assert time.monotonic() - began < 60

    def test_old_quarantine_is_aged_out_on_the_way(self, house: House) -> None:
        house.leaves(b"garbage")
        worker_loop.run_rounds(house.home, linger=0)
        assert len(list(house.home.quarantine.iterdir())) == 2
        for path in house.home.quarantine.iterdir():
            os.utime(path, (0, 0))
        worker_loop.run_rounds(house.home, linger=0)
        assert list(house.home.quarantine.iterdir()) == []


class TestTrouble:
    def test_a_killed_one_is_followed_by_the_next_which_finds_everything(self, house: House) -> None:
        """CMEM-32: crash recovery; CMEM-15."""
        house.sets("worker.linger_seconds", "30")
        story = house.session().prompts("one").stops("Done.")
        first = start(house)
        eventually("it works", lambda: not house.spooled(), 15)
        first.kill()
        first.wait()
        story.prompts("two").stops("Done again.")
        house.sets("worker.linger_seconds", "0")
        assert start(house).wait(30) == 0
        assert [e.text for e in house.events(story) if e.text] == ["one", "Done.", "two", "Done again."]

    def test_a_deleted_home_is_not_brought_back(self, house: House) -> None:
        """CMEM-32: no zombie; a worker whose home is gone goes too."""
        house.sets("worker.linger_seconds", "30")
        house.session().prompts("one")
        process = start(house)
        eventually("it works", lambda: house.home.database.exists() and not house.spooled(), 15)
        time.sleep(0.3)
        shutil.rmtree(house.home.root)
        assert process.wait(15) is not None
        assert not house.home.root.exists()
        assert start(house).wait(15) == 0
        assert not house.home.root.exists()

    def test_a_home_that_was_made_anew_is_not_drained_into_the_deleted_one(self, house: House) -> None:
        house.sets("worker.linger_seconds", "30")
        house.session().prompts("one")
        process = start(house)
        eventually("it works", lambda: house.home.database.exists() and not house.spooled(), 15)
        time.sleep(0.3)
        shutil.rmtree(house.home.root)
        house.installs()
        house.store.schema_version()
        process.wait(15)
        story = house.session().prompts("precious")
        house.works()
        assert [e.text for e in house.events(story)] == ["precious"]

    def test_a_database_of_a_newer_backstory_is_left_alone_and_said_so(self, house: House) -> None:
        house.store._connection.execute("PRAGMA user_version = 99")
        house.close()
        house.session().prompts("kept for later")
        assert start(house).wait(15) == 4
        assert len(house.spooled()) == 1
        assert "upgrade Backstory" in (house.home.logs / "worker.log").read_text()

    def test_its_log_is_for_its_owner_alone_and_does_not_grow_for_ever(self, house: House) -> None:
        """MEMORIA-21: the log belongs to the worker, no child of it inherits the handle."""
        log = house.home.logs / "worker.log"
        assert start(house).wait(15) == 0
        assert log.stat().st_mode & 0o777 == 0o600
        log.write_text("x" * 1_200_000)
        house.leaves(b"garbage")
        assert start(house).wait(15) == 0
        assert sum(p.stat().st_size for p in house.home.logs.iterdir()) < 3_000_000
        assert log.stat().st_size < 100_000

    def test_nothing_that_it_starts_inherits_its_files(self, house: House) -> None:
        """MEMORIA-21: not the log, not the lock (a child that outlived it would hold it for ever)."""
        house.sets("worker.linger_seconds", "60")
        house.session().prompts("go").stops("Done.")
        process = start(house)
        eventually("it took it in", lambda: not house.spooled(), 15)
        inherited = {
            name: int(re.search(r"flags:\s+(\d+)", (fd.parents[1] / "fdinfo" / fd.name).read_text())[1], 8)  # type: ignore[index]
            for fd in Path(f"/proc/{working(process)}/fd").iterdir()
            if (name := os.path.basename(os.readlink(fd))) in ("worker.lock", "worker.log", "backstory.db")
        }
        process.kill()
        process.wait()
        assert {"worker.lock", "worker.log"} <= set(inherited)
        assert all(flags & os.O_CLOEXEC for flags in inherited.values())

    def test_it_refreshes_the_hook_that_started_it(self, house: House) -> None:
        (house.home.hook / "stamp").write_bytes(b"of an older Backstory\n")
        (house.home.hook / "hook.sh").write_text("exit 0\n")
        assert start(house).wait(15) == 0
        assert "Backstory's hook" in (house.home.hook / "hook.sh").read_text()


def test_unknown_settings_are_logged_and_the_work_is_done(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    house.home.settings.write_text("[worker]\nlinger_seconds = 'long'\n")
    story: Story = house.session().prompts("go")
    worker_loop.run_rounds(house.home, linger=0)
    assert "worker.linger_seconds" in caplog.text
    assert len(house.events(story)) == 1
