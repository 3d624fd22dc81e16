"""`backstory import`, as a person calls it and as a program reads it."""

import json
import os
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.story import House, Story

from .memory import Memory

TIMES = ("2026-01-05T10:00:00Z", "2026-01-05T10:00:07Z")


@pytest.fixture
def past(memory: Memory, tmp_path: Path) -> "Past":
    return Past(memory, tmp_path)


class Past:
    """What Claude Code has kept for this user."""

    def __init__(self, memory: Memory, tmp_path: Path) -> None:
        self.memory = memory
        self.folder = memory.user / ".claude" / "projects" / "-shop"
        self._elsewhere = House(tmp_path / "elsewhere", memory.project)

    def session(self, hours: float = 48) -> Story:
        """A session of some messages, last written so long ago."""
        story = self._elsewhere.told()
        story.transcript = self.folder / f"{story.session}.jsonl"
        story.prompts("make the zebra run").runs("make zebra", "it runs").says("Hm.").stops("The zebra runs.")
        at = time.time() - hours * 3_600
        os.utime(story.transcript, (at, at))
        return story


def tags(output: str) -> list[str]:
    return [line.split()[0] for line in output.splitlines() if line.startswith("[")]


# MP-2
def test_mp_2_the_history_is_found_by_default_by_variable_and_by_path(past: Past, tmp_path: Path) -> None:
    past.session()
    assert past.memory.json("import", "claude-code", "--dry-run")["new"] == 1
    moved = tmp_path / "moved"
    (past.memory.user / ".claude").rename(moved)
    done = past.memory.ask("import", "claude-code")
    assert done.exit_code == 2
    past.memory.extra["CLAUDE_CONFIG_DIR"] = str(moved)
    assert past.memory.json("import", "claude-code", "--dry-run")["new"] == 1
    del past.memory.extra["CLAUDE_CONFIG_DIR"]
    found = past.memory.json("import", "claude-code", "--path", str(tmp_path), "--dry-run")
    assert found["new"] == 1, "anywhere below the folder that is named"


def test_without_a_name_all_that_is_found_is_imported(past: Past) -> None:
    past.session()
    (past.memory.project / ".aider.chat.history.md").write_text(
        "# aider chat started at 2026-01-05 10:00:00\n\n#### say hello  \n\nHello.\n\n#### again  \n\nHello again.\n"
    )
    found = past.memory.json("import")
    assert {row["agent"] for row in found["sessions"]} == {"claude-code", "aider"}
    assert found["new"] == 2
    assert past.memory.json("import")["new"] == 0


def test_what_was_imported_is_searched_told_and_shown(past: Past) -> None:
    story = past.session()
    done = past.memory.ask("import", "claude-code")
    assert done.exit_code == 0, done.output
    assert tags(done.stdout) == ["[NEW]"]
    assert "1 new, 0 grown, 0 skipped" in done.stdout
    hits = past.memory.json("search", "zebra", "--all")["hits"]
    assert hits
    shown = past.memory.ask("show", story.id)
    assert "The zebra runs." in shown.stdout
    assert "zebra" in past.memory.ask("brief").stdout


def test_the_contract_of_the_json(past: Past) -> None:
    past.session()
    found = past.memory.json("import", "claude-code")
    assert {key: found[key] for key in ("new", "grown", "skipped", "events", "errors")} == {
        "new": 1, "grown": 0, "skipped": 0, "events": 5, "errors": 0,
    }  # fmt: skip
    again = past.memory.json("import", "claude-code")
    assert (again["new"], again["skipped"], again["events"], again["sessions"]) == (0, 1, 0, [])


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["import", "claude-code", "--dry-run"], 0),
        (["import", "clippy"], 1),
        (["import", "claude-code", "--min-messages", "few"], 1),
        (["import", "claude-code", "--since", "yesterday"], 1),
        (["import", "--path", "."], 1),
        (["import", "docs"], 1),
        (["import", "claude-code", "--path", "/nowhere/at/all"], 2),
        (["import", "codex", "--path", "/nowhere/at/all"], 2),
        (["import", "docs", "/nowhere/at/all"], 2),
        (["import", "docs", __file__], 1),
        (["import", "docs", ".", "--since", "2w"], 1),
        (["import", "docs", ".", "--session", "x"], 1),
        (["import", "docs", ".", "--min-messages", "3"], 1),
    ],
)
# MP-3
def test_mp_3_exit_codes_say_what_went_wrong(past: Past, words: list[str], code: int) -> None:
    past.session()
    done = past.memory.ask(*words)
    assert done.exit_code == code, done.output
    if code:
        assert done.stdout == ""
        assert done.stderr.startswith("backstory: ")
        assert len(done.stderr.splitlines()) == 1


