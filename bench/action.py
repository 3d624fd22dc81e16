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

from bench import action_deeds, action_names, action_set, succession_set
from bench.recall import data, memory
from bench.recall.everyday import EVERYDAY

from backstory.distil.matters import read
from backstory.distil.succession import supersedes
from backstory.hook.work_notes import MOST, before_tool, met_before, reached
from backstory.model import Memory, MemoryKind, MemoryStatus, Scope, Tier
from backstory.recall import notes
from backstory.recall.named import strong
from backstory.search import floor

_SOME = 200
_LONG = 1_000


def hand(told: Sequence[tuple[str, str, str]]) -> dict[str, Any]:
    """Hand-written notes, prepared as the worker prepares a project's."""
    memories = [
        Memory(
            id=name, project_id="", project_name="", session_id="", agent="", kind=MemoryKind(kind),
            tier=Tier.RULES, status=MemoryStatus.CANDIDATE, scope=Scope.PROJECT, text=text, detail="",
            reason="", files=(), said_by="", at=0, weight=1.0, pinned=False, turn=0, made_by="",
        )
        for name, kind, text in told
    ]  # fmt: skip
    weights, words = notes.words_of(memories, notes.weigh)
    needed = floor.of_notes()
    return {"weights": weights, "words": words, "floor": needed.weight, "longer": needed.a_doubling,
            "strong": strong(memories).alone, "within": strong(memories).within}  # fmt: skip


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


def of_deeds() -> dict[str, Any]:
    """Of commands, edits and errors: which get a note, and whether it is the one that belongs to them."""
    with memory.worked(action_deeds.SESSIONS) as app:
        prepared = notes.notes(app.store, memory.PROJECT.id, notes.weigh)
    texts = {row["id"]: row["text"] for row in prepared["notes"]}

    def scored(found: Iterable[tuple[list[str], str]]) -> dict[str, Any]:
        told = [(texts[ids[0]] if ids else "", wanted) for ids, wanted in found]
        return {
            "cases": len(told),
            "due": sum(bool(wanted) for _, wanted in told),
            "said": sum(bool(text) for text, _ in told),
            "right": sum(bool(text and wanted and wanted in text) for text, wanted in told),
        }

    before = [
        (given, before_tool({"tool_input": given}, prepared, "/bench"), w) for given, w in action_deeds.BEFORE
    ]
    after = [(met_before(error, command, prepared), w) for command, error, w in action_deeds.AFTER]
    return {
        "before a command": scored((ids, wanted) for given, ids, wanted in before if "command" in given),
        "before an edit": scored((ids, wanted) for given, ids, wanted in before if "command" not in given),
        "after an error": scored(after),
    }


def successions(same: Sequence[tuple[str, str]], apart: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Of pairs on one matter, and of near misses: in how many the newer was taken for the successor."""
    found = [bool(supersedes(read(newer), read(older))) for older, newer in same]
    wrong = [bool(supersedes(read(newer), read(older))) for older, newer in apart]
    return {"same": len(same), "found": sum(found), "apart": len(apart), "wrongly": sum(wrong)}


def of_the_data(folder: Path, shop: dict[str, Any], names: dict[str, Any]) -> dict[str, Any]:
    """Silence on questions that have nothing to do with a project, its notes made from real sessions."""
    work = next(data.coding(folder))
    talk = [ask.text for case in data.locomo(folder) for ask in case.asks[:40]][:_SOME]
    with memory.filled(work) as (app, _, _):
        real = notes.notes(app.store, memory.PROJECT.id, notes.weigh)
    commits = [ask.text for ask in work.asks]
    prompts = [turn.text for session in work.sessions for turn in session.turns if turn.asked]
    return {
        "notes of 132 coding sessions": len(real["notes"]),
        "everyday questions": silence(EVERYDAY, real),
        "questions of conversations": silence(talk, real),
        "prompts of other work": silence(action_set.OTHERS, real),
        "its own commits": silence(commits, real),
        "prompts of the shop": silence([prompt for prompt, _ in action_set.PROMPTS], real),
        "shop: everyday questions": silence(EVERYDAY, shop),
        "shop: questions of conversations": silence(talk, shop),
        "shop: commits of another project": silence(commits, shop),
        "shop: another project's prompts": silence([p for p in prompts if len(p) < _LONG], shop),
        "shop: its long prompts": silence([p for p in prompts if len(p) >= _LONG], shop),
        "names: everyday questions": silence(EVERYDAY, names),
        "names: questions of conversations": silence(talk, names),
        "names: commits of another project": silence(commits, names),
        "names: another project's prompts": silence(prompts, names),
    }


def main() -> None:
    """Measure and print."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("folder", nargs="?", default=os.environ.get("BACKSTORY_BENCH_DATA", ""))
    arguments.add_argument("--json", action="store_true")
    given = arguments.parse_args()
    shop, names, held = map(hand, (action_set.NOTES, action_names.NOTES, action_names.HELD_NOTES))
    placed, held_placed = map(hand, (action_names.PLACED_NOTES, action_names.HELD_PLACED_NOTES))
    began = time.perf_counter()
    for prompt, _ in action_set.PROMPTS:
        said(prompt, shop)
    each = (time.perf_counter() - began) / len(action_set.PROMPTS)
    result: dict[str, Any] = {
        "floor": floor.FLOOR,
        "prompts, tuned on": to_the_point(action_set.PROMPTS, shop),
        "prompts, unseen": to_the_point(action_set.UNSEEN, shop),
        "other work, tuned on": silence(action_set.OTHERS, shop),
        "names, tuned on": to_the_point(action_names.ASKED, names),
        "names, unseen": to_the_point(action_names.HELD_ASKED, held),
        "names with a place, tuned on": to_the_point(action_names.PLACED_ASKED, placed),
        "names with a place, unseen": to_the_point(action_names.HELD_PLACED_ASKED, held_placed),
        "names: elsewhere, tuned on": silence(action_names.PLACED_ELSEWHERE, placed),
        "names: elsewhere, unseen": silence(action_names.HELD_PLACED_ELSEWHERE, held_placed),
        "names: near misses, tuned on": silence(action_names.BESIDE, names),
        "names: near misses, unseen": silence(action_names.HELD_BESIDE, held),
        "names: other work": silence(action_set.OTHERS, names),
        "successions, tuned on": successions(succession_set.SAME, succession_set.APART),
        "successions, unseen": successions(succession_set.UNSEEN_SAME, succession_set.UNSEEN_APART),
        "matching, ms": round(each * 1000, 3),
    }
    result |= of_deeds()
    if given.folder:
        result |= of_the_data(Path(given.folder), shop, names)
    if given.json:
        print(json.dumps(result, indent=1))
        return
    for what, value in result.items():
        told = value if not isinstance(value, dict) else "  ".join(f"{k} {v}" for k, v in value.items())
        print(f"{what:36} {told}")


if __name__ == "__main__":
    main()
