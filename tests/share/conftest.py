"""A team for each test: one PostgreSQL for all of them."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytest.importorskip("psycopg")

from backstory.team.embedded_postgres import EmbeddedPostgres
from tests.conftest import Git, repository
from tests.share import team
from tests.team import desk

REMOTE = "git@github.com:acme/shop.git"


@pytest.fixture(scope="session")
def running() -> Iterator[EmbeddedPostgres]:
    with desk.postgres() as found:
        yield found


@pytest.fixture
def server(running: EmbeddedPostgres, tmp_path: Path) -> Iterator[team.TeamServer]:
    with team.serving(running, tmp_path / "graves.jsonl") as found:
        yield found


@pytest.fixture
def clone(tmp_path: Path, git: Git) -> Iterator[Callable[[str], team.Laptop]]:
    """A laptop of somebody, with a clone of the shop."""
    made: list[team.Laptop] = []

    def make(name: str) -> team.Laptop:
        folder = tmp_path / name
        folder.mkdir()
        made.append(team.laptop(folder / "home", repository(folder / "shop", git, REMOTE)))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.fixture
def ada(clone: Callable[[str], team.Laptop]) -> team.Laptop:
    return clone("ada")


@pytest.fixture
def bob(clone: Callable[[str], team.Laptop]) -> team.Laptop:
    return clone("bob")
