"""The real Claude Code and Codex as models, in the home of somebody with hooks and servers of their own."""

import json
from pathlib import Path

import pytest

from backstory.distil import operations
from backstory.llm.model_provider import Question, Trouble, provider
from backstory.settings import Settings
from tests.agents.conftest import program
from tests.agents.model import Model, Say, Status
from tests.llm.conftest import saying

pytestmark = pytest.mark.clients
QUESTION = Question(operations.SYSTEM, "Log:\n[1] user: hello", operations.SCHEMA, 300)
CLIENTS = {"claude": "claude-code", "codex": "codex"}


def settle(home: Path, trace: Path) -> None:
    """Settings of a user whose every customisation leaves a trace."""
    leaves = {"type": "command", "command": f"touch {trace}/hook"}
    every = ["SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"]
    hooks = {event: [{"hooks": [leaves]}] for event in every}
    server = {"command": "sh", "args": ["-c", f"touch {trace}/server"]}
    (home / ".claude").mkdir(parents=True)
    (home / ".claude" / "settings.json").write_text(json.dumps({"hooks": hooks}))
    (home / ".claude" / "CLAUDE.md").write_text("Always mention the word marzipan.")
    (home / ".claude.json").write_text(json.dumps({"mcpServers": {"trace": server}}))
    (home / ".codex").mkdir()
    (home / ".codex" / "hooks.json").write_text(json.dumps({"hooks": hooks}))
    (home / ".codex" / "config.toml").write_text(
        f'notify = ["touch", "{trace}/notify"]\n[mcp_servers.trace]\ncommand = "sh"\n'
        f'args = ["-c", "touch {trace}/server"]\n'
    )


@pytest.fixture(params=CLIENTS)
def name(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    chosen = str(request.param)
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / chosen).symlink_to(program(CLIENTS[chosen]))
    (tmp_path / "trace").mkdir()
    settle(tmp_path / "user", tmp_path / "trace")
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.setenv("SCRIPTED_KEY", "scripted-key")
    monkeypatch.chdir(tmp_path)  # the clients lie in this repository, from which no program would be started
    return chosen


def asked(name: str, model: Model) -> Settings:
    url = model.url + ("/v1" if name == "codex" else "")
    return Settings(
        model_provider=name, model_url=url, model_key_env="SCRIPTED_KEY", model_timeout_seconds=60
    )


def test_it_answers_without_touching_anything_of_the_user(name: str, model: Model, tmp_path: Path) -> None:
    """CM-54: no MCP servers, no hooks, no instructions of the user's, and no session left behind."""
    model.aside("Log:", saying())
    model.when("Log:", Say(saying()))
    chosen = provider(asked(name, model), "distil")
    assert chosen is not None
    reply = chosen.ask(QUESTION)
    assert json.loads(reply.text) == json.loads(saying())
    assert (reply.tokens_in, reply.tokens_out) == (100, 20)
    assert list((tmp_path / "trace").iterdir()) == []
    kept = [
        *(tmp_path / "user").glob(".claude/projects/**/*.jsonl"),
        *(tmp_path / "user").glob(".codex/sessions/**/*.jsonl"),
    ]
    assert kept == []
    (request,) = model.requests
    told = json.dumps(request.body)
    assert request.body["model"] == chosen.model
    assert "You keep the memory of a software project" in told
    assert "marzipan" not in told
    estimated = (len(told) - len(QUESTION.system) - len(QUESTION.text)) / 3.6
    assert estimated < chosen.overhead + 700, "what it adds to a question is known beforehand"


def test_its_trouble_is_ours(name: str, model: Model) -> None:
    model.fails_with(*[Status(400, message="no such model")] * 3)
    chosen = provider(asked(name, model), "distil")
    assert chosen is not None
    with pytest.raises(Trouble):
        chosen.ask(QUESTION)
