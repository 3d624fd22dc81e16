"""A case becomes a home, as the product would have it: events, memories, index, vectors."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.recall.data import Case

from backstory.app import App
from backstory.hook.identity import project_id, session_id
from backstory.model import Event, Kind, Project, Where
from backstory.paths import Home
from backstory.settings import Settings
from backstory.store import Store, open_store
from backstory.store.values import Arrival
from backstory.work import Work

PROJECT = Project(project_id("bench"), "bench", "bench", "/bench", 1)


@contextmanager
def filled(case: Case) -> Iterator[tuple[App, dict[str, str], dict[str, str]]]:
    """A home that holds a case; gives the app, and whose sessions and turns its ids are."""
    with TemporaryDirectory(prefix="backstory-recall-") as folder:
        home = Home(Path(folder))
        store = open_store(home)
        sessions, turns = _store(store, case)
        work = Work(home, Settings(), store)
        work.settle(math.inf)
        store.close()
        with App(home) as app:
            yield app, sessions, turns


def _store(store: Store, case: Case) -> tuple[dict[str, str], dict[str, str]]:
    sessions: dict[str, str] = {}
    turns: dict[str, str] = {}
    with store.transaction():
        for session in case.sessions:
            arrivals = []
            for turn in session.turns:
                kind = Kind.PROMPT if turn.asked else Kind.SAID
                event = Event(
                    session.agent,
                    session.id,
                    kind,
                    turn.at,
                    turn.text,
                    native_id=turn.id,
                    where=Where("/bench"),
                )
                arrivals.append(Arrival(event, PROJECT, store.events.key(event)))
            for turn, added in zip(session.turns, store.events.add(arrivals), strict=True):
                turns[added.event_id] = turn.id
            sid = session_id(session.agent, session.id)
            sessions[sid] = session.id
            store.jobs.ask("distil", sid, 1)
    return sessions, turns
