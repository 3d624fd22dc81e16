"""Drawings for people who would rather look, as SVG from the server: no script, both themes, readable aloud.

Colours come from the style sheet by class. Each drawing says in words what it shows.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta, tzinfo

from backstory import clock
from backstory.present.plain_text import one_line
from backstory.web.markup import Html, h

_LEVELS = 4
_CELL, _GAP = 13, 3
_LEFT, _TOP = 30, 18
_BAR, _WIDTH, _LABEL = 26, 320, 132


def days(now: int, number: int, zone: tzinfo | None) -> list[str]:
    """The last days up to today, oldest first."""
    today = clock.in_zone(now, zone).date()
    return [(today - timedelta(days=back)).isoformat() for back in reversed(range(number))]


def by_day(shown: Sequence[str], zone: tzinfo | None, values: Iterable[tuple[int, int]]) -> dict[str, int]:
    """Sums for each of these days, of what happened when."""
    starts = [clock.day_start(date.fromisoformat(day), zone) for day in shown]
    found: dict[str, int] = {}
    for at, n in values:
        if place := bisect_right(starts, at):
            day = shown[place - 1]
            found[day] = found.get(day, 0) + n
    return found


def calendar(shown: Sequence[str], values: Mapping[str, int]) -> Html:
    """A square a day, a column a week under its month, stronger where there was more."""
    most = max((values.get(day, 0) for day in shown), default=0)
    first = date.fromisoformat(shown[0])
    step = _CELL + _GAP
    cells = [
        h("text", name, x=0, y=_TOP + row * step + _CELL - 2, class_="value")
        for row, name in ((0, "Mon"), (2, "Wed"), (4, "Fri"))
    ]
    month = ""
    for number, day in enumerate(shown):
        place = number + first.weekday()
        x, y = _LEFT + place // 7 * step, _TOP + place % 7 * step
        if place % 7 == 0 and day[:7] != month and day[8:] <= "07":
            month = day[:7]
            cells.append(h("text", f"{date.fromisoformat(day):%b}", x=x, y=_TOP - 6, class_="value"))
        level = 0 if not values.get(day) else min(_LEVELS, 1 + (_LEVELS * values[day] - 1) // max(most, 1))
        cells.append(h("rect", x=x, y=y, width=_CELL, height=_CELL, rx=3, class_=f"level{level}"))
    weeks = (len(shown) + first.weekday() + 6) // 7
    total = sum(values.get(day, 0) for day in shown)
    busiest = max(shown, key=lambda day: values.get(day, 0))
    says = f"{total:,} events on {sum(bool(values.get(day)) for day in shown)} of {len(shown)} days"
    says += f", most on {busiest} ({most:,})" if most else ""
    return _drawing(cells, _LEFT + weeks * step, _TOP + 7 * step, says, "calendar")


def bars(rows: Sequence[tuple[str, int]], shorten: bool = False) -> Html:
    """Values side by side, the largest as wide as the drawing."""
    if not rows:
        return h("p", "Nothing yet.", class_="none")
    most = max(n for _, n in rows) or 1
    parts = []
    for number, (name, n) in enumerate(rows):
        label = _tail(name, 20) if shorten else one_line(name, 20)
        y = number * _BAR
        width = max(3, round((_WIDTH - _LABEL - 60) * n / most))
        parts += [
            h("text", label, x=0, y=y + 17, class_="label"),
            h("rect", x=_LABEL, y=y + 5, width=width, height=_BAR - 10, rx=3, class_="bar"),
            h("text", f"{n:,}", x=_LABEL + width + 8, y=y + 17, class_="value"),
        ]
    says = ", ".join(f"{one_line(name, 60)}: {n:,}" for name, n in rows)
    return _drawing(parts, _WIDTH, len(rows) * _BAR, says, "bars")


def columns(shown: Sequence[str], values: Mapping[str, int]) -> Html:
    """A column a day, with the scale at its top."""
    most = max((values.get(day, 0) for day in shown), default=0)
    if not most:
        return h("p", "Nothing yet.", class_="none")
    height, step = 120, _WIDTH / len(shown)
    parts = [
        h("line", x1=0, x2=_WIDTH, y1=16, y2=16, class_="grid"),
        h("text", f"{most:,}", x=0, y=11, class_="value"),
        h("line", x1=0, x2=_WIDTH, y1=height, y2=height, class_="axis"),
        h("text", shown[0], x=0, y=height + 16, class_="value"),
        h("text", "today", x=_WIDTH, y=height + 16, class_="value end"),
    ]
    for number, day in enumerate(shown):
        if n := values.get(day, 0):
            tall = max(2, round((height - 16) * n / most))
            parts.append(
                h(
                    "rect",
                    x=round(number * step + 1, 1),
                    y=height - tall,
                    width=round(step - 2, 1),
                    height=tall,
                    rx=2,
                    class_="bar",
                )
            )
    total = sum(values.get(day, 0) for day in shown)
    return _drawing(parts, _WIDTH, height + 20, f"{total:,} in all, at most {most:,} a day", "columns")


def share(used: float, of: float, says: str) -> Html:
    """How much of a limit is used."""
    width = 0 if of <= 0 else min(1.0, used / of) * 100
    parts = [
        h("rect", x=0, y=0, width=100, height=10, class_="level0"),
        h("rect", x=0, y=0, width=round(width, 1), height=10, class_="bar" if used < of else "over"),
    ]
    return _drawing(parts, 100, 10, says, "share", fit="none")


def _tail(path: str, longest: int) -> str:
    """The end of a path: the part that tells files apart."""
    text = one_line(path)
    return text if len(text) <= longest else "…" + text[-longest + 1 :]


def _drawing(
    parts: Sequence[Html], width: int, height: int, says: str, kind: str, fit: str = "xMinYMin meet"
) -> Html:
    return h(
        "svg",
        h("title", says),
        parts,
        viewBox=f"0 0 {width} {height}",
        role="img",
        class_=kind,
        aria_label=says,
        preserveAspectRatio=fit,
    )
