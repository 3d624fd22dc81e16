"""One browser and one sample home for all; a fresh window, let in, for each test."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser import chromium
from tests.browser.sample import fill
from tests.story import House
from tests.web.viewer import Viewer

expect.set_options(timeout=30_000)  # a busy machine is slow, and not wrong

_loud: list[str] = []


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for line in dict.fromkeys(_loud):
        terminalreporter.write_line(f"!!! {line}", yellow=True, bold=True)


def missing(reason: chromium.Unavailable) -> None:
    """Without a browser the tests are skipped loudly, and in CI they fail."""
    words = f"SKIPPED: every test of the viewer in a browser: {reason}"
    if os.environ.get("CI") == "true":
        pytest.fail(words)
    _loud.append(words)
    pytest.skip(words)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    try:
        chromium.program()
    except chromium.Unavailable as reason:
        missing(reason)
    with chromium.started() as started:
        yield started


@dataclass(frozen=True)
class Stage:
    """A home that the sample filled, and its viewer."""

    house: House
    viewer: Viewer


@pytest.fixture(scope="session")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    house = fill(tmp_path_factory.mktemp("sample"))
    viewer = Viewer(house.home.root)
    yield Stage(house, viewer)
    viewer.kill()
    house.close()


Opens = Callable[..., Page]


@pytest.fixture
def opens(browser: Browser, stage: Stage) -> Iterator[Opens]:
    """Opens a page of the viewer in a window of its own; no page may log an error."""
    contexts: list[BrowserContext] = []
    errors: list[str] = []

    def start(path: str = "/", **options: Any) -> Page:
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.goto(stage.viewer.url + stage.viewer.ask("POST", "/links").json["link"])
        page.goto(stage.viewer.url + path)
        return page

    yield start
    for context in contexts:
        context.close()
    assert errors == []


@pytest.fixture(scope="session")
def axe() -> str:
    try:
        return chromium.axe()
    except chromium.Unavailable as reason:
        missing(reason)
        raise
