"""The set of decisions says what it claims: each key stands in its chat, no report gives its answer away."""

import re
from pathlib import Path

import pytest
from bench.decisions import chats
from bench.decisions.chats import DEV, TEST, Decision, half, load, transcript
from bench.decisions.run import Told, table_row
from bench.work.labels import normal
from bench.work.replay import hooks

SET = load()
AMENDED = [each for each in SET.decisions if each.amendment]
_FOLDER = Path(chats.__file__).parent
_WORD = re.compile(r"[a-z]{4,}")


def _stems(text: str) -> set[str]:
    return {word[:5] for word in _WORD.findall(text.lower())}


def _has(text: str, spellings: tuple[str, ...]) -> bool:
    return any(key in normal(text) for key in spellings)


def _all_said(decision: Decision) -> str:
    return f"{decision.chat.text}\n{decision.amendment.text if decision.amendment else ''}"


def test_the_set_has_its_size() -> None:
    assert len(SET.decisions) == 30
    assert len(AMENDED) == 8
    assert len(SET.others) >= 120
    assert len(SET.unknown) == 30
    assert 13 <= sum(each.has_recap for each in SET.decisions) <= 17
    assert sum(file.stat().st_size for file in _FOLDER.glob("*.md")) < 300_000


def test_every_id_is_there_once() -> None:
    names = [chat.id for chat in SET.chats]
    assert len(set(names)) == len(names)
    assert len({chat.text for chat in SET.chats}) == len(names)


def test_both_halves_have_decisions_amendments_and_unknown_prompts() -> None:
    for part in (DEV, TEST):
        assert sum(half(each.id) == part for each in SET.decisions) >= 12
        assert sum(half(each.id) == part for each in AMENDED) == 4
        assert sum(half(each.id) == part for each in SET.unknown) >= 12


@pytest.mark.parametrize("decision", SET.decisions, ids=lambda each: each.id)
def test_every_part_of_a_decision_stands_in_its_chat_and_in_no_single_other_chat(decision: Decision) -> None:
    assert 2 <= len(decision.parts) <= 5
    assert 3 <= decision.chat.turns <= 8
    assert decision.is_told(_all_said(decision))
    assert not any(decision.is_told(chat.text) for chat in SET.others)


@pytest.mark.parametrize("decision", SET.decisions, ids=lambda each: each.id)
def test_no_report_holds_a_part_or_most_of_the_words_of_its_decision(decision: Decision) -> None:
    assert decision.parts_told(decision.report) == 0
    assert not _has(decision.report, decision.old)
    words = _stems(decision.report)
    assert len(words & _stems(_all_said(decision))) <= 0.5 * len(words)


@pytest.mark.parametrize("decision", SET.decisions, ids=lambda each: each.id)
def test_a_recap_has_all_parts_as_they_held_then(decision: Decision) -> None:
    last = decision.chat.lines[-1].text
    then = [part for part in decision.parts if _has(decision.chat.text, part)]
    then += [decision.old] if decision.old else []
    assert all(_has(last, part) for part in then) == decision.has_recap


@pytest.mark.parametrize("decision", AMENDED, ids=lambda each: each.id)
def test_an_amended_decision_has_both_values_the_new_one_in_the_later_chat_only(decision: Decision) -> None:
    assert decision.amendment
    assert decision.amendment.day > decision.chat.day
    assert _has(decision.chat.text, decision.old)
    assert decision.tells_only_old(decision.chat.text)
    assert decision.tells_new(decision.amendment.text)


def test_no_chat_has_most_of_the_words_of_an_unknown_prompt() -> None:
    for each in SET.unknown:
        words = _stems(each.prompt)
        assert all(len(words & _stems(chat.text)) <= max(3, 0.6 * len(words)) for chat in SET.chats), (
            each.prompt
        )


def test_a_chat_becomes_a_transcript_with_its_prompts_and_commands() -> None:
    chat = SET.decisions[3].chat
    played = list(hooks(transcript(chat, "/home/dev/latchbox").text))
    prompts = [hook.fields["prompt"] for hook in played if hook.event == "UserPromptSubmit"]
    assert prompts == [line.text for line in chat.lines if line.mark == "> "]
    assert [hook.fields["tool_input"]["command"] for hook in played if hook.event == "PreToolUse"] == [
        "pytest -q tests/billing"
    ]


def test_who_is_told_the_first_chat_alone_knows_only_the_old_value_of_what_was_amended() -> None:
    told = {each.id: Told("", each.chat.text) for each in SET.decisions}
    silent = {each.id: Told("a brief", "") for each in SET.unknown}
    row = table_row(SET, told, silent, DEV)
    assert row.startswith("whole 9 of 9, amended 0 of 4 (new value 0, only the old 4)")
    assert "noise 0 of 16" in row


def test_who_is_told_both_chats_knows_all() -> None:
    told = {each.id: Told(_all_said(each), "") for each in SET.decisions}
    noisy = {each.id: Told("", "a note") for each in SET.unknown}
    row = table_row(SET, told, noisy, TEST)
    assert row.startswith("whole 13 of 13, amended 4 of 4 (new value 4, only the old 0)")
    assert "noise 14 of 14" in row
