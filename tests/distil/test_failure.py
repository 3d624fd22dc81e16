"""Whether a command failed, and the line that says why."""

import pytest

from backstory.distil.failure import telling_line, verdict
from backstory.distil.shell import parse
from backstory.model import Event, Kind, Outcome

OUTPUTS = [
    (
        'Traceback (most recent call last):\n  File "a.py", line 1\nValueError: bad input\n',
        "ValueError: bad input",
    ),
    (
        "x\nE       AssertionError: assert 1 == 2\nFAILED tests/a.py::t - assert\n1 failed",
        "AssertionError: assert 1 == 2",
    ),
    (
        "src/a.ts(4,2): error TS2304: Cannot find name 'x'.",
        "src/a.ts(4,2): error TS2304: Cannot find name 'x'.",
    ),
    ("error[E0502]: cannot borrow\n --> src/lib.rs", "error[E0502]: cannot borrow"),
    (
        "Exit code 127\n/bin/bash: line 1: python: command not found",
        "/bin/bash: line 1: python: command not found",
    ),
    (
        "Exit code 128\nfatal: The current branch has no upstream branch.",
        "fatal: The current branch has no upstream branch.",
    ),
    ("npm ERR! code ELIFECYCLE\nnpm ERR! missing script: tset", "missing script: tset"),
    ("--- FAIL: TestPush (0.01s)\nFAIL", "TestPush (0.01s)"),
    ("** (KeyError) key :a not found", "(KeyError) key :a not found"),
    ("\x1b[31mError: red\x1b[0m", "Error: red"),
    ("one\ntwo\nExit code 1\n", ""),
    ("", ""),
    (
        "[lint:go] cli/wingman.go:181:10: error returned from external package is unwrapped (wrapcheck)\n1 issues:\n"
        "[lint:go] ERROR task failed",
        "[lint:go] cli/wingman.go:181:10: error returned from external package is unwrapped (wrapcheck)",
    ),
    (
        "** (RuntimeError) no :secret_key_base found in Endpoint.\n"
        "  (phoenix 1.7.2) lib/phoenix/controller.ex:39: Phoenix.Controller.render/3\n5 tests, 4 failures",
        "(RuntimeError) no :secret_key_base found in Endpoint.",
    ),
    (
        "The following paths are ignored by one of your .gitignore files:\npriv/static\nhint: Use -f if you want to",
        "The following paths are ignored by one of your .gitignore files:",
    ),
]


@pytest.mark.parametrize(("output", "line"), OUTPUTS)
def test_the_telling_line(output: str, line: str) -> None:
    assert telling_line(output) == line


@pytest.mark.parametrize(
    ("line", "outcome", "text", "expected"),
    [
        ("pytest", Outcome.FAILED, "1 failed", Outcome.FAILED),
        ("pytest | tail", Outcome.OK, "1 failed, 3 passed", Outcome.FAILED),
        ("pytest | tail", Outcome.OK, "4 passed, 0 failed", Outcome.OK),
        ("mix test 2>&1 | tail", Outcome.OK, "10 tests, 0 failures", Outcome.OK),
        ("pytest", Outcome.INTERRUPTED, "", Outcome.NONE),
        ("npm run dev", Outcome.NONE, "", Outcome.NONE),
        ("grep x y", Outcome.FAILED, "", Outcome.NONE),
        ("make", Outcome.FAILED, "The user doesn't want to proceed with this tool use.", Outcome.NONE),
    ],
)
def test_how_a_command_really_ended(line: str, outcome: Outcome, text: str, expected: Outcome) -> None:
    event = Event("a", "s", Kind.TOOL, 0, text=text, outcome=outcome)
    assert verdict(event, parse(line)) is expected
