"""A session of pi is a tree: what happens on each branch, in a fork, by hand, is told live and by its file."""

from __future__ import annotations

import json

import pytest

from ..model import Say, Write
from ..twofold import assert_told_alike, spooling
from .driver import Pi

pytestmark = pytest.mark.clients


def branch(agent: Pi) -> None:
    """Goes on, back, on another way, into a fork, and compacts that."""
    with agent.remote() as pi:
        pi.prompt("With commas")
        pi.ask("bash", command="echo by hand")
        pi.ask("prompt", message="/back")
        pi.prompt("With tabs")
        [entry] = [
            message
            for message in pi.ask("get_fork_messages")["data"]["messages"]
            if message["text"] == "With tabs"
        ]
        pi.ask("fork", entryId=entry["entryId"])
        pi.prompt("With spaces")
        pi.ask("compact")


def test_branches_forks_compactions_and_commands_by_hand_are_told_alike(agent: Pi) -> None:
    agent.model.when("With commas", Write(str(agent.project / "commas.py"), "\n"), Say("Commas."))
    agent.model.when("With tabs", Write(str(agent.project / "tabs.py"), "\n"), Say("Tabs."))
    agent.model.when("With spaces", Say("Spaces."))
    (agent.folder / "settings.json").parent.mkdir(parents=True, exist_ok=True)
    (agent.folder / "settings.json").write_text('{"compaction": {"keepRecentTokens": 1}}')
    with spooling(agent) as spool:
        branch(agent)
    first, forked = agent.files()
    kinds = [json.loads(line)["type"] for line in first.read_text().splitlines()]
    assert "branch_summary" in kinds, kinds
    assert "parentSession" in forked.read_text().splitlines()[0]

    told = assert_told_alike(agent, spool)
    asked = sorted(
        (session == agent.sessions()[0], text) for session, kind, *_, text, _ in told if kind == "prompt"
    )
    assert asked == [(False, "With spaces"), (True, "With commas"), (True, "With tabs")]
