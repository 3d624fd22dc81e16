"""A case becomes a home, as the product would have it: events, memories, index, vectors."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from bench.recall.data import Case
from bench.recall.developers import Worked

from backstory.app import App
from backstory.hook.project_identity import project_id, session_id
from backstory.model import Action, Event, Kind, Outcome, Project, Where
from backstory.paths import Home
from backstory.pipeline import Pipeline
from backstory.settings import Settings
from backstory.store import Store, open_store
from backstory.store.records import Arrival

PROJECT = Project(project_id("bench"), "bench", "bench", "/bench", 1)
_STEPS = {
    "runs": ("Bash", Action.RUN, Outcome.OK),
    "fails": ("Bash", Action.RUN, Outcome.FAILED),
    "edits": ("Edit", Action.EDIT, Outcome.OK),
}
_BEGAN, _APART, _A_STEP = 1_760_000_000_000, 86_400_000, 5_000
_Told = TypeVar("_Told")


@contextmanager
def filled(case: Case) -> Iterator[tuple[App, dict[str, str], dict[str, str]]]:
    """A home that holds a case; gives the app, and whose sessions and turns its ids are."""
    with _home(lambda store: _store(store, case)) as (app, (sessions, turns)):
        yield app, sessions, turns


@contextmanager
def worked(sessions: Sequence[Worked]) -> Iterator[App]:
    """A home that holds sessions of work, a day apart, as the hooks would have told of them."""
    with _home(lambda store: _store_work(store, sessions)) as (app, _):
        yield app


@contextmanager
def _home(fill: Callable[[Store], _Told]) -> Iterator[tuple[App, _Told]]:
    with TemporaryDirectory(prefix="backstory-recall-") as folder:
        home = Home(Path(folder))
        store = open_store(home)
        told = fill(store)
        work = Pipeline(home, Settings(), store)
        while work.round():
            pass
        store.close()
        with App(home) as app:
            yield app, told


def _store(store: Store, case: Case) -> tuple[dict[str, str], dict[str, str]]:
    sessions: dict[str, str] = {}
    turns: dict[str, str] = {}
    with store.transaction():
        for session in case.sessions:
            events = [
                Event(
                    session.agent,
                    session.id,
                    Kind.PROMPT if turn.asked else Kind.SAID,
                    turn.at,
                    turn.text,
                    native_id=turn.id,
                    where=Where("/bench"),
                )
                for turn in session.turns
            ]
            for turn, added in zip(session.turns, _add(store, events), strict=True):
                turns[added] = turn.id
            sid = session_id(session.agent, session.id)
            sessions[sid] = session.id
            store.jobs.ask("distil", sid, 1)
    return sessions, turns


def _store_work(store: Store, sessions: Sequence[Worked]) -> None:
    with store.transaction():
        for number, (prompt, steps, last) in enumerate(sessions):
            began, name = _BEGAN + number * _APART, f"work-{number}"

            def told(n: int, kind: Kind, text: str, what: str = "", of: str = "") -> Event:
                tool, action, outcome = _STEPS.get(what, ("", Action.NONE, Outcome.NONE))
                return Event(
                    "claude-code",
                    name,  # noqa: B023 - called before the next one
                    kind,
                    began + n * _A_STEP,  # noqa: B023
                    text,
                    action,
                    tool,
                    of,
                    outcome,
                    native_id=str(n),
                    where=Where("/bench"),
                )

            done = [told(n, Kind.TOOL, out, what, of) for n, (what, of, out) in enumerate(steps, 1)]
            end = len(done) + 1
            ending = [told(end, Kind.SAID, last), told(end + 1, Kind.TURN_ENDED, "")]
            _add(store, [told(0, Kind.PROMPT, prompt), *done, *ending])
            store.jobs.ask("distil", session_id("claude-code", name), 1)


def _add(store: Store, events: Sequence[Event]) -> list[str]:
    """Store events; their ids."""
    arrivals = [Arrival(event, PROJECT, store.events.key(event)) for event in events]
    return [added.event_id for added in store.events.add(arrivals)]
