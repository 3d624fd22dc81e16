"""From the spool into the store: each file once, whatever it holds and whatever happens in between."""

import json
import os
import re
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from backstory.agents import AGENTS
from backstory.capture import drain as drain_module
from backstory.capture import quarantine
from backstory.capture.drain import BATCH_FILES, Batch, Drain
from backstory.capture.places import Places
from backstory.capture.waiting import UNFINISHED_SECONDS, waiting
from backstory.errors import StoreUnusable
from backstory.hook import spool
from backstory.hook.identity import session_id
from backstory.model import Event, Kind, Outcome, SessionStatus
from backstory.settings import load
from tests.story import House, Story

OLD = (UNFINISHED_SECONDS + 30) * 10**9


class Killed(BaseException):
    """The process was killed here."""


def drain(house: House) -> Drain:
    settings = load(house.home)[0]
    return Drain(house.home, settings, house.store, Places(house.store, {}, settings.project_monorepo))


def drained(house: House) -> list[Batch]:
    """Drain everything and release it, without the rest of a round."""
    draining = drain(house)
    batches = []
    for batch in draining.batches():
        draining.release(batch)
        batches.append(batch)
    return batches


def kinds(house: House, story: Story) -> list[str]:
    return [event.kind.value for event in house.events(story)]


def quarantined(house: House) -> list[str]:
    """The reasons in quarantine."""
    return [reason for _, reason in quarantine.listing(house.home)]


@pytest.fixture
def story(house: House) -> Story:
    return house.session()


class TestEveryEvent:
    def test_a_session_is_stored_in_its_order_and_the_spool_is_empty(
        self, house: House, story: Story
    ) -> None:
        story.starts().prompts("fix the login").runs("pytest", fails="1 failed").edits("auth.py")
        story.runs("pytest", "1 passed").stops("Done.").ends()
        drained(house)
        assert kinds(house, story) == [
            "session_started", "prompt", "tool", "tool", "tool", "said", "turn_ended", "session_ended",
        ]  # fmt: skip
        assert [e.outcome for e in house.events(story) if e.kind is Kind.TOOL] == ["failed", "ok", "ok"]
        assert house.spooled() == []

    def test_files_are_taken_by_time_not_by_name(self, house: House, story: Story) -> None:
        now = time.time_ns()
        for n, text in enumerate(["three", "one", "two"]):
            at = now - {"one": 3, "two": 2, "three": 1}[text] * 10**9
            data = json.dumps(story.payload("UserPromptSubmit", prompt=text, prompt_id=f"p{n}")).encode()
            house.leaves(data, "UserPromptSubmit", at_ns=at)
        drained(house)
        assert [e.text for e in house.events(story)] == ["one", "two", "three"]

    def test_a_clock_that_goes_backwards_loses_and_shuffles_nothing(self, house: House, story: Story) -> None:
        story.prompts("before the clock was set back")
        drained(house)
        past = time.time_ns() - 3_000 * 10**9
        data = json.dumps(story.payload("UserPromptSubmit", prompt="after", prompt_id="p2")).encode()
        house.leaves(data, "UserPromptSubmit", at_ns=past)
        drained(house)
        assert [e.text for e in house.events(story)] == ["before the clock was set back", "after"]

    def test_what_was_spooled_before_any_worker_existed_is_drained_by_the_first(
        self, house: House, story: Story
    ) -> None:
        """CMEM-14, CMEM-15, CMEM-16, CCE-25: no retry is needed, the file waits for as long as it takes."""
        story.prompts("nobody is listening").runs("make", "ok").stops("Done.")
        assert not house.home.database.exists()
        assert len(house.spooled()) == 3
        drained(house)
        assert kinds(house, story) == ["prompt", "tool", "said", "turn_ended"]

    def test_events_before_the_start_are_the_sessions_too(self, house: House, story: Story) -> None:
        """CCE-7."""
        story.runs("ls", "auth.py").starts()
        drained(house)
        assert house.row(story).project_name == "shop"
        assert kinds(house, story) == ["tool", "session_started"]

    def test_a_thousand_and_more_files_come_in_several_batches(self, house: House, story: Story) -> None:
        for n in range(BATCH_FILES + 5):
            story.prompts(f"ask {n}", prompt_id=f"p{n}")
        assert [len(batch.receipts) for batch in drained(house)] == [BATCH_FILES, 5]
        assert house.row(story).prompt_count == BATCH_FILES + 5
        assert [e.text for e in house.events(story)] == [f"ask {n}" for n in range(BATCH_FILES + 5)]

    def test_large_files_make_small_batches(self, house: House, story: Story) -> None:
        for _ in range(3):
            story.runs("cat big", "x " * 1_500_000)
        assert [len(batch.receipts) for batch in drained(house)] == [1, 1, 1]

    def test_the_whole_payload_lies_beside_its_first_event_only(self, house: House, story: Story) -> None:
        """CCE-11."""
        story.prompts("go").stops("Done.")
        drained(house)
        sizes = [(s.event.kind.value, s.payload_size > 0) for s in house.stored(story)]
        assert sizes == [("prompt", True), ("said", True), ("turn_ended", False)]
        body = house.store.events.payload(house.stored(story)[1].id)
        assert body is not None
        assert json.loads(body)["last_assistant_message"] == "Done."

    def test_what_was_captured_is_counted(self, house: House, story: Story) -> None:
        story.prompts("go").stops("Done.")
        drained(house)
        assert (house.counter("spooled"), house.counter("stored"), house.counter("duplicate")) == (2, 3, 0)

    def test_the_day_of_a_counter_is_the_users(self, house: House, story: Story) -> None:
        """MEMORIA-13: zones apart by a day count to different days."""
        days = []
        for zone in ("Pacific/Kiritimati", "Pacific/Niue"):  # 25 hours apart
            house.sets("time.zone", zone)
            story.prompts(f"in {zone}")
            drained(house)
        days = sorted({day for day, *_ in house.store.books.counted()})
        assert len(days) == 2


