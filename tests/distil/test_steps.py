"""What is open at the end."""

import json

import pytest
from bench.distil.sources import script

from backstory.distil import distil_session
from backstory.model import Action, MemoryKind
from tests.distil import of


def steps(text: str) -> list[str]:
    return [draft.text for draft in of(MemoryKind.NEXT_STEP, text)]


def test_open_todos_of_the_newest_plan() -> None:
    told = "> go\ntodo\n  [ ] one\n  [ ] two\ntodo\n  [x] one\n  [~] two\n  [ ] three\nsaid\n  Paused.\nend\n"
    assert steps(told) == ["two", "three"]


def test_tasks_that_are_made_and_changed_one_by_one() -> None:
    case = script("s", "> go\ntodo\n  [ ] x\ntodo\n  [ ] x\ntodo\n  [ ] x\nsaid\n  ok\nend\n")
    texts = iter(
        [
            json.dumps({"subject": "write the parser", "description": "…"}),
            json.dumps({"subject": "test it", "description": "…"}),
            json.dumps({"taskId": "1", "status": "completed"}),
        ]
    )
    from dataclasses import replace

    events = [
        replace(e, event=replace(e.event, text=next(texts))) if e.event.action is Action.PLAN else e
        for e in case.events
    ]
    drafts = distil_session(case.session, events)
    assert [d.text for d in drafts if d.kind is MemoryKind.NEXT_STEP] == ["test it"]


@pytest.mark.parametrize(
    "heading",
    [
        "Next steps:",
        "## Next steps",
        "**Remaining:**",
        "What's left",
        "Nächste Schritte",
        "Prochaines étapes",
        "下一步",
        "次のステップ",
    ],
)
def test_a_list_under_a_heading(heading: str) -> None:
    assert steps(
        f"> go\nsaid\n  Done.\n  \n  {heading}\n  - publish the key\n  - rotate the secret\nend\n"
    ) == [
        "publish the key",
        "rotate the secret",
    ]


@pytest.mark.parametrize(
    "sentence",
    [
        "The migration still needs to be run.",
        "I haven't removed it from package.json yet.",
        "Next: wire the CLI.",
        "Die Migration muss noch laufen.",
        "Il reste à gérer les lignes invalides.",
        "Falta por actualizar el chart.",
    ],
)
def test_a_sentence_that_says_what_remains(sentence: str) -> None:
    assert steps(f"> go\nsaid\n  Done. {sentence}\nend\n") == [sentence]


def test_ticked_boxes_are_done() -> None:
    assert steps("> go\nsaid\n  What's left:\n  - [x] a header\n  - [ ] a cache\nend\n") == ["a cache"]


def test_a_check_that_is_still_red() -> None:
    assert steps("> go\n! cargo test\n  error: no\nsaid\n  One is red.\nend\n") == [
        "`cargo test` still fails: error: no"
    ]


def test_a_killed_turn_says_what_it_was_doing() -> None:
    told = "status: failed\n> migrate the invoices table\nwrite m.sql\n? python3 backfill.py --batch 10\n"
    assert steps(told) == [
        "This was not finished: migrate the invoices table (last: `python3 backfill.py --batch 10`)"
    ]


def test_continue_is_about_what_was_asked_before_it() -> None:
    told = "> migrate the invoices table\nsaid\n  Half.\nend\n> continue\nedit a.sql\n"
    assert steps(told) == [
        "This was not finished: continue (migrate the invoices table) (last: edited a.sql)"
    ]


def test_an_unanswered_prompt() -> None:
    assert steps("> go on\nsaid\n  ok\nend\n> now add the status bar please\n") == [
        "This was not finished: now add the status bar please"
    ]


def test_what_an_earlier_turn_announced_is_overtaken_by_work() -> None:
    told = "> go\nsaid\n  Next: wire the CLI.\nend\n> do that\nedit cli.py\nsaid\n  Wired.\nend\n"
    assert steps(told) == []


def test_an_open_question_that_offers_work() -> None:
    assert steps("> go\nsaid\n  Done. Should I delete the old styles?\nend\n") == [
        "Asked, unanswered: Should I delete the old styles?"
    ]
    assert steps("> go\nsaid\n  Done. Is there anything else?\nend\n") == []


def test_what_the_user_put_off() -> None:
    assert steps("> fine. tomorrow we add the index\nsaid\n  Noted.\nend\n") == ["tomorrow we add the index"]


def test_a_finished_session_leaves_nothing_open() -> None:
    assert (
        steps("> go\nedit a.py\n$ pytest\n  3 passed\nsaid\n  All three tests pass.\nend\nexit other\n") == []
    )


def test_a_sentence_without_a_subject_is_told_with_the_one_before() -> None:
    told = "> the PDF template needs the new logo. that's one for tomorrow\nsaid\n  Ok.\nend\n"
    assert steps(told) == ["the PDF template needs the new logo. that's one for tomorrow"]


def test_any_command_with_which_the_work_ends_in_red() -> None:
    told = "> npm run export\n! npm run export\n  Error: no sheet Q3\nsaid\n  It stays so.\nend\n> ok\nsaid\n  Bye.\nend\n"
    assert steps(told) == ["`npm run export` still fails: Error: no sheet Q3"]


def test_what_was_put_off_and_then_done_is_not_open() -> None:
    told = "> the index migration we do later\nsaid\n  Ok.\nend\n> now the index migration\nedit m.sql\nsaid\n  Done.\nend\n"
    assert steps(told) == []


def test_a_last_word_of_the_user_ends_the_turn() -> None:
    told = "> show both\nedit a.py\nsaid\n  For sync:\n> <command-name>/exit</command-name>\n"
    assert steps(told) == []
