"""Servers of the house, started as agents start them."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.mcp.server import Server
from tests.story import House


@pytest.fixture
def starts(house: House, project: Path) -> Iterator[Callable[..., Server]]:
    """Starts servers of the house, in the project unless told otherwise."""
    running: list[Server] = []
    house.installs()

    def start(cwd: Path = project, **environment: str) -> Server:
        running.append(Server(house.home.root, cwd, **environment))
        return running[-1]

    yield start
    for server in running:
        server.process.kill()
        if server.process.stdin and not server.process.stdin.closed:
            server.process.communicate()


@pytest.fixture
def server(starts: Callable[..., Server]) -> Server:
    return starts()
