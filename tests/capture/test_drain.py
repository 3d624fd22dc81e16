"""From the spool into the store: each file once, whatever happens in between."""

import json
import os
import subprocess
import sys
import time
from typing import Any

import pytest

from backstory.capture.drain import BATCH_FILES
from backstory.hook import spool
from backstory.model import Kind, SessionStatus
from tests.story import House, Story

from . import draining
from .draining import drain, drained, kinds

story, quiet_git = draining.story, draining.quiet_git


class Killed(BaseException):
    """The process was killed here."""


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
        days = sorted({day for day, *_ in house.store.counters.since()})
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
        assert house.store.spool_receipts.all() == []

    def test_killed_inside_the_transaction(
        self, house: House, story: Story, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        story.starts().prompts("go").ends()

        def dying(*_: object) -> None:
            raise Killed

        with monkeypatch.context() as patch:
            patch.setattr(type(house.store.spool_receipts), "add", dying)
            with pytest.raises(Killed):
                drained(house)
        assert house.store.listings.table_counts()["events"] == 0
        assert len(house.spooled()) == 3
        drained(house)
        assert kinds(house, story) == ["session_started", "prompt", "session_ended"]

    def test_a_trailer_written_after_the_folder_was_listed_still_gives_the_right_receipt(
        self, house: House, story: Story, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Otherwise a kill right then would store the session's start twice."""
        story.starts()
        (path,) = house.home.spool.iterdir()
        real = spool.spool_entries

        def early(folder: str, *rest: Any) -> list[spool.Entry]:
            found = real(folder, *rest)
            for entry in found:  # as it was a moment ago, without its trailer
                entry.size -= 1
                entry.mtime_ns -= 5_000_000
            return found

        with monkeypatch.context() as patch:
            patch.setattr(spool, "spool_entries", early)
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
        assert len(house.store.spool_receipts.all()) <= 100
        drained(house)
        assert house.store.spool_receipts.all() == []

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

    def test_four_processes_times_25_hooks_give_100_whole_events(self, house: House, story: Story) -> None:
        """MEMORIA-4: each hook has a file of its own, so what comes at the same time never mixes."""
        house.installs()
        code = """
import json, subprocess, sys
command, writer, payload = sys.argv[1:3] + [json.loads(sys.argv[3])]
for n in range(25):
    lines = "".join(f"{writer}-{n} line {i}\\n" for i in range(2_000))
    payload |= {"tool_use_id": f"{writer}-{n}", "tool_response": lines}
    subprocess.run(["sh", "-c", command], input=json.dumps(payload).encode(), check=True)
"""
        payload = json.dumps(story.payload("PostToolUse", tool_name="Bash", tool_input={"command": "make"}))
        command = house.command("PostToolUse")
        writers = [
            subprocess.Popen([sys.executable, "-c", code, command, name, payload], cwd="/") for name in "abcd"
        ]
        assert [writer.wait(120) for writer in writers] == [0] * 4
        drained(house)
        bodies = [json.loads(house.store.events.payload(e.id) or b"null") for e in house.stored(story)]
        names = [body["tool_use_id"] for body in bodies]
        assert sorted(names) == sorted(f"{writer}-{n}" for writer in "abcd" for n in range(25))
        for name, body in zip(names, bodies, strict=True):
            assert body["tool_response"].splitlines() == [f"{name} line {i}" for i in range(2_000)]
        assert [house.counter(name) for name in ("stored", "duplicate", "quarantined")] == [100, 0, 0]


class TestWork:
    def jobs(self, house: House) -> list[tuple[str, str]]:
        return [(job.kind, job.state) for job in house.store.jobs.all()]

    def test_a_stop_and_the_next_prompt_ask_for_one_piece_of_work(self, house: House, story: Story) -> None:
        """CCE-10, CCE-12."""
        story.prompts("one").stops("Done.").prompts("two")
        drained(house)
        assert self.jobs(house).count(("distil", "waiting")) == 1
        house.works()
        assert house.left() == {"done"}
        story.prompts("two", prompt_id=story.payload("x")["prompt_id"])  # delivered twice
        drained(house)
        assert house.counter("duplicate") == 1
        assert house.left() == {"done"}

    def test_two_ends_ask_for_one_rollup(self, house: House, story: Story) -> None:
        """CCE-13."""
        story.prompts("one").ends().ends()
        drained(house)
        assert self.jobs(house).count(("distil", "waiting")) == 1

    def test_the_end_of_a_session_nobody_knows_makes_no_session(self, house: House, story: Story) -> None:
        """CMEM-10, CMEM-9: there is nothing to end, and nothing else is ended."""
        other = house.session().starts().prompts("at work")
        story.ends("logout")
        house.works()
        assert house.store.events.session(story.id) is None
        assert house.row(other).status is SessionStatus.ACTIVE
        assert house.spooled() == []
        story.prompts("now it is known").ends("logout")
        house.works()
        assert house.row(story).end_reason == "logout"

    def test_an_end_alone_still_brings_in_what_the_transcript_holds(self, house: House) -> None:
        """The hooks were installed while the session ran."""
        story = house.told()
        story._line("user", {"role": "user", "content": "count the whales"}, promptId="p1")
        story.ends("logout")
        house.works()
        assert house.row(story).end_reason == "logout"
        assert "count the whales" in [event.text for event in house.events(story)]
