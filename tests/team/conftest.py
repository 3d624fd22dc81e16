"""A PostgreSQL for all tests of a process, a site and a team for each."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

if not os.environ.get("CI"):  # there a missing one fails
    pytest.importorskip("psycopg")

from backstory.team.embedded_postgres import EmbeddedPostgres
from backstory.team.team_site import TeamSite
from tests.team import desk


@pytest.fixture(scope="session")
def running() -> Iterator[EmbeddedPostgres]:
    with desk.postgres() as found:
        yield found


@pytest.fixture
def site(running: EmbeddedPostgres, tmp_path: Path) -> Iterator[TeamSite]:
    with desk.site(running, tmp_path / "graves.jsonl") as found:
        yield found


@pytest.fixture
def owner(site: TeamSite) -> desk.Device:
    return desk.founded(site)


@pytest.fixture
def ada(owner: desk.Device) -> desk.Device:
    return desk.joined(owner.site, owner.invites("Ada"), "ada-1")


@pytest.fixture
def bob(owner: desk.Device) -> desk.Device:
    return desk.joined(owner.site, owner.invites("Bob"), "bob-1")
