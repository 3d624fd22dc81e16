"""Claude Code's transcripts give the same events as its hooks, whole or piece by piece."""

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backstory.agents import agent
from backstory.agents.claude_transcript import Reader, read_lines
from backstory.model import Event, Kind, Outcome

Sample = Callable[[str], dict[str, Any]]
Transcript = Callable[[str], list[bytes]]
Row = dict[str, Any]


def line(row: object) -> bytes:
    return json.dumps(row, ensure_ascii=False).encode() + b"\n"


def user(content: object, **more: object) -> Row:
    return {"type": "user", "message": {"role": "user", "content": content}, **more}


def assistant(content: object, **more: object) -> Row:
    return {"type": "assistant", "message": {"role": "assistant", "content": content}, **more}


def call(call_id: str, command: str = "make") -> Row:
    return assistant([{"type": "tool_use", "id": call_id, "name": "Bash", "input": {"command": command}}])


def result(call_id: str, output: str = "done", is_error: bool = False) -> Row:
    return user([{"type": "tool_result", "tool_use_id": call_id, "content": output, "is_error": is_error}])


def events(*rows: object) -> list[Event]:
    return list(read_lines(map(line, rows), "s"))


# --- shapes of rows -----------------------------------------------------------------------------------------


# CM-3
def test_cm_3_nested_and_flat_rows_are_read_alike() -> None:
    nested = events(user("fix it"), assistant("fixed"))
    flat = events({"role": "user", "content": "fix it"}, {"role": "assistant", "content": "fixed"})
    assert [(e.kind, e.text) for e in nested] == [(Kind.PROMPT, "fix it"), (Kind.SAID, "fixed")]
    assert [(e.kind, e.text) for e in flat] == [(e.kind, e.text) for e in nested]


@pytest.mark.parametrize(
    "content",
    [
        "one\ntwo",
        [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}],
        ["one", "two"],
        [{"type": "text", "text": "one"}, "two", {"type": "image", "source": {"data": "AAAA"}}],
    ],
)
# CM-4
def test_cm_4_content_is_a_text_blocks_or_bare_strings(content: object) -> None:
    assert [e.text for e in events(user(content), assistant(content))] == ["one\ntwo", "one\ntwo"]


# CM-5
def test_cm_5_blank_and_malformed_lines_are_skipped_and_counted() -> None:
    counts: Counter[str] = Counter()
    lines = [
        line(user("first")),
        b"\n",
        b"  \r\n",
        b"{broken\n",
        b"[1]\n",
        b"\xff\xfe\x00\n",
        line({"type": "brand-new"}),
        line(assistant("last")),
    ]
    assert [e.text for e in read_lines(lines, "s", counts)] == ["first", "last"]
    assert (counts["blank"], counts["malformed"], counts["unknown"]) == (2, 3, 1)


# CM-6
def test_cm_6_only_users_and_assistants_speak() -> None:
    rows = [
        {"role": "system", "content": "you are"},
        {"role": "tool", "content": "output"},
        {"type": "system", "subtype": "local_command", "content": "<local-command-stdout>x"},
        {"type": "summary", "summary": "about"},
        user("meta", isMeta=True),
        user("<command-name>/clear</command-name>"),
        user("real"),
    ]
    assert [e.text for e in events(*rows)] == ["real"]


# CM-52
def test_cm_52_a_transcript_that_begins_with_bookkeeping_is_read(transcript: Transcript) -> None:
    lines = [line({"type": "mode", "mode": "normal"})] * 60 + transcript("basic")
    assert next(read_lines(lines, "s")).kind is Kind.PROMPT


# --- what a transcript tells --------------------------------------------------------------------------------


def test_a_whole_session_in_its_order(transcript: Transcript) -> None:
    told = list(read_lines(transcript("fail-subagent-resume-compact"), "s"))
    assert [(e.kind.value, e.outcome.value) for e in told] == [
        ("prompt", ""),
        ("tool", "failed"),
        ("tool", "failed"),
        ("tool", "ok"),
        ("said", ""),
        ("turn_ended", "ok"),
        ("prompt", ""),
        ("tool", "ok"),
        ("said", ""),
        ("turn_ended", "ok"),
        ("compacted", ""),
        ("prompt", ""),
        ("said", ""),
        ("turn_ended", "ok"),
    ]
    assert told[0].at == 1_794_766_961_572
    assert (told[0].where.cwd, told[0].where.branch) == ("/home/dev/proj", "master")
    assert {(e.agent, e.session, e.origin) for e in told} == {("claude-code", "s", "history")}
    assert not any("MEMORY-INJECTED" in e.text for e in told), "our own injections are not read"


