"""`backstory cost`: what models have taken, and what they may take."""

from typing import Any

import click

from backstory import clock
from backstory.cli.output import Styled, json_option, line, print_json, table, talk
from backstory.cli.project_scope import open_app
from backstory.llm.governor import Spending
from backstory.llm.prices import format_money
from backstory.present.json_rows import spending_json
from backstory.store.records import Call

_STEPS = (
    ("asked", "asked_at"),
    ("answered", "answered_at"),
    ("parsed", "parsed_at"),
    ("stored", "stored_at"),
)


@click.command()
@click.option(
    "--since",
    metavar="WHEN",
    default="30d",
    show_default=True,
    help="YYYY-MM-DD (in your zone), or 2w, 3d, 12h ago.",
)
@click.option("--calls", is_flag=True, help="The calls one by one, with every step.")
@click.option(
    "--limit", type=click.IntRange(1, 1000), default=30, show_default=True, help="Most calls to list."
)
@click.option("--resume", is_flag=True, help="Ask models again after the breaker has stopped all calls.")
@json_option
def cost(since: str, calls: bool, limit: int, resume: bool, as_json: bool) -> None:
    """Show what models have taken, and what they may take.

    Without model.provider no model is ever asked. With one, each call is estimated first and held against
    the caps of a call, a session, a day and a month; beyond a cap everything goes on by rules. Calls that
    fail again and again, or take far more than they should, stop all calls for a while: --resume ends that.
    Money is in the currency of model.prices.
    """
    with open_app() as app:
        zone = clock.zone(app.settings.time_zone)
        begin = clock.parse_when(since, zone)
        if resume:
            app.resume_models()
            talk("Models are asked again.")
        spending = app.spending()
        rows = app.spent_on(begin)
        listed = app.model_calls(limit, begin) if calls else []
    if as_json:
        told: dict[str, Any] = {
            "spending": spending_json(spending),
            "since": begin,
            "by": [{**row._asdict(), "cost": row.cost / 1e6} for row in rows],
        }
        print_json(told | ({"calls": [_call_json(call) for call in listed]} if calls else {}))
        return
    line(spending.line)
    for model in spending.unpriced:
        talk(f"backstory: model.prices has no row for {model}: only the caps in tokens hold for it")
    table(_caps(spending), ("within", "tokens", "of", "money", "of"))
    if rows:
        line("")
        table(
            [
                [row.purpose, f"{row.provider} {row.model}", f"{row.calls:,}", f"{row.failed:,}",
                 f"{row.tokens_in:,}", f"{row.tokens_out:,}", format_money(row.cost)]
                for row in rows
            ],
            ("for", "model", "calls", "failed", "tokens in", "out", "money"),
        )  # fmt: skip
    if listed:
        line("")
        table(
            [
                [clock.stamp(call.asked_at, zone), call.purpose, call.session_id or "–", call.outcome,
                 _seconds(call), f"{call.tokens_in:,} + {call.tokens_out:,}", format_money(call.cost),
                 call.error]
                for call in listed
            ],
            ("asked", "for", "session", "outcome", "took", "tokens", "money", "what went wrong"),
        )  # fmt: skip


def _caps(spending: Spending) -> list[list[str | Styled]]:
    spent = {"day": spending.today, "month": spending.month}
    return [
        [
            f"a {scope}",
            f"{spent[scope].tokens:,}" if scope in spent else "–",
            f"{cap.tokens:,}",
            format_money(spent[scope].cost) if scope in spent else "–",
            format_money(cap.money),
        ]
        for scope, cap in spending.caps.items()
    ]


def _seconds(call: Call) -> str:
    return "–" if call.answered_at is None else f"{(call.answered_at - call.asked_at) / 1000:.1f} s"


def _call_json(call: Call) -> dict[str, Any]:
    steps = {name: getattr(call, column) for name, column in _STEPS}
    return {
        "id": call.id, "purpose": call.purpose, "session": call.session_id, "provider": call.provider,
        "model": call.model, "finalized": call.finalized_at, **steps, "outcome": call.outcome,
        "error": call.error, "tokens_in": call.tokens_in, "tokens_out": call.tokens_out,
        "cost": call.cost / 1e6,
    }  # fmt: skip
