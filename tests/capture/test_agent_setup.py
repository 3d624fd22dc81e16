"""Installing: the agent's files are the user's, and only our entries come."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from backstory.capture import written_files
from backstory.capture.agent_setup import (
    Plan,
    carry_out,
    installed_hooks,
    instructions_file,
    plan_install,
    plan_uninstall,
)
from backstory.errors import Failed, SourceMissing, UsageError
from backstory.paths import Home

from . import desk
from .desk import CLAUDE, EVENTS, THEIRS, contents, did, handlers, install, uninstall

user, home, project, file = desk.user, desk.home, desk.project, desk.file

# --- what install writes ----------------------------------------------------------------------------------


# CM-1
def test_start_compaction_and_end_are_hooked_with_a_timeout_and_for_every_source_cm_1(
    home: Home, file: Path
) -> None:
    install(home)

    hooks = json.loads(file.read_bytes())["hooks"]
    for event, seconds in (("SessionStart", 15), ("PreCompact", 10), ("SessionEnd", 10)):
        (group,) = hooks[event]
        assert group.keys() == {"hooks"}, "a matcher would restrict it"
        (handler,) = group["hooks"]
        assert handler["type"] == "command"
        assert 0 < handler["timeout"] <= seconds


def test_every_event_of_the_agent_gets_one_hook(home: Home, file: Path) -> None:
    made = install(home)

    assert list(json.loads(file.read_bytes())["hooks"]) == EVENTS
    assert did(made, file) == {f"hook {event}": "add" for event in EVENTS}
    assert did(made, home.hook) == {"hook script and code": "write"}


# CCE-34
def test_the_plan_names_everything_that_is_written_copied_or_made_cce_34(
    home: Home, file: Path, tmp_path: Path
) -> None:
    file.write_text("{}")
    before = contents(tmp_path)
    made = plan_install(CLAUDE, home)
    carry_out(made, home)

    named = {change.path for change in made.changes if change.action != "keep"}
    new = {tmp_path / name for name in contents(tmp_path) - before}
    inside = {path for path in new if path.parent in (home.hook, home.backups / "agents")}
    assert new - inside - named == set()
    assert did(made, home.backups / "agents") == {"the folder": "make", str(file): "copy"}
    assert did(made, written_files.state_file(home)) == {"the list of files that install wrote to": "write"}


@pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell runs it")
# CM-51, CCE-32
def test_the_command_works_from_any_folder_and_without_a_path_cm_51_cce_32(
    home: Home, file: Path, tmp_path: Path
) -> None:
    install(home)
    (handler,) = handlers(file, "PostToolUse")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()

    ran = subprocess.run(
        ["/bin/sh", "-c", handler["command"]], input=b'{"a": 1}', cwd=elsewhere, env={}, capture_output=True
    )

    assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b"")
    (spooled,) = home.spool.glob("claude-code.PostToolUse.*")
    assert spooled.read_bytes() == b'{"a": 1}\x1e'
    assert not list(elsewhere.iterdir())


# CM-51
def test_a_relative_home_is_written_down_absolutely_cm_51(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    install(Home(Path("memory")))

    (handler,) = handlers(file, "Stop")
    assert f"'{tmp_path}/memory/hook/hook.sh'" in handler["command"]


# CCE-31
def test_the_script_is_executable_and_refreshed_when_its_body_changes_cce_31(home: Home) -> None:
    install(home)
    script = home.hook / "hook.sh"
    body = script.read_bytes()
    assert os.access(script, os.X_OK)

    script.write_text("# an older one\n")
    made = install(home)

    assert script.read_bytes() == body
    assert did(made, home.hook) == {"hook script and code": "update"}


def test_user_settings_follow_claude_config_dir(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: Path
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "config"))
    install(home)

    assert len(handlers(tmp_path / "config" / "settings.json", "Stop")) == 1
    assert not file.exists()


# CCE-26
def test_a_project_is_installed_in_its_own_local_settings_cce_26(
    home: Home, project: Path, file: Path
) -> None:
    install(home, project)

    assert contents(project) == {".claude", ".claude/settings.local.json"}
    assert not file.exists()


# CCE-26
def test_a_project_whose_local_settings_git_would_commit_gets_a_warning_cce_26(
    home: Home, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    local = project / ".claude" / "settings.local.json"
    assert "warn" not in did(plan_install(CLAUDE, home, project), local).values()

    subprocess.run(["git", "init", "-q", project], check=True)
    assert "warn" in did(plan_install(CLAUDE, home, project), local).values()

    (project / ".git" / "info" / "exclude").write_text(".claude/settings.local.json\n")
    assert "warn" not in did(plan_install(CLAUDE, home, project), local).values()


def test_a_project_that_is_not_there_is_refused(home: Home, tmp_path: Path) -> None:
    with pytest.raises(SourceMissing, match="gone"):
        plan_install(CLAUDE, home, tmp_path / "gone")


def test_an_agent_without_hooks_is_refused_and_has_nothing_to_uninstall(home: Home) -> None:
    hookless = replace(CLAUDE, name="hookless", title="Hookless", hooks=(), surface=None)
    with pytest.raises(UsageError, match=r"Hookless has no hooks that could be installed.*claude-code"):
        plan_install(hookless, home)
    carry_out(plan_uninstall(hookless, home), home)
    assert not home.root.exists()


def test_an_agent_that_is_not_found_is_installed_with_a_warning(
    home: Home, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    assert "warn" not in [change.action for change in plan_install(CLAUDE, home).changes]
    file.parent.rmdir()

    made = install(home)

    (warning,) = [what for what, action in did(made, file.parent).items() if action == "warn"]
    assert "Claude Code was not found" in warning
    assert len(handlers(file, "Stop")) == 1


def test_hooks_that_are_switched_off_are_told(home: Home, file: Path) -> None:
    file.write_text('{"disableAllHooks": true}')
    made = install(home)

    assert "warn" in did(made, file).values()
    assert {state.why for state in installed_hooks(CLAUDE, home)} == {f"disableAllHooks is true in {file}"}


# --- the user's file --------------------------------------------------------------------------------------


# CCE-27
def test_installing_twice_changes_nothing_and_says_so_cce_27(home: Home, file: Path, project: Path) -> None:
    file.write_text(THEIRS)
    block = instructions_file(CLAUDE, project)
    install(home, instructions=block)
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in files_of(home, file, block)}

    made = install(home, instructions=block)

    assert {
        path: (path.read_bytes(), path.stat().st_mtime_ns) for path in files_of(home, file, block)
    } == before
    assert {change.action for change in made.changes} == {"keep"}
    assert made.diff() == ""


def files_of(home: Home, *others: Path) -> list[Path]:
    return [*others, *(path for path in home.root.rglob("*") if path.is_file())]


# CCE-28
def test_hooks_and_words_of_the_user_stay_as_they_are_written_cce_28(home: Home, file: Path) -> None:
    file.write_text(THEIRS)
    made = install(home)

    lines = file.read_text().splitlines()
    assert [line for line in THEIRS.splitlines() if line not in lines] == []
    assert handlers(file, "Stop")[0] == {"type": "command", "command": "say done"}
    assert [line for line in made.diff().splitlines() if line.startswith("-")] == [
        f"--- {file}",
        "--- /dev/null",  # the list of MCP servers, which was not there
    ]


def test_ours_of_another_home_are_taken_over_and_never_doubled(
    home: Home, file: Path, tmp_path: Path
) -> None:
    install(Home(tmp_path / "old"))
    settings = json.loads(file.read_bytes())
    settings["hooks"]["Stop"].append({"matcher": "", "hooks": [{"type": "command", "command": "say done"}]})
    settings["hooks"]["Stop"] += settings["hooks"]["Stop"][:1]
    settings["hooks"]["PermissionRequest"] = settings["hooks"]["Stop"][:1]
    settings["hooks"]["SessionEnd"][0]["hooks"][0]["timeout"] = 3
    del settings["hooks"]["PostCompact"][0]["hooks"][0]["timeout"]
    file.write_text(json.dumps(settings, indent=2))

    made = install(home)

    actions = did(made, file)
    assert actions.pop("hook PermissionRequest") == "remove"
    assert set(actions.values()) == {"update"}
    settings = json.loads(file.read_bytes())
    assert "PermissionRequest" not in settings["hooks"]
    assert len(handlers(file, "Stop")) == 2
    assert "old" not in str(settings)
    assert handlers(file, "SessionEnd")[0]["timeout"] == 3, "a timeout that somebody chose is theirs"
    assert handlers(file, "PostCompact")[0]["timeout"] == 10
    assert {change.action for change in plan_install(CLAUDE, home).changes} == {"keep"}


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [
        ('{\n  "model": "opus"\n  "env": {}\n}', "3:3", "expecting ',' or '}'"),
        ("[]", "1:1", "settings must be an object"),
        ('{"hooks": []}', "1:11", '"hooks" must be an object'),
        ('{"hooks": {"Stop": {}}}', "1:20", 'the hooks of "Stop" must be an array'),
    ],
)
# CCE-30
def test_a_file_that_is_not_valid_is_never_overwritten_cce_30(
    home: Home, file: Path, text: str, place: str, reason: str
) -> None:
    file.write_text(text)

    with pytest.raises(UsageError) as refused:
        plan_install(CLAUDE, home)

    assert str(refused.value).startswith(f"{file}:{place}: {reason}")
    assert "fix it" in str(refused.value)
    assert file.read_text() == text
    assert not home.root.exists()


# CCE-30
def test_a_file_that_is_not_utf_8_is_never_overwritten_cce_30(home: Home, file: Path) -> None:
    file.write_bytes(b'{"a": "\xff"}')
    with pytest.raises(UsageError, match="is not UTF-8"):
        plan_install(CLAUDE, home)


def test_a_file_that_changed_after_the_plan_is_left_alone(home: Home, file: Path) -> None:
    file.write_text("{}")
    made = plan_install(CLAUDE, home)
    file.write_text('{"model": "opus"}')

    with pytest.raises(Failed, match="changed meanwhile"):
        carry_out(made, home)
    assert file.read_text() == '{"model": "opus"}'


def test_a_link_stays_a_link_and_a_mode_stays_a_mode(home: Home, file: Path, tmp_path: Path) -> None:
    """NC-25."""
    target = tmp_path / "dotfiles" / "claude.json"
    target.parent.mkdir()
    target.write_text("{}\n")
    target.chmod(0o640)
    file.symlink_to(target)

    install(home)

    assert file.is_symlink()
    assert len(handlers(target, "Stop")) == 1
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    uninstall(home)
    assert target.read_text() == "{}\n"


def test_new_settings_are_for_their_owner_alone(home: Home, file: Path) -> None:
    """NC-25: new files get the default mode."""
    install(home)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_copy_of_the_file_goes_to_the_backups_first(home: Home, file: Path) -> None:
    file.write_text(THEIRS)
    install(home)

    (copy,) = (home.backups / "agents").iterdir()
    assert copy.name.startswith("settings.json.")
    assert copy.read_text() == THEIRS
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600


def test_a_home_that_cannot_be_made_is_one_clear_failure_and_nothing_points_to_it(
    home: Home, file: Path
) -> None:
    home.root.write_text("a file is in its place")
    with pytest.raises(Failed, match="cannot be used"):
        install(home)
    assert not file.exists()


# --- dry run ----------------------------------------------------------------------------------------------


# CCE-34
def test_a_plan_writes_nothing_and_its_diff_is_exactly_what_carrying_it_out_does_cce_34(
    home: Home, file: Path, project: Path, tmp_path: Path
) -> None:
    file.write_text(THEIRS)
    (project / "CLAUDE.md").write_text("Be brief.")
    before = contents(tmp_path)
    made = plan_install(CLAUDE, home, instructions=project / "CLAUDE.md")
    assert contents(tmp_path) == before
    patched = apply(made, tmp_path / "patched")

    carry_out(made, home)

    servers = file.parent.with_name(".claude.json")
    assert patched == {path: path.read_text() for path in (file, servers, project / "CLAUDE.md")}
    assert "\\ No newline at end of file" in made.diff()
    before = contents(tmp_path)
    made = plan_uninstall(CLAUDE, home)
    assert contents(tmp_path) == before
    patched = apply(made, tmp_path / "again")
    uninstall(home)
    assert patched == {path: path.read_text() for path in (file, project / "CLAUDE.md")}


def apply(made: Plan, folder: Path) -> dict[Path, str]:
    """The files that git makes of the texts before and the diff."""
    for path, text in made.before.items():
        if text is not None:
            copy = folder / str(path).lstrip("/")
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(text)
    subprocess.run(
        ["git", "apply", "-p1", "-"],
        input=made.diff(),
        cwd=folder,
        text=True,
        check=True,
        env={**os.environ, "GIT_CEILING_DIRECTORIES": str(folder.parent)},
    )
    files = {path: folder / str(path).lstrip("/") for path in made.before}
    return {path: copy.read_text() for path, copy in files.items() if copy.exists()}
