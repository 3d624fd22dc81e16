"""One task goes through all seven agents, each the real client, and the seventh knows what the first decided."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from .conftest import program
from .drivers import DRIVERS
from .headless import Headless, Run, row
from .loopback import Loopback
from .memory import Memory
from .model import Model, Say, Shell, Write

pytestmark = pytest.mark.clients


class Chapter(NamedTuple):
    """What one agent is asked for: what was decided, and the module that it writes after its check failed."""

    agent: str
    program: str
    decided: str
    module: str


CHAPTERS = (
    Chapter("claude-code", "claude", "keep amounts in whole cents, because floats lose money", "amounts"),
    Chapter("codex", "codex", "round half to even, because the tax office does", "rounding"),
    Chapter("opencode", "opencode", "store receipts as JSON lines, because they only grow", "receipts"),
    Chapter("gemini-cli", "gemini", "print at 42 columns, because the paper is that wide", "printer"),
    Chapter("copilot", "copilot", "open the drawer last, because customers wait for it", "drawer"),
    Chapter("pi", "pi", "count the drawer at midnight, because nobody sells then", "counting"),
    Chapter("qwen-code", "qwen", "close the till by hand, because reports need a name", "closing"),
)


def play(agent: Headless, chapter: Chapter) -> Run:
    """The check fails, the module is written, the check passes, and the agent says what was decided."""
    check = f"python3 -c 'import {chapter.module}'"
    answer = f"{chapter.module}.py is there."
    agent.model.when(
        f"Write {chapter.module}.py",
        Shell(check),
        Write(str(agent.project / f"{chapter.module}.py"), "DONE = True\n"),
        Shell(check),
        Say(answer),
    )
    run = agent.run(f"Write {chapter.module}.py. We decided to {chapter.decided}.")
    agent.memory.rests()
    assert run.exit_code == 0, run.stderr
    assert answer in run.stdout
    return run


def test_each_agent_goes_on_where_the_others_stopped_and_the_seventh_knows_what_the_first_decided(
    project: Path, model: Model, memory: Memory, loopback: Loopback, tmp_path: Path
) -> None:
    agents = {
        name: driver(program(name), project, model, memory, loopback) for name, driver in DRIVERS.items()
    }
    assert list(agents) == [chapter.agent for chapter in CHAPTERS]
    found = tmp_path / "programs"
    found.mkdir()
    for chapter in CHAPTERS:
        (found / chapter.program).symlink_to(agents[chapter.agent].program)
        agents[chapter.agent].settle()
    memory.extra["PATH"] = f"{found}:{memory.environment['PATH']}"
    told = memory.ask("install", "--yes")
    assert {plan["agent"] for plan in told["agents"]} == set(agents), "it finds all seven by itself"
    memory.hurry(1)

    runs = [play(agents[chapter.agent], chapter) for chapter in CHAPTERS]

    assert runs[0].requests[0].injections() == []
    for number, run in enumerate(runs[1:], 1):
        (brief,) = run.requests[0].injections()
        for earlier in CHAPTERS[:number]:
            row(brief, earlier.agent, "Asked:", earlier.decided)
            row(
                brief, earlier.agent, "failed", "ModuleNotFoundError", f"fixed by editing {earlier.module}.py"
            )
    row(runs[-1].brief, "claude-code", "keep amounts in whole cents, because floats lose money")

    taken_up = agents["claude-code"].run("Go on", resume=runs[0].session)
    assert taken_up.session == runs[0].session
    for chapter in CHAPTERS[1:]:
        row(taken_up.brief, chapter.agent, f"{chapter.module}.py")
    assert "amounts.py" not in taken_up.brief, "that stands in its conversation"
    memory.rests()

    stored = memory.status()["events"]
    kept = memory.ask("import", "--min-messages", "0", "--again")
    assert (kept["events"], kept["errors"]) == (0, 0), (
        "their own histories tell nothing that hooks had not told"
    )
    assert memory.status()["events"] == stored
