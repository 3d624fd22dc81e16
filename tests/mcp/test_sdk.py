"""The official SDK as the client: it holds us to the standard, in each era that it speaks."""

import asyncio
import sys
from pathlib import Path

import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.story import House


@pytest.mark.parametrize("mode", ["legacy", "auto", "2026-07-28"])
def test_the_official_client_lists_calls_and_reads(house: House, project: Path, mode: str) -> None:
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
