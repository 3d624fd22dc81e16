"""What one event may do to everybody: nothing. Real workers and commands, and steps that take too much."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from backstory.store.job_queue import ENDED
from tests.conftest import eventually
from tests.story import House, Story
from tests.test_worker import workers

pytestmark = pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks at processes through /proc")


@pytest.fixture
def house(house: House) -> Iterator[House]:
    """A home in which a job may take a second of processor time."""
    house.installs()
    house.sets("worker.linger_seconds", "0")
    house.sets("jobs.cpu_seconds", "1")
    yield house
    for pid in workers(house):
        os.kill(pid, 9)


def runs(house: House, *words: str, strike: str = "") -> subprocess.CompletedProcess[str]:
    """A command or, without words, a worker, whose workers are struck at a step."""
    command = ["-m", "backstory", *words] if words else ["-I", "-m", "backstory.worker", str(house.home.root)]
    environment = {**os.environ, "BACKSTORY_HOME": str(house.home.root), "BACKSTORY_STRIKE": strike}
    done = subprocess.run(
        [sys.executable, *command],
        env=environment,
        cwd=house.project,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert "Traceback" not in done.stderr, done.stderr
    house.close()
    return done


def lived(house: House, words: str) -> Story:
    return house.session().starts().prompts(f"{words}, please").edits("auth.py").stops(f"Done: {words}.")


def thaw(house: House) -> None:
    """Let the pause before the next try be over."""
    with house.store.transaction():
        for kind in {job.kind for job in house.store.jobs.all()}:
            house.store.jobs.thaw(kind, 0)
    house.close()


@pytest.mark.parametrize(("trouble", "why"), [("SPIN", "processor time limit"), ("HANG", "time limit")])
def test_a_job_that_ends_its_worker_is_parked_after_three_tries_and_everybody_else_goes_on(
    house: House, trouble: str, why: str
) -> None:
    """The worker hung for ever, with no try counted, and so did each one after it."""
    bad = lived(house, "Count the sheep")
    strike = f"distil.begun:{bad.id}={trouble}"
    for tried in (1, 2, 3):
        good = lived(house, f"Paint boat {tried}")
        assert runs(house, strike=strike).returncode == 0
        assert house.spooled() == []
        assert house.store.memories.of_session(good.id), "another session's work is done by the same worker"
        assert f"Paint boat {tried}" in house.brief().text
        (job,) = (job for job in house.store.jobs.all() if (job.kind, job.subject) == ("distil", bad.id))
        assert job.attempts == tried
        assert job.last_error == f"{ENDED} ({why})"
        thaw(house)
    assert job.state == "parked"
    assert house.events(bad), "nothing of what was captured is lost"
    assert len(house.events(bad)) == len(house.events(good))
    runs(house, strike=strike)
    assert house.store.jobs.all("parked") == [job], "and it is not tried a fourth time"


def test_commands_answer_while_a_job_ends_every_worker_and_say_what_to_do(house: House) -> None:
    """`search`, `backup` and `doctor --fix` did that work themselves, and hung."""
    bad = lived(house, "Count the sheep")
    strike = f"distil.begun:{bad.id}=SPIN"
    lived(house, "Paint the boat")
    search = "search", "paint boat"
    eventually("it is found", lambda: "Paint the boat" in runs(house, *search, strike=strike).stdout, 60)
    assert runs(house, "backup", strike=strike).returncode == 0
    for _ in range(2):
        thaw(house)
        runs(house, strike=strike)
    assert "1 failed" in runs(house, "status").stdout
    assert f"distil:{bad.id}" in runs(house, "jobs").stdout
    told = runs(house, "doctor").stdout
    assert f"{ENDED} (processor time limit)" in told
    assert "doctor --fix" in told
    assert "1 failed again" in runs(house, "doctor", "--fix", strike=strike).stdout
    lived(house, "Mend the sail")
    search = "search", "mend sail"
    eventually("it is found", lambda: "Mend the sail" in runs(house, *search, strike=strike).stdout, 60)
    assert runs(house, "jobs", "retry", f"distil:{bad.id}").returncode == 0
    eventually("without its trouble it is done", lambda: house.store.memories.of_session(bad.id), 30)


def test_a_job_that_a_worker_is_stuck_with_can_be_dropped(house: House) -> None:
    house.sets("jobs.cpu_seconds", "30")
    bad = lived(house, "Count the sheep")
    environment = {**os.environ, "BACKSTORY_STRIKE": f"distil.begun:{bad.id}=HANG"}
    command = [sys.executable, "-I", "-m", "backstory.worker", str(house.home.root)]
    with subprocess.Popen(command, env=environment) as stuck:
        eventually("it is at it", lambda: "leased" in house.left(), 30)
        assert runs(house, "jobs", "drop", f"distil:{bad.id}").returncode == 0
        assert [job for job in house.store.jobs.all() if job.kind == "distil"] == []
        stuck.kill()
    eventually("its child dies with it", lambda: not workers(house), 10)


def test_memory_that_is_refused_is_a_failure_of_the_job_alone(house: House) -> None:
    bad = lived(house, "Count the sheep")
    good = lived(house, "Paint the boat")
    assert runs(house, strike=f"distil.begun:{bad.id}=HOG").returncode == 0
    assert house.store.memories.of_session(good.id)
    (job,) = house.store.jobs.all("waiting")
    assert (job.subject, job.attempts, job.last_error) == (bad.id, 1, "MemoryError()")


@pytest.mark.parametrize("trouble", ["SPIN", "SEGV"])
def test_a_payload_that_ends_the_worker_is_quarantined_alone_after_three_tries(
    house: House, trouble: str
) -> None:
    story = lived(house, "Paint the boat")
    bad = house.leaves(b'{"session_id": "x"}', event="PostToolUse")
    lived(house, "Mend the sail")
    assert runs(house, strike=f"drain.begun:{bad.name}={trouble}").returncode == 0
    assert house.spooled() == []
    assert len(house.events(story)) == 5
    assert "Mend the sail" in house.brief().text
    (kept,) = house.home.quarantine.glob("*.reason")
    assert kept.name.startswith(bad.name)
    assert kept.read_text() == f"{ENDED}, 3 times"
    assert kept.with_suffix("").read_bytes().startswith(b'{"session_id"')
    assert house.left() <= {"done"}


def test_what_cannot_even_be_redacted_is_named_in_quarantine_without_its_content(house: House) -> None:
    bad = house.leaves(b'{"session_id": "x"}', event="PostToolUse")
    with house.store.transaction():
        for _ in range(4):
            house.store.jobs.begin("drain", bad.name, 0)
    house.works()
    (kept,) = (path for path in house.home.quarantine.iterdir() if not path.name.endswith(".reason"))
    assert kept.read_bytes() == b"20 bytes that could not be redacted"
    assert house.spooled() == []


def test_an_event_that_ends_the_worker_when_it_is_indexed_is_left_out_of_the_index(house: House) -> None:
    lived(house, "Count the sheep")
    lived(house, "Paint the boat")
    house.works()
    with house.store.transaction():
        house.store.passages.clear()
    house.close()
    assert runs(house, strike="index.begun:3=SPIN").returncode == 0
    assert house.store.passages.unindexed() == 0
    assert "Paint the boat" in runs(house, "search", "paint boat").stdout


def test_a_crash_of_the_worker_counts_and_one_that_others_killed_is_not_started_again(house: House) -> None:
    bad = lived(house, "Count the sheep")
    assert runs(house, strike=f"distil.begun:{bad.id}=SEGV").returncode == 0
    (job,) = house.store.jobs.all("waiting")
    assert (job.subject, job.last_error) == (bad.id, f"{ENDED} (crash, SIGSEGV)")
    thaw(house)
    assert runs(house, strike=f"distil.begun:{bad.id}=KILL").returncode == -9
    (job,) = house.store.jobs.all("leased")
    assert (job.subject, job.attempts) == (bad.id, 2)


def test_where_it_was_is_told_in_the_log(house: House) -> None:
    bad = lived(house, "Count the sheep")
    runs(house, strike=f"distil.begun:{bad.id}=SPIN")
    log = (house.home.logs / "worker.log").read_text()
    assert "the worker before this one was ended: processor time limit" in log
    assert "in distil" in log


def test_a_history_that_takes_too_much_is_told_as_an_error_and_the_import_goes_on(house: House) -> None:
    stories = [house.told() for _ in range(3)]
    for story in stories:
        story.prompts("Count the sheep").says("One.").prompts("And now?").says("Two.")
    for path in house.home.spool.iterdir():
        path.unlink()
    bad = stories[1].transcript
    assert bad is not None
    words = "import", "claude-code", "--path", str(bad.parent), "--json"
    done = runs(house, *words, strike=f"import.begun:{bad.name}=SPIN")
    assert done.returncode == 4
    told = json.loads(done.stdout)
    assert (told["new"], told["errors"]) == (2, 1)
    assert [house.store.events.session(story.id) is not None for story in stories] == [True, False, True]
    again = runs(house, *words)
    assert (again.returncode, json.loads(again.stdout)["new"]) == (0, 1)
