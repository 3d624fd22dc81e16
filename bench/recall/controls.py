"""Negative controls: does an off-topic question get nothing, and an on-topic one something?"""

import random
from pathlib import Path
from typing import Any

from bench.recall import data, memory
from bench.recall.everyday import EVERYDAY

_SOME = 60


def controls(folder: Path) -> list[dict[str, Any]]:
    """How many questions of each kind got nothing, on what was tuned and on what was not."""
    talks, work = list(data.locomo(folder)), next(data.coding(folder))
    chosen = random.Random(11)
    counted: dict[tuple[str, str], list[bool]] = {}
    for number, case in enumerate(talks):
        split = "dev" if case.tuned else "test"
        other = talks[(number + 1) % 5 + (0 if case.tuned else 5)]
        with memory.filled(case) as (app, _, _):
            for what, texts in (
                ("conversation: its own questions", _some(chosen, case)),
                ("conversation: another one's questions", _some(chosen, other)),
                ("conversation: everyday questions", list(EVERYDAY)),
                ("conversation: commits of a code base", _some(chosen, work)),
            ):
                asked = [not app.search(text, memory.PROJECT.id).hits for text in texts]
                counted.setdefault((split, what), []).extend(asked)
    with memory.filled(work) as (app, _, _):
        for split, what, texts in (
            ("dev", "coding: its own commits", [ask.text for ask in work.asks]),
            ("dev", "coding: everyday questions", list(EVERYDAY)),
            ("dev", "coding: questions of conversations", _some(chosen, talks[0])),
            ("test", "coding: questions of conversations", _some(chosen, talks[7])),
        ):
            asked = [not app.search(text, memory.PROJECT.id).hits for text in texts]
            counted.setdefault((split, what), []).extend(asked)
    rows = list(data.longmemeval(folder))
    for case in chosen.sample(rows, 100):
        split = "dev" if case.tuned else "test"
        with memory.filled(case) as (app, _, _):
            for what, text in (
                ("chats: its own question", case.asks[0].text),
                ("chats: an everyday question", chosen.choice(EVERYDAY)),
            ):
                counted.setdefault((split, what), []).append(not app.search(text, memory.PROJECT.id).hits)
    return [
        {
            "split": split,
            "what": what,
            "questions": len(silent),
            "silent": f"{100 * sum(silent) / len(silent):.1f} %",
        }
        for (split, what), silent in sorted(counted.items())
    ]


def _some(chosen: random.Random, case: data.Case) -> list[str]:
    return [ask.text for ask in chosen.sample(case.asks, min(_SOME, len(case.asks)))]
