"""What Claude Code keeps itself, and what its hooks tell: the same rows, once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ..loopback import Loopback
from ..model import Say, Shell, Task
from ..twofold import DID, Story, on_stage, teach, tell
from .claude import Claude

pytestmark = pytest.mark.clients


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory, loopback: Loopback) -> Iterator[Story]:
    with on_stage(Claude, tmp_path_factory.mktemp("claude"), loopback) as agent:
        teach(agent, Task("Count the exports"))
        agent.model.when("Count the exports", Shell("exit 5"), Say("Seven exports."))
        yield tell(agent)


def test_everything_that_happened_is_captured_with_its_outcome(story: Story) -> None:
    delegated = [("run", "exit 5", "failed"), ("delegate", "scripted sub-task", "ok")]
    assert story.uses() == [*DID, *delegated]


def test_the_next_session_is_told_of_it_once_also_when_it_is_taken_up_again(story: Story) -> None:
    story.assert_told_once("reader.py")


# MP-14, MP-22
def test_mp_14_hooks_and_transcripts_tell_the_same_in_either_order_and_nothing_of_ours(story: Story) -> None:
    rows = story.assert_told_alike()

    assert {row[0].partition("/")[0] for row in rows} == {story.first.session, story.second.session}
    assert [row[4] for row in rows if row[0].partition("/")[2] and row[5] == "failed"] == ["exit 5"]
