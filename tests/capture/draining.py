"""Draining without the rest of a round, and what it left."""

import pytest

from backstory.capture import quarantine
from backstory.capture.drain import Batch, Drain
from backstory.capture.project_lookup import ProjectLookup
from backstory.settings import load_settings
from tests.story import House, Story


def drain(house: House) -> Drain:
    settings = load_settings(house.home)[0]
    return Drain(house.home, settings, house.store, ProjectLookup(house.store, {}, settings.project_monorepo))


def drained(house: House) -> list[Batch]:
    """Drain everything and release it, without the rest of a round."""
    draining = drain(house)
    batches = []
    for batch in draining.batches():
        draining.release(batch)
        batches.append(batch)
    return batches


def kinds(house: House, story: Story) -> list[str]:
    return [event.kind.value for event in house.events(story)]


def quarantined(house: House) -> list[str]:
    """The reasons in quarantine."""
    return [reason for _, reason in quarantine.quarantined_files(house.home)]


@pytest.fixture
def story(house: House) -> Story:
    return house.session()


@pytest.fixture(autouse=True)
def quiet_git(monkeypatch: pytest.MonkeyPatch) -> None:
    """Asking git for a diffstat is another test's subject, and costs a process each time."""
    monkeypatch.setattr(ProjectLookup, "diffstat", lambda self, cwd: None)
