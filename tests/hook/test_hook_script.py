"""The capture hook through real shells: whatever breaks, the agent goes on, and what it sent is kept."""

import json
import os
import pty
import random
import resource
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from backstory.capture.hookfiles import write_hook_files
from backstory.hook import spool
from backstory.hook.command import hook_command, quote_sh

from .stage import SHELLS, Agent, context

PAYLOAD = json.dumps(
    {"session_id": "s", "cwd": "/srv/shop", "text": "ünï\u2028"}, ensure_ascii=False
).encode()
UNFORKABLE = Path(__file__).parent.parent / "agents" / "unforkable.py"
every_shell = pytest.mark.parametrize("shell", sorted(SHELLS))


@every_shell
@pytest.mark.parametrize("size", [0, 1, 4_096, 3_000_000])
def test_what_the_agent_sent_is_kept_to_the_byte_and_for_its_owner_only(
    agent: Agent, shell: str, size: int
) -> None:
    # CMEM-15, CCE-19: no worker, no server, and a home of one's own choice
    data = PAYLOAD + random.Random(size).randbytes(size)
    done = agent.run("PostToolUse", data, shell)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    (name,) = agent.spooled()
    parsed = spool.parse_name(name)
    assert parsed is not None
    assert (parsed.agent, parsed.event, parsed.ppid) == ("claude-code", "PostToolUse", os.getpid())
    path = agent.home / "spool" / name
    assert path.read_bytes() == data + spool.TRAILER
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def no_script(home: Path) -> None:
    (home / "hook" / "hook.sh").unlink()


def a_folder_in_the_scripts_place(home: Path) -> None:
    no_script(home)
    (home / "hook" / "hook.sh").mkdir()


def a_script_of_nonsense(home: Path) -> None:
    (home / "hook" / "hook.sh").write_text("if [ x ; then\n( fi }")


def no_home(home: Path) -> None:
    shutil.rmtree(home)


def no_cat(home: Path) -> None:
    script = home / "hook" / "hook.sh"
    script.write_text(script.read_text().replace("/cat'", "/no-cat'"))


def no_interpreter(home: Path) -> None:
    write_hook_files(home, "/nonexistent/python")


def an_interpreter_that_fails(home: Path) -> None:
    write_hook_files(home, "/bin/false")


def a_file_in_the_spools_place(home: Path) -> None:
    (home / "spool").rmdir()
    (home / "spool").write_text("")


def a_read_only_spool(home: Path) -> None:
    (home / "spool").rmdir()
    (home / "spool").symlink_to("/proc/self")  # root writes everywhere but there


def no_compiled_code(home: Path) -> None:
    (home / "hook" / "hook.pyc").unlink()


def broken_compiled_code(home: Path) -> None:
    (home / "hook" / "hook.pyc").write_bytes(b"\0\0\0\0nonsense")


BREAKAGES = [
    *(no_script, a_folder_in_the_scripts_place, a_script_of_nonsense, no_home, no_cat, no_interpreter),
    *(an_interpreter_that_fails, a_file_in_the_spools_place, a_read_only_spool),
    *(no_compiled_code, broken_compiled_code),
]

# Then the session that starts is told; it is the only thing to say.
LOSE_THE_START = [no_cat, a_file_in_the_spools_place, a_read_only_spool]


@every_shell
@pytest.mark.parametrize("breakage", BREAKAGES, ids=lambda breakage: breakage.__name__)
@pytest.mark.parametrize("event", ["PostToolUse", "Stop", "SessionStart"])
def test_no_breakage_of_ours_disturbs_the_agent(
    agent: Agent, shell: str, breakage: Callable[[Path], None], event: str
) -> None:
    # CMEM-28, CMEM-29: exit 0 and empty stdout, never 2
    breakage(agent.home)
    done = agent.run(event, PAYLOAD, shell)
    assert done.returncode == 0
    if event != "SessionStart" or breakage not in LOSE_THE_START:
        assert done.stdout == b""
    else:
        assert "Backstory could not write this session's start" in context(done.stdout)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="seccomp is Linux's")
@pytest.mark.parametrize("event", ["PostToolUse", "Stop"])
@pytest.mark.parametrize("shell", sorted({"dash", "busybox"} & set(SHELLS)))
def test_a_failed_fork_is_marked_and_does_not_disturb(agent: Agent, shell: str, event: str) -> None:
    # bash tries again for 15 s and then does the same; the timeout in the agent's settings ends it before
    argv = [sys.executable, str(UNFORKABLE), *SHELLS[shell], "-c", agent.command(event)]
    done = subprocess.run(argv, input=PAYLOAD, capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, b"")
    assert [name for name in agent.spooled() if name.endswith(".write.fail")]


