"""Our MCP server in the agents' lists: there once, taken out again, everybody else's as they are."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import tomlkit

from backstory import jsonc
from backstory.agents import AGENTS
from backstory.agents.mcp_lists import Launch
from backstory.capture import mcp_registration
from backstory.capture.agent_setup import carry_out, plan_install, plan_uninstall
from backstory.errors import UsageError
from backstory.paths import Home

from . import desk
from .desk import CLAUDE, contents, did

user, home, project, file = desk.user, desk.home, desk.project, desk.file

SERVERS = {name: agent.servers for name, agent in AGENTS.items() if agent.servers}
START = Launch(
    "/usr/bin/python3", ("-I", "-S", "/it's/here/hook/backstory_mcp.py"), {"BACKSTORY_HOME": "/it's/here"}
)
# What earlier versions registered.
BY_MODULE = replace(START, arguments=("-I", "-m", "backstory.mcp"))
TEXTS = {
    False: ["", "{}\n", '{"mcpServers": {"x": {"command": "y"}}}', '{\n\t// mine\n\t"model": "opus",\n}\n'],
    True: [
        "",
        "a = 1",
        "a = 1\n",
        "# mine\n[mcp_servers.x]\ncommand = 'y'\n",
        "[mcp_servers]\nx = {command='y'}\n[z]\nb=1 # k\n",
        "[a]\nb = 1\n\n\n",
        "mcp_servers.x.command='y'\n",
        "mcp_servers = {x={command='y'}}\n",
    ],
}
TEXT_AND_FORM = [(text, toml) for toml, texts in TEXTS.items() for text in texts]


def parsed(text: str, toml: bool) -> Any:
    return tomlkit.parse(text).unwrap() if toml else jsonc.parse(text).value


def entry(home: str = "/it's/here", **more: Any) -> Mapping[str, Any]:
    start = replace(START, environment={"BACKSTORY_HOME": home})
    return {**SERVERS["codex"].entry(start), **more}


def key(toml: bool) -> str:
    return "mcp_servers" if toml else "mcpServers"


@pytest.mark.parametrize("toml", [False, True])
def test_what_earlier_versions_registered_is_ours_and_brought_up_to_date(toml: bool) -> None:
    old = SERVERS["codex"].entry(BY_MODULE)
    text, _ = mcp_registration.put_server("", (key(toml),), old, toml)
    for path in ("/it's/here", "C:\\here"):
        new = entry(
            args=["-I", "-S", f"{path}\\hook\\backstory_mcp.py" if ":" in path else START.arguments[2]]
        )
        text, did = mcp_registration.put_server(text, (key(toml),), new, toml)
        assert did == "update"
        assert parsed(text, toml)[key(toml)]["backstory"]["args"] == new["args"]
    assert mcp_registration.remove_servers(text, toml)[1] == 1


@pytest.mark.parametrize(("text", "toml"), TEXT_AND_FORM)
def test_the_server_comes_once_and_goes_without_a_trace(text: str, toml: bool) -> None:
    more, action = mcp_registration.put_server(text, (key(toml),), entry(), toml)

    assert action == "add"
    assert parsed(more, toml)[key(toml)].pop("backstory") == entry()
    assert mcp_registration.put_server(more, (key(toml),), entry(), toml) == (more, "keep")
    less, found = mcp_registration.remove_servers(more, toml)
    assert found == 1
    assert less == text or (text in ("", "{}\n") and less.strip() == "{}")
    assert mcp_registration.remove_servers(less, toml) == (less, 0)


@pytest.mark.parametrize(("text", "toml"), TEXT_AND_FORM)
def test_a_moved_home_is_taken_over_and_what_somebody_set_beside_it_stays(text: str, toml: bool) -> None:
    theirs = entry("/old", timeout=7, env={"BACKSTORY_HOME": "/old", "A": "b"})
    text, _ = mcp_registration.put_server(text, (key(toml),), theirs, toml)

    more, action = mcp_registration.put_server(text, (key(toml),), entry(), toml)

    assert action == "update"
    found = parsed(more, toml)[key(toml)]["backstory"]
    assert found["timeout"] == 7
    assert found["env"]["BACKSTORY_HOME"] == "/it's/here"
    assert found["command"] == START.program


@pytest.mark.parametrize(
    ("text", "toml"),
    [
        ('{"mcpServers": {"backstory": {"command": "other"}}}', False),
        ("[mcp_servers.backstory]\ncommand = 'other'\n", True),
    ],
)
def test_another_server_of_that_name_stays(text: str, toml: bool) -> None:
    assert mcp_registration.put_server(text, (key(toml),), entry(), toml) == (text, "taken")
    assert mcp_registration.remove_servers(text, toml) == (text, 0)


def test_every_agent_that_can_be_installed_has_a_list_or_is_known_to_have_none() -> None:
    assert {name for name, agent in AGENTS.items() if agent.surface} - set(SERVERS) <= {"pi"}


def test_each_agents_entry_starts_the_same_server() -> None:
    for name, listed in SERVERS.items():
        value = listed.entry(START)
        words = value["command"] if isinstance(value["command"], list) else [value["command"], *value["args"]]
        assert words == [START.program, *START.arguments], name
        assert {"BACKSTORY_HOME": "/it's/here"} in (value.get("env"), value.get("environment")), name


def test_claude_codes_list_lies_beside_its_folder_or_inside_a_moved_one(
    user: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert SERVERS["claude-code"].file(None) == user / ".claude.json"
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "config"))
    assert SERVERS["claude-code"].file(None) == tmp_path / "config" / ".claude.json"


# --- through install --------------------------------------------------------------------------------------


def test_install_lists_the_server_and_uninstall_gives_the_file_back(user: Path, home: Home) -> None:
    state = user / ".claude.json"
    state.write_text('{\n  "numStartups": 3\n}\n')
    made = plan_install(CLAUDE, home)
    carry_out(made, home)

    assert did(made, state) == {"MCP server": "add"}
    listed = json.loads(state.read_text())["mcpServers"]["backstory"]
    assert listed["env"] == {"BACKSTORY_HOME": str(home.root)}
    assert did(plan_install(CLAUDE, home), state) == {"MCP server": "keep"}
    carry_out(plan_uninstall(CLAUDE, home), home)
    assert state.read_text() == '{\n  "numStartups": 3\n}\n'


def test_what_is_listed_can_be_started_from_anywhere(user: Path, home: Home) -> None:
    carry_out(plan_install(CLAUDE, home), home)
    listed = json.loads((user / ".claude.json").read_text())["mcpServers"]["backstory"]
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}
        },
    }  # fmt: skip

    ran = subprocess.run(
        [listed["command"], *listed["args"]],
        env=listed["env"],
        cwd="/",
        input=json.dumps(hello).encode() + b"\n",
        capture_output=True,
        timeout=60,
    )

    assert json.loads(ran.stdout.splitlines()[0])["result"]["serverInfo"]["name"] == "backstory", ran.stderr


def test_a_project_is_listed_for_itself_and_forgotten_with_uninstall(
    user: Path, home: Home, project: Path
) -> None:
    state = user / ".claude.json"
    state.write_text("{}")
    carry_out(plan_install(CLAUDE, home, project), home)
    assert "backstory" in json.loads(state.read_text())["projects"][str(project)]["mcpServers"]
    carry_out(plan_uninstall(CLAUDE, home), home)
    assert json.loads(state.read_text()) == {}


def test_without_a_server_nothing_is_listed(user: Path, home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mcp_registration, "is_there", lambda: False)
    before = contents(user)
    carry_out(plan_install(CLAUDE, home), home)
    assert contents(user) - before == {".claude/settings.json"}


def test_another_server_of_our_name_is_told(user: Path, home: Home) -> None:
    state = user / ".claude.json"
    state.write_text('{"mcpServers": {"backstory": {"command": "other"}}}')
    made = plan_install(CLAUDE, home)
    assert did(made, state) == {"another server is called backstory and stays": "warn"}
    carry_out(made, home)
    assert state.read_text() == '{"mcpServers": {"backstory": {"command": "other"}}}'


def test_a_list_that_cannot_be_read_is_named_with_its_place(user: Path, home: Home) -> None:
    state = user / ".claude.json"
    state.write_text('{"mcpServers": []}')
    with pytest.raises(UsageError, match=r"\.claude\.json:1:16: \"mcpServers\" must be an object"):
        plan_install(CLAUDE, home)


def test_a_toml_list_that_cannot_be_read_is_named_with_its_place(
    user: Path, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CODEX_HOME", raising=False)
    config = user / ".codex" / "config.toml"
    config.parent.mkdir()
    config.write_text("model = 'x'\nmodel = \n")
    with pytest.raises(UsageError, match=r"config\.toml:2:\d+: .*; the file stays as it is"):
        plan_install(AGENTS["codex"], home)
    assert config.read_text() == "model = 'x'\nmodel = \n"