def test_a_sub_agents_transcript_is_labelled_and_its_task_is_no_prompt(transcript: Transcript) -> None:
    told = list(read_lines(transcript("subagent"), "s"))
    assert [event.kind for event in told] == [Kind.SAID, Kind.SUBAGENT_ENDED]
    assert {(event.subagent, event.subagent_type) for event in told} == {
        ("aca24275144235aed", "general-purpose")
    }


def test_thinking_is_reasoning_and_each_line_of_a_message_is_said() -> None:
    rows = [
        assistant([{"type": "text", "text": " First.\n"}]),
        assistant([{"type": "thinking", "thinking": "hm", "signature": "x"}], uuid="u"),
        assistant([{"type": "thinking", "thinking": "", "signature": "x"}]),
        assistant([{"type": "text", "text": "Second."}]),
    ]
    assert [(e.kind, e.text) for e in events(*rows)] == [
        (Kind.SAID, "First."),
        (Kind.REASONED, "hm"),
        (Kind.SAID, "Second."),
    ]


def test_an_interruption_ends_the_turn_and_is_no_prompt() -> None:
    told = events(user("go", promptId="p"), call("t"), user("[Request interrupted by user]"), user("next"))
    assert [(e.kind, e.outcome, e.text) for e in told] == [
        (Kind.PROMPT, Outcome.NONE, "go"),
        (Kind.TOOL, Outcome.INTERRUPTED, ""),
        (Kind.TURN_ENDED, Outcome.INTERRUPTED, ""),
        (Kind.PROMPT, Outcome.NONE, "next"),
    ]


def test_an_api_error_fails_the_turn_and_was_not_said() -> None:
    row = assistant([{"type": "text", "text": "API Error: 400"}], isApiErrorMessage=True, error="unknown")
    (_, failed) = events(user("go", promptId="p"), row)
    assert (failed.kind, failed.text, failed.reason) == (Kind.TURN_FAILED, "API Error: 400", "unknown")


def test_what_the_user_typed_while_the_agent_worked_is_a_prompt() -> None:
    queued = {"type": "attachment", "attachment": {"type": "queued_command", "prompt": "no, tabs"}}
    told = events(user("go", promptId="p"), call("t"), queued, result("t"))
    assert [e.text for e in told if e.kind is Kind.PROMPT] == ["go", "no, tabs"]
    (live,) = agent("claude-code").read_hook(
        "UserPromptSubmit", {"session_id": "s", "prompt_id": "p", "prompt": "no, tabs"}, 1
    )
    assert live.native_id in {e.native_id for e in told}


def test_times_that_make_no_sense_follow_the_line_before() -> None:
    told = events(
        user("a", timestamp="2026-11-15T18:22:18.704Z"), user("b", timestamp="soon"), user("c", timestamp=-5)
    )
    assert [e.at for e in told] == [1_794_766_938_704] * 3


# --- meeting live capture -----------------------------------------------------------------------------------

SAME = ("session", "kind", "text", "action", "tool", "target", "outcome", "reason", "native_id", "recalled")


@pytest.mark.parametrize(
    ("payload_name", "transcript_name"),
    [
        ("UserPromptSubmit", "basic"),
        ("PostToolUse.Bash", "basic"),
        ("PostToolUse.Write", "basic"),
        ("Stop", "basic"),
        ("PostToolUseFailure.Bash", "fail-subagent-resume-compact"),
        ("PostToolUseFailure.Read", "fail-subagent-resume-compact"),
        ("PostToolUse.Agent", "fail-subagent-resume-compact"),
        ("PostCompact.manual", "fail-subagent-resume-compact"),
    ],
)
def test_a_hook_and_the_transcript_give_the_same_event(
    sample: Sample, transcript: Transcript, payload_name: str, transcript_name: str
) -> None:
    payload = sample(payload_name)
    history = [
        tuple(getattr(event, field) for field in SAME)
        for event in read_lines(transcript(transcript_name), payload["session_id"])
    ]
    for event in agent("claude-code").read_hook("", payload, 1):
        assert tuple(getattr(event, field) for field in SAME) in history


def test_a_sub_agents_last_words_and_its_end_are_the_same_live_and_from_history(
    sample: Sample, transcript: Transcript
) -> None:
    payload = sample("SubagentStop")
    live = agent("claude-code").read_hook("", payload, 1)
    told = list(read_lines(transcript("subagent"), payload["session_id"]))
    fields = (*SAME, "subagent", "subagent_type")
    assert [[getattr(event, f) for f in fields] for event in live] == [
        [getattr(event, f) for f in fields] for event in told
    ]


