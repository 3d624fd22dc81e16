"""claude-mem's observations, summaries and prompts come over: whole, once, in their place and time."""

import json
import os
from pathlib import Path

import pytest

from tests.cli.memory import Memory
from tests.conftest import eventually

from .reading import events, found, memories
from .stores import DAY, SESSION, ClaudeMem


def test_an_observation_keeps_every_part_of_itself(memory: Memory, claude_mem: ClaudeMem) -> None:
    claude_mem.filled()
    memory.json("import", "claude-mem")
    decided = next(event for event in events(memory, "noted") if event.tool == "decision")
    for part in ("Tokens are signed with RS256", "Safari rejects HS256", "zebra key pair", "- rotation is monthly",
                 "how-it-works", "src/login.py", "src/tokens.py"):  # fmt: skip
        assert part in decided.text
    assert decided.at == DAY + 60_000


def test_what_it_noted_becomes_memories_of_its_kind(memory: Memory, claude_mem: ClaudeMem) -> None:
    claude_mem.filled()
    memory.json("import", "claude-mem")
    (decision,) = memories(memory, "decision")
    assert decision.text.startswith("Tokens are signed with RS256: Safari rejects HS256")
    assert json.loads(decision.files) == ["src/login.py", "src/tokens.py", "keys/README.md"]
    assert "rotation is monthly" in decision.detail
    assert [m.text for m in memories(memory, "lesson")] == [
        "Clock skew broke the walrus test: Freezing time cured it."
    ]
    assert [m.text for m in memories(memory, "next_step")] == ["Rotate the pelican keys"]
    (summary,) = memories(memory, "summary")
    assert "Completed: Login passes" in summary.text


# MP-21
def test_mp_21_times_and_prompts_are_the_original_ones_and_come_once(
    memory: Memory, claude_mem: ClaudeMem
) -> None:
    claude_mem.filled()
    memory.json("import", "claude-mem")
    prompts = [(event.text, event.at - DAY) for event in events(memory, "prompt")]
    assert prompts == [("Make the login pass in Safari", 1_000), ("And document the ocelot switch", 200_000)]
    (session,) = memory.json("timeline", "--sessions", "--all")["sessions"]
    assert (session["title"], session["status"]) == ("Make the login pass in Safari", "ended")
    assert session["started"] == DAY


def test_the_first_prompt_of_older_versions_stands_in_the_session(
    memory: Memory, claude_mem: ClaudeMem
) -> None:
    claude_mem.session(user_prompt="tame the zebra")
    claude_mem.run("DROP TABLE user_prompts")
    memory.json("import", "claude-mem")
    assert [event.text for event in events(memory, "prompt")] == ["tame the zebra"]


def test_older_names_of_columns_are_understood(memory: Memory, tmp_path: Path) -> None:
    old = ClaudeMem(tmp_path / "old" / "claude-mem.db")
    old.session()
    old.asks("feed the heron")
    old.add("observations", memory_session_id=f"m-{SESSION}", project="shop", type="change", text="<fact>ibis</fact>",
            **old.at(5))  # fmt: skip
    for table in ("sdk_sessions", "user_prompts"):
        old.run(f"ALTER TABLE {table} RENAME COLUMN content_session_id TO claude_session_id")
    for table in ("sdk_sessions", "observations", "session_summaries"):
        old.run(f"ALTER TABLE {table} RENAME COLUMN memory_session_id TO sdk_session_id")
    old.run("DROP TABLE tool_uses")
    done = memory.json("import", "claude-mem", "--path", str(old.path))
    assert (done["new"], done["corrupt"], done["unknown"]) == (1, 0, 0)
    assert "prompt: feed the heron" in found(memory, "heron")
    assert found(memory, "ibis")


# MP-15
def test_mp_15_a_session_that_grew_brings_exactly_its_new_part(memory: Memory, claude_mem: ClaudeMem) -> None:
    claude_mem.filled()
    memory.json("import", "claude-mem")
    claude_mem.observes("An okapi appeared", 500)
    assert memory.json("import", "claude-mem", "--dry-run")["grown"] == 1
    done = memory.json("import", "claude-mem")
    assert (done["new"], done["grown"], done["events"]) == (0, 1, 1)
    assert found(memory, "okapi")


