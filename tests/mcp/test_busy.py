"""Whoever is busy with the memory: a client gets an answer, and hears later how it ends."""

import functools
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import pytest

from backstory.app import App
from backstory.atomic import lock
from backstory.mcp import slow_calls
from tests.conftest import eventually
from tests.held import database_held, database_locked, upgrade_held, worker_held_at
from tests.story import House

from .server import Server

Held = Callable[[House], AbstractContextManager[None]]
_FAR_SECONDS = 45  # nobody waits so long who does not wait for what is held


def worker_held(house: House) -> AbstractContextManager[None]:
    return worker_held_at(house, "distil.made")


@pytest.fixture
def server(house: House, starts: Callable[..., Server]) -> Iterator[Server]:
    """One that knows something, has been asked before, and is ended if it does not answer at all."""
    with App(house.home, attended=True) as app:
        app.remember("The harbour crane is yellow", house.project)
    house.works()
    started: Server = starts()
    started.call("search", query="harbour crane")
    guard = threading.Timer(_FAR_SECONDS, started.process.kill)
    guard.start()
    yield started
    guard.cancel()


def fifty_turns(house: House) -> None:
    story = house.session().starts()
    for n in range(50):
        story.prompts(f"Turn {n}: move the harbour crane").runs("make crane", f"crane {n} moved").stops(
            f"Moved {n}."
        )


def code_in(told: str) -> str:
    found = re.search(r'confirm="([^"]+)"', told)
    assert found, told
    return found[1]


def test_a_worker_in_the_middle_of_fifty_turns_keeps_no_question_waiting(
    house: House, server: Server
) -> None:
    """CCE-45: it is held while it compresses, more turns wait, and each answer is one; bench/mcp.py measures."""
    fifty_turns(house)
    with worker_held_at(house, "distil.made"):
        fifty_turns(house)
        for tool, arguments, told in (
            ("search", {"query": "colour of the harbour crane"}, "crane is yellow"),
            ("timeline", {}, "crane"),
            ("status", {}, "waiting"),
            ("remember", {"text": "The harbour tug is red"}, "tug is red"),
        ):
            text, failed = server.says(tool, **arguments)
            assert told in text, text
            assert not failed
        assert "backstory://brief" in str(server.ask("resources/list")["result"])


def test_a_backlog_that_nobody_works_off_is_taken_in_by_the_question(house: House, server: Server) -> None:
    """CCE-45"""
    fifty_turns(house)
    search = functools.partial(server.call, "search", query="turn 49 harbour crane")
    eventually("a worker that the first one started has taken it in", lambda: "Turn 49" in search(), 30)


@pytest.mark.parametrize("held", [worker_held, database_held, database_locked, upgrade_held])
def test_every_call_is_answered_whatever_is_held(house: House, server: Server, held: Held) -> None:
    told = server.call("forget", text="harbour crane")
    handle = re.findall(r"\((m\w+)\)", told)[0]
    house.session().starts().prompts("Paint the fence").stops("Painted.").ends()
    with held(house):
        house.session().starts().prompts("Paint the gate").stops("Painted.").ends()
        for tool, arguments in (
            ("search", {"query": "crane"}),
            ("timeline", {}),
            ("get", {"handle": handle}),
            ("remember", {"text": "The harbour tug is red"}),
            ("forget", {"text": "harbour tug"}),
            ("forget", {"confirm": code_in(told)}),
            ("status", {}),
        ):
            text, _ = server.says(tool, **arguments)
            assert "unexpected" not in text
        for method, params in (
            ("resources/list", {}),
            ("resources/read", {"uri": "backstory://brief"}),
            ("resources/read", {"uri": f"backstory://session/{handle}"}),
            ("ping", {}),
        ):
            assert "unexpected" not in str(server.ask(method, **params))


def test_a_long_write_keeps_nobody_from_reading(house: House, server: Server) -> None:
    """What waits in the spool cannot be taken in then; what is stored is told."""
    with database_held(house):
        house.session().starts().prompts("Paint the fence").stops("Painted.").ends()
        text, failed = server.says("search", query="colour of the harbour crane")
        assert ("crane is yellow" in text, failed) == (True, False), text


def test_what_was_confirmed_while_a_worker_was_busy_is_forgotten_when_it_makes_room(
    house: House, server: Server
) -> None:
    code = code_in(server.call("forget", text="harbour crane"))
    with lock(house.home.worker_lock, wait=20) as held:
        assert held
        text, failed = server.says("forget", confirm=code)
        assert failed
        assert "not through yet" in text
        assert house.home.wanted.exists(), "it asks the worker to make room"
        assert "crane is yellow" in server.says("search", query="colour of the harbour crane")[0]
    assert "Forgotten: " in server.call("forget", confirm=code)
    assert house.found_in_home("harbour crane") == []
    assert "used" in server.fails("forget", confirm=code)


def test_what_was_confirmed_is_forgotten_even_if_the_client_leaves(house: House, server: Server) -> None:
    code = code_in(server.call("forget", text="harbour crane"))
    with lock(house.home.worker_lock, wait=20) as held:
        assert held
        assert "not through yet" in server.says("forget", confirm=code)[0]
        leaves = threading.Thread(target=server.process.communicate)
        leaves.start()
    leaves.join()
    assert house.found_in_home("harbour crane") == []


# --- in time -----------------------------------------------------------------------------------------------


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slow_calls, "_seconds", lambda: 0.02)


@pytest.mark.usefixtures("impatient")
def test_what_takes_longer_is_begun_once_and_told_when_it_is_asked_for_again() -> None:
    free, begun = threading.Event(), []

    def slow() -> str:
        begun.append(1)
        free.wait()
        return "the end"

    for _ in range(3):
        with pytest.raises(slow_calls.NotYet, match="the same call again"):
            slow_calls.in_time("search", ["crane"], slow)
    assert slow_calls.in_time("search", ["tug"], lambda: "another") == "another"
    free.set()
    assert eventually("it ends", lambda: _ends("crane", slow)) == "the end"
    assert begun == [1]


@pytest.mark.usefixtures("impatient")
def test_an_ending_that_nobody_asked_for_in_time_is_no_answer_to_a_later_question(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    free = threading.Event()

    def slow() -> str:
        free.wait()
        return "an old answer"

    with pytest.raises(slow_calls.NotYet):
        slow_calls.in_time("search", ["crane"], slow)
    free.set()
    [(running, _)] = [kept for key, kept in slow_calls._under_way.items() if "crane" in key]
    running.result()
    monkeypatch.setattr(slow_calls, "now", lambda: time.monotonic() + 61)
    monkeypatch.setattr(slow_calls, "_seconds", lambda: 60)
    assert slow_calls.in_time("search", ["crane"], lambda: "a new one") == "a new one"


def test_how_long_an_agent_waits_is_a_setting(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BACKSTORY_HOME", str(house.home.root))
    assert slow_calls._seconds() == 2
    house.sets("mcp.answer_seconds", "600")
    assert slow_calls._seconds() == 600


def test_what_goes_wrong_beside_is_told_like_anything_else() -> None:
    def wrong() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        slow_calls.in_time("search", [], wrong)


def _ends(about: str, run: Callable[[], str]) -> Any:
    try:
        return slow_calls.in_time("search", [about], run)
    except slow_calls.NotYet:
        return None
