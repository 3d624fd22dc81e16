"""One round of work: what it makes, that it can be killed anywhere, and that it can be made again."""

import json
import math
import socket
from pathlib import Path
from typing import Any

import pytest

from backstory import clock, distil, pipeline, settings
from backstory.app import App
from backstory.capture import live_transcript, worker_spawn
from backstory.capture.drain import Drain
from backstory.capture.project_lookup import ProjectLookup
from backstory.model import Kind, MemoryKind, Tier
from backstory.passage_indexing import index_events
from backstory.paths import Home
from backstory.recall import prepare
from backstory.session_distillation import SessionDistiller
from backstory.store import Store, job_queue
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


def change_stage(patch: pytest.MonkeyPatch, kind: str, **columns: Any) -> None:
    """Put other values into one row of the pipeline's table."""
    stages = tuple(s._replace(**columns) if s.kind == kind else s for s in pipeline.STAGES)
    patch.setattr(pipeline, "STAGES", stages)


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
            story.runs("pytest -q", "1 passed")
        story.stops("Yes.")
        house.works()
        assert sum(e.kind is Kind.TOOL for e in house.events(story)) == 4
        (command,) = [m for m in house.store.memories.of_session(story.id) if m.kind is MemoryKind.COMMAND]
        assert "4" in command.text
        house.session().prompts("and now?").runs("pytest -q", "1 passed").stops("Still.")
        house.works()
        assert house.brief().text.count("`pytest -q` in 2 sessions") == 1

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
        change_stage(monkeypatch, "distil", seconds=0)
        change_stage(monkeypatch, "brief", waits=math.inf)
        hand = pipeline.Pipeline(house.home, settings.load_settings(house.home)[0], house.store)
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
        change_stage(monkeypatch, "distil", seconds=0)
        change_stage(monkeypatch, "brief", waits=math.inf)
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
        doing = pipeline.Pipeline(house.home, App(house.home).settings, house.store)
        for _ in Drain(
            house.home, App(house.home).settings, house.store, ProjectLookup(house.store, {}, ())
        ).batches():
            pass
        steps = iter([False, True])
        assert doing._index(lambda: next(steps)) == 1_000
        assert house.store.passages.unindexed() == 200


