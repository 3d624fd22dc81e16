"""What still waits in the spool is in the brief, and what may not be shown is not."""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from backstory.hook import pending_events, spool
from backstory.hook.brief_text import Row
from backstory.hook.project_identity import resolve_place, session_id
from backstory.hook.redact import Redactor
from backstory.hook.time_limit import TimeLimit

from .stage import Agent

Rows = Callable[..., list[Row]]


@pytest.fixture
def rows(agent: Agent, project: Path) -> Rows:
    """The rows of what waits for the project."""

    def found(settings: dict[str, Any] | None = None, forgotten: tuple[str, ...] = ()) -> list[Row]:
        folder = str(agent.home / "spool")
        return pending_events.pending_rows(
            folder, resolve_place(str(project)), settings or {}, Redactor().redact, forgotten
        )

    return found


def texts(found: list[Row]) -> list[str]:
    return [row.text for row in found]


def prompt(agent: Agent, project: Path, text: str, ago: float = 0, session: str = "one", **more: Any) -> Path:
    return agent.leave("UserPromptSubmit", ago, session_id=session, cwd=str(project), prompt=text, **more)


def ran(
    agent: Agent,
    project: Path,
    command: str,
    error: str = "",
    ago: float = 0,
    session: str = "one",
    interrupted: bool = False,
    **more: Any,
) -> Path:
    more |= {
        "session_id": session,
        "cwd": str(project),
        "tool_name": "Bash",
        "tool_input": {"command": command},
    }
    if error:
        return agent.leave("PostToolUseFailure", ago, **more, error=error, is_interrupt=interrupted)
    return agent.leave("PostToolUse", ago, **more, tool_response={"stdout": "fine"})


def test_a_killed_session_is_told_by_what_it_left(agent: Agent, project: Path, rows: Rows) -> None:
    prompt(agent, project, "Make the discount work", 90)
    ran(agent, project, "pytest", "Exit code 1\nE  assert 9 == 10\nFAILED test_discount", 80)
    ran(agent, project, "ls src", ago=70)
    agent.leave(
        "PostToolUse", 60, session_id="one", cwd=str(project), tool_name="Edit",
        tool_input={"file_path": str(project / "src" / "discount.py")}, tool_response={},
    )  # fmt: skip
    ran(agent, project, "pytest", ago=50)
    ran(
        agent, project, "make lint", "Exit code 2\nTraceback (most recent call last):\n  x\nKeyError: 'a'", 40
    )
    agent.leave(
        "Stop", 30, session_id="one", cwd=str(project), last_assistant_message="Lint is still\nbroken."
    )
    found = rows()
    assert texts(found) == [
        "The user asked: “Make the discount work”",
        "Failed: make lint → KeyError: 'a' (exit code 2)",
        "Failed: pytest → E assert 9 == 10 (exit code 1) (passed later)",
        "The agent said last: “Lint is still broken.”",
        "Files written: src/discount.py",
        "Commands that passed: pytest · ls src",
        "7 events of this session wait to be distilled.",
    ]
    assert {row.section for row in found} == {"now"}
    assert {row.id for row in found} == {session_id("claude-code", "one")}
    assert {row.agent for row in found} == {"claude-code"}


def test_two_hundred_events_of_four_kilobytes_are_all_in_the_digest(
    agent: Agent, project: Path, rows: Rows
) -> None:
    for number in range(200):
        ran(agent, project, f"make part-{number}", ago=300 - number, pad="x" * 4_000)
    start = time.process_time()
    found = texts(rows())
    assert time.process_time() - start < 1
    assert "200 events of this session wait to be distilled." in found
    assert any("make part-199 · make part-198" in text and text.endswith(" more") for text in found)


def test_only_the_newest_files_are_read(agent: Agent, project: Path, rows: Rows) -> None:
    prompt(agent, project, "the oldest", 9_999)
    for number in range(pending_events.NEWEST):
        ran(agent, project, f"step {number}", ago=500 - number)
    assert not any("the oldest" in text for text in texts(rows()))


