"""What only the agent's own transcript knows meets what hooks have told, in the same rows."""

import json
import logging
import os
from pathlib import Path

import pytest

from backstory.agents.claude_transcript import Reader
from backstory.capture import live_transcript
from backstory.capture.history_reader import SPENT
from backstory.capture.privacy import Privacy
from backstory.model import Kind
from backstory.settings import Settings
from backstory.store.records import Mark
from tests.story import House, Story


def texts(house: House, story: Story, kind: Kind = Kind.SAID) -> list[str]:
    return [e.text for e in house.events(story) if e.kind is kind]


def catch_up(house: House, story: Story) -> int:
    return live_transcript.catch_up(house.store, house.row(story), Privacy(Settings()))


@pytest.fixture
def story(house: House) -> Story:
    return house.told()


def test_words_said_in_mid_turn_come_from_the_transcript_and_stand_where_they_were_said(
    house: House, story: Story
) -> None:
    story.starts().prompts("fix it").says("Let me look.").runs("pytest", fails="1 failed")
    story.says("I see.").edits("auth.py").stops("Fixed.")
    house.works()
    assert [(e.kind.value, e.text[:12]) for e in house.events(story) if e.kind in (Kind.SAID, Kind.TOOL)] == [
        ("said", "Let me look."), ("tool", "1 failed"), ("said", "I see."), ("tool", "- x = 1\n+ x "), ("said", "Fixed."),
    ]  # fmt: skip
    assert house.counter("duplicate") == 0


def test_reading_it_again_and_again_adds_nothing(house: House, story: Story) -> None:
    story.starts().prompts("one").says("hm").runs("make", "ok").stops("Done.").compacts("so far").ends()
    house.works()
    before = [(e.id, e.turn, e.event) for e in house.stored(story)]
    for _ in range(3):
        with house.store.transaction():
            house.store.transcript_marks.set(str(story.transcript), Mark(story.id, 0, 0), 1)
        assert catch_up(house, story) == 0
    assert [(e.id, e.turn, e.event) for e in house.stored(story)] == before


