"""Introductions by a model: from what is new alone, cited or not taken, and nobody waits for them."""

import json
import re
import threading
from collections.abc import Callable
from typing import Any

import pytest

from backstory.app import App
from backstory.knowledge import model_prose
from backstory.knowledge.model_prose import INDEX_CHARS, PROMPT_CHARS, is_waiting, write_introductions
from backstory.knowledge_base import KnowledgeBase
from tests.story import House

from .book import STAMP, Book, logged_in, run
from .test_lint import Model, T

ARTICLE = "concepts/invalidalgorithmerror"


@pytest.fixture
def known(house: House, book: Book) -> Book:
    """A book about a session, compiled so that a model is to write."""
    logged_in(house.told()).ends()
    book.writes_down()
    book.compiles(everything=True, prose=True)
    return book


def handle_of(book: Book, link: str = ARTICLE) -> str:
    return str(re.findall(r"`(m[0-9a-f]{8})`", book.page(link))[0])


def saying(**articles: str) -> Model:
    """A model that writes of these concepts."""
    return Model(
        json.dumps({"articles": [{"page": f"concepts/{p}", "text": t} for p, t in articles.items()]})
    )


def test_what_cites_a_note_that_it_was_given_is_taken_and_nothing_else(known: Book) -> None:
    handle = handle_of(known)
    assert "no model wrote it" in known.page(ARTICLE)
    told = f"Safari refuses HS256 `{handle}`. <b>x</b> [[evil]] [[concepts/auth-tokens-py]]"
    model = saying(
        invalidalgorithmerror=told, **{"working-agreements": "All is well.", "made-up": "`m00000000`"}
    )
    assert write_introductions(known.vault, model, STAMP) == [ARTICLE]
    text = known.page(ARTICLE)
    assert f"the introduction is a model's, the rest by rules.* Safari refuses HS256 `{handle}`." in text
    assert "[[evil]]" not in text
    assert "<b>" not in text
    assert "[[concepts/auth-tokens-py]]" in text
    assert "no model wrote it" in known.page("concepts/working-agreements"), "it cites nothing"
    assert known.vault.find("concepts/made-up") is None
    assert known.broken() == []
    assert "introductions by a model" in known.page("log")


def test_each_note_is_sent_once_and_several_articles_go_in_one_call(known: Book) -> None:
    """CMEM-25: also if every log is compiled anew."""
    model = saying()
    write_introductions(known.vault, model, STAMP)
    assert len(model.asked) == 1
    assert model.asked[0][1].count("\nArticle concepts/") > 1
    assert not is_waiting(known.vault)
    known.compiles(everything=True, prose=True)
    assert write_introductions(known.vault, model, STAMP) == []
    assert len(model.asked) == 1


def test_what_is_new_later_is_all_that_is_sent_later(house: House, known: Book) -> None:
    write_introductions(known.vault, saying(), STAMP)
    second = house.told().starts().prompts("The login test is red again.")
    second.runs("pytest tests/test_login.py", fails="E  jwt.InvalidAlgorithmError: the key is too short")
    second.edits("src/auth/keys.py").runs("pytest tests/test_login.py", "1 passed").stops(
        "Longer now."
    ).ends()
    known.writes_down()
    known.compiles(prose=True)
    model = saying()
    write_introductions(known.vault, model, STAMP)
    [(_, prompt)] = model.asked
    assert "the key is too short" in prompt
    assert "jwt.InvalidAlgorithmError: HS256" not in prompt


def test_the_prompt_holds_index_and_schema_and_does_not_grow_with_the_wiki(known: Book) -> None:
    """MEMORIA-33: no article but the news of those that it is about; the index only as a slice."""
    small = saying()
    write_introductions(known.vault, small, STAMP)
    [(purpose, prompt)] = small.asked
    assert purpose == "compile"
    assert json.dumps(model_prose.SCHEMA) in prompt
    assert f"- {ARTICLE}\n" in prompt.partition("Index:\n")[2].partition("\n\n")[0]
    for number in range(400):
        known.says("2026-11-02", f"the file part{number}.py holds number {number} " + "of many words " * 20)
    known.compiles(prose=True)
    assert len(known.vault.links("concepts")) > 400
    state = json.loads((known.vault.own / "prose.json").read_text())
    state["waiting"] = state.pop("read")
    (known.vault.own / "prose.json").write_text(json.dumps(state))
    large = saying()
    write_introductions(known.vault, large, STAMP)
    [(_, again)] = large.asked
    assert len(again) <= len(prompt) + INDEX_CHARS
    assert len(again) <= PROMPT_CHARS
    assert "of many words" not in again


def test_a_model_that_fails_changes_nothing_and_what_it_was_asked_waits(house: House, known: Book) -> None:
    """MEMORIA-16: the pages stay what the rules made; the next try is about the same."""
    before = known.snapshot()
    for model in (Model(ConnectionError("down")), Model('{"pages": []}'), Model('{"articles": [1]}')):
        with pytest.raises((ConnectionError, ValueError)):
            write_introductions(known.vault, model, STAMP)
        assert known.snapshot() == before
    with App(house.home) as app:
        done = KnowledgeBase(app, Model(ConnectionError("down"))).compile(app.project_at(house.project))
    assert any("down; the worker asks it again" in said for said in done.skipped)
    assert write_introductions(
        known.vault, saying(invalidalgorithmerror=f"Safari `{handle_of(known)}`."), STAMP
    ) == [ARTICLE]


def test_nobody_waits_for_the_model(house: House, known: Book) -> None:
    """While it is asked, lines are appended and pages compiled."""
    asked, go_on = threading.Event(), threading.Event()

    class Slow(Model):
        def fill(
            self, purpose: str, prompt: str, schema: dict[str, Any], read: Callable[[dict[str, Any]], T]
        ) -> T:
            asked.set()
            assert go_on.wait(30)
            return super().fill(purpose, prompt, schema, read)

    model = Slow(saying(invalidalgorithmerror=f"Safari `{handle_of(known)}`.").answer)
    pages: list[str] = []
    thread = threading.Thread(target=lambda: pages.extend(write_introductions(known.vault, model, STAMP)))
    thread.start()
    try:
        assert asked.wait(30)
        assert run(house, "log", "--append", "--line", "meanwhile we moved mail.py").exit_code == 0
        known.compiles()
        assert "concepts/mail-py" in known.vault.links("concepts")
    finally:
        go_on.set()
        thread.join()
    assert pages == [ARTICLE]
    assert "concepts/mail-py" in known.page("index")


def test_an_introduction_goes_with_what_it_rests_on(house: House, known: Book) -> None:
    """A memory that is rejected takes the model's words about it along."""
    decision = "concepts/decision-use-rs256-for-the-tokens"
    handle = handle_of(known, decision)
    model = saying(
        **{"auth-tokens-py": f"See [[{decision}]] `{handle_of(known, 'concepts/auth-tokens-py')}`."}
    )
    write_introductions(known.vault, model, STAMP)
    assert run(house, "review", handle, "--reject").exit_code == 0
    known.compiles()
    assert known.vault.find(decision) is None
    assert known.broken() == []
    assert known.page("concepts/auth-tokens-py").count("*Compiled by Backstory") == 1