class TestStages:
    """The table of the pipeline is true."""

    def test_commands_wait_for_the_stages_that_come_before_spool_files_are_removed(self) -> None:
        assert tuple(s.kind for s in pipeline.STAGES if s.turn == "first") == job_queue.ROUND

    def test_each_kind_of_job_has_one_stage_or_asks_a_model(self) -> None:
        kinds = [stage.kind for stage in pipeline.STAGES]
        assert len(set(kinds)) == len(kinds)
        asked_for = {kind for stage in pipeline.STAGES for kind in stage.follows}
        assert asked_for <= {*kinds, *job_queue.ASKING}

    def test_a_stage_asks_only_for_what_the_table_says_follows(
        self, house: House, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        at_work: list[pipeline.Stage] = []
        seen: set[tuple[str, str]] = set()
        run, ask = pipeline.Pipeline._run, job_queue.Jobs.ask

        def running(self: pipeline.Pipeline, stage: pipeline.Stage, *rest: Any, **more: Any) -> int:
            at_work.append(stage)
            try:
                return run(self, stage, *rest, **more)
            finally:
                at_work.pop()

        def asked(self: job_queue.Jobs, kind: str, *rest: Any) -> bool:
            if at_work:
                seen.add((at_work[-1].kind, kind))
                assert kind in at_work[-1].follows
            return ask(self, kind, *rest)

        monkeypatch.setattr(pipeline.Pipeline, "_run", running)
        monkeypatch.setattr(job_queue.Jobs, "ask", asked)
        a_day_at_work(house).ends()
        house.works()
        house.rebuilds()
        assert {
            ("transcript", "distil"),
            ("distil", "supersede"),
            ("distil", "brief"),
            ("rebuild", "supersede"),
        } <= seen

    def test_a_brief_is_prepared_after_it_is_known_which_decisions_are_history(
        self, house: House, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        done: list[str] = []

        def noting(module: Any, name: str) -> None:
            real = getattr(module, name)

            def noted(*given: Any) -> None:
                done.append(name)
                real(*given)

            monkeypatch.setattr(module, name, noted)

        noting(pipeline, "update_supersessions")
        noting(prepare, "project_file")
        a_day_at_work(house)
        house.works()
        assert done == ["update_supersessions", "project_file"]

    def test_a_decision_is_history_though_preparing_briefs_fails(
        self, house: House, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def broken(*_: object) -> None:
            raise RuntimeError("no brief today")

        for text in ("We decided to use Redis for the cache", "We decided to use files for the cache"):
            house.session().prompts(f"{text}.").stops(f"{text} instead of the other one.")
        monkeypatch.setattr(prepare, "project_file", broken)
        house.works()
        (project,) = house.store.projects.all()
        assert {job.kind for job in house.store.jobs.all("done")} >= {"supersede", "distil"}
        assert house.store.supersessions.of_project(project.id)


class TestWhoAsks:
    """A question has no work done but what it must see, and that by a worker."""

    def test_a_search_starts_no_worker_while_nothing_waits_in_the_spool(
        self, house: House, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        story = a_day_at_work(house)
        house.works()
        with house.store.transaction():  # whatever else is to be done
            for kind in ("distil", "embed", "compile"):
                house.store.jobs.ask(kind, story.id, clock.now_ms())

        def nobody(*_: object) -> None:
            raise AssertionError("a worker was started")

        monkeypatch.setattr("backstory.app.context.call_worker", nobody)
        monkeypatch.setattr(pipeline.Pipeline, "__init__", nobody)
        with App(house.home) as app:
            assert app.search("login test", None).hits
        assert {job.kind for job in house.store.jobs.all("waiting")} >= {"distil", "embed", "compile"}

    def test_what_waits_is_taken_in_by_a_worker_of_its_own_process(
        self, house: House, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        a_day_at_work(house)
        monkeypatch.setattr("backstory.app.context.call_worker", worker_spawn.call_worker)

        def here(*_: object) -> None:
            raise AssertionError("it was done by who asks")

        monkeypatch.setattr(pipeline.Pipeline, "__init__", here)
        with App(house.home, patience=60) as app:
            assert app.search("login test", None).hits
        assert house.spooled() == []


class TestKilled:
    """A worker killed between any two steps hides nothing and loses nothing."""

    POINTS = (
        (Drain, "release"),
        (pipeline.Pipeline, "read_transcript"),
        (SessionDistiller, "distil"),
        (pipeline, "update_supersessions"),
        (pipeline.Pipeline, "prepare_brief"),
        (pipeline.Pipeline, "_index"),
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
        assert house.store.listings.table_counts()["events"] == 8
        while house.works():  # a slow machine makes vectors in several rounds
            pass
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
        assert house.store.listings.table_counts()["events"] == 1
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
            when = {"made_at": 0, "size": 0}  # when it was made, and how large the index was then
            assert old | when == new | when

    def test_two_homes_that_saw_the_same_have_the_same_memories(self, house: House, tmp_path: Path) -> None:
        """Deterministic: ids do not depend on when or where, texts not on the order of sets."""
        other = House(tmp_path / "other-home", house.project)
        for one in (house, other):
            one.home.root.mkdir(exist_ok=True)
            with one.store.transaction():  # the key of event ids is a home's own secret
                one.store.meta.set("key", "00" * 16)
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
        assert not any(row.id.startswith("m") for row in house.brief().rows)

    def test_killed_in_between_it_is_finished_by_the_next_worker(
        self, house: House, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for n in range(4):
            house.session().prompts(f"ask {n}").stops("Done.")
        house.works()
        before = memories(house)
        real, calls = SessionDistiller.distil, iter(range(99))

        def dying(self: SessionDistiller, sid: str, ask_model: bool = True) -> None:
            if next(calls) == 2:
                raise Killed
            real(self, sid, ask_model)

        with monkeypatch.context() as patch:
            patch.setattr(SessionDistiller, "distil", dying)
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
