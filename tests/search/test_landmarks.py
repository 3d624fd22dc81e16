"""A matter beside a landmark: "which queue did we use before the migration"."""

import itertools
import time

import pytest

from backstory.embed.embedder import load_embedder
from backstory.search.answer import Answer
from backstory.search.find import search
from backstory.search.landmarks import Landmark, landmark
from backstory.settings import Settings
from backstory.store.records import Filters
from tests.search.past import DAY
from tests.story import CLOCK, House

MONTH = (
    (40, "Let's use RabbitMQ for the job queue because ops runs it already.",
         "Agreed: the job queue runs on RabbitMQ now."),
    (36, "Sign the tokens with HS256, it is the quickest to set up.",
         "The tokens are signed with HS256 by auth/tokens.py."),
    (34, "Add a login form with a captcha to the auth pages", "The auth pages ask for a captcha now."),
    (20, "Plan the uuid migration of the users table", "The plan of the uuid migration has three steps."),
    (19, "Run the uuid migration now", "The migration ran: all users have a uuid, the old ids are kept."),
    (19, "The migration left two users without a uuid, mend that", "The migration is complete."),
    (12, "Switch from RabbitMQ to NATS for the job queue, the memory alarms killed us twice.",
         "The job queue runs on NATS."),
    (10, "Sign the tokens with RS256 because Safari rejects HS256",
         "The tokens are signed with RS256; jwt keys lie in the vault."),
    (8, "Rotate the jwt keys every week", "A job rotates the jwt keys every Monday."),
    (5, "Change the auth pages to the new layout", "The auth pages have the new layout."),
    (2, "Paint the basket icon red", "It is red."),
)  # fmt: skip


@pytest.fixture
def month(house: House) -> House:
    for days, asked, said in MONTH:
        with pytest.MonkeyPatch.context() as patch:
            steps = itertools.count(int((time.time() - days * DAY) * 1e9), 10**6)
            patch.setattr(CLOCK, "tick", lambda steps=steps: next(steps))
            house.session().starts().prompts(asked).stops(said).ends()
    house.works()
    return house


def ask(house: House, text: str, **options: object) -> Answer:
    return search(house.store, text, None, **{"means": load_embedder(Settings()), **options})  # type: ignore[arg-type]


def days_ago(answer: Answer) -> list[int]:
    return [round((time.time() - hit.when / 1000) / DAY) for hit in answer.hits]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("which queue did we use before the migration", "RabbitMQ"),
        ("before the migration, which queue did we use?", "RabbitMQ"),
        ("which queue did we use after the uuid migration", "NATS"),
        ("how did we sign tokens before the uuid migration", "HS256"),
        ("how did we sign tokens since the uuid migration", "RS256"),
        ("how did we sign tokens before we ran the uuid migration", "HS256"),
        ("auth changes before the migration", "auth pages"),
        ("jwt work after the uuid migration", "jwt"),
        ("after the uuid migration what jwt work was there", "jwt"),
    ],
)
def test_what_lies_on_the_right_side_of_the_landmark_comes_first(month: House, text: str, first: str) -> None:
    answer = ask(month, text)
    assert first in answer.hits[0].text
    assert [days > 19 if "before" in text else days < 19 for days in days_ago(answer)[:1]] == [True]


def test_what_was_replaced_since_is_no_history_before_the_landmark(month: House) -> None:
    """It is shown as replaced, and where it belongs: first."""
    hits = ask(month, "which queue did we use before the migration").hits
    assert "RabbitMQ" in hits[0].text
    assert "superseded" in [hit.status for hit in hits[:2]]
    assert "NATS" in ask(month, "which queue did we use").hits[0].text


def test_what_speaks_of_both_has_a_place_however_much_lies_on_the_right_side(month: House) -> None:
    answer = ask(month, "auth changes before the migration", limit=3)
    assert [days > 19 for days in days_ago(answer)] == [True, False, False]


def test_what_is_told_with_the_landmark_stays_first(month: House) -> None:
    """What came of something is told where that is."""
    answer = ask(month, "which users had no uuid after the migration")
    assert any("left two users without a uuid" in hit.text for hit in answer.hits[:2])


