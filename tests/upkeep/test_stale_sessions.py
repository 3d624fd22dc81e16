"""Sessions that nobody ended get an end, and their summary."""

import time
from dataclasses import replace

import pytest

from backstory.app import App
from backstory.model import RUNNING_MS, MemoryKind, Session, SessionStatus
from tests.story import House, Story

DAY = 86_400


@pytest.fixture
def yesterday(house: House, monkeypatch: pytest.MonkeyPatch) -> Story:
    """A session that was killed more than a day ago: the worker's clock is ahead."""
    story = house.session()
    story.starts().prompts("Count the blue whales").runs("wc -l whales", "12").stops("Twelve.")
    story.prompts("And the red ones?")
    house.works()
    real = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: real() + 25 * 3600 * 10**9)
    return story


def test_cmem_18_a_session_silent_for_a_day_is_marked_failed_by_itself(
    house: House, yesterday: Story
) -> None:
    """CMEM-18."""
    before = house.row(yesterday)
    assert before.status is SessionStatus.ACTIVE
    house.works()
    after = house.row(yesterday)
    assert (after.status, after.end_reason, after.ended_at) == (
        SessionStatus.FAILED,
        "orphaned",
        before.last_at,
    )


def test_cmem_19_it_still_gets_its_summary(house: House, yesterday: Story) -> None:
    """CMEM-19."""
    house.works()
    kinds = {memory.kind for memory in house.store.memories.of_session(yesterday.id)}
    assert MemoryKind.SUMMARY in kinds
    assert "whales" in house.brief().text


def test_the_command_counts_lists_and_ends(house: House, app: App) -> None:
    """CMEM-18: with --max-age."""
    story = house.session()
    story.starts().prompts("Hello")
    house.works()
    time.sleep(0.01)
    assert [s.id for s in app.clean_up(0, really=False)] == [story.id]
    assert house.row(story).status is SessionStatus.ACTIVE
    assert [s.id for s in app.clean_up(0, really=True)] == [story.id]
    assert house.row(story).status is SessionStatus.FAILED
    assert app.clean_up(0, really=True) == []


def test_one_that_is_resumed_after_all_is_alive_again(house: House, app: App) -> None:
    story = house.session()
    story.starts().prompts("Hello")
    house.works()
    time.sleep(0.01)
    app.clean_up(0, really=True)
    story.starts("resume").prompts("Still there?")
    house.works()
    assert house.row(story).status is SessionStatus.ACTIVE


def test_zero_hours_means_never(house: House, yesterday: Story) -> None:
    house.sets("sessions.max_silence_hours", "0")
    house.works()
    assert house.row(yesterday).status is SessionStatus.ACTIVE


def test_a_session_left_open_after_the_answer_has_ended_and_did_not_fail(house: House, app: App) -> None:
    story = house.session()
    story.starts().prompts("Hello").stops("Hello to you.")
    house.works()
    time.sleep(0.01)
    app.clean_up(0, really=True)
    assert house.row(story).status is SessionStatus.ENDED


def test_a_session_is_running_only_while_it_is_heard_of(house: House, yesterday: Story) -> None:
    row = house.row(yesterday)
    assert row.state(row.last_at + 60_000) == "running"
    assert row.state(row.last_at + 16 * 60_000) == "open"
    house.works()
    assert house.row(yesterday).state(row.last_at) == "failed"


def test_a_prompt_after_the_end_makes_a_session_alive_again(house: House) -> None:
    story = house.session()
    story.starts().prompts("Hello").stops("Hi.").ends()
    house.works()
    assert house.row(story).status is SessionStatus.ENDED
    story.prompts("One more thing")
    house.works()
    assert house.row(story).status is SessionStatus.ACTIVE


def test_a_session_that_was_ended_in_mid_turn_is_not_told_as_one_that_did_not_end(house: House) -> None:
    story = house.session()
    story.starts().prompts("Rename the login handler to sign_in everywhere").runs("ls", "a").ends("other")
    house.works()
    (summary,) = (m for m in house.store.memories.of_session(story.id) if m.kind is MemoryKind.SUMMARY)
    assert "did not end" not in summary.text + summary.detail
    assert "the session was ended" in summary.text


def test_a_history_that_was_imported_without_an_end_has_ended() -> None:
    session = Session(
        *("s", "claude-code", "n", "p", "shop", "", "", "", "", "", "t", 0, 1_000, None, ""),
        status=SessionStatus.ACTIVE,
        prompt_count=1,
        event_count=1,
        title="",
    )
    assert session.state(1_000 + RUNNING_MS) == "open"
    imported = replace(session, imported_by="me")
    assert imported.state(1_000 + RUNNING_MS) == "ended"
    assert imported.state(1_500) == "running", "it was heard of just now"
