"""What a model said came of a session is seen wherever people and agents look."""

import json

import pytest

from backstory.app import App
from backstory.knowledge.question_answering import UNKNOWN
from backstory.knowledge_base import KnowledgeBase
from tests.knowledge.book import Book
from tests.llm.conftest import Asking, a_session, line_with, saying
from tests.story import House, Story

OUTCOME = "The importer streams its rows now, and the nightly run takes six minutes instead of an hour"
FACT = "The importer streams its rows one by one through `iter(f)`"


def answer(log: str) -> str:
    told = json.loads(saying({"kind": "decision", "text": FACT, "lines": [line_with(log, "then changed")]}))
    lines = [line_with(log, "agent, closing: The importer")]
    told["session"] = {"goal": "A faster nightly run", "outcome": OUTCOME, "lines": lines, "open": []}
    return json.dumps(told)


@pytest.fixture
def story(house: House, asking: Asking) -> Story:
    """A session that was logged by rules before the model answered."""
    for key, value in {"time.zone": "UTC", "model.wiki": "off", "knowledge.interval_minutes": "0"}.items():
        house.sets(key, value)
    story = a_session(house)
    Book(house).writes_down()
    assert OUTCOME not in logged(house)
    asking.model.aside("Log:", answer)
    assert asking.asks() == 1
    Book(house).writes_down()
    return story


def logged(house: House) -> str:
    book = Book(house)
    return "\n".join(text for link, text in book.pages().items() if link.startswith("daily/"))


def test_the_log_says_what_came_of_it_once_though_no_event_came_in(house: House, story: Story) -> None:
    text = logged(house)
    assert text.count(OUTCOME) == 1
    assert text.count(FACT[4:]) == 1
    Book(house).writes_down()
    assert logged(house) == text


def test_the_wiki_has_it(house: House, story: Story) -> None:
    pages = Book(house).pages()
    assert any(OUTCOME in text for link, text in pages.items() if link.startswith("weekly/"))


@pytest.mark.parametrize("question", ["What is this project and what was built?", "what did we get done"])
def test_a_question_about_all_of_it_is_answered_by_outcomes(
    house: House, story: Story, question: str
) -> None:
    with App(house.home) as app:
        reply = KnowledgeBase(app).ask(app.project_at(house.project), question)
    assert (OUTCOME in reply.text) is ("built" in question)
    with App(house.home) as app:
        project = app.project_at(house.project)
        assert KnowledgeBase(app).ask(project, "what is the UI of the sourdough").text == UNKNOWN


def test_the_viewers_header_and_the_brief_say_it(house: House, story: Story) -> None:
    with App(house.home) as app:
        session = house.store.events.session(story.id)
        assert session is not None
        assert app.came_of(session) == OUTCOME
    assert OUTCOME in house.brief().text


def test_what_a_model_retired_leaves_the_wiki_whoever_summed_the_session_up(
    house: House, asking: Asking, story: Story
) -> None:
    """Before, it stayed there where the retiring session had no outcome of the model's."""

    def told() -> list[str]:
        pages = Book(house).pages()
        return [link for link, text in pages.items() if FACT[4:] in text and link.startswith("concepts/")]

    assert told()

    def retires(log: str) -> str:
        (line,) = [each for each in log.partition("Log:")[0].splitlines() if FACT[4:30] in each]
        lines = [line_with(log, "agent, closing: The importer")]
        return saying({"do": "retire", "memories": [line.split()[0]], "lines": lines})

    asking.model.aside("Log:", retires)
    a_session(house)
    assert asking.asks() == 1
    Book(house).writes_down()
    assert told() == []
