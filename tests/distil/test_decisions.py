"""Decisions with a reason, answers, and standing wishes."""

from dataclasses import replace

import pytest
from bench.distil.sources import script

from backstory.distil import distil_session
from backstory.model import Action, MemoryKind
from tests.distil import distilled, of


def decisions(text: str) -> list[tuple[str, str, str]]:
    return [(d.text, d.reason, d.said_by) for d in of(MemoryKind.DECISION, text)]


@pytest.mark.parametrize(
    ("prompt", "choice", "reason"),
    [
        ("let's use SQLite because one file is enough", "let's use SQLite", "because one file is enough"),
        (
            "we stay on v1 until mongo is ported, since it works",
            "we stay on v1 until mongo is ported",
            "since it works",
        ),
        (
            "just drop the preview, we don't need it any more",
            "just drop the preview",
            "we don't need it any more",
        ),
        ("Because keys rotate, we'll use RS256", "we'll use RS256", "Because keys rotate"),
        (
            "Let's use Postgres. That way we can have two writers.",
            "Let's use Postgres.",
            "That way we can have two writers.",
        ),
        ("Wir nehmen SQLite, weil es reicht", "Wir nehmen SQLite", "weil es reicht"),
        ("utilisons COPY parce que c'est plus rapide", "utilisons COPY", "parce que c'est plus rapide"),
        ("usemos Postgres porque ya lo operamos", "usemos Postgres", "porque ya lo operamos"),
    ],
)
def test_a_choice_of_the_user_with_its_reason(prompt: str, choice: str, reason: str) -> None:
    assert decisions(f"> {prompt}\nsaid\n  Done.\nend\n") == [(choice, reason, "user")]


def test_one_thing_over_another_needs_no_further_reason_once_the_talk_has_begun() -> None:
    begun = "> sign the tokens\nsaid\n  They are signed with HS256.\nend\n"
    ((choice, reason, _),) = decisions(f"{begun}> use RS256, not HS256\nend\n")
    assert (choice, reason[:9]) == ("use RS256", "not HS256")
    assert decisions("> use a set, not a list\nend\n") == [], "what opens a session is an ask"


def test_chinese_and_japanese_choices() -> None:
    assert decisions("> 我们用分片上传而不是单次上传，因为网络不稳定\nend\n")
    begun = "> 始めて\nsaid\n  了解です。\nend\n"
    assert decisions(f"{begun}> MemcachedではなくRedisを使ってください。永続化が必要なので。\nend\n")


@pytest.mark.parametrize(
    "prompt",
    [
        "should we use Redis because it is faster?",
        "maybe we could use Redis because it is faster",
        "if we use Redis we lose data because it is in memory",
        "let's use Redis",
        "the docs say “we use Redis because it is fast and everybody likes to have it around”",
        "> we use Redis because it is fast",
        "the test fails because the port is taken",
    ],
    ids=["question", "maybe", "hypothetical", "no reason", "quoted", "quotation", "an explanation"],
)
def test_what_is_no_decision(prompt: str) -> None:
    """CCE-49: only with an explicit reason clause."""
    assert decisions(f"> {prompt}\nsaid\n  ok\nend\n") == []


def test_code_and_tool_output_are_nobodys_decision() -> None:
    assert (
        decisions(
            "> go\n$ cat notes\n  we decided to use Redis because it is fast\nsaid\n  Here:\n"
            "  ```sql\n  -- we chose a hypertable because chunks can be dropped\n  ```\nend\n"
        )
        == []
    )


def test_the_assistant_must_say_that_it_decided() -> None:
    told = (
        "> go\nsaid\n  I decided to keep Hamcrest because 40 tests import it. "
        "I'll use grep because it is quick.\nend\n"
    )
    assert decisions(told) == [("I decided to keep Hamcrest", "because 40 tests import it.", "assistant")]


def test_a_decision_is_recorded_once_and_marked_auto() -> None:
    """CCE-49: once per session, also when it is said again; the user's wording wins and weighs more."""
    told = """> go
said
  I went with RS256 rather than HS256 because keys rotate.
end
> yes, use RS256 rather than HS256 because keys rotate
said
  I went with RS256 rather than HS256 because keys rotate.
end
"""
    (decision,) = of(MemoryKind.DECISION, told)
    assert decision.auto
    assert decision.said_by == "user"
    assert decision.weight > 1
    again = distilled(told)
    assert [d.subject for d in again] == [d.subject for d in distilled(told)]


OFFER = """> how?
said
  Two ways:
  **A)** prove the loop locally
  **B)** solve containers first
  I'd recommend B, because two people cannot share a mouse.
  What do you think?
end
"""


def test_a_letter_picks_an_option() -> None:
    assert decisions(OFFER + "> B\nend\n") == [
        ("Chosen: solve containers first", "over: prove the loop locally", "user")
    ]


def test_both_and_lists_pick_several() -> None:
    assert decisions(OFFER + "> both\nend\n") == [
        ("Chosen: prove the loop locally; solve containers first", "all that was offered", "user")
    ]


def test_yes_to_a_recommendation_is_a_decision() -> None:
    assert decisions(OFFER + "> ok, sounds good\nend\n") == [
        ("I'd recommend B", "because two people cannot share a mouse.", "user")
    ]


def test_a_word_that_starts_with_a_letter_picks_nothing() -> None:
    assert decisions(OFFER + "> a test would help\nend\n") == []


def test_a_sub_agent_has_no_user() -> None:
    told = "parent: p\n> always use ruff, not flake8, because it is faster\nsaid\n  ok\nend\n"
    assert of(MemoryKind.DECISION, told) == []
    assert of(MemoryKind.PREFERENCE, told) == []
    assert of(MemoryKind.SUMMARY, told)


