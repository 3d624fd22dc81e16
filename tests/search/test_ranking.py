"""The order of candidates: what speaks for one of two that fit equally well, and what does not help."""

from dataclasses import dataclass
from typing import Any

import pytest

from backstory.model import MemoryStatus
from backstory.search.marks import marks
from backstory.search.question import question
from backstory.search.ranking import Here, ranked
from backstory.store.full_text_index import Match
from backstory.store.records import Found

NOW = 1_800_000_000_000
DAY = 86_400_000
PLAIN = Found(
    1,
    "e1",
    "p",
    "shop",
    "s1",
    "claude-code",
    "said",
    NOW - 60 * DAY,
    "the cache is stale",
    1,
    "said",
    "",
    "",
    "",
    0,
    -1.0,
)


@dataclass(frozen=True)
class Prior:
    """What is different about one of two, and where it is asked from."""

    fields: dict[str, Any]
    here: Here = Here()  # noqa: RUF009 - frozen


PRIORS = {
    "it is more recent": Prior({"at": NOW - DAY}),
    "it is pinned": Prior({"pinned": 1}),
    "a person said it": Prior({"said_by": "user"}),
    "a person confirmed it": Prior({"status": MemoryStatus.CONFIRMED}),
    "it closes a turn": Prior({"form": "closing"}),
    "it is a commit": Prior({"form": "commit"}),
    "it was learned": Prior({"kind": "lesson", "form": ""}),
    "it is of this project": Prior({"project_id": "here"}, Here(project_id="here")),
    "it is of this branch": Prior({"branch": "feature"}, Here(branch="feature")),
    "it is about a file in play": Prior({"text": "cache.py is stale"}, Here(files=("cache.py",))),
}


#: Something was done: a step that fits less than all that is compared.
STEP = PLAIN._replace(row=9, owner="e9", session_id="s9", form="step", rank=-0.1)


def order(*candidates: Found, here: Here, beside: tuple[Found, ...] = (STEP,)) -> list[str]:
    every = (*candidates, *beside)
    marked = marks([Match(each.row, each.rank, each.rank) for each in every], {})
    found = [one.found.owner for one in ranked(question("stale cache", NOW), every, marked, here, NOW)]
    return [owner for owner in found if owner != STEP.owner]


@pytest.mark.parametrize("why", PRIORS)
def test_of_two_that_fit_equally_well_the_one_comes_first_for_which_something_speaks(why: str) -> None:
    prior = PRIORS[why]
    other = PLAIN._replace(row=2, owner="e2", session_id="s2", **prior.fields)
    later = PLAIN if "at" in prior.fields else PLAIN._replace(at=PLAIN.at + 1)
    assert order(later, other, here=prior.here) == ["e2", "e1"]
    assert order(other, later, here=prior.here) == ["e2", "e1"]


@pytest.mark.parametrize("why", PRIORS)
def test_what_fits_twice_as_well_is_not_overtaken(why: str) -> None:
    prior = PRIORS[why]
    other = PLAIN._replace(row=2, owner="e2", session_id="s2", rank=-0.5, **prior.fields)
    assert order(PLAIN, other, here=prior.here) == ["e1", "e2"]


def test_where_people_only_talk_a_question_counts_as_much_as_a_closing() -> None:
    closing = PLAIN._replace(row=2, owner="e2", session_id="s2", form="closing")
    asked = PLAIN._replace(form="prompt", at=PLAIN.at + 1)
    assert order(asked, closing, here=Here(), beside=()) == ["e1", "e2"]
    assert order(asked, closing, here=Here()) == ["e2", "e1"]


def test_a_command_that_works_overtakes_an_announcement_of_running_it() -> None:
    """Asked how the tests are run, "Now run all the tests" has more of the words than `mix test`."""
    command = PLAIN._replace(row=2, owner="m2", session_id="s2", kind="command", form="", rank=-0.95)
    announced = PLAIN._replace(form="step")
    assert order(announced, command, here=Here()) == ["m2", "e1"]
    assert order(announced, command._replace(kind="lesson"), here=Here()) == ["e1", "m2"]


def test_what_is_recent_overtakes_what_fits_a_little_better() -> None:
    """Recency is a prior of its own, not only what decides between equals."""
    recent = PLAIN._replace(row=2, owner="e2", session_id="s2", rank=-0.99, at=NOW - DAY)
    assert order(PLAIN, recent, here=Here()) == ["e2", "e1"]
    assert order(PLAIN, recent._replace(at=NOW - 50 * DAY), here=Here()) == ["e1", "e2"]


def test_words_meaning_and_context_are_weighed_and_the_shares_sum_up_to_the_score() -> None:
    by_words, by_context = Match(1, -2.0, -2.0), Match(2, 0.0, -2.0)
    marked = marks([by_words, by_context], {1: 0.2, 2: 0.2, 3: 0.6})
    candidates = [PLAIN._replace(row=row, owner=f"e{row}") for row in (1, 2, 3)]
    found = ranked(question("stale cache", NOW), candidates, marked, Here(), NOW)
    assert [one.found.owner for one in found] == ["e1", "e3", "e2"]
    assert [one.found_by for one in found] == ["words and meaning", "meaning", "words and meaning"]
    assert all(one.score == pytest.approx(sum(one.shares.values())) for one in found)
    assert marked.best(2) == [1, 3]


def test_where_every_cosine_is_low_the_highest_is_no_proof() -> None:
    marked = marks([Match(1, -2.0, -2.0)], {1: 0.0, 2: 0.05})
    assert marked.best(2) == [1, 2]
