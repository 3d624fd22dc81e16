"""The official SDK as the client: it holds us to the standard, in each era that it speaks."""

import asyncio
import sys
from pathlib import Path

import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from backstory.model import MemoryKind
from mcp import ClientSession, types
from tests.story import House


@pytest.mark.parametrize("mode", ["legacy", "auto", "2026-07-28"])
def test_the_official_client_lists_calls_and_reads(house: House, project: Path, mode: str) -> None:
    house.sets("mcp.answer_seconds", "60")  # a slow machine is no failure
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-I", "-m", "backstory.mcp"],
        env={"BACKSTORY_HOME": str(house.home.root)},
        cwd=project,
    )

    async def talk() -> tuple[list[str], str, str]:
        async with Client(stdio_client(parameters), mode=mode) as client:
            tools = [tool.name for tool in (await client.list_tools()).tools]
            await client.call_tool("remember", {"text": "The staging database is called tortoise"})
            found = await client.call_tool("search", {"query": "staging database"})
            resources = (await client.list_resources()).resources
            read = await client.read_resource(str(resources[0].uri))
            return tools, found.content[0].text, read.contents[0].text  # type: ignore[union-attr]

    tools, found, brief = asyncio.run(talk())
    assert tools == ["search", "timeline", "get", "remember", "forget", "status"]
    assert "tortoise" in found
    assert "tortoise" in brief


@pytest.mark.filterwarnings("ignore:The roots capability is deprecated")  # older clients go on having it
def test_the_first_call_goes_to_the_folder_that_the_client_names(
    house: House, project: Path, tmp_path: Path
) -> None:
    """Roots come after the handshake: whoever calls at once must not be heard elsewhere, nor after a change."""
    house.sets("mcp.answer_seconds", "60")  # a slow machine is no failure
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-I", "-m", "backstory.mcp"],
        env={"BACKSTORY_HOME": str(house.home.root)},
        cwd=project,
    )
    places = {name: tmp_path / name for name in ("blog", "atlas")}
    for place in places.values():
        place.mkdir()
    named = [places["blog"]]

    async def roots(context: object) -> types.ListRootsResult:
        await asyncio.sleep(0.1)
        return types.ListRootsResult(roots=[types.Root(uri=named[0].as_uri())])  # type: ignore[arg-type]

    async def talk() -> None:
        async with (
            stdio_client(parameters) as (reads, writes),
            ClientSession(reads, writes, list_roots_callback=roots) as session,
        ):
            await session.initialize()
            await session.call_tool("remember", {"text": "Posts appear on Sundays"})
            named[0] = places["atlas"]
            await session.send_roots_list_changed()
            await session.call_tool("remember", {"text": "Tiles are 512 pixels wide"})

    asyncio.run(talk())
    house.works()
    said = {project.name: project.id for project in house.store.projects.all()}
    assert set(said) == {"blog", "atlas"}
    for name, text in (("blog", "Sundays"), ("atlas", "512 pixels")):
        assert [
            text in memory.text for memory in house.store.memories.of_project(said[name], list(MemoryKind), 9)
        ] == [True]
