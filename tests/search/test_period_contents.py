"""A question that names a time and nothing else gets what that time holds."""

from datetime import UTC
from pathlib import Path

import pytest

from backstory import clock
from backstory.embed.embedder import Means, load_embedder
from backstory.recall.handles import full_id
from backstory.search.answer import Answer
from backstory.search.find import search
from backstory.search.question import question
from backstory.settings import Settings
from backstory.store.records import Filters
from tests.search.past import aged
from tests.story import House

WORDS_ONLY = Means(why="by words only")


@pytest.fixture
def past(house: House) -> House:
    """A month of work, a thing each day or week."""
    aged(
        house,
        (40, "Deploy the gateway with blue green"),
        (12, "Import the orders of the old shop"),
        (10, "Run the postgres migration now"),
        (9, "Mend the broken invoices"),
        (1, "Rename the cart to basket"),
        (0.0, "Teach the parrot to sing"),
    )
    return house


def ask(house: House, text: str, **options: object) -> Answer:
    return search(house.store, text, None, **{"means": load_embedder(Settings()), **options})  # type: ignore[arg-type]


def told(answer: Answer) -> str:
    return "\n".join(hit.text for hit in answer.hits)


@pytest.mark.parametrize(
    "text",
    [
        "what did we do yesterday",
        "What happened yesterday?",
        "yesterday",
        "what was I working on yesterday",
        "can you remind me what we talked about yesterday?",
        "show me everything from yesterday",
        "summarize yesterday",
        "catch me up on yesterday",
        "where did we leave off yesterday?",
    ],
)
@pytest.mark.parametrize("how", [load_embedder(Settings()), WORDS_ONLY], ids=["meaning", "words"])
def test_a_question_that_names_only_a_time_gets_what_that_time_holds(
    past: House, text: str, how: Means
) -> None:
    answer = ask(past, text, means=how)
    assert "cart to basket" in told(answer)
    assert not any(
        other in told(answer) for other in ("gateway", "orders", "migration", "invoices", "parrot")
    )
    assert answer.mode == "by time"


def test_longer_times_and_directions_hold_more_and_the_latest_comes_first(past: House) -> None:
    recent = told(ask(past, "what did we do in the last 14 days", limit=30))
    assert "gateway" not in recent
    places = [recent.index(each) for each in ("parrot", "basket", "invoices", "postgres", "orders")]
    assert places == sorted(places)
    assert "gateway" in told(ask(past, "what happened before last week", limit=30))
    assert "parrot" not in told(ask(past, "what happened until yesterday", limit=30))


def test_a_question_that_says_what_it_is_about_is_searched_for(past: House) -> None:
    answer = ask(past, "what did we do with the invoices in the last two weeks")
    assert "by words and meaning" in answer.mode
    assert "invoices" in answer.hits[0].text


def test_words_for_doing_find_what_has_them_or_else_what_was_done_then(past: House) -> None:
    built = ask(past, "what did we build yesterday")
    assert built.mode == "by time"
    assert "basket" in told(built)
    mended = ask(past, "what did we fix in the last two weeks")
    assert "invoices" in told(mended), "though it is called mending there"
    past.session().prompts("Write the new manual").stops("Written.")
    past.works()
    assert "manual" in ask(past, "what did we write today").hits[0].text


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("what did we do in March 2019", "Nothing of March 2019 is remembered. The nearest after:"),
        ("what did we change in 2019?", "Nothing of 2019 is remembered."),
        ("what did we do on 2025-01-04", "Nothing of Saturday 2025-01-04 is remembered."),
        ("decisions between 2019-03-03 and 2019-03-05", "Nothing of 2019-03-03 to 2019-03-05 is remembered."),
        ("what did we do before 2019", "Nothing of the time before Tuesday 2019-01-01 is remembered."),
        ("what did we build in 2019", "Nothing of 2019 is remembered."),
    ],
)
def test_a_time_that_holds_nothing_gives_nothing_and_says_so(past: House, text: str, told: str) -> None:
    answer = ask(past, text, zone=UTC)
    assert (answer.hits, answer.abstained, answer.mode) == ((), True, "by time")
    assert not answer.withheld, "there is nothing that a lower floor would show"
    assert answer.time_note.startswith(told)
    assert "The nearest after: " in answer.time_note
    assert "“Deploy the gateway with blue green”" in answer.time_note


def test_the_nearest_on_either_side_is_named_with_a_handle_that_works(past: House) -> None:
    day = clock.day_of(clock.now_ms() - 5 * 86_400_000, UTC)
    note = ask(past, f"what happened on {day}", zone=UTC).time_note
    before, after = note.split("; the nearest ")
    assert "The nearest before: " in before
    assert "invoices" in before
    assert after.startswith("after: ")
    assert "basket" in after
    handle = before.rsplit("(", 1)[1].rstrip(")")
    assert past.store.events.event(full_id(past.store, handle)) or handle.startswith("m")


def test_a_question_with_words_says_when_nothing_of_its_time_was_found(past: House) -> None:
    other = ask(past, "the broken invoices in 2019", zone=UTC)
    assert "invoices" in other.hits[0].text
    assert other.time_note == "Nothing of 2019 is remembered: these are of other times."
    beside = ask(past, "the broken invoices yesterday", limit=1)
    assert "invoices" in beside.hits[0].text
    assert beside.time_note.startswith("None of these is of ")
    assert ask(past, "the broken invoices in the last two weeks").time_note == ""
    assert ask(past, "the broken invoices").time_note == ""


