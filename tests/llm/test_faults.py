"""Whatever a model does wrong: no call outlasts its limit, nothing is lost, the rules' memories stand."""

import json
import logging
import socket
import time
from dataclasses import replace
from email.utils import formatdate

import pytest

from backstory import clock
from backstory.llm import json_post
from backstory.llm.model_provider import Trouble
from tests.agents.model import Cut, Drip, Fault, Hang, Model, Raw, Status, refusal
from tests.llm.conftest import Asking, a_session, saying
from tests.story import House

FAULTS: dict[str, tuple[Fault, str]] = {
    "too many requests": (Status(429, "1"), "answered 429"),
    "server error": (Status(500), "answered 500"),
    "wrong key": (Status(401), "model.key_env"),
    "moved": (Status(302), "answered 302"),
    "silence": (Hang(), "did not answer within 1 s"),
    "slow drip": (Drip(0.05), "did not answer within 1 s"),
    "cut off": (Cut(40), "gives no answer"),
    "not HTTP's JSON": (Raw(b"<html>Bad gateway</html>"), "something else than JSON"),
    "another shape": (Raw(b'{"choices": "none"}'), "shape that is not OpenAI's"),
    "refusal": (refusal("openai"), "refused to answer"),
    "empty": (Raw(json.dumps({"choices": [{"message": {"content": ""}}]}).encode()), "answered with nothing"),
}
FAULTS |= {
    "filtered": (
        Raw(b'{"choices": [{"message": {"content": "{"}, "finish_reason": "content_filter"}]}'),
        "refused to answer",
    ),
    "an error with status 200": (
        Raw(b'{"error": {"message": "upstream is down"}}'),
        "answered with an error",
    ),
}
# What a model declines to do it declines a moment later, too, and each time is paid for.
DECLINED = ("refusal", "empty", "filtered")
UNUSABLE = {
    "no JSON": "I would rather talk about it.",
    "half of it": '{"operations": [{"do": "add", "te',
    "another schema": '{"notes": []}',
    "a list": "[1, 2, 3]",
    "nothing known to do": '{"operations": [{"do": "rumour", "text": "It is said", "lines": []}]}',
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_told_kept_for_another_try_and_costs_no_memory(
    house: House, asking: Asking, name: str
) -> None:
    fault, words = FAULTS[name]
    house.sets("model.timeout_seconds", "1")
    story = a_session(house)
    house.works()
    stand = house.store.memories.of_session(story.id)
    asking.model.fails_with(fault)
    asking.answers({"kind": "fact", "text": "The importer streams"})
    began = time.monotonic()
    refine = asking.refine()
    refine._next()
    assert time.monotonic() - began < 25, "it did not wait for an answer that comes after 30 s"
    state, attempts, error = asking.job(story)
    assert (state, attempts) == ("waiting", 1)
    assert words in error
    assert house.store.memories.of_session(story.id) == stand
    if name in DECLINED:
        assert refine.run() == 0
        assert len(asking.model.requests) == 1, "nobody is asked for an hour"
        later(asking)
    assert refine.run() == 1, "the next try succeeds"
    assert asking.job(story)[:2] == ("done", 1)


def later(asking: Asking) -> None:
    """More than half an hour, but not two, and what waits is due."""
    due = asking.house.store.jobs.due_at("refine", clock.now_ms())
    assert due is not None
    assert 1_800_000 < due - clock.now_ms() < 7_200_000
    with asking.house.store.transaction():
        asking.house.store.jobs.thaw("refine", clock.now_ms())


@pytest.mark.parametrize("name", UNUSABLE)
def test_an_answer_that_cannot_be_used_is_mended_once(house: House, asking: Asking, name: str) -> None:
    a_session(house)
    told = [UNUSABLE[name], saying({"kind": "fact", "text": "The importer streams"})]
    asking.model.aside("Log:", lambda _: told.pop(0))
    assert asking.asks() == 1
    assert [(call.purpose, call.outcome) for call in asking.calls()] == [
        ("distil", "unusable"),
        ("repair", "ok"),
    ]
    assert "could not be used" in asking.log()
    assert UNUSABLE[name][:20] in asking.log()


def test_an_unparsable_answer_is_logged_kept_for_retry_and_loses_nothing(
    house: House, asking: Asking, caplog: pytest.LogCaptureFixture
) -> None:
    """CMEM-31: mended once in vain; the observations wait for the next try."""
    story = a_session(house)
    house.works()
    stand = house.store.memories.of_session(story.id)
    asking.model.aside("Log:", "Hm.")
    with caplog.at_level(logging.WARNING):
        asking.refine()._next()
    assert "cannot be used: the answer is not one JSON object" in caplog.text
    assert asking.job(story)[:2] == ("waiting", 1)
    assert all("it began: Hm." in call.error for call in asking.calls())
    assert house.store.memories.of_session(story.id) == stand
    asking.answers({"kind": "fact", "text": "The importer streams"})
    assert asking.refine().run() == 0
    assert len(asking.model.requests) == 2, "the same question is not paid for again at once"
    later(asking)
    assert asking.refine().run() == 1


AROUND = (
    "{}", "```json\n{}\n```", "Here it is:\n{}\nAnything else?", "<think>{lines: [1]} or {so}?</think>\n{}",
)  # fmt: skip


@pytest.mark.parametrize("around", AROUND)
def test_an_answer_is_read_whatever_stands_around_it(house: House, asking: Asking, around: str) -> None:
    a_session(house)
    sloppy = '{"operations": [{"do": "add", "kind": "fact", "text": "The importer streams", "lines": [1],},]}'
    asking.model.aside("Log:", around.replace("{}", sloppy))
    assert asking.asks() == 1
    assert [call.outcome for call in asking.calls()] == ["ok"]


def test_an_answer_whose_words_are_right_and_whose_types_are_not_is_read(
    house: House, asking: Asking
) -> None:
    """A server that knows no schemas holds its model to none."""
    story = a_session(house)
    asking.model.aside(
        "Log:",
        'I weigh {this} and {"that": 1}: '
        '{"operations": [{"do": "ADD", "kind": "Fact", "text": "The importer streams", "lines": "[1]"}]}',
    )
    assert asking.asks() == 1
    assert [memory.text for memory in asking.learned(story)] == ["The importer streams"]
    assert [call.outcome for call in asking.calls()] == ["ok"]


def test_what_came_of_a_session_is_not_lost_with_operations_that_make_no_sense(
    house: House, asking: Asking
) -> None:
    story = a_session(house)
    session = {"goal": "", "outcome": "The importer streams its rows", "lines": [1], "open": []}
    asking.model.aside("Log:", json.dumps({"session": session, "operations": [{"do": "rumour"}]}))
    assert asking.asks() == 1
    assert [memory.text for memory in asking.learned(story)] == ["The importer streams its rows"]
    assert len(asking.model.requests) == 1


def test_a_failing_call_is_tried_three_times_with_pauses_of_two_and_four_seconds(
    house: House, asking: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    """MEMORIA-15, MEMORIA-16, MEMORIA-17, CM-56: then it cools down, with all that it needs kept."""
    story = a_session(house)
    house.works()
    now = [clock.now_ms()]
    monkeypatch.setattr(clock, "now_ms", lambda: now[0])
    asking.pausing = lambda seconds: now.__setitem__(0, now[0] + int(seconds * 1000))
    asking.model.fails_with(*[Status(500)] * 3)
    assert asking.refine().run() == 0
    assert asking.pauses == [2.0, 4.0]
    assert len(asking.model.requests) == 3
    assert asking.job(story)[:2] == ("waiting", 3)
    assert house.store.ledger.read_through(story.id) == -1, "nothing counts as read"
    assert house.store.jobs.due_at("refine", clock.now_ms()) == now[0] + 6 * 3_600_000
    assert asking.refine().run() == 0
    assert len(asking.model.requests) == 3, "it cools down: nobody is asked"
    story.prompts("One more thing: keep the header row").stops("Kept.").ends()
    asking.answers()
    assert asking.asks() == 1, "the session's next stop tries again"
    assert "nightly run takes an hour" in asking.log()
    assert "keep the header row" in asking.log()


def test_after_n_tries_it_is_parked_and_blocks_nobody(
    house: House, asking: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CM-56, CM-57: attempts are kept after each outcome, whoever counts them."""
    house.sets("jobs.max_attempts", "4")
    poison = a_session(house)
    house.works()
    now = [clock.now_ms()]
    monkeypatch.setattr(clock, "now_ms", lambda: now[0])
    for tries in range(1, 5):
        asking.model.fails_with(Status(500))
        asking.refine()._next()  # a process of its own each time
        house.close()
        assert asking.job(poison)[1] == tries
        now[0] += 7 * 3_600_000
    assert asking.job(poison)[0] == "parked"
    a_session(house)
    asking.answers()
    assert asking.asks() == 1
    assert asking.job(poison)[0] == "parked"


def test_a_success_gives_what_cools_down_another_try(house: House, asking: Asking) -> None:
    """CM-56: drained opportunistically."""
    cooling = a_session(house)
    house.works()
    (job,) = [job for job in house.store.jobs.all() if job.kind == "refine"]
    with house.store.transaction():
        house.store.jobs.failed(replace(job, attempts=2), "three times in vain", clock.now_ms(), 9)
    assert asking.refine().run() == 0
    a_session(house)
    asking.answers()
    assert asking.asks() == 2
    assert asking.job(cooling)[0] == "done"


@pytest.mark.parametrize("as_date", [False, True])
def test_a_server_that_wants_to_be_left_alone_is_left_alone(
    house: House, asking: Asking, as_date: bool
) -> None:
    story = a_session(house)
    house.works()
    late = formatdate(time.time() + 120, usegmt=True) if as_date else "120"
    asking.model.fails_with(Status(429, late))
    began = clock.now_ms()
    assert asking.refine().run() == 0
    due = house.store.jobs.due_at("refine", clock.now_ms())
    assert due is not None
    assert 110_000 < due - began < 130_000
    assert asking.job(story)[1] == 1
    assert asking.pauses == []


def test_what_a_server_says_of_a_key_stays_out_of_everything(
    house: House, asking: Asking, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("MY_API_KEY", "sk-very-secret-1234567890")
    house.sets("model.key_env", "MY_API_KEY")
    story = a_session(house)
    house.works()
    asking.model.fails_with(Status(401, message="no such key: sk-very-secret-1234567890"))
    with caplog.at_level(logging.DEBUG):
        asking.refine()._next()
    assert "no such key: …" in asking.calls()[0].error
    assert "very-secret" not in asking.job(story)[2] + caplog.text
    assert house.found_in_home("very-secret") == []


class TestTheLine:
    def test_a_key_is_not_sent_in_the_clear_to_a_stranger(self) -> None:
        with pytest.raises(Trouble, match="unencrypted"):
            json_post.post_json("http://models.example/v1", {}, {}, 1, "sk-secret")

    @pytest.mark.parametrize("url", ["", "ftp://a.example", "localhost:11434", "http://"])
    def test_an_address_that_is_none_is_told(self, url: str) -> None:
        with pytest.raises(Trouble, match=r"model\.url must begin"):
            json_post.post_json(url, {}, {}, 1)

    def test_nobody_there(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
        with pytest.raises(Trouble, match="gives no answer") as caught:
            json_post.post_json(f"http://127.0.0.1:{port}/v1", {}, {}, 2)
        assert not caught.value.sent

    def test_a_huge_answer_is_not_read_to_its_end(self, model: Model) -> None:
        model.fails_with(Raw(b"x" * 5_000_000))
        with pytest.raises(Trouble, match="more than 4,000,000 bytes"):
            json_post.post_json(f"{model.url}/v1/chat/completions", {}, {"messages": []}, 20)

    @pytest.mark.parametrize(
        ("provider", "field", "says"),
        [
            ("openai", "response_format", "response_format is not supported"),
            ("openai", "response_format", "This model does not support json_schema"),
            ("anthropic", "output_config", "structured outputs are not available for this model"),
            ("ollama", "format", "failed to load model vocabulary required for format"),
        ],
    )
    def test_a_server_without_schemas_is_told_the_shape_in_words(
        self,
        house: House,
        asking: Asking,
        monkeypatch: pytest.MonkeyPatch,
        provider: str,
        field: str,
        says: str,
    ) -> None:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "scripted-key")
        house.sets("model.provider", provider)
        a_session(house)
        asking.model.fails_with(Status(400, message=says))
        asking.answers()
        assert asking.asks() == 1
        first, second = (request.body for request in asking.model.requests)
        assert field in first
        assert field not in second
        shape = '"additionalProperties": false'
        system = [str(body.get("system") or body["messages"][0]["content"]) for body in (first, second)]
        assert [shape in text for text in system] == [False, True]

    def test_what_is_said_in_pieces_is_read_without_its_thoughts(self, house: House, asking: Asking) -> None:
        story = a_session(house)
        pieces = [
            {"type": "thinking", "thinking": [{"type": "text", "text": "{}"}]},
            {"type": "text", "text": saying({"kind": "fact", "text": "The importer streams", "lines": [1]})},
        ]
        asking.model.fails_with(Raw(json.dumps({"choices": [{"message": {"content": pieces}}]}).encode()))
        assert asking.asks() == 1
        assert [memory.text for memory in asking.learned(story)] == ["The importer streams"]


def test_a_token_at_the_cut_of_a_quoted_answer_is_not_in_the_ledger(house: House, asking: Asking) -> None:
    a_session(house)
    house.works()
    token = "gh" + "p_" + "8R7q6P5o4N3m2L1k0J9i8H7g6F5e4D3c2B1a"
    asking.model.aside("Log:", "It is " + "x " * 90 + token)
    asking.refine()._next()
    assert asking.calls()
    assert not [call.error for call in asking.calls() if token[:12] in call.error]
