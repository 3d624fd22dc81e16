"""The worker's wiki with a model: as a job, within the governor, over real HTTP, and without one when it must."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from typing import Any

import pytest

from backstory import clock, worker_loop
from backstory.knowledge.model_prose import is_waiting
from backstory.model import Act
from tests.agents.model import Cut, Drip, Fault, Hang, Raw, Status
from tests.knowledge.book import Book, headings, logged_in
from tests.knowledge.test_compile import judged
from tests.llm.conftest import Asking, line_with, saying
from tests.story import House

ARTICLE = "concepts/invalidalgorithmerror"
FAULTS: dict[str, Fault] = {
    "down": Status(500),
    "too many requests": Status(429, "1"),
    "silence": Hang(),
    "slow drip": Drip(0.05),
    "cut off": Cut(40),
    "not JSON": Raw(b"<html>"),
}


def introducing(prompt: str) -> str:
    """A model that says of each article it is given what its first note is."""
    found = re.findall(r"^Article (\S+) \(.*\):\n- `(m[0-9a-f]{8})` (.{10,40})", prompt, re.MULTILINE)
    return json.dumps({"articles": [{"page": p, "text": f"It began with {t} `{h}`."} for p, h, t in found]})


@pytest.fixture
def book(house: House, asking: Asking) -> Book:
    """A session that ended; the model has nothing to say about the session itself."""
    house.sets("worker.linger_seconds", "0")
    asking.model.aside("Log:", saying())
    asking.model.aside("Article concepts/", introducing)
    logged_in(house.told()).ends()
    return Book(house)


def works(house: House) -> None:
    """A worker's whole shift."""
    house.close()
    worker_loop.run_rounds(house.home, 0)


def job(house: House, kind: str = "prose") -> Any:
    return next(each for each in house.store.jobs.all() if each.kind == kind)


def purposes(asking: Asking) -> list[str]:
    return [call.purpose for call in asking.calls()]


def test_the_worker_compiles_by_rules_and_has_the_model_write_what_it_may(
    house: House, asking: Asking, book: Book
) -> None:
    """CM-28: day, compile, lint and prose are jobs; the call is booked on its purpose."""
    works(house)
    kinds = {each.kind: each.state for each in house.store.jobs.all()}
    assert {kind: kinds[kind] for kind in ("day", "compile", "lint", "prose")} == dict.fromkeys(
        ("day", "compile", "lint", "prose"), "done"
    )
    text = book.page(ARTICLE)
    assert "the introduction is a model's" in text
    assert "It began with" in text
    assert book.broken() == []
    assert purposes(asking).count("compile") == 1, "several articles in one call"
    calls = len(asking.model.requests)
    works(house)
    assert len(asking.model.requests) == calls, "nothing new, nothing sent"


def test_introductions_are_asked_for_when_the_wiki_has_what_the_model_said_of_the_session(
    house: House, asking: Asking, book: Book
) -> None:
    """Else it is asked about the rules' rows first, and then again."""
    fact = "An InvalidAlgorithmError means that the token was signed by the old service"
    asking.model.aside(
        "Log:", lambda log: saying({"kind": "lesson", "text": fact, "lines": [line_with(log, "FAILED")]})
    )
    works(house)
    assert purposes(asking) == ["distil"]
    assert (job(house).state, job(house).attempts) == ("waiting", 0)
    assert "no model wrote it" in book.page(ARTICLE), "it is compiled by rules at once"
    works(house)
    assert purposes(asking) == ["distil"], "the next compilation is half an hour away"
    with house.store.transaction():
        house.store.jobs.retry(job(house, "compile"), clock.now_ms())
    works(house)
    assert purposes(asking) == ["distil", "compile"]
    assert fact in asking.log()
    assert "the introduction is a model's" in book.page(ARTICLE)


def test_introductions_do_not_wait_for_ever(house: House, asking: Asking, book: Book) -> None:
    now = clock.now_ms()
    with house.store.transaction():
        for kind in ("prose", "compile"):
            house.store.jobs.ask(kind, "shared", now, now + 10_000)
    due = house.store.jobs.due_at
    assert due("prose", now) is None
    assert due("prose", now + 3_600_000) == now + 10_000


@pytest.mark.parametrize("name", FAULTS)
def test_whatever_the_endpoint_does_the_wiki_stands_and_the_next_try_succeeds(
    house: House, asking: Asking, book: Book, name: str
) -> None:
    house.sets("model.timeout_seconds", "1")
    house.works()
    asking.refine().run()  # the session itself is read
    book.writes_down()
    stands = book.pages()
    assert ARTICLE in stands
    asking.model.fails_with(FAULTS[name])
    began = time.monotonic()
    asking.refine()._next()
    assert time.monotonic() - began < 25, "it did not wait for an answer that comes after 30 s"
    assert book.pages() == stands, "the wiki stays as it was"
    assert (job(house).state, job(house).attempts) == ("waiting", 1)
    assert job(house).last_error
    assert is_waiting(book.vault)
    assert asking.refine().run() > 0
    assert job(house).state == "done"
    assert "It began with" in book.page(ARTICLE)


