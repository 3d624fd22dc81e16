"""The two ways in which agents take hooks: entries in the user's settings, or a file that is all ours."""

from __future__ import annotations

import json
import os
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from backstory.agents import Agent, HookEvent
from backstory.agents.agent import Grouped, Owned, Surface
from backstory.capture import written_files
from backstory.capture.agent_setup import (
    Plan,
    carry_out,
    installed_hooks,
    plan_install,
    plan_uninstall,
    uninstall_plans,
)
from backstory.capture.settings_files import event_commands, installable_agents, settings_file
from backstory.paths import Home

from . import desk
from .desk import CLAUDE, contents, did

user, home, project = desk.user, desk.home, desk.project

HOOKS = (HookEvent("SessionStart", 15, answers=True, wakes=True), HookEvent("Stop", 10, wakes=True))


def milliseconds(folder: Path) -> Agent:
    """An agent whose timeouts are milliseconds, and which wants a name for each handler."""
    surface = Surface(
        "nowhere-to-be-found",
        lambda: folder / ".milli",
        lambda project: (project or folder) / ".milli" / "settings.json",
        Grouped(1000, (("name", "backstory"),), (("hooksConfig", "enabled"), False)),
    )
    return replace(CLAUDE, name="milli", title="Milli", hooks=HOOKS, surface=surface)


def with_a_plugin(folder: Path) -> Agent:
    """An agent that loads plugin files."""

    def render(texts: object) -> str:
        return f"// Backstory\nconst commands = {json.dumps(texts)};\n"

    surface = Surface(
        "nowhere-to-be-found",
        lambda: folder / ".config" / "plug",
        lambda project: (project or folder / ".config") / "plug" / "plugins" / "backstory.js",
        Owned(render),
    )
    return replace(CLAUDE, name="plug", title="Plug", hooks=HOOKS, surface=surface)


def plugin(folder: Path) -> Path:
    return folder / ".config" / "plug" / "plugins" / "backstory.js"


def install(agent: Agent, home: Home, project: Path | None = None) -> Plan:
    made = plan_install(agent, home, project)
    carry_out(made, home)
    return made


def uninstall(agent: Agent, home: Home) -> Plan:
    made = plan_uninstall(agent, home)
    carry_out(made, home)
    return made


def states(agent: Agent, home: Home) -> set[tuple[str, str]]:
    return {(state.state, state.why) for state in installed_hooks(agent, home)}


# --- groups of handlers -----------------------------------------------------------------------------------


def test_timeouts_are_in_the_agents_own_unit_and_a_handler_has_the_keys_it_wants(
    user: Path, home: Home
) -> None:
    agent = milliseconds(user)
    install(agent, home)

    hooks = json.loads((user / ".milli" / "settings.json").read_bytes())["hooks"]
    assert [hooks[event][0]["hooks"][0]["timeout"] for event in hooks] == [15_000, 10_000]
    assert {hooks[event][0]["hooks"][0]["name"] for event in hooks} == {"backstory"}
    assert states(agent, home) == {("configured", "")}
    assert {change.action for change in plan_install(agent, home).changes} - {"warn"} == {"keep"}


def test_a_handler_that_lacks_a_key_gets_it_and_keeps_what_somebody_chose(user: Path, home: Home) -> None:
    agent = milliseconds(user)
    install(agent, home)
    file = user / ".milli" / "settings.json"
    settings = json.loads(file.read_bytes())
    handler = settings["hooks"]["Stop"][0]["hooks"][0]
    del handler["name"]
    handler["timeout"] = 99
    file.write_text(json.dumps(settings))

    made = install(agent, home)

    assert did(made, file) == {"hook SessionStart": "keep", "hook Stop": "update"}
    handler = json.loads(file.read_bytes())["hooks"]["Stop"][0]["hooks"][0]
    assert (handler["name"], handler["timeout"]) == ("backstory", 99)


def test_the_agents_own_switch_for_hooks_is_known(user: Path, home: Home) -> None:
    agent = milliseconds(user)
    file = user / ".milli" / "settings.json"
    file.parent.mkdir()
    file.write_text('{"hooksConfig": {"enabled": false}}')
    made = install(agent, home)

    assert "warn" in did(made, file).values()
    assert states(agent, home) == {("differs", f"hooksConfig.enabled is false in {file}")}
    file.write_text(file.read_text().replace("false", "true"))
    assert states(agent, home) == {("configured", "")}


# --- a file that is all ours ------------------------------------------------------------------------------


def test_a_file_of_ours_is_written_kept_and_removed_with_the_folders_that_it_needed(
    user: Path, home: Home
) -> None:
    agent = with_a_plugin(user)
    before = contents(user)
    assert states(agent, home) == {("missing", "there is no hook of ours")}

    made = install(agent, home)

    assert did(made, plugin(user)) == {"hook SessionStart": "write", "hook Stop": "write"}
    assert json.dumps(event_commands(agent, home)["Stop"]) in plugin(user).read_text()
    assert states(agent, home) == {("configured", "")}
    assert {change.action for change in plan_install(agent, home).changes} == {"keep"}
    uninstall(agent, home)
    assert contents(user) == before
    assert not home.root.exists()


def test_a_folder_that_was_there_before_or_is_in_use_stays(user: Path, home: Home) -> None:
    agent = with_a_plugin(user)
    (user / ".config").mkdir()
    install(agent, home)
    (plugin(user).with_name("theirs.js")).write_text("")
    uninstall(agent, home)
    assert contents(user / ".config") == {"plug", "plug/plugins", "plug/plugins/theirs.js"}


