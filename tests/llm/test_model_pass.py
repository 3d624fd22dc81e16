"""From a session to what a model adds: new text only, in parts, merged with what the rules observed."""

import json
import logging
import socket
from typing import Any

import pytest

from backstory import clock
from backstory.app import App
from backstory.distil.operations import SCHEMA
from backstory.llm.prices import token_estimate
from backstory.model import Act, Memory, MemoryKind, MemoryStatus, Tier
from backstory.store.records import Filters
from tests.agents.model import Model
from tests.llm.conftest import Asking, a_session, line_with, saying
from tests.story import House

STREAMS: dict[str, Any] = {"kind": "fact", "text": "The importer streams its rows one by one"}


def by_line(words: str, **claim: Any) -> Any:
    """An answer that cites the line with these words, wherever it stands in the log."""
    return lambda log: saying({**claim, "lines": [line_with(log, words)]})


class TestOffByDefault:
    def test_nothing_is_sent_and_nothing_is_asked_for(self, house: House, asking: Asking) -> None:
        house.sets("model.provider", "off")
        story = a_session(house)
        assert asking.asks() == 0
        assert asking.model.requests == []
        assert [job.kind for job in house.store.jobs.all() if job.kind == "refine"] == []
        assert house.store.memories.of_session(story.id), "the rules need no model"

    def test_only_redacted_text_is_sent(self, house: House, asking: Asking) -> None:
        secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
        story = a_session(house, over=False)
        story.prompts(f"The token is {secret}, and <private>my name is Ada</private>").stops("Noted.").ends()
        asking.asks()
        assert asking.model.requests
        sent = json.dumps([request.body for request in asking.model.requests])
        assert "The token is" in sent
        assert secret not in sent
        assert "Ada" not in sent


class TestChangedMeanwhile:
    """What a person sets holds for the next request of a worker that is asking already."""

    @pytest.mark.parametrize(
        ("key", "value"),
        [("model.provider", "off"), ("model.call_tokens", "0"), ("model.day_tokens", "0")],
    )
    def test_turned_off_after_the_first_request_there_is_no_second(
        self, house: House, asking: Asking, key: str, value: str
    ) -> None:
        for _ in range(3):
            a_session(house)

        def answer(log: str) -> str:
            house.sets(key, value)
            return saying(STREAMS)

        asking.model.aside("Log:", answer)
        assert asking.asks() == 1
        assert len(asking.model.requests) == 1
        waits = [job for job in house.store.jobs.all("waiting") if job.kind == "refine"]
        if value == "off":
            assert [job.attempts for job in waits] == [0, 0], "nothing failed"
            house.sets(key, "openai")
            asking.answers(STREAMS)
            assert asking.asks() == 2, "turned on again, it goes on"

    @pytest.mark.parametrize(
        ("key", "value"), [("model.provider", "off"), ("model.call_tokens", "0"), ("model.day_tokens", "0")]
    )
    def test_an_answer_that_cannot_be_used_is_not_mended_then(
        self, house: House, asking: Asking, key: str, value: str
    ) -> None:
        """The second request about the same session is held against the settings, too."""
        a_session(house)

        def answer(log: str) -> str:
            house.sets(key, value)
            return "I would rather talk about it."

        asking.model.aside("Log:", answer)
        assert asking.asks() == 0
        assert len(asking.model.requests) == 1

    def test_another_address_gets_what_is_sent_from_then_on(
        self, house: House, asking: Asking, model: Model
    ) -> None:
        for _ in range(2):
            a_session(house)
        other = Model(socket.create_server(("127.0.0.1", 0)))
        other.aside("Log:", saying(STREAMS))

        def answer(log: str) -> str:
            house.sets("model.url", f"{other.url}/v1")
            return saying(STREAMS)

        asking.model.aside("Log:", answer)
        try:
            assert asking.asks() == 2
            assert (len(asking.model.requests), len(other.requests)) == (1, 1)
        finally:
            other.close()

    def test_status_says_that_a_request_is_still_open(self, house: House, asking: Asking) -> None:
        a_session(house)
        lines = []

        def answer(log: str) -> str:
            with App(house.home) as app:
                lines.append(app.status().spending.line.rpartition("; ")[2])
            house.sets("model.provider", "off")
            with App(house.home) as app:
                lines.append(app.status().spending.line)
            return saying(STREAMS)

        asking.model.aside("Log:", answer)
        asking.asks()
        assert lines == ["1 under way", "off: nothing is sent, but 1 sent before is not answered yet"]
        with App(house.home) as app:
            assert app.status().spending.line == "off: nothing is sent"


