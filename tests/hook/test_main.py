"""The answering hook as a real process: what a starting session is told, and that nothing else gets out."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from backstory.capture.hook_bundle import write_hook_files, write_hook_settings
from backstory.hook import spool
from backstory.hook.__main__ import LOG_BYTES, log_error
from backstory.hook.project_identity import session_id

from .stage import SHELLS, TICK, Agent, context

every_shell = pytest.mark.parametrize("shell", sorted(SHELLS))


def receipts(agent: Agent) -> list[dict[str, object]]:
    found = [
        entry for entry in spool.spool_entries(str(agent.home / "spool")) if entry.name.event == spool.RECEIPT
    ]
    return [json.loads(spool.read_spooled(entry.path) or b"") for entry in found]


@every_shell
def test_a_new_session_gets_the_brief_and_leaves_a_receipt(agent: Agent, project: Path, shell: str) -> None:
    # CMEM-4, CMEM-20
    agent.prepare(project, ("left_off", "Fixed the discount."), ("decisions", "Round once per order."))
    told = agent.start(project, shell=shell)
    assert "Fixed the discount." in told
    assert "Round once per order." in told
    (receipt,) = receipts(agent)
    assert receipt["shown"] == ["m0000000000000001", "m0000000000000002"]
    assert (receipt["session_id"], receipt["cwd"], receipt["source"]) == ("new", str(project), "startup")
    assert receipt["chars"] == len(told)
    starts = [data for data in agent.payloads() if b"SessionStart" in data]
    assert len(starts) == 1


def test_an_empty_project_prints_nothing(agent: Agent, project: Path) -> None:
    # CCE-63, CMEM-28
    assert agent.start(project) == ""
    assert receipts(agent) == []


def test_what_waits_in_the_spool_is_in_the_brief_though_no_worker_ever_ran(
    agent: Agent, project: Path
) -> None:
    # CMEM-15
    run = {
        "session_id": "killed",
        "cwd": str(project),
        "tool_name": "Bash",
        "tool_input": {"command": "make test"},
    }
    agent.run("UserPromptSubmit", {"session_id": "killed", "cwd": str(project), "prompt": "Fix the discount"})
    agent.run("PostToolUseFailure", run | {"error": "Exit code 2\nassert 9 == 10"})
    told = agent.start(project)
    assert "The user asked: “Fix the discount”" in told
    assert "Failed: make test → assert 9 == 10 (exit code 2)" in told


@pytest.mark.parametrize("source", ["startup", "clear", "resume", "fork", "compact"])
def test_each_source_gets_its_own(agent: Agent, project: Path, source: str) -> None:
    # CMEM-20, CMEM-21: the session "known" last spoke a minute ago, and then another one failed
    agent.prepare(project, ("decisions", "an old decision"))
    own = session_id("claude-code", "known")
    (agent.home / "briefs" / "sessions").mkdir()
    (agent.home / "briefs" / "sessions" / f"{own}.json").write_text(
        json.dumps(
            {
                "v": 1,
                "last_at": time.time_ns() // 1_000_000 - 60_000,
                "shown": [],
                "checkpoint": [{"id": "m7", "text": "Goal: ship it", "at": 1, "agent": "claude-code"}],
            }
        )
    )
    agent.leave("UserPromptSubmit", 10, session_id="another", cwd=str(project), prompt="meanwhile")
    told = agent.start(project, source, "known")
    assert "meanwhile" in told
    assert ("an old decision" in told) == (source not in ("resume", "fork"))
    assert ("Goal: ship it" in told) == (source == "compact")


def test_a_fork_whose_history_names_its_origin_hears_only_what_that_one_had_not_heard(
    agent: Agent, project: Path, tmp_path: Path
) -> None:
    """Codex tells it nowhere else."""
    agent.prepare(project, ("decisions", "an old decision"))
    origin = session_id("claude-code", "origin")
    (agent.home / "briefs" / "sessions").mkdir()
    (agent.home / "briefs" / "sessions" / f"{origin}.json").write_text(
        json.dumps({"v": 1, "last_at": time.time_ns() // 1_000_000 - 60_000, "shown": [], "checkpoint": []})
    )
    agent.leave("UserPromptSubmit", 10, session_id="another", cwd=str(project), prompt="meanwhile")
    rollout = tmp_path / "rollout.jsonl"
    payload = {"session_id": "new", "cwd": str(project), "source": "fork", "transcript_path": str(rollout)}

    def told() -> str:
        return context(agent.run("SessionStart", payload).stdout)

    assert "an old decision" in told(), "of nobody's past nothing is known"
    rollout.write_text('{"payload":{"id":"new","forked_from_id":"origin","base":"' + "x" * 9_000 + '"}}\n')
    assert "meanwhile" in told()
    assert "an old decision" not in told()
    rollout.write_text(
        '{"payload":{"id":"new"}}\n{"said":"\\"forked_from_id\\":", "forked_from_id":"origin"}\n'
    )
    assert "an old decision" in told(), "what was said in it is no origin"


def test_sources_can_be_switched_off(agent: Agent, project: Path) -> None:
    agent.prepare(project, ("decisions", "a decision"))
    write_hook_settings(agent.home, {"sources": ["startup"]})
    assert agent.start(project, "resume") == agent.start(project, "compact") == ""
    assert "a decision" in agent.start(project, "startup")
    assert "a decision" in agent.start(project, "new")  # what Copilot calls it


def test_settings_bound_the_brief_and_hide_projects(agent: Agent, project: Path) -> None:
    agent.prepare(project, *[("failed", f"failure {number} " + "x" * 100) for number in range(50)])
    assert 2_000 < len(agent.start(project)) <= 2_400
    write_hook_settings(agent.home, {"budget_chars": 1_000, "budget_tokens": 2_000})
    assert len(agent.start(project)) <= 1_000
    write_hook_settings(agent.home, {"ignore_projects": [str(project.parent) + "/*"]})
    assert agent.start(project) == ""


def test_a_confirmed_claim_leads_to_another_projects_memory(
    agent: Agent, project: Path, tmp_path: Path
) -> None:
    clone = tmp_path / "clone"
    clone.mkdir()
    agent.prepare(project, ("decisions", "a decision"))
    identity = str(project / ".git")
    (clone / ".backstory.toml").write_text(f'project = "{identity}"\n')
    assert agent.start(clone) == ""
    write_hook_settings(agent.home, {"confirmed": {str(clone): identity}})
    assert "a decision" in agent.start(clone)


def test_the_largest_brief_is_printed_whole_and_within_limits(agent: Agent, project: Path) -> None:
    # CM-48: what needs escaping meets the limit of the output, what does not that of the text
    sections = ("left_off", "open", "decisions", "failed", "commands", "others", "prefs")
    payload = {"session_id": "x", "cwd": str(project), "source": "startup"}
    write_hook_settings(agent.home, {"budget_chars": 8_000, "budget_tokens": 100_000})
    for text in ('\\" ' * 20, "word " * 20):
        agent.prepare(
            project, *[(section, f"{section} {n} {text}") for section in sections for n in range(60)]
        )
        output = agent.run("SessionStart", payload).stdout
        assert 7_800 < len(output.decode()) < 9_500
        assert len(context(output)) <= 8_000
        assert context(output).endswith("</backstory-notes>")


@pytest.mark.parametrize(
    ("agent_name", "keys"),
    [
        ("claude-code", ["systemMessage", "hookSpecificOutput"]),
        ("codex", ["hookSpecificOutput"]),
        ("qwen-code", ["hookSpecificOutput"]),
        ("copilot", ["additionalContext"]),
    ],
)
def test_every_agent_gets_the_shape_that_it_accepts(
    agent: Agent, project: Path, agent_name: str, keys: list[str]
) -> None:
    agent.prepare(project, ("decisions", "Übrigens: 店"))
    client = Agent(agent.home, agent_name)
    answer = json.loads(
        client.run("SessionStart", {"session_id": "x", "sessionId": "x", "cwd": str(project)}).stdout
    )
    assert list(answer) == keys
    assert "Übrigens: 店" in json.dumps(answer, ensure_ascii=False)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b"\xff\xfe\xfd",
        b'{"cwd":',
        b'{"cwd":5}',
        b"{}",
        b'{"session_id":"x"}',
        b"[" * 100_000,
    ],
    ids=lambda data: repr(data[:12]),
)
def test_bad_input_is_logged_and_silent(agent: Agent, project: Path, data: bytes) -> None:
    # MEMORIA-28
    agent.prepare(project, ("decisions", "x"))
    done = agent.run("SessionStart", data)
    assert (done.returncode, done.stdout) == (0, b"")
    line = (agent.home / "logs" / "hook.log").read_text()
    assert "claude-code SessionStart: BadPayload" in line or sys.version_info < (3, 12)
    assert os.stat(agent.home / "logs" / "hook.log").st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "native", ["../../../../tmp/escape", "a/b\\c", "x" * 10_000, "..", "\u0000", 7, ["x"]], ids=repr
)
def test_a_foreign_session_id_cannot_leave_the_home(agent: Agent, project: Path, native: object) -> None:
    # MEMORIA-32
    agent.prepare(project, ("decisions", "a decision"))
    payload = {"session_id": native, "cwd": str(project), "source": "resume"}
    before = {path for path in project.parent.rglob("*") if agent.home not in path.parents}
    assert "a decision" in context(agent.run("SessionStart", payload).stdout)
    assert {path for path in project.parent.rglob("*") if agent.home not in path.parents} == before
    assert all(spool.parse_name(name) for name in agent.spooled())


def test_fifty_megabytes_of_payload_do_not_disturb(agent: Agent, project: Path) -> None:
    agent.prepare(project, ("decisions", "a decision"))
    payload = {"session_id": "x", "cwd": str(project), "pad": "y" * 50_000_000}
    done = agent.run("SessionStart", payload)
    assert done.returncode == 0
    assert "a decision" in context(done.stdout)


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"\xff" * 99, b'{"rows":7,"notices":[7],"forgotten":"x"}']
)
def test_broken_prepared_files_count_as_missing(agent: Agent, project: Path, content: bytes) -> None:
    # MEMORIA-29
    agent.prepare(project, ("decisions", "x"))
    for path in (agent.home / "briefs").glob("*.json"):
        path.write_bytes(content)
    (agent.home / "hook" / "settings.json").write_bytes(content)
    agent.leave("UserPromptSubmit", session_id="one", cwd=str(project), prompt="still here")
    assert "still here" in agent.start(project)


def test_a_failure_in_what_waits_does_not_take_the_brief(
    agent: Agent, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # MEMORIA-29
    from backstory.hook import __main__ as hook
    from backstory.hook import pending_events

    def fails(*_: object) -> list[object]:
        raise RuntimeError("unforeseen")

    agent.prepare(project, ("decisions", "a decision"))
    monkeypatch.setattr(pending_events, "pending_rows", fails)
    payload = json.dumps({"session_id": "x", "cwd": str(project)}).encode()
    assert "a decision" in hook.answer_hook(str(agent.home), "claude-code", "SessionStart", payload)
    assert "unforeseen" in (agent.home / "logs" / "hook.log").read_text()


@pytest.mark.parametrize(
    ("settings", "seconds", "wait", "ended_by"),
    [
        ({"deadline_ms": 200}, 0.2, "time.sleep(9)", {signal.SIGALRM}),
        # on a machine that has no time for it the clock ends it after all
        ({"deadline_ms": 1_000}, 1.0, "pass", {signal.SIGPROF, signal.SIGALRM}),
        ({}, 2.0, "pass", {signal.SIGPROF, signal.SIGALRM}),
    ],
)
def test_at_its_deadline_it_ends_silently_and_leaves_a_mark(
    agent: Agent,
    project: Path,
    tmp_path: Path,
    settings: dict[str, int],
    seconds: float,
    wait: str,
    ended_by: set[signal.Signals],
) -> None:
    # CCE-24
    agent.prepare(project, ("decisions", "a decision"))
    note = agent.hangs(tmp_path, wait)
    write_hook_settings(agent.home, settings)
    start = time.monotonic()
    done = agent.run("SessionStart", {"session_id": "x", "cwd": str(project)})
    assert (done.returncode, done.stdout) == (0, b"")
    assert time.monotonic() - start < 15
    processor, clock = map(float, note.read_text().split())
    assert seconds / 2 < processor <= seconds + TICK, "what was left of it when the search began"
    assert 0 < clock <= 5 * seconds + TICK
    (mark,) = [name for name in agent.spooled() if name.endswith(".fail")]
    assert spool.parse_fail(mark) in [
        ("claude-code", "SessionStart", f"answer-{128 + number}") for number in ended_by
    ]


def test_a_brief_that_came_too_late_comes_with_the_next_prompt(
    agent: Agent, project: Path, tmp_path: Path, stand_in: str
) -> None:
    """Of that session alone, once; no prompt pays for it when nobody is owed one."""
    agent.prepare(project, ("decisions", "a decision"))
    agent.hangs(tmp_path)
    write_hook_settings(agent.home, {"deadline_ms": 100})
    late = {"session_id": "late", "cwd": str(project), "source": "clear"}
    assert agent.run("SessionStart", late).stdout == b""
    write_hook_files(agent.home, stand_in)
    asks = {"cwd": str(project), "prompt": "And now?"}
    assert agent.run("UserPromptSubmit", {"session_id": "other", **asks}).stdout == b""
    told = json.loads(agent.run("UserPromptSubmit", {"session_id": "late", **asks}).stdout)
    assert told["hookSpecificOutput"]["hookEventName"] == "UserPromptSubmit"
    assert "a decision" in told["hookSpecificOutput"]["additionalContext"]
    (receipt,) = [name for name in agent.spooled() if f".{spool.RECEIPT}." in name]
    assert json.loads((agent.home / "spool" / receipt).read_bytes()[:-1])["source"] == "clear"
    assert not (agent.home / "briefs" / "owed").exists()
    assert agent.run("UserPromptSubmit", {"session_id": "late", **asks}).stdout == b""


def test_a_start_that_is_answered_in_time_owes_nothing(agent: Agent, project: Path) -> None:
    agent.prepare(project, ("decisions", "a decision"))
    assert "a decision" in agent.start(project)
    assert not (agent.home / "briefs" / "owed").exists()


def test_when_the_agent_is_gone_it_ends_quietly(agent: Agent, project: Path) -> None:
    agent.prepare(project, ("decisions", "a decision"))
    read, write = os.pipe()
    os.close(read)
    payload = json.dumps({"session_id": "x", "cwd": str(project)}).encode()
    argv = ["/bin/sh", "-c", agent.command("SessionStart")]
    done = subprocess.run(argv, input=payload, stdout=write, stderr=subprocess.PIPE, timeout=20, check=False)
    os.close(write)
    assert done.returncode == 0


def test_the_drain_cannot_take_the_payload_away_before_it_is_read(agent: Agent, project: Path) -> None:
    agent.prepare(project, ("decisions", "a decision"))
    stop = threading.Event()

    def drain() -> None:
        while not stop.is_set():
            for entry in spool.spool_entries(str(agent.home / "spool")):
                if spool.read_spooled(entry.path) is not None:
                    os.unlink(entry.path)

    thread = threading.Thread(target=drain)
    thread.start()
    try:
        for _ in range(20):
            assert "a decision" in agent.start(project)
    finally:
        stop.set()
        thread.join()


def test_a_read_only_home_still_gives_its_brief(agent: Agent, project: Path) -> None:
    agent.prepare(project, ("decisions", "a decision"))
    (agent.home / "spool").rmdir()
    (agent.home / "spool").symlink_to("/proc/self")
    done = agent.run("SessionStart", {"session_id": "x", "cwd": str(project)}, cwd=project)
    told = context(done.stdout)
    assert "a decision" in told
    assert "could not write this session's start" in told


def test_it_runs_as_a_module_too(agent: Agent, project: Path) -> None:
    agent.prepare(project, ("decisions", "a decision"))
    argv = [sys.executable, "-m", "backstory.hook", "answer", str(agent.home), "claude-code", "SessionStart"]
    payload = json.dumps({"session_id": "x", "cwd": str(project)}).encode()
    done = subprocess.run(argv, input=payload, capture_output=True, check=True)
    assert "a decision" in context(done.stdout)
    guarded = subprocess.run(
        argv, input=payload, capture_output=True, check=True, env={"BACKSTORY_GUARD": "1"}
    )
    assert guarded.stdout == b""  # MEMORIA-24


def test_the_log_has_a_size(tmp_path: Path) -> None:
    path = tmp_path / "logs" / "hook.log"
    for _ in range(3):
        log_error(str(tmp_path), "codex", "Stop", ValueError("x" * 5_000 + "\n" * 9))
    assert len(path.read_text().splitlines()) == 3
    path.write_bytes(b"x" * (LOG_BYTES + 1))
    for _ in range(2):
        log_error(str(tmp_path), "codex", "Stop", ValueError("again"))
    assert path.stat().st_size < 1_000
    log_error(str(tmp_path / "deleted"), "codex", "Stop", ValueError("x"))
    assert not (tmp_path / "deleted").exists()


def test_two_projects_of_one_name_get_their_own(
    agent: Agent, project: Path, tmp_path: Path, git: Callable[..., str]
) -> None:
    # CCE-20
    other = tmp_path / "b" / "shop"
    other.mkdir(parents=True)
    git(other, "init")
    agent.prepare(project, ("decisions", "of the first"))
    agent.prepare(other, ("decisions", "of the second"))
    assert "of the first" in agent.start(project)
    assert "of the first" not in agent.start(other)
