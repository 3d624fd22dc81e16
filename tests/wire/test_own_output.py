"""Our own words are recognised, and only ours."""

import pytest

from backstory.agents.own_output import runs_backstory, without_notes


@pytest.mark.parametrize(
    "command",
    [
        "backstory",
        "backstory search 'port 80'",
        "/home/dev/.venv/bin/backstory brief",
        "./bin/backstory status",
        r"C:\tools\backstory.exe status",
        "cd /tmp && backstory search x",
        "ls; backstory status",
        "ls\nbackstory status",
        "backstory search x | head -5",
        "cat x | backstory remember -",
        "BACKSTORY_HOME=/tmp/h backstory status",
        "env A=1 B='2 3' backstory status",
        "sudo -E backstory doctor",
        "timeout 5 backstory status",
        "time backstory status",
        "python -m backstory search x",
        "python3.12 -X dev -m backstory.cli search x",
        "uv run backstory status",
        "uvx backstory status",
        "bash -lc 'cd /x && backstory search y'",
        'echo "$(backstory search x)"',
        "X=`backstory brief`",
        "(backstory status)",
        "if backstory status; then echo ok; fi",
        "backstory status > /tmp/out 2>&1",
        "echo x | xargs backstory search",
        "false || backstory status",
        "cat > x <<'END'\ntext\nEND\nbackstory status",
    ],
)
def test_a_command_that_runs_us_is_recognised(command: str) -> None:
    assert runs_backstory(command)


@pytest.mark.parametrize(
    "command",
    [
        "ls",
        "grep backstory file",
        "cd backstory",
        "cd ~/backstory && pytest",
        "git clone https://example.com/backstory.git",
        "pip install backstory",
        "cat src/backstory/model.py",
        "git commit -m 'fix; backstory is slow'",
        'echo "use | backstory here"',
        "python -m pytest tests/backstory",
        "python backstory.py",
        "which backstory-old",
        "uv pip install backstory",
        "vim backstory",
        "echo done > backstory",
        "backstory-old search",
        "echo @backstory,backstory:backstory",
        "cat > notes.md <<'END'\nbackstory remembers\nEND\nls",
        "cat <<END | tee x\nbackstory remembers\nEND",
    ],
)
def test_a_command_that_only_names_us_is_not_ours(command: str) -> None:
    assert not runs_backstory(command)


def test_a_command_that_no_shell_could_read_is_judged_without_raising() -> None:
    assert runs_backstory("backstory search 'unclosed")
    assert not runs_backstory("echo 'unclosed; backstory search")
    assert runs_backstory("backstory " + "x" * 1_000_000)


def test_injected_notes_are_cut_out_of_what_was_said() -> None:
    assert without_notes("plain") == "plain"
    block = '<backstory-notes from="memory">\nold news\n</backstory-notes>'
    assert without_notes(f"{block}\nfix the bug") == "fix the bug"
    assert without_notes(f"a {block} b {block} c") == "a  b  c"
    assert without_notes(block) == ""
    assert without_notes("before\n<backstory-notes>\ncut off in the mid") == "before"
