"""`--quiet`: what was asked for and what is wrong, and nothing else."""

import pytest

from .memory import Memory

QUIET = ("brief", "remember", "install", "uninstall", "import", "config", "export")


@pytest.mark.parametrize(
    "words",
    [
        ["brief"],
        ["remember", "Prices are in cents."],
        ["install", "claude-code", "--yes"],
        ["uninstall", "claude-code", "--yes"],
        ["import", "claude-code"],
        ["config", "notes.before", "false"],
        ["export", "kept.jsonl"],
    ],
    ids=QUIET,
)
def test_a_command_that_succeeds_talks_and_with_quiet_does_not(memory: Memory, words: list[str]) -> None:
    (memory.user / ".claude" / "projects").mkdir(parents=True)
    memory.extra["PATH"] = "/usr/bin:/bin"
    loud, quiet = words, [*words, "--quiet"]
    if words[0] == "uninstall":
        memory.ask("install", "claude-code", "--yes")
        memory.ask("remember", "The memory stays.")
    said = memory.ask(*loud)
    assert (said.exit_code, bool(said.stderr)) == (0, True)
    if words[0] in ("install", "uninstall"):  # the second time nothing would be left to say
        memory.ask("install" if words[0] == "uninstall" else "uninstall", "claude-code", "--yes")
    (memory.project / "kept.jsonl").unlink(missing_ok=True)
    done = memory.ask(*quiet)
    assert (done.exit_code, done.stderr) == (0, "")
    assert bool(done.stdout) is (words[0] == "remember"), "the new memory's handle was asked for"


def test_what_is_wrong_is_said_all_the_same(memory: Memory) -> None:
    assert "was not found" in memory.ask("install", "claude-code", "--yes", "--quiet").stderr
    (memory.home / "settings.toml").write_text("this is no TOML")
    assert "settings.toml" in memory.ask("brief", "--quiet").stderr
    assert memory.ask("brief", "--quiet", "--source", "nowhere").stderr.count("\n") == 1


def test_who_is_asked_to_agree_sees_to_what(memory: Memory) -> None:
    done = memory.ask("install", "claude-code", "--quiet", stdin=b"n\n")
    assert "settings.json" in done.stdout
    assert "11 hooks" in memory.ask("install", "claude-code", "--quiet", "--dry-run").stdout


@pytest.mark.parametrize("command", QUIET)
def test_the_help_tells_of_it(memory: Memory, command: str) -> None:
    assert "--quiet" in memory.ask(command, "--help").stdout
