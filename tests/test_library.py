"""`backstory.open()`, as a program uses it; and what other programs read of the package."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import backstory
from backstory.errors import BackstoryError
from tests.story import House

ROOT = Path(__file__).parents[1]
PLUGIN = ROOT / "plugins" / "claude-code"


@pytest.fixture
def told(house: House) -> House:
    story = house.session().starts().prompts("Which queue?").edits("queue.py")
    story.stops("We decided to use NATS instead of Kafka, because it is one binary.").ends()
    house.works()
    return house


def test_a_program_reads_and_adds_what_the_next_session_is_told(told: House) -> None:
    with backstory.open(told.project, told.home.root) as memory:
        assert "NATS" in memory.brief()
        assert any("NATS" in hit.text for hit in memory.search("which queue do we use"))
        [decision] = memory.memories(["decision"])
        assert decision.reason
        kept = memory.remember("Never deploy on a Friday, because nobody watches")
        assert kept.id in {each.id for each in memory.memories()}


def test_a_kind_that_does_not_exist_is_refused(told: House) -> None:
    with backstory.open(told.project, told.home.root) as memory, pytest.raises(ValueError, match="dream"):
        memory.memories(["dream"])


def test_an_empty_home_says_nothing_and_an_empty_note_is_refused(house: House) -> None:
    with backstory.open(house.project, house.home.root) as memory:
        assert (memory.brief(), memory.memories()) == ("", [])
        with pytest.raises(BackstoryError):
            memory.remember("  ")


def test_importing_the_package_loads_nothing_of_it() -> None:
    code = "import sys, backstory; print([name for name in sys.modules if name.startswith('backstory.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_page_about_python_says_what_there_is() -> None:
    page = (ROOT / "docs" / "python.md").read_text("utf-8")
    for name in ("open", "brief", "search", "memories", "remember"):
        assert f"`{name}(" in page or f"`backstory.{name}(" in page


def test_the_registry_entry_of_the_server_names_this_version() -> None:
    said = json.loads((ROOT / "server.json").read_text("utf-8"))
    package = said["packages"][0]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert (said["version"], package["version"]) == (backstory.__version__,) * 2
    assert package["identifier"] == project["name"]
    assert package["packageArguments"] == [{"type": "positional", "value": "mcp"}]


@pytest.mark.parametrize(
    "file", sorted(PLUGIN.glob("commands/*.md")) + sorted(PLUGIN.glob("skills/*/SKILL.md"))
)
def test_every_command_that_the_plugin_names_is_one_of_ours(file: Path) -> None:
    from backstory.cli import cli

    head, _, body = file.read_text("utf-8").removeprefix("---").partition("---")
    said = dict(line.split(": ", 1) for line in head.strip().splitlines())
    assert len(said["description"]) > 20
    if file.name == "SKILL.md":
        assert said["name"] == file.parent.name
    named = {part.split()[0] for part in f"{said.get('allowed-tools', '')} {body}".split("backstory ")[1:]}
    assert named
    assert {name.strip("`:*),") for name in named} <= {*cli.list_commands(None)}  # type: ignore[arg-type]
