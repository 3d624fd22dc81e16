"""Pieces of work that scenarios share, so that each test tells only what is special about it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..model import Read, Say, Shell, Wait, Write
from .claude import Claude, Run


def teach(agent: Claude, words: str, file: Path, answer: str) -> None:
    """When asked with these words, the model writes this file, looks at it, and says so."""
    agent.model.when(words, Write(str(file), f"NAME = {file.stem!r}\n"), Read(str(file)), Say(answer))


def add_greeting(agent: Claude) -> Run:
    """A session like any other: it writes and reads greeting.py, ends well, and is remembered."""
    teach(agent, "Add a greeting", agent.project / "greeting.py", "The greeting is in place.")
    run = agent.run("Add a greeting to the project")
    run.assert_undisturbed("The greeting is in place.")
    return run


def add_farewell(agent: Claude, *, cwd: Path | None = None, faults: tuple[str, ...] = ()) -> Run:
    """A second one, about farewell.py."""
    teach(agent, "Add a farewell", (cwd or agent.project) / "farewell.py", "The farewell is in place.")
    run = agent.run("Add a farewell to the project", cwd=cwd, faults=faults)
    run.assert_undisturbed("The farewell is in place.")
    return run


def begin_migration(agent: Claude) -> None:
    """The model writes schema.py, runs a command, and then thinks for a very long time."""
    agent.model.when(
        "Migrate the tables",
        Write(str(agent.project / "schema.py"), "VERSION = 7\n"),
        Shell("echo migrating-step-one"),
        Wait(120),
        Say("Migrated."),
    )


def look_around(agent: Claude, **how: Any) -> Run:
    """The session that profits: it only asks, so all it knows of the past is what it was told."""
    agent.model.when("Where were we", Say("Let me see."))
    run = agent.run("Where were we?", **how)
    run.assert_undisturbed("Let me see.")
    return run
