"""Asking before something that cannot be taken back; `--yes` answers for programs."""

import sys
from collections.abc import Callable
from typing import Any, TypeVar

import click

from backstory.errors import UsageError

F = TypeVar("F", bound=Callable[..., Any])


def yes_option(command: F) -> F:
    """`--yes`, the same on every command that asks."""
    return click.option("--yes", "-y", is_flag=True, help="Do not ask.")(command)


def confirmed(question: str, yes: bool) -> bool:
    """Whether the person says yes; without one to ask, `--yes` is needed."""
    if yes:
        return True
    if sys.stdin is None or not sys.stdin.isatty():
        raise UsageError("there is nobody to ask: say --yes, or look first with --dry-run")
    return click.confirm(question, default=False, err=True)
