"""One round of work: what it makes, that it can be killed anywhere, and that it can be made again."""

import json
import math
import socket
from pathlib import Path
from typing import Any

import pytest

from backstory import clock, distil, pipeline, settings
from backstory.app import App
from backstory.capture import live_transcript
from backstory.capture.drain import Drain
from backstory.capture.project_lookup import Places
from backstory.model import Kind, MemoryKind, Tier
from backstory.passage_indexing import index_events
from backstory.paths import Home
from backstory.recall import prepare
from backstory.store import Store
from tests.story import House, Story


class Killed(BaseException):
    """The process was killed here."""


def a_day_at_work(house: House) -> Story:
    story = house.told().starts().prompts("fix the failing login test")
    story.says("Let me run it.").runs(
        "pytest tests/test_login.py", fails="Exit code 1\nE  KeyError: 'user'\n1 failed"
    )
    story.edits("auth.py", "user = d['user']", "user = d.get('user')").runs(
        "pytest tests/test_login.py", "1 passed"
    )
    story.stops("Fixed. I decided to use sessions instead of JWTs because they can be revoked.")
    return story


def memories(house: House) -> list[tuple[Any, ...]]:
    """Every derived row, as it lies there."""
    connection = house.store._connection
    rows = connection.execute("SELECT * FROM memories ORDER BY id").fetchall()
    sources = connection.execute("SELECT * FROM memory_sources ORDER BY 1, 2").fetchall()
    passages = connection.execute(
        "SELECT owner, part, project_id, session_id, kind, at, text FROM passages ORDER BY 1, 2"
    ).fetchall()
    return [*rows, *sources, *passages]


