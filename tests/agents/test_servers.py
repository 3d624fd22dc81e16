"""The MCP server that install lists is understood by each client, which tells the model of it.

Codex lets newer models search for tools and tells them only what the server says of itself.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from backstory.mcp.tool_schemas import INSTRUCTIONS

from .conftest import program
from .drivers import DRIVERS
from .loopback import Loopback
from .memory import Memory
from .model import Model, Say, Shell
from .opencode.driver import Opencode

pytestmark = pytest.mark.clients

# pi has no MCP.
SPEAKING = [name for name in DRIVERS if name != "pi"]


@pytest.mark.parametrize("name", SPEAKING)
def test_the_model_is_offered_the_tools_of_the_server_that_install_listed(
    name: str, project: Path, model: Model, memory: Memory, loopback: Loopback
) -> None:
    agent = DRIVERS[name](program(name), project, model, memory, loopback)
    agent.settle()
    if isinstance(agent, Opencode):
        agent.config.mkdir(parents=True, exist_ok=True)
        (agent.config / "opencode.jsonc").write_text("{}\n")  # its driver writes the other one at each run
    memory.install(name)
    for seconds in (0, 5, 20):  # on a busy machine a client does not wait for a server that is slow to start
        model.when("Look", Shell("ls"), Shell(f"sleep {seconds}"), Say("Nothing here."))
        agent.run("Look around")
        offered = json.dumps([request.body for request in model.main_requests()])
        if "search" in _tools(offered) or INSTRUCTIONS in offered:
            return
    raise AssertionError("the server never got to the model")


def _tools(text: str) -> set[str]:
    """The last part of every word that names one of our tools, however a client joins them."""
    words = text.replace("\\", '"').split('"')
    return {word.replace("-", "_").rpartition("_")[2] for word in words if "backstory" in word}
