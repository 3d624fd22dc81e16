"""No silent spending: estimates, caps, the breaker, the ledger; and what people are told of them."""

import dataclasses

import pytest

from backstory import clock
from backstory.llm import breaker, prices
from backstory.llm.governor import Governor, Purpose, Refused, resume_calls
from backstory.llm.model_provider import Question, Reply, Trouble
from backstory.llm.spending_caps import cap_period, spending_caps
from backstory.settings import Settings
from backstory.store.records import Call
from tests.agents.model import Status
from tests.llm.conftest import Asking, a_session
from tests.story import House

QUESTION = Question("Be brief.", "What is new? " * 50, {"type": "object"}, 500)


class Paid:
    """A provider that takes what it is told to take."""

    name, model, overhead = "openai", "scripted-small", 0

    def __init__(self, *took: tuple[int, int] | Trouble) -> None:
        self.took = list(took)
        self.asked = 0

    def ask(self, question: Question) -> Reply:
        self.asked += 1
        took = self.took.pop(0) if self.took else (200, 50)
        if isinstance(took, Trouble):
            raise took
        return Reply("{}", *took)


def governor(house: House, **changed: object) -> Governor:
    chosen = dataclasses.replace(Settings(), model_prices=("scripted-small=1/5",), **changed)  # type: ignore[arg-type]
    return Governor(chosen, house.store)


class TestCaps:
    @pytest.mark.parametrize("scope", ["call", "session", "day", "month"])
    @pytest.mark.parametrize("what", ["tokens", "money"])
    def test_each_cap_holds_before_the_call_is_made(self, house: House, scope: str, what: str) -> None:
        """CMEM-24."""
        small = 600 if what == "tokens" else "0.001"
        tight = governor(house, **{f"model_{scope}_{what}": small})
        provider = Paid()
        with pytest.raises(Refused, match=rf"model\.{scope}_{what}") as caught:
            tight.ask(provider, QUESTION, Purpose("distil", "s1"))
        assert caught.value.scope == scope
        assert provider.asked == 0
        assert house.store.ledger.latest(1) == []

    def test_what_was_spent_counts_in_its_own_scope_only(self, house: House) -> None:
        asked = governor(house, model_session_tokens=1_000)
        asked.ask(Paid((400, 100)), QUESTION, Purpose("distil", "s1"))
        with pytest.raises(Refused, match="500 \\+ about"):
            asked.ask(Paid(), QUESTION, Purpose("distil", "s1"))
        asked.ask(Paid(), QUESTION, Purpose("distil", "s2"))

    def test_a_new_day_has_a_new_budget(self, house: House, monkeypatch: pytest.MonkeyPatch) -> None:
        asked = governor(house, model_day_tokens=1_000)
        asked.ask(Paid((500, 200)), QUESTION, Purpose("distil", "s1"))
        with pytest.raises(Refused) as caught:
            asked.ask(Paid(), QUESTION, Purpose("distil", "s2"))
        monkeypatch.setattr(clock, "now_ms", lambda: caught.value.until + 1)
        asked.ask(Paid(), QUESTION, Purpose("distil", "s2"))

    def test_an_amount_that_cannot_be_read_allows_nothing(self, house: House) -> None:
        with pytest.raises(Refused, match=r"model\.day_money"):
            governor(house, model_day_money="a lot").ask(Paid(), QUESTION, Purpose("distil"))

    def test_a_killed_call_counts_with_its_estimate(self, house: House) -> None:
        class Killed(BaseException):
            pass

        class Dying(Paid):
            def ask(self, question: Question) -> Reply:
                raise Killed

        with pytest.raises(Killed):
            governor(house).ask(Dying(), QUESTION, Purpose("distil", "s1"))
        (call,) = house.store.ledger.latest(5)
        assert call.outcome == "open"
        assert call.tokens_out == QUESTION.max_tokens
        assert house.store.ledger.spent(0).cost == call.cost > 0

    def test_what_was_not_read_is_not_paid_for(self, house: House) -> None:
        for sent in (False, True):
            with pytest.raises(Trouble):
                governor(house).ask(Paid(Trouble("no", sent=sent)), QUESTION, Purpose("distil"))
            assert (house.store.ledger.spent(0).tokens > 0) is sent

    def test_the_periods_follow_the_zone(self) -> None:
        zone = clock.zone("Europe/Berlin")
        at = 1_798_754_400_000  # 2026-12-31 22:00 UTC is 23:00 in Berlin
        begin, after = cap_period("day", at, zone)
        assert clock.stamp(begin, zone) == "2026-12-31 00:00"
        assert clock.stamp(after, zone) == "2027-01-01 00:00"
        begin, after = cap_period("month", at, zone)
        assert clock.stamp(begin, zone) == "2026-12-01 00:00"
        assert clock.stamp(after, zone) == "2027-01-01 00:00"

    def test_the_defaults_are_small_and_all_there(self) -> None:
        assert {cap.scope for cap in spending_caps(Settings()).values() if cap.tokens and cap.money} == {
            "call", "session", "day", "month",
        }  # fmt: skip


