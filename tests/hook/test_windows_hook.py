"""The Windows variant, as far as another system can show it: quoting, spool, no console window."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from backstory.agents import AGENTS
from backstory.hook import agent_facts, spool, windows_hook
from backstory.hook.hook_command import hook_command_windows, quote_cmd

from .stage import Agent, context


@pytest.mark.parametrize(
    ("path", "quoted"),
    [
        (r"C:\Users\me\backstory", r'"C:\Users\me\backstory"'),
        (r"C:\Users\Jo Doe\back & story (1)", r'"C:\Users\Jo Doe\back & story (1)"'),
        ("C:\\trailing\\", '"C:\\trailing\\\\"'),
        ("D:\\größe", '"D:\\größe"'),
        ('no"quotes', '"noquotes"'),
    ],
)
def test_paths_are_quoted_for_cmd(path: str, quoted: str) -> None:
    # CCE-32
    assert quote_cmd(path) == quoted


def test_the_command_tests_for_its_script_and_ends_in_zero() -> None:
    # CCE-32: `python missing.pyc` would exit 2
    command = hook_command_windows("C:\\My Home\\", "codex", "Stop", r"C:\Program Files\Python\python.exe")
    assert command == (
        r'(if exist "C:\My Home\hook\hook.pyc" "C:\Program Files\Python\python.exe" -I -S '
        r'"C:\My Home\hook\hook.pyc" capture "C:\My Home" codex Stop) & exit 0'
    )
    with pytest.raises(ValueError, match="letters, digits"):
        hook_command_windows("C:\\", "co&dex", "Stop", "python")


def test_the_bundle_knows_of_each_agent_what_the_agents_table_says(agent: Agent) -> None:
    """Hooks never load the table: what they need of it is written into what they run."""
    script = (
        "import sys, runpy; sys.argv = ['x', 'capture', '', '', '']\n"
        "import os; os.environ['BACKSTORY_GUARD'] = '1'\n"
        "os._exit = lambda code: None\n"
        f"runpy.run_path({str(agent.home / 'hook' / 'hook.pyc')!r}, run_name='__main__')\n"
        "from backstory.hook.agent_facts import FACTS\n"
        "print(repr(FACTS))"
    )
    done = subprocess.run([sys.executable, "-I", "-S", "-c", script], capture_output=True, check=False)
    assert done.stdout.decode().strip() == repr(agent_facts.FACTS), done.stderr
    for row in AGENTS.values():
        facts = agent_facts.facts_of(row.name)
        assert set(facts["wakes"]) == {hook.name for hook in row.hooks if hook.wakes}
        assert facts["notes"] == {hook.name: hook.note for hook in row.hooks if hook.note}


def run(agent: Agent, event: str, data: bytes, **options: Any) -> subprocess.CompletedProcess[bytes]:
    argv = [sys.executable, "-I", "-S", str(agent.home / "hook" / "hook.pyc"), "capture", str(agent.home)]
    return subprocess.run(
        [*argv, "claude-code", event], input=data, capture_output=True, timeout=30, check=False, **options
    )


@pytest.mark.parametrize("data", [b"", b'{"a":"\xff\r\n"}', b"x" * 3_000_000], ids=["empty", "odd", "large"])
def test_it_leaves_the_same_files_as_the_script(agent: Agent, data: bytes) -> None:
    done = run(agent, "PostToolUse", data)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert agent.payloads() == [data]
    (name,) = agent.spooled()
    parsed = spool.parse_name(name)
    assert parsed is not None
    assert (parsed.agent, parsed.event, parsed.ppid) == ("claude-code", "PostToolUse", os.getpid())


def test_guarded_it_writes_nothing(agent: Agent) -> None:
    # CM-11, MEMORIA-24
    done = run(agent, "Stop", b"{}", env={"BACKSTORY_GUARD": "1"})
    assert (done.returncode, done.stdout) == (0, b"")
    assert agent.spooled() == []


def test_what_cannot_be_written_is_logged_and_does_not_disturb(agent: Agent) -> None:
    (agent.home / "spool").rmdir()
    (agent.home / "spool").write_text("in the way")
    done = run(agent, "PostToolUse", b"{}")
    assert (done.returncode, done.stdout) == (0, b"")
    assert "FileExistsError" in (agent.home / "logs" / "hook.log").read_text()


class Pipes:
    """stdin and stdout of this process, replaced for a moment."""

    def __init__(self, data: bytes, folder: Path) -> None:
        self.paths = (folder / "stdin", folder / "stdout")
        self.paths[0].write_bytes(data)

    def __enter__(self) -> "Pipes":
        self.saved = os.dup(0), os.dup(1)
        for fd, path in enumerate(self.paths):
            opened = os.open(path, os.O_RDONLY if fd == 0 else os.O_WRONLY | os.O_CREAT, 0o600)
            os.dup2(opened, fd)
            os.close(opened)
        return self

    def __exit__(self, *_: object) -> None:
        for fd, saved in enumerate(self.saved):
            os.dup2(saved, fd)
            os.close(saved)


def test_it_answers_and_wakes_the_worker_after_the_answer(
    agent: Agent, project: Path, tmp_path: Path
) -> None:
    agent.prepare(project, ("decisions", "a decision"))
    woken: list[tuple[str, bool]] = []
    data = json.dumps({"session_id": "x", "cwd": str(project), "source": "startup"}).encode()
    output = tmp_path / "stdout"

    def start(home: str) -> None:
        woken.append((home, output.stat().st_size > 0))

    with Pipes(data, tmp_path):
        windows_hook.capture_stdin(str(agent.home), "claude-code", "SessionStart", start)
        windows_hook.capture_stdin(str(agent.home), "claude-code", "PostToolUse", start)
    assert "a decision" in context(output.read_bytes())
    assert woken == [(str(agent.home), True)]


def test_the_worker_starts_without_a_window_and_without_our_pipes(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    # MEMORIA-23: CREATE_NO_WINDOW and not DETACHED_PROCESS
    started: dict[str, Any] = {}

    def popen(argv: list[str], **options: Any) -> None:
        started.update(options, argv=argv)

    monkeypatch.setattr(subprocess, "Popen", popen)
    monkeypatch.setattr(sys, "platform", "win32")
    windows_hook.start_worker(str(agent.home))
    detached_process = 0x00000008
    assert started["creationflags"] & windows_hook.CREATE_NO_WINDOW
    assert not started["creationflags"] & detached_process
    assert started["argv"][1:] == ["-I", "-m", "backstory.worker", str(agent.home)]
    assert started["stdin"] == started["stdout"] == started["stderr"] == subprocess.DEVNULL
    assert started["close_fds"] is True
    assert started["env"]["BACKSTORY_GUARD"] == "1"


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="looks at descriptors through /proc")
def test_a_worker_that_cannot_be_started_leaves_nothing_open(
    agent: Agent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # MEMORIA-21
    def descriptors() -> dict[str, str]:
        folder = "/proc/self/fd"
        return {
            fd: os.readlink(f"{folder}/{fd}") for fd in os.listdir(folder) if os.path.exists(f"{folder}/{fd}")
        }

    monkeypatch.setattr(sys, "executable", str(tmp_path / "gone" / "python"))
    before = descriptors()
    with pytest.raises(FileNotFoundError, match="gone"):
        windows_hook.start_worker(str(agent.home))
    assert descriptors() == before


def test_the_agent_hears_nothing_of_a_worker_that_cannot_be_started(agent: Agent) -> None:
    # MEMORIA-21
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from backstory.hook import __main__ as hook\n"
        f"from backstory.hook import agent_facts; agent_facts.FACTS.update({agent_facts.FACTS!r})\n"
        "sys.executable = '/nonexistent/python'; hook.main(['capture', sys.argv[2], 'claude-code', 'Stop'])"
    )
    source = str(Path(spool.__file__).parent.parent.parent)
    argv = [sys.executable, "-I", "-S", "-c", code, source, str(agent.home)]
    done = subprocess.run(argv, input=b"{}", capture_output=True, timeout=30, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert agent.payloads() == [b"{}"]
    assert "FileNotFoundError" in (agent.home / "logs" / "hook.log").read_text()
