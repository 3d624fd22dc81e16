"""The recording in the README shows what the program does today."""

import importlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
RECORDING = ROOT / "docs" / "first-error.svg"
sys.path.insert(0, str(ROOT / "tools"))
recording: Any = importlib.import_module("terminal_recording")


def test_the_recording_shows_the_lines_of_a_run_of_now() -> None:
    """Run `make docs` after a change in what install prints or what a note says."""
    done = subprocess.run(
        [sys.executable, "tools/terminal_recording.py", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr


def test_the_error_returns_after_the_fix_and_the_hook_tells_it() -> None:
    rows = recording.essential(recording.shown(RECORDING.read_text("utf-8")))
    failures = [number for number, row in enumerate(rows) if "no such table: price_list" in row]
    first, again, told = failures
    assert any("load_fixtures.py" in row for row in rows[first:again])
    assert "fixed by running `python3 tools/load_fixtures.py`" in rows[told]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("- [just now · codex] it failed (m9c6cf20a)", "- [2 min ago · codex] it failed (mcb6b8e28)"),
        ("today is 2026-11-18", "today is 2027-01-02"),
    ],
)
def test_ages_dates_and_handles_are_not_essential(one: str, other: str) -> None:
    assert recording.essential([one]) == recording.essential([other])


def test_words_are_essential() -> None:
    assert recording.essential(["- [just now] fixed"]) != recording.essential(["- [just now] failed"])


def test_a_drawing_shows_its_lines_whatever_is_in_them() -> None:
    lines = [recording.Line("$ a < b & c"), recording.Line("", "quiet"), recording.Line("  └  end")]
    assert recording.shown(recording.drawing(lines)) == [line.text for line in lines]


def test_the_recording_asks_no_other_host_for_anything() -> None:
    text = RECORDING.read_text("utf-8").replace("http://www.w3.org/2000/svg", "")
    assert "http" not in text
    assert "url(" not in text


def test_the_readme_opens_with_the_recording_and_stays_short() -> None:
    rows = (ROOT / "README.md").read_text("utf-8").splitlines()
    assert len(rows) <= 150
    assert any("(docs/first-error.svg)" in row for row in rows[:10])
