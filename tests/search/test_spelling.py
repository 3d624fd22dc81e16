"""Typing errors in a question: what is read otherwise, what is not, and that the answer says so."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backstory.app import App
from backstory.embed.embedder import Means, load_embedder
from backstory.mcp.tool_calls import call_tool
from backstory.mcp.tool_schemas import TOOLS
from backstory.search.answer import Answer
from backstory.search.find import search
from backstory.settings import Settings
from backstory.store.tokenizer import typing_errors
from backstory.web.pages.search_page import page
from backstory.web.request import Page, PageRequest
from tests.story import House


@pytest.fixture
def house(house: House) -> House:
    story = house.session().starts()
    story.prompts("Move the sessions to Postgres, and write the migration.").stops(
        "The migration is in db/0007_sessions.sql. pgbouncer pools connections to Postgres."
    )
    story.prompts("What is the return type of parse_config?").stops(
        "parse_config returns a frozen Settings; ConfigReader calls it once. Messages are translated later."
    ).ends()
    house.works()
    return house


def ask(house: House, question: str, way: Means | None = None) -> Answer:
    return search(house.store, question, None, means=way or load_embedder(Settings()))


def read(answer: Answer) -> dict[str, str]:
    return {each.typed: each.word.lower() for each in answer.read_as}


WAYS = pytest.mark.parametrize(
    "way",
    [load_embedder(Settings()), load_embedder(Settings(embed_provider="off"))],
    ids=["meaning", "words"],
)


@WAYS
@pytest.mark.parametrize(
    ("question", "expected", "found"),
    [
        ("postgers migration", {"postgers": "postgres"}, "Postgres"),
        ("retrun type of pasre_config", {"retrun": "return", "pasre": "parse"}, "parse_config"),
        ("Postgrse", {"postgrse": "postgres"}, "Postgres"),
        ("conections of pgbounecr", {"conections": "connections", "pgbounecr": "pgbouncer"}, "pgbouncer"),
        ("migartoin", {"migartoin": "migration"}, "migration"),
        ("ConfigRaeder", {"configraeder": "configreader"}, "ConfigReader"),
        ("mesage translated", {"mesage": "message"}, "translated"),
        ("frozne settings", {"frozne": "frozen"}, "frozen"),
    ],
)
def test_a_mistyped_word_is_read_as_the_nearest_one_of_the_memory(
    house: House, way: Means, question: str, expected: dict[str, str], found: str
) -> None:
    answer = ask(house, question, way)
    assert read(answer) == expected
    assert found in answer.hits[0].text


@pytest.mark.parametrize(
    "question",
    [
        "postgres migration",
        "parse_config",
        "latex",  # a word of its own that `later` is near to
        "stitches",  # a form of a word of English: off-topic, not mistyped
        "remigration",  # made of words
        "migrations",
        "pgbouncers",
        "postgresqll17",
        "配置文件",
        "Ubergabe",
        "x",
    ],
)
def test_what_is_there_or_is_a_word_of_its_own_is_not_read_otherwise(house: House, question: str) -> None:
    assert not ask(house, question).read_as


def test_a_name_that_exists_is_never_taken_for_a_mistyped_one(house: House) -> None:
    """Even if another word that is one letter away is far more common."""
    story = house.session().starts()
    for _ in range(5):
        story.prompts("The column length is in metres.").stops("length it is.")
    story.prompts("The old clients send lenght.").stops("lenght stays as an alias.").ends()
    house.works()
    answer = ask(house, "lenght")
    assert not answer.read_as
    assert "lenght" in answer.hits[0].text


def test_another_projects_words_do_not_correct_this_ones(house: House) -> None:
    other = house.project.parent / "other"
    other.mkdir()
    house.session(other).starts().prompts("Introduce zookeeper").stops("zookeeper runs.").ends()
    house.works()
    with App(house.home) as app:
        here = app.project_at(house.project).id
        assert not app.search("zookeper", here).read_as
        assert read(app.search("zookeper", None)) == {"zookeper": "zookeeper"}


def test_agents_and_viewer_say_what_was_read(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    with App(house.home) as app:
        project = app.project_at(house.project).id
        shown = page(app, PageRequest("/search", values={"q": "postgers migration", "project": project}))
        assert isinstance(shown, Page)
        assert "Read “postgers” as “Postgres”." in shown.body
    tool = next(each for each in TOOLS if each["name"] == "search")
    monkeypatch.setenv("BACKSTORY_HOME", str(house.home.root))
    told, _ = call_tool(tool, {"query": "postgers migration"}, str(house.project))
    assert "Read “postgers” as “Postgres”." in told


def test_nothing_is_looked_up_when_every_word_is_known(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError("the vocabulary was read")

    monkeypatch.setattr("backstory.store.passages.Passages.spelled_like", never)
    assert ask(house, "postgres migration").hits
    assert not ask(house, "which cheese goes with a fig jam").hits


@given(st.text("abcdeg", min_size=6, max_size=12), st.randoms(use_true_random=False))
def test_one_slip_of_the_fingers_is_one_error(word: str, chance: random.Random) -> None:
    at = chance.randrange(1, len(word) - 1)
    for slipped in (
        word[:at] + word[at + 1] + word[at] + word[at + 2 :],
        word[:at] + word[at + 1 :],
        word[:at] + "x" + word[at:],
        word[:at] + "x" + word[at + 1 :],
    ):
        assert typing_errors(slipped, word) == typing_errors(word, slipped) <= 1
        assert typing_errors(slipped + "ing", word, begins=True) <= 1
    assert typing_errors(word, word) == 0
    assert typing_errors("x" + word + "x", word) == 2
