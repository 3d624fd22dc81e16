"""How sure it must be that a hit has to do with the question."""

from backstory.embed.embedder import means
from backstory.search import floor
from backstory.search.find import search
from backstory.search.question import question
from backstory.search.ranking import Ranked
from backstory.settings import Settings
from backstory.store.records import Found
from tests.story import House

LONG = "Everybody had to log in again after the keys were rotated"


def test_a_likeness_says_less_the_more_there_is_to_be_like() -> None:
    """CCE-54: the same hit is less sure among many passages; how sure, if nobody counted, lies between."""
    asked = question("why were the users signed out", 0)
    found = Found(1, "e1", "p", "shop", "s", "claude-code", "said", 1, LONG, 1, "", "", "", 0, 0.0)
    one = Ranked(found, "words", {}, {"alike": 0.5, "around": 0.4, "together": 0.5}, 0.0, 0.0, 0.0)
    sure = [floor.of(one, asked, among) for among in (10, 100, 300, 1_000, 10_000, 1_000_000)]
    assert sure[0] == sure[1] > sure[2] > sure[3] > sure[4] > sure[5]
    assert sure[1] >= floor.FLOOR > sure[5]
    assert floor.of(one, asked, 0) == sure[3]


def unlike(text: str) -> Ranked:
    """A hit with this text that no vector takes for like the question."""
    found = Found(1, "e1", "p", "shop", "s", "claude-code", "said", 1, text, 1, "", "", "", 0, 0.0)
    return Ranked(found, "words", {}, {"alike": 0.0, "around": 0.0, "together": 0.0}, 0.0, 0.0, 0.0)


def test_small_words_alone_are_below_it_even_where_they_stand() -> None:
    for text in ("what", "the", "a AND", "what.", "how did we do it"):
        assert floor.of(unlike("what the and a did we do it how"), question(text, 0)) == 0.0


def test_one_or_two_words_that_stand_in_it_need_no_likeness_three_do() -> None:
    one = unlike("the cache of the login was stale")
    assert floor.of(one, question("cache", 0)) == 1.0
    assert floor.of(one, question("stale cache", 0)) == 1.0
    assert floor.of(one, question("stale deploy", 0)) < floor.FLOOR
    assert floor.of(one, question("stale login cache", 0)) < floor.FLOOR


def test_a_reply_without_content_is_no_answer_however_near_it_stands(house: House) -> None:
    def texts(asked: str) -> list[str]:
        return [hit.text for hit in search(house.store, asked, None, means=means(Settings())).hits]

    house.session().prompts("Move the tracks to the NATS message broker, forty a second").stops("Applied.")
    house.works()
    assert texts("message broker")
    assert "Applied." not in texts("message broker")
    assert "Applied." in texts("applied")
