"""Fit the weights of the marks of next steps, and say how well they carry over to sets unseen.

    python bench/distil/fit.py [--data DIR] [--show SET] [--write]

Logistic regression over the marks of each sentence (`backstory.distil.later`), in plain Python.
For the estimate each set is left out in turn: weights from all others, whole sessions scored.
What `--write` stores is fitted on everything.
"""

import argparse
import math
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast

sys.path.insert(0, str(Path(__file__).parents[2]))

from bench.distil.run import KINDS, Score, keywords, score
from bench.distil.sources import Case, cases, script, written
from tests.distil import test_second_blind, test_unseen_steps

from backstory.distil import later, steps, weights
from backstory.distil.prose import sentences
from backstory.distil.story import Limits
from backstory.distil.telling import tell

THRESHOLDS = (0.0, 0.2, 0.4, 0.6, 0.8)
RIDGE, ROUNDS = 1.0, 60
REAL = ("recordings", "recordings2", "recordings3", "transcripts", "blind", "blind2")  # not written by us
SINGLES = ("unseen", "second")  # sentences without a session: they are fitted on, and not summed up
Labels = list[list[str]]


@dataclass(frozen=True)
class Sample:
    """The marks of one sentence, whether it is wanted, and how much it counts."""

    marks: frozenset[str]
    wanted: bool
    counts: float


def sets(data: Path | None) -> dict[str, list[Case]]:
    """All labelled sessions, by where they come from."""
    found: dict[str, list[Case]] = {}
    for case in cases(data):
        split = str(case.labels.get("split", ""))
        name = f"recordings{split[5:]}" if case.group == "recordings" else split or case.group
        found.setdefault(name, []).append(case)
    for case in written():
        found.setdefault(case.name.split("/")[0], []).append(case)
    return found | _singles()


def _singles() -> dict[str, list[Case]]:
    """The sentences of the tests, each as a session of its own."""
    two = test_second_blind
    return {
        "unseen": [
            *(_ending(prompt, said, word) for prompt, said, word in test_unseen_steps.STEPS),
            *(_ending(prompt, said) for prompt, said in test_unseen_steps.NOT_STEPS),
        ],
        "second": [
            *(_ending(prompt, "Done.", prompt.split()[-1]) for prompt in two.STEPS),
            *(_ending(prompt, "Done.") for prompt in two.NO_STEPS),
        ],
    }


def _ending(prompt: str, said: str, word: str = "") -> Case:
    text = f"> build it\nedit a.py\nsaid\n  Built.\nend\n> {prompt or 'deploy it'}\nsaid\n  {said}\nend\n"
    return script(prompt, text, {"next_steps": [[word]] if word else []})


def _labels(case: Case, kind: str) -> tuple[Labels, Labels]:
    optional = cast("dict[str, Labels]", case.labels.get("optional", {}))
    return cast("Labels", case.labels.get(kind, [])), optional.get(kind, [])


def _holds(text: str, label: list[str]) -> bool:
    return all(any(word.lower() in text.lower() for word in key.split("|")) for key in keywords(label))


def step_samples(case: Case) -> Iterator[Sample]:
    """Every sentence at the end of the session."""
    want, optional = _labels(case, "next_steps")
    story = tell(case.session, case.events, Limits())
    turns = [turn for turn in story.turns if not turn.empty] if "next_steps" in case.labels else []

    def sample(text: str, spot: later.Spot, whole: str) -> Iterator[Sample]:
        if not later.vetoed(text):
            hit = any(_holds(whole, label) for label in want)
            skipped = not hit and any(_holds(whole, label) for label in optional)
            yield Sample(frozenset(later.marks(text, spot)), hit, 0.0 if skipped else 1.0)

    for _, text, spot, whole in later.prompted(turns) if not story.subagent else ():
        yield from sample(text, spot, whole)
    for turn, spot in steps.answers(story, turns):
        found = sentences(turn.last_said.text) if turn.last_said is not None else ()
        for number, sentence in enumerate(found):
            if not sentence.box and not steps.HEADING.search(sentence.heading):
                yield from sample(sentence.text, steps.placed(spot, number, len(found)), sentence.text)


def fit(samples: list[Sample]) -> dict[str, float]:
    """Weights by Newton's method, with a ridge that keeps rare marks small."""
    names = [*sorted({mark for sample in samples for mark in sample.marks}), "always"]
    place = {name: number for number, name in enumerate(names)}
    rows = [
        ([place[mark] for mark in sorted({*s.marks, "always"})], float(s.wanted), s.counts)
        for s in samples
        if s.counts
    ]
    ridge = [RIDGE] * (len(names) - 1) + [1e-6]
    weight = [0.0] * (len(names) - 1) + [-2.0]
    for _ in range(ROUNDS):
        slope = [keep * value for keep, value in zip(ridge, weight, strict=True)]
        bend = [[0.0] * len(names) for _ in names]
        for number, keep in enumerate(ridge):
            bend[number][number] = keep
        for marks, wanted, counts in rows:
            chance = _chance(weight, marks)
            for mark in marks:
                slope[mark] += counts * (chance - wanted)
                line = bend[mark]
                for other in marks:
                    line[other] += counts * chance * (1 - chance)
        step, pace, now = _solved(bend, slope), 1.0, _loss(weight, rows, ridge)
        while pace > 1e-4 and _loss(_moved(weight, step, pace), rows, ridge) > now:
            pace /= 2
        weight = _moved(weight, step, pace)
        if max(map(abs, step)) * pace < 1e-4:
            break
    return {name: round(value, 2) for name, value in zip(names, weight, strict=True)}


