"""Fit what a passage is worth as a note at work (`recall/note_worth.py`), on labelled projects.

    python -m bench.work.fit_notes --data DIR

Each later session is played again, after its predecessors were imported. For every prompt, every failed
command and every command whose like failed before, each passage that was looked up is a case: 2 if it states
a fact that the session needs from here on, and 0.3 more if it states an important fact that holds. Ridge
regression, each project with the same weight. For every project the table says how many of its needs one row
a note would tell, with weights that were fitted on the other projects, beside the order of the search alone.
The last lines are the weights, fitted on all projects.
"""

import argparse
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from bench.work.home import ScratchHome
from bench.work.labels import Labelled, important, load
from bench.work.replay import Hook, hooks

from backstory.hook import error_signature, normalize
from backstory.paths import Home
from backstory.recall.informative import informative
from backstory.recall.lookup import Lookup, failure_question, reading
from backstory.recall.note_worth import FLOOR, features
from backstory.recall.notes import failed_stems
from backstory.store import open_store

_NEEDED, _IMPORTANT = 2.0, 0.3
_RIDGE = 20.0
_CANDIDATES = 40
_SHORTEST_PROMPT = 12


@dataclass(frozen=True, slots=True)
class Case:
    """A passage that a note could tell: its text, features, score, and the needs that it states in time."""

    text: str
    features: dict[str, float]
    score: float
    needs: frozenset[str]
    target: float


@dataclass(frozen=True, slots=True)
class Moment:
    """A time when a note could speak: the session's place in its project, and its cases."""

    session: int
    cases: tuple[Case, ...]


def main() -> None:
    """Print the table and the weights."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    asked = parser.parse_args()
    projects: dict[str, list[Moment]] = {}
    for folder in sorted(path.parent for path in asked.data.glob("*/gold.json")):
        with tempfile.TemporaryDirectory() as scratch:
            project = load(folder, Path(scratch))
            projects[project.name] = list(_moments(project, Path(scratch)))
    every = [case for moments in projects.values() for moment in moments for case in moment.cases]
    names = sorted({name for case in every for name in case.features})
    for held_out, moments in projects.items():
        weights = _fit([other for name, other in projects.items() if name != held_out], names)
        by_worth = _told(moments, lambda case: _worth(case, weights), FLOOR)  # noqa: B023
        by_score = _told(moments, lambda case: case.score, -1.0)
        print(f"{held_out}: needs told by one row a note: {by_worth}; in the order of search: {by_score}")
    for name, weight in _fit(list(projects.values()), names).items():
        print(f'    "{name}": {weight:.3f},')


def _moments(project: Labelled, scratch: Path) -> Iterator[Moment]:
    home = ScratchHome(scratch / "fit", project.agent, [], project.sessions[0].cwd)
    place = Home(scratch / "fit" / "home")
    for number, session in enumerate(project.sessions):
        if number and session.needs:
            holds = important(project.known_before(number))
            store = open_store(place)
            (project_id,) = [each.id for each in store.projects.all()]
            stems = failed_stems(store, project_id)
            store.close()
            with reading(str(place.database)) as connection:
                lookup = Lookup(connection, project_id)
                for hook in hooks(session.text):
                    if not (question := _question(hook, stems)):
                        continue
                    cases = []
                    for told, score, cosine in lookup.candidates(question)[:_CANDIDATES]:
                        if not (text := informative(told.form, told.kind, told.text)):
                            continue
                        needs = frozenset(
                            need.fact.id
                            for need in session.needs
                            if need.fact.is_in(text) and (hook.line <= need.line or not need.line)
                        )
                        target = _NEEDED * bool(needs) + _IMPORTANT * any(f.is_in(text) for f in holds)
                        found = features(told.form, text, score, cosine)
                        cases.append(Case(text, found, score, needs, target))
                    yield Moment(number, tuple(cases))
        home.add([session])
    home.close()


def _question(hook: Hook, stems: Sequence[str]) -> str:
    """What is looked up at this event; "" for nothing."""
    command = str((hook.fields.get("tool_input") or {}).get("command") or "")
    if hook.event == "UserPromptSubmit":
        prompt = str(hook.fields["prompt"])
        return prompt if len(prompt) >= _SHORTEST_PROMPT else ""
    if hook.event == "PreToolUse" and command:
        return next((stem for stem in normalize.command_stems(command) if stem in stems), "")
    error = str(hook.fields.get("error") or "")
    if hook.event == "PostToolUseFailure" and command and not error_signature.is_noise(error):
        return failure_question(command, error)
    return ""


def _fit(projects: Sequence[Sequence[Moment]], names: Sequence[str]) -> dict[str, float]:
    """Weights by ridge regression; each project counts the same."""
    left, right = _RIDGE * np.eye(len(names)), np.zeros(len(names))
    for moments in projects:
        cases = [case for moment in moments for case in moment.cases]
        x = np.array([[case.features.get(name, 0.0) for name in names] for case in cases])
        y = np.array([case.target for case in cases])
        left += x.T @ x * (1000 / len(cases))
        right += x.T @ y * (1000 / len(cases))
    return dict(zip(names, map(float, np.linalg.solve(left, right)), strict=True))


def _worth(case: Case, weights: dict[str, float]) -> float:
    return sum(weights[name] * value for name, value in case.features.items())


def _told(moments: Sequence[Moment], value: Callable[[Case], float], floor: float) -> int:
    """How many needs are told if each note tells the best row that the session has not heard yet."""
    told: set[tuple[int, str]] = set()
    heard: set[tuple[int, str]] = set()
    for moment in moments:
        left = [case for case in moment.cases if (moment.session, case.text) not in heard]
        best = max(left, key=value, default=None)
        if best is not None and value(best) >= floor:
            heard.add((moment.session, best.text))
            told.update((moment.session, need) for need in best.needs)
    return len(told)


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    main()
