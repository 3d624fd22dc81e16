"""A program that a repository or another user planted on the PATH is never started."""

import ast
import os
import shutil
import stat
import sys
import webbrowser
from pathlib import Path

import pytest

import backstory
from backstory.agents import AGENTS
from backstory.capture import hook_bundle, schedule_setup
from backstory.doctor import agent_clients
from backstory.errors import DependencyMissing
from backstory.llm.agent_programs import CLAUDE, Program
from backstory.llm.model_provider import Access, Question, Trouble
from backstory.paths import Home
from backstory.program_lookup import find_program, trusted_path
from backstory.web import browser

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="plants a shell script")


def plant(folder: Path, proof: Path, name: str = "claude") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / name
    program.write_text(f"#!/bin/sh\ntouch '{proof}'\necho 9.9.9\n")
    program.chmod(0o755)
    return program


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "repository"
    (root / ".git").mkdir(parents=True)
    (root / "src").mkdir()
    monkeypatch.chdir(root / "src")
    return root


@pytest.mark.parametrize(
    "entry", [".", "", "bin", "../bin", "{root}/bin", "{root}/src/../bin", "{link}", "{open}"]
)
def test_a_planted_program_is_neither_found_nor_run(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry: str
) -> None:
    proof, open_folder, link = tmp_path / "proof", tmp_path / "open", tmp_path / "link"
    for folder in (repository / "bin", repository / "src", repository / "src" / "bin", open_folder):
        plant(folder, proof)
    open_folder.chmod(0o777)
    link.symlink_to(repository / "bin")
    monkeypatch.setenv("PATH", entry.format(root=repository, link=link, open=open_folder))
    assert find_program("claude") is None
    assert agent_clients._version(AGENTS["claude-code"]) is None
    assert not proof.exists()


def test_the_users_own_program_is_found_behind_a_planted_one(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(repository / "bin", tmp_path / "proof")
    own = plant(tmp_path / "own", tmp_path / "own-proof")
    monkeypatch.setenv("PATH", os.pathsep.join([".", str(repository / "bin"), str(own.parent)]))
    assert find_program("claude") == str(own)
    assert stat.S_IMODE(own.parent.stat().st_mode) & stat.S_IWOTH == 0


def test_programs_below_the_home_count_while_the_home_is_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = plant(tmp_path / ".local" / "bin", tmp_path / "proof")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(own.parent))
    monkeypatch.chdir(tmp_path)
    assert find_program("claude") == str(own)


@pytest.fixture
def planted(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository whose folder of programs is first on the PATH; what it has leaves the proof behind."""
    proof = tmp_path / "proof"
    for name in ("node", "systemctl", "crontab", "launchctl", "xdg-open", "xdg-settings", "cat", "mkdir"):
        plant(repository / "bin", proof, name)
    own = tmp_path / "own"
    own.mkdir()
    (own / "claude").write_text("#!/usr/bin/env node\n")
    (own / "claude").chmod(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join([str(repository / "bin"), str(own), "/usr/bin", "/bin"]))
    return proof


def test_what_a_trusted_script_looks_for_is_not_found_in_the_project(planted: Path) -> None:
    """`claude`, `gemini` and others begin with `#!/usr/bin/env node`."""
    agent_clients._version(AGENTS["claude-code"])
    assert not planted.exists()


def test_a_model_is_not_asked_through_a_planted_interpreter(planted: Path) -> None:
    with pytest.raises(Trouble):
        Program(CLAUDE, Access("small", seconds=20)).ask(Question("", "hello", {}, 10))
    assert not planted.exists()


def test_the_worker_which_is_in_no_project_trusts_none_that_it_knows(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    proof, bin_folder = tmp_path / "proof", repository / "node_modules" / ".bin"
    plant(bin_folder, proof)
    monkeypatch.chdir("/")
    monkeypatch.setenv("PATH", os.pathsep.join([str(bin_folder), "/usr/bin", "/bin"]))
    known = (str(repository / "src"),)  # where the session ran: the repository around it counts
    assert find_program("claude") == str(bin_folder / "claude")
    assert find_program("claude", known) is None
    assert trusted_path(known) == os.pathsep.join(["/usr/bin", "/bin"])
    with pytest.raises(Trouble):
        Program(CLAUDE, Access("small", seconds=20, folders=known)).ask(Question("", "hello", {}, 10))
    assert not proof.exists()


def test_a_session_in_the_home_folder_makes_the_users_programs_no_less_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    own = plant(tmp_path / ".local" / "bin", tmp_path / "proof")
    monkeypatch.setenv("PATH", str(own.parent))
    monkeypatch.chdir("/")
    assert find_program("claude", (str(tmp_path), "/")) == str(own)


def test_a_schedule_is_not_made_by_planted_programs(planted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("PATH", os.environ["PATH"].split(os.pathsep)[0])
    with pytest.raises(DependencyMissing):
        schedule_setup.available_kind()
    with pytest.raises(DependencyMissing):
        schedule_setup._crontab()
    assert not planted.exists()


def test_the_browser_is_not_opened_by_planted_programs(
    planted: Path, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`webbrowser` looks for them by name when it is first used; a stand-in, so that none is opened here."""
    looked_for: list[str] = []

    def opened(_address: str) -> None:
        looked_for.extend(filter(None, map(shutil.which, ("xdg-settings", "xdg-open", "node"))))

    monkeypatch.setattr(webbrowser, "open", opened)
    browser._open(Home(tmp_path / "home"), "http://x.localhost:1/enter?key=k", lambda: True)
    assert str(repository / "bin") not in os.environ["PATH"]
    assert not [path for path in looked_for if path.startswith(str(repository))]


def test_hooks_never_run_what_the_path_names(
    planted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker writes the hook's script, and every later session of every project runs it."""
    monkeypatch.setattr(hook_bundle, "_TOOLS", (str(tmp_path / "none"),))
    assert hook_bundle._tool("cat") == "/bin/cat"


def test_nobody_else_looks_for_programs_by_name() -> None:
    package = Path(backstory.__file__).parent
    found = set()
    for path in package.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Attribute) and ast.unparse(node) in ("shutil.which", "os.system"):
                found.add(path.relative_to(package).as_posix())
            if isinstance(node, ast.Import) and any(each.name == "webbrowser" for each in node.names):
                found.add(path.relative_to(package).as_posix())
    assert found == {"program_lookup.py", "web/browser.py"}
