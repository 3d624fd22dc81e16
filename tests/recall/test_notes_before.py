"""Notes before a command or an edit: of what failed here and was not mended, and of nothing else."""

import json
from typing import Any

import pytest

from tests.recall.desk import Desk, finds_another_way
from tests.story import House


@pytest.fixture
def desk(house: House) -> Desk:
    return Desk(house)


def test_before_a_command_that_failed_here_one_note_tells_why_and_what_helped(
    house: House, desk: Desk
) -> None:
    finds_another_way(house)
    told = desk.is_about_to_run("python load.py")
    assert "ImportError" in told
    assert "PYTHONPATH=src python load.py" in told
    assert told.count("\n- [") == 1
    assert len(told) <= 800


@pytest.mark.parametrize(
    "command",
    [
        "  python   load.py ",
        "cd /anywhere && python load.py",
        "python load.py 2>&1 | tail -20",
        "git pull && python load.py",
    ],
)
def test_a_command_is_recognised_whatever_stands_around_it(house: House, desk: Desk, command: str) -> None:
    finds_another_way(house)
    assert "PYTHONPATH=src python load.py" in desk.is_about_to_run(command)


@pytest.mark.parametrize("command", ["python save.py", "echo python load.py", ""])
def test_another_command_is_not_warned_about(house: House, desk: Desk, command: str) -> None:
    finds_another_way(house)
    assert desk.is_about_to_run(command) == ""


def test_the_warning_comes_once_in_a_context_though_the_brief_had_it(house: House, desk: Desk) -> None:
    finds_another_way(house)
    assert "ImportError" in desk.fires("SessionStart", source="startup")
    assert desk.is_about_to_run("python load.py")
    assert desk.is_about_to_run("python load.py") == ""


def test_a_command_that_passed_in_a_later_session_is_not_warned_about(house: House, desk: Desk) -> None:
    finds_another_way(house)
    later = house.session().starts().prompts("Again").runs("python load.py", "loaded 12 settings")
    later.stops("Fine.").ends()
    house.works()
    assert desk.is_about_to_run("python load.py") == ""


def test_an_edit_that_was_turned_back_is_warned_about(house: House, desk: Desk) -> None:
    story = house.session().starts().prompts("Make the cache faster")
    story.edits("cache.py", "TTL = 60", "TTL = 86400").runs(
        "pytest", fails="Exit code 1\nE  stale entries: 3"
    )
    story.edits("cache.py", "TTL = 86400", "TTL = 60").stops("I took it back.").ends()
    house.works()
    assert "cache.py" in desk.is_about_to_edit("cache.py", "TTL = 60", "TTL = 86400")
    assert desk.is_about_to_edit("cache.py", "TTL = 60", "TTL = 120", session="other") == ""
    assert desk.is_about_to_edit("cache.py", "TTL = 86400", "TTL = 60", session="back") == "", "that is good"


def test_before_a_tool_nothing_is_spooled(house: House, desk: Desk) -> None:
    desk.is_about_to_run("python load.py")
    assert house.spooled() == []
    finds_another_way(house)
    desk.is_about_to_run("python save.py")
    assert house.spooled() == []


# --- what is over --------------------------------------------------------------------------------------------


def test_who_tests_as_they_work_is_not_warned_about_what_they_mended(house: House, desk: Desk) -> None:
    """Eight sessions, each of which sees `pytest -q` fail on new code, mends it, and sees it pass."""
    for n, part in enumerate(("cart", "order", "login", "search", "mail", "stock", "price", "refund")):
        assert desk.is_about_to_run("pytest -q", session=f"new {n}") == ""
        story = house.session().starts().prompts(f"Write the {part} page")
        story.writes(f"{part}.py", f"def {part}(): pass").runs(
            "pytest -q", fails=f"Exit code 1\nE   NameError: name '{part}_total' is not defined\n1 failed"
        )
        story.edits(f"{part}.py", "pass", f"return {part}_total()").runs("pytest -q", "1 passed")
        story.stops("Done.").ends()
        house.works()
    assert desk.is_about_to_run("pytest -q", session="last") == ""