class TestOnce:
    def test_killed_after_the_commit_and_before_the_files_are_removed(
        self, house: House, story: Story
    ) -> None:
        """CM-14: a file is removed only after what it holds is stored, and a replay is recognised."""
        story.starts().prompts("go").prompts("go").stops("Done.").ends()
        killed = drain(house)
        for _ in killed.batches():
            pass  # killed here: nothing was released
        before = kinds(house, story)
        assert len(house.spooled()) == 5
        drained(house)
        assert kinds(house, story) == before
        assert house.spooled() == []
        assert house.counter("spooled") == 5

    def test_killed_while_files_are_removed(
        self, house: House, story: Story, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        story.starts().prompts("go").stops("Done.").ends()
        unlink, left = os.unlink, iter([True, True, False])

        def dying(path: str) -> None:
            if not next(left):
                raise Killed
            unlink(path)

        with monkeypatch.context() as patch:
            patch.setattr(os, "unlink", dying)
            with pytest.raises(Killed):
                drained(house)
        assert len(house.spooled()) == 2
        drained(house)
        drained(house)
        assert kinds(house, story) == ["session_started", "prompt", "said", "turn_ended", "session_ended"]
        assert house.store.books.receipts() == []

    def test_killed_inside_the_transaction(
        self, house: House, story: Story, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        story.starts().prompts("go").ends()

        def dying(*_: object) -> None:
            raise Killed

        with monkeypatch.context() as patch:
            patch.setattr(type(house.store.books), "add_receipts", dying)
            with pytest.raises(Killed):
                drained(house)
        assert house.store.books.table_counts()["events"] == 0
        assert len(house.spooled()) == 3
        drained(house)
        assert kinds(house, story) == ["session_started", "prompt", "session_ended"]

    def test_a_trailer_written_after_the_folder_was_listed_still_gives_the_right_receipt(
        self, house: House, story: Story, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Otherwise a kill right then would store the session's start twice."""
        story.starts()
        (path,) = house.home.spool.iterdir()
        real = spool.entries

        def early(folder: str, *rest: Any) -> list[spool.Entry]:
            found = real(folder, *rest)
            for entry in found:  # as it was a moment ago, without its trailer
                entry.size -= 1
                entry.mtime_ns -= 5_000_000
            return found

        with monkeypatch.context() as patch:
            patch.setattr(spool, "entries", early)
            for _ in drain(house).batches():
                pass  # killed before the release
        assert path.exists()
        drained(house)
        assert kinds(house, story) == ["session_started"]
        assert not path.exists()

    def test_receipts_do_not_pile_up(self, house: House, story: Story) -> None:
        for n in range(2_100):
            story.prompts("again", prompt_id=f"p{n}")
        drained(house)
        assert len(house.store.books.receipts()) <= 100
        drained(house)
        assert house.store.books.receipts() == []

    def test_two_flushes_within_a_minute_with_different_words_are_both_kept(
        self, house: House, story: Story
    ) -> None:
        """CM-43: by what they are, not by when."""
        story.prompts("go", prompt_id="p1").stops("First half.").stops("Second half.").stops("Second half.")
        drained(house)
        said = [e.text for e in house.events(story) if e.kind is Kind.SAID]
        assert said == ["First half.", "Second half."]
        assert kinds(house, story).count("turn_ended") == 2

    def test_sessions_that_interleave_do_not_disturb_each_other(self, house: House) -> None:
        """CM-44."""
        one, two = house.session(), house.session()
        for n in range(5):
            for story in (one, two):
                story.prompts("the same words", prompt_id=f"p{n}").runs("make", tool_use_id=f"t{n}").stops(
                    "Done."
                )
        drained(house)
        assert kinds(house, one) == kinds(house, two) == ["prompt", "tool", "said", "turn_ended"] * 5

    def test_equal_calls_stay_separate_events(self, house: House, story: Story) -> None:
        """CMEM-27: what is shown merges them; events never do, or failure, fix, pass would be lost."""
        for _ in range(3):
            story.runs("pytest -q", "1 passed")
        drained(house)
        assert kinds(house, story) == ["tool"] * 3

    def test_the_same_call_delivered_by_two_installed_hooks_is_one(self, house: House, story: Story) -> None:
        for _ in range(2):  # user settings and plugin both installed
            story.runs("make", "ok", tool_use_id="toolu_1")
        drained(house)
        assert kinds(house, story) == ["tool"]
        assert house.counter("duplicate") == 1


class TestWork:
    def jobs(self, house: House) -> list[tuple[str, str]]:
        return [(job.kind, job.state) for job in house.store.jobs.all()]

    def test_a_stop_and_the_next_prompt_ask_for_one_piece_of_work(self, house: House, story: Story) -> None:
        """CCE-10, CCE-12."""
        story.prompts("one").stops("Done.").prompts("two")
        drained(house)
        assert self.jobs(house).count(("distil", "waiting")) == 1
        house.works()
        assert set(house.store.jobs.counts()) == {"done"}
        story.prompts("two", prompt_id=story.payload("x")["prompt_id"])  # delivered twice
        drained(house)
        assert house.counter("duplicate") == 1
        assert set(house.store.jobs.counts()) == {"done"}

    def test_two_ends_ask_for_one_rollup(self, house: House, story: Story) -> None:
        """CCE-13."""
        story.prompts("one").ends().ends()
        drained(house)
        assert self.jobs(house).count(("distil", "waiting")) == 1

    def test_the_end_of_a_session_nobody_knows_is_no_trouble(self, house: House, story: Story) -> None:
        """CMEM-10, CMEM-9: it ends that session and nothing else."""
        other = house.session().starts().prompts("at work")
        story.ends("logout")
        house.works()
        assert house.row(story).end_reason == "logout"
        assert house.row(other).status is SessionStatus.ACTIVE
        assert house.store.memories.of_session(story.id) == []


class TestSessionsToldApart:
    def test_clear_ends_one_session_and_starts_another(self, house: House, story: Story) -> None:
        """CMEM-8."""
        after = story.starts().prompts("one").clears().prompts("two")
        drained(house)
        assert (house.row(story).status, house.row(story).end_reason) == (SessionStatus.ENDED, "clear")
        assert (house.row(after).status, house.row(after).source) == (SessionStatus.ACTIVE, "clear")
        assert [e.text for e in house.events(after) if e.kind is Kind.PROMPT] == ["two"]

    def test_resume_goes_on_in_the_same_session(self, house: House, story: Story) -> None:
        story.starts().prompts("one").stops("Done.").ends()
        drained(house)
        story.starts("resume").prompts("two")
        drained(house)
        row = house.row(story)
        assert (row.status, row.source, row.prompt_count) == (SessionStatus.ACTIVE, "startup", 2)
        starts = [e.reason for e in house.events(story) if e.kind is Kind.SESSION_STARTED]
        assert starts == ["startup", "resume"]

    def test_a_fork_is_a_session_of_its_own(self, house: House, story: Story) -> None:
        story.starts().prompts("one")
        fork = house.session().starts("fork").prompts("another way")
        drained(house)
        assert house.row(fork).source == "fork"
        assert house.row(story).prompt_count == house.row(fork).prompt_count == 1

    def test_a_compaction_stays_inside_its_session(self, house: House, story: Story) -> None:
        story.starts().prompts("one").compacts("so far: one").prompts("two").stops("Done.")
        drained(house)
        assert kinds(house, story) == [
            "session_started", "prompt", "compacting", "session_started", "compacted", "prompt", "said", "turn_ended",
        ]  # fmt: skip
        assert house.row(story).status is SessionStatus.ACTIVE
        assert [e.text for e in house.events(story) if e.kind is Kind.COMPACTED] == ["so far: one"]

    def test_sub_agents_are_labelled_and_linked(self, house: House, story: Story) -> None:
        story.starts().prompts("look around")
        child = story.delegates("explorer")
        child.runs("ls", "auth.py").stops("Found it.")
        story.stops("Done.")
        drained(house)
        (row,) = house.store.events.children(story.id)
        assert (row.id, row.subagent_type, row.status) == (child.id, "explorer", SessionStatus.ENDED)
        assert kinds(house, child) == ["tool", "said", "subagent_ended"]
        assert kinds(house, story) == ["session_started", "prompt", "said", "turn_ended"]
        assert house.row(story).status is SessionStatus.ACTIVE

    def test_a_turn_that_an_api_error_ended_is_kept_as_failed(self, house: House, story: Story) -> None:
        story.prompts("go").breaks("rate_limit")
        drained(house)
        last = house.events(story)[-1]
        assert (last.kind, last.outcome, last.reason) == (Kind.TURN_FAILED, Outcome.FAILED, "rate_limit")


class TestBadInput:
    """MEMORIA-28: counted, kept with its reason, never dropped, and nothing else is held up by it."""

    BAD = (
        (b"", "empty"),
        (b"   \n", "empty"),
        (b'{"session_id": "s1", "cwd": "/x", "prom', "truncated"),
        (b"[1, 2, 3]", "not an object"),
        (b'"text"', "not an object"),
        (b"null", "not an object"),
        (b"\xff\xfe\xfd\xfc", "not json"),
        (b"hello", "not json"),
        (b'{"a": ' * 5_000 + b"1" + b"}" * 5_000, "nested too deeply"),
        (b'{"cwd": "/x"}', "no session id"),
        (b'{"session_id": "", "cwd": "/x"}', "no session id"),
        (b'{"session_id": 17, "cwd": "/x"}', "no session id"),
        (b'{"session_id": "s1", "cwd": "/x", "tool_input": {}}', "no tool name"),
    )

    @pytest.mark.parametrize(("data", "reason"), BAD, ids=[reason for _, reason in BAD])
    def test_it_is_quarantined_with_its_reason_and_the_rest_is_stored(
        self, house: House, story: Story, data: bytes, reason: str
    ) -> None:
        story.prompts("before")
        house.leaves(data)
        story.prompts("after")
        drained(house)
        assert [e.text for e in house.events(story)] == ["before", "after"]
        (found,) = quarantined(house)
        assert reason in found
        assert house.counter("quarantined") == 1
        assert house.spooled() == []

    def test_bytes_that_are_no_utf8_inside_good_json_are_stored(self, house: House, story: Story) -> None:
        good = json.dumps(story.payload("UserPromptSubmit", prompt="caf\u00e9 ole")).encode(
            "latin-1", "replace"
        )
        house.leaves(good.replace(b"\\u00e9", b"\xe9"), "UserPromptSubmit")
        drained(house)
        assert [e.text for e in house.events(story)] == ["caf\ufffd ole"]
        assert quarantined(house) == []

    def test_utf16_from_powershell_is_stored(self, house: House, story: Story) -> None:
        text = json.dumps(story.payload("UserPromptSubmit", prompt="from a pipe"))
        house.leaves(text.encode("utf-16"), "UserPromptSubmit")
        drained(house)
        assert [e.text for e in house.events(story)] == ["from a pipe"]
        body = house.store.events.payload(house.stored(story)[0].id)
        assert body is not None
        assert json.loads(body)["prompt"] == "from a pipe"

    def test_half_an_emoji_is_stored(self, house: House, story: Story) -> None:
        house.leaves(
            json.dumps(story.payload("UserPromptSubmit", prompt="x \ud83d y")).encode(), "UserPromptSubmit"
        )
        drained(house)
        assert [e.text for e in house.events(story)] == ["x ? y"]

    def test_fifty_megabytes_are_stored_whole(self, house: House, story: Story) -> None:
        story.prompts("before").runs("cat big.log", "0123456789abcdef\n" * 3_000_000).prompts("after")
        drained(house)
        assert kinds(house, story) == ["prompt", "tool", "prompt"]
        assert house.stored(story)[1].payload_size > 50_000_000
        assert len(house.events(story)[1].text) <= 1_500

    def test_an_event_that_we_do_not_know_is_counted_and_stores_nothing(
        self, house: House, story: Story
    ) -> None:
        house.leaves(json.dumps(story.payload("CwdChanged")).encode(), "CwdChanged")
        drained(house)
        assert quarantined(house) == []
        assert (house.counter("spooled"), house.counter("stored")) == (1, 0)
        assert house.spooled() == []

    def test_an_agent_that_we_do_not_know_is_quarantined(self, house: House) -> None:
        house.leaves(b'{"session_id": "s"}', "Stop", agent="clippy")
        drained(house)
        assert quarantined(house) == ["unknown agent clippy"]

    @pytest.mark.parametrize(
        "session", ["../../../../tmp/evil", "/etc/passwd", "..\\..\\x", "a/b", "x" * 10_000, "\0\n"]
    )
    def test_a_foreign_session_id_is_data_and_never_a_path(
        self, house: House, session: str, tmp_path: Path
    ) -> None:
        """MEMORIA-32."""
        story = house.session(session=session)
        before = {p for p in tmp_path.rglob("*") if house.home.root not in p.parents}
        story.starts().prompts("who am I").stops("Nobody.").ends()
        house.works()
        assert house.store.books.table_counts()["sessions"] == 1
        (row,) = house.store.events.sessions()
        assert len(row.native_id) < 250
        assert row.prompt_count == 1
        assert {p for p in tmp_path.rglob("*") if house.home.root not in p.parents} == before
        names = [p.name for p in house.home.root.rglob("*")]
        assert not any("passwd" in name or "evil" in name or ".." in name for name in names)

    def test_two_foreign_ids_that_begin_alike_are_two_sessions(self, house: House) -> None:
        for end in "ab":
            house.session(session="../" + "x" * 5_000 + end).prompts("go")
        drained(house)
        assert house.store.books.table_counts()["sessions"] == 2

    @pytest.mark.parametrize("cwd", ["", None, 17, "relative", "/does/not/exist", "/\0/x", "/" + "x" * 9_000])
    def test_a_strange_cwd_is_no_reason_to_lose_an_event(self, house: House, story: Story, cwd: Any) -> None:
        payload = story.payload("UserPromptSubmit", prompt="where am I") | {"cwd": cwd}
        house.leaves(json.dumps(payload).encode(), "UserPromptSubmit")
        drained(house)
        assert [e.text for e in house.events(story)] == ["where am I"]

    @pytest.mark.parametrize("path", ["", None, 17, ["x"], "/does/not/exist.jsonl"])
    def test_a_transcript_that_is_not_there_is_skipped_with_a_line_in_the_log(
        self, house: House, story: Story, path: Any, caplog: pytest.LogCaptureFixture
    ) -> None:
        """CM-9, CM-10."""
        fields = {"prompt": "go", "transcript_path": path}
        house.leaves(json.dumps(story.payload("UserPromptSubmit") | fields).encode(), "UserPromptSubmit")
        fields = {"last_assistant_message": "Done.", "transcript_path": path}
        house.leaves(json.dumps(story.payload("Stop") | fields).encode(), "Stop")
        with caplog.at_level("INFO"):
            house.works()
        assert kinds(house, story) == ["prompt", "said", "turn_ended"]
        assert len(re.findall("SKIP transcript", caplog.text)) == 1
        assert set(house.store.jobs.counts()) == {"done"}


class TestTrouble:
    def test_a_payload_that_breaks_its_reader_does_not_stop_the_others(
        self, house: House, story: Story, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """MEMORIA-29: the exception is logged and stays here."""
        claude = AGENTS["claude-code"]

        def breaks(name: str, payload: Any, at: int) -> list[Event]:
            if payload.get("prompt") == "poison":
                raise TypeError("nobody thought of this")
            return claude.read_hook(name, payload, at)

        monkeypatch.setattr(drain_module, "AGENTS", {"claude-code": replace(claude, read_hook=breaks)})
        story.prompts("before").prompts("poison").prompts("after")
        drained(house)
        assert [e.text for e in house.events(story)] == ["before", "after"]
        assert quarantined(house) == ["TypeError when it was read"]

    def test_a_payload_that_breaks_the_store_does_not_stop_the_others(
        self, house: House, story: Story, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        events = type(house.store.events)
        insert = events._insert  # type: ignore[attr-defined]

        def breaks(self: Any, eid: str, sid: str, turn: int, seq: int, event: Event) -> None:
            insert(
                self, eid, sid, turn, seq, replace(event, text="\ud800") if event.text == "poison" else event
            )

        monkeypatch.setattr(events, "_insert", breaks)
        story.prompts("before").prompts("poison").prompts("after")
        drained(house)
        assert [e.text for e in house.events(story)] == ["before", "after"]
        assert quarantined(house) == ["UnicodeEncodeError when it was stored"]
        assert house.spooled() == []
        assert house.row(story).prompt_count == 2

    def test_a_store_that_cannot_be_written_keeps_everything_in_the_spool(
        self, house: House, story: Story, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        story.prompts("precious")

        def full(*_: object) -> None:
            raise StoreUnusable("database or disk is full")

        with monkeypatch.context() as patch:
            patch.setattr(type(house.store.events), "add", full)
            with pytest.raises(StoreUnusable):
                drained(house)
        assert len(house.spooled()) == 1
        assert quarantined(house) == []
        drained(house)
        assert [e.text for e in house.events(story)] == ["precious"]

    def test_a_branch_whose_name_is_no_utf8_is_stored(self, house: House, story: Story) -> None:
        head = house.project / ".git" / "HEAD"
        head.write_bytes(b"ref: refs/heads/caf\xe9\n")
        story.prompts("on a strange branch")
        drained(house)
        assert house.events(story)[0].where.branch == "caf\\udce9"
        assert quarantined(house) == []

    def test_a_file_that_is_still_being_written_is_left_until_it_is_old(
        self, house: House, story: Story
    ) -> None:
        data = json.dumps(story.payload("UserPromptSubmit", prompt="unfinis")).encode()
        path = house.leaves(data, "UserPromptSubmit", trailer=b"")
        drained(house)
        assert path.exists()
        assert not waiting(house.home)
        assert house.counter("quarantined") == 0
        old = time.time_ns() - OLD
        os.utime(path, ns=(old, old))
        assert waiting(house.home)
        drained(house)
        assert not path.exists()
        assert quarantined(house) == ["unfinished: the hook was killed before it had written everything"]

    def test_a_file_that_is_finished_later_is_stored(self, house: House, story: Story) -> None:
        data = json.dumps(story.payload("UserPromptSubmit", prompt="slow")).encode()
        path = house.leaves(data[:20], "UserPromptSubmit", trailer=b"")
        drained(house)
        with path.open("ab") as file:
            file.write(data[20:] + spool.TRAILER)
        drained(house)
        assert [e.text for e in house.events(story)] == ["slow"]

    def test_marks_of_failed_hooks_are_counted_once_and_removed(self, house: House, story: Story) -> None:
        story.prompts("go")
        (file,) = house.spooled()
        (house.home.spool / f"{file}.write.fail").touch()
        (house.home.spool / "interpreter.fail").write_text("/gone/python\n")
        assert waiting(house.home)
        for _ in drain(house).batches():
            pass  # killed before they were removed
        drained(house)
        assert (house.counter("failed"), house.counter("not_woken")) == (1, 1)
        assert house.spooled() == []
        assert not waiting(house.home)

    def test_what_is_not_ours_is_left_alone(self, house: House, story: Story) -> None:
        story.prompts("go")
        strangers = ["notes.txt", "a.b.c.d", "my.own.fail.fail", ".hidden", "x.fail.bak"]
        for name in strangers:
            (house.home.spool / name).write_text("mine")
        (house.home.spool / "claude-code.Stop.1.2").mkdir()
        (house.home.spool / "claude-code.Stop.1.3").symlink_to("/etc/passwd")
        drained(house)
        left = {path.name for path in house.home.spool.iterdir()}
        assert left >= {*strangers, "claude-code.Stop.1.2", "claude-code.Stop.1.3"}
        assert house.counter("failed") == 0

    def test_what_waited_for_more_than_an_hour_is_counted_as_late(self, house: House, story: Story) -> None:
        data = json.dumps(story.payload("UserPromptSubmit", prompt="old")).encode()
        house.leaves(data, "UserPromptSubmit", at_ns=time.time_ns() - 7_200 * 10**9)
        story.prompts("new")
        drained(house)
        assert (house.counter("late"), house.counter("stored")) == (1, 2)


class TestSkipped:
    def test_tools_on_the_list_are_not_stored_but_counted(self, house: House, story: Story) -> None:
        """CMEM-17; our own tools are always on it."""
        house.sets("capture.skip_tools", "Todo*,Glob")
        story.uses("TodoWrite", {"todos": []}).uses("Glob", {"pattern": "*.py"}).runs("make", "ok")
        story.uses("mcp__backstory__search", {"query": "x"}, "a memory")
        story.uses("mcp__plugin_backstory_memory__get", {"id": "x"}, "a memory")
        drained(house)
        assert [e.tool for e in house.events(story)] == ["Bash"]
        assert house.counter("skipped") == 4

    def test_in_an_ignored_folder_nothing_is_kept(self, house: House, tmp_path: Path) -> None:
        house.sets("privacy.ignore_projects", f"{tmp_path}/secret*")
        secret = house.session(cwd=tmp_path / "secret-project" / "src")
        secret.starts().prompts("nobody may know")
        house.session().prompts("anybody may know")
        drained(house)
        assert house.counter("ignored") == 2
        assert house.store.books.table_counts()["sessions"] == 1
        assert house.found_in_home("nobody may know") == []


class TestReceiptsOfBriefs:
    def receipt(self, house: House, session: str, **fields: Any) -> None:
        given = {"session_id": session, "source": "startup", "shown": ["m1", "m2"], "chars": 90, "tokens": 25}
        house.leaves(json.dumps(given | fields).encode(), spool.RECEIPT)

    def test_what_a_session_was_told_is_kept_with_it(self, house: House, story: Story) -> None:
        story.starts()
        self.receipt(house, story.session, at=1_234)
        house.works()
        (given,) = house.store.briefs.of_session(story.id)
        assert (given.at, given.source, given.chars, given.tokens) == (1_234, "startup", 90, 25)
        assert given.shown == ("m1", "m2")
        prepared = json.loads((house.home.briefs / "sessions" / f"{story.id}.json").read_text())
        assert prepared["shown"] == ["m1", "m2"]

    def test_a_receipt_that_comes_before_its_session_is_kept_for_it(self, house: House, story: Story) -> None:
        self.receipt(house, story.session)
        house.works()
        story.starts().prompts("here I am").stops("Hello.")
        house.works()
        assert len(house.store.briefs.of_session(story.id)) == 1
        assert set(house.store.briefs.held_by(story.id)) == {"m1", "m2"}

    def test_a_foreign_id_meets_its_session_too(self, house: House) -> None:
        story = house.session(session="../x").prompts("go")
        self.receipt(house, "../x")
        drained(house)
        (row,) = house.store.events.sessions()
        assert len(house.store.briefs.of_session(row.id)) == 1
        assert row.id != story.id  # the raw id is never used

    @pytest.mark.parametrize(
        "fields",
        [{"session_id": None}, {"session_id": ""}, {"session_id": ["s"]}],
        ids=["none", "empty", "list"],
    )
    def test_one_without_a_session_is_quarantined(self, house: House, fields: dict[str, Any]) -> None:
        self.receipt(house, "s1", **fields)
        drained(house)
        assert quarantined(house) == ["a receipt without a session"]

    @pytest.mark.parametrize("field", ["at", "chars", "tokens", "shown", "source"])
    def test_one_with_a_strange_field_is_kept_without_it(self, house: House, field: str) -> None:
        self.receipt(house, "s1", **{field: {"strange": 2**80}})
        drained(house)
        assert len(house.store.briefs.of_session(session_id("claude-code", "s1"))) == 1


@pytest.fixture(autouse=True)
def _quiet_git(monkeypatch: pytest.MonkeyPatch) -> None:
    """Asking git for a diffstat is another test's subject, and costs a process each time."""
    monkeypatch.setattr(Places, "diffstat", lambda self, cwd: None)
