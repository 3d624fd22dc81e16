"""What a person asks to remember is safe and found at once, whoever is busy; and it is what its words say."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest

from backstory import user_notes
from backstory.app import App, MemoryView
from backstory.capture.worker_spawn import wake_worker
from backstory.distil.spoken import kind_of
from backstory.errors import UsageError
from backstory.model import MemoryKind, MemoryStatus
from backstory.store.records import Filters
from tests.conftest import eventually
from tests.held import database_held, worker_held_at
from tests.mcp.server import Server
from tests.story import House

NOTE = "The aardvark lives in tank 4"


@pytest.fixture
def app(house: House) -> Iterator[App]:
    with App(house.home, patience=0.2) as opened:
        yield opened


def command(house: House, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "backstory", *words],
        env={"PATH": os.environ["PATH"], "BACKSTORY_HOME": str(house.home.root)},
        cwd=house.project,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def notes(house: House) -> list[str]:
    return [
        stored.event.text for stored in house.store.events.latest(None, 0, 50) if stored.event.agent == "user"
    ]


@pytest.mark.parametrize("step", ["drain.stored", "brief.prepared"])
def test_a_busy_worker_keeps_nobody_from_saving_and_finding(house: House, step: str) -> None:
    """Save-then-find holds in every interface while a worker is at work and does not come to an end."""
    house.session().starts().prompts("Paint the fence").stops("Painted.").ends()
    with worker_held_at(house, step):
        server = Server(house.home.root, house.project)
        try:
            handle = command(house, "remember", NOTE).strip()
            told = server.call("remember", text="The bandicoot lives in tank 5")
            assert "Remembered for shop as fact" in told
            for word in ("aardvark", "bandicoot"):
                assert word in command(house, "search", f"where does the {word} live")
                assert word in server.call("search", query=f"where does the {word} live")
                assert word in server.call("timeline", limit=3)
                assert word in house.brief().text
            assert NOTE in command(house, "show", handle)
            assert NOTE in server.call("get", handle=handle[:9])
        finally:
            server.ends()


def test_a_database_that_somebody_writes_to_keeps_nobody_from_saving_and_finding(
    house: House, app: App
) -> None:
    with database_held(house):
        memory = app.remember(NOTE, house.project)
        assert notes(house) == []
        assert [hit.id for hit in app.search("aardvark tank", memory.project_id).hits] == [memory.id]
        only = Filters(kinds=("decision",))
        assert app.search("aardvark tank", memory.project_id, filters=only).hits == ()
        assert app.search("aardvark tank", "p-of-another-project").hits == ()
        assert app.search("zebra migration patterns", memory.project_id).hits == ()
        shown = app.show(memory.id[:9])
        assert isinstance(shown, MemoryView)
        assert [source.event.text for source in shown.sources] == [NOTE]
        [event] = app.timeline(memory.project_id, 0, 5)
        assert event.event.text == NOTE
        assert house.brief().text.count(f"Told to remember: {NOTE} ({memory.id[:9]})") == 1
    house.works()
    assert house.spooled() == []
    assert notes(house) == [NOTE]
    assert [stored.id for stored in house.store.events.latest(None, 0, 5)] == [event.id]
    assert [hit.id for hit in app.search("aardvark tank", memory.project_id).hits] == [memory.id]
    assert house.brief().text.count(NOTE) == 1


def test_it_is_stored_once_whoever_stores_it(house: House, app: App) -> None:
    memory = app.remember(NOTE, house.project)
    assert len(house.spooled()) == 1, "it stays until a drain has seen to the brief"
    assert house.brief().text.count(NOTE) == 1
    house.works()
    assert house.spooled() == []
    assert notes(house) == [NOTE]
    assert house.counter("duplicate") == 0
    assert house.brief().text.count(NOTE) == 1
    assert app.store.memories.memory(memory.id) == memory


def test_a_database_that_was_put_back_meanwhile_loses_no_note(house: House, app: App) -> None:
    """It was stored in the database that is replaced: its file is still there."""
    house.session().starts().prompts("Paint the fence").stops("Painted.").ends()
    app.catch_up()
    backup = app.back_up()
    app.remember(NOTE, house.project)
    app.restore(backup.path.name, really=True)
    assert [hit.text for hit in app.search("aardvark tank", None).hits] == [NOTE]
    assert notes(house) == [NOTE]


def test_what_cannot_be_read_is_set_aside(house: House, app: App) -> None:
    house.leaves(b'{"text": "no project"}', "Remember", agent="user")
    assert app.search("no project", None).hits == ()
    house.works()
    assert house.spooled() == []
    assert house.counter("quarantined") == 1


def test_a_worker_is_woken_that_makes_it_known_by_meaning(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("backstory.app.annotations.wake_worker", wake_worker)
    with App(house.home) as app:
        app.remember(NOTE, house.project)
    eventually("it is taken in", lambda: not house.spooled(), 60)
    eventually("it has its vector", lambda: house.store.vectors.counts()[0] > 0, 60)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("We decided to use Redis instead of Memcached for the session cache", "decision"),
        ("We chose Postgres over MySQL; ask Jane about it.", "decision"),
        ("Decision: deploy with Fly.io", "decision"),
        ("We switched from Jenkins to GitHub Actions", "decision"),
        ("The team agreed to drop support for Python 3.9", "decision"),
        ("JWTs are signed with RS256 instead of HS256", "decision"),
        ("We no longer use Docker Compose in CI", "decision"),
        ("Wir haben uns für Postgres statt MySQL entschieden", "decision"),
        ("Nous avons choisi Redis plutôt que Memcached", "decision"),
        ("我们决定使用 PostgreSQL 而不是 MySQL", "decision"),
        ("Let's sign with RS256 instead of HS256 from now on", "decision"),
        ("From now on we use pnpm instead of npm", "decision"),
        ("Going forward sessions go to Postgres rather than Redis", "decision"),
        ("From now on the audit log uses NATS", "decision"),
        ("We store sessions in Redis", "decision"),
        ("Replace MySQL with Postgres", "decision"),
        ("Drop JWT in favour of PASETO", "decision"),
        ("Switch from Celery to RQ", "decision"),
        ("Let's go back to REST", "decision"),
        ("We're reverting the decision to use microservices", "decision"),
        ("Ab jetzt nutzen wir Postgres statt MySQL", "decision"),
        ("From now on answer in German instead of English", "preference"),
        ("From now on explain your plan before you edit", "preference"),
        ("Going forward, keep commit messages short", "preference"),
        ("From now on write tests first", "preference"),
        ("From now on use British spelling in your replies instead of American", "preference"),
        ("Never use npm instead of pnpm", "preference"),
        ("Ab jetzt keine Emojis", "preference"),
        ("Künftig bitte auf Deutsch antworten statt auf Englisch", "preference"),
        ("If Celery keeps crashing we could replace it with RQ", "fact"),
        ("The ticket says to replace Redis with Memcached", "fact"),
        ("Sessions live in Redis", "fact"),
        ("Auth uses JWT", "fact"),
        ("The customer uses Oracle", "fact"),
        ("Logs go to Loki", "fact"),
        ("I want you to use uv instead of pip", "decision"),
        ("Always run the linter before committing", "preference"),
        ("Always use pnpm instead of npm", "preference"),
        ("I prefer small commits", "preference"),
        ("Please don't add emojis", "preference"),
        ("Lesson learned: the cache must be cleared after a deploy", "lesson"),
        ("The build broke because of a stale lock file", "lesson"),
        ("When the worker hangs, restart the queue", "lesson"),
        ("The staging database is called tortoise", "fact"),
        ("Releases are cut from the branch stable, never from main", "fact"),
        ("The cron job replaces old logs every night", "fact"),
        ("The 404 page is served by nginx", "fact"),
        ("Users who chose the free plan see ads", "fact"),
        ("Should we use Redis instead of Memcached?", "fact"),
        ("Fact: we decided nothing", "fact"),
    ],
)
def test_words_tell_what_a_note_is(text: str, kind: str) -> None:
    assert kind_of(text) == kind


def test_a_kind_that_is_asked_for_counts_more_than_the_words(house: House, app: App) -> None:
    memory = app.remember("We decided to use Redis instead of Memcached", house.project, "lesson")
    assert memory.kind is MemoryKind.LESSON
    assert re.search(r"## What failed and why\n- \[today [\d:]+ · user\] We decided", house.brief().text)
    with pytest.raises(UsageError, match="known are fact, decision"):
        app.remember(NOTE, house.project, "summary")
    house.rebuilds()
    kept = app.store.memories.memory(memory.id)
    assert kept is not None
    assert kept.kind is MemoryKind.LESSON


def test_a_remembered_decision_takes_the_place_of_an_older_one(house: House, app: App) -> None:
    first = app.remember("We decided to use Memcached for the session cache", house.project)
    second = app.remember("We decided to use Redis instead of Memcached for the session cache", house.project)
    assert (first.kind, second.kind) == ("decision", "decision")
    only = Filters(kinds=("decision",))
    hits = app.search("session cache", first.project_id, filters=only).hits
    assert hits[0].id == second.id
    shown = app.show(first.id)
    assert isinstance(shown, MemoryView)
    assert shown.label.startswith(f"superseded by {second.id[:9]}")
    house.works()
    brief = house.brief().text
    decided = r"## Current decisions\n- \[today [\d:]+ · user\] The user decided: We decided to use Redis"
    assert re.search(decided, brief)
    assert "[before: We decided to use Memcached for the session cache]" in brief
    app.forget(app.wanted([second.id]), really=True)
    again = app.store.memories.memory(first.id)
    assert again is not None, "what took its place is gone"
    assert again.status is MemoryStatus.CONFIRMED


def test_a_remembered_decision_overrules_what_was_decided_in_a_session(house: House, app: App) -> None:
    story = house.session().starts().prompts("Use Memcached for the session cache because we know it well.")
    story.edits("cache.py").stops("Done.").ends()
    app.catch_up()
    [older] = app.memories([MemoryKind.DECISION], [MemoryStatus.CANDIDATE])
    newer = app.remember("Decision: use Redis for the session cache", house.project)
    assert app.store.supersessions.newer_than(older.id) == newer.id


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("We store sessions in Redis", "We store sessions in Postgres"),
        ("Use Kafka for the audit log", "Use NATS instead of Kafka"),
        ("We use MySQL", "Replace MySQL with Postgres"),
        ("Auth uses JWT", "drop JWT in favour of PASETO"),
        ("Sign the tokens with HS256", "Let's sign with RS256 instead of HS256 from now on"),
        ("We use microservices", "We're reverting the decision to use microservices"),
        ("Money is stored as floats", "Money is stored as integer cents"),
        ("The default timeout is 30 seconds", "The default timeout is 10 seconds"),
    ],
)
def test_what_was_said_is_history_once_it_is_said_otherwise(
    house: House, app: App, first: str, second: str
) -> None:
    """Decisions and facts alike: a person does not say which of them it is."""
    older, newer = app.remember(first, house.project), app.remember(second, house.project)
    assert app.store.supersessions.newer_than(older.id) == newer.id
    house.works()
    brief = house.brief().text
    assert f"[before: {first}]" in brief
    assert brief.count(first) == 1
    app.forget(app.wanted([newer.id]), really=True)
    again = app.store.memories.memory(older.id)
    assert again is not None
    assert again.status is MemoryStatus.CONFIRMED


def test_only_what_a_person_says_overrules_what_a_person_asked_to_remember(house: House, app: App) -> None:
    kept = app.remember("We decided to use Redis for the session cache", house.project)
    story = house.session().starts().prompts("Speed the cache up").edits("cache.py")
    story.stops("I decided to use Memcached for the session cache because it is faster here.").ends()
    house.works()
    assert any(
        memory.said_by == "assistant" for memory in app.memories([MemoryKind.DECISION], list(MemoryStatus))
    )
    assert app.store.supersessions.newer_than(kept.id) == ""


def test_what_was_forgotten_can_be_said_again(house: House, app: App) -> None:
    first = app.remember(NOTE, house.project)
    app.forget(app.wanted([first.id]), really=True)
    second = app.remember(NOTE, house.project)
    assert second.id != first.id
    app.forget(app.wanted([], project_id=second.project_id), really=True)
    third = app.remember(NOTE, house.project)
    house.works()
    house.rebuilds()
    assert [hit.id for hit in app.search("aardvark tank", None).hits] == [third.id]
    assert user_notes.unsaved_notes(house.home, house.store) is None
