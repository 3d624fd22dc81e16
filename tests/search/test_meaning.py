"""A question for a sort of things finds what has one of their names: meaning knows what words have in common."""

import pytest

from backstory.embed.embedder import load_embedder
from backstory.search.answer import Answer
from backstory.search.find import search
from backstory.settings import Settings
from tests.story import House

NATS = "We decided to use NATS instead of Kafka, one binary is enough for forty messages a second."


@pytest.fixture
def house(house: House) -> House:
    house.session().prompts("Tracks must reach the statistics service.").stops(NATS)
    house.works()
    return house


def ask(house: House, asked: str) -> Answer:
    return search(house.store, asked, None, means=load_embedder(Settings()))


@pytest.mark.parametrize("asked", ["message broker", "which queue carries our messages"])
def test_a_question_for_a_sort_finds_the_decision_for_one_of_its_things(house: House, asked: str) -> None:
    assert any("NATS" in hit.text for hit in ask(house, asked).hits)


def test_a_question_for_another_sort_gets_nothing(house: House) -> None:
    assert not ask(house, "which payment provider did we pick").hits
