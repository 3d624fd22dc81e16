"""The plugin's launcher, which runs in whatever folder an agent was started in: a repository cannot make it
run a program of its own, wait, or take its home from there."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX shells")

PLUGIN = Path(__file__).parents[2] / "plugins" / "claude-code"
HOOKS = json.loads((PLUGIN / "hooks" / "hooks.json").read_text("utf-8"))["hooks"]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / ".git").mkdir(parents=True)
    (root / ".claude").mkdir()
    (root / "src").mkdir()
    (tmp_path / "user").mkdir()
    return root


def launch(project: Path, event: str, folder: str = "", **environment: str) -> None:
    """Run the hook as Claude Code does; it must be through in a few seconds."""
    command = HOOKS[event][0]["hooks"][0]["command"]
    given = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(project.parent / "user"),
        "CLAUDE_PLUGIN_ROOT": str(PLUGIN),
        "CLAUDE_PROJECT_DIR": str(project),
        "BACKSTORY_HOME": str(project.parent / "home"),
    }
    done = subprocess.run(
        ["sh", "-c", command],
        input=b'{"session_id":"a","cwd":"/"}',
        cwd=project / folder,
        env=given | environment,
        timeout=20,
        capture_output=True,
    )
    assert (done.returncode, done.stdout) == (0, b"")


def plant(folder: Path, proof: Path) -> Path:
    """A `backstory` that tells that it was run."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "backstory"
    program.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$BACKSTORY_HOME\" > '{proof}'\n")
    program.chmod(0o755)
    return program


@pytest.mark.parametrize("kind", ["device", "pipe", "folder", "link to itself"])
@pytest.mark.parametrize("name", ["settings.json", "settings.local.json"])
def test_settings_in_a_repository_that_are_no_file_hold_up_no_hook(
    project: Path, kind: str, name: str
) -> None:
    file = project / ".claude" / name
    match kind:
        case "device":
            file.symlink_to("/dev/zero")
        case "pipe":
            os.mkfifo(file)
        case "folder":
            file.mkdir()
        case _:
            file.symlink_to(file.name)
    launch(project, "Stop")


def test_hooks_in_the_settings_make_the_plugin_step_back(project: Path) -> None:
    script = project.parent / "home" / "hook" / "hook.sh"
    script.parent.mkdir(parents=True)
    proof = project.parent / "proof"
    script.write_text(f"touch '{proof}'\n")
    launch(project, "Stop")
    assert proof.exists()
    proof.unlink()
    row = "BACKSTORY_AGENT=claude-code BACKSTORY_EVENT=Stop;"
    (project / ".claude" / "settings.local.json").write_text(json.dumps({"hooks": row}))
    launch(project, "Stop")
    assert not proof.exists()


@pytest.mark.parametrize(
    "entry", [".", "", "bin", "../bin", "{root}/bin", "{root}/src/../bin", "{link}", "{linked}", "{open}"]
)
def test_the_launcher_starts_no_program_that_was_planted(project: Path, tmp_path: Path, entry: str) -> None:
    proof, link, linked, open_folder = (tmp_path / name for name in ("proof", "link", "linked", "open"))
    for folder in (project / "bin", project, project / "src", project / "src" / "bin", open_folder):
        plant(folder, proof)
    open_folder.chmod(0o777)
    link.symlink_to(project / "bin")
    linked.mkdir()
    (linked / "backstory").symlink_to(project / "bin" / "backstory")
    path = entry.format(root=project, link=link, linked=linked, open=open_folder)
    launch(
        project, "SessionStart", "src", PATH=f"{path}:/usr/bin:/bin", CLAUDE_PROJECT_DIR=str(project / "src")
    )
    assert not proof.exists()


def test_the_users_own_program_makes_the_home_also_behind_a_planted_one(
    project: Path, tmp_path: Path
) -> None:
    proof = tmp_path / "proof"
    plant(project / "bin", tmp_path / "planted")
    own = plant(tmp_path / "own tools", proof)
    launch(project, "SessionStart", PATH=f".:{project / 'bin'}:{own.parent}:/usr/bin:/bin")
    assert proof.read_text() == f"{tmp_path / 'home'}\n"
    assert not (tmp_path / "planted").exists()


def test_an_agent_that_works_in_the_users_home_finds_the_program_there(project: Path, tmp_path: Path) -> None:
    user, proof = tmp_path / "user", tmp_path / "proof"
    (user / ".git").mkdir()
    plant(user / ".local" / "bin", proof)
    launch(user, "SessionStart", HOME=str(user), BACKSTORY_HOME=str(tmp_path / "home"))
    assert proof.exists()


@pytest.mark.parametrize("name", ["BACKSTORY_HOME", "XDG_DATA_HOME"])
def test_no_project_brings_its_own_home(project: Path, tmp_path: Path, name: str) -> None:
    proof = tmp_path / "proof"
    for script in (project / "x" / "hook" / "hook.sh", project / "x" / "backstory" / "hook" / "hook.sh"):
        script.parent.mkdir(parents=True)
        script.write_text(f"touch '{proof}'\n")
    launch(project, "Stop", **({"BACKSTORY_HOME": ""} | {name: "x"}))
    assert not proof.exists()