def test_an_answer_of_another_shape_is_mended_once_and_else_the_job_is_parked_after_n_tries(
    house: House, asking: Asking, book: Book
) -> None:
    """CM-56: tried again after an hour, since each try is paid for; parked it stays visible and blocks nobody."""
    asking.model.aside("Article concepts/", '{"pages": []}')
    house.sets("jobs.max_attempts", "2")
    house.works()
    asking.refine().run()
    book.writes_down()
    stands = book.pages()
    asking.refine().run()
    due = house.store.jobs.due_at("prose", clock.now_ms())
    assert due is not None
    assert due - clock.now_ms() > 3_000_000
    with house.store.transaction():
        house.store.jobs.thaw("prose", clock.now_ms())
    asking.refine().run()
    assert job(house).state == "parked"
    assert purposes(asking)[-4:] == ["compile", "repair"] * 2
    assert book.pages() == stands
    assert is_waiting(book.vault)


def test_beyond_the_cap_the_wiki_is_compiled_by_rules(house: House, asking: Asking, book: Book) -> None:
    """CMEM-23: postponed until there is money again, which is no failure."""
    house.sets("model.day_tokens", "50")
    works(house)
    assert "no model wrote it" in book.page(ARTICLE)
    assert asking.model.requests == []
    assert (job(house).state, job(house).attempts) == ("waiting", 0)
    assert "model.day_tokens" in job(house).last_error
    assert "asks no model for now" in house.brief().text


def test_the_wiki_can_be_left_to_the_rules(house: House, asking: Asking, book: Book) -> None:
    house.sets("model.wiki", "off")
    works(house)
    assert ARTICLE in book.pages()
    assert purposes(asking) == ["distil"]


def test_without_a_model_there_is_no_such_job_and_no_word_is_left(
    house: House, asking: Asking, book: Book
) -> None:
    house.sets("model.provider", "off")
    works(house)
    assert ARTICLE in book.pages()
    assert not is_waiting(book.vault)
    assert "prose" not in {each.kind for each in house.store.jobs.all()}


def test_a_compilation_that_fails_is_tried_again_and_then_parked(
    house: House, book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CM-56: seen in `backstory jobs`, not only in a log; another project's is done all the same."""
    house.sets("model.provider", "off")
    works(house)
    (book.vault.own / "format.json").write_text('{"version": 99}')
    logged_in(house.told(), "Let's use mail.py for mails because it is short.").ends()
    works(house)
    assert (job(house, "day").state, job(house, "day").attempts) == ("waiting", 1)
    assert "format" in job(house, "day").last_error
    (book.vault.own / "format.json").unlink()
    monkeypatch.setenv("BACKSTORY_COMPILE_INTERVAL_MIN", "0")
    with house.store.transaction():
        house.store.jobs.retry(job(house, "day"), 1)
    works(house)
    assert job(house, "day").state == "done"
    assert any("mail" in link for link in book.vault.links("concepts"))


def test_a_judgement_reaches_the_wiki_by_the_worker(
    house: House, book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.sets("model.provider", "off")
    works(house)
    monkeypatch.setenv("BACKSTORY_COMPILE_INTERVAL_MIN", "0")
    handle = judged(house, "RS256", Act.REJECT)
    works(house)
    assert [
        page for page, text in book.pages().items() if handle in text and not page.startswith("daily/")
    ] == []


def test_before_a_compaction_facts_come_first_and_people_to_turn_to_after_the_task(
    house: House, asking: Asking
) -> None:
    """NC-39: facts, decisions, commitments, the state of the task, contacts, in that order; each unsaved one once."""
    house.sets("distil.min_turns_compact", "1")
    house.sets("model.batch_turns", "1")
    told = (
        {"kind": "fact", "text": "The staging database is restored every night"},
        {"kind": "fact", "text": "Ask Dana Whitfield about the token service"},
    )
    cited = lambda log: saying(*({**claim, "lines": [line_with(log, "RS256")]} for claim in told))  # noqa: E731
    asking.model.aside("Log:", cited)
    story = logged_in(house.told())
    asking.asks()
    story.prompts("Now refactor the login.").reads("src/auth/login.py")
    story._hook("PreCompact", trigger="auto", custom_instructions=None)
    book = Book(house)
    book.writes_down()
    [day] = book.vault.days()
    text = book.page(f"daily/{day}")
    assert headings(text)[:5] == ["Facts", "Decisions Made", "Action Items", "Task State", "Contacts"]
    assert "Dana Whitfield" in text.partition("**Contacts:**")[2].partition("**")[0]
    assert "restored every night" in text.partition("**Facts:**")[2].partition("**")[0]
    story.stops("The login is refactored.").ends()
    book.writes_down()
    assert book.page(f"daily/{day}").count("Dana Whitfield") == 1


@pytest.mark.faults
def test_killed_after_the_answer_the_next_worker_asks_again_and_nothing_is_half(
    house: House, asking: Asking, book: Book
) -> None:
    """CM-59."""
    house.close()
    command = [sys.executable, "-m", "backstory.worker", str(house.home.root)]
    struck = subprocess.run(
        command,
        env={**os.environ, "BACKSTORY_STRIKE": "prose.answered=KILL"},
        timeout=120,
        capture_output=True,
    )
    assert struck.returncode == -signal.SIGKILL
    assert "no model wrote it" in book.page(ARTICLE)
    assert is_waiting(book.vault)
    works(house)
    assert "It began with" in book.page(ARTICLE)
    assert book.broken() == []