class TestAnswers:
    def test_what_a_model_says_is_a_memory_with_its_evidence(self, house: House, asking: Asking) -> None:
        story = a_session(house)
        claim = {**STREAMS, "reason": "The whole file did not fit into memory"}
        asking.model.aside("Log:", by_line("changed", **claim))
        assert asking.asks() == 1
        (memory,) = asking.learned(story)
        assert (memory.text, memory.kind, memory.tier) == (STREAMS["text"], MemoryKind.FACT, Tier.MODEL)
        assert memory.reason == claim["reason"]
        assert memory.made_by == "t2.3 scripted-small"
        (source,) = [e for e in house.stored(story) if e.id in memory.sources]
        assert source.event.target.endswith("importer.py")
        assert "streams its rows" in house.brief().text

    def test_the_schema_is_asked_for_and_the_model_is_the_one_that_was_set(
        self, house: House, asking: Asking
    ) -> None:
        """MEMORIA-18: explicit and configurable."""
        a_session(house)
        asking.answers()
        asking.asks()
        (request,) = asking.model.requests
        assert request.body["model"] == "scripted-small"
        assert request.body["response_format"]["json_schema"]["strict"]
        assert request.body["max_tokens"] == 1_500

    def test_nothing_worth_saving_changes_nothing_that_anybody_sees(
        self, house: House, asking: Asking
    ) -> None:
        """CM-15."""
        story = a_session(house)
        house.works()
        before, told = house.store.memories.of_session(story.id), house.brief().text
        asking.answers()
        assert asking.asks() == 1
        assert house.store.memories.of_session(story.id) == before
        assert house.brief().text == told
        assert asking.asks() == 0, "and it is not asked again"

    def test_too_little_is_not_worth_a_call(self, house: House, asking: Asking) -> None:
        house.session().prompts("hello").stops("Hello!").ends()
        assert asking.asks() == 0
        assert asking.model.requests == []

    def test_every_step_can_be_looked_at(self, house: House, asking: Asking) -> None:
        """CMEM-3: what finalised the work, the model's answer, the parse and the insert."""
        a_session(house)
        asking.answers(STREAMS)
        asking.asks()
        (call,) = asking.calls()
        assert None not in (call.answered_at, call.parsed_at, call.stored_at)
        times = [call.finalized_at, call.asked_at, call.answered_at, call.parsed_at, call.stored_at]
        assert times == sorted(times, key=lambda at: at or 0)
        assert (call.purpose, call.outcome, call.provider, call.model) == (
            "distil", "ok", "openai", "scripted-small",
        )  # fmt: skip
        assert (call.tokens_in, call.tokens_out, call.cost) == (100, 20, 200)


