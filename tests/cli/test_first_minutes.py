"""The first minutes as a person has them: boxes to tick, what is true of the past, one by one, page by page."""

import json
import re
import shutil
import sys
from pathlib import Path

import pexpect
import pytest

from backstory.app import App
from backstory.model import MemoryKind, MemoryStatus
from backstory.paths import Home

from .memory import Memory

STYLE = re.compile(r"\x1b\[[0-9;]*m")
TRANSCRIPT = Path(__file__).parents[1] / "wire" / "samples" / "fail-subagent-resume-compact.jsonl"


def on_terminal(memory: Memory, *words: str) -> "pexpect.spawn[str]":
    return pexpect.spawn(
        sys.executable,
        ["-m", "backstory", *words],
        env={**memory.environment, "TERM": "xterm", "NO_COLOR": "1"},
        cwd=str(memory.project),
        encoding="utf-8",
        timeout=60,
        dimensions=(50, 120),
    )


def decisions(memory: Memory, status: MemoryStatus) -> list[str]:
    with App(Home(memory.home), attended=True) as app:
        found = app.store.memories.listed(list(MemoryKind), [status], None, None, 50)
    return [each.id for each in found]


def test_install_connects_the_agents_that_stay_ticked(memory: Memory) -> None:
    for folder in (".claude", ".codex", ".qwen"):
        (memory.user / folder).mkdir()
    shown = on_terminal(memory, "install", "--no-import")
    shown.expect("Enter to go on")
    assert shown.before is not None
    assert "[x] 1 Claude Code" in shown.before
    shown.sendline("2 9")
    shown.expect("9 is no number")
    shown.expect("Enter to go on")
    assert "[ ] 2 Codex" in STYLE.sub("", shown.before)
    shown.sendline("y")
    shown.expect("Connect claude-code, qwen-code")
    shown.sendline("y")
    shown.expect(pexpect.EOF)
    shown.close()
    assert shown.exitstatus == 0
    assert (memory.user / ".claude" / "settings.json").exists()
    assert not (memory.user / ".codex" / "hooks.json").exists()


def test_install_offers_to_look_once_the_past_is_there(memory: Memory) -> None:
    kept = memory.user / ".claude" / "projects" / "-p"
    kept.mkdir(parents=True)
    shutil.copy(TRANSCRIPT, kept)
    shown = on_terminal(memory, "install")
    shown.expect("Connect claude-code")
    shown.sendline("y")
    shown.expect("From your own past")
    shown.expect("in the browser now")
    shown.sendline("n")
    shown.expect(pexpect.EOF)
    shown.close()
    assert shown.exitstatus == 0


def test_what_install_tells_is_of_several_kinds_and_not_what_git_always_says(memory: Memory) -> None:
    story = memory.worked_here
    story()
    with App(Home(memory.home)) as app:
        told = app.telling()
        kept = app.kept_by_agent()
        every = app.store.events.sessions(limit=100)
    kinds = [each.kind for each in told]
    assert 0 < len(told) <= 3
    assert len(set(kinds)) == len(kinds)
    assert not [each.text for each in told if each.text.startswith("`git ")]
    assert sum(sessions for _, sessions, _ in kept) == len(every)


def test_reviewing_one_by_one_takes_a_key_and_undoes_the_last(worked: Memory) -> None:
    worked.run("remember", "We decided to use NATS instead of Kafka, because it is one binary")
    before = decisions(worked, MemoryStatus.REJECTED)
    shown = on_terminal(worked, "review", "-i")
    shown.expect("q quit: ")
    shown.send("r")
    shown.expect("rejected")
    shown.expect("q quit: ")
    shown.send("u")
    shown.expect("a candidate again")
    shown.expect("q quit: ")
    shown.send("q")
    shown.expect(pexpect.EOF)
    shown.close()
    assert shown.exitstatus == 0
    assert decisions(worked, MemoryStatus.REJECTED) == before


def test_a_text_is_edited_one_by_one_and_that_is_undone(worked: Memory) -> None:
    worked.run("remember", "We decided to use NATS instead of Kafka, because it is one binary")
    first = worked.json("review")["memories"][0]
    shown = on_terminal(worked, "review", "-i")
    shown.expect("q quit: ")
    shown.send("e")
    shown.expect("empty leaves it.*: ")
    shown.sendline("")
    shown.expect("1 of ")
    shown.expect("q quit: ")
    shown.send("e")
    shown.expect("empty leaves it.*: ")
    shown.sendline("NATS carries the orders")
    shown.expect("confirmed as it now reads")
    shown.expect("q quit: ")
    edited = worked.json("show", first["id"])["memory"]
    assert (edited["text"], edited["status"]) == ("NATS carries the orders", "confirmed")
    shown.send("u")
    shown.expect("a candidate again|confirmed as it now reads")
    shown.expect("q quit: ")
    shown.send("q")
    shown.expect(pexpect.EOF)
    shown.close()
    again = worked.json("show", first["id"])["memory"]
    assert (again["text"], again["status"]) == (first["text"], first["status"])


def test_one_by_one_is_no_answer_for_programs(worked: Memory) -> None:
    for words in (("--json",), ("m1234", "--confirm")):
        assert worked.ask("review", "-i", *words).exit_code == 1


def test_a_long_session_is_shown_page_by_page(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    memory.worked_here()
    monkeypatch.setattr("backstory.cli.show._EVENTS", 2)
    session = memory.json("timeline", "--sessions")["sessions"][0]["id"]
    events = memory.json("show", session)["events"]
    first = memory.ask("show", session)
    assert f"`backstory show {session[:9]} --from 3`" in first.stderr
    assert events[2]["id"][:9] not in first.stdout.partition("What happened")[2]
    second = memory.ask("show", session, "--from", "3")
    assert events[2]["id"][:9] in second.stdout
    assert "What was learned" not in second.stdout
    last = memory.ask("show", session, "--from", str(len(events)))
    assert "more:" not in last.stderr


def test_export_speaks_json_by_the_flag_that_all_commands_have(worked: Memory) -> None:
    said = worked.ask("export", "--json")
    assert json.loads(said.stdout) == json.loads(worked.ask("export", "--format", "json").stdout)
    assert json.loads(said.stdout)["sessions"]
