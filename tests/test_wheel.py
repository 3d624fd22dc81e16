"""What is built is what a user gets: installed alone into an environment of its own, it runs."""

import os
import re
import subprocess
import sys
import venv
from email import message_from_bytes
from email.message import Message
from pathlib import Path
from zipfile import ZipFile

import pytest

from backstory import __version__

ROOT = Path(__file__).resolve().parent.parent
OFFLINE = ("No matching distribution found", "Could not find a version", "Connection", "Temporary failure")


def pip(python: Path | str, *words: str) -> None:
    """Run pip; without a package index the tests are skipped, and fail in CI."""
    done = subprocess.run(
        [str(python), "-m", "pip", "--disable-pip-version-check", *words], capture_output=True, text=True
    )
    if done.returncode and not os.environ.get("CI") and any(word in done.stderr for word in OFFLINE):
        pytest.skip(f"SKIPPED: no package index is reached: {done.stderr.splitlines()[-1]}")
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    pip(sys.executable, "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(ROOT))
    [built] = folder.glob("backstory-*.whl")
    return built


@pytest.fixture(scope="module")
def programs(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of an environment that has the wheel and what it asks for, and no more."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=True)
    pip(folder / "bin" / "python", "install", "--quiet", str(wheel))
    return folder / "bin"


def metadata(wheel: Path) -> Message:
    with ZipFile(wheel) as archive:
        [name] = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        return message_from_bytes(archive.read(name))


def test_the_installed_program_tells_its_version_and_what_install_would_change(
    programs: Path, tmp_path: Path
) -> None:
    user = tmp_path / "user"
    (user / ".claude").mkdir(parents=True)
    environment = {"HOME": str(user), "PATH": f"{programs}:/usr/bin:/bin", "LANG": "C.UTF-8"}

    def run(*words: str) -> str:
        done = subprocess.run(
            ["backstory", *words], env=environment, cwd=user, capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert run("--version") == f"backstory {__version__}\n"
    planned = run("install", "--dry-run")
    assert "claude-code" in planned
    assert str(user / ".claude" / "settings.json") in planned
    assert [path.name for path in user.rglob("*")] == [".claude"], "a dry run changes nothing"


def test_the_wheel_has_the_mark_of_typed_packages_and_its_licence(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        names = archive.namelist()
    assert "backstory/py.typed" in names
    assert any(name.endswith("/licenses/LICENSE") for name in names)
    assert not [name for name in names if name.startswith(("tests/", "tools/", "bench/"))]


def test_the_wheel_says_what_it_is_for(wheel: Path) -> None:
    about = metadata(wheel)
    assert about["Requires-Python"] == ">=3.11"
    assert about["License-Expression"] == "MIT"
    assert {"coding agents", "mcp", "claude-code"} <= set(about["Keywords"].split(","))
    assert "Typing :: Typed" in (about.get_all("Classifier") or [])
    dependencies = [re.split(r"[<>=;!~ ]", line)[0] for line in about.get_all("Requires-Dist") or []]
    assert "pytest" not in dependencies
