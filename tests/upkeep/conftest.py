"""A house whose memory can be kept in order, and the app that does it."""

import json
from collections.abc import Iterator

import pytest

from backstory.app import App
from tests.story import House, Story


@pytest.fixture
def app(house: House) -> Iterator[App]:
    with App(house.home) as opened:
        yield opened


def lived(house: House, words: str = "blue whale") -> Story:
    """A session that fails, mends and decides, with these words in every step."""
    story = house.session()
    story.starts().prompts(f"Which database for the {words} table?").stops("Either would do.")
    story.prompts(f"Let us use postgres instead of mysql for the {words} table, because it has ranges")
    story.runs(f"pytest -k '{words}'", fails=f"AssertionError: {words} is missing")
    story.edits("auth.py", new=f"x = '{words}'").runs(f"pytest -k '{words}'", "1 passed")
    story.stops(f"The {words} table is there. Next: index the {words} table.").ends()
    house.works()
    return story


def continues(house: House, story: Story, times: int) -> None:
    """The same prompt again and again, from an agent that gives prompts no ids."""
    for _ in range(times):
        for event, said in (
            ("UserPromptSubmit", {"prompt": "continue"}),
            ("Stop", {"stop_hook_active": False}),
        ):
            payload = story.payload(event, **said)
            payload.pop("prompt_id", None)
            house.leaves(json.dumps(payload).encode(), event)
    house.works()
