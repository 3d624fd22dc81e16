"""An agent that searches in the middle of a turn does not get its own question back."""

import pytest

from backstory.app import App
from backstory.search.asking import SESSION_VARIABLES
from tests.story import House, Story

QUESTION = "Which branch do we cut the tortoise releases from?"


@pytest.fixture(autouse=True)
def _nobody_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in SESSION_VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def asking(house: House) -> Story:
    """A session that knows, over; and one that was just asked."""
    house.session().starts().prompts("Cut the tortoise release from the branch stable").stops(
        "The tortoise release is cut from stable."
    ).ends()
    story = house.session().starts().prompts("Look at the tortoise icons first").stops("They are green.")
    return story.prompts(QUESTION)


def found(house: House, by_agent: bool) -> list[str]:
    with App(house.home) as app:
        return [hit.text for hit in app.search(QUESTION, None, by_agent=by_agent).hits]


def test_the_prompt_that_an_agent_is_busy_with_is_no_answer(house: House, asking: Story) -> None:
    texts = found(house, by_agent=True)
    assert any("stable" in text for text in texts)
    assert not any("Which branch do we cut" in text for text in texts)


def test_nor_are_the_memories_that_were_made_of_it(house: House, asking: Story) -> None:
    asking.runs("git branch", "stable\nmain")
    house.works()
    assert not any("Which branch do we cut" in text for text in found(house, by_agent=True))


def test_a_person_finds_every_prompt(house: House, asking: Story) -> None:
    assert any("Which branch do we cut" in text for text in found(house, by_agent=False))


def test_when_the_turn_is_over_its_prompt_is_a_memory_like_any_other(house: House, asking: Story) -> None:
    asking.stops("From stable.")
    assert any("Which branch do we cut" in text for text in found(house, by_agent=True))


def test_the_session_that_the_environment_names_is_known_exactly(
    house: House, asking: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`backstory search` run by an agent, and two agents at once: only the own question is left out."""
    other = house.session().starts().prompts("Are the tortoise releases cut from a branch at all?")
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", asking.session)
    texts = found(house, by_agent=False)
    assert not any("Which branch do we cut" in text for text in texts)
    assert any("cut from a branch at all" in text for text in texts)
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", other.session)
    assert any("Which branch do we cut" in text for text in found(house, by_agent=False))


def test_what_the_session_did_before_may_well_be_the_answer(house: House, asking: Story) -> None:
    with App(house.home) as app:
        texts = [hit.text for hit in app.search("tortoise icons green", None, by_agent=True).hits]
    assert any("icons" in text for text in texts)