class TestNewTextOnly:
    def test_what_was_read_is_never_sent_again(self, house: House, asking: Asking) -> None:
        """CMEM-25: in batches; N stops cost the new text, not N times all of it."""
        house.sets("model.batch_turns", "2")
        story = a_session(house, over=False)
        asking.answers()
        assert asking.asks() == 1
        for number in (1, 2):
            story.prompts(f"Question {number} about the export: " + "why is it so slow? " * 20)
            story.stops("Because it is not streamed yet. " * 10)
        assert asking.asks() == 1
        assert "nightly run takes an hour" in asking.log(0)
        assert "nightly run takes an hour" not in asking.log(1)
        assert "Question 1" in asking.log(1)
        assert "Question 2" in asking.log(1)

    def test_a_running_session_waits_until_its_turns_are_worth_a_call(
        self, house: House, asking: Asking
    ) -> None:
        house.sets("model.batch_turns", "3")
        story = a_session(house, over=False)
        assert asking.asks() == 0
        story.prompts("A third question, which is still being worked on").runs("make", "ok")
        assert asking.asks() == 0, "its turn is not over"
        story.stops("Done.")
        asking.answers()
        assert asking.asks() == 1
        assert "third question" in asking.log()

    def test_what_comes_in_late_does_not_hide_what_is_still_running(
        self, house: House, asking: Asking
    ) -> None:
        """A transcript's words get a high number at an early time."""
        house.sets("model.batch_turns", "1")
        asking.answers()
        story = house.told().starts().prompts("Explain the cache " + "in every detail " * 30)
        story.says("Let me look at the ring first, because it is small.").runs("make cache", "ok").stops(
            "It is a ring. " * 30
        )
        story.prompts("Now shrink it " + "carefully " * 50).runs("make shrink", "ok")
        house.works()  # reads the transcript: the first turn's words come after the second prompt
        assert asking.refine().run() == 1
        assert "Let me look at the ring" in asking.log()
        assert "shrink" not in asking.log()
        story.stops("Shrunk to half of its size.").ends()
        asking.asks()
        assert "Now shrink it" in asking.log()
        assert "Shrunk to half" in asking.log()

    def test_a_long_session_is_one_call_that_fits_and_keeps_the_goal_and_the_end(
        self, house: House, asking: Asking
    ) -> None:
        house.sets("model.call_tokens", "4000")
        story = house.session().starts()
        for number in range(40):
            story.prompts(f"Step {number}: " + "do the next thing with care " * 12)
            story.stops(f"Finished step {number}. " + "It went as planned. " * 12)
        story.ends()
        asking.answers()
        assert asking.asks() == 1
        for number in (0, 39):
            assert f"user: Step {number}:" in asking.log()
        assert "user: Step 1:" not in asking.log()
        assert asking.asks() == 0, "what was left out is not asked about later"
        (request,) = asking.model.requests
        sent = (*(each["content"] for each in request.body["messages"]), json.dumps(SCHEMA))
        assert token_estimate(*sent) + 1_500 <= 4_000

    def test_a_session_in_another_script_fits_and_is_read(self, house: House, asking: Asking) -> None:
        """Where a character takes a token, as many characters are three times as much."""
        story = house.session().starts()
        for number in range(40):
            story.prompts(f"手順{number}: " + "取り込みを速くしてください。理由も説明してください。" * 8)
            story.stops(f"手順{number}が終わりました。" + "予定どおりに動いています。次に進みます。" * 12)
        story.ends()
        asking.answers()
        assert asking.asks() == 1
        assert "手順0:" in asking.log()
        assert "手順39" in asking.log()
        (request,) = asking.model.requests
        sent = (*(each["content"] for each in request.body["messages"]), json.dumps(SCHEMA))
        assert token_estimate(*sent) <= 5_500

    def test_a_rebuild_makes_the_same_memories_and_spends_nothing(self, house: House, asking: Asking) -> None:
        """DESIGN.md, rule 8."""
        story = a_session(house)
        asking.model.aside("Log:", by_line("changed", **STREAMS))
        asking.asks()
        before = house.store.memories.of_session(story.id)
        house.rebuilds()
        assert house.store.memories.of_session(story.id) == before
        assert asking.refine().run() == 0
        assert len(asking.model.requests) == 1

    def test_a_rebuild_of_what_no_model_has_read_asks_for_nothing(self, house: House, asking: Asking) -> None:
        house.sets("model.provider", "off")
        a_session(house)
        house.works()
        house.sets("model.provider", "openai")
        house.rebuilds()
        assert asking.refine().run() == 0
        assert asking.model.requests == []