def test_a_script_cut_off_anywhere_does_not_disturb(agent: Agent) -> None:
    script = agent.home / "hook" / "hook.sh"
    whole = script.read_bytes()
    for length in range(0, len(whole), 23):
        script.write_bytes(whole[:length])
        done = agent.run("PostToolUse", PAYLOAD)
        assert (done.returncode, done.stdout) == (0, b""), f"cut after {length} bytes"


@every_shell
def test_with_the_guard_set_a_hook_ends_at_once_and_writes_nothing(agent: Agent, shell: str) -> None:
    # CM-11, CM-46, MEMORIA-24
    for event in ("PostToolUse", "Stop", "SessionStart"):
        done = agent.run(event, PAYLOAD, shell, env={"BACKSTORY_GUARD": "1"})
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert agent.spooled() == []
    assert not (agent.home / "worker.json").exists()


def test_on_a_terminal_it_explains_itself_and_writes_nothing(agent: Agent) -> None:
    # CMEM-11: on stderr, because stdout would become context
    keyboard, terminal = pty.openpty()
    try:
        argv = ["/bin/sh", "-c", agent.command("SessionStart")]
        done = subprocess.run(argv, stdin=terminal, capture_output=True, timeout=10, check=False)
    finally:
        os.close(keyboard)
        os.close(terminal)
    assert (done.returncode, done.stdout) == (0, b"")
    assert b"Backstory's hook" in done.stderr
    assert agent.spooled() == []


@every_shell
def test_a_closed_stdin_is_marked(agent: Agent, shell: str) -> None:
    # MEMORIA-28
    argv = [*SHELLS[shell], "-c", f"exec <&-; {agent.command('PostToolUse')}"]
    done = subprocess.run(argv, capture_output=True, timeout=10, check=False)
    assert (done.returncode, done.stdout) == (0, b"")
    assert any(name.endswith(".write.fail") for name in agent.spooled())


@every_shell
def test_it_works_from_a_deleted_folder_without_a_path(agent: Agent, shell: str, tmp_path: Path) -> None:
    # CM-51
    gone = tmp_path / "gone"
    gone.mkdir()
    done = agent.run(
        "PostToolUse", PAYLOAD, shell, before=f"cd {quote_sh(str(gone))} && /bin/rmdir ../gone; "
    )
    assert (done.returncode, done.stdout) == (0, b"")
    assert agent.payloads() == [PAYLOAD]


@every_shell
def test_options_of_the_callers_shell_do_not_matter(agent: Agent, shell: str) -> None:
    done = agent.run("PostToolUse", PAYLOAD, shell, before="set -eu; umask 000; IFS=/; ")
    assert (done.returncode, done.stdout) == (0, b"")
    assert agent.payloads() == [PAYLOAD]
    (name,) = agent.spooled()
    assert stat.S_IMODE((agent.home / "spool" / name).stat().st_mode) == 0o600


@every_shell
def test_a_name_that_is_taken_is_left_alone(agent: Agent, shell: str) -> None:
    # MEMORIA-31: pids are reused, files are not
    taken = 'for n in "" .1 .2; do printf old >"$HOME_B/spool/claude-code.Stop.$PPID.$$$n"; done; '
    done = agent.run("Stop", PAYLOAD, shell, before=taken, env={"HOME_B": str(agent.home)})
    assert (done.returncode, done.stdout) == (0, b"")
    assert agent.payloads() == [PAYLOAD]
    assert sum((agent.home / "spool" / name).read_bytes() == b"old" for name in agent.spooled()) == 3


@every_shell
def test_a_missing_spool_is_made_again(agent: Agent, shell: str) -> None:
    (agent.home / "spool").rmdir()
    agent.run("PostToolUse", PAYLOAD, shell)
    assert agent.payloads() == [PAYLOAD]
    assert stat.S_IMODE((agent.home / "spool").stat().st_mode) == 0o700


def test_what_cannot_be_written_is_marked_with_its_reason(agent: Agent) -> None:
    # MEMORIA-28, CMEM-16: the disk is full as far as this process can tell
    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4_096, 4_096))

    done = agent.run("Stop", b"x" * 10_000, preexec_fn=small_files)
    assert (done.returncode, done.stdout) == (0, b"")
    (mark,) = [name for name in agent.spooled() if name.endswith(".fail")]
    assert spool.parse_fail(mark) == ("claude-code", "Stop", "write")
    assert agent.payloads() == []


