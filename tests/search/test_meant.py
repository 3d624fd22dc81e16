"""What words stand for in the trade: a question for a sort of things finds what has one of their names."""

import pytest

from backstory.embed.embedder import Means, means
from backstory.search.answer import Answer
from backstory.search.find import search
from backstory.search.meant import stand_ins
from backstory.settings import Settings
from backstory.vocabulary import EVERYDAY, SAME, SORTS
from tests.story import House

NATS = "We decided to use NATS instead of Kafka, one binary is enough for forty messages a second."


def others(*words: str) -> set[str]:
    return {other for each in stand_ins(words) for other in each.others}


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (("message", "broker"), "nats"),
        (("brokers",), "rabbitmq"),
        (("test", "runner"), "pytest"),
        (("package", "manager"), "poetry"),
        (("rollout",), "deploy"),
        (("localization",), "translate"),
    ],
)
def test_a_word_stands_for_what_developers_mean_by_it(words: tuple[str, ...], name: str) -> None:
    assert name in others(*words)


def test_a_pair_of_words_is_one_sort_and_not_two() -> None:
    (only,) = (each for each in stand_ins(("event", "bus")) if each.named)
    assert only.words == ("event", "bus")


def test_a_name_stands_for_what_it_is_above_all_and_for_nothing_else_that_it_can_be() -> None:
    assert "postgres" in others("database")
    assert not {"postgres", "redis"} & others("job", "queue")
    assert "ruff" in others("linter")
    assert "ruff" not in others("formatter")


def test_a_name_of_several_parts_stands_in_a_text_as_it_is_written_and_not_in_pieces() -> None:
    (each,) = (each for each in stand_ins(("orchestration",)) if each.named)
    assert each.in_text("started with docker-compose.") == ["docker-compose"]
    assert each.in_text("docker builds, compose later") == []


def test_names_that_are_everyday_words_stand_for_nothing() -> None:
    assert "go" in SORTS["language"].names
    assert "go" not in others("programming", "language")
    assert "kotlin" in others("programming", "language")


def test_what_is_everyday_is_a_name_of_some_sort() -> None:
    names = {name.lower() for sort in SORTS.values() for name in sort.names}
    assert names >= EVERYDAY


def test_words_for_the_same_are_several() -> None:
    assert all(len(set(words)) > 1 for words in SAME)


@pytest.fixture
def house(house: House) -> House:
    house.session().prompts("Tracks must reach the statistics service.").stops(NATS)
    house.works()
    return house


WAYS = pytest.mark.parametrize("way", [Means(why="by words"), means(Settings())], ids=["words", "meaning"])


def ask(house: House, asked: str, way: Means) -> Answer:
    return search(house.store, asked, None, means=way)


@WAYS
@pytest.mark.parametrize("asked", ["which message broker did we pick", "message broker", "our event bus"])
def test_a_question_for_a_sort_finds_the_decision_for_one_of_its_things(
    house: House, asked: str, way: Means
) -> None:
    assert any("NATS" in hit.text for hit in ask(house, asked, way).hits)


@WAYS
def test_a_question_for_another_sort_gets_nothing(house: House, way: Means) -> None:
    assert not ask(house, "which payment provider did we pick", way).hits


def test_an_explanation_tells_what_stands_for_what(house: House) -> None:
    answer = search(
        house.store, "which message broker did we pick", None, means=means(Settings()), explain=True
    )
    assert any(hit.why and "kafka and nats for message broker" in hit.why.found_by for hit in answer.hits)