def test_the_newest_session_and_prompt_come_first(agent: Agent, project: Path, rows: Rows) -> None:
    prompt(agent, project, "first", 90, "old")
    prompt(agent, project, "second", 80, "new")
    prompt(agent, project, "third", 70, "old")
    found = [text for text in texts(rows()) if "asked" in text]
    assert found == ["The user asked: “third”", "The user asked: “first”", "The user asked: “second”"]


def test_other_projects_stay_out_and_worktrees_belong_in(
    agent: Agent, project: Path, tmp_path: Path, git: Callable[..., str], rows: Rows
) -> None:
    # CCE-20
    other = tmp_path / "elsewhere" / "shop"
    other.mkdir(parents=True)
    tree = tmp_path / "tree"
    git(project, "worktree", "add", str(tree))
    prompt(agent, other, "not here")
    prompt(agent, tree, "from the worktree", 10)
    prompt(agent, project / "gone", "from a deleted folder", 20)
    ran(agent, other, "x", session="two", nested={"cwd": str(project)})
    assert [text for text in texts(rows()) if "event" not in text] == [
        "The user asked: “from the worktree”",
        "The user asked: “from a deleted folder”",
    ]


def test_what_is_unfinished_or_unreadable_is_left_to_the_drain(
    agent: Agent, project: Path, rows: Rows
) -> None:
    path = prompt(agent, project, "unfinished")
    path.write_bytes(path.read_bytes()[:-1])
    for data in (
        b"",
        b"{",
        b"[]",
        b'"cwd":',
        b'{"cwd":"%b"}' % bytes(project),
        b'{"cwd":["x"],"session_id":1}',
    ):
        spool.write_spooled(str(agent.home / "spool"), "claude-code", "Stop", data)
    large = {"session_id": "one", "cwd": str(project), "prompt": "x" * pending_events.LARGEST}
    spool.write_spooled(
        str(agent.home / "spool"), "claude-code", "UserPromptSubmit", json.dumps(large).encode()
    )
    assert rows() == []


def test_secrets_and_private_spans_are_not_shown(agent: Agent, project: Path, rows: Rows) -> None:
    key = "AKI" + "AZ7QH3V9K2M4XW5TB"
    prompt(agent, project, f"use {key} <private>my diary</private> please", 10)
    ran(agent, project, f"deploy --key {key}", f"Exit code 1\n{key} is refused", 5)
    ran(agent, project, f"echo {key}")
    agent.leave(
        "Stop", session_id="one", cwd=str(project), last_assistant_message="x" * 495 + f" {key} tail " * 9
    )
    shown = " ".join(texts(rows()))
    assert "please" in shown
    assert "deploy --key" in shown
    for part in (key, key[:12], "diary"):
        assert part not in shown


def test_a_secret_across_the_end_of_what_is_shown_is_not_shown_in_part(
    agent: Agent, project: Path, rows: Rows
) -> None:
    key = "AKI" + "AZ7QH3V9K2M4XW5TB"
    for lead in range(430, 500, 5):
        prompt(agent, project, "y" * lead + " " + key, session=str(lead))
        assert "AKIAZ7" not in " ".join(texts(rows()))


def test_ignored_files_and_folders_are_not_shown(agent: Agent, project: Path, rows: Rows) -> None:
    for command in ("cat config/.env", "cat 'config/.env'", "tool --file=.env", "x <.env"):
        ran(agent, project, command, ago=5)
    ran(agent, project, "cat README.md", ago=4)
    agent.leave(
        "PostToolUse", session_id="one", cwd=str(project), tool_name="Write",
        tool_input={"file_path": f"{project}/server.pem", "content": "x"},
    )  # fmt: skip
    shown = texts(rows({"ignore_paths": [".env", "*.pem"]}))
    assert shown == ["Commands that passed: cat README.md"]
    assert rows({"ignore_projects": [str(project)]}) == []


