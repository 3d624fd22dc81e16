"""How well notes at work keep to the point where they are known by a key, and which decisions supersede.

    python -m bench.action [--json]

Hand-written cases: commands, edits and errors that a note belongs to or not, pairs of decisions. What prompts
and errors bring by looking up is measured on real work (`bench/work`).
"""

import argparse
import json
from collections.abc import Iterable, Sequence
from typing import Any

from bench import action_deeds, succession_set
from bench.recall import memory

from backstory.distil.matters import read_matter
from backstory.distil.succession import supersedes
from backstory.hook.work_notes import before_tool, met_before
from backstory.recall import notes


def of_deeds() -> dict[str, Any]:
    """Of commands, edits and errors: which get a note, and whether it is the one that belongs to them."""
    with memory.worked(action_deeds.SESSIONS) as app:
        prepared = notes.notes(app.store, memory.PROJECT.id)
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
    found = [bool(supersedes(read_matter(newer), read_matter(older))) for older, newer in same]
    wrong = [bool(supersedes(read_matter(newer), read_matter(older))) for older, newer in apart]
    return {"same": len(same), "found": sum(found), "apart": len(apart), "wrongly": sum(wrong)}


def main() -> None:
    """Measure and print."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--json", action="store_true")
    given = arguments.parse_args()
    result: dict[str, Any] = {
        "successions, tuned on": successions(succession_set.SAME, succession_set.APART),
        "successions, unseen": successions(succession_set.UNSEEN_SAME, succession_set.UNSEEN_APART),
        **of_deeds(),
    }
    if given.json:
        print(json.dumps(result, indent=1))
        return
    for what, value in result.items():
        print(f"{what:24} " + "  ".join(f"{name} {number}" for name, number in value.items()))


if __name__ == "__main__":
    main()
