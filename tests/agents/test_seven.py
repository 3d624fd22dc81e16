"""One task goes through all seven agents, each the real client, and each knows what the others decided."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import pytest

from .conftest import program, remembering
from .drivers import DRIVERS
from .headless import Headless, Run, row
from .loopback import Loopback
from .memory import Memory
from .model import Model, Say, Shell, Write
from .repository import repository

pytestmark = pytest.mark.clients


class Chapter(NamedTuple):
    """What one agent is asked for: what was decided, and the module that it writes after its check failed."""

    agent: str
    program: str
    decided: str
    module: str

    @property
    def settled(self) -> str:
        """What was decided, without why: a brief puts the reason behind it."""
        return self.decided.partition(", because")[0]


# So many decisions, the latest, stand in a brief (CCE-62).
DECISIONS = 5
CHAPTERS = (
    Chapter("claude-code", "claude", "keep amounts in whole cents, because floats lose money", "amounts"),
    Chapter("codex", "codex", "round half to even, because the tax office does", "rounding"),
    Chapter("opencode", "opencode", "store receipts as JSON lines, because they only grow", "receipts"),
    Chapter("gemini-cli", "gemini", "print at 42 columns, because the paper is that wide", "printer"),
    Chapter("copilot", "copilot", "open the drawer last, because customers wait for it", "drawer"),
    Chapter("pi", "pi", "count the drawer at midnight, because nobody sells then", "counting"),
    Chapter("qwen-code", "qwen", "close the till by hand, because reports need a name", "closing"),
)


@dataclass
class Story:
    """Seven agents of one user, and the run of each; `installed` is what the installation said."""

    memory: Memory
    agents: dict[str, Headless]
    installed: dict[str, list[dict[str, str]]]
    runs: list[Run]

    @property
    def claude(self) -> Headless:
        return self.agents["claude-code"]


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory, loopback: Loopback) -> Iterator[Story]:
    """Backstory is installed without a word about agents; then each of them does its chapter."""
    folder = tmp_path_factory.mktemp("seven")
    project = repository(folder / "project")
    found = folder / "programs"
    found.mkdir()
    model = Model(loopback.listen())
    with remembering(folder / "home") as memory:
        agents = {
            name: driver(program(name), project, model, memory, loopback) for name, driver in DRIVERS.items()
        }
        for chapter in CHAPTERS:
            (found / chapter.program).symlink_to(agents[chapter.agent].program)
            agents[chapter.agent].settle()
        memory.extra["PATH"] = f"{found}:{memory.environment['PATH']}"
        installed = memory.ask("install", "--yes")
        memory.hurry(1)
        yield Story(memory, agents, installed, [play(agents[each.agent], each) for each in CHAPTERS])
        memory.rests()
    model.close()


def play(agent: Headless, chapter: Chapter) -> Run:
    """The check fails, the module is written, the check passes, and the agent says what it has done."""
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


def test_all_seven_are_found_and_connected_by_one_command(story: Story) -> None:
    assert [chapter.agent for chapter in CHAPTERS] == list(story.agents)
    assert {plan["agent"] for plan in story.installed["agents"]} == set(story.agents)


def test_each_agent_goes_on_where_the_others_stopped_and_the_sixth_knows_what_the_first_decided(
    story: Story,
) -> None:
    assert story.runs[0].requests[0].injections() == []
    for number, run in enumerate(story.runs[1:], 1):
        brief = run.brief
        for earlier in CHAPTERS[max(0, number - DECISIONS) : number]:
            row(brief, earlier.agent, earlier.settled)
        row(brief, CHAPTERS[number - 1].agent, f"{CHAPTERS[number - 1].module}.py")
    row(story.runs[DECISIONS].brief, "claude-code", "keep amounts in whole cents", "floats lose money")


def test_the_first_one_taken_up_again_hears_of_the_latest_others_and_not_of_itself(story: Story) -> None:
    taken_up = story.claude.run("Go on", resume=story.runs[0].session)
    story.memory.rests()
    assert taken_up.session == story.runs[0].session
    for chapter in CHAPTERS[-DECISIONS:]:
        row(taken_up.brief, chapter.agent, chapter.settled)
    assert "amounts.py" not in taken_up.brief, "that stands in its conversation"


def test_their_own_histories_tell_nothing_that_hooks_had_not_told(story: Story) -> None:
    stored = story.memory.status()["events"]
    kept = story.memory.ask("import", "--min-messages", "0", "--again")
    assert (kept["events"], kept["errors"]) == (0, 0)
    assert story.memory.status()["events"] == stored


def test_a_memory_that_only_has_their_histories_knows_the_same(story: Story) -> None:
    """Somebody who worked with all seven for long installs Backstory today: another home, all the same past."""
    today = replace(story.memory, home=story.memory.home.with_name("today"))
    told = today.ask("install", "--yes")
    assert (told["imported"]["new"], told["imported"]["errors"]) == (len(CHAPTERS), 0)
    assert told["telling"]
    for memory in told["telling"]:
        assert memory["text"] in today.cli("show", memory["id"]).stdout
    today.hurry(1)

    story.claude.model.when("What now", Say("Let me see."))
    run = replace(story.claude, memory=today).run("What now?")
    today.rests()

    for chapter in CHAPTERS[-DECISIONS:]:
        row(run.brief, chapter.agent, chapter.settled)
    for chapter in CHAPTERS:
        assert today.search(chapter.decided, story.claude.project)[0]["agent"] == chapter.agent