def leaves_it_red(house: House, command: str = "make report") -> None:
    story = house.session().starts().prompts("Make the report")
    for _ in range(2):
        story.runs(command, fails="Exit code 2\nError: cannot open the ledger of last year")
    story.stops("It does not work.").ends()
    house.works()


def test_a_command_that_failed_last_is_warned_about_until_it_passes(house: House, desk: Desk) -> None:
    leaves_it_red(house, "make invoice")
    passes(house, "make report")
    leaves_it_red(house)
    assert "ledger" in desk.is_about_to_run("make report", session="one"), "that it passed before is no news"
    passes(house, "make ledger && make report")
    assert desk.is_about_to_run("make report", session="two") == ""


@pytest.mark.parametrize(
    ("passed", "over"),
    [
        ("pytest tests/test_tax.py", True),
        ("pytest", True),
        ("pytest -x -q .", True),
        ("make setup && pytest -q", True),
        ("make setup || pytest -q", False),
        ("pytest -k dates", False),
        ("pytest tests/test_mail.py", False),
        ("pytest-watch", False),
        ("mypy .", False),
    ],
)
def test_a_check_is_over_when_it_passes_or_one_of_everything_does(
    house: House, desk: Desk, passed: str, over: bool
) -> None:
    leaves_it_red(house, "pytest tests/test_tax.py")
    passes(house, passed)
    assert (desk.is_about_to_run("pytest tests/test_tax.py") == "") is over


def passes(house: House, command: str) -> None:
    house.session().starts().prompts("Again").runs(command, "fine").stops("Fine.").ends()
    house.works()


def test_a_command_that_is_too_long_to_be_kept_whole_is_not_warned_about(house: House, desk: Desk) -> None:
    long = f"make report {'x' * 5_000} end"
    leaves_it_red(house, long)
    leaves_it_red(house, f"make {'y' * 200} report")
    (file,) = house.home.notes.iterdir()
    assert not [key for key in json.loads(file.read_text())["commands"] if "…" in key]
    for command in (long, "make report " + "x" * 100 + " … end", f"make {'y' * 200} report"):
        told = desk.is_about_to_run(command, session=command[:20])
        assert bool(told) == ("yyy" in command)


def test_the_way_that_works_is_not_warned_about_though_only_its_folder_differs(
    house: House, desk: Desk
) -> None:
    story = house.session().starts().prompts("Run the tests of the page")
    story.runs("npm test", fails="Exit code 1\nnpm error Missing script: test in package shop-root")
    story.runs("cd web && npm test", "12 passed").stops("They pass.").ends()
    house.works()
    assert "cd web" in desk.is_about_to_run("npm test", session="one")
    assert desk.is_about_to_run("cd web && npm test", session="two") == ""


# --- edits ---------------------------------------------------------------------------------------------------

STALE = "Exit code 1\nE  AssertionError: stale entries in the cache: 3"


def test_the_same_change_is_recognised_with_other_lines_around_it_and_among_others(
    house: House, desk: Desk
) -> None:
    story = house.session().starts().prompts("Make the cache faster")
    story.edits("cache.py", "TTL = 60", "TTL = 86400").runs("pytest", fails=STALE)
    story.edits("cache.py", "TTL = 86400", "TTL = 60").stops("I took it back.").ends()
    house.works()
    assert desk.is_about_to_edit(
        "cache.py", "import os\n\nTTL = 60\nx = 1", "import os\n\nTTL = 86400\nx = 1", session="one"
    )
    edits = [("SIZE = 1", "SIZE = 2"), ("TTL = 60", "TTL = 86400")]
    given: dict[str, Any] = {
        "file_path": f"{house.project}/cache.py",
        "edits": [{"old_string": old, "new_string": new} for old, new in edits],
    }
    assert desk.fires("PreToolUse", tool_name="MultiEdit", tool_input=given, session="two")
    given["edits"] = [{"old_string": "TTL = 86400", "new_string": "TTL = 60"}, "junk", {"old_string": 3}]
    assert desk.fires("PreToolUse", tool_name="MultiEdit", tool_input=given, session="three") == ""
    assert desk.is_about_to_edit("other.py", "TTL = 60", "TTL = 86400", session="four") == ""