def test_a_summary_is_the_same_however_it_is_framed() -> None:
    raw = "<analysis>\nhm\n</analysis>\n\n<summary>\n1. Request:\n   fix it\n\n2. Files: a.py\n</summary>"
    framed = (
        "This session is being continued from a previous conversation that ran out of context. More.\n\n"
        "<system-reminder>\n<tools-used>Bash</tools-used>\n</system-reminder>\n"
        "Summary:\n1. Request:\n   fix it\n\n2. Files: a.py\n\n"
        "If you need specific details from before compaction, read: /x.jsonl\n"
        "Continue the conversation from where it left off."
    )
    payload = {"session_id": "s", "prompt_id": "p", "trigger": "auto", "compact_summary": raw}
    (live,) = agent("claude-code").read_hook("PostCompact", payload, 1)
    boundary = {"type": "system", "subtype": "compact_boundary", "compactMetadata": {"trigger": "auto"}}
    (told,) = events(boundary, user(framed, isCompactSummary=True, promptId="p"))
    assert live.text == told.text == "1. Request:\n   fix it\n\n2. Files: a.py"
    assert (live.reason, live.native_id) == (told.reason, told.native_id)


# --- piece by piece -----------------------------------------------------------------------------------------


def test_a_call_waits_for_its_result_and_holds_back_what_follows() -> None:
    reader = Reader("s")
    first, second = line(user("go")), line(call("t1"))
    assert [e.kind for e in reader.feed(first)] == [Kind.PROMPT]
    assert reader.feed(second) == []
    assert reader.feed(line(call("t2"))) == []
    assert reader.feed(line(result("t2"))) == []
    assert reader.offset == len(first)
    assert [e.native_id for e in reader.feed(line(result("t1")))] == ["t2", "t1"]
    assert reader.offset > len(first + second)


def test_a_dead_sessions_open_call_was_interrupted() -> None:
    reader = Reader("s")
    for row in (user("go"), call("t1", "make test"), assistant("waiting")):
        reader.feed(line(row))
    told = reader.finish()
    assert [(e.kind, e.outcome) for e in told] == [
        (Kind.SAID, Outcome.NONE),
        (Kind.TOOL, Outcome.INTERRUPTED),
    ]
    assert told[1].target == "make test"


def test_a_last_line_that_is_not_whole_is_left_for_later() -> None:
    whole, half = line(user("go")), line(assistant("hello, wörld"))
    reader = Reader("s")
    reader.feed(whole)
    assert reader.feed(half[:-8]) == []
    assert (reader.offset, reader.counts["malformed"]) == (len(whole), 0)
    assert [e.text for e in Reader("s", reader.offset).feed(line(user("x")))] == ["x"]
    assert [e.text for e in read_lines([whole, half[:-1]], "s")] == ["go", "hello, wörld"], (
        "only the newline lacks"
    )


def test_windows_line_ends_and_huge_lines_are_read() -> None:
    huge = line(user("ü" * 1_000_000)).replace(b"\n", b"\r\n")
    (event,) = read_lines([huge], "s")
    assert len(event.text) == 4_000


def split(data: bytes) -> list[bytes]:
    return data.splitlines(keepends=True)


def fed(reader: Reader, data: bytes) -> list[Event]:
    return [event for part in split(data) for event in reader.feed(part)]


@pytest.mark.parametrize("name", ["basic", "fail-subagent-resume-compact", "interactive-clear-a"])
def test_cut_anywhere_a_transcript_is_read_on(transcript: Transcript, name: str) -> None:
    data = b"".join(transcript(name))
    whole = list(read_lines(split(data), "s"))
    keys = {(e.kind, e.native_id, e.text) for e in whole}
    tools = [e.native_id for e in whole if e.kind is Kind.TOOL]
    for end in range(0, len(data), 499):
        first = Reader("s")
        told = fed(first, data[:end])
        # from the turn's start: events come again, each with the id it had, and none is missing
        again = fed(Reader("s", first.turn_start), data[first.turn_start :])
        assert {(e.kind, e.native_id, e.text) for e in told + again} == keys
        # from the offset: each call comes exactly once
        onward = fed(Reader("s", first.offset), data[first.offset :])
        assert [e.native_id for e in told + onward if e.kind is Kind.TOOL] == tools


def test_a_reader_that_starts_in_mid_turn_says_nothing_it_cannot_place() -> None:
    queued = {"type": "attachment", "attachment": {"type": "queued_command", "prompt": "no, tabs"}}
    rows = [queued, assistant("ok"), call("t"), {**result("t"), "promptId": "p"}, assistant("done")]
    told = fed(Reader("s", offset=999), b"".join(map(line, rows)))
    assert [(e.kind, e.text, e.native_id) for e in told] == [
        (Kind.TOOL, "done", "t"),
        (Kind.SAID, "done", "p"),
    ]


