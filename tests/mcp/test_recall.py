"""What an agent gets when it asks its memory in the middle of its work."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import backstory
from tests.story import House

from .server import Server


def test_an_agent_does_not_get_its_own_question_back(house: House, server: Server) -> None:
    house.session().starts().prompts("Cut the tortoise release from stable").stops(
        "It is cut from stable."
    ).ends()
    house.session().starts().prompts("Where is the tortoise release cut from?")
    house.works()
    found = server.call("search", query="where is the tortoise release cut from")
    assert "from stable" in found
    assert "Where is the tortoise" not in found


def test_what_is_imported_while_the_server_runs_is_found_without_a_restart(
    house: House, server: Server, tmp_path: Path
) -> None:
    """MP-35"""
    assert "Nothing relevant" in server.call("search", query="zebra crossing", all=True)
    elsewhere = House(tmp_path / "elsewhere", house.project)
    story = elsewhere.told()
    story.transcript = tmp_path / "user" / ".claude" / "projects" / "-shop" / f"{story.session}.jsonl"
    story.prompts("Paint the zebra crossing").runs("make zebra", "painted").stops(
        "The zebra crossing is white."
    )
    done = subprocess.run(
        [sys.executable, "-m", "backstory", "import", "claude-code", "--json"],
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path / "user"),
            "BACKSTORY_HOME": str(house.home.root),
        },
        cwd=house.project,
        capture_output=True,
        text=True,
    )
    assert json.loads(done.stdout)["new"] == 1, done.stderr
    assert "zebra crossing is white" in server.call("search", query="zebra crossing", all=True)


def test_the_server_works_from_an_environment_that_has_nothing_but_backstory(tmp_path: Path) -> None:
    """MP-36: no package of this environment is visible but what is declared, and not even numpy is missed."""
    place = tmp_path / "tool"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place], check=True)
    packages = next(place.glob("lib/python*/site-packages"))
    shutil.copytree(
        Path(backstory.__file__).parent, packages / "backstory", ignore=shutil.ignore_patterns("__pycache__")
    )
    for name in ("click", "rich", "tomlkit"):
        (packages / name).symlink_to(Path(find_spec(name).origin).parent)  # type: ignore[union-attr, arg-type]
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
        *(
            {"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": {"name": name, "arguments": given}}
            for n, (name, given) in enumerate(
                (
                    ("remember", {"text": "Releases are cut from stable"}),
                    ("search", {"query": "releases cut"}),
                    ("timeline", {}),
                    ("status", {}),
                ),
                3,
            )
        ),
    ]
    done = subprocess.run(
        [place / "bin" / "python", "-I", "-m", "backstory", "mcp"],
        input="".join(json.dumps(message) + "\n" for message in messages),
        env={"PATH": os.environ["PATH"], "BACKSTORY_HOME": str(tmp_path / "home")},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert "ModuleNotFoundError" not in done.stderr + done.stdout, done.stderr
    answers = {answer["id"]: answer["result"] for answer in map(json.loads, done.stdout.splitlines())}
    assert sorted(answers) == [1, 2, 3, 4, 5, 6]
    assert not any(answer.get("isError") for answer in answers.values())
    found = answers[4]["content"][0]["text"]
    assert "cut from stable" in found
    assert "pip install numpy" in found, "it says that it could be better"


def test_get_tells_an_event_with_at_most_some_of_its_payload(
    house: House, starts: Callable[..., Server]
) -> None:
    """CCE-59: 4,000 characters of what the agent sent; the text itself is whole, page by page."""
    story = house.session().prompts("Look").runs("cat log", "word " * 4_000 + "the end").stops("Done.")
    house.works()
    [event] = [e for e in house.stored(story) if e.event.tool == "Bash"]
    server, text, offset = starts(), "", 0
    while True:
        page = server.call("get", handle=event.id, offset=offset)
        text += page
        if "offset=" not in page:
            break
        offset = int(page.rsplit("offset=", 1)[1].split("]")[0])
    assert "the end" in text
    assert "--raw` prints it" in text
    assert len(text.split("As the agent sent it:")[1]) < 4_200


def test_a_time_that_holds_nothing_is_told(house: House, server: Server) -> None:
    house.session().starts().prompts("Cut the tortoise release").stops("It is cut.").ends()
    house.works()
    found = server.call("search", query="what did we do in 2019")
    assert "\nNothing of 2019 is remembered in this project. The nearest after: " in found
    assert "all=true" in found
    assert "these are of other times" in server.call("search", query="tortoise release in 2019")
