"""Fit what a statement is worth at a start (`recall/worth.py`), on labelled projects.

    python -m bench.work.fit_worth --data DIR

All sessions of each project are imported into a scratch home. At each later session's start every statement
of the earlier sessions is a case: 2 if it states a fact that the session needed, 0.6 if it states another
important fact that holds, else 0. Ridge regression, each project with the same weight. For every project the
table says how well weights that were fitted on the other projects rank its statements: the share of the best
eight a start that state an important fact, none twice, beside that of statements taken in their order. The
last lines are the weights, fitted on all projects, for `recall/worth.py`.
"""

import argparse
import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from bench.work.home import ScratchHome
from bench.work.labels import Fact, Labelled, important, load

from backstory.model import MemoryKind
from backstory.paths import Home
from backstory.recall.brief_rows import as_statement
from backstory.recall.worth import features, surroundings
from backstory.statements import Statement, statements
from backstory.store import open_store

_NEEDED, _WORTH = 2.0, 0.6
_RIDGE = 10.0
_TOLD = 8
_WEIGHED = (MemoryKind.LESSON,)
Matrix = np.ndarray[Any, np.dtype[np.floating[Any]]]


@dataclass(frozen=True, slots=True)
class Case:
    """A statement that could be told at a start: its features, the facts it states, what it is worth."""

    start: int
    features: dict[str, float]
    states: frozenset[str]
    target: float


def main() -> None:
    """Print the table and the weights."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    asked = parser.parse_args()
    cases: dict[str, list[Case]] = {}
    for folder in sorted(path.parent for path in asked.data.glob("*/gold.json")):
        with tempfile.TemporaryDirectory() as scratch:
            project = load(folder, Path(scratch))
            cases[project.name] = list(_cases(project, Path(scratch)))
    names = sorted({name for found in cases.values() for case in found for name in case.features})
    for held_out, found in cases.items():
        weights = fit([other for name, other in cases.items() if name != held_out], names)
        ranked = matrix(found, names) @ weights
        in_order = _share(found, -np.arange(len(found), dtype=float))
        print(
            f"{held_out}: {len(found)} cases, of the best {_TOLD} a start state an important fact "
            f"{_share(found, ranked):.2f}, in their order {in_order:.2f}"
        )
    weights = fit(list(cases.values()), names)
    print(f"INTERCEPT = {weights[-1]:.3f}")
    for name, weight in zip(names, weights, strict=False):
        print(f'    "{name}": {weight:.3f},')


def _cases(project: Labelled, scratch: Path) -> Iterator[Case]:
    known = _statements(project, scratch)
    numbers = {session.id: number for number, session in enumerate(project.sessions)}
    for start, session in enumerate(project.sessions):
        earlier = [(native, each) for native, each in known if numbers[native] < start]
        if not session.needs or not earlier:
            continue
        order = list(
            dict.fromkeys(each.session for _, each in sorted(earlier, key=lambda pair: -numbers[pair[0]]))
        )
        around = surroundings(order, [each for _, each in earlier])
        needed = [need.fact for need in session.needs]
        holds = important(project.known_before(start))
        for _, each in earlier:
            states = _stated(each, holds)
            target = _NEEDED if _stated(each, needed) else _WORTH if states else 0.0
            yield Case(start, features(each, around), states, target)


def _statements(project: Labelled, scratch: Path) -> list[tuple[str, Statement]]:
    """All statements of all sessions, each with the agent's own name of its session."""
    cwd = project.sessions[-1].cwd
    home = ScratchHome(scratch / "fit", project.agent, project.sessions, cwd)
    store = open_store(Home(scratch / "fit" / "home"))
    found: list[tuple[str, Statement]] = []
    for session in store.events.sessions(None, 10_000):
        native = next((each.id for each in project.sessions if each.id in session.native_id), "")
        memories = store.memories.of_session(session.id, _WEIGHED)
        own = [*statements(session, store.events.of_session(session.id)), *map(as_statement, memories)]
        found += [(native, each) for each in own if native]
    store.close()
    home.close()
    return found


def _stated(statement: Statement, facts: Sequence[Fact]) -> frozenset[str]:
    return frozenset(fact.id for fact in facts if fact.is_in(statement.told))


def matrix(cases: Sequence[Case], names: Sequence[str]) -> Matrix:
    """The features of cases in columns, and a column of ones."""
    return np.array([[*(case.features.get(name, 0.0) for name in names), 1.0] for case in cases])


def fit(projects: Sequence[Sequence[Case]], names: Sequence[str]) -> Matrix:
    """Weights by ridge regression, the intercept last; each project counts the same."""
    left = np.zeros((len(names) + 1, len(names) + 1))
    right = np.zeros(len(names) + 1)
    for cases in projects:
        x, y = matrix(cases, names), np.array([case.target for case in cases])
        left += x.T @ x * (1000 / len(cases))
        right += x.T @ y * (1000 / len(cases))
    penalty = _RIDGE * np.eye(len(names) + 1)
    penalty[-1, -1] = 0.0
    solved: Matrix = np.linalg.solve(left + penalty, right)
    return solved


def _share(cases: Sequence[Case], scores: Matrix) -> float:
    told = worth = 0
    for start in dict.fromkeys(case.start for case in cases):
        own = [number for number, case in enumerate(cases) if case.start == start]
        seen: set[str] = set()
        for number in sorted(own, key=lambda number: -scores[number])[:_TOLD]:
            told += 1
            worth += bool(cases[number].states - seen)
            seen |= cases[number].states
    return worth / max(1, told)


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    main()
