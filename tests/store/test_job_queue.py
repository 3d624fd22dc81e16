"""Work as rows: asked for once, done once, parked when it cannot be done."""

from typing import Any

from backstory.store import Store
from backstory.store.job_queue import ENDED
from backstory.store.records import Job


def ask(store: Store, *subjects: str, kind: str = "distil", now: int = 0) -> list[bool]:
    with store.transaction():
        return [store.jobs.ask(kind, subject, now) for subject in subjects]


def lease(store: Store, now: int = 0, kind: str = "distil") -> Job | None:
    with store.transaction():
        return store.jobs.lease(now, kind)


def taken(store: Store, now: int = 0) -> Job:
    job = lease(store, now)
    assert job is not None
    return job


def fail(store: Store, job: Job, now: int = 0, most: int = 5) -> str:
    with store.transaction():
        return store.jobs.failed(job, "it broke", now, most)


def test_asking_twice_is_one_piece_of_work(store: Store) -> None:
    """CCE-12, CCE-13: the same turn or session end asked for twice waits once."""
    assert ask(store, "s1", "s1", "s2") == [True, False, True]
    assert [taken(store).subject, taken(store).subject] == ["s1", "s2"]
    assert lease(store) is None


def test_the_oldest_is_taken_first_and_only_of_the_kind_asked_for(store: Store) -> None:
    ask(store, "young", now=2)
    ask(store, "old", now=1)
    ask(store, "other", kind="brief", now=0)
    assert taken(store, now=5).subject == "old"
    assert lease(store, 5, "brief") is not None
    assert lease(store, 5, "brief") is None


def test_what_is_done_can_be_asked_for_again(store: Store) -> None:
    ask(store, "s1")
    job = taken(store)
    with store.transaction():
        store.jobs.done(job, 1)
    assert lease(store) is None
    assert ask(store, "s1") == [True]
    assert taken(store).attempts == 1


def test_what_is_asked_for_while_it_is_being_done_is_due_again(store: Store) -> None:
    ask(store, "s1")
    job = taken(store)
    ask(store, "s1", now=1)
    with store.transaction():
        store.jobs.done(job, 2)
    assert taken(store, now=2).subject == "s1"


def test_a_failed_item_keeps_its_attempts_and_last_error_and_stays_queued(store: Store) -> None:
    """CCE-43."""
    ask(store, "s1")
    assert fail(store, taken(store)) == "waiting"
    (job,) = store.jobs.all()
    assert (job.attempts, job.last_error, job.state) == (1, "it broke", "waiting")


def test_it_is_tried_again_after_growing_delays_and_then_parked(store: Store) -> None:
    """CCE-44: parked after N attempts, no busy loop."""
    ask(store, "s1")
    now, delays = 0, []
    while True:
        job = taken(store, now)
        if fail(store, job, now) == "parked":
            break
        assert lease(store, now) is None
        (job,) = store.jobs.all()
        delays.append(job.not_before - now)
        now = job.not_before
    assert len(delays) == 4
    assert delays == sorted(delays)
    assert delays[-1] >= 8 * delays[0]
    assert lease(store, now + 10**12) is None


def test_a_parked_item_does_not_block_younger_ones_and_gets_a_new_chance_when_asked_for(store: Store) -> None:
    """CCE-44."""
    ask(store, "bad", now=0)
    ask(store, "good", now=1)
    assert fail(store, taken(store, 2), most=1) == "parked"
    assert taken(store, 2).subject == "good"
    assert store.jobs.counts() == {"parked": 1, "leased": 1}
    assert [job.subject for job in store.jobs.all("parked")] == ["bad"]
    assert ask(store, "bad", now=3) == [True]
    assert taken(store, 3).subject == "bad"


def finish(store: Store, job: Job, now: int = 0) -> None:
    with store.transaction():
        store.jobs.done(job, now)


def reclaim(store: Store, why: str = "", now: int = 0, **options: Any) -> int:
    with store.transaction():
        return store.jobs.reclaim(now, why, **options)


