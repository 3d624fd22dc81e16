"""Questions: an answer with its sources, or plainly none."""

import json
import re

import pytest

from backstory.app import App
from backstory.front_matter import split_front_matter
from backstory.knowledge.markdown_page import links_in
from backstory.knowledge.question_answering import UNKNOWN
from backstory.knowledge.writer_protocol import said_nothing
from backstory.knowledge_base import KnowledgeBase
from tests.story import House

from .book import Book, logged_in, run
from .test_lint import Model

QUESTION = "what failed in tests/test_login.py?"


@pytest.fixture
def known(house: House, book: Book) -> Book:
    logged_in(house.told()).ends()
    book.writes_down()
    return book


def test_an_answer_names_the_articles_that_it_rests_on(known: Book) -> None:
    """CM-29: as links that lead somewhere."""
    found = json.loads(run(known.house, "ask", QUESTION, "--json").stdout)
    assert found["known"] is True
    assert "InvalidAlgorithmError" in found["text"]
    assert "concepts/invalidalgorithmerror" in found["articles"]
    assert set(found["articles"]) <= set(links_in(found["text"]))
    assert set(links_in(found["text"])) <= set(known.pages())


@pytest.mark.parametrize("question", ["How do I bake sourdough bread?", "¿?", "the of and"])
def test_what_nobody_wrote_down_is_said_plainly_not_to_be_known(known: Book, question: str) -> None:
    """CM-29: and nothing is made up or filed."""
    done = run(known.house, "ask", "--file-back", question)
    assert done.exit_code == 0
    assert done.stdout.strip() == UNKNOWN
    assert known.vault.links("qa") == []


def test_without_any_knowledge_nothing_is_known_and_nothing_is_made(house: House) -> None:
    assert run(house, "ask", QUESTION).stdout.strip() == UNKNOWN
    assert not house.home.knowledge.exists()


def test_filed_back_the_answer_is_an_article_with_the_exact_question(known: Book) -> None:
    """CM-24, CM-30: the consulted articles, the day, a row of the index and an entry of the log."""
    question = 'what  "failed" in tests/test_login.py? [[x]] <b>'
    found = json.loads(run(known.house, "ask", "--file-back", question, "--json").stdout)
    [link] = known.vault.links("qa")
    assert found["filed"] == link
    fields, body = split_front_matter(known.page(link))
    assert fields["question"] == question
    assert fields["consulted"] == found["articles"] != []
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", fields["filed"])
    assert "[[x]]" not in body
    assert known.page("index").count(f"[[{link}\\|") == 1
    assert f"- created: `{link}`" in known.page("log")
    for article in found["articles"]:
        assert link in links_in(known.page(article))
    assert known.broken() == []
    run(known.house, "ask", "--file-back", question)
    assert known.vault.links("qa") == [link], "asked again it is the same article"


def test_a_model_answers_from_the_passages_and_must_name_its_sources(known: Book) -> None:
    model = Model("HS256 was refused [[concepts/invalidalgorithmerror]], see [[concepts/made-up]] <script>")
    with App(known.house.home) as app:
        project = app.project_at(known.house.project)
        found = KnowledgeBase(app, model).ask(project, QUESTION)
        assert found.by == "model"
        assert links_in(found.text) == ["concepts/invalidalgorithmerror"], "only what it was given"
        assert "<script" not in found.text
        assert "InvalidAlgorithmError" in model.asked[0][1]
        found = KnowledgeBase(app, Model("It just failed, trust me.")).ask(project, QUESTION)
        assert (found.by, found.known) == ("rules", True)
        assert "named no source" in found.note
        found = KnowledgeBase(app, Model(TimeoutError("too slow"))).ask(project, QUESTION)
        assert (found.by, found.known) == ("rules", True)
        assert "too slow" in found.note
        found = KnowledgeBase(app, Model("NOTHING_TO_SAVE")).ask(project, QUESTION)
        assert (found.known, found.text) == (False, UNKNOWN)


def test_the_word_for_nothing_counts_only_if_it_is_all_that_is_said() -> None:
    """CM-42: an answer that merely mentions it is an answer."""
    assert said_nothing("NOTHING_TO_SAVE")
    assert said_nothing("  NOTHING_TO_SAVE\n")
    assert not said_nothing("We print NOTHING_TO_SAVE when the queue is empty.")
    assert not said_nothing("NOTHING_TO_SAVE.")
    assert not said_nothing("")


def test_a_session_that_mentions_the_word_for_nothing_is_logged(house: House, book: Book) -> None:
    """CM-42: in the log and in the wiki."""
    told = "NOTHING_TO_SAVE is printed by the flush. Let's use an enum for it because strings drift."
    logged_in(house.told(), told).ends()
    book.writes_down()
    [day] = book.vault.days()
    assert "NOTHING_TO_SAVE is printed by the flush" in book.page(f"daily/{day}")


@pytest.mark.parametrize("asked", ["gateway", "billing gateway", "the billing gateway?", "payment-gateway"])
def test_one_word_more_does_not_hide_what_the_other_finds(known: Book, asked: str) -> None:
    """No page says "billing"; and the words may stand in a compound, or in the name of the page."""
    page = known.vault.page("concepts/payment-gateway")
    page.write_text(
        "---\ntitle: Gateway\n---\n\n# Gateway\n\n## Key Points\n\n- The gateway retries three times\n"
    )
    found = json.loads(run(known.house, "ask", asked, "--json").stdout)
    assert "The gateway retries three times" in found["text"], found
