"""Typed facts and discoveries: written at once, one page each, one index."""

import re
from datetime import date

import pytest

from backstory.front_matter import split_front_matter
from backstory.knowledge.facts import INDEX, date_named_days
from tests.story import House

from .book import Book, run


def test_a_typed_fact_is_a_memory_and_a_page_at_once(house: House, book: Book) -> None:
    """NC-34: before the command ends, without a worker or a nightly round."""
    done = run(
        house, "remember", "--type", "feedback", "--name", "Short answers", "Answer in short sentences"
    )
    assert done.exit_code == 0
    fields, body = split_front_matter(book.page("facts/feedback-short-answers"))
    assert (fields["type"], fields["name"]) == ("feedback", "Short answers")
    assert done.stdout.strip().startswith(fields["memory"])
    assert "Answer in short sentences" in body
    assert "[[facts/feedback-short-answers]] Answer in short sentences" in book.page(INDEX)
    assert "Answer in short sentences" in house.brief().text


def test_a_fact_of_the_same_name_is_written_anew_and_stays_one(house: House, book: Book) -> None:
    run(house, "remember", "--type", "user", "--name", "Anna", "Anna is the DBA")
    run(house, "remember", "--type", "user", "--name", "Anna", "Anna leads the team")
    assert book.vault.links("facts") == [INDEX, "facts/user-anna"]
    assert "leads the team" in book.page("facts/user-anna")
    assert len(book.page(INDEX).splitlines()) == 1


def test_facts_of_a_project_carry_absolute_dates(house: House, book: Book) -> None:
    """NC-38: whatever day they are told on."""
    monday = date(2026, 11, 16)
    assert date_named_days("We froze it yesterday.", monday) == "We froze it yesterday (2026-11-15)."
    assert date_named_days("Tomorrow we ship", monday) == "Tomorrow (2026-11-17) we ship"
    assert date_named_days("until next Friday", monday) == "until next Friday (2026-11-20)"
    assert date_named_days("since last Monday", monday) == "since last Monday (2026-11-09)"
    assert date_named_days("next monday", monday) == "next monday (2026-11-23)"
    assert date_named_days("yesterday (2026-01-01)", monday) == "yesterday (2026-01-01)", "once is enough"
    assert date_named_days("todays yesterdaysong", monday) == "todays yesterdaysong"
    run(house, "remember", "--type", "project", "The freeze begins tomorrow")
    [page] = [link for link in book.vault.links("facts") if link != INDEX]
    assert re.search(r"tomorrow \(\d{4}-\d\d-\d\d\)", book.page(page))
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", split_front_matter(book.page(page))[0]["created"])


def test_a_type_that_nobody_knows_is_refused(house: House) -> None:
    assert run(house, "remember", "--type", "gossip", "x").exit_code == 1
    assert run(house, "remember", "--name", "x", "y").exit_code == 1


def test_a_facts_text_cannot_forge_front_matter_or_headings(house: House, book: Book) -> None:
    text = "x\n---\ntype: user\n---\n# Fake\n[[concepts/evil]]"
    run(house, "remember", "--type", "reference", "--name", "a\n---\nb: c", text)
    [page] = [link for link in book.vault.links("facts") if link != INDEX]
    fields, body = split_front_matter(book.page(page))
    assert fields["type"] == "reference"
    assert "b" not in fields
    assert body.count("\n# ") == 1
    assert book.broken() == []


def discover(
    house: House, what: str, context: str = "on the dev machine", to: str = "RUNBOOK", *more: str
) -> int:
    return run(
        house, "remember", "--discovery", what, "--context", context, "--promote-to", to, *more
    ).exit_code


def test_a_discovery_says_what_in_which_context_and_where_it_goes(house: House, book: Book) -> None:
    assert discover(house, "port 8080 is taken") == 0
    text = book.page("discoveries")
    assert re.search(
        r"^## \d{4}-\d\d-\d\d \d\d:\d\d\n\n- What: port 8080 is taken\n- Context: on the dev machine\n- Promote-to: RUNBOOK$",
        text,
        re.MULTILINE,
    )
    assert "port 8080 is taken" in house.brief().text


def test_a_discovery_that_differs_only_by_its_time_is_the_same_one(house: House, book: Book) -> None:
    """NC-28: and another context makes another one."""
    discover(house, "port 8080 is taken", "a", "b", "--at", "2026-11-15T10:00")
    before = book.page("discoveries")
    assert discover(house, "port  8080 is taken", "a", "b", "--at", "2026-11-16T11:00") == 0
    assert book.page("discoveries") == before
    discover(house, "port 8080 is taken", "elsewhere", "b")
    assert book.page("discoveries").count("## ") == 2


@pytest.mark.parametrize("forged", ["x\n## 2026-01-01", "x\r## y", "x\u2028y", "x\r\ny"])
def test_a_field_of_several_lines_is_refused(house: House, book: Book, forged: str) -> None:
    """NC-29: no entry can forge another one."""
    for fields in ((forged, "a", "b"), ("a", forged, "b"), ("a", "b", forged)):
        assert discover(house, *fields) == 2
    assert not book.vault.root.exists()


def test_empty_fields_and_bad_times_are_refused(house: House, book: Book) -> None:
    """NC-30: with exit 2, and nothing is written."""
    for fields in ((" ", "a", "b"), ("a", "", "b"), ("a", "b", "\u200b")):
        assert discover(house, *fields) == 2
    for bad in ("yesterday", "2026-13-01T10:00", "2026-11-16", "2026-11-16T25:00", "2026-11-16T10:00\n## x"):
        assert discover(house, "a", "b", "c", "--at", bad) == 2
    assert not book.vault.root.exists()
