"""The agent's own todo list, as it stood last.

Some plan tools rewrite the whole list, others add and change single tasks.
"""

import json
import re
from dataclasses import dataclass, replace

from backstory.distil.story import Plan, Turn

DONE = frozenset({"completed", "done", "cancelled", "deleted"})
_BOX = re.compile(r"\[([ xX~])\]\s*(.+)")


@dataclass(frozen=True, slots=True)
class Item:
    """One task of a plan."""

    content: str
    status: str
    source: str
    at: int
    turn: int


def plan_items(turns: list[Turn]) -> list[Item]:
    """The tasks of the newest plan with their status."""
    items: list[Item] = []
    for turn in turns:
        for plan in turn.plans:
            value = _value(plan.text)
            if isinstance(value, dict) and "taskId" in value:
                _update(items, value)
            elif isinstance(value, dict) and isinstance(value.get("subject"), str):
                items.append(Item(str(value["subject"]), "pending", plan.id, plan.at, turn.number))
            elif listed := _listed(value, plan, turn.number):
                items = listed
    return items


def _value(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return [
            {"content": m.group(2), "status": "done" if m.group(1) in "xX" else "pending"}
            for m in _BOX.finditer(text)
        ]


def _update(items: list[Item], value: dict[str, object]) -> None:
    """Tasks are numbered in the order in which they were made, from 1."""
    number = str(value["taskId"])
    at = int(number) - 1 if number.isdigit() else -1
    if 0 <= at < len(items) and isinstance(value.get("status"), str):
        items[at] = replace(items[at], status=str(value["status"]))


def _listed(value: object, plan: Plan, turn: int) -> list[Item]:
    if isinstance(value, dict):
        value = next(
            (v for key in ("todos", "plan", "steps", "items") if isinstance(v := value.get(key), list)), []
        )
    found: list[Item] = []
    for row in value if isinstance(value, list) else []:
        if isinstance(row, dict):
            content = next(
                (
                    v
                    for key in ("content", "step", "subject", "text")
                    if isinstance(v := row.get(key), str) and v
                ),
                "",
            )
            if content:
                found.append(Item(content, str(row.get("status", "pending")), plan.id, plan.at, turn))
    return found
