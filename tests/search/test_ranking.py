"""The order of candidates: what speaks for one of two that fit equally well, and what does not help."""

from dataclasses import dataclass
from typing import Any, cast

import pytest

from backstory.model import Kind, MemoryStatus
from backstory.search.question import question
from backstory.search.ranking import Here, ranked
from backstory.store import Store
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
    0,
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
    "it was asked for": Prior({"kind": Kind.PROMPT}),
    "it was learned": Prior({"kind": "lesson"}),
    "it is of this project": Prior({"project_id": "here"}, Here(project_id="here")),
    "it is of this branch": Prior({"branch": "feature"}, Here(branch="feature")),
    "it is about a file in play": Prior({"text": "cache.py is stale"}, Here(files=("cache.py",))),
}


def order(*candidates: Found, here: Here) -> list[str]:
    nobody = cast("Store", None)  # without vectors nothing is read
    found = ranked(nobody, question("stale cache", NOW), candidates, {}, None, here, NOW)
    return [one.found.owner for one in found]


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


def test_what_is_recent_overtakes_what_fits_a_little_better() -> None:
    """Recency is a prior of its own, not only what decides between equals."""
    recent = PLAIN._replace(row=2, owner="e2", session_id="s2", rank=-0.99, at=NOW - DAY)
    assert order(PLAIN, recent, here=Here()) == ["e2", "e1"]
    assert order(PLAIN, recent._replace(at=NOW - 50 * DAY), here=Here()) == ["e1", "e2"]


def test_what_stands_in_a_session_that_fits_overtakes_what_fits_a_little_better_alone() -> None:
    half = PLAIN._replace(row=2, owner="e2", rank=-0.5)
    alone = PLAIN._replace(row=3, owner="e3", session_id="s2", rank=-0.7)
    assert order(PLAIN, half, alone, here=Here()) == ["e1", "e2", "e3"]
    assert order(PLAIN._replace(session_id="s3"), half, alone, here=Here()) == ["e1", "e3", "e2"]
