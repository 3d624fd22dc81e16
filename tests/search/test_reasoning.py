"""What agents reasoned is found when it is asked for, and only then."""

import pytest

from backstory.app import App
from backstory.errors import UsageError
from backstory.model import Event, Kind, Where
from backstory.store.records import Arrival, Filters
from tests.story import House


@pytest.fixture
def thoughtful(house: House) -> House:
    """A session in which an agent reasoned about a walrus and spoke of something else."""
    story = house.session().starts().prompts("Why is the login slow?").stops("The index was missing.")
    house.works()
    row = house.row(story)
    project = house.store.projects.get(row.project_id)
    assert project is not None
    thoughts = ("Perhaps the walrus lock is held by the migration.", "A walrus again, but the pool is fine.")
    with house.store.transaction():
        for number, text in enumerate(thoughts):
            at, where = row.last_at + number, Where(str(house.project))
            event = Event(
                row.agent, row.native_id, Kind.REASONED, at, text, native_id=f"t{number}", where=where
            )
            house.store.events.add([Arrival(event, project, house.store.events.key(event))])
    return house


def found(house: House, question: str, *kinds: str) -> list[str]:
    with App(house.home) as app:
        project = app.project_at(house.project)
        return [hit.text for hit in app.search(question, project.id, filters=Filters(kinds=kinds)).hits]


def test_reasoning_is_found_on_request_by_all_words_the_latest_first(thoughtful: House) -> None:
    assert [text[:8] for text in found(thoughtful, "the walrus", "reasoned")] == ["A walrus", "Perhaps "]
    assert [text[:8] for text in found(thoughtful, "walrus migration", "reasoned")] == ["Perhaps "]


def test_reasoning_is_no_answer_to_who_did_not_ask_for_it(thoughtful: House) -> None:
    assert not any("walrus" in text for text in found(thoughtful, "walrus lock"))


def test_reasoning_is_asked_for_by_itself(thoughtful: House) -> None:
    with pytest.raises(UsageError, match="by itself"):
        found(thoughtful, "walrus", "reasoned", "said")
