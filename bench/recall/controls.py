"""Negative controls: does an off-topic question get nothing, and an on-topic one something?

Each question is asked twice: of the search that users get, and of the same search without vectors. The rows
of developers' questions in other words are harder on purpose, and counted apart.
"""

import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from bench.recall import data, developers, memory
from bench.recall.everyday import EVERYDAY

from backstory.app import App
from backstory.search.find import BY_WORDS, search

_SOME = 60
_CHATS = 100
_APART = "developers"
Silences = dict[tuple[str, str, bool], list[tuple[bool, bool]]]


def controls(folder: Path, only: str | None = None) -> list[dict[str, Any]]:
    """How many questions of each kind got nothing, on what was tuned and on what was not, or on one only."""
    talks, work = list(data.locomo(folder)), next(data.coding(folder))
    chosen = random.Random(11)
    counted: Silences = {}
    for number, case in enumerate(talks):
        split = "dev" if case.tuned else "test"
        if only not in (None, split):
            continue
        other = talks[(number + 1) % 5 + (0 if case.tuned else 5)]
        with memory.filled(case) as (app, _, _):
            for what, on_topic, texts in (
                ("conversation: its own questions", True, _some(chosen, case)),
                ("conversation: another one's questions", False, _some(chosen, other)),
                ("conversation: everyday questions", False, EVERYDAY),
                ("conversation: commits of a code base", False, _some(chosen, work)),
            ):
                counted.setdefault((split, what, on_topic), []).extend(_silent(app, texts))
    for split, project in (("dev", developers.TRAILS), ("test", developers.CLINIC)):
        if only in (None, split):
            with memory.worked(project.sessions) as app:
                for what, on_topic, texts in (
                    ("a small project: its own, in other words", True, [text for text, _ in project.asked]),
                    ("a small project: of other projects", False, project.foreign),
                ):
                    counted.setdefault((split, f"{_APART}, {what}", on_topic), []).extend(_silent(app, texts))
    with memory.filled(work) as (app, _, _):
        for split, asked, foreign in (
            ("dev", developers.OF_SESSIONS, developers.TRAILS.foreign),
            ("test", developers.OF_SESSIONS_HELD_OUT, developers.CLINIC.foreign),
        ):
            if only in (None, split):
                own = counted.setdefault((split, f"{_APART}, coding: its own, in other words", True), [])
                own.extend(_silent(app, [text for text, _ in asked]))
                others = counted.setdefault((split, f"{_APART}, coding: of other projects", False), [])
                others.extend(_silent(app, foreign))
        for split, what, on_topic, texts in (
            ("dev", "coding: its own commits", True, [ask.text for ask in work.asks]),
            ("dev", "coding: everyday questions", False, EVERYDAY),
            ("dev", "coding: questions of conversations", False, _some(chosen, talks[0])),
            ("test", "coding: questions of conversations", False, _some(chosen, talks[7])),
        ):
            if only in (None, split):
                counted.setdefault((split, what, on_topic), []).extend(_silent(app, texts))
    for case in chosen.sample(list(data.longmemeval(folder)), _CHATS):
        split = "dev" if case.tuned else "test"
        if only not in (None, split):
            continue
        with memory.filled(case) as (app, _, _):
            for what, on_topic, text in (
                ("chats: its own question", True, case.asks[0].text),
                ("chats: an everyday question", False, chosen.choice(EVERYDAY)),
            ):
                counted.setdefault((split, what, on_topic), []).extend(_silent(app, [text]))
    rows = [_row(split, what, silent) for (split, what, _), silent in sorted(counted.items())]
    for split in ("dev", "test"):
        if only not in (None, split):
            continue
        for apart in (False, True):
            for what, wanted in (("all on-topic questions", True), ("all off-topic questions", False)):
                silent = [
                    pair
                    for (s, name, on), some in counted.items()
                    if (s, on, name.startswith(_APART)) == (split, wanted, apart)
                    for pair in some
                ]
                rows.append(_row(split, f"{_APART}, {what}" if apart else what, silent))
    return rows


def _silent(app: App, texts: Iterable[str]) -> list[tuple[bool, bool]]:
    """Whether each question got nothing: from search, and from search by words alone."""
    return [
        (
            not app.search(text, memory.PROJECT.id).hits,
            not search(app.store, text, memory.PROJECT.id, means=BY_WORDS).hits,
        )
        for text in texts
    ]


def _row(split: str, what: str, silent: list[tuple[bool, bool]]) -> dict[str, Any]:
    ours, words = (100 * sum(pair[n] for pair in silent) / len(silent) for n in (0, 1))
    return {
        "split": split,
        "what": what,
        "questions": len(silent),
        "silent": f"{ours:.1f} %",
        "by words": f"{words:.1f} % by words alone",
    }


def _some(chosen: random.Random, case: data.Case) -> list[str]:
    return [ask.text for ask in chosen.sample(case.asks, min(_SOME, len(case.asks)))]
