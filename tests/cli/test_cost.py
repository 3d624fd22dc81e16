"""`backstory cost`: what models took, in the numbers that status shows too."""

from contextlib import closing

import pytest

from backstory import clock
from backstory.paths import Home
from backstory.store import Store, open_store
from backstory.store.records import Call

from .memory import Memory


def book(store: Store, at: int, outcome: str = "ok", tokens: int = 1_000, error: str = "") -> None:
    call = Call(
        f"c{at}", "distil", "s1", "anthropic", "claude-haiku-4-5", at - 9, at, at + 2_500, at + 2_501, at + 2_502,
        outcome, error, tokens, 100, tokens + 500,
    )  # fmt: skip
    with store.transaction():
        store.ledger.open(call)


@pytest.fixture
def spent(worked: Memory) -> Memory:
    worked.ask("config", "model.provider", "anthropic")
    now = clock.now_ms()
    with closing(open_store(Home(worked.home))) as store:
        book(store, now - 3_000)
        book(store, now - 2_000, "failed", error="\x1b]0;owned\x07answered 500")
        book(store, now - 40 * 86_400_000)
    return worked


def test_without_a_provider_nothing_is_sent(memory: Memory) -> None:
    assert memory.ask("cost").stdout.startswith("off: nothing is sent\n")
    assert memory.json("status")["spending"]["provider"] == "off"
    assert "off: nothing is sent" in memory.ask("status").stdout


def test_what_was_spent_is_shown_by_purpose_and_against_the_caps(spent: Memory) -> None:
    """CMEM-24, CM-28: each call is booked on what it was for, summed up, and the user can see it."""
    told = spent.json("cost")
    assert told["spending"]["today"] == {"calls": 2, "tokens": 2_200, "cost": 0.003}
    assert told["spending"]["caps"]["day"] == {"tokens": 400_000, "cost": 1.0}
    (row,) = told["by"]
    assert (row["purpose"], row["model"], row["calls"], row["failed"]) == ("distil", "claude-haiku-4-5", 2, 1)
    assert spent.json("cost", "--since", "60d")["by"][0]["calls"] == 3
    shown = spent.ask("cost").stdout
    assert "anthropic claude-haiku-4-5: 2 calls today, 2,200 of 400,000 tokens" in shown
    assert "2,200" in spent.ask("status").stdout


def test_each_call_is_shown_with_its_steps(spent: Memory) -> None:
    """CMEM-3."""
    latest, first = spent.json("cost", "--calls")["calls"]
    assert first["finalized"] < first["asked"] < first["answered"] < first["parsed"] < first["stored"]
    assert latest["outcome"] == "failed"
    shown = spent.ask("cost", "--calls").stdout
    assert "2.5 s" in shown
    assert "answered 500" in shown
    assert "owned" not in shown


def test_a_model_without_a_price_is_told(spent: Memory) -> None:
    spent.ask("config", "model.distil", "brand-new")
    assert "no row for brand-new" in spent.ask("cost").stderr


def test_a_breaker_that_is_open_is_shown_and_can_be_closed(worked: Memory) -> None:
    worked.ask("config", "model.provider", "anthropic")
    now = clock.now_ms()
    with closing(open_store(Home(worked.home))) as store:
        for number in range(5):
            book(store, now + number, "failed")
    assert "PAUSED: 5 calls in a row failed" in worked.ask("cost").stdout
    assert worked.json("cost")["spending"]["paused_until"] > now
    done = worked.ask("cost", "--resume")
    assert "asked again" in done.stderr
    assert "PAUSED" not in done.stdout


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("model.day_money", "much"),
        ("model.day_money", "-1"),
        ("model.prices", "a=b"),
        ("model.provider", "hal"),
    ],
)
def test_amounts_prices_and_providers_are_checked_when_they_are_set(
    memory: Memory, key: str, value: str
) -> None:
    assert memory.ask("config", key, "--", value).exit_code == 1
