"""Forgetting through MCP: what would go is told first, and only what was told goes."""

import asyncio
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from backstory.mcp import calls, forgetting
from backstory.mcp.tools import TOOLS
from tests.story import House, Story

from .server import Server

TOOL = next(tool for tool in TOOLS if tool["name"] == "forget")


def code_in(told: str) -> str:
    found = re.search(r'confirm="([^"]+)"', told)
    assert found, told
    return found[1]


def lived(house: House, what: str = "tortoise") -> Story:
    """A session that speaks of something."""
    story = house.session().starts().prompts(f"Move the {what} release to stable")
    story.runs(f"make {what}", "done").stops(f"The {what} release is on stable.").ends()
    house.works()
    return story


def test_the_first_call_tells_what_would_go_and_forgets_nothing(house: House, server: Server) -> None:
    story = lived(house)
    told = server.call("forget", handle=story.id[:9])
    assert "Nothing is forgotten yet" in told
    assert "1 sessions" in told
    assert "Move the tortoise release" in told
    assert "within 10 minutes" in told
    assert "tortoise" in server.call("search", query="tortoise release")
    assert len(house.stored(story)) > 3


def test_the_second_call_with_the_code_forgets_to_the_last_byte(house: House, server: Server) -> None:
    lived(house)
    lived(house, "hare")
    done = server.call("forget", confirm=code_in(server.call("forget", text="tortoise")))
    assert done.splitlines()[1].startswith("Forgotten: ")
    assert "tortoise" not in done
    assert "Nothing relevant" in server.call("search", query="tortoise release")
    assert "hare" in server.call("search", query="hare release")
    assert house.found_in_home("tortoise") == []


def test_a_code_is_good_for_once(house: House, server: Server) -> None:
    lived(house)
    code = code_in(server.call("forget", text="tortoise"))
    server.call("forget", confirm=code)
    assert "nothing was forgotten" in server.fails("forget", confirm=code)


def test_a_code_of_another_process_is_refused_with_what_to_do(
    house: House, starts: Callable[..., Server]
) -> None:
    story = lived(house)
    code = code_in(starts().call("forget", handle=story.id))
    refused = starts().fails("forget", confirm=code)
    assert "nothing was forgotten. Call forget with a handle or text" in refused
    assert len(house.stored(story)) > 3


def test_what_has_changed_since_it_was_told_is_not_forgotten(house: House, server: Server) -> None:
    story = lived(house)
    code = code_in(server.call("forget", text="tortoise"))
    house.session().starts().prompts("Feed the tortoise").stops("It is fed.").ends()
    assert "has changed since it was told: nothing was forgotten" in server.fails("forget", confirm=code)
    assert "unknown here" in server.fails("forget", confirm=code), "it does not come back to life"
    assert len(house.stored(story)) > 3
    server.call("forget", confirm=code_in(server.call("forget", text="tortoise")))
    assert house.found_in_home("tortoise") == []


def test_a_session_that_went_on_is_not_forgotten_by_the_code_of_before(house: House, server: Server) -> None:
    story = lived(house)
    code = code_in(server.call("forget", handle=story.id))
    story.prompts("And tag it").stops("Tagged.")
    assert "has changed" in server.fails("forget", confirm=code)
    assert "tortoise" in server.call("search", query="tortoise release")


def test_our_own_answers_about_it_are_no_change(house: House, server: Server) -> None:
    """An agent that looks it up on the command line before it confirms is not sent round in circles."""
    story = lived(house)
    code = code_in(server.call("forget", text="tortoise"))
    story.runs("backstory search tortoise", "1 hit: tortoise")
    server.call("forget", confirm=code)
    assert house.found_in_home("tortoise") == []


def test_a_code_grows_old(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    story = lived(house)
    house.sets("mcp.answer_seconds", "60")
    monkeypatch.setenv("BACKSTORY_HOME", str(house.home.root))
    told, failed = calls.call(TOOL, {"handle": story.id}, str(house.project))
    assert not failed
    monkeypatch.setattr(forgetting, "now", lambda: time.monotonic() + 11 * 60)
    refused, failed = calls.call(TOOL, {"confirm": code_in(told)}, str(house.project))
    assert failed
    assert "older than 10 minutes: nothing was forgotten" in refused
    assert len(house.stored(story)) > 3


def test_words_are_forgotten_in_this_project_unless_all_is_said(
    house: House, server: Server, tmp_path: Path
) -> None:
    lived(house)
    there = tmp_path / "elsewhere"
    there.mkdir()
    other = house.session(there).starts().prompts("Paint the tortoise").stops("Painted.").ends()
    house.works()
    server.call("forget", confirm=code_in(server.call("forget", text="tortoise")))
    assert any("tortoise" in event.text for event in house.events(other))
    assert "There is nothing of that kind in this project" in server.call("forget", text="tortoise")
    server.call("forget", confirm=code_in(server.call("forget", text="tortoise", all=True)))
    assert house.found_in_home("tortoise") == []


def test_words_of_another_project_are_nothing_here_and_its_next_session_is_told_all_the_same(
    house: House, server: Server, tmp_path: Path
) -> None:
    lived(house)
    blog = tmp_path / "blog"
    blog.mkdir()
    house.session(blog).starts().prompts("We decided to publish posts on Sundays").stops("Noted.").ends()
    house.works()
    assert "There is nothing of that kind in this project" in server.call("forget", text="Sundays")
    assert "Sundays" in house.brief(blog).text


def test_wrong_calls_are_explained(server: Server) -> None:
    assert "give a handle (of a memory, event or session) or text" in server.fails("forget")
    assert "too short" in server.fails("forget", text="a")
    assert "nothing has the handle" in server.fails("forget", handle="m12345678")
    assert "nothing was forgotten" in server.fails("forget", confirm="yes")


def test_a_code_stands_alone(house: House, server: Server) -> None:
    """Who gives words along means them, and they are not what the code stands for."""
    story = lived(house)
    code = code_in(server.call("forget", text="tortoise"))
    for more in ({"text": "hare"}, {"handle": story.id}, {"all": True}):
        assert "stands alone: nothing was forgotten" in server.fails("forget", confirm=code, **more)
    assert len(house.stored(story)) > 3
    server.call("forget", confirm=code, text="", handle=" ", all=False)
    assert house.found_in_home("tortoise") == []


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_the_official_client_forgets_in_two_steps(house: House, project: Path, mode: str) -> None:
    house.sets("mcp.answer_seconds", "60")  # a slow machine is no failure
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-I", "-m", "backstory.mcp"],
        env={"BACKSTORY_HOME": str(house.home.root)},
        cwd=project,
    )
    lived(house)

    async def talk() -> str:
        async with Client(stdio_client(parameters), mode=mode) as client:
            told = await client.call_tool("forget", {"text": "tortoise"})
            code = code_in(told.content[0].text)  # type: ignore[union-attr]
            await client.call_tool("forget", {"confirm": code})
            found = await client.call_tool("search", {"query": "tortoise release"})
            return str(found.content[0].text)  # type: ignore[union-attr]

    assert "Nothing relevant" in asyncio.run(talk())
    assert house.found_in_home("tortoise") == []
