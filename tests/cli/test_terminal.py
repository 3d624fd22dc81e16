"""On a terminal: colours, tables and a progress bar of ours, and nothing of what is stored acts on it."""

import os
import pty
import re
import subprocess
import sys

import pytest

from .memory import Memory

OURS = re.compile(r"\x1b\[[0-9;]*[mK]|\x1b\[\?25[lh]|\x1b\[\d*[AJ]")


def on_terminal(memory: Memory, *words: str, colour: bool = True) -> str:
    """What a terminal receives."""
    leader, follower = pty.openpty()
    more = {"TERM": "xterm-256color", "COLUMNS": "100"} | ({} if colour else {"NO_COLOR": "1"})
    process = subprocess.Popen(
        [sys.executable, "-m", "backstory", *words],
        env=memory.environment | more,
        cwd=memory.project,
        stdin=follower,
        stdout=follower,
        stderr=follower,
    )
    os.close(follower)
    received = b""
    while True:
        try:
            chunk = os.read(leader, 65536)
        except OSError:  # Linux says so when the other side has closed
            break
        if not chunk:
            break
        received += chunk
    os.close(leader)
    process.wait(120)
    text = received.decode("utf-8", "replace")
    assert "Traceback" not in text
    return text


def test_a_terminal_gets_colours_and_a_pipe_none(worked: Memory) -> None:
    assert "\x1b[" in on_terminal(worked, "timeline")
    assert "\x1b[" not in worked.run("timeline").stdout


@pytest.mark.parametrize(
    "words", [["status"], ["doctor"], ["config"], ["timeline", "--sessions"], ["search", "login"]]
)
def test_every_table_fits_the_terminal(worked: Memory, words: list[str]) -> None:
    shown = OURS.sub("", on_terminal(worked, *words)).split("\r\n")
    assert max(map(len, shown)) <= 100


def test_nothing_known_is_said_in_one_line(memory: Memory) -> None:
    """CM-41: on a terminal, `brief` says that nothing is known yet."""
    shown = on_terminal(memory, "brief").strip().split("\r\n")
    assert len(shown) == 1
    assert "Nothing is known yet about this project" in shown[0]


def test_what_is_stored_does_nothing_to_the_terminal(memory: Memory) -> None:
    evil = "\x1b]0;pwned\x07\x1b[2J\x9b31m\u202e [bold red]markup[/] :boom: end"
    memory.prompt(f"evil {evil}")
    memory.command(f"echo {evil}", evil, failed=True)
    memory.caught_up()
    session = memory.json("timeline", "--sessions")["sessions"][0]["id"]
    event = memory.json("timeline")["events"][0]["id"]
    for words in (
        ["timeline"],
        ["search", "evil"],
        ["show", session],
        ["show", event],
        ["show", event, "--raw"],
        ["show", event, "--json"],
        ["brief"],
    ):
        shown = OURS.sub("", on_terminal(memory, *words, colour=False))
        assert not set("\x1b\x07\x9b\u202e") & set(shown), words
    assert "[bold red]markup[/] :boom:" in on_terminal(memory, "search", "evil", colour=False)


def test_rebuild_shows_its_progress(worked: Memory) -> None:
    assert "Rebuilding" in on_terminal(worked, "rebuild")