def test_who_holds_the_workers_lock_takes_leases_back_at_once(store: Store) -> None:
    """Otherwise a session whose worker was killed would never be distilled."""
    ask(store, "s1")
    taken(store, now=0)
    assert reclaim(store) == 1
    assert taken(store, now=1).subject == "s1"


def test_a_try_counts_when_it_begins_so_that_what_ends_its_worker_is_parked_after_three(store: Store) -> None:
    ask(store, "bad", now=0)
    ask(store, "good", now=1)
    now = 2
    for tried in (1, 2, 3):
        assert (job := taken(store, now)).attempts == tried
        assert job.subject == "bad"
        assert reclaim(store, "processor time limit", now) == 1
        if tried == 1:
            finish(store, other := taken(store, now))
            assert other.subject == "good", "the others go first"
        (job,) = (job for job in store.jobs.all() if job.subject == "bad")
        now = job.not_before
    assert (job.state, job.attempts) == ("parked", 3)
    assert job.last_error == f"{ENDED} (processor time limit)"


def test_what_ended_its_worker_gets_a_single_try_when_it_is_asked_for_again_and_not_at_once(
    store: Store,
) -> None:
    """Or each new event of that session would stop everybody three times."""
    ask(store, "bad")
    now = 0
    for _ in range(3):
        taken(store, now)
        reclaim(store, "processor time limit", now)
        now = store.jobs.all()[0].not_before
    pause = now - 1
    assert ask(store, "bad", now=pause) == [True]
    assert lease(store, pause) is None
    assert taken(store, now).attempts == 4
    reclaim(store, "processor time limit", now)
    assert store.jobs.all()[0].state == "parked"
    assert store.jobs.all()[0].not_before - now > now - pause
    with store.transaction():
        store.jobs.retry(store.jobs.all()[0], 1)
    finish(store, taken(store, 1))
    assert ask(store, "bad") == [True]
    assert taken(store).attempts == 1, "once it was done, all is forgotten"


def test_what_was_at_hand_when_others_killed_the_worker_is_due_at_once_and_parked_in_the_end(
    store: Store,
) -> None:
    ask(store, "s1")
    for tried in range(1, 6):
        assert taken(store, 0).attempts == tried
        reclaim(store, most=5)
    (job,) = store.jobs.all()
    assert (job.state, job.last_error) == ("parked", f"{ENDED} (it was killed 5 times)")


def test_what_is_begun_without_being_asked_for_counts_its_tries_until_it_is_finished(store: Store) -> None:
    with store.transaction():
        assert [store.jobs.begin("drain", "file", 0) for _ in range(3)] == [1, 2, 3]
    assert store.jobs.tries("drain") == {"file": 3}
    assert reclaim(store, "processor time limit") == 0, "it is no job: who takes it up again decides"
    with store.transaction():
        store.jobs.finished("drain", ["file"])
    assert store.jobs.all() == []


def test_the_worst_attempts_are_those_of_waiting_jobs_too_but_not_of_a_try_under_way(store: Store) -> None:
    """CCE-75: `worst_attempts` was that of parked jobs alone."""
    ask(store, "s1", "s2")
    assert store.jobs.worst_attempts() == 0
    first = taken(store)
    assert store.jobs.worst_attempts() == 0, "it has not failed yet"
    fail(store, first)
    assert store.jobs.worst_attempts() == 1
    again = taken(store, store.jobs.due_at("distil", 0) or 0)
    assert again.subject == "s2", "the first waits for its next try"
    with store.transaction():
        store.jobs.thaw("distil", 0)
    second = taken(store)
    assert (second.attempts, store.jobs.worst_attempts()) == (2, 1)
    assert fail(store, second, most=2) == "parked"
    assert store.jobs.worst_attempts() == 2
    with store.transaction():
        store.jobs.retry(second, 0)
    finish(store, taken(store))
    assert store.jobs.worst_attempts() == 0


def test_a_long_error_is_cut(store: Store) -> None:
    ask(store, "s1")
    job = taken(store)
    with store.transaction():
        store.jobs.failed(job, "x" * 10_000, 0, 5)
    assert len(store.jobs.all()[0].last_error) <= 500


