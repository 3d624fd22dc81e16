"""Notes after an error, or with the next prompt: of one that was met and mended before."""

from typing import Any

import pytest

from backstory.capture.hook_bundle import write_hook_settings
from backstory.settings import load_settings
from tests.recall.desk import ERROR, Desk, mends_the_loader
from tests.story import House


@pytest.fixture
def desk(house: House) -> Desk:
    return Desk(house)


def test_after_an_error_whose_fix_is_known_one_note_tells_it(house: House, desk: Desk) -> None:
    mends_the_loader(house)
    told = desk.fails("python other.py", "Exit code 1\nTraceback …\n" + ERROR)
    assert "pip install pyyaml" in told
    assert told.count("\n- [") == 1
    assert len(house.spooled()) == 2, "the failure itself is captured, and the receipt"


@pytest.mark.parametrize(
    "error",
    ["Exit code 1", "Exit code 1\nAssertionError", "ModuleNotFoundError: No module named 'numpy'", ""],
)
def test_another_error_is_left_alone(house: House, desk: Desk, error: str) -> None:
    mends_the_loader(house)
    assert desk.fails("python other.py", error) == ""


def fails_in_qwen(house: House) -> None:
    """A session of an agent that takes no notes with an error ends a turn with one whose fix is known."""
    mends_the_loader(house)
    story = house.session(session="now", agent="qwen-code").starts().prompts("Try the other one")
    story.uses(
        "run_shell_command",
        {"command": "python other.py"},
        {"llmContent": f"Command: python other.py\nOutput: {ERROR}\nExit Code: 1"},
    )
    story.stops("It fails.")
    house.works()


def test_where_the_agent_takes_no_note_with_an_error_it_comes_with_the_next_prompt(
    house: House, desk: Desk
) -> None:
    fails_in_qwen(house)
    assert "pip install pyyaml" in desk.asks("And now?", agent="qwen-code")


def test_what_an_error_and_the_prompt_both_call_for_is_said_once(house: House, desk: Desk) -> None:
    fails_in_qwen(house)
    told = desk.asks(
        "The loader: python load.py wants yaml, No module named 'yaml', pyyaml", agent="qwen-code"
    )
    assert told.count("pip install pyyaml") == 1


def test_switched_off_it_does_not_come_with_the_next_prompt_either(house: House, desk: Desk) -> None:
    fails_in_qwen(house)
    house.sets("notes.after", "false")
    write_hook_settings(house.home.root, load_settings(house.home)[0].for_hook({}))
    assert desk.asks("And now?", agent="qwen-code") == ""


def fails_and_says(house: House, *turns: tuple[str, str]) -> None:
    """A session of an agent that takes no notes with an error: each turn runs a command, or nothing."""
    story = house.session(session="now", agent="qwen-code").starts()
    for command, error in turns:
        story.prompts("Go on")
        if command:
            output = f"Command: {command}\nOutput: {error or 'fine'}\nExit Code: {1 if error else 0}"
            story.uses("run_shell_command", {"command": command}, {"llmContent": output})
        story.stops("So it is.")
    house.works()


@pytest.mark.parametrize(
    "turns",
    [
        [("python other.py", ERROR), ("", "")],
        [("python other.py", ERROR), ("python fine.py", "")],
    ],
)
def test_only_the_turn_before_counts_whether_it_ran_anything_or_not(
    house: House, desk: Desk, turns: list[tuple[str, str]]
) -> None:
    mends_the_loader(house)
    fails_and_says(house, *turns)
    assert desk.asks("Now the unrelated footer", agent="qwen-code") == ""


def test_a_command_that_passed_before_its_turn_ended_is_not_pending(house: House, desk: Desk) -> None:
    mends_the_loader(house)
    story = house.session(session="now", agent="qwen-code").starts().prompts("Try the other one")
    for output in (f"Output: {ERROR}\nExit Code: 1", "Output: fine\nExit Code: 0"):
        given = {"command": "python other.py"}
        story.uses("run_shell_command", given, {"llmContent": f"Command: python other.py\n{output}"})
    story.stops("It passes.")
    house.works()
    assert desk.asks("And now?", agent="qwen-code") == ""


# --- which errors are the same -------------------------------------------------------------------------------

WRAPPED = (
    "Exit code 1\nsqlalchemy.exc.OperationalError: (psycopg2.OperationalError) connection to server at "
    '"db1.internal" (10.0.0.7), port 5432 failed: Connection refused'
)


def mends(house: House, command: str, error: str, *fix: tuple[str, str, str]) -> None:
    """A session in which a command fails, edits are made, and it passes."""
    story = house.session().starts().prompts("Make it work").runs(command, fails=error)
    for file, old, new in fix:
        story.edits(file, old, new)
    if not fix:
        story.runs("docker compose up -d db", "Started")
    story.runs(command, "ok").stops("It works.").ends()
    house.works()


