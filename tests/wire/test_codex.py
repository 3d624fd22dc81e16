"""What the real Codex 0.166.0 sent and wrote, and what older ones wrote, becomes the same events."""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backstory.agents import AGENTS, Unreadable
from backstory.agents.codex import HOOKS, hooks_file, sessions_dir, untrusted_hooks
from backstory.agents.codex_history import HISTORY, Reader
from backstory.agents.codex_tools import call_result
from backstory.hook.__main__ import shape_answer
from backstory.model import Action, Event, Kind, Outcome

SAMPLES = Path(__file__).parent / "samples" / "codex"
AT = 1_794_786_738_000
PATCH = """\
*** Begin Patch
*** Add File: new.py
+one
+two
*** Update File: old.py
*** Move to: moved.py
@@ def f():
 same
-before
+after
*** Delete File: /home/dev/gone.py
*** End Patch
"""


def lines(name: str) -> list[bytes]:
    return (SAMPLES / f"{name}.jsonl").read_bytes().splitlines(keepends=True)


def live(name: str) -> list[Event]:
    """The events of all payloads that were recorded in a session."""
    payloads = [json.loads(line) for line in lines(f"{name}-hooks")]
    return [event for payload in payloads for event in hook(payload)]


def hook(payload: dict[str, Any], event: str = "") -> list[Event]:
    return AGENTS["codex"].read_hook(event, payload, AT)


def used(tool: str, given: object, response: object, **more: object) -> list[Event]:
    said = {"session_id": "s", "turn_id": "t", "tool_use_id": "c", "cwd": "/home/dev/proj", **more}
    return hook({**said, "tool_name": tool, "tool_input": given, "tool_response": response}, "PostToolUse")


def history(rows: list[bytes], session: str = "s", offset: int = 0) -> tuple[list[Event], Reader]:
    reader = Reader(session, offset)
    events = [event for row in rows for event in reader.feed(row)]
    return [*events, *reader.finish()], reader


def rows(*payloads: tuple[str, dict[str, Any]]) -> list[bytes]:
    """A rollout, a line each second."""
    return [
        json.dumps({"timestamp": f"2025-09-10T10:00:{n:02}.000Z", "type": kind, "payload": payload}).encode()
        + b"\n"
        for n, (kind, payload) in enumerate(payloads)
    ]


def item(kind: str, /, **more: Any) -> tuple[str, dict[str, Any]]:
    return "response_item", {"type": kind, **more}


def event(kind: str, /, **more: Any) -> tuple[str, dict[str, Any]]:
    return "event_msg", {"type": kind, **more}


def user(text: str) -> tuple[str, dict[str, Any]]:
    return item("message", role="user", content=[{"type": "input_text", "text": text}])


def assistant(text: str) -> tuple[str, dict[str, Any]]:
    return item("message", role="assistant", content=[{"type": "output_text", "text": text}])


def told(events: list[Event]) -> list[tuple[str, str, Outcome]]:
    return [(e.action, e.target, e.outcome) for e in events if e.kind is Kind.TOOL]


# --- hooks ------------------------------------------------------------------------------------------------


def test_a_session_as_its_hooks_tell_it() -> None:
    events = live("plain")
    assert [e.kind for e in events if e.kind is not Kind.TOOL] == [
        Kind.SESSION_STARTED, Kind.PROMPT, Kind.SAID, Kind.TURN_ENDED, Kind.SESSION_ENDED,
    ]  # fmt: skip
    assert told(events) == [
        (Action.RUN, "echo hi", Outcome.NONE),
        (Action.RUN, "ls /nope; exit 3", Outcome.NONE),
        (Action.WRITE, "/home/dev/proj/one.txt", Outcome.OK),
        (Action.EDIT, "/home/dev/proj/one.txt", Outcome.OK),
        (Action.WRITE, "/home/dev/proj/sub/two.txt", Outcome.OK),
        (Action.RUN, "exit 7", Outcome.NONE),
    ], "how a command ended is not told, and a patch that failed not at all"


