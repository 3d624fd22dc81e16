"""The stage: a network without a way out, a scripted model, a user's home, a project under git."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from .clients import Unavailable, client
from .loopback import Loopback
from .memory import Memory
from .model import Model

_loud: list[str] = []


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for line in _loud:
        terminalreporter.write_line(f"!!! {line}", yellow=True, bold=True)


def program(name: str) -> Path:
    """The client's program; without it the tests are skipped loudly, and in CI they fail."""
    try:
        return client(name)
    except Unavailable as reason:
        words = f"SKIPPED: every test with the real {name} client: {reason}"
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
    user_home = tmp_path / "home"
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


def repository(folder: Path) -> Path:
    folder.mkdir()
    (folder / "README.md").write_text("# A project\n")
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message=Begin")
    return folder


def git(folder: Path, *words: str) -> str:
    someone = ["-c", "user.name=Somebody", "-c", "user.email=somebody@example.org"]
    nobodys = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    done = subprocess.run(
        ["git", *someone, *words],
        cwd=folder,
        env={**os.environ, **nobodys},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout
