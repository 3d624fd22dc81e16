"""What a question asks for beside its time, told by what is left of it."""

import pytest

from backstory.search.question import question
from backstory.search.requested_kinds import wish_of

NOW = 1_790_000_000_000


@pytest.mark.parametrize(
    ("text", "asked", "verbs"),
    [
        ("what did we do yesterday", [], ()),
        ("which files did we change yesterday", ["changed file"], ()),
        ("how many files did we change yesterday", ["changed file"], ()),
        ("what errors did we have last week", ["failure"], ()),
        ("what went wrong on Friday", ["failure"], ()),
        ("what problems did we run into yesterday", ["failure"], ()),
        ("today's errors", ["failure"], ()),
        ("which commands did I run on Tuesday", ["command"], ()),
        ("which commands failed yesterday", ["failed command"], ()),
        ("which branches did I work on this week", ["branch"], ()),
        ("what did we do in this project yesterday", [], ()),
        ("which sessions did I have this week", ["session"], ()),
        ("which agents did I use last week", ["agent"], ()),
        ("what did I ask you yesterday", ["prompt"], ()),
        ("last week's decisions", ["decision"], ()),
        ("decisions of last March", ["decision"], ()),
        ("what did we refactor yesterday", [], ("refactor",)),
        ("what have we been debugging today", [], ("debugging",)),
        ("what's new today", [], ()),
        ("what was the last thing we did yesterday", [], ()),
    ],
)
def test_a_question_without_a_matter_asks_for_a_sort_or_for_what_was_done(
    text: str, asked: list[str], verbs: tuple[str, ...]
) -> None:
    found = question(text, NOW)
    assert found.until
    assert found.wish is not None
    assert ([each.name for each in found.wish.asked], found.wish.verbs) == (asked, verbs)


@pytest.mark.parametrize(
    "text",
    [
        "what did the parser do yesterday", "login fix last week", "what port did we use yesterday",
        "file upload yesterday", "error handling last week", "command palette yesterday",
        "session timeouts last week", "why did we revert yesterday", "did we deploy yesterday",
        "when did we deploy last week", "how long did I work yesterday", "how many hours did I sleep last week",
        "how many days had passed since last March", "what was the port yesterday",
        "what did we decide about Redis in 2019", "which tests failed yesterday",
        "what did Rachel do last week", "what was Sam doing yesterday", "what did Dave open last week",
        "what gardening-related activity did I do two weeks ago", "what did we move to postgres yesterday",
        "what did we do to redis yesterday", "what did we do on parser yesterday", "all redis changes yesterday",
        "which files and tests did we change yesterday", "open issues in the parser last week",
    ],
)  # fmt: skip
def test_any_other_word_is_a_matter_to_search_for(text: str) -> None:
    found = question(text, NOW)
    assert found.until
    assert not found.whole


def test_without_any_word_it_asks_for_all() -> None:
    wish = wish_of("")
    assert wish is not None
    assert (wish.asked, wish.verbs) == ((), ())


@pytest.mark.parametrize(
    "text",
    [
        "what is still open", "What's still open?", "what is left to do", "what's left?", "open tasks",
        "which tasks are still open", "any open tasks?", "what remains to be done", "what are the next steps",
        "what should I do next", "what's next?", "is anything pending", "show me the todo list", "loose ends",
        "unfinished work",
        "can you remind me what is still open?",
    ],
)  # fmt: skip
def test_what_is_open_is_asked_for_in_many_ways(text: str) -> None:
    assert question(text, NOW).open


@pytest.mark.parametrize(
    "text",
    [
        "open", "TODO", "pending", "what did we open", "how do we open files", "what does open do",
        "what port is open", "which files are open", "open source", "open issues",
        "what is still open in the parser", "what is left of the parser", "the build is not done",
        "the next step in the migration", "what was still open yesterday",
    ],
)  # fmt: skip
def test_other_things_that_are_open_are_searched_for(text: str) -> None:
    assert not question(text, NOW).open
