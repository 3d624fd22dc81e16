"""How sure it must be that a hit has to do with the question."""

from dataclasses import replace

from backstory.embed.embedder import load_embedder
from backstory.search import floor
from backstory.search.find import search
from backstory.search.question import question
from backstory.search.ranking import Ranked
from backstory.settings import Settings
from backstory.store.records import Found
from tests.story import House

LONG = "Everybody had to log in again after the keys were rotated"


def hit(text: str, cosine: float | None) -> Ranked:
    found = Found(1, "e1", "p", "shop", "s", "claude-code", "said", 1, text, 1, "said", "", "", "", 0, 0.0)
    return Ranked(found, {"words": 0.1, "context": 0.1, "meaning": 0.1, "priors": 0.0}, cosine, 0.3)


def unlike(text: str) -> Ranked:
    """A hit with this text that no vector takes for like the question."""
    return hit(text, 0.0)


def test_one_near_text_may_be_chance_three_are_none() -> None:
    """CCE-54"""
    asked = question("why were the users signed out", 0)
    near, far = hit(LONG, 0.47), hit("The picture of a walrus hangs in the hall", 0.1)
    assert floor.answered([near, near, near], asked)
    assert not floor.answered([near, far, far], asked)
    assert floor.answered([hit(LONG, 0.55), far, far], asked), "very near is enough"


def test_a_name_that_nothing_has_takes_its_share_of_the_evidence() -> None:
    asked = question("were the users signed out by PROJ-1234", 0)
    hits = [hit(LONG, 0.5)] * 3
    assert floor.answered(hits, asked)
    assert not floor.answered(hits, replace(asked, unknown=("proj-1234",)))


def test_small_words_alone_are_below_it_even_where_they_stand() -> None:
    for text in ("what", "the", "a AND", "what.", "how did we do it"):
        assert floor.strength(unlike("what the and a did we do it how"), question(text, 0)) == 0.0


def test_one_or_two_words_that_stand_in_it_need_no_likeness_three_do() -> None:
    one = unlike("the cache of the login was stale")
    assert floor.strength(one, question("cache", 0)) == 1.0
    assert floor.strength(one, question("stale cache", 0)) == 1.0
    assert floor.strength(one, question("stale deploy", 0)) < floor.FLOOR
    assert floor.strength(one, question("stale login cache", 0)) < floor.FLOOR


def test_a_reply_without_content_is_no_answer_however_near_it_stands(house: House) -> None:
    def texts(asked: str) -> list[str]:
        return [hit.text for hit in search(house.store, asked, None, means=load_embedder(Settings())).hits]

    story = house.session().prompts("Move the tracks to the NATS message broker, forty a second")
    story.stops("Applied it all.")
    house.works()
    assert texts("message broker")
    assert "Applied it all." not in texts("message broker")
    assert any("Applied it all." in text for text in texts("applied"))
