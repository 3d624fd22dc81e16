"""At work: what real agents' models are told with a prompt, before a command that failed here, after an error.

Which agent takes a note where is data (`HookEvent.note`); here the requests that models receive prove it.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .claude_code.claude import Claude
from .codex.driver import Codex
from .drivers import DRIVERS
from .headless import Headless
from .loopback import Loopback
from .model import Say, Shell
from .twofold import on_stage

pytestmark = pytest.mark.clients

DECISION = "We decided to round discounts half-even because the auditors want banker's rounding."
PROMPT = "Look at how discount rounding is done for the auditors"
BEFORE = "about such a call"
AFTER = "about such an error"
WITH_PROMPT = "From earlier sessions here, perhaps of use"


def remember_the_fix(agent: Headless) -> None:
    """A session in which a command fails and an other one mends it."""
    (agent.project / "load.py").write_text(
        "import pathlib, sys\n"
        "if not pathlib.Path('settings.ini').exists():\n"
        "    sys.exit('ConfigurationMissing: the settings file was never generated')\n"
        "print('loaded')\n"
    )
    (agent.project / "generate.py").write_text("open('settings.ini', 'w').write('x')\n")
    agent.model.when(
        "Load the settings",
        Shell("python3 load.py"),
        Shell("python3 generate.py"),
        Shell("python3 load.py"),
        Say("Loaded."),
    )
    agent.run("Load the settings")
    agent.memory.rests()
    (agent.project / "settings.ini").unlink()


def remember_the_way(agent: Headless) -> None:
    """A session in which a command fails, and works in another spelling."""
    (agent.project / "load.py").write_text(
        "import sys\n"
        "if '--defaults' not in sys.argv:\n"
        "    sys.exit('ConfigurationMissing: the settings file was never generated')\n"
        "print('loaded')\n"
    )
    agent.model.when(
        "Load the settings",
        Shell("python3 load.py"),
        Shell("python3 load.py --defaults"),
        Say("Loaded."),
    )
    agent.run("Load the settings")
    agent.memory.rests()


def told(request: object, words: str) -> int:
    """How often the model was told this in one request."""
    return json.dumps(request.body, ensure_ascii=False).count(words)  # type: ignore[attr-defined]


def no_brief(agent: Headless) -> None:
    """Only notes at work are to be seen: the brief, which would tell the same, is switched off."""
    agent.memory.cli("config", "brief.sources", "")


@pytest.mark.parametrize("driver", [Claude, Codex], ids=lambda driver: driver.name)
def test_before_a_command_that_failed_here_the_model_is_warned_with_the_way_that_works(
    driver: type[Headless], tmp_path: Path, loopback: Loopback
) -> None:
    with on_stage(driver, tmp_path, loopback) as agent:
        remember_the_way(agent)
        no_brief(agent)
        agent.model.when("Try it", Shell("python3 load.py"), Shell("python3 load.py"), Say("It fails."))
        run = agent.run("Try it again")

        assert [told(request, BEFORE) for request in run.requests] == [0, 1, 1], "once, before the first"
        said = json.dumps(run.requests[1].body, ensure_ascii=False)
        assert "python3 load.py --defaults" in said
        assert "ConfigurationMissing" in said
        agent.memory.rests()
        prompts = [
            event["text"] for event in agent.memory.timeline(agent.project) if event["kind"] == "prompt"
        ]
        assert prompts == ["Try it again", "Load the settings"], "what we said is nobody's prompt"
        assert BEFORE not in json.dumps(agent.memory.timeline(agent.project))


def test_after_an_error_whose_fix_is_known_the_model_is_told_it(tmp_path: Path, loopback: Loopback) -> None:
    with on_stage(Claude, tmp_path, loopback) as agent:
        remember_the_fix(agent)
        no_brief(agent)
        agent.model.when("Try it", Shell("python3 -u load.py"), Say("It fails."))
        run = agent.run("Try it another way")

        assert [told(request, BEFORE) for request in run.requests] == [0, 0], "never tried in this spelling"
        assert [told(request, AFTER) for request in run.requests] == [0, 1]
        assert "python3 generate.py" in json.dumps(run.requests[1].body)


@pytest.mark.parametrize("name", ["claude-code", "codex", "gemini-cli", "copilot", "qwen-code"])
def test_a_prompt_on_a_known_matter_brings_its_note_and_another_brings_nothing(
    name: str, tmp_path: Path, loopback: Loopback
) -> None:
    with on_stage(DRIVERS[name], tmp_path, loopback) as agent:
        agent.model.when("We decided", Say("Understood."))
        agent.run(DECISION)
        agent.memory.rests()
        no_brief(agent)
        agent.model.when("Look at how", Say("Let me see."))
        agent.model.when("Tell me a joke", Say("Ha."))
        asked = agent.run(PROMPT)
        other = agent.run("Tell me a joke")

        assert told(asked.requests[0], WITH_PROMPT) == 1
        assert "half-even" in json.dumps(asked.requests[0].body)
        assert told(other.requests[0], WITH_PROMPT) == 0
        agent.memory.rests()
        prompts = {
            event["text"] for event in agent.memory.timeline(agent.project) if event["kind"] == "prompt"
        }
        assert prompts == {DECISION, PROMPT, "Tell me a joke"}, "notes are no part of what was typed"