def test_on_a_full_disk_the_agent_goes_on(agent: Agent, tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    argv = ["unshare", "-rm", "/bin/sh", "-c"]
    mount = f"mount -t tmpfs -o size=16k none {quote_sh(str(small))}"
    if (
        not shutil.which("unshare")
        or subprocess.run([*argv, mount], capture_output=True, check=False).returncode
    ):
        pytest.skip("needs user namespaces to mount a small disk")
    script = f"{mount} && mkdir {quote_sh(str(small / 'spool'))} && "
    (agent.home / "spool").rmdir()
    (agent.home / "spool").symlink_to(small / "spool")
    answer = tmp_path / "answer"
    for event, told in (("PostToolUse", ""), ("SessionStart", "could not write this session's start")):
        hook = f"sh -c {quote_sh(agent.command(event))} >{quote_sh(str(answer))}"
        inner = f"{script} {hook}; echo $?; ls {quote_sh(str(small / 'spool'))}"
        done = subprocess.run(
            [*argv, inner], input=b"x" * 100_000, capture_output=True, timeout=30, check=False
        )
        code, *names = done.stdout.decode().split()
        assert code == "0", done
        assert any(name.endswith(".write.fail") for name in names), done
        assert told in context(answer.read_bytes())


def test_a_missing_interpreter_leaves_its_mark_and_captures_on(agent: Agent) -> None:
    no_interpreter(agent.home)
    for event in ("SessionStart", "Stop"):
        assert agent.run(event, PAYLOAD).returncode == 0
    assert agent.payloads() == [PAYLOAD, PAYLOAD]
    assert (agent.home / "spool" / "interpreter.fail").read_text() == "/nonexistent/python\n"


def test_an_answer_that_fails_leaves_its_mark(agent: Agent) -> None:
    no_compiled_code(agent.home)
    agent.run("SessionStart", PAYLOAD)
    assert agent.payloads() == [PAYLOAD]
    (mark,) = [name for name in agent.spooled() if name.endswith(".fail")]
    parsed = spool.parse_fail(mark)
    assert parsed is not None
    assert parsed[2].startswith("answer-")


# --- the worker ------------------------------------------------------------------------------------------


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
    # CMEM-30: it lives for 5 s more, yet all pipes are at their end when the hook returns
    leak_read, leak_write = os.pipe()

    def leak() -> None:
        os.dup2(leak_write, 7)

    try:
        start = time.monotonic()
        options: dict[str, Any] = {"env": {"STAND_IN_SECONDS": "5"}, "close_fds": False, "preexec_fn": leak}
        done = agent.run("Stop", PAYLOAD, shell, before="exec 3>&1; ", **options)
        assert time.monotonic() - start < 4
    finally:
        os.close(leak_read)
        os.close(leak_write)
    assert (done.returncode, done.stdout) == (0, b"")
    about = wait_for(agent.home / "worker.json")
    os.kill(about["pid"], signal.SIGKILL)
    assert {about["fds"][fd] for fd in "012"} == {"/dev/null"}
    assert not [fd for fd in about["fds"] if 2 < int(fd) < 10 and about["fds"][fd] == oct(stat.S_IFIFO)]


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
    an_interpreter_that_fails(agent.home)
    for number in range(5):
        assert agent.run("Stop", b'{"n":%d}' % number).returncode == 0
    assert sorted(agent.payloads()) == [b'{"n":%d}' % number for number in range(5)]


# --- bad and large input, many at once ----------------------------------------------------------------------


@pytest.mark.parametrize("data", [b"", b"not json", b'{"cut', b"\xff\xfe\x00", b"[1]", b"\x1e"], ids=repr)
@pytest.mark.parametrize("event", ["PostToolUse", "SessionStart"])
def test_input_of_any_kind_is_kept_as_it_is(agent: Agent, data: bytes, event: str) -> None:
    # MEMORIA-28
    done = agent.run(event, data)
    assert (done.returncode, done.stdout) == (0, b"")
    assert agent.payloads() == [data]


def test_fifty_megabytes_take_less_than_a_second(agent: Agent, tmp_path: Path) -> None:
    # CM-2, CCE-24: nor does the size of the transcript matter
    transcript = tmp_path / "transcript.jsonl"
    with transcript.open("wb") as file:
        file.truncate(50_000_000)
    small = json.dumps({"session_id": "s", "cwd": "/", "transcript_path": str(transcript)}).encode()
    for data in (small, b'{"x":"' + b"y" * 50_000_000 + b'"}'):
        times = []
        for _ in range(3):
            start = time.monotonic()
            agent.run("PostToolUse", data)
            times.append(time.monotonic() - start)
        assert min(times) < 1
    assert {len(data) for data in agent.payloads()} == {len(small), 50_000_008}


@pytest.mark.skipif(not shutil.which("strace"), reason="needs strace")
def test_a_hook_opens_no_socket_and_a_capture_starts_one_process(agent: Agent) -> None:
    # CM-2
    for event, programs in (("PostToolUse", 2), ("SessionStart", 9)):
        trace = agent.home / "trace"
        argv = ["strace", "-f", "-qq", "-e", "trace=network,execve", "-o", str(trace)]
        done = subprocess.run(
            [*argv, "/bin/sh", "-c", agent.command(event)], input=PAYLOAD, capture_output=True, check=False
        )
        if done.returncode:
            pytest.skip("strace may not trace here")
        lines = trace.read_text().splitlines()
        assert not [line for line in lines if "socket(" in line or "connect(" in line]
        assert len([line for line in lines if "execve(" in line and " = 0" in line]) <= programs


@pytest.mark.faults
def test_eight_writers_some_of_them_killed_lose_and_double_nothing(agent: Agent) -> None:
    # MEMORIA-31: writers, a reader that takes what is finished, and kills, all at once
    chance = random.Random(5)
    sizes = [600, 4_000, 70_000, 400_000]
    jobs = [(number, chance.choice(sizes), chance.random() < 0.1) for number in range(320)]
    returned: set[int] = set()
    found: list[int] = []
    bad: list[bytes] = []
    writing = threading.Event()
    guard = threading.Lock()

    def write() -> None:
        while True:
            with guard:
                if not jobs:
                    return
                number, size, killed = jobs.pop()
            data = json.dumps({"n": number, "pad": "p" * size}).encode()
            hook = subprocess.Popen(
                ["/bin/sh", "-c", agent.command("PostToolUse")], stdin=subprocess.PIPE, start_new_session=True
            )
            assert hook.stdin is not None
            half = len(data) // 2 if killed else len(data)
            try:
                hook.stdin.write(data[:half])
                if killed:
                    hook.stdin.flush()
                    time.sleep(0.003)
                    os.killpg(hook.pid, signal.SIGKILL)
                hook.stdin.close()
            except BrokenPipeError:
                pass
            if hook.wait() == 0:
                returned.add(number)

    def drain() -> None:
        for entry in spool.entries(str(agent.home / "spool")):
            data = spool.read(entry.path)
            if data is not None:
                try:
                    found.append(json.loads(data)["n"])
                except ValueError:
                    bad.append(data)
                os.unlink(entry.path)

    writers = [threading.Thread(target=write) for _ in range(8)]

    def keep_draining() -> None:
        while not writing.is_set():
            drain()
            time.sleep(0.005)

    reader = threading.Thread(target=keep_draining)
    for thread in (*writers, reader):
        thread.start()
    for thread in writers:
        thread.join()
    writing.set()
    reader.join()
    drain()
    assert returned
    assert len(found) == len(set(found))
    assert returned <= set(found)
    assert bad == []


# --- the files and the command ---------------------------------------------------------------------------


def test_the_script_is_executable_and_refreshed_when_its_body_changes(agent: Agent, stand_in: str) -> None:
    # CCE-31
    script = agent.home / "hook" / "hook.sh"
    assert stat.S_IMODE(script.stat().st_mode) == 0o700
    assert write_hook_files(agent.home, stand_in) is False
    body = script.read_bytes()
    script.write_bytes(body + b"# edited\n")
    assert write_hook_files(agent.home, stand_in) is True
    assert script.read_bytes() == body
    assert write_hook_files(agent.home, "/other/python") is True
    assert b"'/other/python'" in script.read_bytes()


def test_a_lost_or_outdated_bundle_is_made_again(agent: Agent, stand_in: str) -> None:
    bundle, stamp = agent.home / "hook" / "hook.pyc", agent.home / "hook" / "stamp"
    bundle.unlink()
    assert write_hook_files(agent.home, stand_in) is True
    stamp.write_text("made by another version\n")
    assert write_hook_files(agent.home, stand_in) is True
    assert write_hook_files(agent.home, stand_in) is False


def test_whatever_the_umask_the_files_are_their_owners(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        write_hook_files(tmp_path / "home", sys.executable)
    finally:
        os.umask(old)
    for path in (tmp_path / "home").rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path


@pytest.mark.parametrize(
    "name", ["plain", "two words", "it's", 'a "b"', "$HOME `x` \\", "höme", "new\nline", "-x", "*"]
)
@every_shell
def test_paths_are_quoted_for_the_shell(tmp_path: Path, stand_in: str, shell: str, name: str) -> None:
    # CCE-32
    agent = Agent(tmp_path / name)
    write_hook_files(agent.home, stand_in)
    agent.run("PostToolUse", PAYLOAD, shell)
    assert agent.payloads() == [PAYLOAD]


def test_the_command_is_one_line_with_absolute_paths_and_never_guesses_the_agent() -> None:
    # CM-51
    command = hook_command("/data/back story", "claude-code", "Stop")
    assert command == (
        "trap 'exit 0' EXIT; BACKSTORY_AGENT=claude-code BACKSTORY_EVENT=Stop; "
        "[ -r '/data/back story/hook/hook.sh' ] && . '/data/back story/hook/hook.sh'; exit 0"
    )
    for bad in ("claude code", "x;y", "", "../x", "a.b"):
        with pytest.raises(ValueError, match="letters, digits"):
            hook_command("/data", bad, "Stop")