KEYS = st.sampled_from(
    [
        "type", "role", "message", "content", "text", "id", "name", "input", "tool_use_id", "is_error",
        "thinking", "isMeta", "isSidechain", "agentId", "toolUseResult", "timestamp", "promptId", "uuid",
        "subtype", "attachment", "prompt", "isCompactSummary", "model",
    ]
)  # fmt: skip
ROWS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            KEYS | st.text(max_size=5),
            inner
            | st.sampled_from(
                [
                    "user",
                    "assistant",
                    "system",
                    "tool_use",
                    "tool_result",
                    "text",
                    "thinking",
                    "attachment",
                    "t1",
                ]
            ),
            max_size=6,
        )
    ),
    max_leaves=20,
)


@given(st.lists(ROWS.map(line) | st.binary(max_size=60), max_size=8))
@settings(deadline=None, max_examples=200)
def test_no_line_can_make_the_reader_raise(lines: list[bytes]) -> None:
    reader = Reader("s")
    told = [event for part in lines for event in reader.feed(part)] + reader.finish()
    assert all(isinstance(event, Event) for event in told)
    assert 0 <= reader.offset <= sum(map(len, lines))


# --- said while the agent works ---------------------------------------------------------------------------


def queue(operation: str, content: str = "", at: str = "2026-02-21T10:00:00Z") -> Row:
    return {"type": "queue-operation", "operation": operation, "content": content, "timestamp": at}


def prompts(told: list[Event]) -> list[str]:
    return [event.text for event in told if event.kind is Kind.PROMPT]


def test_a_message_that_only_the_queue_tells_of_is_a_prompt() -> None:
    told = events(
        user("go"), call("t"), queue("enqueue", "no, add a migration"), queue("remove"), result("t")
    )
    assert prompts(told) == ["go", "no, add a migration"]


def test_a_queued_message_is_told_once_whether_the_queue_an_attachment_or_both_tell_of_it() -> None:
    attached = {
        "type": "attachment",
        "attachment": {"type": "queued_command", "prompt": "no, tabs"},
        "uuid": "u",
    }
    queued = [queue("enqueue", "no, tabs"), queue("remove")]
    for rows in ([*queued, attached], [queued[0], attached, queued[1]]):
        told = events(user("go", promptId="p"), call("t"), *rows, result("t"))
        assert prompts(told) == ["go", "no, tabs"]
        assert prompts(events(user("go"), call("t"), *rows, result("t"))) == ["go", "no, tabs"]


def test_a_dequeued_message_is_told_by_the_prompt_that_it_becomes() -> None:
    told = events(user("go"), queue("enqueue", "next"), assistant("ok"), queue("dequeue"), user("next"))
    assert prompts(told) == ["go", "next"]


@pytest.mark.parametrize(
    "news", ['{"task_id":"b1","status":"done"}', "<task-notification>x</task-notification>"]
)
def test_news_of_background_tasks_in_the_queue_are_nobodys_words(news: str) -> None:
    assert prompts(events(user("go"), queue("enqueue", news), queue("remove"), assistant("ok"))) == ["go"]


def test_a_message_still_in_the_queue_is_read_again_with_what_becomes_of_it() -> None:
    rows = [line(row) for row in (user("go"), call("t"), queue("enqueue", "wait"), result("t"))]
    reader = Reader("s")
    for row in rows:
        reader.feed(row)
    assert reader.offset == len(rows[0] + rows[1])


def test_words_beside_tool_results_are_a_prompt_of_the_same_turn() -> None:
    beside = result("t")
    beside["message"]["content"].append({"type": "text", "text": "and keep the old name"})
    told = events(user("go"), call("t"), beside, assistant("ok"))
    assert prompts(told) == ["go", "and keep the old name"]
    reminder = result("t")
    reminder["message"]["content"].append({"type": "text", "text": "<system-reminder>x</system-reminder>"})
    assert prompts(events(user("go"), call("t"), reminder, assistant("ok"))) == ["go"]


@pytest.mark.parametrize("early", ["10:00:00.390", "09:59:58.000"])
def test_a_prompt_stamped_before_the_line_that_opens_the_file_is_no_copy(early: str) -> None:
    opening = {"type": "file-history-snapshot", "timestamp": "2026-02-21T10:00:00.970Z"}
    plan = user("Implement the following plan", timestamp=f"2026-02-21T{early}Z")
    assert prompts(events(opening, plan, assistant("ok", timestamp="2026-02-21T10:00:05Z"))) == [
        "Implement the following plan"
    ]


def test_a_conversation_copied_from_long_before_is_still_a_copy() -> None:
    opening = {"type": "file-history-snapshot", "timestamp": "2026-02-21T10:00:00Z"}
    old = user("the original", timestamp="2026-02-21T09:00:00Z")
    late = assistant("copied too", timestamp="2026-02-21T09:59:58Z")
    new = user("another way", timestamp="2026-02-21T10:00:03Z")
    assert [event.text for event in events(opening, old, late, new)] == ["another way"]
