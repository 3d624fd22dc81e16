"""The labelled sessions that we wrote, dev half: what the rules find there today, they must find tomorrow.

The held-out half is scored only by `bench/distil/run.py`, and never read while tuning.
"""

import pytest
from bench.distil.run import KINDS, Score, score
from bench.distil.sources import Case, authored

DEV = [case for case in authored() if not case.held_out]


@pytest.mark.parametrize("case", DEV, ids=[case.name for case in DEV])
def test_every_label_is_found_and_nothing_else(case: Case) -> None:
    scores = {kind: Score() for kind in KINDS}
    score(case, scores)
    assert [note for tally in scores.values() for note in tally.notes] == []


def test_there_are_labels_to_find() -> None:
    labels = [case.labels[kind] for case in DEV for kind in KINDS]
    found = sum(len(label) for label in labels if isinstance(label, list))
    assert len(DEV) >= 12
    assert found >= 30


def test_the_scorer_can_fail() -> None:
    scores = {kind: Score() for kind in KINDS}
    case = next(case for case in DEV if case.labels["failure_fix"])
    wrong = {"failure_fix": [{"fail": ["never"], "fix": ["seen"]}], "decisions": [], "next_steps": []}
    score(Case(case.name, case.group, case.session, case.events, wrong), scores)
    assert scores["failure_fix"].missed == 1
    assert scores["failure_fix"].wrong >= 1