# MP-3
def test_mp_3_a_source_of_which_nothing_can_be_read_ends_in_two(past: Past) -> None:
    past.session()
    junk = past.memory.user / ".claude-mem" / "claude-mem.db"
    junk.parent.mkdir()
    junk.write_bytes(b"no database" * 500)
    for words in (["opencode", "--path", str(junk)], ["claude-mem"]):
        for how in ([], ["--dry-run"], ["--json"]):
            done = past.memory.ask("import", *words, *how)
            assert done.exit_code == 2, done.output
            assert "claude-mem.db" in done.stdout
    database = past.memory.user / ".local" / "share" / "opencode" / "opencode.db"
    database.parent.mkdir(parents=True)
    database.write_bytes(junk.read_bytes())
    done = past.memory.ask("import")
    assert done.exit_code == 2
    assert "1 new" in done.stdout, "the others are imported"


# MP-3
def test_mp_3_an_import_that_failed_ends_in_four_and_names_what(past: Past) -> None:
    past.session()
    bad = past.session()
    assert bad.transcript is not None
    bad.transcript.unlink()
    bad.transcript.mkdir()
    (bad.transcript / "x.jsonl").symlink_to("/proc/self/mem")
    done = past.memory.ask("import", "claude-code")
    assert done.exit_code == 4
    assert "[SKIP] claude-code x.jsonl: " in done.stdout
    assert "1 new" in done.stdout, "the others are imported"
    past.memory.home.joinpath("backstory.db").write_bytes(b"this is no database" * 500)
    broken = past.memory.ask("import", "claude-code", "--again")
    assert broken.exit_code == 4
    assert "backstory doctor" in broken.stderr or "database" in broken.stderr