def test_only_the_last_summary_tells_where_one_left_off(memory: Memory, claude_mem: ClaudeMem) -> None:
    claude_mem.session()
    claude_mem.sums_up(100, request="first", completed="half", next_steps="the other half")
    claude_mem.sums_up(200, request="second", completed="all")
    memory.json("import", "claude-mem")
    assert [m.text for m in memories(memory, "summary")] == ["second: Completed: all"]
    assert [m.text for m in memories(memory, "turn")] == ["first: Completed: half"]
    assert memories(memory, "next_step") == [], "what was next then is done"
    assert "noted: the other half" in found(memory, "other half")


def test_rows_without_a_session_are_not_lost(memory: Memory, claude_mem: ClaudeMem) -> None:
    claude_mem.observes("a lonely quokka", own="nobody")
    claude_mem.asks("who fed the numbat?", own="gone")
    done = memory.json("import", "claude-mem")
    assert (done["new"], done["corrupt"]) == (2, 0)
    assert found(memory, "quokka")
    assert found(memory, "numbat")
    assert {event.project for event in events(memory, "noted")} == {"shop"}


def test_an_orphan_summary_belongs_to_the_project_that_it_names(
    memory: Memory, claude_mem: ClaudeMem
) -> None:
    claude_mem.sums_up(own="nobody", request="a lonely quokka")
    memory.json("import", "claude-mem")
    assert {event.project for event in events(memory)} == {"shop"}


def test_a_summary_that_only_tells_what_is_next_is_kept(memory: Memory, claude_mem: ClaudeMem) -> None:
    claude_mem.session()
    claude_mem.sums_up(next_steps="Feed the numbat")
    done = memory.json("import", "claude-mem")
    assert done["corrupt"] == 0
    assert [known.text for known in memories(memory, "next_step")] == ["Feed the numbat"]


def test_an_observation_that_only_names_concepts_or_files_is_kept(
    memory: Memory, claude_mem: ClaudeMem
) -> None:
    claude_mem.session()
    claude_mem.observes("", concepts=json.dumps(["quokka"]))
    claude_mem.observes("", files_modified=json.dumps(["src/numbat.py"]))
    done = memory.json("import", "claude-mem")
    assert done["corrupt"] == 0
    assert found(memory, "quokka")
    assert found(memory, "numbat")


@pytest.mark.parametrize("how", [(), ("--again",)], ids=["noticed", "again"])
def test_what_was_changed_in_place_says_what_it_says_now(
    how: tuple[str, ...], memory: Memory, claude_mem: ClaudeMem
) -> None:
    claude_mem.session()
    claude_mem.observes("Tokens", narrative="They are signed with walrus.")
    claude_mem.observes("Untouched", 70)
    memory.json("import", "claude-mem")
    claude_mem.run(
        "UPDATE sdk_sessions SET custom_title = 'Safari login', status = 'completed', completed_at_epoch = ?",
        DAY + 400_000,
    )
    claude_mem.run(
        "UPDATE observations SET narrative = 'They are signed with badger.' WHERE title = 'Tokens'"
    )
    assert memory.json("import", "claude-mem", "--dry-run", *how)["events"] == 3
    done = memory.json("import", "claude-mem", *how)
    assert (done["grown"], done["events"]) == (1, 3), "the title, the end, the narrative"
    assert found(memory, "Safari login")
    assert found(memory, "badger")
    assert not found(memory, "walrus"), "what it said before is found no more"
    assert [known.text for known in memories(memory, "turn")] == [
        "Tokens: They are signed with badger.",
        "Untouched",
    ]
    (session,) = memory.json("timeline", "--sessions", "--all")["sessions"]
    assert session["status"] == "ended"
    assert memory.json("import", "claude-mem")["grown"] == 0