def test_a_patch_is_one_event_for_each_file() -> None:
    added, moved, gone = used(
        "apply_patch", {"command": PATCH}, "Exit code: 0\nWall time: 0 seconds\nOutput:\n"
    )
    assert (added.action, added.target, added.text) == (Action.WRITE, "/home/dev/proj/new.py", "one\ntwo")
    assert (moved.action, moved.target, moved.text) == (
        Action.EDIT,
        "/home/dev/proj/moved.py",
        "- before\n+ after",
    )
    assert (gone.action, gone.target, gone.text) == (Action.EDIT, "/home/dev/gone.py", "deleted")
    assert len({each.native_id for each in (added, moved, gone)}) == 3


def test_a_patch_that_nobody_can_read_is_still_an_edit() -> None:
    (event,) = used("apply_patch", {"command": "what?"}, "Exit code: 1\nWall time: 0 seconds\nOutput:\nno")
    assert (event.action, event.text, event.outcome) == (Action.EDIT, "no", Outcome.FAILED)


def test_a_sub_agents_task_is_no_prompt_and_its_work_is_labelled() -> None:
    events = live("parent")
    assert [e.text for e in events if e.kind is Kind.PROMPT] == ["please delegate"]
    sub = [e for e in events if e.subagent]
    assert {e.subagent_type for e in sub} == {"default"}
    assert [e.kind for e in sub] == [Kind.TOOL, Kind.TOOL, Kind.SAID, Kind.SUBAGENT_ENDED]


def test_what_an_editor_put_in_front_of_the_prompt_is_not_the_prompt() -> None:
    said = "# Context from my IDE setup:\n\n## Open tabs:\n- a.py\n\n## My request for Codex:\nfix the port\n"
    (event,) = hook({"session_id": "s", "turn_id": "t", "prompt": said}, "UserPromptSubmit")
    assert event.text == "fix the port"


def test_what_is_malformed_is_unreadable_and_what_is_unknown_is_nothing() -> None:
    with pytest.raises(Unreadable):
        hook({"session_id": ""}, "PostToolUse")
    with pytest.raises(Unreadable):
        hook({"session_id": "s"}, "PostToolUse")
    with pytest.raises(Unreadable):
        hook({"session_id": "s"}, "UserPromptSubmit")
    assert hook({"session_id": "s"}, "SomethingNew") == []


def test_what_is_recalled_is_marked() -> None:
    (event,) = used("Bash", {"command": "backstory search port"}, "m1 the port")
    assert event.recalled
    (event,) = used(
        "mcp__backstory__search", {"query": "port"}, {"content": [{"type": "text", "text": "m1"}]}
    )
    assert event.recalled


