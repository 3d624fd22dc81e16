"""What models may take and have taken: against their caps, as pictures; and the ledger, call by call."""

from collections.abc import Sequence
from datetime import tzinfo

from backstory import clock
from backstory.app import App
from backstory.llm.governor import Spending
from backstory.llm.model_provider import OFF
from backstory.llm.prices import format_money
from backstory.present.plain_text import one_line
from backstory.store.records import Call
from backstory.web import charts
from backstory.web.markup import Html, h
from backstory.web.pages import components
from backstory.web.request import PageRequest

_DAYS_MS = 30 * 86_400_000
_CALLS = 12
_TONES = {"ok": "green", "open": "grey"}


def against_caps(spending: Spending) -> list[Html]:
    """What today and this month have taken of what they may."""
    rows = []
    for name, scope, spent in (("Today", "day", spending.today), ("This month", "month", spending.month)):
        cap = spending.caps[scope]
        words = f"{spent.tokens:,} of {cap.tokens:,} tokens"
        rows.append(_meter(name, words, spent.tokens, cap.tokens))
        if not spending.unpriced:
            rows.append(
                _meter(
                    "",
                    f"{format_money(spent.cost)} of {format_money(cap.money)} in money",
                    spent.cost,
                    cap.money,
                )
            )
    return rows


def _meter(name: str, words: str, used: int, of: int) -> Html:
    text = f"{name}: {words}" if name else words
    return h("div", h("p", h("strong", f"{name} ") if name else None, words), charts.share(used, of, text))


def spending_section(app: App, asked: PageRequest, spending: Spending) -> Html:
    """The part of a page that tells all of it; `backstory cost` is the same."""
    title = h("h2", "Models", id="models")
    since = clock.now_ms() - _DAYS_MS
    calls = app.model_calls(_CALLS, since)
    if spending.provider == OFF and not calls:
        says = "No model is asked, and nothing is sent anywhere: everything here was made by rules. "
        return h("section", title, h("p", says, h("a", "Settings", href="/settings#model.provider")))
    return h(
        "section",
        title,
        h("p", spending.line, class_="how"),
        _paused(asked, spending),
        h("div", against_caps(spending), class_="meters"),
        _by_purpose(app, since),
        _ledger(calls, asked.zone),
    )


def _paused(asked: PageRequest, spending: Spending) -> Html | None:
    if not spending.paused_until:
        return None
    button = h("button", "Ask models again", type="submit", class_="button")
    form = None if asked.read_only else components.post_form("/models/resume", asked, button)
    until = clock.stamp(spending.paused_until, asked.zone)
    return h("div", h("p", f"No model is asked until {until}: {spending.paused_why}"), form, class_="paused")


def _by_purpose(app: App, since: int) -> Html | None:
    rows = [
        (
            row.purpose,
            f"{row.provider} {row.model}",
            f"{row.calls:,}",
            f"{row.failed:,}",
            f"{row.tokens_in:,}",
            f"{row.tokens_out:,}",
            format_money(row.cost),
        )
        for row in app.spent_on(since)
    ]
    heads = ("for", "model", "calls", "failed", "tokens in", "out", "money")
    return _table("The last 30 days", heads, rows)


def _ledger(calls: list[Call], zone: tzinfo | None) -> Html | None:
    rows = [
        (
            clock.stamp(call.asked_at, zone),
            call.purpose,
            h("a", "its session", href=f"/sessions/{call.session_id}") if call.session_id else "–",
            components.chip(call.outcome, _TONES.get(call.outcome, "red")),
            f"{call.tokens_in:,} + {call.tokens_out:,}",
            format_money(call.cost),
            one_line(call.error, 160),
        )
        for call in calls
    ]
    heads = ("asked", "for", "session", "outcome", "tokens", "money", "what went wrong")
    return _table("The latest calls", heads, rows)


def _table(title: str, heads: tuple[str, ...], rows: Sequence[tuple[object, ...]]) -> Html | None:
    if not rows:
        return None
    head = h("tr", [h("th", name, scope="col") for name in heads])
    body = [h("tr", [h("td", value) for value in row]) for row in rows]
    table = h("table", h("caption", title), h("thead", head), h("tbody", body))
    return h("div", table, class_="table", tabindex="0", role="region", aria_label=title)
