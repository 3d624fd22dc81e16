"""Where a home may lie: not where another user could replace the script that every hook runs."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from backstory.capture.ownership import planting_ground
from backstory.paths import Home

pytestmark = pytest.mark.skipif(os.name != "posix", reason="owners and modes of POSIX")
needs_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a file away"
)
OTHER = 54_321


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that everybody can enter, as a home's parents usually are."""
    made = Path(tempfile.mkdtemp()).resolve()
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)


def run(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "backstory", *words],
        env={"PATH": os.environ["PATH"], "HOME": str(home.parent), "BACKSTORY_HOME": str(home)},
        cwd=home.parent,
        capture_output=True,
        text=True,
        timeout=120,
    )


def refused(home: Path, because: str) -> None:
    """Install says why and changes nothing; doctor says it too."""
    for words in (("install", "claude-code", "--yes"), ("install", "--home-only")):
        done = run(home, *words)
        assert done.returncode == 4, done.stdout
        assert because in done.stderr
        assert "BACKSTORY_HOME" in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1
    assert not (home.parent / ".claude").exists()
    if home.is_dir():
        checks = json.loads(run(home, "doctor", "--json").stdout)["checks"]
        [told] = [check for check in checks if check["name"] == "home"]
        assert told["state"] == "fail"
        assert because in told["found"]


@pytest.mark.parametrize("there", [False, True])
def test_a_folder_that_everybody_may_write_to_is_no_place_for_a_home(place: Path, there: bool) -> None:
    shared = place / "shared"
    (shared / "own").mkdir(parents=True)
    if there:
        (shared / "own" / "home").mkdir(mode=0o700)
    shared.chmod(0o777)
    refused(shared / "own" / "home", f"other users may write to {shared}")


@needs_root
def test_a_folder_of_another_user_is_no_place_for_a_home(place: Path) -> None:
    theirs = place / "theirs"
    (theirs / "own").mkdir(parents=True)
    os.chown(theirs, OTHER, OTHER)
    refused(theirs / "own" / "home", f"{theirs} belongs to another user")


@needs_root
def test_a_folder_that_a_group_may_write_to_is_no_place_for_a_home(place: Path) -> None:
    shared = place / "shared"
    shared.mkdir()
    os.chown(shared, -1, OTHER)
    shared.chmod(0o770)
    refused(shared / "home", f"other users may write to {shared}")


@needs_root
@pytest.mark.parametrize("name", ["hook", "hook/hook.sh", "hook/hook.pyc"])
def test_a_script_of_another_user_is_not_run(place: Path, name: str) -> None:
    home = place / "home"
    assert run(home, "install", "--home-only").returncode == 0
    os.chown(home / name, OTHER, OTHER)
    refused(home, f"{home / name} belongs to another user")


def test_a_link_that_others_may_turn_elsewhere_is_no_way_to_a_home(place: Path) -> None:
    shared, own = place / "shared", place / "own"
    shared.mkdir()
    own.mkdir()
    (shared / "link").symlink_to(own)
    shared.chmod(0o777)
    assert planting_ground(Home(own / "home")) == ""
    refused(shared / "link" / "home", f"other users may write to {shared}")


@needs_root
@pytest.mark.parametrize(
    ("link", "target", "home"),
    [
        ("sticky/theirs", "own", "sticky/theirs/home"),  # on the way
        ("sticky/theirs", "own/home", "sticky/theirs"),  # the home itself
        ("sticky/theirs", "../own", "sticky/theirs/home"),
        ("sticky/theirs", "own", "mine/home"),  # a link of ours leads over theirs
        ("own/home/hook", "own/elsewhere", "own/home"),  # below the home
    ],
)
def test_a_link_of_another_user_is_no_way_to_a_home(place: Path, link: str, target: str, home: str) -> None:
    (place / "sticky").mkdir()
    (place / "own" / "home").mkdir(parents=True)
    (place / "own" / "elsewhere").mkdir()
    (place / "sticky").chmod(0o1777)
    (place / link).symlink_to(target if target.startswith("..") else place / target)
    (place / "mine").symlink_to(place / "sticky" / "theirs")
    assert planting_ground(Home(place / home)) == ""
    os.lchown(place / link, OTHER, OTHER)
    refused(place / home, f"{place / link} is a link of another user")


def test_links_that_lead_in_a_circle_end(place: Path) -> None:
    (place / "a").symlink_to(place / "b")
    (place / "b").symlink_to(place / "a")
    assert planting_ground(Home(place / "a" / "home")) == ""


def test_usual_places_are_taken(place: Path) -> None:
    """A sticky folder, one below a folder that nobody else enters, one of a group that is the user's own."""
    sticky, closed = place / "sticky", place / "closed"
    (sticky / "own").mkdir(parents=True)
    sticky.chmod(0o1777)
    assert planting_ground(Home(sticky / "own" / "home")) == ""
    (closed / "open").mkdir(parents=True)
    (closed / "open").chmod(0o777)
    closed.chmod(0o700)
    assert planting_ground(Home(closed / "open" / "home")) == ""
    own = place / "own"
    own.mkdir()
    own.chmod(0o775)
    os.chown(own, -1, os.getegid())
    if os.geteuid() == 0:
        assert planting_ground(Home(own / "home")) == ""
    done = run(sticky / "own" / "home", "install", "claude-code", "--yes")
    assert done.returncode == 0, done.stderr
