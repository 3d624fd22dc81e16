"""Which project a command is about, and the open memory that it asks.

A project is named by a folder (`--cwd`, which need not exist any more; the current one by default), by its
name or id (`--project`), or not at all (`--all`).
"""

import os
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from backstory.app import App
from backstory.cli import log_file, output
from backstory.errors import BackstoryError, Failed, UsageError
from backstory.present.plain_text import count_of

F = TypeVar("F", bound=Callable[..., Any])
_NAMED = 5  # projects to choose from


@dataclass(frozen=True, slots=True)
class Scope:
    """A project with its folder, or all of them if the id is None; `label` is how to speak of it."""

    project_id: str | None
    label: str
    root: str = ""


@contextmanager
def open_app(quiet: bool = False) -> Iterator[App]:
    """The memory of this user; what is wrong with its settings is said first, unless the command says it."""
    with App() as app:
        if app.home.root.exists() and not app.home.root.is_dir():
            raise Failed(f"the home {app.home.root} is not a folder: move it away, or set BACKSTORY_HOME")
        log_file.to_file(app.home)
        for problem in [] if quiet else app.problems:
            output.warn(f"backstory: {problem}")
        yield app
        if app.only_reads and not quiet:
            output.warn(f"backstory: {app.only_reads}")


def cwd_option(command: F) -> F:
    """`--cwd`, a folder that may be gone."""
    return click.option(
        "--cwd", metavar="DIR", help="The project of this folder; the current one by default. It may be gone."
    )(command)


def scope_options(command: F) -> F:
    """`--cwd`, `--project` and `--all`."""
    command = click.option("--all", "everywhere", is_flag=True, help="All projects.")(command)
    command = click.option("--project", metavar="NAME", help="The project with this name or id.")(command)
    return cwd_option(command)


def chosen_folder(cwd: str | None) -> Path:
    """The folder that was named, or the current one, as an absolute path."""
    if cwd is not None and not cwd.replace("\0", "").strip():
        raise UsageError("--cwd names no folder: write a path, or leave it out")
    try:
        here = Path.cwd()
    except FileNotFoundError:
        here = Path(os.environ.get("PWD", ""))
        if cwd is None and not here.is_absolute():
            raise UsageError("the current folder no longer exists: name one with --cwd") from None
    return Path(os.path.normpath(here / cwd.replace("\0", ""))) if cwd else here


def command_in(root: str, *words: str) -> str:
    """The command line that asks about the project in a folder, which may be gone."""
    command = shlex.join(["backstory", *words])
    there = os.path.isdir(root)  # noqa: PTH112 - no error for a name that is too long
    return f"cd {shlex.quote(root)} && {command}" if there else f"{command} --cwd {shlex.quote(root)}"


def known_elsewhere(app: App, cwd: str | None, *words: str) -> list[str]:
    """For a folder of no known project: that it is none, and the commands that ask about known ones."""
    folder = chosen_folder(cwd)
    try:
        known = app.projects()
        if not known or app.project_at(folder).id in {project.id for project in known}:
            return []
    except (BackstoryError, OSError):  # a brief is told without the database, too
        return []
    rooted = [project for project in known if project.root]
    others = count_of(len(known), "other project")
    asks = [command_in(project.root, *words) for project in rooted[:_NAMED]]
    return [f"Nothing is known of {folder}. {others} known{', the latest:' if asks else ''}", *asks]


def chosen_scope(app: App, cwd: str | None, project: str | None, everywhere: bool) -> Scope:
    """The project that the options name."""
    if (cwd is not None) + (project is not None) + everywhere > 1:
        raise UsageError("--cwd, --project and --all exclude each other: give one of them")
    if everywhere:
        return Scope(None, "any project")
    found = app.project_named(project) if project is not None else app.project_at(chosen_folder(cwd))
    return Scope(found.id, f"the project {found.name}", found.root)
