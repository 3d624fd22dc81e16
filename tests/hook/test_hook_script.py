"""The capture hook through real shells: whatever breaks, the agent goes on, and what it sent is kept."""

import os
import pty
import random
import resource
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from backstory.capture.hook_bundle import write_hook_files
from backstory.hook import spool
from backstory.hook.hook_command import quote_sh

from .stage import PAYLOAD, SHELLS, Agent, context

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
