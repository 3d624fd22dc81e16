"""Every step from an agent's hook to the printed brief, looked at in order, each with what to do.

Checks are values; the commands print them. Nothing is mended here. Two checks run the very files that agents
run: a harmless payload goes through the hook into the spool (the drain knows no such event) and the
answering hook is asked for the brief of the folder. What they leave in the spool is taken away again.
"""

import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from backstory import clock
from backstory.agents import AGENTS
from backstory.app import App
from backstory.atomic import lock
from backstory.capture import hookfiles, quarantine
from backstory.errors import BackstoryError
from backstory.hook import spool
from backstory.hook.command import hook_command
from backstory.hook.payload import BadPayload, encode, parse
from backstory.store.health import examine, has_fts5

PROBE = "Doctor"  # an event that means nothing to anyone
_SECONDS = 20
_STALE_SECONDS = 60
_RECENT_DAYS = 7
_MISSED_MS = 3_600_000
_INSTALL = "run `backstory install`"


class State(StrEnum):
    """How a check came out: `warn` deserves attention, `fail` means that memory does not work."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Check:
    """One step: what was found, and what to do about it."""

    name: str
    state: State
    found: str
    todo: str = ""


def ok(name: str, found: str) -> Check:
    return Check(name, State.OK, found)


def warn(name: str, found: str, todo: str) -> Check:
    return Check(name, State.WARN, found, todo)


def fail(name: str, found: str, todo: str) -> Check:
    return Check(name, State.FAIL, found, todo)