ANYTHING = st.recursive(
    st.none() | st.text(max_size=20) | st.integers(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
FIELDS = ["session_id", "tool_name", "tool_input", "tool_response", "cwd"]


@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=60, deadline=None)
@given(st.dictionaries(st.sampled_from(FIELDS), ANYTHING))
def test_no_payload_breaks_the_reader(payload: dict[str, Any]) -> None:
    with contextlib.suppress(Unreadable):
        hook(payload, "PostToolUse")


# --- rollouts ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["plain", "scripts"])
def test_a_rollout_tells_all_that_hooks_tell_under_the_same_ids(name: str) -> None:
    events, reader = history(lines(name))
    by_id = {(e.kind, e.native_id): e for e in events}
    for one in live(name):
        if one.kind in (Kind.SESSION_STARTED, Kind.SESSION_ENDED):
            continue
        same = by_id[one.kind, one.native_id]
        assert (same.target, same.text or one.text, same.tool) == (
            one.target,
            one.text or same.text,
            one.tool,
        )
        assert one.outcome in (Outcome.NONE, same.outcome)
    assert not reader.counts["unknown"]
    assert not reader.counts["orphans"]


# MP-10
def test_mp_10_a_rollout_knows_how_everything_ended() -> None:
    assert told(history(lines("plain"))[0]) == [
        (Action.RUN, "echo hi", Outcome.OK),
        (Action.RUN, "ls /nope; exit 3", Outcome.FAILED),
        (Action.WRITE, "/home/dev/proj/one.txt", Outcome.OK),
        (Action.EDIT, "/home/dev/proj/one.txt", Outcome.OK),
        (Action.WRITE, "/home/dev/proj/sub/two.txt", Outcome.OK),
        (Action.EDIT, "/home/dev/proj/nosuch.txt", Outcome.FAILED),
        (Action.RUN, "exit 7", Outcome.FAILED),
    ]
    assert told(history(lines("scripts"))[0]) == [
        (Action.RUN, "echo hi; exit 3", Outcome.FAILED),
        (Action.WRITE, "/home/dev/proj/three.txt", Outcome.OK),
    ]


def test_a_sub_agents_rollout_belongs_to_the_session_that_sent_it() -> None:
    path = SAMPLES / "subagent.jsonl"
    (trail,) = HISTORY.find(path)
    named = HISTORY.identify(trail)
    parent = next(e.session for e in live("parent"))
    assert named is not None
    assert (named.session, bool(named.subagent)) == (parent, True)
    events, _ = history(lines("subagent"), named.session)
    assert {(e.session, e.subagent) for e in events} == {(parent, named.subagent)}
    assert Counter((e.kind, e.native_id) for e in events) == Counter(
        (e.kind, e.native_id) for e in live("parent") if e.subagent
    )


def test_a_compaction_is_told_by_its_summary_alone() -> None:
    events, _ = history(lines("compacted"))
    assert [(e.kind, e.text) for e in events] == [
        (Kind.PROMPT, "Begin [[say:Begun.]]"),
        (Kind.SAID, "Begun."),
        (Kind.TURN_ENDED, ""),
        (Kind.COMPACTED, "Scripted title"),
        (Kind.PROMPT, "Go on [[say:Gone on.]]"),
        (Kind.SAID, "Begun."),  # the scripted model repeats itself
        (Kind.TURN_ENDED, ""),
    ]


def test_read_on_from_the_last_turn_it_gives_that_turn_again_with_the_same_ids() -> None:
    path = SAMPLES / "compacted.jsonl"
    whole, reader = history(lines("compacted"))
    with path.open("rb") as file:
        file.seek(reader.turn_start)
        again = Reader("s", reader.turn_start, str(path))
        events = [event for line in file for event in again.feed(line)]
    assert [(e.kind, e.native_id, e.text, e.where) for e in events] == [
        (e.kind, e.native_id, e.text, e.where) for e in whole[3:]
    ]


OLD = [
    ("session_meta", {"id": "s", "cwd": "/home/dev/proj", "cli_version": "0.34.0", "git": {"branch": "main"}}),
    user("<environment_context>\n  <cwd>/home/dev/proj</cwd>\n</environment_context>"),
    user("# AGENTS.md instructions for /home/dev/proj\n\nBe good."),
    user("fix the port"),
    event("user_message", message="fix the port", kind="plain"),
    ("turn_context", {"cwd": "/home/dev/proj", "model": "gpt-5"}),
    event("agent_reasoning", text="**Looking**"),
    item("reasoning", summary=[{"type": "summary_text", "text": "**Looking**"}], encrypted_content="gAAA"),
    item("function_call", name="shell", call_id="c1",
         arguments='{"command": ["bash", "-lc", "pytest -q"], "workdir": "/home/dev/proj"}'),
    item("function_call_output", call_id="c1",
         output='{"output": "1 failed\\n", "metadata": {"exit_code": 1, "duration_seconds": 0.5}}'),
    item("custom_tool_call", name="apply_patch", call_id="c2", input=PATCH),
    item("custom_tool_call_output", call_id="c2", output="Exit code: 0\nWall time: 0.1 seconds\nOutput:\nok"),
    item("function_call", name="update_plan", call_id="c3", arguments='{"plan": [{"step": "test"}]}'),
    item("function_call_output", call_id="c3", output="Plan updated"),
    event("agent_message", message="The port is fixed."),
    assistant("The port is fixed."),
    user("thanks"),
    event("user_message", message="thanks", kind="plain"),
    user("thanks"),
    event("user_message", message="thanks", kind="plain"),
]  # fmt: skip


# MP-11, MP-21
def test_mp_11_an_older_rollout_tells_what_was_said_once_though_it_has_it_twice() -> None:
    """Reasoning is kept and labelled, times are the original ones (MP-21)."""
    events, reader = history(rows(*OLD))
    assert [(e.kind, e.text) for e in events if e.kind is not Kind.TOOL] == [
        (Kind.PROMPT, "fix the port"),
        (Kind.REASONED, "**Looking**"),
        (Kind.SAID, "The port is fixed."),
        (Kind.PROMPT, "thanks"),
        (Kind.PROMPT, "thanks"),
    ]
    assert [(e.action, e.outcome) for e in events if e.kind is Kind.TOOL] == [
        (Action.RUN, Outcome.FAILED),
        (Action.WRITE, Outcome.OK),
        (Action.EDIT, Outcome.OK),
        (Action.EDIT, Outcome.OK),
        (Action.PLAN, Outcome.OK),
    ]
    assert len({(e.kind, e.native_id) for e in events}) == len(events), "two equal prompts stay two"
    assert {(e.where.cwd, e.where.branch, e.origin) for e in events} == {
        ("/home/dev/proj", "main", "history")
    }
    assert events[0].at == 1_757_498_403_000
    assert not reader.counts["unknown"]


def test_the_oldest_rollouts_have_nothing_around_their_items() -> None:
    bare = [
        {"id": "s", "timestamp": "2025-05-07T17:24:21.597Z", "instructions": None},
        {"record_type": "state"},
        user("<environment_context>\nCurrent working directory: /home/dev/proj\n</environment_context>")[1],
        user("fix the port")[1],
        {"type": "local_shell_call", "call_id": "c1", "action": {"type": "exec", "command": ["make", "x y"]}},
        {
            "type": "function_call_output",
            "call_id": "c1",
            "output": '{"output":"","metadata":{"exit_code":2}}',
        },
        assistant("Fixed.")[1],
    ]
    events, _ = history([json.dumps(row).encode() + b"\n" for row in bare])
    assert [(e.kind, e.text, e.where.cwd) for e in events] == [
        (Kind.PROMPT, "fix the port", "/home/dev/proj"),
        (Kind.TOOL, "Exit code 2", "/home/dev/proj"),
        (Kind.SAID, "Fixed.", "/home/dev/proj"),
    ]
    assert told(events) == [(Action.RUN, "make 'x y'", Outcome.FAILED)]


def test_a_turn_that_failed_or_was_interrupted_is_told() -> None:
    events, _ = history(
        rows(
            ("session_meta", {"id": "s", "cwd": "/p"}),
            event("task_started", turn_id="t1"),
            user("go"),
            item("function_call", name="exec_command", call_id="c1", arguments='{"cmd": "sleep 9"}'),
            event("turn_aborted", turn_id="t1", reason="interrupted"),
            event("task_started", turn_id="t2"),
            user("go on"),
            event("task_complete", turn_id="t2", last_agent_message=None,
                  error={"message": "the model is overloaded", "codex_error_info": "server_overloaded"}),
        )
    )  # fmt: skip
    assert [(e.kind, e.outcome) for e in events] == [
        (Kind.PROMPT, Outcome.NONE),
        (Kind.TOOL, Outcome.INTERRUPTED),
        (Kind.TURN_ENDED, Outcome.INTERRUPTED),
        (Kind.PROMPT, Outcome.NONE),
        (Kind.TURN_FAILED, Outcome.FAILED),
    ]
    assert (events[-1].reason, events[-1].text) == ("server_overloaded", "the model is overloaded")


# MP-12
def test_mp_12_broken_lines_our_own_words_and_new_kinds_are_left_out_and_counted() -> None:
    notes = item("message", role="developer", content=[{"type": "input_text", "text": "<backstory-notes>x"}])
    events, reader = history(
        [
            *rows(
                ("session_meta", {"id": "s"}), notes, ("brand_new", {}), event("newer"), item("newest"),
                user("<subagent_notification>\n{}\n</subagent_notification>"),
            ),
            b"{broken\n",
            b"\n",
        ]
    )  # fmt: skip
    assert events == []
    assert (reader.counts["unknown"], reader.counts["malformed"], reader.counts["blank"]) == (3, 1, 1)


def test_a_label_says_what_was_typed_better_than_its_first_words() -> None:
    """Newer versions label each part; a person may well begin with a tag."""
    typed = {
        "type": "message", "role": "user",
        "content": [{"type": "input_text", "text": "<div> breaks the layout"}, {"text": "be careful"}],
        "internal_chat_message_metadata_passthrough": {
            "turn_id": "t", "content_item_kinds": ["user.text", "hooks.additional_context"],
        },
    }  # fmt: skip
    events, _ = history(rows(("session_meta", {"id": "s"}), ("response_item", typed)))
    assert [e.text for e in events] == ["<div> breaks the layout"]


@pytest.mark.parametrize(
    ("output", "text", "code"),
    [
        ("plain", "plain", None),
        ("Chunk ID: ab12\nWall time: 0.1 seconds\nProcess exited with code 3\nOriginal token count: 1\nOutput:\nhi\n",
         "hi\n", 3),
        ("Exit code: 2\nWall time: 0.1 seconds\nTotal output lines: 9\nOutput:\nhi", "hi", 2),
        ("Wall time: 0.0 seconds\nOutput:\nExit code: 1\nWall time: 0 seconds\nOutput:\nno", "no", 1),
        ("Exit code: 2 is what it said", "Exit code: 2 is what it said", None),
        ('{"output":"hi","metadata":{"exit_code":0}}', "hi", 0),
        ({"content": "Exit code: 1\nWall time: 0 seconds\nOutput:\nno", "success": False}, "no", 1),
    ],
)  # fmt: skip
def test_the_frame_around_an_output_is_taken_off(output: object, text: str, code: int | None) -> None:
    assert (call_result(output).output, call_result(output).code) == (text, code)


# --- the way in -------------------------------------------------------------------------------------------


def test_the_answer_has_no_key_that_codex_does_not_know() -> None:
    """With one more it ignores the whole answer."""
    said = json.loads(shape_answer("codex", "SessionStart", "notes"))
    assert said == {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "notes"}}