def test_only_the_turn_that_goes_on_is_read_again(
    house: House, story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(20):
        story.prompts(f"ask {n}").says(f"thought {n}").stops(f"answer {n}")
    house.works()
    mark = house.store.transcript_marks.get(str(story.transcript))
    assert story.transcript is not None
    assert mark is not None
    assert mark.size == story.transcript.stat().st_size
    rest = story.transcript.read_bytes()[mark.offset :]
    assert b"ask 19" in rest
    assert b"ask 18" not in rest
    story.says("one more thing").stops("really done")
    read = []
    feed = Reader.feed
    monkeypatch.setattr(Reader, "feed", lambda self, data: (read.append(data), feed(self, data))[1])  # type: ignore[func-returns-value]
    house.works()
    assert len(read) <= 8
    assert texts(house, story)[-2:] == ["one more thing", "really done"]


def test_words_without_any_id_are_not_doubled_by_reading_their_turn_again(house: House, story: Story) -> None:
    """An older client gives its prompts no ids: what was read before is read again, and not stored again."""
    story.prompts("go").says("hm").says("hm").stops("Done.")
    assert story.transcript is not None

    def without_ids() -> None:
        rows = [json.loads(line) for line in story.transcript.read_text().splitlines()]  # type: ignore[union-attr]
        lines = [json.dumps({k: v for k, v in row.items() if k != "promptId"}) + "\n" for row in rows]
        story.transcript.write_text("".join(lines))  # type: ignore[union-attr]

    without_ids()
    for name in house.spooled():
        path = house.home.spool / name
        data = json.loads(path.read_bytes()[:-1])
        data.pop("prompt_id", None)
        stat = path.stat()
        path.write_bytes(json.dumps(data).encode() + b"\x1e")
        os.utime(path, ns=(stat.st_mtime_ns, stat.st_mtime_ns))
    house.works()
    before = texts(house, story)
    assert before.count("hm") == 2
    for _ in range(2):
        with story.transcript.open("a") as file:
            file.write('{"type": "mode", "mode": "normal"}\n')
        catch_up(house, story)
    assert texts(house, story) == before


def test_five_hundred_turns_three_compactions_and_one_end_give_every_turn_once(
    house: House, story: Story
) -> None:
    """CM-45, with everything that hooks tell and everything that the transcript tells."""
    story.starts()
    for n in range(500):
        story.prompts(f"ask {n}").says(f"thinking about {n}").runs(f"make {n}", "ok").stops(f"answer {n}")
        if n in (99, 250, 400):
            story.compacts(f"summary {n}")
            house.works()
    story.ends()
    house.works()
    assert texts(house, story, Kind.PROMPT) == [f"ask {n}" for n in range(500)]
    assert texts(house, story) == [f"{what} {n}" for n in range(500) for what in ("thinking about", "answer")]
    assert [e.target for e in house.events(story) if e.kind is Kind.TOOL] == [f"make {n}" for n in range(500)]
    assert texts(house, story, Kind.COMPACTED) == ["summary 99", "summary 250", "summary 400"]
    turns = [e.turn for e in house.stored(story) if e.event.kind is Kind.TURN_ENDED]
    assert turns == list(range(1, 501))
    assert house.row(story).prompt_count == 500


def test_a_session_that_hooks_missed_half_of_is_completed(house: House, story: Story) -> None:
    story.starts().prompts("first").runs("ls", "auth.py").stops("One.")
    for name in house.spooled():
        if "SessionStart" not in name:
            (house.home.spool / name).unlink()
    story.prompts("second").runs("make", "ok").stops("Two.")
    house.works()
    assert texts(house, story, Kind.PROMPT) == ["first", "second"]
    assert texts(house, story) == ["One.", "Two."]
    assert [e.target for e in house.events(story) if e.kind is Kind.TOOL] == ["ls", "make"]
    by_turn = {e.event.text: e.turn for e in house.stored(story) if e.event.kind in (Kind.PROMPT, Kind.SAID)}
    assert by_turn["first"] == by_turn["One."] != by_turn["second"] == by_turn["Two."]


def test_malformed_lines_are_skipped_and_said_so(
    house: House, story: Story, caplog: pytest.LogCaptureFixture
) -> None:
    story.prompts("go").says("before")
    assert story.transcript is not None
    with story.transcript.open("ab") as file:
        file.write(b'{"type": "assistant", "message": {"ro\n\n\xff\xfe\n[1]\n')
    story.says("after").stops("Done.")
    with caplog.at_level(logging.WARNING):
        house.works()
    assert texts(house, story) == ["before", "after", "Done."]
    assert "3 lines could not be read" in caplog.text


def test_a_line_that_is_still_being_written_is_read_when_it_is_whole(house: House, story: Story) -> None:
    story.prompts("go").stops("Done.")
    assert story.transcript is not None
    whole = story.transcript.read_bytes()
    line = json.dumps(
        {"type": "assistant", "uuid": "u9", "message": {"role": "assistant", "content": "late words"}}
    ).encode()
    story.transcript.write_bytes(whole + line[:30])
    house.works()
    assert texts(house, story) == ["Done."]
    story.transcript.write_bytes(whole + line + b"\n")
    catch_up(house, story)
    assert "late words" in texts(house, story)


def test_a_transcript_that_was_written_anew_is_read_from_its_start(house: House, story: Story) -> None:
    story.prompts("one").says("a long thought " * 20).stops("Done.").prompts("two").says("more " * 99).stops(
        "Ok."
    )
    house.works()
    assert story.transcript is not None
    mark = house.store.transcript_marks.get(str(story.transcript))
    assert mark is not None
    assert mark.offset > 0
    story.transcript.unlink()
    story.prompts("three").says("fresh").stops("Short.")
    house.works()
    assert texts(house, story)[-2:] == ["fresh", "Short."]
    assert texts(house, story, Kind.PROMPT) == ["one", "two", "three"]


def test_killed_between_storing_and_marking_nothing_is_lost_or_doubled(
    house: House, story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    story.prompts("go").says("hm").stops("Done.")

    def dying(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(type(house.store.transcript_marks), "set", dying)
        with pytest.raises(KeyboardInterrupt):
            house.works()
    assert texts(house, story) == ["Done."]
    house.works()
    assert texts(house, story) == ["hm", "Done."]


def test_it_can_be_switched_off(house: House, story: Story) -> None:
    house.sets("capture.transcripts", "off")
    story.prompts("go").says("hm").stops("Done.")
    house.works()
    assert texts(house, story) == ["Done."]


def test_skipped_tools_and_ignored_folders_stay_out_of_it_too(
    house: House, story: Story, tmp_path: Path
) -> None:
    house.sets("capture.skip_tools", "Todo*")
    house.sets("privacy.ignore_projects", f"{tmp_path}/secret")
    story.prompts("go").uses("TodoWrite", {"todos": ["x"]}, "ok").uses(
        "mcp__backstory__search", {"q": "x"}, "memory"
    )
    story.cwd = f"{tmp_path}/secret"
    story.says("nobody may know").runs("ls", "hidden")
    story.cwd = str(house.project)
    story.stops("Done.")
    house.works()
    assert [(e.kind, e.text) for e in house.events(story)] == [
        (Kind.PROMPT, "go"), (Kind.SAID, "Done."), (Kind.TURN_ENDED, ""),
    ]  # fmt: skip


def test_an_open_call_of_a_session_that_is_over_was_interrupted(house: House, story: Story) -> None:
    story.prompts("go").runs("sleep 100", "never")
    assert story.transcript is not None
    lines = story.transcript.read_bytes().splitlines(keepends=True)
    story.transcript.write_bytes(b"".join(lines[:-1]))  # killed before the result came
    for name in house.spooled():
        if "PostToolUse" in name:
            (house.home.spool / name).unlink()
    story.ends()
    house.works()
    (call,) = [e for e in house.events(story) if e.kind is Kind.TOOL]
    assert (call.target, call.outcome) == ("sleep 100", "interrupted")


def test_sub_agents_and_agents_without_history_are_not_read(house: House, story: Story) -> None:
    child = story.prompts("go").delegates()
    child.runs("ls", "x").stops("Found.")
    codex = house.session(agent="codex").prompts("hi").stops("Hello.")
    house.works()
    assert catch_up(house, child) == 0
    assert texts(house, codex) == ["Hello."]


def test_the_store_is_asked_for_the_project_once(
    house: House, story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(50):
        story.prompts(f"ask {n}").says("hm").stops("Done.")
    house.works()
    asked: list[str] = []
    projects = type(house.store.projects)
    get = projects.get

    def noted(self: object, project_id: str) -> object:
        asked.append(project_id)
        return get(self, project_id)  # type: ignore[arg-type]

    with house.store.transaction():
        house.store.transcript_marks.set(str(story.transcript), Mark(story.id, 0, 0), 1)
    monkeypatch.setattr(projects, "get", noted)
    catch_up(house, story)
    assert len(asked) == 1


def test_tokens_that_the_agent_wrote_down_are_counted_once(house: House, story: Story) -> None:
    """A message has a line for each of its blocks, and each line says what the whole message took."""
    story.starts().prompts("fix it").says("Let me look.")
    usage = {
        "input_tokens": 40,
        "cache_creation_input_tokens": 2,
        "cache_read_input_tokens": 900,
        "output_tokens": 8,
    }
    for message in ("m1", "m1", "m2"):
        row = {"type": "assistant", "message": {"id": message, "content": "Hm.", "usage": usage}}
        with Path(str(story.transcript)).open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
    for _ in range(2):
        story.runs("make", "ok").stops("Done.")
        house.works()
    assert house.store.counters.by_agent(SPENT, "") == {"claude-code": 100}