@pytest.mark.parametrize(
    "prompt",
    [
        "always run the linter before you commit",
        "From now on, write tests with AssertJ.",
        "please don't add emojis",
        "don't commit without asking",
        "never apply to production from this machine",
        "I prefer small commits",
        "bitte immer auf Deutsch antworten",
        "désormais, réponds en français",
        "siempre usa tabs",
        "以后都用中文回答",
        "今後は日本語で答えて",
    ],
)
def test_a_standing_wish(prompt: str) -> None:
    (wish,) = of(MemoryKind.PREFERENCE, f"> {prompt}\nend\n")
    assert wish.said_by == "user"


@pytest.mark.parametrize("prompt", ["it never works", "why does it always fail?", "the cache is always cold"])
def test_what_is_no_wish(prompt: str) -> None:
    assert of(MemoryKind.PREFERENCE, f"> {prompt}\nend\n") == []


def test_what_the_user_takes_back_is_not_kept() -> None:
    told = "> let's keep the JSON file, I like to open it in vim\nsaid\n  Ok.\nend\n> "
    told += "forget what I said about the JSON, SQLite it is: two writers on a file are trouble\nsaid\n  Ok.\nend\n"
    assert decisions(told) == [
        ("forget what I said about the JSON, SQLite it is", "two writers on a file are trouble", "user")
    ]


def test_a_list_of_decisions() -> None:
    told = "> go\nsaid\n  ## Key decisions\n  1. **Context over globals**: tests can run in parallel\nend\n"
    assert decisions(told) == [("Context over globals", "tests can run in parallel", "assistant")]


def test_let_us_do_that_is_told_with_what_that_is() -> None:
    told = "> go\nsaid\n  Done.\nend\n> we could link to the session itself. let's do that, it saves a click\nend\n"
    ((text, reason, _),) = decisions(told)
    assert "link to the session" in text
    assert reason == "it saves a click"


@pytest.mark.parametrize(
    ("question", "answer", "count"),
    [
        ("Where should the warning appear?", "Prompt submit hook", 1),
        ("Should sharing be folder-level only, or also single files?", "Folders and files", 1),
        ("What would you like to do with this todo?", "Work on it now", 0),
        ("More questions about permissions, or are we done?", "Done", 0),
        ("Should shared folders look read-only?", "You decide", 0),
        ("Should sharing be instant?", "what are the disadvantages of that?", 0),
    ],
)
def test_an_answer_decides_if_it_settles_the_matter_and_not_how_to_go_on(
    question: str, answer: str, count: int
) -> None:
    base = script("s", "> go\n$ true\nsaid\n  Done.\nend\n")
    asked = replace(
        base.events[1].event,
        tool="AskUserQuestion",
        action=Action.OTHER,
        target="",
        text=f"{question}\n→ {answer}",
    )
    events = [base.events[0], replace(base.events[1], event=asked), *base.events[2:]]
    drafts = distil_session(base.session, events)
    assert len([draft for draft in drafts if draft.kind is MemoryKind.DECISION]) == count


@pytest.mark.parametrize(
    "prompt",
    [
        "Adress them but be careful not to screw over existing functionality.",
        "Update the docs with the latest changes that have been made. E.g. the Configuration isn't complete.",
        "if not, just make a pr to fix this",
        "its one of the recently added tests, so possibly just a flakey test.",
        "i think lets add a todo for this, this will surface issues early enough",
        "once youre done with that, it seems like there was a problem running the migration.",
        "Then let's add some sort of log output for debugging purposes. I would like to verify each step.",
        "E.g. commit hook, I want the notification that the Reviewer is sent to do its job.",
    ],
)
def test_what_real_users_said_of_the_task_at_hand_is_no_decision(prompt: str) -> None:
    assert decisions(f"> go\nsaid\n  Done.\nend\n> {prompt}\nsaid\n  ok\nend\n") == []


@pytest.mark.parametrize(
    "prompt",
    [
        "never open prs against release!!!!",
        "full schema should not be updated ever.",
        "before making changes, dont forget to switch to main and pull in latest",
        "Please dont just push through the migrations by executing them directly on the server.",
        "keep this as serverless as possible.",
    ],
)
def test_what_real_users_said_for_longer_is_a_wish(prompt: str) -> None:
    assert of(MemoryKind.PREFERENCE, f"> {prompt}\nsaid\n  ok\nend\n")


def test_a_refused_command_with_words_is_a_wish() -> None:
    told = (
        "> tidy up\n^ git commit -m wip\n  The user doesn't want to proceed with this tool use. To tell you how to "
        "proceed, the user said:\n  no, I did not say commit anything\n"
    )
    (wish,) = of(MemoryKind.PREFERENCE, told)
    assert (wish.text, wish.said_by) == ("no, I did not say commit anything", "user")
    assert "git commit" in wish.reason
    assert (
        of(MemoryKind.PREFERENCE, "> tidy up\n^ git commit -m wip\n  The user doesn't want to proceed.\n")
        == []
    )


def test_a_ban_right_after_an_interruption_is_a_wish_and_elsewhere_it_is_the_tasks() -> None:
    stopped = "> tidy up\n$ ls\n> [Request interrupted by user]\n> don't touch the vendored files\nend\n"
    assert [wish.text for wish in of(MemoryKind.PREFERENCE, stopped)] == ["don't touch the vendored files"]
    assert of(MemoryKind.PREFERENCE, "> tidy up, don't touch the vendored files\nend\n") == []