def test_session_end_asks_for_no_more_time_than_codex_gives() -> None:
    assert {hook.name: hook.timeout for hook in HOOKS}["SessionEnd"] <= 3


def test_codex_home_is_obeyed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CODEX_HOME", str(tmp_path))
    assert (hooks_file(), sessions_dir()) == (tmp_path / "hooks.json", tmp_path / "sessions")
    assert hooks_file(Path("/p")) == Path("/p/.codex/hooks.json")


def test_hooks_wait_until_each_is_trusted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CODEX_HOME", str(tmp_path))
    assert "SessionStart" in untrusted_hooks(hooks_file())
    names = [
        "session_start", "user_prompt_submit", "pre_tool_use", "post_tool_use", "stop", "subagent_stop", "pre_compact",
    ]  # fmt: skip
    trusted = [f'[hooks.state."{hooks_file()}:{name}:0:0"]\ntrusted_hash = "sha256:00"' for name in names]
    (tmp_path / "config.toml").write_text("\n".join(trusted))
    assert untrusted_hooks(hooks_file()).startswith("nobody has trusted SessionEnd yet")
    (tmp_path / "config.toml").write_text("not toml [")
    assert "SessionStart" in untrusted_hooks(hooks_file())


def test_tokens_of_a_call_are_counted_without_what_a_cache_gave() -> None:
    reader = Reader("s1")
    usage = {"input_tokens": 1_000, "cached_input_tokens": 900, "output_tokens": 20, "total_tokens": 1_020}
    for info in ({"last_token_usage": usage}, None, {"last_token_usage": {"input_tokens": "many"}}):
        row = {"type": "event_msg", "payload": {"type": "token_count", "info": info}}
        assert reader.feed(json.dumps(row).encode() + b"\n") == []
    assert (reader.counts["tokens"], reader.counts["unknown"]) == (120, 0)