def test_what_git_threw_away_is_warned_about_whether_edited_or_written(house: House, desk: Desk) -> None:
    story = house.session().starts().prompts("Make the cache faster")
    story.edits("cache.py", "TTL = 60", "TTL = 86400").writes("pool.py", "SIZE = 64\nWAIT = 0\n")
    story.runs("pytest", fails=STALE).runs("git checkout -- cache.py pool.py", "").stops("Taken back.").ends()
    house.works()
    assert "undone" in desk.is_about_to_edit("cache.py", "TTL = 60", "TTL = 86400", session="one")
    assert "undone" in desk.is_about_to_write("pool.py", "SIZE = 64\nWAIT = 0\n", session="two")
    assert desk.is_about_to_write("pool.py", "SIZE = 64\nWAIT = 1\n", session="three") == ""


def test_an_edit_after_which_the_same_error_came_is_warned_about_and_the_fix_is_not(
    house: House, desk: Desk
) -> None:
    story = house.session().starts().prompts("The cache is stale").runs("pytest", fails=STALE)
    story.edits("cache.py", "TTL = 60", "TTL = 5").runs("pytest", fails=STALE)
    story.edits("store.py", "flush = False", "flush = True").runs("pytest", "3 passed")
    story.stops("Fixed.").ends()
    house.works()
    assert "store.py" in desk.is_about_to_edit("cache.py", "TTL = 60", "TTL = 5", session="one")
    assert desk.is_about_to_edit("store.py", "flush = False", "flush = True", session="two") == ""


def test_an_edit_of_the_file_that_was_the_fix_may_be_part_of_it(house: House, desk: Desk) -> None:
    story = house.session().starts().prompts("The cache is stale").runs("pytest", fails=STALE)
    story.edits("cache.py", "TTL = 60", "TTL = 5").runs("pytest", fails=STALE)
    story.edits("cache.py", "flush = False", "flush = True").runs("pytest", "3 passed")
    story.stops("Fixed.").ends()
    house.works()
    assert desk.is_about_to_edit("cache.py", "TTL = 60", "TTL = 5") == ""


def test_edits_that_left_a_command_red_are_warned_about_until_it_passes(house: House, desk: Desk) -> None:
    story = house.session().starts().prompts("The cache is stale").runs("pytest", fails=STALE)
    story.edits("cache.py", "TTL = 60", "TTL = 5").runs("pytest", fails=STALE).stops("Still red.").ends()
    house.works()
    assert "tried editing" in desk.is_about_to_edit("cache.py", "TTL = 60", "TTL = 5", session="one")
    passes(house, "pytest")
    assert desk.is_about_to_edit("cache.py", "TTL = 60", "TTL = 5", session="two") == ""


def test_an_edit_that_the_agent_calls_vain_is_warned_about(house: House, desk: Desk) -> None:
    story = house.told().starts().prompts("The cache is stale").runs("pytest", fails=STALE)
    story.edits("cache.py", "TTL = 60", "TTL = 5").runs("pytest", fails=STALE)
    story.says("Lowering TTL in cache.py did not help.")
    story.edits("cache.py", "flush = False", "flush = True").runs("pytest", "3 passed").stops("Fixed.").ends()
    house.works()
    assert "did not help" in desk.is_about_to_edit("cache.py", "TTL = 60", "TTL = 5", session="one")
    assert desk.is_about_to_edit("cache.py", "flush = False", "flush = True", session="two") == ""


# --- contexts ------------------------------------------------------------------------------------------------


def test_a_sub_agent_has_a_context_of_its_own(house: House, desk: Desk) -> None:
    finds_another_way(house)
    assert desk.is_about_to_run("python load.py")
    assert desk.is_about_to_run("python load.py", agent_id="a1")
    assert desk.is_about_to_run("python load.py", agent_id="a1") == ""
    assert desk.is_about_to_run("python load.py") == ""
    main = house.session(session="now").starts().prompts("Go on")
    child = main.delegates()
    assert desk.is_about_to_run("python load.py", agent_id=child.subagent)
    child.runs("echo", "x").stops("Done.")
    main.stops("Done.")
    house.works()
    assert desk.is_about_to_run("python load.py", agent_id=child.subagent) == "", "its receipt is stored"
    assert desk.is_about_to_run("python load.py") == ""
    assert desk.is_about_to_run("python load.py", agent_id="a2")
