"""Looking after the memory: status, rebuild, config."""

import json
from pathlib import Path
from typing import Any

from .memory import AGENT, SESSION, Memory

CONTRACT = {"events", "sessions", "memories", "projects", "spooled", "quarantined", "duplicates"}


def test_status_as_json_keeps_its_contract(worked: Memory) -> None:
    status = worked.json("status")
    assert status.keys() >= CONTRACT
    assert status["events"] == 8
    assert (status["sessions"], status["projects"], status["spooled"], status["quarantined"]) == (1, 1, 0, 0)
    assert status["memories"] > 2
    assert status["project_list"][0]["name"] == "shop"


def test_status_looks_and_changes_nothing(worked: Memory) -> None:
    worked.prompt("This waits.")
    assert worked.json("status")["spooled"] == 1
    assert worked.json("status")["spooled"] == 1
    printed = worked.run("status").stdout
    assert "1 waiting" in printed
    assert str(worked.home) in printed


def test_status_counts_what_could_not_be_read_and_what_came_twice(worked: Memory) -> None:
    (worked.home / "spool" / f"{AGENT}.Stop.1.1").write_bytes(b"no json\x1e")
    tool: dict[str, Any] = {
        "tool_name": "Read",
        "tool_input": {"file_path": "/a"},
        "tool_use_id": "same",
        "tool_response": "text",
    }
    worked.hook("PostToolUse", **tool)
    worked.hook("PostToolUse", **tool)
    worked.caught_up()
    status = worked.json("status")
    assert (status["quarantined"], status["duplicates"], status["spooled"]) == (1, 1, 0)


def test_status_counts_every_hook_that_ran_and_what_became_of_it(memory: Memory) -> None:
    """Proof of capture, against a known count: one payload came twice, one is no JSON, one hook failed.

    What a brief's receipt says of it is no payload of the agent's.
    """
    memory.hook("SessionStart", source="startup")
    for number in range(4):
        memory.hook("UserPromptSubmit", prompt=f"Question {number}", prompt_id=f"p{number}")
        memory.hook(
            "PostToolUse", tool_name="Read", tool_input={"file_path": "/a"}, tool_use_id=f"t{number % 3}"
        )
    (memory.home / "spool" / f"{AGENT}.Stop.1.1").write_bytes(b"no json\x1e")
    (memory.home / "spool" / f"{AGENT}.Stop.1.2.write.fail").write_bytes(b"")
    before = memory.json("status")
    assert (before["spooled"], before["events"], before["captured"]["stored"]) == (10, 0, 0)
    receipt = {"id": "i1", "session_id": SESSION, "source": "startup", "chars": 10, "tokens": 3, "shown": []}
    (memory.home / "spool" / f"{AGENT}.brief.1.3").write_bytes(json.dumps(receipt).encode() + b"\x1e")
    memory.caught_up()
    for _ in range(2):  # looked at twice, counted once
        after = memory.json("status")
        counted = {"spooled": 9, "stored": 8, "duplicate": 1, "quarantined": 1, "failed": 1, "late": 0}
        assert after["captured"] == counted
        assert (after["events"], after["duplicates"]) == (8, 1)
        assert (after["quarantined"], after["failed_hooks"], after["spooled"]) == (1, 1, 0)
    printed = memory.run("status").stdout
    assert "9 payloads taken in, 1 failed" in printed
    assert "8 events, 1 received twice" in printed


def test_an_end_of_an_unknown_session_is_taken_in_silently(memory: Memory) -> None:
    """CMEM-10"""
    memory.hook("SessionEnd", session="never-seen", reason="other")
    done = memory.run("timeline")
    assert (done.returncode, done.stderr) == (0, "Nothing is known of the project shop yet.\n")
    assert memory.json("status")["quarantined"] == 0


def test_rebuild_makes_the_same_memories_again(worked: Memory) -> None:
    worked.ask("remember", "Deploys go out on Tuesdays.")
    before = worked.json("brief")["rows"]
    made = worked.json("rebuild")
    assert made["sessions"] == 2
    assert worked.json("brief")["rows"] == before
    assert worked.json("search", "login")["hits"]
    done = worked.run("rebuild")
    assert done.stdout.startswith("2 sessions rebuilt from 9 events")
    assert done.stderr == ""


# --- config -----------------------------------------------------------------------------------------------


def test_config_lists_every_setting_with_its_meaning(memory: Memory) -> None:
    rows = memory.json("config")["settings"]
    assert {"key", "value", "default", "doc", "terminal_only"} == rows[0].keys()
    printed = memory.ask("config").stdout
    assert all(row["key"] in printed for row in rows)


def test_a_setting_is_set_shown_and_unset(memory: Memory) -> None:
    assert memory.ask("config", "brief.max_chars", "4000").exit_code == 0
    assert memory.ask("config", "brief.max_chars").stdout == "4000\n"
    assert memory.json("config", "brief.max_chars")["value"] == 4000
    assert memory.ask("config", "privacy.redact_off", "email, ip").exit_code == 0
    assert memory.ask("config", "privacy.redact_off").stdout == "email,ip\n"
    assert memory.ask("config", "capture.transcripts", "off").exit_code == 0
    assert memory.json("config", "capture.transcripts")["value"] is False
    assert memory.ask("config", "brief.max_chars", "--unset").exit_code == 0
    assert memory.ask("config", "brief.max_chars").stdout == "2400\n"


def test_a_changed_setting_reaches_the_hook(memory: Memory) -> None:
    memory.ask("config", "brief.max_chars", "4000")
    kept = json.loads((memory.home / "hook" / "settings.json").read_text())
    assert kept["budget_chars"] == 4000


def test_unset_needs_a_key_and_no_value(memory: Memory) -> None:
    assert memory.ask("config", "--unset").exit_code == 1
    assert memory.ask("config", "brief.max_chars", "1", "--unset").exit_code == 1
    assert memory.ask("config", "no.such", "--unset").exit_code == 1


def test_a_project_file_counts_only_after_it_is_confirmed(worked: Memory, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    clone.mkdir()
    (clone / ".backstory.toml").write_text('project = "acme/shop"\n')
    worked.ask("remember", "A secret of acme.", "--cwd", str(clone))

    def named() -> list[str]:
        return [p["identity"] for p in worked.json("status")["project_list"]]

    assert "acme/shop" not in named()
    done = worked.ask("config", "--confirm", "--cwd", str(clone))
    assert done.exit_code == 0
    assert "acme/shop" in done.stderr
    worked.ask("remember", "Now it is known.", "--cwd", str(clone))
    assert "acme/shop" in named()
    assert worked.json("config", "--confirm", "--unset", "--cwd", str(clone))["confirmed"] is False


def test_confirming_needs_a_project_file(memory: Memory) -> None:
    done = memory.ask("config", "--confirm")
    assert done.exit_code == 2
    assert ".backstory.toml" in done.stderr
    assert memory.ask("config", "brief.max_chars", "--confirm").exit_code == 1
