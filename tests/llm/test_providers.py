"""The providers one by one: what they are sent, and how their answers are read."""

import dataclasses

import pytest

from backstory.llm.model_provider import PROVIDERS, Provider, Question, Trouble, model_for, provider
from backstory.settings import Settings
from tests.agents.model import Model, Raw, Status, refusal
from tests.llm.conftest import Asking, a_session, saying
from tests.story import House

SCHEMA = {"type": "object", "properties": {"memories": {"type": "array"}}}
QUESTION = Question("Be brief.", "Log:\n[1] user: hello", SCHEMA, 300)


def chosen(name: str, model: Model, **changed: object) -> Provider:
    values = {"model_provider": name, "model_url": model.url, "model_timeout_seconds": 5, **changed}
    found = provider(dataclasses.replace(Settings(), **values), "distil")  # type: ignore[arg-type]
    assert found is not None
    return found


def test_every_provider_has_a_cheap_model_of_its_own_and_both_purposes_can_have_another() -> None:
    """MEMORIA-18."""
    for name in PROVIDERS:
        plain = dataclasses.replace(Settings(), model_provider=name)
        assert model_for(plain, "distil") == model_for(plain, "compile") != ""
        other = dataclasses.replace(plain, model_distil="small", model_compile="large")
        assert (model_for(other, "distil"), model_for(other, "compile")) == ("small", "large")
    assert model_for(Settings(), "distil") == ""
    assert provider(Settings(), "distil") is None


class TestAnthropic:
    @pytest.fixture(autouse=True)
    def key(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "scripted-key")

    def test_it_is_asked_in_its_own_protocol(self, model: Model) -> None:
        model.aside("Log:", saying())
        reply = chosen("anthropic", model).ask(QUESTION)
        assert (reply.text, reply.tokens_in, reply.tokens_out) == (saying(), 100, 20)
        (request,) = model.requests
        assert request.path == "/v1/messages"
        assert request.body["model"] == "claude-haiku-4-5"
        assert request.body["system"] == "Be brief."
        assert request.body["output_config"]["format"] == {"type": "json_schema", "schema": SCHEMA}

    def test_a_refusal_is_no_answer(self, model: Model) -> None:
        model.fails_with(refusal("anthropic"))
        with pytest.raises(Trouble, match="refused"):
            chosen("anthropic", model).ask(QUESTION)

    def test_another_shape_is_told(self, model: Model) -> None:
        model.fails_with(Raw(b'{"content": 7}'))
        with pytest.raises(Trouble, match="not Anthropic's"):
            chosen("anthropic", model).ask(QUESTION)

    def test_a_model_without_schemas_is_asked_without(self, model: Model) -> None:
        model.fails_with(Status(400, message="output_config: unknown field"))
        chosen("anthropic", model).ask(QUESTION)
        assert "output_config" not in model.requests[1].body

    def test_a_missing_key_is_told_before_anything_is_sent(
        self, model: Model, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("ANTHROPIC_API_KEY")
        with pytest.raises(Trouble, match="no ANTHROPIC_API_KEY"):
            chosen("anthropic", model)
        monkeypatch.setenv("WORK_KEY", "x")
        chosen("anthropic", model, model_key_env="WORK_KEY").ask(QUESTION)
        assert len(model.requests) == 1

    def test_a_session_is_refined_end_to_end(self, house: House, asking: Asking) -> None:
        house.sets("model.provider", "anthropic")
        house.sets("model.url", asking.model.url)
        story = a_session(house)
        asking.answers({"kind": "fact", "text": "The importer streams its rows", "lines": [1]})
        assert asking.asks() == 1
        assert [memory.text for memory in asking.learned(story)] == ["The importer streams its rows"]


class TestOpenAI:
    def test_a_local_endpoint_needs_no_key(self, model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)
        model.aside("Log:", saying())
        reply = chosen("openai", model, model_url=f"{model.url}/v1/").ask(QUESTION)
        assert reply.text == saying()
        assert model.requests[0].body["messages"][0] == {"role": "system", "content": "Be brief."}

    def test_usage_may_be_missing(self, model: Model) -> None:
        model.fails_with(Raw(b'{"choices": [{"message": {"content": "{}"}}], "usage": null}'))
        assert chosen("openai", model, model_url=f"{model.url}/v1").ask(QUESTION).tokens_in == 0


USAGES = {
    "anthropic": (
        b'{"content": [{"type": "text", "text": "{}"}], "usage": %b}',
        ("input_tokens", "output_tokens"),
    ),
    "openai": (
        b'{"choices": [{"message": {"content": "{}"}}], "usage": %b}',
        ("prompt_tokens", "completion_tokens"),
    ),
    "ollama": (b'{"message": {"content": "{}"}, %b}', ("prompt_eval_count", "eval_count")),
}


@pytest.mark.parametrize(
    "number", ["Infinity", "-Infinity", "NaN", "1e999", "-5", "1" + "0" * 300, '"7"', "[]"]
)
@pytest.mark.parametrize("name", USAGES)
def test_a_number_of_tokens_that_cannot_be_is_none(
    name: str, number: str, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would be an error that nobody counts, or money that nobody spent."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "scripted-key")
    body, names = USAGES[name]
    usage = ", ".join(f'"{each}": {number}' for each in names)
    model.fails_with(Raw(body % (usage if name == "ollama" else f"{{{usage}}}").encode()))
    reply = chosen(name, model, model_url=model.url + "/v1").ask(QUESTION)
    assert (reply.tokens_in, reply.tokens_out) == (0, 0)


def test_halves_of_characters_in_an_answer_cost_no_session_its_memories(house: House, asking: Asking) -> None:
    story = a_session(house)
    asking.answers({"kind": "fact", "text": "The importer \ud800streams its rows", "lines": [1]})
    assert asking.asks() == 1
    assert ["streams its rows" in memory.text for memory in asking.learned(story)] == [True]
