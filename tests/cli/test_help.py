"""`backstory help`: what `--help` prints, by name."""

import pytest

from .memory import Memory


@pytest.mark.parametrize(
    "words", [[], ["search"], ["import"], ["session"], ["session", "register"], ["help"]]
)
def test_it_prints_what_the_command_says_of_itself(memory: Memory, words: list[str]) -> None:
    done = memory.ask("help", *words)
    assert done.exit_code == 0
    assert done.stdout == memory.ask(*words, "--help").stdout


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["nonsense"], "`backstory` has no command 'nonsense'; `backstory help` lists them"),
        (["search", "words"], "`backstory search` has no command 'words'"),
        (["session", "nonsense"], "'nonsense': it has bootstrap, end, list, needs-bootstrap, register"),
    ],
)
def test_a_command_that_is_not_there_is_wrong_usage_in_one_line(
    memory: Memory, words: list[str], part: str
) -> None:
    done = memory.ask("help", *words)
    assert (done.exit_code, done.stdout) == (1, "")
    assert part in done.stderr
    assert done.stderr.count("\n") == 1