class TestRound:
    def test_a_session_is_in_the_next_brief_after_one_round_without_model_or_network(
        self, house: House, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """CCE-41, CMEM-1 at the store."""

        def no_network(*_: object, **__: object) -> None:
            raise AssertionError("something wanted a network")

        monkeypatch.setattr(socket.socket, "connect", no_network)
        story = a_day_at_work(house).ends()
        house.works()
        text = house.brief().text
        assert "fix the failing login test" in text
        assert "auth.py" in text
        kinds = {m.kind for m in house.store.memories.of_session(story.id)}
        assert {MemoryKind.SUMMARY, MemoryKind.TURN, MemoryKind.LESSON} <= kinds
        assert all(m.tier is Tier.RULES for m in house.store.memories.of_session(story.id))

    def test_a_session_killed_in_mid_turn_is_in_the_next_brief_too(self, house: House) -> None:
        house.session().starts().prompts("rename the cart to basket").runs(
            "make", fails="Exit code 2\nno rule"
        )
        house.works()
        assert "rename the cart to basket" in house.brief().text

    def test_nothing_to_do_is_nothing_done(self, house: House) -> None:
        house.works()
        assert house.works() == 0

    def test_equal_calls_are_shown_once(self, house: House) -> None:
        """CMEM-27: stored apart, shown together."""
        story = house.session().prompts("is it stable?")
        for _ in range(4):
            story.runs("pytest -q tests/stable.py", "1 passed")
        story.stops("Yes.")
        house.works()
        assert sum(e.kind is Kind.TOOL for e in house.events(story)) == 4
        (command,) = [m for m in house.store.memories.of_session(story.id) if m.kind is MemoryKind.COMMAND]
        assert "4" in command.text
        assert house.brief().text.count(command.text) == 1

    def test_too_few_turns_are_skipped_with_the_numbers(
        self, house: House, caplog: pytest.LogCaptureFixture
    ) -> None:
        """MEMORIA-30."""
        story = house.session().starts().ends()
        with caplog.at_level("INFO"):
            house.works()
        assert "SKIP" in caplog.text
        assert "2 events, 0 turns" in caplog.text
        assert house.store.memories.of_session(story.id) == []

    def test_the_least_turns_of_a_compaction_are_a_setting(self, house: House) -> None:
        """CM-8."""
        for least, expected in (("3", False), ("2", True)):
            house.sets("distil.min_turns_compact", least)
            story = house.session().prompts("one").prompts("two")._hook("PreCompact", trigger="auto")
            house.works()
            found = [m.kind for m in house.store.memories.of_session(story.id)]
            assert (MemoryKind.SUMMARY in found) is expected

    def test_a_compaction_in_the_first_turn_still_leaves_a_checkpoint(self, house: House) -> None:
        story = house.session().starts().prompts("migrate the database").edits("auth.py")
        story._hook("PreCompact", trigger="auto")
        house.works()
        told = house.brief(source="compact", story=story).text
        assert "migrate the database" in told
        assert "This session so far" in told

    def test_a_decision_is_recorded_once_only_with_its_reason_and_marked(self, house: House) -> None:
        """CCE-49: also after the same session is distilled again."""
        story = a_day_at_work(house)
        house.works()
        story.prompts("thanks").stops("You are welcome.")
        house.works()
        house.rebuilds()
        decisions = [m for m in house.store.memories.of_session(story.id) if m.kind is MemoryKind.DECISION]
        assert len(decisions) == 1
        assert decisions[0].reason
        rows = house.store._connection.execute("SELECT auto FROM memories WHERE kind = 'decision'").fetchall()
        assert rows == [(1,)]

    def test_what_was_read_of_a_transcript_is_distilled_in_the_same_round(self, house: House) -> None:
        story = house.told().prompts("which cache?")
        story.says("I decided to use Redis instead of files because two servers share it.").runs(
            "make", "ok"
        ).stops("Done.")
        house.works()
        decisions = [m for m in house.store.memories.of_session(story.id) if m.kind is MemoryKind.DECISION]
        assert len(decisions) == 1

    def test_everything_is_searchable_afterwards(self, house: House) -> None:
        a_day_at_work(house)
        house.works()
        assert house.store.passages.unindexed() == 0

    def test_a_long_backlog_has_its_project_s_brief_prepared_once(
        self, house: House, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for number in range(12):
            house.session().prompts(f"task number {number}").ends()
        house.works()
        with house.store.transaction():
            for sid in house.store.events.all_session_ids():
                house.store.jobs.ask("distil", sid, clock.now_ms())
        prepared: list[str] = []
        real = prepare.project_file

        def prepares(home: Home, store: Store, project_id: str) -> None:
            prepared.append(project_id)
            real(home, store, project_id)

        monkeypatch.setattr(prepare, "project_file", prepares)
        monkeypatch.setattr(pipeline, "_DISTIL_SECONDS", 0)
        monkeypatch.setattr(pipeline, "_BRIEFS_SECONDS", math.inf)
        hand = pipeline.Work(house.home, settings.load(house.home)[0], house.store)
        rounds = 0
        while hand.round():
            rounds += 1
        assert rounds >= 12
        assert len(prepared) == 1

    def test_a_backlog_does_not_keep_back_what_a_hook_has_just_left(
        self, house: House, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for number in range(4):
            house.session().prompts(f"task number {number}").ends()
        house.works()
        with house.store.transaction():
            for sid in house.store.events.all_session_ids():
                house.store.jobs.ask("distil", sid, clock.now_ms())
        monkeypatch.setattr(pipeline, "_DISTIL_SECONDS", 0)
        monkeypatch.setattr(pipeline, "_BRIEFS_SECONDS", math.inf)
        house.session().prompts("the latest task").ends()
        house.works()
        assert "distil" in {job.kind for job in house.store.jobs.all("waiting")}, "there is more to do"
        assert (
            "the latest task" in (house.home.briefs / f"{house.store.projects.all()[0].id}.json").read_text()
        )

    def test_indexing_makes_way_for_what_is_waiting(self, house: House) -> None:
        for n in range(1_200):
            house.session(session=f"s{n % 3}").prompts(f"ask {n}", prompt_id=f"p{n}")
        index_events(house.store)
        doing = pipeline.Work(house.home, App(house.home).settings, house.store)
        for _ in Drain(
            house.home, App(house.home).settings, house.store, Places(house.store, {}, ())
        ).batches():
            pass
        steps = iter([False, True])
        assert doing._index(lambda: next(steps)) == 1_000
        assert house.store.passages.unindexed() == 200


class TestKilled:
    """A worker killed between any two steps hides nothing and loses nothing."""

    POINTS = (
        (Drain, "release"),
        (pipeline.Work, "_read_transcript"),
        (pipeline.Work, "_distil"),
        (pipeline.Work, "_prepare"),
        (pipeline.Work, "_index"),
        (prepare, "project_file"),
        (prepare, "session_file"),
        (distil, "distil_session"),
    )

    @pytest.mark.parametrize(("where", "name"), POINTS, ids=[name for _, name in POINTS])
    @pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
    def test_the_session_is_in_the_brief_then_and_after_the_next_round(
        self, house: House, monkeypatch: pytest.MonkeyPatch, where: Any, name: str, after: bool
    ) -> None:
        a_day_at_work(house)
        real = getattr(where, name)

        def dying(*arguments: Any, **options: Any) -> None:
            if after:
                real(*arguments, **options)
            raise Killed

        with monkeypatch.context() as patch:
            patch.setattr(where, name, dying)
            with pytest.raises(Killed):
                house.works()
        house.close()
        assert "fix the failing login test" in house.brief().text, "hidden after the kill"
        house.works()
        house.close()
        assert "fix the failing login test" in house.brief().text, "hidden after the next round"
        assert house.brief().text.count("fix the failing login test") <= 2
        assert house.spooled() == []
        assert house.store.books.table_counts()["events"] == 8
        assert house.left() == {"done"}
        assert house.store.passages.unindexed() == 0

    def test_a_small_batch_stays_in_the_spool_until_its_brief_is_ready(
        self, house: House, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """CM-14."""
        a_day_at_work(house)
        seen: list[int] = []
        real = prepare.project_file

        def looking(*arguments: Any) -> None:
            seen.append(len(house.spooled()))
            real(*arguments)

        monkeypatch.setattr(prepare, "project_file", looking)
        house.works()
        assert seen == [6]
        assert house.spooled() == []


class TestTrouble:
    def test_a_session_that_cannot_be_distilled_is_parked_and_the_others_are_done(
        self, house: House, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        """CCE-43, CCE-44, MEMORIA-29."""
        bad, good = house.session().prompts("poison"), house.session().prompts("honey")
        real = distil.distil_session

        def breaks(session: Any, events: Any, limits: Any) -> Any:
            if session.id == bad.id:
                raise RuntimeError("nobody thought of this")
            return real(session, events, limits)

        monkeypatch.setattr(distil, "distil_session", breaks)
        now = [1_000_000]
        monkeypatch.setattr(clock, "now_ms", lambda: now[0])
        house.sets("jobs.max_attempts", "3")
        house.works()
        assert "honey" in house.brief().text
        (job,) = [j for j in house.store.jobs.all() if j.state != "done" and j.kind != "day"]
        assert (job.subject, job.state, job.attempts) == (bad.id, "waiting", 1)
        assert "nobody thought of this" in job.last_error
        assert house.works() == 0, "a job that waits for its next try keeps nobody busy"
        for _ in range(2):
            now[0] += 10**7
            house.works()
        (parked,) = house.store.jobs.all("parked")
        assert parked.attempts == 3
        assert "is not tried again" in caplog.text
        now[0] += 10**7
        good.prompts("more honey")
        house.works()
        assert len(house.store.jobs.all("parked")) == 1
        monkeypatch.setattr(distil, "distil_session", real)
        bad.prompts("cured")
        house.works()
        assert house.store.jobs.all("parked") == []

    def test_a_transcript_that_breaks_its_reader_does_not_stop_the_rest(
        self, house: House, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def breaks(*_: object) -> None:
            raise RuntimeError("nobody thought of this")

        monkeypatch.setattr(live_transcript, "catch_up", breaks)
        a_day_at_work(house)
        house.works()
        assert "fix the failing login test" in house.brief().text

    def test_a_corrupt_list_of_confirmed_folders_does_not_stop_it(self, house: House) -> None:
        """MEMORIA-10."""
        house.home.confirmed.write_text('["not", "a", "table"]')
        house.session().prompts("go")
        house.works()
        assert house.store.books.table_counts()["events"] == 1
        assert len(list(house.home.root.glob("confirmed.json.bak-*"))) == 1


class TestRebuild:
    def test_everything_derived_is_made_again_exactly_as_it_was(self, house: House) -> None:
        a_day_at_work(house)
        for n in range(5):
            house.session().starts().prompts(f"ask {n}").runs(f"make {n}", "ok").stops("Done.").ends()
        child = house.session().prompts("look").delegates()
        child.runs("ls", "x").stops("Found.")
        house.works()
        before = memories(house)
        files = {p: p.read_bytes() for p in house.home.briefs.rglob("*.json")}
        assert house.rebuilds() == 8
        assert memories(house) == before
        for path, content in files.items():
            old, new = json.loads(content), json.loads(path.read_bytes())
            assert {**old, "made_at": 0} == {**new, "made_at": 0}

    def test_two_homes_that_saw_the_same_have_the_same_memories(self, house: House, tmp_path: Path) -> None:
        """Deterministic: ids do not depend on when or where, texts not on the order of sets."""
        other = House(tmp_path / "other-home", house.project)
        for one in (house, other):
            one.home.root.mkdir(exist_ok=True)
            with one.store.transaction():  # the key of event ids is a home's own secret
                one.store.books.set_meta("key", "00" * 16)
            one.close()
            story = one.session(session="the-same")
            for n in range(6):
                story.prompts(f"ask {n}", prompt_id=f"p{n}")
                story.runs("pytest -q", fails=f"Exit code 1\nE  {n}", tool_use_id=f"a{n}").edits("auth.py")
                story.runs("pytest -q", "ok", tool_use_id=f"b{n}").stops(f"Did {n}. Next: do {n + 1}.")
            one.works()
        said = [
            [(m.id, m.kind, m.text) for m in h.store.memories.of_session(story.id)] for h in (house, other)
        ]
        other.close()
        assert len(said[0]) > 8
        assert said[0] == said[1]

    def test_what_the_user_asked_to_remember_survives_it(self, house: House) -> None:
        house.session().prompts("go")
        with App(house.home) as app:
            memory = app.remember("The staging server is called otter.", house.project)
            app.rebuild()
            assert app.show(memory.id) is not None
            hits = app.search("staging server", memory.project_id).hits
        assert [hit.id for hit in hits][:1] == [memory.id]
        assert "otter" in house.brief().text

    def test_what_the_rules_no_longer_find_is_gone(
        self, house: House, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        story = a_day_at_work(house)
        house.works()
        monkeypatch.setattr(distil, "distil_session", lambda *_: [])
        house.rebuilds()
        assert house.store.memories.of_session(story.id) == []
        assert house.brief().text == ""

    def test_killed_in_between_it_is_finished_by_the_next_worker(
        self, house: House, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for n in range(4):
            house.session().prompts(f"ask {n}").stops("Done.")
        house.works()
        before = memories(house)
        real, calls = pipeline.Work._distil, iter(range(99))

        def dying(self: pipeline.Work, sid: str) -> None:
            if next(calls) == 2:
                raise Killed
            real(self, sid)

        with monkeypatch.context() as patch:
            patch.setattr(pipeline.Work, "_distil", dying)
            with pytest.raises(Killed):
                house.rebuilds()
        assert memories(house) != before
        house.works()
        assert memories(house) == before

    def test_it_tells_how_far_it_is(self, house: House) -> None:
        for _ in range(3):
            house.session().prompts("go")
        told: list[tuple[int, int]] = []
        with App(house.home) as app:
            assert app.rebuild(lambda done, of: told.append((done, of))) == 3
        assert told[-1] == (3, 3)
        assert told == sorted(told)


def test_a_home_anywhere_holds_everything_and_nothing_lies_beside_it(
    tmp_path: Path, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CCE-19: one rendezvous, also when the home is moved by the environment."""
    moved = tmp_path / "moved home é"
    monkeypatch.setenv("BACKSTORY_HOME", str(moved))
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    with App() as app:
        assert app.home.root == moved
        story = Story(app.home, house.project).starts().prompts("go").stops("Done.")
        app.catch_up()
        assert app.store.events.session(story.id) is not None
    assert not (tmp_path / "nobody").exists()
    assert list(house.home.root.iterdir()) == []