@pytest.mark.parametrize(
    ("tool", "given", "error"),
    [
        ("mcp__bank__balance", {}, "ACME balance is 12345"),
        ("Grep", {"pattern": "key", "glob": ".env"}, "conf/.env: 12345"),
        ("Grep", {"pattern": "key"}, "conf/.env: 12345"),
        ("Task", {"filename": "conf/.env"}, "12345"),
    ],
)
def test_what_the_drain_would_not_keep_is_not_shown_either(
    agent: Agent, project: Path, rows: Rows, tool: str, given: dict[str, str], error: str
) -> None:
    agent.leave(
        "PostToolUseFailure",
        session_id="one",
        cwd=str(project),
        tool_name=tool,
        tool_input=given,
        error=error,
    )
    assert "12345" in " ".join(texts(rows()))
    assert rows({"skip_tools": ["mcp__bank__*"], "ignore_paths": [".env"]}) == []


def test_forgotten_sessions_stay_forgotten(agent: Agent, project: Path, rows: Rows) -> None:
    prompt(agent, project, "forget this")
    assert rows(forgotten=(session_id("claude-code", "one"),)) == []


@pytest.mark.parametrize(
    "command",
    [
        *("backstory search x", "cd /x && backstory show m1", "/opt/bin/backstory brief | head"),
        *(
            "python -m backstory status",
            'echo "$(backstory ask y)"',
            "uvx backstory log",
            "python3 -m backstory.cli",
        ),
    ],
)
def test_our_own_words_are_no_news(agent: Agent, project: Path, rows: Rows, command: str) -> None:
    ran(agent, project, command)
    agent.leave(
        "PostToolUse", session_id="one", cwd=str(project), tool_name="mcp__backstory__search", tool_input={}
    )
    prompt(agent, project, "<backstory-notes project='x'>old news</backstory-notes>")
    assert rows() == []


def test_commands_that_only_mention_us_are_news(agent: Agent, project: Path, rows: Rows) -> None:
    for command in ("ls src/backstory/hook", "git log backstory.md", "grep backstory-notes x"):
        assert not pending_events.runs_backstory(command)
    prompt(agent, project, "<hook_context>memory</hook_context>do it")
    assert texts(rows()) == ["The user asked: “do it”"]


def test_a_sub_agents_words_are_not_the_sessions(agent: Agent, project: Path, rows: Rows) -> None:
    agent.leave("Stop", 5, session_id="one", cwd=str(project), last_assistant_message="sub", agent_id="a1")
    ran(agent, project, "make", "Exit code 2\nboom", agent_id="a1")
    assert texts(rows()) == [
        "Failed: make → boom (exit code 2)",
        "2 events of this session wait to be distilled.",
    ]


def test_an_interrupted_call_neither_failed_nor_passed(agent: Agent, project: Path, rows: Rows) -> None:
    ran(agent, project, "sleep 99", "Interrupted by user", interrupted=True)
    assert rows() == []


def test_receipts_and_starts_tell_nothing(agent: Agent, project: Path, rows: Rows) -> None:
    for event in ("SessionStart", "SessionEnd", spool.RECEIPT):
        agent.leave(event, session_id="one", cwd=str(project), prompt="x")
    assert rows() == []


def test_it_stops_when_its_time_is_over(agent: Agent, project: Path) -> None:
    for number in range(20):
        prompt(agent, project, f"{number}")
    folder, place = str(agent.home / "spool"), resolve_place(str(project))
    assert pending_events.pending_rows(folder, place, {}, str, (), until=TimeLimit(0, 10)) == []
    assert os.listdir(folder)


def test_a_command_whose_end_codex_does_not_tell_is_no_success(
    agent: Agent, project: Path, rows: Rows
) -> None:
    said: dict[str, Any] = {
        "session_id": "one",
        "cwd": str(project),
        "tool_name": "Bash",
        "tool_response": "1 failed\n",
    }
    agent.leave("PostToolUse", **said, tool_input={"command": "pytest -q"})
    assert texts(rows()) == ["Commands run: pytest -q"]


def test_the_files_of_a_patch_are_files_written(agent: Agent, project: Path, rows: Rows) -> None:
    patch = "*** Begin Patch\n*** Add File: new.py\n+x\n*** Update File: old.py\n@@\n-a\n+b\n*** End Patch\n"
    said: dict[str, Any] = {
        "session_id": "one",
        "cwd": str(project),
        "tool_name": "apply_patch",
        "tool_response": "done",
    }
    agent.leave("PostToolUse", **said, tool_input={"command": patch})
    assert texts(rows()) == ["Files written: new.py · old.py"]


