"""What a spool file may hold: anything. None of it is lost, and none of it holds up the rest."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from backstory.hook import pending_events
from backstory.hook.__main__ import answer_hook
from backstory.hook.project_identity import resolve_place
from tests.story import House, Story

from . import draining
from .draining import drained, kinds, quarantined

story, quiet_git = draining.story, draining.quiet_git


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
        (b'{"a": ' * 200_000 + b"1" + b"}" * 200_000, "nested too deeply"),
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
        assert house.store.listings.table_counts()["sessions"] == 1
        (row,) = house.store.events.sessions()
        assert len(row.native_id) < 250
        assert row.prompt_count == 1
        assert {p for p in tmp_path.rglob("*") if house.home.root not in p.parents} == before
        names = [p.name for p in house.home.root.rglob("*")]
        assert not any("passwd" in name or "evil" in name or ".." in name for name in names)

    @pytest.mark.parametrize("session", ["../x", "a/b", "x" * 10_000, "two\nlines", "\u202eid", "a b"])
    def test_spool_store_and_brief_mean_the_same_session_by_a_foreign_id(
        self, house: House, session: str
    ) -> None:
        """MEMORIA-32: what waits, what is stored and what a resumed session knows of itself meet."""
        story = house.session(session=session).starts().prompts("Fix the discount").stops("Fixed it.")
        house.works()
        (row,) = house.store.events.sessions()
        place = resolve_place(str(house.project))
        story.prompts("And the tax")
        (waiting,) = pending_events.pending_sessions(str(house.home.spool), place, {}, frozenset())
        assert waiting.id == row.id
        assert pending_events.pending_sessions(str(house.home.spool), place, {}, frozenset({row.id})) == []
        told = house.brief(source="resume", story=story)
        assert "Fix the discount" not in told.text, "it knows what it did itself"
        assert "Fix the discount" in house.brief(source="compact", story=story).text

    @pytest.mark.parametrize("session", [17, None, ["x"], {"a": 1}, True, ""])
    def test_what_is_no_id_gets_a_brief_but_no_receipt(self, house: House, session: Any) -> None:
        house.session().starts().prompts("Fix the discount").stops("Fixed it.").ends()
        house.works()
        payload = {"session_id": session, "cwd": str(house.project), "source": "startup"}
        told = answer_hook(str(house.home.root), "claude-code", "SessionStart", json.dumps(payload).encode())
        assert "Fix the discount" in told
        assert house.spooled() == [], "a receipt of nobody's would end in quarantine"

    def test_two_foreign_ids_that_begin_alike_are_two_sessions(self, house: House) -> None:
        for end in "ab":
            house.session(session="../" + "x" * 5_000 + end).prompts("go")
        drained(house)
        assert house.store.listings.table_counts()["sessions"] == 2

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
        assert house.left() == {"done"}
