"""Answers that were cut off, questions that were not read to their end, and models that take their time."""

import dataclasses
import json

import pytest

from backstory.llm import lenient_json
from backstory.llm.model_provider import PROVIDERS, Question, Trouble, answer_seconds, provider
from backstory.llm.prices import price_of
from backstory.settings import Settings
from tests.agents.model import Hang, Model, Raw
from tests.llm.conftest import Asking, a_session, saying
from tests.story import House

QUESTION = Question("Be brief.", "Log:\n[1] user: hello", {"type": "object"}, 300)
WHOLE = {
    "kind": "fact",
    "text": "The importer streams, as in [a]{b}",
    "reason": 'a "quoted" one',
    "lines": [],
}


def cut(text: str, tokens_in: int = 100) -> Raw:
    """An answer that ended because it was as long as it may be."""
    choice = {"message": {"content": text}, "finish_reason": "length"}
    usage = {"prompt_tokens": tokens_in, "completion_tokens": 1_500}
    return Raw(json.dumps({"choices": [choice], "usage": usage}).encode())


class TestCutOff:
    def test_whole_items_of_a_cut_answer_are_kept_and_it_is_not_asked_again(
        self, house: House, asking: Asking
    ) -> None:
        a_session(house)
        asking.model.fails_with(cut(saying(WHOLE, WHOLE)[:-30]))
        assert asking.asks() == 1
        (call,) = asking.calls()
        assert (call.outcome, call.error) == ("ok", "cut off after 1,500 tokens (model.output_tokens)")
        assert str(WHOLE["text"]) in house.store.ledger.bodies(call.session_id)[0][1]

    def test_the_second_try_asks_for_less(self, house: House, asking: Asking) -> None:
        a_session(house)
        asking.model.fails_with(cut('{"operations": [{"do": "add", "te'))
        asking.answers(WHOLE)
        assert asking.asks() == 1
        assert [(call.purpose, call.outcome) for call in asking.calls()] == [
            ("distil", "unusable"),
            ("repair", "ok"),
        ]
        assert "in less than 600 words" in asking.log()

    def test_a_model_that_thought_until_nothing_was_left_is_told_apart(
        self, house: House, asking: Asking
    ) -> None:
        story = a_session(house)
        house.works()
        asking.model.fails_with(cut(""))
        asking.refine()._next()
        assert "raise model.output_tokens" in asking.job(story)[2]

    @pytest.mark.parametrize("name", ["openai", "anthropic", "ollama"])
    def test_each_protocol_tells_that_it_was_cut(
        self, name: str, model: Model, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "scripted-key")
        told = {
            "openai": {"choices": [{"message": {"content": "{}"}, "finish_reason": "length"}]},
            "anthropic": {"content": [{"type": "text", "text": "{}"}], "stop_reason": "max_tokens"},
            "ollama": {"message": {"content": "{}"}, "done_reason": "length"},
        }
        chosen = provider(
            dataclasses.replace(Settings(), model_provider=name, model_url=f"{model.url}/v1"), "distil"
        )
        assert chosen is not None
        model.fails_with(Raw(json.dumps(told[name]).encode()))
        assert chosen.ask(QUESTION).cut
        assert not chosen.ask(QUESTION).cut

    @pytest.mark.parametrize(
        ("text", "found"),
        [
            ('{"a": [{"b": "]}"}, {"b": 2', {"a": [{"b": "]}"}]}),
            ('Here: {"s": {"g": "x"}, "o": [', {"s": {"g": "x"}}),
            ('{"a": [{"b": [1, 2], "c": "cut', {"a": [{"b": [1, 2]}]}),
            ('{"a": [{"b": 1}, {"b": nonsense}, {"b": 3}]}', None),
            ('{"a": [{"b": "te', None),
            ("[[[[", None),
        ],
    )
    def test_what_is_whole_of_a_text_that_breaks_off(self, text: str, found: object) -> None:
        if found is None:
            with pytest.raises(lenient_json.Unusable):
                lenient_json.read_object(text)
        else:
            assert lenient_json.read_object(text) == found


class TestContext:
    def test_a_question_that_was_not_read_to_its_end_is_no_answer(self, house: House, asking: Asking) -> None:
        """Ollama reads 4,096 tokens unless it is told otherwise, and says nothing of the rest."""
        story = house.session().starts()
        for number in range(20):
            story.prompts(f"Step {number}: " + "do the next thing with care " * 20)
            story.stops(f"Finished step {number}. " + "It went as planned. " * 20)
        story.ends()
        house.works()
        asking.model.fails_with(cut(saying(WHOLE), tokens_in=1_100))
        asking.refine()._next()
        assert "its context is too small" in asking.job(story)[2]
        assert house.store.ledger.bodies(story.id) == []

    def test_ollama_is_told_how_long_a_context_it_needs(self, model: Model) -> None:
        settings = dataclasses.replace(Settings(), model_provider="ollama", model_url=f"{model.url}/v1")
        chosen = provider(settings, "distil")
        assert chosen is not None
        model.aside("Log:", "{}")
        assert (chosen.ask(QUESTION).text, chosen.model) == ("{}", "qwen3:8b")
        chosen.ask(dataclasses.replace(QUESTION, text="Log:\n" + "a word " * 6_000))
        assert [request.path for request in model.requests] == ["/api/chat"] * 2
        assert [request.body["options"]["num_ctx"] for request in model.requests] == [8_192, 16_384]
        assert model.requests[0].body["format"] == {"type": "object"}


class TestTime:
    def test_a_model_on_this_machine_may_take_its_time(self) -> None:
        def seconds(**values: object) -> int:
            return answer_seconds(dataclasses.replace(Settings(), **values))  # type: ignore[arg-type]

        assert seconds(model_provider="openai", model_url="http://localhost:11434/v1") == 300
        assert seconds(model_provider="openai", model_url="http://192.168.1.7/v1") == 300
        assert seconds(model_provider="ollama") == 300
        assert seconds(model_provider="anthropic") == seconds(model_provider="claude") == 60
        assert seconds(model_provider="ollama", model_timeout_seconds=7) == 7

    def test_a_timeout_names_the_setting(self, model: Model) -> None:
        settings = dataclasses.replace(
            Settings(), model_provider="openai", model_url=f"{model.url}/v1", model_timeout_seconds=1
        )
        chosen = provider(settings, "distil")
        assert chosen is not None
        model.fails_with(Hang())
        with pytest.raises(Trouble, match="timeout_seconds"):
            chosen.ask(QUESTION)


def test_every_default_model_has_a_price() -> None:
    missing = [
        name for name, row in PROVIDERS.items() if price_of(row.model, Settings().model_prices) is None
    ]
    assert missing == []


def test_without_a_key_nothing_is_sent_to_a_vendor_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever means a server of their own and has not named it yet sends nobody anything."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(Trouble, match="no OPENAI_API_KEY"):
        provider(dataclasses.replace(Settings(), model_provider="openai"), "distil")