@pytest.mark.parametrize(
    "error",
    [
        WRAPPED,
        WRAPPED.replace("sqlalchemy.exc.OperationalError: (psycopg2.OperationalError)", "OperationalError:"),
        WRAPPED.replace(
            "sqlalchemy.exc.OperationalError: (psycopg2.OperationalError)", "psycopg2.OperationalError:"
        ),
        WRAPPED.replace("db1.internal", "db.example.com").replace("10.0.0.7", "10.1.2.3"),
        WRAPPED.replace("db1.internal", "localhost"),
    ],
)
def test_an_error_is_the_same_on_another_host_and_from_another_module(
    house: House, desk: Desk, error: str
) -> None:
    mends(house, "python report.py", WRAPPED)
    assert "docker compose up -d db" in desk.fails("python manage.py orders", error)


GENERIC = {
    "js": (
        "npm test",
        "Exit code 1\nTypeError: Cannot read properties of undefined (reading 'map')\n    at {} (src/{}.tsx:12:9)",
        "src/List.tsx",
    ),
    "go": (
        "go test ./...",
        "Exit code 1\npanic: runtime error: invalid memory address or nil pointer dereference\n{}\n\tsrc/{}.go:40 +0x1d",
        "src/List.go",
    ),
    "mypy": (
        "mypy .",
        'Exit code 1\nsrc/{1}.py:7: error: Incompatible return value type (got "str", expected "int")  [return-value]',
        "src/List.py",
    ),
}


@pytest.mark.parametrize("language", sorted(GENERIC))
def test_an_error_that_any_program_may_have_is_only_recognised_in_its_place(
    house: House, desk: Desk, language: str
) -> None:
    command, error, file = GENERIC[language]
    mends(house, command, error.format("List", "List"), (file, "items.map", "(items || []).map"))
    assert file in desk.fails("make check", error.format("List", "List"), session="same place")
    assert desk.fails(command, error.format("Table", "Table"), session="other place") == ""
    bare = error.format("", "").replace("src/.", "")
    assert desk.fails("make check", bare, session="no place, another command") == ""
    if language != "mypy":
        head = "\n".join(error.splitlines()[:2])
        assert file in desk.fails(command, head, session="no place, the same command")


def test_an_error_with_a_name_of_its_own_is_recognised_in_another_file(house: House, desk: Desk) -> None:
    error = "Exit code 1\nRuntimeError: no exchange rate for 'price_in_cents' was loaded"
    mends(house, "pytest", error, ("rates.py", "RATES = {}", "RATES = load()"))
    assert "rates.py" in desk.fails("python shop.py", f"src/other.py:3\n{error}")


def test_of_two_notes_on_an_error_that_of_the_same_command_is_told(house: House, desk: Desk) -> None:
    for command, fix in (
        ("python report.py", "npm install schema"),
        ("python ledger.py", "npm install accounts"),
    ):
        story = house.session().starts().prompts("Make it").runs(command, fails=WRAPPED)
        story.runs(fix, "done").runs(command, "ok").stops("Done.").ends()
        house.works()
    assert "install schema" in desk.fails("python report.py", WRAPPED, session="one")
    assert "install accounts" in desk.fails("python ledger.py", WRAPPED, session="two")


def test_what_the_user_interrupted_is_no_error(house: House, desk: Desk) -> None:
    mends_the_loader(house)
    how: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": "python other.py"}, "error": ERROR}
    assert desk.fires("PostToolUseFailure", is_interrupt=True, session="one", **how) == ""
    assert desk.fires("PostToolUseFailure", is_interrupt=False, session="two", **how)


def test_a_failure_of_which_the_session_was_just_told_brings_nothing_more(house: House, desk: Desk) -> None:
    refused = "Exit code 1\nPre-commit validation failed:\n[FORMAT] Code of the ledger is not formatted."
    for number in range(2):
        story = house.session(session=f"s{number}").starts().prompts("Commit the ledger")
        story.says("The pre-commit validation refuses code of the ledger that is not formatted.")
        story.runs(f"git commit -m 'ledger {number}'", fails=refused)
        story.says("So format the code of the ledger first, because the validation must pass.")
        story.runs("mix format", "ok").runs(f"git commit -m 'ledger {number}'", "[main 1a2b3c4] ledger")
        story.stops("The ledger is committed, after its code was formatted.").ends()
    story = house.session(session="s2").starts().prompts("What does the validation of a commit check?")
    story.stops(
        "Validation of commits needs minutes, because `mix dialyzer` has to read every module."
    ).ends()
    house.works()
    command = "git commit -m 'ledger rounds'"
    assert desk.fails(command, refused, session="untold") != ""
    assert "passed after `mix format`" in desk.is_about_to_run(command)
    assert desk.fails(command, refused) == ""