class TestMerging:
    def test_what_cites_nothing_is_proposed_and_told_to_nobody(self, house: House, asking: Asking) -> None:
        story = a_session(house)
        asking.answers({"kind": "decision", "text": "The team moves to Kafka next year"})
        asking.asks()
        assert asking.learned(story) == []
        assert "Kafka" not in house.brief().text
        assert house.store.passages.search(['"kafka"'], None, 5, Filters()) == []
        with App(house.home) as app:
            (proposed,) = app.memories([MemoryKind.DECISION], [MemoryStatus.PROPOSED])
            assert "cites nothing" in proposed.detail
            app.judge(proposed.id, Act.CONFIRM)
        assert [m.text for m in asking.learned(story)] == ["The team moves to Kafka next year"]
        house.rebuilds()
        assert [m.text for m in asking.learned(story)] == ["The team moves to Kafka next year"]

    @pytest.mark.parametrize(
        ("text", "doubt"),
        [
            ("The fix is in `exporter_v2.py`", "does not have exporter_v2.py"),
            ("Run it with --turbo", "does not have --turbo"),
        ],
    )
    def test_files_commands_and_outcomes_stay_those_observed(
        self, house: House, asking: Asking, text: str, doubt: str
    ) -> None:
        story = a_session(house)
        asking.model.aside("Log:", by_line("FAILED", kind="fact", text=text))
        asking.asks()
        assert asking.learned(story) == []
        with App(house.home) as app:
            (proposed,) = app.memories([MemoryKind.FACT], [MemoryStatus.PROPOSED])
        assert doubt in proposed.detail

    def test_files_are_those_that_the_cited_events_changed(self, house: House, asking: Asking) -> None:
        story = a_session(house)
        asking.model.aside("Log:", by_line("changed", **STREAMS, files=["/etc/passwd"]))
        asking.asks()
        (memory,) = asking.learned(story)
        assert [file.rpartition("/")[2] for file in memory.files] == ["importer.py"]

    def test_a_wish_of_the_user_rests_on_words_of_the_user(self, house: House, asking: Asking) -> None:
        """DESIGN.md, rule 11."""
        story = a_session(house)
        asking.model.aside(
            "Log:", by_line("agent: The importer", kind="preference", text="Always answers in verse")
        )
        asking.asks()
        assert asking.learned(story) == []
        assert "verse" not in house.brief().text

    def test_what_contradicts_an_observed_outcome_is_refused(self, house: House, asking: Asking) -> None:
        story = a_session(house)
        text = "`pytest -q tests/test_importer.py` passes"
        asking.model.aside("Log:", by_line("FAILED", kind="fact", text=text))
        asking.asks()
        assert asking.learned(story) == []
        with App(house.home) as app:
            assert app.memories([MemoryKind.FACT], [MemoryStatus.PROPOSED]) == []

    def told(self, house: House, like: Memory) -> list[str]:
        """The decisions about the same that the project tells."""
        decided = house.store.memories.of_project(like.project_id, [MemoryKind.DECISION], 9)
        return [memory.id for memory in decided if "CSV" in memory.text]

    def test_what_the_rules_have_said_gives_way_to_the_better_sentence(
        self, house: House, asking: Asking
    ) -> None:
        story = a_session(house)
        house.works()
        found = house.store.memories.of_session(story.id)
        decided, *_ = [m for m in found if m.kind is MemoryKind.DECISION and "CSV" in m.text]
        asking.model.aside(
            "Log:",
            by_line(
                "CSV as the only",
                kind="decision",
                text="We keep CSV as the only input format, since the bank sends nothing else",
            ),
        )
        asking.asks()
        (better,) = asking.learned(story)
        assert self.told(house, better) == [better.id]
        assert house.store.memories.memory(decided.id) is not None, "it stays, as evidence"
        assert decided.id not in {memory.id for memory in house.store.memories.of_session(story.id)}
        with App(house.home) as app:
            app.judge(better.id, Act.REJECT)
        house.rebuilds()
        assert self.told(house, better) == [decided.id], "rejected, it leaves its place"

    def test_what_was_rejected_stays_rejected_also_in_other_words(self, house: House, asking: Asking) -> None:
        story = a_session(house)
        asking.model.aside("Log:", by_line("changed", **STREAMS))
        asking.asks()
        (memory,) = asking.learned(story)
        with App(house.home) as app:
            app.judge(memory.id, Act.REJECT)
        house.rebuilds()
        assert asking.learned(story) == []
        again = a_session(house)
        reworded = "Its rows are streamed by the importer, one by one"
        asking.model.aside("Log:", by_line("changed", kind="fact", text=reworded))
        asking.asks()
        assert asking.learned(story) == asking.learned(again) == []

    def test_what_a_model_says_is_redacted_too(self, house: House, asking: Asking) -> None:
        secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
        a_session(house)
        asking.model.aside("Log:", by_line("changed", kind="fact", text=f"The token {secret} opens it"))
        asking.asks()
        assert house.found_in_home(secret) == []


