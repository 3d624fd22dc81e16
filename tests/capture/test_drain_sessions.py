"""Which session a drained event belongs to, what is passed over, and what a session was told."""

import json
from pathlib import Path
from typing import Any

import pytest

from backstory.hook import spool
from backstory.hook.project_identity import session_id
from backstory.model import Kind, Outcome, SessionStatus
from tests.story import House, Story

from . import draining
from .draining import drained, kinds, quarantined

story, quiet_git = draining.story, draining.quiet_git


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
        assert house.store.listings.table_counts()["sessions"] == 1
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
