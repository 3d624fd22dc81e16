"""The doctor: every step from an agent's hook to the printed brief, in order, each with what to do.

check.py           what a check is: a state, what was found, what to do
capture_checks.py  from the agent's settings to the spool and the worker
agent_clients.py   the agents' own programs: whether their hooks run, and their versions
memory_checks.py   from the database to the brief
capture_proof.py   what the agents wrote down themselves, compared with what is stored
fixes.py           what can be mended without a risk, if somebody asks for it

Checks are values; the command prints them. Examining mends nothing. Two checks run the very files that agents
run: a harmless payload goes through the hook into the spool (no agent has such an event), and the answering
hook is asked for the folder's brief. What they leave in the spool is taken away again.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from backstory.app import App
from backstory.doctor import agent_clients, capture_checks, capture_proof, memory_checks
from backstory.doctor.check import Check, State, fail
from backstory.doctor.fixes import apply_fixes

__all__ = ["Check", "State", "apply_fixes", "run_checks"]


def run_checks(app: App, folder: Path, deep: bool = False) -> Iterator[Check]:
    """All checks, in the order in which a session's words travel; `deep` unpacks every stored payload."""
    yield from memory_checks.home(app)
    yield from memory_checks.settings(app)
    connected: list[str] = []
    yield from _guarded("hooks", _hooks(app, folder, connected))
    if app.home.root.is_dir():
        yield from _guarded("hook script", capture_checks.script(app))
        yield from _guarded("worker", capture_checks.worker(app))
        yield from _guarded("spool", capture_checks.spooled(app))
        if connected:
            yield from _guarded("channel", capture_checks.channel(app, connected[0]))
    yield memory_checks.model(app)
    usable = True
    for check in _guarded("database", memory_checks.database(app, deep)):
        yield check
        usable = usable and check.state is not State.FAIL
    if usable and memory_checks.has_database(app):
        yield from _guarded("text index", memory_checks.index(app))
        yield from _guarded("search", memory_checks.meaning(app))
        yield from _guarded("jobs", memory_checks.jobs(app))
        yield from _guarded("captured", memory_checks.captured(app, connected))
        yield from _guarded("proof", capture_proof.captured(app, connected))
    if usable:
        yield from _guarded("clients", agent_clients.client_checks(app, connected))
    yield from _guarded("project", memory_checks.project(app, folder))
    yield from _guarded("brief", memory_checks.brief(app, folder, usable))


def _hooks(app: App, folder: Path, connected: list[str]) -> Iterator[Check]:
    """What the agents' settings say; the agents that are connected are added to the list."""
    for check, agent in capture_checks.hooks(app, folder):
        yield check
        connected += [agent] if agent else []


def _guarded(name: str, checks: Iterable[Check]) -> Iterator[Check]:
    """A step that cannot even be looked at is a finding, too."""
    try:
        yield from checks
    except OSError as error:
        found = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        yield fail(name, found, "run `backstory doctor --fix`, which repairs permissions; or move it away")
