"""`backstory import backstory FILE`: an export of another home."""

import json
from pathlib import Path

import pytest

from tests.cli.memory import Memory


@pytest.fixture
def export(memory: Memory, tmp_path: Path) -> Path:
    """What a home with one session's work wrote; the home itself is gone."""
    memory.worked_here()
    file = tmp_path / "all.jsonl"
    assert memory.ask("export", str(file)).exit_code == 0
    memory.home.rename(tmp_path / "old")
    return file


def test_an_export_comes_in_once(memory: Memory, export: Path) -> None:
    done = memory.ask("import", "backstory", str(export))
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("1 session, ")
    assert memory.json("search", "RS256")["hits"]
    again = memory.ask("import", "backstory", "--path", str(export))
    assert "nothing new" in again.stderr


def test_the_json_has_the_keys_of_every_import(memory: Memory, export: Path) -> None:
    found = memory.json("import", "backstory", str(export))
    rows = [json.loads(line).get("table") for line in export.read_text().splitlines()]
    assert {key: found[key] for key in ("new", "grown", "skipped", "events", "errors")} == {
        "new": 1, "grown": 0, "skipped": 0, "events": rows.count("events"), "errors": 0,
    }  # fmt: skip
    assert found["ids_meet"] is True


def test_a_dry_run_tells_the_same_and_changes_nothing(memory: Memory, export: Path) -> None:
    dry = memory.json("import", "backstory", str(export), "--dry-run")
    assert not memory.home.exists()
    real = memory.json("import", "backstory", str(export))
    assert {**dry, "dry_run": False} == real
    assert memory.json("import", "backstory", str(export), "--dry-run")["events"] == 0


def test_a_dry_run_beside_a_past_of_its_own_leaves_that_as_it_is(memory: Memory, export: Path) -> None:
    memory.prompt("hello there")
    memory.caught_up()
    before = memory.json("status")["events"]
    dry = memory.json("import", "backstory", str(export), "--dry-run")
    assert dry["ids_meet"] is False
    assert memory.json("status")["events"] == before
    assert "past of its own" in memory.ask("import", "backstory", str(export)).stderr


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["import", "backstory"], 1),
        (["import", "backstory", "a", "b"], 1),
        (["import", "backstory", "x.jsonl", "--project", "p"], 1),
        (["import", "backstory", "/nowhere/x.jsonl"], 2),
        (["import", "backstory", "/nowhere/x.jsonl", "--dry-run"], 2),
        (["import", "backstory", __file__], 4),
    ],
)
# MP-3
def test_mp_3_exit_codes_say_what_went_wrong(memory: Memory, words: list[str], code: int) -> None:
    done = memory.ask(*words)
    assert done.exit_code == code, done.output
    assert done.stderr.startswith("backstory: ")
