"""The group: its help, its lightness, and one way out for every error."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

from backstory import __version__
from backstory.app import App
from backstory.cli.main import EXIT_CODES, SECTIONS, cli
from backstory.errors import BackstoryError

from .memory import Memory

COMMANDS = [(name, line) for _, commands in SECTIONS for name, line in commands]


def test_help_tells_the_story_and_groups_the_commands(memory: Memory) -> None:
    done = memory.run("--help")
    assert done.returncode == 0
    assert "One memory for every coding agent" in done.stdout
    places = [done.stdout.index(title) for title in ("Use every day:", "Set up:", "Look after:")]
    assert places == sorted(places)
    assert all(f"  {name} " in done.stdout for name, _ in COMMANDS)


def test_without_a_command_it_prints_the_same_help(memory: Memory) -> None:
    assert memory.ask().stdout == memory.ask("--help").stdout == memory.ask("-h").stdout


WITHOUT_JSON = ("mcp", "session", "help", "completion")  # they speak JSON anyway, or to a shell


@pytest.mark.parametrize(("name", "line"), COMMANDS)
def test_every_command_has_help_json_and_the_line_that_the_group_shows(
    memory: Memory, name: str, line: str
) -> None:
    done = memory.ask(name, "-h")
    assert done.exit_code == 0
    assert ("--json" in done.stdout) is (name not in WITHOUT_JSON)
    assert line in done.stdout


def test_version(memory: Memory) -> None:
    assert memory.run("--version").stdout == f"backstory {__version__}\n"


@pytest.mark.parametrize(
    ("words", "forbidden"),
    [
        (["--help"], ["sqlite3", "rich", "backstory.app", "tomlkit", "json"]),
        (["status"], ["rich", "backstory.pipeline", "backstory.distil"]),
        (["search", "anything"], ["rich", "backstory.distil"]),
    ],
)
def test_light_commands_import_nothing_heavy(worked: Memory, words: list[str], forbidden: list[str]) -> None:
    code = (
        "import sys\nfrom backstory.cli import main\n"
        f"sys.argv[1:] = {words!r}\n"
        "try: main()\nexcept SystemExit: pass\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=worked.environment,
        cwd=worked.project,
        capture_output=True,
        text=True,
    )
    loaded = done.stderr.split()
    assert "click" in loaded
    assert [name for name in forbidden if name in loaded] == []


@pytest.mark.parametrize(
    "words",
    [
        ["nonsense"],
        ["search"],
        ["search", "--limit", "0", "x"],
        ["search", "--limit", "many", "x"],
        ["search", "--nonsense", "x"],
        ["brief", "--source", "nowhere"],
        ["brief", "--agent", "nobody"],
        ["show"],
        ["timeline", "--since", "yesterday"],
        ["timeline", "--since", "2026-13-45"],
        ["timeline", "--cwd", ".", "--all"],
        ["install", "nobody"],
        ["config", "no.such.key"],
        ["config", "brief.max_chars", "many"],
    ],
)
def test_wrong_usage_is_one_line_and_exit_1(memory: Memory, words: list[str]) -> None:
    done = memory.ask(*words)
    assert done.exit_code == 1
    assert done.stdout == ""
    assert re.fullmatch(r"backstory: [^\n]+\n", done.stderr)


@pytest.mark.parametrize(
    ("words", "code", "part"),
    [
        (["show", "nothing", "--json"], 2, "nothing has the handle 'nothing'"),
        (["search", "--json"], 1, "Missing argument"),
        (["--json", "nonsense"], 1, "No such option"),
        (["log", "--json", "--nonsense"], 2, "No such option"),
    ],
)
def test_with_json_an_error_is_a_line_of_json_on_stderr(
    memory: Memory, words: list[str], code: int, part: str
) -> None:
    done = memory.ask(*words)
    assert (done.exit_code, done.stdout) == (code, "")
    told = json.loads(done.stderr.splitlines()[-1])
    assert told["exit"] == code
    assert part in told["error"]
    assert done.stderr.count("\n") == 1


def test_a_text_that_is_called_json_makes_no_error_json(memory: Memory) -> None:
    assert memory.ask("show", "--", "--json").stderr.startswith("backstory: ")


def test_every_exit_code_is_told_by_the_help_in_its_order(memory: Memory) -> None:
    told = memory.ask("--help").stdout.partition("Exit codes:\n")[2]
    assert re.findall(r"^  (\d+)  ", told, re.MULTILINE) == [str(code) for code, _ in EXIT_CODES]
    words = " ".join(told.split())
    assert all(meaning in words for _, meaning in EXIT_CODES)


def errors(kind: type[BackstoryError] = BackstoryError) -> list[type[BackstoryError]]:
    return [kind, *(each for below in kind.__subclasses__() for each in errors(below))]


def test_no_error_ends_in_a_code_that_is_not_told() -> None:
    assert {kind.exit_code for kind in errors()} <= {code for code, _ in EXIT_CODES}


def test_a_mistyped_command_gets_the_nearest_name(memory: Memory) -> None:
    assert "did you mean 'search'?" in memory.ask("serach").stderr


@pytest.mark.parametrize("word", ["correct", "edit", "confirm", "reject", "pin"])
def test_who_wants_to_correct_something_is_sent_to_review_and_never_to_forget(
    memory: Memory, word: str
) -> None:
    assert "did you mean 'review'?" in memory.ask(word, "m1234").stderr


def test_only_a_typing_error_is_taken_for_a_command_that_deletes(memory: Memory) -> None:
    assert "did you mean 'forget'?" in memory.ask("forgte").stderr
    for word in ("format", "budget", "scratch", "install-all", "rest"):
        assert not any(name in memory.ask(word).stderr for name in ("'forget'", "'scrub'", "'restore'"))


def test_an_unexpected_error_is_one_line_that_names_the_log(
    worked: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("the\nsky \x1b[31mfell")

    monkeypatch.setattr(App, "search", broken)
    done = worked.ask("search", "anything")
    assert done.exit_code == 4
    log = worked.home / "logs" / "cli.log"
    assert done.stderr.count("\n") == 1
    assert "RuntimeError: the sky fell" in done.stderr
    assert str(log) in done.stderr
    assert "Traceback" in log.read_text()
    assert log.stat().st_mode & 0o777 == 0o600


def test_debug_shows_the_traceback(worked: Memory) -> None:
    worked.extra["BACKSTORY_DEBUG"] = "1"
    done = subprocess.run(
        [sys.executable, "-m", "backstory", "show", "mnothing"],
        env=worked.environment,
        cwd=worked.project,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert "Traceback" in done.stderr
    assert done.stderr.rstrip().splitlines()[-1].startswith("backstory: ")


def test_a_reader_who_has_seen_enough_is_no_error(worked: Memory) -> None:
    script = f"{sys.executable} -m backstory timeline --json; echo $? >&2"
    done = subprocess.run(
        ["sh", "-c", f"({script}) | true"],
        env=worked.environment,
        cwd=worked.project,
        capture_output=True,
        text=True,
    )
    assert done.stderr.strip() == "0"


def test_closed_output_is_no_error(worked: Memory) -> None:
    done = subprocess.run(
        ["sh", "-c", f"{sys.executable} -m backstory status >&-"],
        env=worked.environment,
        cwd=worked.project,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_an_export_that_a_full_disk_ends_says_so_in_a_line(worked: Memory) -> None:
    worked.ask("remember", "it is long: " + "words " * 5_000)
    done = subprocess.run(
        ["sh", "-c", f"{sys.executable} -m backstory export >/dev/full"],
        env=worked.environment,
        cwd=worked.project,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 4
    assert done.stderr.startswith("backstory: No space left on device")
    assert done.stderr.count("\n") == 1


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("timeline", r"backstory: [^\n]*space[^\n]*\n"),
        ("timeline --json", r'\{"error": "[^\n]*space[^\n]*", "exit": 4\}\n'),
    ],
)
def test_a_full_disk_behind_stdout_is_said(worked: Memory, words: str, told: str) -> None:
    done = subprocess.run(
        ["sh", "-c", f"{sys.executable} -m backstory {words} >/dev/full"],
        env=worked.environment,
        cwd=worked.project,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 4
    assert re.fullmatch(told, done.stderr)


def test_ctrl_c_exits_130(worked: Memory) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "backstory", "remember", "-"],
        env=worked.environment,
        cwd=worked.project,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        _until_it_waits_for_input(process.pid)
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "Traceback" not in error


def _until_it_waits_for_input(pid: int) -> None:
    """The command has started, and sleeps in its read from stdin."""
    deadline = time.monotonic() + 20
    seen = 0
    while time.monotonic() < deadline and seen < 5:
        time.sleep(0.1)
        try:
            with open(f"/proc/{pid}/wchan") as file:
                waits = "pipe" in file.read()
        except OSError:
            waits = time.monotonic() > deadline - 17
        seen = seen + 1 if waits else 0


def test_the_group_knows_every_command_module() -> None:
    import click

    for name, _ in COMMANDS:
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        assert command.name == name