def test_an_error_in_sections_is_told_by_its_output(agent: Agent, project: Path, rows: Rows) -> None:
    ran(agent, project, "make x", error="Command: make x\nDirectory: (root)\nOutput: no rule\nExit Code: 2")
    assert texts(rows()) == ["Failed: make x → no rule"]


def test_of_a_traceback_in_sections_the_last_line_is_told(agent: Agent, project: Path, rows: Rows) -> None:
    traceback = 'Traceback (most recent call last):\n  File "x.py", line 2\nValueError: no comma'
    sections = (
        f"Command: ./x\nDirectory: (root)\nOutput: {traceback}\nError: (none)\nExit Code: 1\nSignal: (none)"
    )
    ran(agent, project, "./x", error=sections)
    assert texts(rows()) == ["Failed: ./x → ValueError: no comma"]


def test_files_that_a_prompt_names_are_not_what_was_asked(agent: Agent, project: Path, rows: Rows) -> None:
    read = "\n--- Content from referenced files ---\nContent from a.txt:\nlong\n--- End of content ---"
    agent.leave("UserPromptSubmit", session_id="one", cwd=str(project), prompt=f"Do as in @a.txt{read}")
    assert texts(rows()) == ["The user asked: “Do as in @a.txt”"]


def test_what_gemini_sends_is_told_like_all_else(agent: Agent, project: Path, rows: Rows) -> None:
    gemini = Agent(agent.home, "gemini-cli")
    about = {"session_id": "one", "cwd": str(project)}

    def used(command: str, answer: str, ago: float) -> None:
        given = {"tool_name": "run_shell_command", "tool_input": {"command": command}}
        gemini.leave("AfterTool", ago, **about, **given, tool_response={"llmContent": answer})

    gemini.leave("BeforeAgent", 60, **about, prompt="Fix it")
    used("make", "<untrusted_context>\nOutput: no rule\nExit Code: 2\nProcess Group PGID: 7\n</x>", 50)
    used("ls", "<untrusted_context>\nOutput: a\nExit Code: 1\nb\nProcess Group PGID: 7\n" + "x" * 500, 40)
    file = {"tool_name": "write_file", "tool_input": {"file_path": str(project / "a.py")}}
    gemini.leave("AfterTool", 30, **about, **file, tool_response={"llmContent": "Done", "returnDisplay": {}})
    missing = {"tool_name": "read_file", "tool_input": {"file_path": "b.py"}}
    gemini.leave(
        "AfterTool", 20, **about, **missing, tool_response={"error": {"message": "File not found: b.py"}}
    )
    gemini.leave("AfterAgent", 10, **about, prompt="Fix it", prompt_response="Fixed.")
    assert texts(rows()) == [
        "The user asked: “Fix it”",
        "Failed: read_file b.py → File not found: b.py",
        "Failed: make → no rule (exit code 2)",
        "The agent said last: “Fixed.”",
        "Files written: a.py",
        "Commands that passed: ls",
        "6 events of this session wait to be distilled.",
    ]


def test_what_copilot_sends_is_told_like_all_else(agent: Agent, project: Path, rows: Rows) -> None:
    copilot = Agent(agent.home, "copilot")
    about = {"session_id": "one", "cwd": str(project)}

    def used(command: str, answer: str, ago: float, **more: str) -> None:
        given = {"tool_name": "Bash", "tool_input": {"command": command}}
        result = {"result_type": "success", "text_result_for_llm": answer}
        copilot.leave("PostToolUse", ago, **{**about, **more}, **given, tool_result=result)

    note = "<system_notification>\nShell command has completed.\n</system_notification>"
    copilot.leave("UserPromptSubmit", 60, **about, prompt="Fix it")
    copilot.leave("UserPromptSubmit", 55, **about, prompt=note)
    used("make", "no rule\n<shellId: 0 completed with exit code 2>", 50)
    used(
        "ls",
        "a\n<shellId: 1 completed with exit code 0>",
        40,
        session_id="sub",
        parent_agent_id="one",
        agent_id="sub",
    )
    copilot.leave("UserPromptSubmit", 35, **about, prompt="Count", agent_id="sub", parent_agent_id="one")
    assert texts(rows()) == [
        "The user asked: “Fix it”",
        "Failed: make → no rule (exit code 2)",
        "Commands that passed: ls",
        "4 events of this session wait to be distilled.",
    ]
    assert {row.session for row in rows()} == {session_id("copilot", "one")}


