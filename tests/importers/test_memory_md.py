"""MEMORY.md files come over as an agent's notes; daily logs line by line."""

import json
import os
from pathlib import Path

import pytest

from backstory.importers.folder_names import claude_folder_name
from tests.cli.memory import Memory

from .reading import events, found, memories

NOTES = """# Shop

Uses the zebra framework.

## Build

- `make walrus` builds it
- never run flamingo on main

## Topics

- [Deploy](deploy.md) - how it is shipped
"""


@pytest.fixture
def folder(memory: Memory) -> Path:
    """Claude Code's memory of the project."""
    folder = memory.user / ".claude" / "projects" / claude_folder_name(str(memory.project)) / "memory"
    folder.mkdir(parents=True)
    (folder / "MEMORY.md").write_text(NOTES)
    (folder / "deploy.md").write_text("# Deploy\n\nThe pelican runs on Fridays.\n")
    return folder


def test_sections_of_memory_md_and_topic_files_become_facts(memory: Memory, folder: Path) -> None:
    done = memory.json("import", "memory-md")
    assert done["errors"] == 0
    assert sorted(known.text for known in memories(memory, "fact")) == [
        "Build: `make walrus` builds it; never run flamingo on main",
        "Deploy: The pelican runs on Fridays.",
        "Shop: Uses the zebra framework.",
    ]
    assert "noted: " in found(memory, "how it is shipped")[0], "an index is found, and no fact"


def test_the_project_is_the_folder_that_exists(memory: Memory, folder: Path) -> None:
    memory.json("import", "memory-md")
    assert memory.json("search", "walrus")["hits"], "of the project in which one stands"
    brief = memory.ask("brief").stdout
    assert "· memory-md] Noted: Deploy: The pelican runs on Fridays." in brief


def test_the_project_is_the_folder_that_the_transcripts_name_also_when_it_is_gone(memory: Memory) -> None:
    gone = "/home/ada/my.shop_v2"
    folder = memory.user / ".claude" / "projects" / claude_folder_name(gone)
    (folder / "memory").mkdir(parents=True)
    (folder / "s1.jsonl").write_text(
        json.dumps({"cwd": "/somewhere/else"}) + "\n" + json.dumps({"cwd": gone}) + "\n"
    )
    (folder / "memory" / "MEMORY.md").write_text("# Notes\n\na coati\n")
    memory.json("import", "memory-md")
    assert {event.project for event in events(memory)} == {"my.shop_v2"}


def test_a_folder_that_nothing_tells_about_keeps_claude_codes_name(memory: Memory) -> None:
    folder = memory.user / ".claude" / "projects" / "-gone-for-good" / "memory"
    folder.mkdir(parents=True)
    (folder / "MEMORY.md").write_text("a numbat\n")
    memory.json("import", "memory-md")
    assert {event.project for event in events(memory)} == {"-gone-for-good"}


def test_a_note_that_changed_replaces_what_it_said(memory: Memory, folder: Path) -> None:
    memory.json("import", "memory-md")
    (folder / "MEMORY.md").write_text(NOTES.replace("make walrus", "make ibis"))
    done = memory.json("import", "memory-md")
    assert (done["grown"], done["events"]) == (1, 1), "the section that changed, not the others"
    texts = [known.text for known in memories(memory, "fact")]
    assert len(texts) == 3
    assert not any("walrus" in text for text in texts)
    assert not found(memory, "walrus")


def test_only_touching_a_file_changes_nothing(memory: Memory, folder: Path) -> None:
    memory.json("import", "memory-md")
    os.utime(folder / "MEMORY.md", (1, 1))
    done = memory.json("import", "memory-md")
    assert (done["new"], done["grown"], done["events"]) == (0, 0, 0)


@pytest.fixture
def group(memory: Memory) -> Path:
    """A group of nanoclaw's kind, in the project."""
    (memory.project / "session-state.json").write_text(json.dumps({"schema_version": 1, "sessions": {}}))
    (memory.project / "MEMORY.md").write_text("- [role](user_role.md) - who she is\n")
    (memory.project / "user_role.md").write_text(
        "---\nname: role\ndescription: Keeps zebras\ntype: user\n---\nSince 2019.\n"
    )
    (memory.project / "feedback_tests.md").write_text(
        "---\nname: tests\ndescription: No mocks please\ntype: feedback\n---\nBecause of the walrus.\n"
    )
    (memory.project / "2026-01-05.md").write_text(
        "# 2026-01-05\n\nA quiet day.\n- 09:30 [family] fed the flamingo\n  twice\n- 9:45 [work] sold a pelican\n"
    )
    (memory.project / "notes.md").write_text("a tapir, which is no memory")
    return memory.project


def test_a_groups_typed_facts_and_log_lines_come_over(memory: Memory, group: Path) -> None:
    memory.json("import", "memory-md", "--path", str(group))
    facts = sorted(known.text for known in memories(memory, "fact"))
    assert facts == [
        "role: Keeps zebras; type: user; Since 2019.",
        "tests: No mocks please; type: feedback; Because of the walrus.",
    ]
    logged = [
        (event.text, event.at // 60_000 * 60_000) for event in events(memory, "noted") if event.tool == "log"
    ]
    assert logged == [
        ("# 2026-01-05\n\nA quiet day.", 1_767_571_200_000),
        ("- 09:30 [family] fed the flamingo\n  twice", 1_767_605_400_000),
        ("- 9:45 [work] sold a pelican", 1_767_606_300_000),
    ]
    assert not found(memory, "tapir")


def test_what_feedback_says_is_not_told_as_the_users_wish(memory: Memory, group: Path) -> None:
    memory.json("import", "memory-md", "--path", str(group))
    brief = memory.ask("brief").stdout
    assert "Noted: tests: No mocks please" in brief
    assert "The user wants" not in brief


def test_a_log_that_grew_brings_its_new_lines_alone(memory: Memory, group: Path) -> None:
    memory.json("import", "memory-md", "--path", str(group))
    with (group / "2026-01-05.md").open("a") as log:
        log.write("- 09:45 [work] sold a pelican\n- 09:45 [work] sold a pelican\n")
    done = memory.json("import", "memory-md", "--path", str(group))
    assert (done["grown"], done["events"]) == (1, 2), "equal lines are told apart"


def test_a_note_that_looks_like_an_aside_is_a_fact(memory: Memory, folder: Path) -> None:
    (folder / "odd.md").write_text("Concepts: aardwolf\n")
    memory.json("import", "memory-md")
    assert "Concepts: aardwolf" in [known.text for known in memories(memory, "fact")]
