"""A viewer over a house; what runs when a test ends is ended with it."""

from collections.abc import Callable, Iterator

import pytest

from tests.story import House
from tests.web.viewer import Viewer


@pytest.fixture
def serves(house: House) -> Iterator[Callable[..., Viewer]]:
    """Starts viewers of the house."""
    running: list[Viewer] = []

    def start(*options: str, **environment: str) -> Viewer:
        running.append(Viewer(house.home.root, *options, **environment))
        return running[-1]

    yield start
    for viewer in running:
        viewer.kill()


@pytest.fixture
def viewer(serves: Callable[..., Viewer]) -> Viewer:
    return serves()