Rows = list[tuple[list[int], float, float]]


def _chance(weight: list[float], marks: list[int]) -> float:
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, sum(weight[mark] for mark in marks)))))


def _loss(weight: list[float], rows: Rows, ridge: list[float]) -> float:
    loss = sum(keep * value * value for keep, value in zip(ridge, weight, strict=True)) / 2
    for marks, wanted, counts in rows:
        chance = _chance(weight, marks)
        loss -= counts * math.log(chance if wanted else 1 - chance)
    return loss


def _moved(weight: list[float], step: list[float], pace: float) -> list[float]:
    return [value - pace * move for value, move in zip(weight, step, strict=True)]


def _solved(bend: list[list[float]], slope: list[float]) -> list[float]:
    """The step that the slope and the bend ask for (Gauss; the matrix is positive definite)."""
    lines = [[*line, value] for line, value in zip(bend, slope, strict=True)]
    for number, line in enumerate(lines):
        for other in lines[number + 1 :]:
            factor = other[number] / line[number]
            if factor:
                for column in range(number, len(line)):
                    other[column] -= factor * line[column]
    step = [0.0] * len(lines)
    for number in reversed(range(len(lines))):
        rest = sum(lines[number][column] * step[column] for column in range(number + 1, len(lines)))
        step[number] = (lines[number][-1] - rest) / lines[number][number]
    return step


@dataclass(frozen=True)
class Model:
    """What is fitted: where its samples come from, its table, and where its threshold lives."""

    samples: Callable[[Case], Iterator[Sample]]
    table: dict[str, float]
    place: object
    threshold: str

    def use(self, table: dict[str, float], threshold: float) -> None:
        self.table.clear()
        self.table.update(table)
        setattr(self.place, self.threshold, threshold)


MODELS = {
    "next_steps": Model(step_samples, weights.STEP, later, "STEP_ENOUGH"),
}


def estimate(kind: str, data: Path | None, show: str) -> dict[str, float]:
    """Leave out one set after the other; the weights fitted on all."""
    model, found = MODELS[kind], sets(data)
    samples = {
        name: [sample for case in chosen for sample in model.samples(case)] for name, chosen in found.items()
    }
    total = {(part, threshold): Score() for part in ("sessions", "real") for threshold in THRESHOLDS}
    print(f"{kind}, precision/recall (right, wrong, missed) at", *(f"{t:+.1f}" for t in THRESHOLDS))
    for name, chosen in found.items():
        table = fit([sample for other, rows in samples.items() if other != name for sample in rows])
        line = f"{name:12}"
        for threshold in THRESHOLDS:
            model.use(table, threshold)
            scores = {key: Score() for key in KINDS}
            for case in chosen:
                score(case, scores)
            tally = scores[kind]
            line += f"  {tally.precision:.2f}/{tally.recall:.2f} ({tally.right},{tally.wrong},{tally.missed})"
            _add(total["sessions", threshold], tally if name not in SINGLES else Score())
            _add(total["real", threshold], tally if name in REAL else Score())
            if name == show and threshold == getattr(weights, model.threshold):
                print("\n".join(tally.notes))
        print(line, flush=True)
    for part in ("real", "sessions"):
        scores_of = (total[part, threshold] for threshold in THRESHOLDS)
        print(
            f"{part:12}",
            *(f" {t.precision:.2f}/{t.recall:.2f} ({t.right},{t.wrong},{t.missed})" for t in scores_of),
        )
    return fit([sample for rows in samples.values() for sample in rows])


def _add(total: Score, tally: Score) -> None:
    for part in ("right", "wrong", "found", "missed"):
        setattr(total, part, getattr(total, part) + getattr(tally, part))


def store(table: dict[str, float]) -> None:
    """Write one table into `weights.py`, heaviest last."""
    path = Path(weights.__file__)
    name = "STEP"
    rows = "".join(
        f'    "{mark}": {value},\n' for mark, value in sorted(table.items(), key=lambda row: row[1])
    )
    head, _, rest = path.read_text("utf-8").partition(f"{name}: dict[str, float] = {{\n")
    path.write_text(
        f"{head}{name}: dict[str, float] = {{\n{rows}}}\n{rest.partition('}' + chr(10))[2]}", "utf-8"
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", default=os.environ.get("BACKSTORY_BENCH_DATA", ""))
    parser.add_argument(
        "--show", default="", help="misses and false positives of one set, at the threshold in use"
    )
    parser.add_argument("--write", action="store_true", help="store the weights fitted on everything")
    options = parser.parse_args()
    for kind in MODELS:
        table = estimate(kind, Path(options.data) if options.data else None, options.show)
        if options.write:
            store(table)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