# MP-3
def test_mp_3_a_python_without_sqlite_ends_in_three_and_says_so(past: Past) -> None:
    past.session()
    probe = (
        "import sys; sys.modules['_sqlite3'] = None; from backstory.cli import cli; cli.main(sys.argv[1:])"
    )
    done = subprocess.run(
        [sys.executable, "-c", probe, "import", "claude-code"],
        env=past.memory.environment, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (3, "")
    assert "_sqlite3 is missing" in done.stderr
    assert len(done.stderr.splitlines()) == 1


# MP-4
def test_mp_4_an_unknown_option_says_how_and_exits_1(past: Past) -> None:
    done = past.memory.ask("import", "--repair")
    assert done.exit_code == 1
    assert done.stdout == ""
    assert "usage: backstory import [OPTIONS] [AGENT]..." in done.stderr
    assert "--help" in done.stderr


# MP-5
def test_mp_5_since_is_a_day_or_a_span(past: Past) -> None:
    past.session(hours=100)
    past.session(hours=2)
    for when in ("2d", "48h", time.strftime("%Y-%m-%d", time.gmtime(time.time() - 2 * 86_400))):
        found = past.memory.json("import", "claude-code", "--since", when, "--dry-run")
        assert (found["new"], found["skipped"]) == (1, 1), when


# MP-6, MP-8
def test_mp_6_mp_8_the_least_number_of_messages_is_three_unless_said(past: Past) -> None:
    short = past.session()
    assert short.transcript is not None
    lines = short.transcript.read_text().splitlines(keepends=True)
    short.transcript.write_text(lines[0] + lines[3])  # a question and an answer
    assert past.memory.json("import", "claude-code")["skipped"] == 1
    assert past.memory.json("import", "claude-code", "--min-messages", "2")["new"] == 1


# MP-7
def test_mp_7_one_session_by_its_own_id(past: Past) -> None:
    past.session()
    wanted = past.session()
    found = past.memory.json("import", "claude-code", "--session", wanted.session)
    assert [row["session"] for row in found["sessions"]] == [wanted.session]


# MP-16, MP-18
def test_mp_16_mp_18_a_dry_run_tells_what_a_real_one_would_do_also_when_that_is_nothing(past: Past) -> None:
    past.session()
    dry = past.memory.ask("import", "claude-code", "--dry-run")
    assert tags(dry.stdout) == ["[NEW]"]
    assert "5 events would be imported: 1 new" in dry.stdout
    assert not past.memory.home.exists(), "nothing was made"
    past.memory.ask("import", "claude-code")
    nothing = past.memory.ask("import", "claude-code", "--dry-run")
    assert tags(nothing.stdout) == ["[SKIP]"]
    assert "there is nothing to import" in nothing.stderr


def test_what_is_skipped_is_counted_by_its_reason(past: Past) -> None:
    for _ in range(3):
        past.session()
    past.memory.ask("import", "claude-code")
    new = past.session()
    for lines in (1, 2):
        short = past.session()
        assert short.transcript is not None
        kept = short.transcript.read_text().splitlines(keepends=True)[:lines]
        short.transcript.write_text("".join(kept))
    done = past.memory.ask("import", "claude-code")
    rows = [row for row in done.stdout.splitlines() if row.startswith("[")]
    assert rows[0].startswith(f"[NEW] claude-code {new.session}: ")
    assert sorted(rows[1:]) == [
        "[SKIP] claude-code: 2 sessions: too short",
        "[SKIP] claude-code: 3 sessions: unchanged",
    ]
    assert len(past.memory.json("import", "claude-code", "--dry-run")["sessions"]) == 6


def test_an_import_that_is_quiet_names_only_what_failed(past: Past) -> None:
    past.session()
    assert past.memory.ask("import", "claude-code", "--quiet").output == ""
    bad = past.session()
    assert bad.transcript is not None
    bad.transcript.unlink()
    bad.transcript.mkdir()
    (bad.transcript / "x.jsonl").symlink_to("/proc/self/mem")
    done = past.memory.ask("import", "claude-code", "--quiet")
    assert done.exit_code == 4
    assert tags(done.stdout) == ["[SKIP]"]
    assert "[SKIP] claude-code x.jsonl: " in done.stdout


# MP-19
def test_mp_19_a_database_that_is_none_makes_a_dry_run_call_everything_new(past: Past) -> None:
    past.session()
    past.memory.home.mkdir(mode=0o700)
    (past.memory.home / "backstory.db").write_bytes(b"this is no database" * 500)
    dry = past.memory.ask("import", "claude-code", "--dry-run")
    assert dry.exit_code == 0, dry.output
    assert tags(dry.stdout) == ["[NEW]"]


# MP-20
def test_mp_20_nothing_that_qualifies_is_said_and_is_no_failure(past: Past) -> None:
    past.folder.mkdir(parents=True)
    done = past.memory.ask("import", "claude-code")
    assert (done.exit_code, done.stdout) == (0, "")
    assert "there is nothing new" in done.stderr
    assert past.memory.ask("import").exit_code == 0


# MP-23, MP-24
def test_mp_23_mp_24_who_imports_and_into_which_project_can_be_chosen(past: Past) -> None:
    story = past.session()
    done = past.memory.ask("import", "claude-code", "--user", "grace", "--project", "zoo")
    assert done.exit_code == 0, done.output
    hits = past.memory.json("search", "zebra", "--project", "zoo")["hits"]
    assert {hit["project"] for hit in hits} == {"zoo"}
    with closing(sqlite3.connect(past.memory.home / "backstory.db")) as db:
        assert db.execute("SELECT imported_by FROM sessions WHERE id = ?", (story.id,)).fetchone() == (
            "grace",
        )


def test_a_specstory_file_of_a_session_that_is_known_is_not_a_second_session(past: Past) -> None:
    story = past.session()
    past.memory.ask("import", "claude-code")
    folder = past.memory.project / ".specstory" / "history"
    folder.mkdir(parents=True)
    for name, session in (("known", story.session), ("other", "0" * 8 + story.session[8:])):
        head = f"<!-- Generated by SpecStory -->\n\n<!-- Claude Code Session {session} ({TIMES[0]}) -->\n\n"
        turns = "".join(f"_**User ({at})**_\n\nhi\n\n_**Agent ({at})**_\n\nHello.\n\n" for at in TIMES)
        (folder / f"{name}.md").write_text(head + turns)
    found: Any = past.memory.json("import", "specstory", "--dry-run")
    assert {Path(row["path"]).stem: row["tag"] for row in found["sessions"]} == {
        "known": "SKIP",
        "other": "NEW",
    }


# CM-63
def test_cm_63_a_real_process_imports_once_and_leaves_no_terminal_codes(past: Past) -> None:
    past.session()
    done = past.memory.run("import", "claude-code")
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout + done.stderr
    assert json.loads(past.memory.run("import", "--json").stdout)["events"] == 0


def test_the_line_of_a_sub_agent_is_told_apart_from_its_parents(past: Past) -> None:
    story = past.session()
    child = story.delegates()
    child.transcript = past.folder / story.session / "subagents" / f"agent-{child.subagent}.jsonl"
    child.runs("ls", "a.py")
    rows = [json.loads(line) for line in child.transcript.read_text().splitlines()]
    rows = [row | {"isSidechain": True, "agentId": child.subagent} for row in rows]
    child.transcript.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = past.memory.json("import", "--dry-run")["sessions"]
    assert [row["subagent"] for row in found] == ["", child.subagent]
    shown = past.memory.ask("import").stdout
    assert f"[NEW] claude-code {story.session} sub-agent {child.subagent}: 1 message, 1 event" in shown


def test_documents_are_imported_by_folder(past: Past) -> None:
    (past.memory.project / "guide.md").write_text("# Guide\n\nFeed the quokka.\n")
    done = past.memory.ask("import", "docs", ".")
    assert done.exit_code == 0, done.output
    assert tags(done.stdout) == ["[NEW]"]
    (hit,) = past.memory.json("search", "quokka")["hits"]
    assert (hit["kind"], hit["agent"]) == ("document", "docs")
    assert "document" in past.memory.ask("search", "quokka").stdout
