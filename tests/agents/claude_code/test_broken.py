"""The memory is broken, on purpose and really; the agent never notices (CMEM-29).

In every case the run must end as scripted, with exit code 0 and no word from a hook on the stream or in the
transcript; where it can, the brief still comes, and what was captured meanwhile is there afterwards. The
read-only and the full disk are real mounts, seen by one run only. Forks fail by a seccomp filter around each
hook's command, because no limit on processes binds root.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from .. import unforkable
from ..model import Say, Shell
from .claude import Claude
from .story import add_farewell, add_greeting, look_around

pytestmark = [pytest.mark.clients, pytest.mark.faults]

LOCK = """
import sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
database.execute("PRAGMA locking_mode = EXCLUSIVE")
database.execute("BEGIN EXCLUSIVE")
database.execute("CREATE TABLE IF NOT EXISTS held_by_a_test (x)")
print("locked", flush=True)
sys.stdin.read()
database.rollback()
"""


@pytest.fixture
def remembering(agent: Claude) -> Claude:
    """An agent whose memory worked yesterday."""
    add_greeting(agent)
    agent.memory.drained()
    agent.memory.rests()
    return agent


@contextmanager
def locked(database: Path) -> Iterator[None]:
    """Another process holds the database for itself, readers shut out too."""
    holder = subprocess.Popen(
        [sys.executable, "-c", LOCK, str(database)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "locked\n"
    try:
        yield
    finally:
        holder.communicate(timeout=10)


def test_the_database_is_locked(remembering: Claude) -> None:
    with locked(remembering.memory.database()):
        run = add_farewell(remembering)
        assert "greeting.py" in run.brief
    assert run.seconds < 15

    assert "farewell.py" in look_around(remembering).brief


def test_the_home_is_read_only(remembering: Claude) -> None:
    needs_mounts(remembering)
    run = add_farewell(remembering, faults=(f"readonly={remembering.memory.home}",))

    assert "greeting.py" in run.brief
    assert "greeting.py" in look_around(remembering).brief


def test_the_disk_is_full(remembering: Claude) -> None:
    needs_mounts(remembering)
    run = add_farewell(remembering, faults=(f"full={remembering.memory.home}",))

    assert "greeting.py" in run.brief
    assert "greeting.py" in look_around(remembering).brief


def test_the_home_is_deleted(remembering: Claude) -> None:
    remembering.memory.vanish()

    assert add_farewell(remembering).brief == ""
    assert look_around(remembering).brief == ""
    assert not remembering.memory.home.exists()


def test_the_home_is_deleted_while_the_agent_works(remembering: Claude) -> None:
    remembering.model.when("Clean up", Shell(f"rm -rf {remembering.memory.home}"), Shell("ls"), Say("Clean."))

    remembering.run("Clean up").assert_undisturbed("Clean.")
    assert look_around(remembering).brief == ""


@pytest.mark.parametrize("how", ["moved", "missing"])
def test_the_interpreter_is_gone(bare_agent: Claude, tmp_path: Path, how: str) -> None:
    agent = bare_agent
    agent.memory.python = str(own_interpreter(tmp_path / "venv"))
    agent.memory.install("claude-code")
    add_greeting(agent)
    agent.memory.drained()
    agent.memory.rests()

    interpreter = tmp_path / "venv"
    aside = interpreter.rename(tmp_path / "elsewhere")
    if how == "missing":
        (aside / "bin" / "python").unlink()
    add_farewell(agent)

    if how == "moved":
        aside.rename(interpreter)
        brief = look_around(agent).brief
    else:
        assert look_around(agent).brief == ""
        agent.memory.python = sys.executable
        agent.memory.install("claude-code")
        brief = look_around(agent).brief
    assert "greeting.py" in brief
    assert "farewell.py" in brief, "capture needs no interpreter, so nothing was lost meanwhile"


def test_no_hook_can_fork(remembering: Claude) -> None:
    allowed = remembering.settings.read_text()
    forbid_forks(remembering.settings)
    assert add_farewell(remembering).brief == ""

    remembering.settings.write_text(allowed)
    assert "greeting.py" in look_around(remembering).brief


def needs_mounts(agent: Claude) -> None:
    if agent.loopback.notice:
        pytest.skip(f"no private mounts either: {agent.loopback.notice}")


def own_interpreter(folder: Path) -> Path:
    """A virtual environment that sees the packages of this one, to be broken without breaking this one."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    packages = next(folder.glob("lib/python*/site-packages"))
    (packages / "borrowed.pth").write_text("\n".join(path for path in sys.path if path))
    return folder / "bin" / "python"


def forbid_forks(settings: Path) -> None:
    """Puts `unforkable` around every hook's command, as the client will start it."""
    written = json.loads(settings.read_text())
    wrap = shlex.join([sys.executable, "-I", "-S", unforkable.__file__, "sh", "-c"])
    for groups in written["hooks"].values():
        for hook in (hook for group in groups for hook in group["hooks"]):
            hook["command"] = f"exec {wrap} {shlex.quote(hook['command'])}"
    settings.write_text(json.dumps(written))