def test_the_dry_run_of_a_file_of_ours_shows_all_of_it(user: Path, home: Home) -> None:
    agent = with_a_plugin(user)
    assert f"--- /dev/null\n+++ {plugin(user)}\n" in plan_install(agent, home).diff()
    assert not plugin(user).exists()
    install(agent, home)
    assert f"--- {plugin(user)}\n+++ /dev/null\n" in plan_uninstall(agent, home).diff()


def test_a_file_that_somebody_changed_is_told_copied_and_written_anew(user: Path, home: Home) -> None:
    agent = with_a_plugin(user)
    install(agent, home)
    good = plugin(user).read_text()
    plugin(user).write_text(good + "// and this\n")
    plugin(user).chmod(0o640)
    assert states(agent, home) == {("differs", "it has an older form, or was changed by hand")}

    made = install(agent, home)

    assert any("changed by hand" in what for what in did(made, plugin(user)))
    assert plugin(user).read_text() == good
    assert stat.S_IMODE(plugin(user).stat().st_mode) == 0o640
    (copy,) = (home.backups / "agents").iterdir()
    assert copy.read_text().endswith("// and this\n")


def test_the_text_of_an_older_backstory_is_brought_up_to_date_without_a_warning(
    user: Path, home: Home
) -> None:
    agent = with_a_plugin(user)
    install(agent, home)
    newer = replace(agent, hooks=HOOKS[:1])
    assert did(install(newer, home), plugin(user)) == {"hook SessionStart": "update"}


def test_a_file_of_another_home_is_taken_over(user: Path, home: Home, tmp_path: Path) -> None:
    agent = with_a_plugin(user)
    install(agent, Home(tmp_path / "old"))
    assert states(agent, home) == {("differs", "it is of another home")}
    install(agent, home)
    assert states(agent, home) == {("configured", "")}


def test_uninstalling_removes_ours_only(user: Path, home: Home) -> None:
    agent = with_a_plugin(user)
    install(agent, home)
    plugin(user).write_text("// somebody else's by now\n")

    made = uninstall(agent, home)

    assert did(made, plugin(user)) == {"it is not ours and stays": "warn"}
    assert plugin(user).read_text() == "// somebody else's by now\n"


def test_a_file_that_was_there_before_us_is_replaced_with_a_warning_and_a_copy(
    user: Path, home: Home
) -> None:
    agent = with_a_plugin(user)
    plugin(user).parent.mkdir(parents=True)
    plugin(user).write_text("// mine\n")
    made = install(agent, home)
    assert any("not ours" in what for what in did(made, plugin(user)))
    (copy,) = (home.backups / "agents").iterdir()
    assert copy.read_text() == "// mine\n"


def test_a_link_to_a_file_of_ours_stays_a_link(user: Path, home: Home, tmp_path: Path) -> None:
    agent = with_a_plugin(user)
    target = tmp_path / "dotfiles.js"
    target.write_text("BACKSTORY_AGENT=plug /old/hook/hook.sh")
    plugin(user).parent.mkdir(parents=True)
    plugin(user).symlink_to(target)
    install(agent, home)
    assert plugin(user).is_symlink()
    assert "const commands" in target.read_text()


def test_a_project_gets_its_own_file_and_gives_it_back(user: Path, home: Home, project: Path) -> None:
    agent = with_a_plugin(user)
    install(agent, home, project)
    assert "plug/plugins/backstory.js" in contents(project)
    assert not plugin(user).exists()
    uninstall(agent, home)
    assert contents(project) == set()


# --- several agents ---------------------------------------------------------------------------------------


def test_with_the_last_of_several_agents_everything_goes_but_the_memory(user: Path, home: Home) -> None:
    agents = [with_a_plugin(user), milliseconds(user), CLAUDE]
    before = contents(user)
    for agent in agents:
        install(agent, home)

    for plan in uninstall_plans(agents, home):
        carry_out(plan(), home)

    assert contents(user) == before
    assert not home.root.exists()


def test_one_of_several_agents_leaves_the_others_alone(user: Path, home: Home) -> None:
    agents = [with_a_plugin(user), milliseconds(user)]
    for agent in agents:
        install(agent, home)
    for plan in uninstall_plans(agents[:1], home):
        carry_out(plan(), home)
    assert not plugin(user).exists()
    assert states(agents[1], home) == {("configured", "")}


@pytest.mark.parametrize(("word", "made"), [("file", "settings.json"), ("folder", "")])
def test_the_list_of_the_first_version_is_understood(user: Path, home: Home, word: str, made: str) -> None:
    file = user / ".claude" / "settings.json"
    home.root.mkdir()
    rows = {"claude-code": [{"file": str(file), "kind": "settings", "made": word}]}
    written_files.state_file(home).write_text(json.dumps(rows))
    assert written_files.written_sites(home)["claude-code"] == (
        written_files.Site(file, written_files.SETTINGS, str(file.parent / made)),
    )


# --- every agent there is ---------------------------------------------------------------------------------


@pytest.fixture
def untouched(user: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user whose environment moves nothing."""
    for name in list(os.environ):
        if name not in ("HOME", "PATH"):
            monkeypatch.delenv(name)
    return user


@pytest.mark.parametrize("agent", installable_agents(), ids=lambda agent: agent.name)
@pytest.mark.parametrize("in_project", [False, True])
def test_each_agent_is_connected_once_and_leaves_no_trace_mp_37(
    agent: Agent, in_project: bool, untouched: Path, home: Home, project: Path
) -> None:
    """MP-37"""
    where = project if in_project else None
    before = contents(untouched), contents(project)
    install(agent, home, where)

    assert {state.state for state in installed_hooks(agent, home, where)} == {"configured"}
    assert {change.action for change in plan_install(agent, home, where).changes} <= {"keep", "warn"}
    if in_project:
        assert not settings_file(agent).exists()
    uninstall(agent, home)
    assert (contents(untouched), contents(project)) == before
    assert not home.root.exists()