def test_what_asks_a_model_is_tried_quickly_and_then_cools_down(store: Store) -> None:
    """MEMORIA-15, CM-56."""
    ask(store, "s1", kind="refine")
    delays = []
    for _ in range(4):
        due = store.jobs.due_at("refine", 0)
        assert due is not None
        job = lease(store, due, "refine")
        assert job is not None
        assert fail(store, job, due, most=9) == "waiting"
        delays.append((store.jobs.due_at("refine", 0) or 0) - due)
    assert delays == [2_000, 4_000, 6 * 3_600_000, 6 * 3_600_000]


def test_a_failure_waits_at_least_as_long_as_it_was_told_to(store: Store) -> None:
    ask(store, "s1", kind="refine")
    job = lease(store, 0, "refine")
    assert job is not None
    with store.transaction():
        store.jobs.failed(job, "later", 0, 5, at_least=90_000)
    assert store.jobs.due_at("refine", 0) == 90_000


def test_what_is_left_for_later_counts_no_try(store: Store) -> None:
    ask(store, "s1")
    job = taken(store)
    with store.transaction():
        store.jobs.postpone(job, 500, "no money")
    assert lease(store, 499) is None
    (left,) = store.jobs.all()
    assert (left.state, left.attempts, left.last_error) == ("waiting", 0, "no money")
    assert taken(store, 500).subject == "s1"


def test_who_holds_the_workers_lock_does_not_take_back_what_is_asked_of_a_model(store: Store) -> None:
    """An answer takes longer than a worker's round, and is waited for under a lock of its own."""
    ask(store, "s1")
    ask(store, "s1", kind="refine")
    lease(store)
    lease(store, kind="refine")
    assert reclaim(store) == 1
    assert lease(store) is not None
    assert lease(store, kind="refine") is None
    assert reclaim(store, asking=True) == 1
    assert lease(store, kind="refine") is not None


def test_what_cools_down_can_be_thawed_one_or_all(store: Store) -> None:
    ask(store, "s1", "s2", "s3")
    for _ in range(2):
        fail(store, taken(store))
    with store.transaction():
        assert store.jobs.thaw("distil", 5, "s1") == 1
        assert store.jobs.thaw("distil", 5) == 2
        assert store.jobs.thaw("brief", 5) == 0
    assert store.jobs.due_at("distil", 0) == 0, "the third never failed"


def test_a_person_retries_and_drops_also_what_a_worker_is_at(store: Store) -> None:
    """It may be stuck, or dead: whatever it says of the job afterwards changes nothing."""
    ask(store, "s1", "s2", "s3", "s4")
    fail(store, taken(store), most=1)
    second, third = taken(store), taken(store)
    by_name = {job.subject: job for job in store.jobs.all()}
    with store.transaction():
        assert store.jobs.retry(by_name["s1"], 9)
        assert store.jobs.retry(second, 9)
        assert store.jobs.drop(third)
        assert store.jobs.drop(by_name["s4"])
        store.jobs.done(third, 10)
    fail(store, third)
    with store.transaction():
        store.jobs.done(second, 10)
    assert {(j.subject, j.state, j.attempts) for j in store.jobs.all()} == {
        ("s1", "waiting", 0), ("s2", "waiting", 0),
    }  # fmt: skip
    finish(store, taken(store, 9))
    (done,) = store.jobs.all("done")
    with store.transaction():
        assert not store.jobs.retry(done, 9)
        assert not store.jobs.drop(done)


def test_it_tells_whether_anything_could_be_done_now(store: Store) -> None:
    assert not store.jobs.any_due(0, asking=True)
    ask(store, "s1", kind="refine")
    assert not store.jobs.any_due(0, asking=False)
    assert store.jobs.any_due(0, asking=True)
    ask(store, "s1")
    assert store.jobs.any_due(0, asking=False)
    fail(store, taken(store))
    assert not store.jobs.any_due(0, asking=False), "it cools down"
    assert store.jobs.any_due(2**60, asking=False)