def test_a_landmark_that_nobody_spoke_of_changes_nothing(month: House) -> None:
    with_it = ask(month, "which queue did we use before the coronation of the emperor")
    assert {hit.id for hit in with_it.hits} <= {hit.id for hit in ask(month, "which queue did we use").hits}


def test_filters_hold_on_the_right_side_too(month: House) -> None:
    since = int((time.time() - 25 * DAY) * 1000)
    answer = ask(month, "which queue did we use before the migration", filters=Filters(since=since))
    assert all(hit.when >= since for hit in answer.hits)
    prompts = ask(month, "which queue did we use before the migration", filters=Filters(kinds=("prompt",)))
    assert "RabbitMQ for" in prompts.hits[0].text
    assert {hit.kind for hit in prompts.hits} == {"prompt"}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("jwt work after the uuid migration?", Landmark("jwt work", "uuid migration", earlier=False)),
        ("Before our v2.0 release, who ran it?", Landmark("who ran it?", "v2.0 release", earlier=True)),
        ("after the move what broke", Landmark("what broke", "move", earlier=False)),
        ("welche Queue vor der Migration", Landmark("welche Queue", "Migration", earlier=True)),
        ("what did Ann do after meeting Bob", None),
        ("since the big refactoring everything is slow", None),
        ("what broke after that", None),
        ("the day before", None),
    ],
)
def test_a_landmark_ends_or_begins_a_question_and_is_named_as_known(
    text: str, found: Landmark | None
) -> None:
    assert landmark(text) == found


@pytest.fixture
def works(house: House) -> House:
    """Sessions that changed files and ran commands before and after a move."""
    told = (
        (40, "We decided to use RabbitMQ for the job queue because ops runs it.", "queue.py", "make lint"),
        (
            30,
            "We decided to use NATS instead of RabbitMQ for the job queue because it is fast.",
            "nats.py",
            "",
        ),
        (20, "The move to Frankfurt", "", "df -h"),
        (10, "Rotate the logs daily", "rotate.conf", ""),
        (5, "Paint the basket icon red", "basket.css", "make icons"),
    )
    for days, asked, file, command in told:
        with pytest.MonkeyPatch.context() as patch:
            steps = itertools.count(int((time.time() - days * DAY) * 1e9), 10**6)
            patch.setattr(CLOCK, "tick", lambda steps=steps: next(steps))
            story = house.session().starts().prompts(asked)
            if file:
                story.edits(file)
            if command:
                story.runs(command, "ok")
            story.stops("Done.").ends()
    house.works()
    return house


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("which files did we change after the move", ["rotate.conf", "basket.css"]),
        ("which files did we edit after the move", ["rotate.conf", "basket.css"]),
        ("after the move, which files did we change?", ["rotate.conf", "basket.css"]),
        ("which files did we change before the move", ["nats.py", "queue.py"]),
        ("which commands did we run before the move", ["make lint"]),
        ("which commands did we run after the move", ["make icons"]),
    ],
)
def test_a_sort_that_is_known_exactly_is_all_that_is_shown_beside_a_landmark(
    works: House, text: str, found: list[str]
) -> None:
    """As with a time: the nearest to the landmark first."""
    answer = ask(works, text)
    assert answer.mode == "by time"
    assert [hit.text.partition("\n")[0].rpartition("/")[2] for hit in answer.hits] == found


def test_decisions_before_a_landmark_come_first_what_was_replaced_since_among_them(works: House) -> None:
    answer = ask(works, "which decisions did we make before the move")
    assert [hit.kind == "decision" for hit in answer.hits[:3]] == [True, True, False]
    assert [hit.status for hit in answer.hits[:2]] == ["candidate", "superseded"]


def test_a_sort_of_which_nothing_lies_beside_the_landmark_is_told(works: House) -> None:
    answer = ask(works, "which commands failed before the move")
    assert answer.hits
    assert "No failed command of the time before “move” is remembered; this is what else" in answer.time_note