def test_it_stays_within_project_filters_and_limit(past: House, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    other = past.session(cwd=elsewhere).prompts("Water the plants").stops("Watered.")
    past.works()
    project = past.row(other).project_id
    here = search(past.store, "what did we do today", project)
    assert "plants" in told(here)
    assert "parrot" not in told(here)
    prompts = ask(past, "what did we do today", filters=Filters(kinds=("prompt",)))
    assert {hit.kind for hit in prompts.hits} == {"prompt"}
    assert len(ask(past, "what did we do in the last 60 days", limit=2).hits) == 2


def test_what_is_asked_for_comes_first(house: House) -> None:
    house.session().starts().prompts("Look at the parser, please").stops("It reads files.")
    house.session().starts().prompts("Tabs or spaces?").edits("a.py").stops(
        "We decided to use tabs for indentation, because the linter wants them."
    ).ends()
    house.session().starts().prompts("Look at the writer, please").stops("It writes files.").ends()
    house.works()
    assert ask(house, "what did we decide today").hits[0].kind == "decision"


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("what did we do yesterday", True),
        ("what happened on 2026-02-03", True),
        ("what did we decide last week", True),
        ("what did the parser do yesterday", False),
        ("login fix last week", False),
        ("what did we do", False),
        ("what happened before the migration", False),
        ("why did the import fail before the migration", False),
        ("since the big refactoring everything is slow", False),
        ("how many days had passed since I finished the parser when the tests broke", False),
        ("how long before the release did we change the port", False),
    ],
)
def test_what_asks_for_a_time_and_nothing_else(text: str, whole: bool) -> None:
    assert question(text, 1_790_000_000_000).whole is whole


@pytest.fixture
def week(house: House) -> House:
    """A session of long ago, and one of today with edits, commands and a failure."""
    aged(house, (40, "Sum up which files changed, which commands ran, what errors there were"))
    story = house.session().starts().prompts("Mend the parser, please")
    story.edits("src/parser.py").edits("src/lexer.py").edits("src/parser.py")
    story.runs("make check", fails="Exit code 2\nSyntaxError: bad token").runs("make lint", "clean")
    story.stops("The parser reads tokens again.").ends()
    house.works()
    return house


def test_which_files_are_those_that_were_changed_then_each_once(week: House) -> None:
    for text in ("which files did we change today", "files touched today", "what files were edited today"):
        answer = ask(week, text)
        assert answer.mode == "by time"
        assert [hit.text.splitlines()[0].rsplit("/", 1)[-1] for hit in answer.hits] == [
            "parser.py",
            "lexer.py",
        ]
        assert answer.time_note == ""
    fewer = ask(week, "which files did we change today", limit=1)
    assert (len(fewer.hits), fewer.time_note) == (1, "1 of 2 are shown.")


def test_which_commands_and_what_errors_are_those_of_then(week: House) -> None:
    ran = ask(week, "which commands did I run today")
    assert [hit.text.splitlines()[0] for hit in ran.hits] == ["make lint", "make check"]
    failed = ask(week, "which commands failed today")
    assert [hit.text.splitlines()[0] for hit in failed.hits] == ["make check"]
    errors = told(ask(week, "what errors did we have today"))
    assert "bad token" in errors
    assert "clean" not in errors
    asked = ask(week, "what did I ask today")
    assert (asked.hits[0].kind, asked.hits[0].text) == ("prompt", "Mend the parser, please")


def test_a_sort_that_a_time_has_nothing_of_is_told_with_what_else_there_is(week: House) -> None:
    day = clock.day_of(clock.now_ms() - 40 * 86_400_000, UTC)
    for text, name in (("which files did we change", "changed file"), ("what did we decide", "decision")):
        answer = ask(week, f"{text} on {day}", zone=UTC)
        assert answer.time_note.startswith(f"No {name} of ")
        assert answer.time_note.endswith("this is what else there is.")
        assert "Sum up" in told(answer)


def test_sessions_and_projects_of_a_time_are_shown_once_each(week: House, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    week.session(cwd=elsewhere).prompts("Water the plants").stops("Watered.").prompts("Again").stops("Done.")
    week.works()
    for text in ("which sessions did I have today", "which projects did I work on today"):
        assert len(ask(week, text).hits) == 2
    assert len(ask(week, "which sessions did I have in the last 60 days").hits) == 3
    names = ask(week, "which projects did I work on today").time_note
    assert names == f"The projects: elsewhere, {week.project.name}."
    assert ask(week, "which agents did I use today").time_note == "The agents: claude-code."


def test_a_verb_puts_what_has_it_first_and_never_leaves_the_time(past: House) -> None:
    past.session().prompts("Translate the manual").stops("Done.")
    past.session().prompts("Sweep the floor").stops("Done.")
    past.works()
    answer = ask(past, "what did we translate today", limit=3)
    assert "manual" in answer.hits[0].text
    assert "gateway" not in told(ask(past, "what did we deploy today", limit=30))


def test_what_is_still_open_are_the_open_steps_and_nothing_else(house: House) -> None:
    assert ask(house, "what is still open").time_note == "No open step is remembered."
    house.session().starts().prompts("Why is port 80 open? Which tasks are open, what is left to do?").stops(
        "Port 80 is open for the shop.\n\nNext steps:\n- Close the port of the old shop"
    ).ends()
    house.works()
    for text in ("what is still open", "what is left to do", "open tasks"):
        answer = ask(house, text)
        assert [hit.kind for hit in answer.hits] == ["next_step"]
        assert "Close the port" in answer.hits[0].text
    elsewhere = ask(house, "open tasks", filters=Filters(agents=("codex",)))
    assert (elsewhere.hits, elsewhere.time_note) == ((), "No open step is remembered, of codex.")