def test_what_says_again_what_it_said_before_is_found_again(memory: Memory, claude_mem: ClaudeMem) -> None:
    claude_mem.session()
    claude_mem.observes("a walrus")
    memory.json("import", "claude-mem")
    claude_mem.run("UPDATE observations SET title = 'a badger'")
    memory.json("import", "claude-mem")
    assert not found(memory, "walrus")
    claude_mem.run("UPDATE observations SET title = 'a walrus'")
    memory.json("import", "claude-mem")
    eventually("the worker has seen it", lambda: [m.text for m in memories(memory, "turn")] == ["a walrus"])
    assert found(memory, "walrus")
    assert not found(memory, "badger")


def test_a_row_that_claude_mem_deleted_stays(memory: Memory, claude_mem: ClaudeMem) -> None:
    claude_mem.session()
    claude_mem.observes("a walrus")
    claude_mem.observes("a badger")
    memory.json("import", "claude-mem")
    claude_mem.run("DELETE FROM observations WHERE title = 'a walrus'")
    claude_mem.run("UPDATE observations SET subtitle = 'asleep'")
    memory.json("import", "claude-mem")
    assert found(memory, "walrus")


# MP-12
def test_mp_12_a_row_that_says_nothing_is_counted_and_the_rest_comes_over(
    memory: Memory, claude_mem: ClaudeMem
) -> None:
    claude_mem.session()
    claude_mem.observes("", facts="not json: tapir")
    claude_mem.observes("", narrative=None)
    claude_mem.observes("", narrative=b"\xff a dugong".decode("latin-1"), created_at_epoch="never")
    done = memory.json("import", "claude-mem")
    assert (done["corrupt"], done["errors"]) == (1, 0)
    assert found(memory, "tapir")
    (dugong,) = [event for event in events(memory) if "dugong" in event.text]
    assert dugong.at > 0


# MP-22
def test_mp_22_bytes_that_are_no_text_do_not_stop_it(memory: Memory, claude_mem: ClaudeMem) -> None:
    claude_mem.session()
    claude_mem.observes("x", narrative="Zoë 世界 🦓")
    claude_mem.run("UPDATE observations SET subtitle = CAST(x'ff20' || 'manatee' AS TEXT), text = x'00ff'")
    memory.json("import", "claude-mem")
    (event,) = [event for event in events(memory) if "manatee" in event.text]
    assert "Zoë 世界 🦓" in event.text


def test_a_tool_call_is_told_as_one(memory: Memory, claude_mem: ClaudeMem) -> None:
    claude_mem.filled()
    memory.json("import", "claude-mem")
    (call,) = events(memory, "tool")
    assert (call.tool, call.target, call.text) == ("Bash", "pytest tests/test_login.py", "1 passed")


def test_the_folder_is_the_one_that_its_tool_calls_name(memory: Memory, claude_mem: ClaudeMem) -> None:
    claude_mem.session()
    claude_mem.add("tool_uses", tool_use_id="t1", content_session_id=SESSION, project="other", tool_name="Bash",
                   cwd=str(memory.project), **claude_mem.at(3))  # fmt: skip
    memory.json("import", "claude-mem")
    assert "claude-mem" in memory.ask("timeline").stdout


def claude_code_was_in(memory: Memory, folder: Path, session: str) -> None:
    """Claude Code's own transcript of a session in a folder."""
    name = "".join(c if c.isalnum() else "-" for c in str(folder))
    path = memory.user / ".claude" / "projects" / name / f"{session}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        json.dumps({"type": "summary"}) + "\n" + json.dumps({"cwd": str(folder), "type": "user"}) + "\n"
    )


def test_the_folder_is_the_one_that_claude_code_says_the_session_was_in(
    memory: Memory, claude_mem: ClaudeMem, tmp_path: Path
) -> None:
    for name in ("a", "b"):
        (tmp_path / name / "shop").mkdir(parents=True)
        claude_code_was_in(memory, tmp_path / name / "shop", f"session-{name}")
    claude_mem.session("session-b")
    claude_mem.observes("a coati", own="session-b")
    os.environ["HOME"], before = str(memory.user), os.environ["HOME"]
    try:
        memory.json("import", "claude-mem")
    finally:
        os.environ["HOME"] = before
    assert memory.json("search", "coati", "--cwd", str(tmp_path / "b" / "shop"))["hits"]
    assert not memory.json("search", "coati", "--cwd", str(tmp_path / "a" / "shop"))["hits"]


