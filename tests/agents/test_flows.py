"""A session ends; the next one knows. What holds for several agents alike, a row for each.

What only one agent does stands in that one's own `test_flows.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from .copilot.driver import Copilot
from .gemini_cli.driver import Gemini
from .headless import Headless
from .loopback import Loopback
from .model import Edit, Shell, Write
from .qwen_code.driver import Qwen
from .twofold import ASKED, ASKED_AGAIN, DID, DONE, WORK, Story, on_stage, say_after, teach, tell

pytestmark = pytest.mark.clients


@dataclass(frozen=True)
class Flow:
    """What an agent does in the story, and what of it is known afterwards."""

    driver: type[Headless]
    live: tuple[str, ...]
    """The kinds of events that its hooks tell, tools left out."""
    told: frozenset[str]
    """The kinds that its history tells as well."""
    failed: str = "ls missing-folder"
    """A command that fails, with the beginning of what is stored of it."""
    failure: str = "Exit code 2\n"
    noise: str = "backstory"
    """What its results say beside the output."""
    brief: tuple[str, ...] = ("ls missing-folder → ls: cannot access",)
    """What the next session is told, among other things."""
    did: tuple[tuple[str, str, str], ...] = tuple(DID)
    prompt: str = WORK


WHOLE = ("session_started", "prompt", "said", "turn_ended", "session_ended")
FLOWS = {
    "gemini-cli": Flow(
        Gemini,
        WHOLE,
        frozenset({"prompt", "tool", "said"}),
        noise="PGID",
        brief=(Flow.brief[0], f"The agent said last: “{DONE}”"),
    ),
    "copilot": Flow(Copilot, WHOLE, frozenset({"prompt", "tool", "said", "turn_ended"}), noise="shellId"),
    "qwen-code": Flow(
        Qwen,
        WHOLE[:-1],  # it runs no hook at a session's end
        frozenset({"prompt", "tool", "said", "turn_ended"}),
        failed="python3 check.py",
        failure="Exit code 1\nTraceback",
        brief=("AssertionError",),
        did=(
            ("run", "echo größer", "ok"),
            ("write", "reader.py", "ok"),
            ("edit", "reader.py", "ok"),
            ("edit", "reader.py", "failed"),
            ("run", "python3 check.py", "failed"),
        ),
        prompt=f"{WORK} as in @notes.txt",
    ),
}


def prepare(agent: Headless) -> None:
    """The work of the story; Qwen Code has an edit that fails, a check, and a file that its prompt names."""
    if agent.name != "qwen-code":
        return teach(agent)
    reader = str(agent.project / "reader.py")
    (agent.project / "notes.txt").write_text("what the notes say\n")
    (agent.project / "check.py").write_text("from reader import SEPARATOR\nassert SEPARATOR == '|'\n")
    steps = (Write(reader, "SEPARATOR = ';'\n"), Edit(reader, "';'", "','"), Edit(reader, "nowhere", "x"))
    return say_after(agent, Shell("echo größer"), *steps, Shell("python3 check.py"))


@pytest.fixture(scope="module", params=FLOWS)
def flow(request: pytest.FixtureRequest) -> Flow:
    return FLOWS[request.param]


@pytest.fixture(scope="module")
def story(flow: Flow, tmp_path_factory: pytest.TempPathFactory, loopback: Loopback) -> Iterator[Story]:
    with on_stage(flow.driver, tmp_path_factory.mktemp(flow.driver.name), loopback) as agent:
        prepare(agent)
        yield tell(agent, flow.prompt, DONE)


def test_what_it_did_is_captured_with_the_right_outcomes(flow: Flow, story: Story) -> None:
    assert story.uses() == list(flow.did)
    failed = next(event for event in story.events if event["target"] == flow.failed)
    assert failed["text"].startswith(flow.failure)
    assert flow.noise not in failed["text"]
    assert tuple(event["kind"] for event in story.events if event["kind"] != "tool") == flow.live
    assert story.events[0]["reason"] == "startup"


def test_the_first_session_of_a_project_is_told_nothing(story: Story) -> None:
    assert story.first.requests[0].injections() == []


def test_the_next_session_is_told_of_it_once_also_when_it_is_taken_up_again(flow: Flow, story: Story) -> None:
    """Nothing was stored yet: it is told from what the hooks have left."""
    story.assert_told_once("reader.py")
    assert [words for words in flow.brief if words not in story.second.brief] == []
    assert story.second.brief.count(WORK) == 1


def test_what_it_was_told_does_not_become_memory(flow: Flow, story: Story) -> None:
    memory, project = story.agent.memory, story.agent.project
    prompts = [event["text"] for event in memory.timeline(project) if event["kind"] == "prompt"]
    assert prompts == [ASKED_AGAIN, ASKED, flow.prompt]
    brief = memory.cli("brief", "--cwd", str(project), "--agent", flow.driver.name).stdout
    assert brief.count("<backstory-notes") == 1
    assert brief.count(WORK) == 1


# MP-14, MP-22
def test_mp_14_hooks_and_history_tell_the_same_in_either_order_and_nothing_of_ours(
    flow: Flow, story: Story
) -> None:
    rows = story.assert_told_alike()
    assert {row[1] for row in rows} == flow.told
    assert {row[6] for row in rows if row[1] == "prompt"} == {flow.prompt, ASKED, ASKED_AGAIN}
