"""The stage: a network without a way out, a scripted model, a user's home, a project under git."""

from __future__ import annotations

import contextlib
import functools
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .clients import Unavailable, client
from .headless import Headless
from .loopback import Loopback
from .memory import Memory
from .model import Model
from .repository import repository

_loud: list[str] = []


def pytest_sessionfinish(session: pytest.Session) -> None:
    with contextlib.suppress(AttributeError):  # only a worker of xdist has it, and no summary of its own
        session.config.workeroutput["loud"] = _loud  # type: ignore[attr-defined]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    _loud.extend(getattr(node, "workeroutput", {}).get("loud", []))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for line in dict.fromkeys(_loud):
        terminalreporter.write_line(f"!!! {line}", yellow=True, bold=True)


@functools.cache
def found(name: str) -> Path | Unavailable:
    """The client's program, or why there is none; asked once, since npm takes its time to fail."""
    try:
        return client(name)
    except Unavailable as reason:
        return reason


def program(name: str) -> Path:
    """The client's program; without it the tests are skipped loudly, and in CI they fail."""
    there = found(name)
    if isinstance(there, Path):
        return there
    words = f"SKIPPED: every test with the real {name} client: {there}"
    if os.environ.get("CI") == "true":
        pytest.fail(words)
    _loud.append(words)
    pytest.skip(words)


@pytest.fixture(scope="session")
def loopback() -> Iterator[Loopback]:
    opened = Loopback.open()
    if opened.notice:
        _loud.append(opened.notice)
    yield opened
    opened.close()


@pytest.fixture
def model(loopback: Loopback) -> Iterator[Model]:
    serving = Model(loopback.listen())
    yield serving
    serving.close()


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with remembering(tmp_path / "home") as yours:
        yield yours


@contextlib.contextmanager
def remembering(user_home: Path) -> Iterator[Memory]:
    """The memory of somebody whose home is made here."""
    user_home.mkdir()
    yours = Memory(user_home / "memory", user_home)
    yield yours
    for worker in yours.workers():  # it would end by itself in a few seconds; nobody waits for it here
        with contextlib.suppress(ProcessLookupError):
            os.kill(worker, signal.SIGKILL)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with one commit."""
    return repository(tmp_path / "project")


@pytest.fixture
def bare_agent(
    driver: type[Headless], project: Path, model: Model, memory: Memory, loopback: Loopback
) -> Headless:
    """The client alone; which one its suite is about, that one's `driver` says."""
    return driver(program(driver.name), project, model, memory, loopback)


@pytest.fixture
def agent(bare_agent: Headless) -> Headless:
    """The client with its memory."""
    bare_agent.settle()
    bare_agent.memory.install(bare_agent.name)
    return bare_agent