def test_two_folders_of_one_name_that_claude_code_knows_are_not_mixed_up(
    memory: Memory, claude_mem: ClaudeMem, tmp_path: Path
) -> None:
    for name in ("a", "b"):
        (tmp_path / name / "shop").mkdir(parents=True)
        claude_code_was_in(memory, tmp_path / name / "shop", f"session-{name}")
    claude_mem.session("session-of-neither")
    claude_mem.observes("a coati", own="session-of-neither")
    memory.json("import", "claude-mem")
    for name in ("a", "b"):
        assert not memory.json("search", "coati", "--cwd", str(tmp_path / name / "shop"))["hits"]
    assert memory.json("search", "coati", "--all")["hits"]


def test_a_project_that_is_known_by_its_name_alone_is_recognised(
    memory: Memory, claude_mem: ClaudeMem
) -> None:
    memory.worked_here()
    claude_mem.filled()
    memory.json("import", "claude-mem")
    assert memory.json("search", "flamingo")["hits"], "of the project in which one stands"
    assert len({event.project for event in events(memory)}) == 1


def test_two_projects_of_one_name_are_not_mixed_up(
    memory: Memory, claude_mem: ClaudeMem, tmp_path: Path
) -> None:
    memory.worked_here()
    other = tmp_path / "elsewhere" / "shop"
    other.mkdir(parents=True)
    memory.hook("UserPromptSubmit", session="s2", prompt="hello", prompt_id="p", cwd=str(other))
    memory.caught_up()
    claude_mem.filled()
    memory.json("import", "claude-mem")
    for folder in (memory.project, other):
        assert not memory.json("search", "flamingo", "--cwd", str(folder))["hits"]
    assert memory.json("search", "flamingo", "--all")["hits"]


# MP-7
def test_mp_7_one_session_can_be_chosen_by_the_agents_own_id(memory: Memory, claude_mem: ClaudeMem) -> None:
    claude_mem.filled()
    claude_mem.session("other")
    claude_mem.observes("an aardvark", own="other")
    assert memory.json("import", "claude-mem", "--session", "other")["new"] == 1
    assert found(memory, "aardvark")
    assert not found(memory, "flamingo")


# MP-2
def test_mp_2_its_folder_is_found_by_variable_and_by_path(
    memory: Memory, claude_mem: ClaudeMem, tmp_path: Path
) -> None:
    claude_mem.filled()
    moved = tmp_path / "moved"
    claude_mem.path.parent.rename(moved)
    assert memory.ask("import", "claude-mem").exit_code == 2
    memory.extra["CLAUDE_MEM_DATA_DIR"] = str(moved)
    assert memory.json("import", "claude-mem", "--dry-run")["new"] == 1
    del memory.extra["CLAUDE_MEM_DATA_DIR"]
    assert memory.json("import", "claude-mem", "--path", str(tmp_path), "--dry-run")["new"] == 1


def test_the_next_session_starts_where_claude_mem_left_off(memory: Memory, claude_mem: ClaudeMem) -> None:
    claude_mem.filled()
    memory.json("import", "claude-mem", "--project", str(memory.project))
    brief = memory.ask("brief").stdout
    assert "2026-01-05 · claude-mem] Make the login pass in Safari" in brief
    assert "Rotate the pelican keys" in brief
    assert "Decided: Tokens are signed with RS256" in brief


def test_what_was_captured_live_is_not_held_for_claude_mems(memory: Memory, claude_mem: ClaudeMem) -> None:
    """One session known from both stays two: what its agent did, and what claude-mem noted about it."""
    memory.hook("UserPromptSubmit", session=SESSION, prompt="Make the login pass in Safari", prompt_id="p1")
    memory.caught_up()
    claude_mem.filled()
    memory.json("import", "claude-mem")
    sessions = memory.json("timeline", "--sessions", "--all")["sessions"]
    assert {session["agent"] for session in sessions} == {"claude-code", "claude-mem"}
    assert memory.ask("show", SESSION).exit_code == 0, "the agent's own id still names the agent's session"
