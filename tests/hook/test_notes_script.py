"""The script's part in notes at work, in every shell: flags are looked for without starting anything."""

import json
import os
from pathlib import Path

import pytest

from backstory.hook.project_identity import project_id, resolve_place
from backstory.hook.work_notes import LIMITS

from .stage import SHELLS, TICK, Agent

every_shell = pytest.mark.parametrize("shell", sorted(SHELLS))
RUN = {"tool_name": "Bash", "tool_input": {"command": "make ship"}}


def leave_note(agent: Agent, project: Path, *kinds: str) -> None:
    """One note on a command, and flags for the project as the worker leaves them."""
    pid = project_id(resolve_place(str(project)).identity)
    note = {"id": "m0123456789abc", "section": "lesson", "at": 1, "agent": "codex", "session": "s1"}
    note["text"] = "`make ship` failed: no key → fixed by running `make key`"
    value = {"notes": [note], "commands": {"make ship": [note["id"]]}, "name": project.name}
    value["errors"] = {"no key for the ship ": [note["id"]]}
    notes = agent.home / "briefs" / "notes"
    notes.mkdir()
    (notes / f"{pid}.json").write_text(json.dumps(value))
    flags = Path(f"{agent.home}/briefs/at{project.resolve()}")
    flags.mkdir(parents=True)
    for kind in kinds:
        (flags / f".{kind}").touch()


@every_shell
def test_a_flag_of_the_folder_or_one_above_makes_python_answer(
    agent: Agent, project: Path, tmp_path: Path, shell: str
) -> None:
    leave_note(agent, project, "before")
    below = project / "it's\ndeep" / "er"
    below.mkdir(parents=True)
    link = tmp_path / "link"
    link.symlink_to(below)
    for number, folder in enumerate((project, below, link)):
        payload = {"session_id": str(number), "cwd": str(folder), **RUN}
        done = agent.run("PreToolUse", payload, shell, cwd=folder, env={"PATH": "", "PWD": str(folder)})
        assert (done.returncode, done.stderr) == (0, b"")
        assert b"make key" in done.stdout, folder


@every_shell
def test_without_a_flag_it_reads_what_the_agent_sends_and_leaves_nothing(
    agent: Agent, project: Path, shell: str
) -> None:
    leave_note(agent, project, "prompt", "after")
    big = json.dumps({"session_id": "x", "cwd": str(project), **RUN, "more": "x" * 500_000}).encode()
    for folder in (project, "/", project.parent):
        done = agent.run("PreToolUse", big, shell, cwd=folder)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert agent.spooled() == []


@every_shell
def test_only_a_payload_with_one_of_the_literals_makes_python_answer(
    agent: Agent, project: Path, tmp_path: Path, shell: str
) -> None:
    """It gets the payload whole, whatever its size and its lines, and an agent that writes it is never cut off."""
    leave_note(agent, project, "before")
    (agent.home / "briefs" / "before.literals").write_text("\\u\nmake ship\n")
    started = tmp_path / "started"
    interpreter = tmp_path / "python"
    body = interpreter.read_text()
    interpreter.write_text(body.replace("#!/bin/sh\n", f"#!/bin/sh\n: >'{started}'\n"))
    for number, (command, more, indent, answers) in enumerate(
        [
            ("make ship", "x", None, True),
            ("make ship", "x\x7fé%s\\\n" * 60_000, None, True),
            ("make ship", "x" * 500_000, 4, True),
            ("make shi", "x" * 500_000, None, False),
            ("make shi", "é", 4, False),
        ]
    ):
        payload = {
            "session_id": str(number),
            "cwd": str(project),
            "tool_input": {"command": command},
            "x": more,
        }
        data = json.dumps(payload, indent=indent, ensure_ascii=False).encode()
        done = agent.run("PreToolUse", data, shell, cwd=project)
        assert (done.returncode, done.stderr) == (0, b"")
        assert (b"make key" in done.stdout) is answers, number
        assert started.exists() is answers, number
        started.unlink(missing_ok=True)


@every_shell
def test_a_folder_that_is_gone_or_a_false_pwd_is_no_trouble(
    agent: Agent, project: Path, tmp_path: Path, shell: str
) -> None:
    leave_note(agent, project, "before")
    gone = tmp_path / "gone"
    gone.mkdir()
    payload = {"session_id": "x", "cwd": str(gone), **RUN}
    for pwd in (str(gone), "relative", "", "/nowhere/at/all"):
        gone.mkdir(exist_ok=True)
        before = f"rmdir '{gone}'; "
        done = agent.run("PreToolUse", payload, shell, before, cwd=gone, env={"PATH": os.defpath, "PWD": pwd})
        assert (done.returncode, done.stdout) == (0, b"")


@every_shell
def test_a_failure_is_captured_whole_and_answered(agent: Agent, project: Path, shell: str) -> None:
    leave_note(agent, project, "after")
    payload = {"session_id": "x", "cwd": str(project), **RUN, "error": "Exit code 2\nno key for the ship"}
    done = agent.run("PostToolUseFailure", payload, shell, cwd=project)
    assert b"make key" in done.stdout
    assert json.dumps(payload).encode() in agent.payloads()
    assert len(agent.spooled()) == 2, "the failure, and the receipt of the note"


def test_other_agents_failures_are_only_captured(agent: Agent, project: Path) -> None:
    """What an agent does not take there, it is not given."""
    leave_note(agent, project, "after", "before", "prompt")
    agent.name = "qwen-code"
    payload = {"session_id": "x", "cwd": str(project), **RUN, "error": "Exit code 2\nno key for the ship"}
    done = agent.run("PostToolUseFailure", payload, cwd=project)
    assert done.stdout == b""
    assert len(agent.spooled()) == 1


def test_a_note_that_comes_too_late_is_no_failure(agent: Agent, project: Path) -> None:
    """The kernel ends it; the event itself was captured, so nobody has to be told."""
    leave_note(agent, project, "before")
    (agent.home / "hook" / "hook.pyc").write_bytes(b"not a program")
    done = agent.run("PreToolUse", {"session_id": "x", "cwd": str(project), **RUN}, cwd=project)
    assert (done.returncode, done.stdout, agent.spooled()) == (0, b"", [])


@pytest.mark.parametrize(
    ("event", "kind"),
    [("UserPromptSubmit", "prompt"), ("PreToolUse", "before"), ("PostToolUseFailure", "after")],
)
def test_a_note_has_its_time_and_then_the_agent_goes_on_without(
    agent: Agent, project: Path, tmp_path: Path, event: str, kind: str
) -> None:
    """The event is captured all the same, and nobody is told of a failure: it is none."""
    leave_note(agent, project, kind)
    note = agent.hangs(tmp_path)
    payload = {"session_id": "x", "cwd": str(project), **RUN, "prompt": "make ship", "error": "no key"}
    done = agent.run(event, payload, cwd=project)
    assert (done.returncode, done.stdout) == (0, b"")
    left = map(float, note.read_text().split())
    for of, limit in zip(left, LIMITS[kind], strict=True):
        assert 0 < of <= limit + TICK, "what was left of it when the search began"
    assert len(agent.spooled()) == (0 if kind == "before" else 1)
    assert not any(name.endswith(".fail") for name in agent.spooled())
