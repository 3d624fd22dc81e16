"""The answer in short: sentences of what is in force, and nothing that is none."""

import pytest

from backstory.model import MemoryStatus
from backstory.search.answer import Hit
from backstory.search.question import question
from backstory.search.short import in_short

ASKED = question("which broker do we use for events", 0)


def hit(text: str, status: str = "") -> Hit:
    return Hit("e1", "said", text, 1.0, "s", "claude-code", "shop", 1, status=status)


def test_a_path_a_command_and_a_line_of_a_log_are_no_sentences() -> None:
    """CCE-56"""
    hits = [
        hit("/home/dev/billing/config/queue.yml"),
        hit("docker run -p 4222:4222 --rm nats:2.10 -js"),
        hit("2026-11-16T10:00:00Z ERROR broker=events code=503 retry=4"),
        hit("It took a while. Events go through NATS now, because one binary is enough. Good."),
    ]
    assert in_short(hits, ASKED) == ("Events go through NATS now, because one binary is enough.",)


def test_history_says_nothing_in_short() -> None:
    """CCE-56"""
    told = "We use RabbitMQ as the broker for events."
    hits = [hit(told, MemoryStatus.SUPERSEDED), hit("We use NATS for the events of billing."), hit("Done.")]
    assert in_short(hits, ASKED) == ("We use NATS for the events of billing.",)


@pytest.mark.parametrize("told", ["退款接口的超时从3秒改为30秒。", "La cola de eventos está en NATS ahora."])
def test_other_languages_have_sentences_too(told: str) -> None:
    """CCE-56"""
    assert in_short([hit(told), hit("ok"), hit("ok")], ASKED) == (told,)