@pytest.mark.parametrize(
    "cut",
    ['{"prompt":"a","cwd":"/srv', '{"cwd":"', '{"cwd":', '{"x":{"cwd":"/a"},"cwd":"/srv/shop', '"cwd":"a"'],
)
def test_a_payload_that_is_cut_off_inside_its_folder_is_passed_over(
    agent: Agent, project: Path, rows: Rows, cut: str
) -> None:
    """In the brief of a real hook too: what waits beside it is told."""
    prompt(agent, project, "Count the blue whales")
    left = prompt(agent, project, "x")
    left.write_bytes(cut.encode() + spool.TRAILER)
    assert texts(rows()) == ["The user asked: “Count the blue whales”"]
    assert "blue whales" in agent.start(project)


@pytest.mark.parametrize(
    "seconds", ["NaN", "Infinity", "-Infinity", "1e999", "1e300", "-1", '"x"', "1" * 400]
)
def test_no_number_of_seconds_costs_the_brief(agent: Agent, project: Path, seconds: str) -> None:
    agent.prepare(project, ("decisions", "We count whales in dozens"))
    payload = {"session_id": "x", "cwd": str(project), "source": "resume"}
    data = json.dumps(payload)[:-1] + f', "seconds_since_last_response": {seconds}}}'
    done = agent.run("SessionStart", data.encode())
    assert "whales in dozens" in done.stdout.decode()


_ABSURD: dict[str, tuple[str, dict[str, Any]]] = {
    "a folder without an end": ("UserPromptSubmit", {"cwd": "/a" * 400_000, "prompt": "x"}),
    "a folder that goes up without an end": (
        "UserPromptSubmit",
        {"cwd": "/srv" + "/.." * 300_000, "prompt": "x"},
    ),
    "as many inputs as fit": (
        "PostToolUse",
        {
            "tool_name": "Bash",
            "tool_input": {f"k{n}": f"v{n}" for n in range(12_000)} | {"command": "a b " * 20},
        },
    ),
    "a patch": (
        "PostToolUse",
        {"tool_name": "apply_patch", "tool_input": {"command": "*** Add File: a\n" * 12_000}},
    ),
    "a command": (
        "PostToolUse",
        {"tool_name": "Bash", "tool_input": {"command": "curl x | cat <<A\n" * 12_000}},
    ),
    "an error": (
        "PostToolUseFailure",
        {"tool_name": "Bash", "tool_input": {"command": "a"}, "error": "a/b:c\n" * 80_000},
    ),
    "our own marks": ("UserPromptSubmit", {"prompt": "<backstory-notes></backstory-notes>" * 55_000}),
}


@pytest.mark.parametrize("name", _ABSURD)
def test_no_payload_that_waits_costs_others_their_brief(agent: Agent, project: Path, name: str) -> None:
    """Several of each, so that what takes a second takes longer than the hook has."""
    agent.prepare(project, ("decisions", "We count whales in dozens"))
    settings = {"ignore_paths": [".env", ".env.*", "*.pem", "secrets/*", "*.{key,p12}"]}
    (agent.home / "hook" / "settings.json").write_text(json.dumps(settings))
    event, payload = _ABSURD[name]
    for number in range(8):
        agent.leave(event, 5, **{"session_id": f"s{number}", "cwd": str(project), **payload})
    prompt(agent, project, "Count the blue whales", session="other")
    told = agent.start(project)
    assert "whales in dozens" in told
    assert "blue whales" in told


def test_marks_that_cutting_out_others_leaves_behind_go_too() -> None:
    inner = "<backstory-notes>x</backstory-notes>"
    assert pending_events.without_injected(f"a <backst{inner}ory-notes>y</backstory-notes> b") == "a  b"
    assert pending_events.without_injected("a <hook_context>b") == "a"
