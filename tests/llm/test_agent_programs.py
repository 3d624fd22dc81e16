"""`claude -p` and `codex exec`: guarded processes, with stand-ins that tell what they were given."""

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from backstory.llm.agent_programs import CLAUDE, CODEX, Program
from backstory.llm.model_provider import Access, Question, Trouble
from tests.conftest import eventually
from tests.llm.conftest import Asking, a_session, saying
from tests.story import House

QUESTION = Question("Be brief.", "Log:\n[1] user: hello", {"type": "object"}, 300)
KINDS = {"claude": CLAUDE, "codex": CODEX}
ANSWERS = {
    "claude": """printf '%s\\n' '{"type":"result","is_error":false,"result":"{\\"memories\\": []}","usage":{"input_tokens":7,"cache_read_input_tokens":30,"output_tokens":3}}'""",
    "codex": """printf '%s' '{"memories": []}' >answer.txt
printf '%s\\n' '{"type":"thread.started"}' '{"type":"turn.completed","usage":{"input_tokens":37,"output_tokens":3}}'""",
}


class Stand:
    """A folder on PATH with programs that tests write."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()

    def puts(self, name: str, script: str) -> None:
        path = self.folder / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def told(self, name: str) -> str:
        return (self.folder / name).read_text()


@pytest.fixture
def stand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stand:
    made = Stand(tmp_path / "bin")
    monkeypatch.setenv("PATH", f"{made.folder}:{os.environ['PATH']}")
    return made


def program(name: str, seconds: float = 20, **access: Any) -> Program:
    return Program(KINDS[name], Access(model="small", seconds=seconds, **access))


@pytest.mark.parametrize("name", KINDS)
class TestBoth:
    def test_the_answer_and_what_it_took_are_read(self, stand: Stand, name: str) -> None:
        stand.puts(name, f"cat >{stand.folder}/stdin\n{ANSWERS[name]}")
        reply = program(name).ask(QUESTION)
        assert (json.loads(reply.text), reply.tokens_in, reply.tokens_out) == ({"memories": []}, 37, 3)
        assert stand.told("stdin") == QUESTION.text

    def test_it_runs_guarded_with_a_cleaned_environment_in_a_folder_of_its_own(
        self, stand: Stand, name: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """CM-12, CM-54: the guard is there before it starts, no agent's variable is."""
        for variable in ("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CODEX_SANDBOX", "OPENAI_API_KEY", "SECRET"):
            monkeypatch.setenv(variable, "inherited")
        stand.puts(
            name,
            f"env >{stand.folder}/env; pwd >{stand.folder}/pwd; ps -o pgid= $$ >{stand.folder}/group\n{ANSWERS[name]}",
        )
        program(name, key="the-key").ask(QUESTION)
        told = dict(line.split("=", 1) for line in stand.told("env").splitlines() if "=" in line)
        assert told["BACKSTORY_GUARD"] == "1"
        assert "inherited" not in told.values()
        assert "the-key" in told.values()
        assert not Path(stand.told("pwd").strip()).exists(), "an empty folder, gone afterwards"
        assert int(stand.told("group")) != os.getpgrp()

    def test_no_servers_settings_hooks_or_kept_sessions(self, stand: Stand, name: str) -> None:
        """CM-54."""
        stand.puts(name, f'printf "%s\\n" "$@" >{stand.folder}/words\n{ANSWERS[name]}')
        program(name).ask(QUESTION)
        words = stand.told("words").splitlines()
        wanted = {
            "claude": [("--setting-sources", ""), ("--mcp-config", '{"mcpServers":{}}'), ("--tools", "")],
            "codex": [
                ("--sandbox", "read-only"),
                ("-c", "features.hooks=false"),
                ("-c", "mcp_servers={}"),
                ("-c", "project_doc_max_bytes=0"),
            ],
        }[name]
        pairs = list(itertools.pairwise(words))
        assert set(wanted) <= set(pairs)
        alone = {
            "claude": {"--strict-mcp-config", "--no-session-persistence", "--disable-slash-commands"},
            "codex": {"--ephemeral", "--ignore-user-config", "--ignore-rules"},
        }[name]
        assert alone <= set(words)
        assert ("--model", "small") in pairs

    def test_nothing_said_with_exit_0_is_a_failure(self, stand: Stand, name: str) -> None:
        """CM-64."""
        stand.puts(name, "exit 0")
        with pytest.raises(Trouble, match="said nothing"):
            program(name).ask(QUESTION)

    def test_another_exit_code_is_a_failure_that_says_why(self, stand: Stand, name: str) -> None:
        stand.puts(name, "echo 'you are not logged in' >&2; exit 3")
        with pytest.raises(Trouble, match="ended with 3") as caught:
            program(name).ask(QUESTION)
        assert caught.value.said == "you are not logged in"

    def test_when_its_time_is_over_nobody_of_its_group_is_left(self, stand: Stand, name: str) -> None:
        stand.puts(name, f"sleep 300 & echo $! >{stand.folder}/child; sleep 300")
        began = time.monotonic()
        with pytest.raises(Trouble, match="within 1 s"):
            program(name, seconds=1).ask(QUESTION)
        assert time.monotonic() - began < 120
        child = int(stand.told("child"))
        eventually("its child is gone", lambda: not running(child))

    def test_a_child_that_outlives_it_is_ended_too(self, stand: Stand, name: str) -> None:
        stand.puts(name, f"sleep 300 >/dev/null 2>&1 & echo $! >{stand.folder}/child\n{ANSWERS[name]}")
        program(name).ask(QUESTION)
        child = int(stand.told("child"))
        eventually("its child is gone", lambda: not running(child))

    def test_a_missing_program_is_told(self, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", "/nonexistent")
        with pytest.raises(Trouble, match=f"no program {name} on PATH"):
            program(name).ask(QUESTION)


def running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except (OSError, IndexError):
        return False


def test_an_error_that_claude_reports_is_no_answer(stand: Stand) -> None:
    stand.puts("claude", """echo '{"type":"result","is_error":true,"result":"Credit balance is too low"}'""")
    with pytest.raises(Trouble, match="reports an error") as caught:
        program("claude").ask(QUESTION)
    assert "Credit balance" in caught.value.said


def test_ten_sessions_that_end_at_once_are_read_one_after_the_other(
    house: House, asking: Asking, stand: Stand
) -> None:
    """CM-55: ten workers at once, ten results, no two calls at a time, no crash."""
    home = house.home.root
    house.sets("model.provider", "claude")
    house.sets("worker.linger_seconds", "0")
    said = json.dumps(
        {"type": "result", "result": saying({"kind": "fact", "text": "It streams", "lines": [1]})}
    )
    stand.puts(
        "claude",
        f"""mkdir {stand.folder}/busy || echo two at a time >>{stand.folder}/clashes
echo call >>{stand.folder}/calls
sleep 0.2
rmdir {stand.folder}/busy
cat <<'END'
{said}
END""",
    )
    house.sets("model.wiki", "off")
    stories = [a_session(house) for _ in range(10)]
    house.close()
    workers = [
        subprocess.Popen(
            [sys.executable, "-m", "backstory.worker", str(home)],
            env={**os.environ, "BACKSTORY_GUARD": "1"},
        )
        for _ in range(10)
    ]
    try:
        assert [worker.wait(120) for worker in workers] == [0] * 10
    finally:
        for worker in workers:
            if worker.poll() is None:
                worker.send_signal(signal.SIGKILL)
    assert stand.told("calls").count("call") == 10
    assert not (stand.folder / "clashes").exists()
    house.works()
    for story in stories:
        assert [memory.text for memory in asking.learned(story)] == ["It streams"]
