"""Forgetting through MCP: what would go is told first, and only what was told goes."""

import asyncio
import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from backstory import worker_loop
from backstory.app import App
from backstory.cli import cli
from backstory.knowledge.vault import vault_of
from backstory.mcp import forget_tool, tool_calls
from backstory.mcp.tool_schemas import TOOLS
from backstory.recall import prepare
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
    assert "tortoise" not in server.call("search", query="tortoise release")
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
    worker_loop.run_rounds(
        house.home, linger=0
    )  # the log is written, or the worker of the second call would do that
    code = code_in(server.call("forget", text="tortoise"))
    story.runs("backstory search tortoise", "1 hit: tortoise")
    server.call("forget", confirm=code)
    assert house.found_in_home("tortoise") == []


def test_a_code_grows_old(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    story = lived(house)
    house.sets("mcp.answer_seconds", "60")
    monkeypatch.setenv("BACKSTORY_HOME", str(house.home.root))
    told, failed = tool_calls.call_tool(TOOL, {"handle": story.id}, str(house.project))
    assert not failed
    monkeypatch.setattr(forget_tool, "now", lambda: time.monotonic() + 11 * 60)
    refused, failed = tool_calls.call_tool(TOOL, {"confirm": code_in(told)}, str(house.project))
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
    refused = server.call("forget", text="tortoise", all=True)
    assert "Paint the tortoise" in refused
    assert "confirm=" not in refused
    assert "only the user can, with `backstory forget --text tortoise`" in refused


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


def counts(house: House) -> list[str]:
    return [notice for notice in prepare.notices(house.store) if notice.startswith("An agent forgot")]


def test_what_an_agent_forgot_is_counted_and_told_without_a_word_of_it(house: House, server: Server) -> None:
    lived(house)
    lived(house, "hare")
    assert counts(house) == []
    server.call("forget", confirm=code_in(server.call("forget", text="tortoise")))
    house.works()
    [told] = counts(house)
    assert re.fullmatch(r"An agent forgot \d+ events, \d+ memor\w+ for good on \d{4}-\d\d-\d\d, .*", told)
    assert told in house.brief().text
    assert told in server.call("status")
    house.close()
    env = {"BACKSTORY_HOME": str(house.home.root)}
    assert told[:40] in CliRunner().invoke(cli, ["status", "--json"], env=env).stdout
    assert house.found_in_home("tortoise") == []


def test_what_a_person_forgets_is_not_said_to_be_an_agents_doing(house: House) -> None:
    lived(house)
    house.close()
    env = {"BACKSTORY_HOME": str(house.home.root)}
    CliRunner().invoke(cli, ["forget", "--text", "tortoise", "--yes"], env=env)
    assert counts(house) == []


def test_what_an_agents_shell_forgets_is_told_as_an_agents_doing(house: House) -> None:
    lived(house)
    house.close()
    env = {"BACKSTORY_HOME": str(house.home.root), "CLAUDECODE": "1"}
    CliRunner().invoke(cli, ["forget", "--text", "tortoise", "--yes"], env=env)
    assert "by the tool or the command `forget`" in counts(house)[0]


@pytest.mark.parametrize("why", ["old", "many"])
def test_an_agent_alone_forgets_neither_what_is_old_nor_much(house: House, server: Server, why: str) -> None:
    if why == "old":
        then = time.time() - 2 * 86_400
        story = house.session().starts().prompts("Move the tortoise release to stable").stops("Moved.")
        for file in house.home.spool.iterdir():
            os.utime(file, (then, then))
    else:
        story = house.session().starts().prompts("Move the tortoise release to stable")
        for number in range(forget_tool.MOST_EVENTS):
            story.runs(f"make tortoise-{number}", "done")
        story.stops("Moved.")
    house.works()
    told = server.call("forget", text="tortoise")
    assert "confirm=" not in told
    assert "only the user can, with `backstory forget --text tortoise --project" in told
    assert house.stored(story)


def test_many_small_calls_are_no_way_around_the_limit(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    house.sets("mcp.answer_seconds", "60")
    monkeypatch.setenv("BACKSTORY_HOME", str(house.home.root))
    for animal in ("tortoise", "hare", "newt"):
        lived(house, animal)
    house.close()
    monkeypatch.setattr(forget_tool, "MOST_EVENTS", 7)
    answers = []
    for animal in ("tortoise", "hare", "newt"):
        told, _ = tool_calls.call_tool(TOOL, {"text": animal}, str(house.project))
        answers.append("confirm=" in told)
        if answers[-1]:
            tool_calls.call_tool(TOOL, {"confirm": code_in(told)}, str(house.project))
    assert answers[0]
    assert not answers[-1]


def written(house: House, folder: Path, day: str, text: str) -> Path:
    """A line that somebody wrote into the wiki of a folder's project on some day."""
    with App(house.home) as app:
        page = vault_of(house.home, app.project_at(folder)).root / "daily" / f"{day}.md"
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(f"# {day}\n\n{text}\n")
    return page


@pytest.mark.parametrize("whose", ["another project's", "old"])
def test_an_agent_alone_erases_no_wiki_text_of_another_project_or_of_before(
    house: House, server: Server, tmp_path: Path, whose: str
) -> None:
    lived(house)
    there = tmp_path / "elsewhere"
    there.mkdir()
    house.session(there).starts().prompts("Feed the cat").stops("It is fed.").ends()
    house.works()
    mine = whose == "old"
    page = written(house, house.project if mine else there, "2020-10-02", "The tortoise release is ACME's.")
    told = server.call("forget", text="tortoise", all=True)
    assert str(page) in told
    assert "confirm=" not in told
    assert "only the user can, with `backstory forget --text tortoise`" in told
    assert "tortoise" in page.read_text()


def test_an_agent_alone_deletes_no_copy_of_a_session_that_is_older(house: House, server: Server) -> None:
    story = house.told().starts().prompts("Feed the cat").stops("It is fed.")
    then = time.time() - 2 * 86_400
    for file in house.home.spool.iterdir():
        os.utime(file, (then, then))
    house.works()
    story.prompts("Move the tortoise release to stable").stops("Moved.")
    house.works()
    worker_loop.run_rounds(house.home, linger=0)
    kept = list(house.home.transcripts.iterdir())
    assert kept
    assert "confirm=" not in server.call("forget", text="tortoise")
    assert kept[0].exists()


def test_codes_that_were_collected_before_are_no_way_around_the_limit(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.sets("mcp.answer_seconds", "60")
    monkeypatch.setenv("BACKSTORY_HOME", str(house.home.root))
    animals = ("tortoise", "hare", "newt")
    for animal in animals:
        lived(house, animal)
    house.close()
    monkeypatch.setattr(forget_tool, "MOST_EVENTS", 7)
    codes = [
        code_in(tool_calls.call_tool(TOOL, {"text": animal}, str(house.project))[0]) for animal in animals
    ]
    answers = [tool_calls.call_tool(TOOL, {"confirm": code}, str(house.project)) for code in codes]
    assert not answers[0][1]
    assert answers[-1][1]
    assert (
        "a day by itself: nothing was forgotten. Only the user can, with `backstory forget" in answers[-1][0]
    )


def test_two_things_that_were_told_one_after_the_other_are_both_forgotten(
    house: House, server: Server
) -> None:
    """The worker writes the day's log in between: that is no change of what goes."""
    lived(house)
    lived(house, "hare")
    codes = [code_in(server.call("forget", text=animal)) for animal in ("tortoise", "hare")]
    worker_loop.run_rounds(house.home, linger=0)
    for code in codes:
        assert "Forgotten: " in server.call("forget", confirm=code)
        worker_loop.run_rounds(house.home, linger=0)
    assert house.found_in_home("tortoise") == []
    assert house.found_in_home("hare release") == []


class Asking(Server):
    """A client that can ask its user."""

    def begins(self) -> None:
        self.ask("initialize", capabilities={"elicitation": {}}, protocolVersion="2025-11-25")

    def confirms(self, code: str, **result: object) -> tuple[str, bool]:
        """Confirm a code; the user answers like that when the client asks."""
        call = {"name": "forget", "arguments": {"confirm": code}}
        self.send(json.dumps({"jsonrpc": "2.0", "id": 99, "method": "tools/call", "params": call}).encode())
        asked = self.hears()
        assert asked["method"] == "elicitation/create"
        assert "Move the tortoise release" in asked["params"]["message"]
        self.send(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}).encode())
        answer = self.hears()
        assert answer["id"] == 99
        return answer["result"]["content"][0]["text"], answer["result"]["isError"]


@pytest.fixture
def asking(house: House, project: Path) -> Iterator[Asking]:
    house.sets("mcp.answer_seconds", "60")
    client = Asking(house.home.root, project)
    client.begins()
    yield client
    client.ends()


@pytest.mark.parametrize(
    "answer",
    [{"action": "decline"}, {"action": "cancel"}, {"action": "accept", "content": {"forget": False}}, {}],
)
def test_a_client_that_can_ask_its_user_is_made_to_and_a_no_is_a_no(
    house: House, asking: Asking, answer: dict[str, object]
) -> None:
    story = lived(house)
    code = code_in(asking.call("forget", text="tortoise"))
    told, failed = asking.confirms(code, **answer)
    assert failed
    assert "nothing was forgotten" in told
    assert len(house.stored(story)) > 3


def test_what_the_user_agrees_to_may_be_old_and_elsewhere(
    house: House, asking: Asking, tmp_path: Path
) -> None:
    story = (
        house.session(tmp_path).starts().prompts("Move the tortoise release to stable").stops("Moved.").ends()
    )
    then = time.time() - 9 * 86_400
    for file in house.home.spool.iterdir():
        os.utime(file, (then, then))
    house.works()
    code = code_in(asking.call("forget", handle=story.id))
    told, failed = asking.confirms(code, action="accept", content={"forget": True})
    assert not failed, told
    assert "Forgotten: " in told
    assert house.found_in_home("tortoise") == []


def test_a_client_knows_which_tool_destroys() -> None:
    hints = {tool["name"]: tool["annotations"] for tool in TOOLS}
    assert hints["forget"]["destructiveHint"]
    assert [name for name, hint in hints.items() if not hint.get("readOnlyHint")] == ["remember", "forget"]