class TestPrices:
    def test_a_call_costs_what_the_table_says(self) -> None:
        price = prices.price_of("a", ("b=9/9", "a=0.25/1.5"))
        assert price == (250_000, 1_500_000)
        assert prices.call_cost(price, 1_000_000, 1_000_000) == 1_750_000
        assert prices.call_cost(price, 1, 0) == 1, "rounded up"

    @pytest.mark.parametrize("row", ["a", "a=", "a=1", "a=x/y", "a=-1/2", "a=nan/1"])
    def test_a_row_that_cannot_be_read_is_no_price(self, row: str) -> None:
        assert prices.price_of("a", (row,)) is None

    def test_other_scripts_take_more_tokens(self) -> None:
        assert prices.token_estimate("日本語" * 100) > prices.token_estimate("abc" * 100) * 2


def call(at: int, outcome: str) -> Call:
    return Call("c", "distil", "s", "p", "m", at, at, at, None, None, outcome, "", 1, 1, 1)


class TestBreaker:
    def test_failures_in_a_row_open_it_for_ever_longer(self) -> None:
        def opened(failures: int) -> int:
            return breaker.open_until([call(1_000, "failed")] * failures + [call(0, "ok")])[0]

        assert opened(4) == 0
        assert opened(5) == 1_000 + 300_000
        assert opened(6) == 1_000 + 600_000
        assert opened(20) == 1_000 + 6 * 3_600_000
        assert breaker.open_until([call(5, "ok"), *[call(1, "failed")] * 9]) == (0, "")

    def test_an_anomaly_opens_it_at_once(self, house: House) -> None:
        asked = governor(house)
        asked.ask(Paid((90_000, 10)), QUESTION, Purpose("distil", "s1"))
        with pytest.raises(Refused, match="far more than it should") as caught:
            asked.ask(Paid(), QUESTION, Purpose("distil", "s2"))
        assert caught.value.scope == "breaker"
        with house.store.transaction():
            resume_calls(house.store, clock.now_ms() + 1)
        asked.ask(Paid(), QUESTION, Purpose("distil", "s2"))

    def test_more_calls_in_an_hour_than_anybody_needs_are_not_made(self, house: House) -> None:
        asked = governor(house, model_calls_hour=3)
        for _ in range(3):
            asked.ask(Paid(), QUESTION, Purpose("distil"))
        with pytest.raises(Refused, match="3 calls in an hour"):
            asked.ask(Paid(), QUESTION, Purpose("distil"))

    def test_an_endpoint_that_is_down_is_left_alone(self, house: House, asking: Asking) -> None:
        for _ in range(6):
            a_session(house)
        house.works()
        asking.model.fails_with(*[Status(500)] * 20)
        asking.refine().run()
        assert len(asking.model.requests) == breaker.FAILURES
        assert asking.spending().paused_until > clock.now_ms()
        assert "PAUSED: 5 calls in a row failed" in asking.spending().line
        assert {job.state for job in house.store.jobs.all() if job.kind == "refine"} == {"waiting"}


class TestBeyondTheCap:
    def test_capture_and_rules_go_on_and_the_brief_says_so_once(self, house: House, asking: Asking) -> None:
        """CMEM-22, CMEM-23, CMEM-24."""
        house.sets("model.day_tokens", "3500")
        asking.answers()
        asking.model.aside("Log:", '{"operations": []}')
        a_session(house)
        assert asking.asks() == 1
        house.sets("model.day_tokens", "1700")
        story = a_session(house)
        assert asking.asks() == 0
        assert len(asking.model.requests) == 1
        assert house.store.memories.of_session(story.id), "captured and distilled"
        first = house.brief().text
        assert "asks no model for now" in first
        assert "model.day_tokens" in first
        started = house.session().starts()
        receipt(house, started.session)
        house.works()
        assert "asks no model for now" not in house.brief().text
        a_session(house)
        asking.asks()
        assert "asks no model for now" not in house.brief().text, "said once is enough"

    def test_what_waits_for_tomorrow_is_done_tomorrow(
        self, house: House, asking: Asking, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        house.sets("model.day_tokens", "1000")
        story = a_session(house)
        assert asking.asks() == 0
        assert asking.job(story)[:2] == ("waiting", 0), "no failure, and no try"
        house.sets("model.day_tokens", "100000")
        assert asking.asks() == 0
        tomorrow = clock.now_ms() + 25 * 3_600_000
        monkeypatch.setattr(clock, "now_ms", lambda: tomorrow)
        asking.answers()
        assert asking.asks() == 1

    def test_a_session_that_has_had_its_share_is_given_up(self, house: House, asking: Asking) -> None:
        house.sets("model.session_tokens", "1000")
        story = a_session(house)
        assert asking.asks() == 0
        assert asking.job(story)[0] == "done"
        assert asking.model.requests == []


def receipt(house: House, session: str) -> None:
    """What a hook leaves when it has given a brief."""
    from backstory.store.records import Injection

    with house.store.transaction():
        house.store.briefs.add(Injection(session, clock.now_ms(), "startup", 10, 3, ()))


def test_the_line_of_status_says_who_is_asked_and_what_it_took(house: House, asking: Asking) -> None:
    assert asking.spending().line.startswith("openai scripted-small: 0 calls today, 0 of 400,000 tokens")
    a_session(house)
    asking.answers()
    asking.asks()
    spent = asking.spending()
    assert (spent.today.calls, spent.today.tokens, spent.today.cost) == (1, 120, 200)
    assert "0.0002 of 1.00" in spent.line
    house.sets("model.prices", "other=1/1")
    assert asking.spending().unpriced == ("scripted-small",) or "scripted-small" in asking.spending().unpriced
    house.sets("model.provider", "off")
    assert asking.spending().line == "off: nothing is sent"
