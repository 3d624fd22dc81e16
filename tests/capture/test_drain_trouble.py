"""The drain and whatever breaks beside it: readers, the store, hooks that died, strangers in the spool."""

import json
import os
import time
from dataclasses import replace
from typing import Any

import pytest

from backstory.agents import AGENTS
from backstory.capture import drain as drain_module
from backstory.capture.spool_state import UNFINISHED_SECONDS, has_waiting_files
from backstory.errors import StoreUnusable
from backstory.hook import spool
from backstory.model import Event, Kind
from tests.story import House, Story

from . import draining
from .draining import drain, drained, quarantined

story, quiet_git = draining.story, draining.quiet_git

OLD = (UNFINISHED_SECONDS + 30) * 10**9


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

    def test_a_payload_is_taken_whole_or_not_at_all(
        self, house: House, story: Story, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A Stop holds what the agent said and the end of the turn; the second one fails."""
        placed = drain_module.Drain._placed

        def breaks(self: Any, event: Event, body: str) -> Event:
            if event.kind is Kind.TURN_ENDED:
                raise OverflowError("nobody thought of this")
            return placed(self, event, body)

        monkeypatch.setattr(drain_module.Drain, "_placed", breaks)
        story.prompts("before").stops("All is done.").prompts("after")
        drained(house)
        assert [e.text for e in house.events(story)] == ["before", "after"]
        assert quarantined(house) == ["OverflowError when it was read"]

    def test_a_payload_that_breaks_the_store_does_not_stop_the_others(
        self, house: House, story: Story, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        events = type(house.store.events)
        insert = events._insert

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
        assert not has_waiting_files(house.home)
        assert house.counter("quarantined") == 0
        old = time.time_ns() - OLD
        os.utime(path, ns=(old, old))
        assert has_waiting_files(house.home)
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
        assert has_waiting_files(house.home)
        for _ in drain(house).batches():
            pass  # killed before they were removed
        drained(house)
        assert (house.counter("failed"), house.counter("not_woken")) == (1, 1)
        assert house.spooled() == []
        assert not has_waiting_files(house.home)

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
