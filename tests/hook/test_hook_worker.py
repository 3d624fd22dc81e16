"""The worker as hooks start it: when, with which files, and that the agent never waits for it."""

import json
import os
import select
import signal
import stat
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from backstory.capture.hook_bundle import write_hook_files

from .stage import PAYLOAD, SHELLS, Agent

every_shell = pytest.mark.parametrize("shell", sorted(SHELLS))


def wait_for(path: Path, seconds: float = 10) -> dict[str, Any]:
    deadline = time.monotonic() + seconds
    while not path.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    return dict(json.loads(path.read_text()))


@every_shell
@pytest.mark.parametrize(
    ("event", "woken"),
    [
        *((event, True) for event in ("Stop", "SessionEnd", "SessionStart", "PreCompact")),
        *((event, False) for event in ("PostToolUse", "UserPromptSubmit", "PostToolUseFailure")),
    ],
)
def test_the_worker_is_woken_by_the_ends_of_turns_only(
    agent: Agent, shell: str, event: str, woken: bool
) -> None:
    agent.run(event, PAYLOAD, shell)
    if woken:
        about = wait_for(agent.home / "worker.json")
        assert about["argv"] == ["-I", "-m", "backstory.worker", str(agent.home)]
        assert about["guard"] == "1"
        assert about["cwd"] == "/"
    else:
        time.sleep(0.1)
        assert not (agent.home / "worker.json").exists()


@every_shell
def test_the_agent_neither_waits_for_the_worker_nor_shares_its_pipes_with_it(
    agent: Agent, shell: str
) -> None:
    # CMEM-30: it lives for 30 s more, yet all pipes are at their end when the hook returns
    leak_read, leak_write = os.pipe()

    def leak() -> None:
        os.dup2(leak_write, 7)

    try:
        start = time.monotonic()
        options: dict[str, Any] = {"env": {"STAND_IN_SECONDS": "30"}, "close_fds": False, "preexec_fn": leak}
        done = agent.run("Stop", PAYLOAD, shell, before="exec 3>&1; ", **options)
        assert time.monotonic() - start < 25
    finally:
        os.close(leak_read)
        os.close(leak_write)
    assert (done.returncode, done.stdout) == (0, b"")
    about = wait_for(agent.home / "worker.json")
    os.kill(about["pid"], signal.SIGKILL)
    assert {about["fds"][fd] for fd in "012"} == {"/dev/null"}
    assert not [fd for fd in about["fds"] if 2 < int(fd) < 10 and about["fds"][fd] == oct(stat.S_IFIFO)]


def no_file(interpreter: Path) -> None:
    pass


def a_folder(interpreter: Path) -> None:
    interpreter.mkdir()


def a_script_whose_own_interpreter_is_gone(interpreter: Path) -> None:
    interpreter.write_text("#!/nonexistent/python\n")
    interpreter.chmod(0o755)


def one_that_fails(interpreter: Path) -> None:
    interpreter.write_text("#!/bin/sh\necho never heard >&2\necho never heard\nexit 3\n")
    interpreter.chmod(0o755)


@every_shell
@pytest.mark.parametrize(
    "broken",
    [no_file, a_folder, a_script_whose_own_interpreter_is_gone, one_that_fails],
    ids=lambda broken: broken.__name__,
)
def test_a_worker_that_cannot_be_started_leaves_the_agents_pipes_closed(
    agent: Agent, tmp_path: Path, shell: str, broken: Callable[[Path], None]
) -> None:
    # MEMORIA-21: and not a word of the shell's about it on them
    broken(tmp_path / "broken")
    write_hook_files(agent.home, str(tmp_path / "broken"))
    pipes = [os.pipe() for _ in range(3)]

    def hand_over() -> None:
        for fd, (_, end) in zip((1, 2, 7), pipes, strict=True):
            os.dup2(end, fd)

    hook = subprocess.Popen(
        [*SHELLS[shell], "-c", agent.command("Stop")],
        stdin=subprocess.PIPE,
        env={"PATH": ""},
        close_fds=False,
        preexec_fn=hand_over,
    )
    for _, end in pipes:
        os.close(end)
    try:
        assert hook.stdin is not None
        hook.stdin.write(PAYLOAD)
        hook.stdin.close()
        assert hook.wait(20) == 0
        for end, _ in pipes:
            assert select.select([end], [], [], 10)[0], "somebody still holds it"
            assert os.read(end, 100) == b""
    finally:
        for end, _ in pipes:
            os.close(end)
    assert agent.payloads() == [PAYLOAD]


@every_shell
def test_the_worker_survives_a_hang_up_of_the_agents_group(agent: Agent, shell: str) -> None:
    # MEMORIA-22: the signal arrives while the hook is still at work
    environment = {"STAND_IN_SECONDS": "20"}
    argv = [*SHELLS[shell], "-c", agent.command("Stop")]
    for _ in range(3):
        (agent.home / "worker.json").unlink(missing_ok=True)
        hook = subprocess.Popen(argv, stdin=subprocess.PIPE, env=environment, start_new_session=True)
        assert hook.stdin is not None
        hook.stdin.write(PAYLOAD)
        hook.stdin.close()
        hook.wait()
        for name in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
            try:
                os.killpg(hook.pid, name)
            except ProcessLookupError:
                break  # it has its own session already
        about = wait_for(agent.home / "worker.json")
        assert about["ignored"] == ["SIGHUP", "SIGINT", "SIGTERM"]
        os.kill(about["pid"], 0)
        os.kill(about["pid"], signal.SIGKILL)


def test_without_any_worker_nothing_is_lost(agent: Agent) -> None:
    # CMEM-14, CMEM-15, CMEM-16: there is nobody to send to, so nothing to retry
    write_hook_files(agent.home, "/bin/false")
    for number in range(5):
        assert agent.run("Stop", b'{"n":%d}' % number).returncode == 0
    assert sorted(agent.payloads()) == [b'{"n":%d}' % number for number in range(5)]
