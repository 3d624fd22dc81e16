"""The limits of a call, a session, a day and a month, in tokens and in money.

They fail closed: an amount that cannot be read allows nothing.
"""

from dataclasses import dataclass
from datetime import timedelta, tzinfo

from backstory.clock import in_zone
from backstory.llm.prices import format_money, parse_amount
from backstory.settings import Settings
from backstory.store.records import Spent

SCOPES = ("call", "session", "day", "month")


@dataclass(frozen=True, slots=True)
class Cap:
    """What may be spent within one scope; money in millionths."""

    scope: str
    tokens: int
    money: int

    def exceeded(self, spent: Spent, tokens: int, cost: int) -> str:
        """What a call would exceed, in words; "" if it fits."""
        if spent.tokens + tokens > self.tokens:
            used = f"{spent.tokens:,} + about {tokens:,}"
            return f"{used} tokens, the cap of a {self.scope} is {self.tokens:,} (model.{self.scope}_tokens)"
        if spent.cost + cost > self.money:
            used = f"{format_money(spent.cost)} + about {format_money(cost)}"
            return (
                f"{used}, the cap of a {self.scope} is {format_money(self.money)} (model.{self.scope}_money)"
            )
        return ""


def spending_caps(settings: Settings) -> dict[str, Cap]:
    """The caps that the settings name, by scope."""
    return {
        scope: Cap(
            scope,
            getattr(settings, f"model_{scope}_tokens"),
            parse_amount(getattr(settings, f"model_{scope}_money")) or 0,
        )
        for scope in SCOPES
    }


def cap_period(scope: str, now: int, zone: tzinfo | None) -> tuple[int, int]:
    """When the day or the month of `now` began, and when the next one begins."""
    begin = in_zone(now, zone).replace(hour=0, minute=0, second=0, microsecond=0)
    after = begin + timedelta(days=1)
    if scope == "month":
        begin = begin.replace(day=1)
        after = (begin + timedelta(days=32)).replace(day=1)
    return int(begin.timestamp() * 1000), int(after.timestamp() * 1000)
