"""`backstory jobs`: what waits, what is stuck, and a person's say on it."""

from contextlib import closing

import pytest

from backstory import clock
from backstory.paths import Home
from backstory.store import open_store

from .memory import Memory


@pytest.fixture
def stuck(worked: Memory) -> Memory:
    """A memory with one job that is parked, one that cools down, and some that are done."""
    worked.ask("status")
    with closing(open_store(Home(worked.home))) as store:
        for subject, most in (("s00parked", 1), ("s11cooling", 9)):
            with store.transaction():
                store.jobs.ask("refine", subject, clock.now_ms())
                job = store.jobs.lease(clock.now_ms(), "refine")
                assert job is not None
                store.jobs.failed(job, "the server\x1b[31m is red", clock.now_ms(), most, at_least=3_600_000)
    return worked


def test_nothing_waits_in_a_new_home(memory: Memory) -> None:
    done = memory.ask("jobs")
    assert (done.exit_code, done.stdout) == (0, "")
    assert "No work is waiting" in done.stderr
    assert memory.json("jobs") == {"jobs": []}
    assert not memory.home.exists() or not (memory.home / "backstory.db").exists()


def test_what_waits_and_what_is_parked_is_listed_with_its_error(stuck: Memory) -> None:
    """CM-56: the counts and the reasons can be seen."""
    found = {job["id"]: job for job in stuck.json("jobs")["jobs"]}
    assert found["refine:s00parked"]["state"] == "parked"
    assert found["refine:s11cooling"]["attempts"] == 1
    shown = stuck.ask("jobs").stdout
    assert "refine:s00parked" in shown
    assert "the server is red" in shown, "made harmless"
    assert "in 59 min" in shown or "in 60 min" in shown
    assert "distil:" not in shown
    assert "distil:" in stuck.ask("jobs", "--all").stdout


def test_status_tells_the_worst_attempts_of_what_waits_and_of_what_is_parked(stuck: Memory) -> None:
    """CCE-75: it said 0 while jobs that wait for their next try had failed."""
    assert stuck.json("status")["worst_attempts"] == 1
    with closing(open_store(Home(stuck.home))) as store, store.transaction():
        store.jobs.thaw("refine", 0)
        job = store.jobs.lease(clock.now_ms(), "refine")
        assert job is not None
        assert (job.subject, job.attempts) == ("s11cooling", 2)
        assert store.jobs.worst_attempts() == 1, "a try under way has not failed"
        store.jobs.failed(job, "again", clock.now_ms(), 9)
    assert stuck.json("status")["worst_attempts"] == 2
    stuck.ask("jobs", "drop", "refine")
    assert stuck.json("status")["worst_attempts"] == 0


def test_what_is_parked_is_tried_again(stuck: Memory) -> None:
    done = stuck.json("jobs", "retry", "--parked")
    assert done["changed"] == 1
    assert "parked" not in [job["state"] for job in stuck.json("jobs")["jobs"]]


@pytest.mark.parametrize(
    ("name", "changed"), [("refine", 2), ("refine:s00", 1), ("s11cooling", 1), ("refine:s", 2)]
)
def test_jobs_are_dropped_by_kind_handle_or_the_beginning_of_one(
    stuck: Memory, name: str, changed: int
) -> None:
    done = stuck.ask("jobs", "drop", name)
    assert done.stdout == f"{changed} {'job' if changed == 1 else 'jobs'} dropped.\n"
    assert sum(job["kind"] == "refine" for job in stuck.json("jobs")["jobs"]) == 2 - changed


@pytest.mark.parametrize("words", [("retry",), ("drop",), ("drop", "refine", "--parked")])
def test_which_jobs_must_be_said_once(stuck: Memory, words: tuple[str, ...]) -> None:
    done = stuck.ask("jobs", *words)
    assert done.exit_code == 1
    assert "name jobs, or give --failed" in done.stderr


def test_a_job_that_is_not_there_is_told(stuck: Memory) -> None:
    done = stuck.ask("jobs", "retry", "nonsense")
    assert done.exit_code == 2
    assert "`backstory jobs` lists them" in done.stderr
