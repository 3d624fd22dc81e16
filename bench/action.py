"""How well notes at work keep to the point: what a prompt gets, and which decisions take whose place.

    python bench/action.py [FOLDER] [--json]

FOLDER, or BACKSTORY_BENCH_DATA, holds the data sets of `bench/recall`; without it only the hand-written cases
of `action_set.py` and `succession_set.py` are measured. What a note needs was fitted on `PROMPTS`, `OTHERS`
and the prompts of the coding sessions against the notes of the shop.
Precision is the share of what was said that belongs to the prompt; silent is the share of prompts that got
nothing.
"""

import argparse
import json
import os
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from bench import action_set, succession_set
from bench.recall import data, memory
from bench.recall.everyday import EVERYDAY

from backstory.distil.matters import read
from backstory.distil.succession import supersedes
from backstory.hook.notes import MOST, reached
from backstory.model import Memory, MemoryKind, MemoryStatus, Scope, Tier
from backstory.recall import notes
from backstory.search import floor
from backstory.settings import Settings

_SOME = 200
_LONG = 1_000


def shop() -> dict[str, Any]:
    """The hand-written notes, prepared as the worker prepares a project's."""
    memories = [
        Memory(
            id=name, project_id="", project_name="", session_id="", agent="", kind=MemoryKind(kind),
            tier=Tier.RULES, status=MemoryStatus.CANDIDATE, scope=Scope.PROJECT, text=text, detail="",
            reason="", files=(), said_by="", at=0, weight=1.0, pinned=False, turn=0, made_by="",
        )
        for name, kind, text in action_set.NOTES
    ]  # fmt: skip
    weights, words = notes.words_of(memories, notes.weigher(Settings()))
    needed = floor.of_notes()
    return {"weights": weights, "words": words, "floor": needed.weight, "longer": needed.a_doubling}


def said(prompt: str, prepared: dict[str, Any]) -> list[str]:
    """What would be said on a prompt."""
    return [note for note, _ in reached(prompt, prepared)][: MOST["prompt"]]


def to_the_point(cases: Sequence[tuple[str, set[str]]], prepared: dict[str, Any]) -> dict[str, Any]:
    """Of prompts that notes would help: how many got one that does, and how much of what was said does."""
    helped = right = total = 0
    for prompt, wanted in cases:
        told = set(said(prompt, prepared))
        helped += bool(told & wanted)
        right += len(told & wanted)
        total += len(told)
    return {
        "prompts": len(cases),
        "helped": helped,
        "said": total,
        "precision": round(right / max(1, total), 3),
    }


def silence(prompts: Iterable[str], prepared: dict[str, Any]) -> dict[str, Any]:
    """How many prompts got nothing."""
    quiet = [not said(prompt, prepared) for prompt in prompts]
    return {"prompts": len(quiet), "silent": round(sum(quiet) / len(quiet), 3)}


def successions(same: Sequence[tuple[str, str]], apart: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Of pairs on one matter, and of near misses: in how many the newer was taken for the successor."""
    found = [supersedes(read(newer), read(older)) for older, newer in same]
    wrong = [supersedes(read(newer), read(older)) for older, newer in apart]
    return {
        "same": len(same),
        "found": sum(map(bool, found)),
        "apart": len(apart),
        "wrongly": sum(map(bool, wrong)),
    }


def of_the_data(folder: Path, hand: dict[str, Any]) -> dict[str, Any]:
    """Silence on questions that have nothing to do with a project, its notes made from real sessions."""
    work = next(data.coding(folder))
    talk = [ask.text for case in data.locomo(folder) for ask in case.asks[:40]][:_SOME]
    with memory.filled(work) as (app, _, _):
        real = notes.notes(app.store, memory.PROJECT.id, notes.weigher(Settings()))
    commits = [ask.text for ask in work.asks]
    prompts = [turn.text for session in work.sessions for turn in session.turns if turn.asked]
    return {
        "notes of 132 coding sessions": len(real["notes"]),
        "everyday questions": silence(EVERYDAY, real),
        "questions of conversations": silence(talk, real),
        "prompts of other work": silence(action_set.OTHERS, real),
        "prompts of the shop": silence([prompt for prompt, _ in action_set.PROMPTS], real),
        "shop: everyday questions": silence(EVERYDAY, hand),
        "shop: questions of conversations": silence(talk, hand),
        "shop: commits of another project": silence(commits, hand),
        "shop: another project's prompts": silence([p for p in prompts if len(p) < _LONG], hand),
        "shop: its long prompts": silence([p for p in prompts if len(p) >= _LONG], hand),
    }


def main() -> None:
    """Measure and print."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("folder", nargs="?", default=os.environ.get("BACKSTORY_BENCH_DATA", ""))
    arguments.add_argument("--json", action="store_true")
    given = arguments.parse_args()
    hand = shop()
    began = time.perf_counter()
    for prompt, _ in action_set.PROMPTS:
        said(prompt, hand)
    each = (time.perf_counter() - began) / len(action_set.PROMPTS)
    result: dict[str, Any] = {
        "floor": floor.FLOOR,
        "prompts, tuned on": to_the_point(action_set.PROMPTS, hand),
        "prompts, unseen": to_the_point(action_set.UNSEEN, hand),
        "other work, tuned on": silence(action_set.OTHERS, hand),
        "successions, tuned on": successions(succession_set.SAME, succession_set.APART),
        "successions, unseen": successions(succession_set.UNSEEN_SAME, succession_set.UNSEEN_APART),
        "matching, ms": round(each * 1000, 3),
    }
    if given.folder:
        result |= of_the_data(Path(given.folder), hand)
    if given.json:
        print(json.dumps(result, indent=1))
        return
    for what, value in result.items():
        told = value if not isinstance(value, dict) else "  ".join(f"{k} {v}" for k, v in value.items())
        print(f"{what:36} {told}")


if __name__ == "__main__":
    main()
