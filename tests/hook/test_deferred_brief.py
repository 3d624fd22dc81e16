"""Gemini's brief waits for the first prompt: what its SessionStart says would cost the user that prompt."""

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from backstory.hook import deferred_brief, spool

from .stage import Agent


class Gemini(Agent):
    """An agent whose hooks are told its session by the environment too."""

    def __init__(self, home: Path) -> None:
        super().__init__(home, "gemini-cli")

    def begin(self, project: Path, session: str = "one", source: str = "startup") -> str:
        payload = {"session_id": session, "cwd": str(project), "source": source}
        return self.run("SessionStart", payload).stdout.decode()

    def prompt(self, session: str = "one", **environment: str) -> dict[str, Any]:
        env = {"PATH": "", "GEMINI_SESSION_ID": session, **environment}
        payload = {"session_id": session, "cwd": "/", "prompt": "go"}
        said = self.run("BeforeAgent", payload, env=env).stdout.decode()
        return dict(json.loads(said)) if said else {}


@pytest.fixture
def gemini(agent: Agent, project: Path) -> Gemini:
    agent.prepare(project, ("decisions", "We use tabs"))
    return Gemini(agent.home)


def waiting(agent: Agent) -> list[str]:
    folder = agent.home / "briefs" / "held"
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def receipts(agent: Agent) -> list[dict[str, Any]]:
    entries = spool.spool_entries(str(agent.home / "spool"))
    found = (spool.read_spooled(entry.path) for entry in entries if entry.name.event == spool.RECEIPT)
    return [json.loads(data) for data in found if data]


def test_the_first_prompt_gets_the_brief_and_the_next_ones_nothing(gemini: Gemini, project: Path) -> None:
    assert gemini.begin(project) == ""
    assert receipts(gemini) == [], "nothing was given yet"

    said = gemini.prompt()["hookSpecificOutput"]

    assert said["hookEventName"] == "BeforeAgent"
    assert "We use tabs" in said["additionalContext"]
    assert [receipt["session_id"] for receipt in receipts(gemini)] == ["one"]
    assert gemini.prompt() == {}
    assert waiting(gemini) == []


def test_each_prompt_is_captured_whether_a_brief_waits_or_not(gemini: Gemini, project: Path) -> None:
    gemini.begin(project)
    gemini.prompt()
    gemini.prompt()
    prompts = [name for name in gemini.spooled() if ".BeforeAgent." in name]
    assert len(prompts) == 2
    assert b'"prompt": "go"' in gemini.payloads()[-1]


def test_a_brief_is_for_its_own_session_alone(gemini: Gemini, project: Path) -> None:
    gemini.begin(project, "one")
    assert gemini.prompt("two") == {}
    assert waiting(gemini) == ["one"]


def test_a_start_with_nothing_to_say_takes_back_what_an_earlier_one_held(
    gemini: Gemini, project: Path
) -> None:
    gemini.begin(project)
    (briefs := gemini.home / "briefs").joinpath("other").touch()
    for prepared in briefs.glob("p*.json"):
        prepared.unlink()
    gemini.begin(project, source="clear")
    assert waiting(gemini) == []


def test_what_nobody_came_for_is_swept_away(gemini: Gemini, project: Path) -> None:
    gemini.begin(project, "old")
    old = gemini.home / "briefs" / "held" / "old"
    os.utime(old, (time.time() - 90_000,) * 2)
    gemini.begin(project, "new")
    assert waiting(gemini) == ["new"]


def test_a_held_brief_is_private(gemini: Gemini, project: Path) -> None:
    gemini.begin(project)
    folder = gemini.home / "briefs" / "held"
    assert (folder.stat().st_mode & 0o777, (folder / "one").stat().st_mode & 0o777) == (0o700, 0o600)


def test_a_session_id_that_is_no_name_for_a_file_gets_its_brief_at_once(
    gemini: Gemini, project: Path
) -> None:
    assert "We use tabs" in gemini.begin(project, "../../etc/passwd")
    assert waiting(gemini) == []
    assert gemini.prompt("../../etc/passwd") == {}


def test_a_folder_that_cannot_be_written_to_costs_nobody_the_brief(gemini: Gemini, project: Path) -> None:
    (gemini.home / "briefs" / "held").write_text("in the way")
    assert "We use tabs" in gemini.begin(project)


def test_a_broken_file_says_nothing(agent: Agent) -> None:
    folder = agent.home / "briefs" / "held"
    folder.mkdir(parents=True)
    for text in ("", "{", "[]", '{"text": 5, "receipt": {}}', '{"text": "x"}'):
        (folder / "one").write_text(text)
        assert deferred_brief.take_brief(str(agent.home), "one") == ("", {})


def test_other_agents_are_told_at_once(agent: Agent, gemini: Gemini, project: Path) -> None:
    assert "We use tabs" in agent.start(project)
    assert waiting(gemini) == []
