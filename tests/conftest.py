"""What any test may ask for: a house that remembers, a project under git, git itself."""

import functools
import io
import os
import pickle
import signal
import sqlite3
import subprocess
import sys
import time
import warnings
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from backstory import attribution, worker_loop
from backstory.capture import import_process
from backstory.embed import minilm
from backstory.errors import BackstoryError
from backstory.paths import Home
from backstory.store import sqlite
from tests import made_once
from tests.story import CLOCK, House

settings.register_profile("unhurried", deadline=None)  # a slow machine is no failure
settings.load_profile("unhurried")
signal.signal(
    signal.SIGINT, signal.default_int_handler
)  # a shell's background jobs inherit that it is ignored

Git = Callable[..., str]


class _WatchedConnection(sqlite3.Connection):
    """Warns when it is dropped unclosed, as Python does itself from 3.13 on; warnings are failures here."""

    _is_open = False

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._is_open = True

    def close(self) -> None:
        self._is_open = False
        super().close()

    def __del__(self) -> None:
        if self._is_open:
            warnings.warn(f"unclosed database in {self!r}", ResourceWarning, stacklevel=1, source=self)


if sys.version_info < (3, 13):
    setattr(sqlite3, "connect", functools.partial(sqlite3.connect, factory=_WatchedConnection))  # noqa: B010


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--share", help="run only this share of the tests: 1/4, 2/4 …")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if share := config.getoption("--share"):
        number, of = map(int, share.split("/"))
        mine = {item for item in items if zlib.crc32(item.nodeid.encode()) % of == number - 1}
        config.hook.pytest_deselected(items=[item for item in items if item not in mine])
        items[:] = [item for item in items if item in mine]


def _run_git(folder: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", "-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always", *words],
        cwd=folder,
        env={
            "PATH": os.environ["PATH"],
            "HOME": "/nonexistent",
            "GIT_CONFIG_NOSYSTEM": "1",
            **{
                f"GIT_{who}_{what}": "a@b.example"
                for who in ("AUTHOR", "COMMITTER")
                for what in ("NAME", "EMAIL")
            },
        },
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


@pytest.fixture
def git() -> Git:
    """Runs git in a folder, without anybody's configuration."""
    return _run_git


def _begin(folder: Path) -> None:
    folder.mkdir()
    _run_git(folder, "init", "--quiet")
    (folder / "auth.py").write_text("x = 1\n")
    _run_git(folder, "add", ".")
    _run_git(folder, "commit", "--quiet", "--message=Begin")


@pytest.fixture
def project(tmp_path: Path, git: Git) -> Path:
    """A repository with one commit and no remote."""
    return repository(tmp_path / "shop", git)


def repository(folder: Path, git: Git, remote: str = "") -> Path:
    """A repository with one commit."""
    made_once.copy_files(folder, _begin)
    if remote:
        git(folder, "remote", "add", "origin", remote)
    return folder


@pytest.fixture
def house(tmp_path: Path, project: Path) -> Iterator[House]:
    """An empty home beside a project."""
    opened = House(tmp_path / "home", project)
    opened.home.root.mkdir(mode=0o700)
    yield opened
    opened.close()


@pytest.fixture(autouse=True)
def _nobodys_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of whoever runs the tests: no home, no zone, no guard of theirs."""
    own = ("BACKSTORY_HOME", "BACKSTORY_TZ", "BACKSTORY_GUARD", "CLAUDE_CONFIG_DIR")
    for name in (*own, *attribution.IN_AGENTS_SHELL):
        monkeypatch.delenv(name, raising=False)


class _Worked:
    """What a worker's process is to who waits for it, once it has ended."""

    def __init__(self, returncode: int) -> None:
        self.returncode = returncode

    def poll(self) -> int:
        return self.returncode


@pytest.fixture(autouse=True)
def _a_worker_at_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """A command that runs in the test's own process has its worker and its import there: quicker, and it is gone after.

    Commands that are processes start real ones (`tests/test_job_limits.py`, `tests/faults/`). None is woken
    behind a test's back: it would take in what the test's own rounds are to take in, with settings of before.
    """

    def work(home: Home, linger: int) -> _Worked:
        try:
            worker_loop.run_rounds(home, linger)
        except BackstoryError as error:
            return _Worked(error.exit_code)
        return _Worked(0)

    def hear(asked: Any) -> Iterator[Any]:
        told = io.BytesIO()
        import_process.serve_import(asked, told)
        told.seek(0)
        while told.tell() < len(told.getvalue()):
            yield pickle.load(told)

    monkeypatch.setattr("backstory.app.context.call_worker", work)
    for module in ("annotations", "context"):
        monkeypatch.setattr(f"backstory.app.{module}.wake_worker", lambda home: None)
    monkeypatch.setattr(import_process, "_heard", hear)


@pytest.fixture(autouse=True)
def _made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What every home begins with is copied, and nobody pulls the plug of the test's own process."""
    monkeypatch.setattr(sqlite, "_connect", made_once.connect)
    monkeypatch.setattr(minilm.MiniLM, "embed", made_once.embed)
    monkeypatch.setattr(minilm, "check_weights", made_once.check_weights)
    monkeypatch.setattr(os, "fsync", lambda file: None)


@pytest.fixture(autouse=True)
def _a_clock_of_its_own() -> None:
    """A test that lived in the future does not take the next one along."""
    CLOCK.begin()


def eventually(what: str, holds: Callable[[], Any], seconds: float = 10) -> Any:
    """Ask until the answer is true, and give it back; fail in words."""
    deadline = time.monotonic() + seconds
    while not (answer := holds()):
        assert time.monotonic() < deadline, f"after {seconds:g} s still not: {what}"
        time.sleep(0.02)
    return answer