class TestForgetting:
    def test_what_models_said_goes_with_the_session(self, house: House, asking: Asking) -> None:
        """DESIGN.md, rule 10: a byte search over the home finds nothing."""
        story = a_session(house)
        asking.model.aside("Log:", by_line("changed", kind="fact", text="Xylophones sort the rows"))
        asking.asks()
        assert house.found_in_home("Xylophones")
        with App(house.home) as app:
            app.forget(app.wanted([story.id]), really=True)
        assert house.found_in_home("Xylophones") == []
        assert asking.calls()[0].tokens_in == 100, "what was spent stays spent"

    def test_what_models_said_goes_with_a_single_memory(self, house: House, asking: Asking) -> None:
        story = a_session(house)
        asking.model.aside("Log:", by_line("changed", kind="fact", text="Xylophones sort the rows"))
        asking.asks()
        (memory,) = asking.learned(story)
        with App(house.home) as app:
            app.forget(app.wanted([memory.id]), really=True)
        assert house.found_in_home("Xylophones") == []

    def test_an_export_takes_answers_along(self, house: House, asking: Asking) -> None:
        a_session(house)
        asking.answers(STREAMS)
        asking.asks()
        with App(house.home) as app:
            tables = {json.loads(line).get("table") for line in app.export_lines(None, 0, 2**62)}
        assert {"model_answers", "model_calls"} <= tables


class TestManyEvents:
    def test_a_session_beyond_the_cap_is_captured_but_no_longer_read(
        self, house: House, asking: Asking, caplog: pytest.LogCaptureFixture
    ) -> None:
        """CMEM-22, CMEM-23."""
        house.sets("model.session_events", "20")
        story = house.session().prompts("Try every port " + "with patience " * 40)
        for port in range(30):
            story.runs(f"nc -z localhost {port}", "closed")
        story.stops("All are closed.").ends()
        with caplog.at_level(logging.WARNING):
            asking.asks()
        assert asking.model.requests == []
        assert "more than model.session_events (20)" in caplog.text
        assert len([e for e in house.events(story) if e.tool == "Bash"]) == 30
        assert house.store.memories.of_session(story.id)


def test_a_provider_that_is_switched_on_does_not_read_what_was_imported(house: House, asking: Asking) -> None:
    house.sets("model.provider", "off")
    story = a_session(house)
    house.works()
    house.sets("model.provider", "openai")
    with house.store.transaction():
        house.store.events.note_import(story.id, "ada", running_since=2**60)
        house.store.jobs.ask("distil", story.id, clock.now_ms())
    assert asking.asks() == 0
    assert asking.model.requests == []


def test_what_was_imported_is_read_if_the_user_wants_it_after_what_was_just_done(
    house: House, asking: Asking
) -> None:
    """Off by default; within the same caps, and no history before what was just done."""
    house.sets("model.imported", "on")
    old = [a_session(house) for _ in range(2)]
    house.sets("model.provider", "off")
    house.works()
    house.sets("model.provider", "openai")
    with house.store.transaction():
        for story in old:
            house.store.events.note_import(story.id, "ada", running_since=2**60)
            house.store.jobs.ask("distil", story.id, clock.now_ms())
    house.works()
    new = a_session(house)
    asking.answers()
    house.works()
    asking.refine()._next()
    assert [call.session_id for call in asking.calls()] == [new.id]
    assert asking.refine().run() == 2
    assert {call.session_id for call in asking.calls()} == {new.id, *(story.id for story in old)}
