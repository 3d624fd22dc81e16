"""Precision and recall of the rules on labelled sessions: failure → fix, decisions, next steps.

    python bench/distil/run.py [--data DIR] [--split dev|held-out|both|blind|blind2|blind3|blind4] [--show]

Without `--split` every set is scored, each with a line that says for which version of the rules it was clean.
`--show` lists misses and false positives of one set, and refuses for the held-out half and for blind4. The
blind splits were recorded, cut and labelled by somebody who had not seen the rules.
"""

import argparse
import os
import statistics
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from bench.distil.sources import BLIND, Case, cases

from backstory.distil import VERSION, distil_session
from backstory.model import Draft, MemoryKind

KINDS = {
    "failure_fix": MemoryKind.LESSON,
    "decisions": MemoryKind.DECISION,
    "next_steps": MemoryKind.NEXT_STEP,
}
#: What the rules may have learned from a set. A set is clean for one version at most: after that it was read.
CLEAN = {
    "dev": "tuned on by every version",
    "held-out": "clean for none: t1.1 was partly tuned on it, later versions wholly",
    "blind": "clean for t1.1; tuned on since t1.2",
    "blind2": "clean for t1.2; tuned on since t1.3",
    "blind3": "clean for t1.4; tuned on since t1.5",
    "blind4": "clean for t1.5; never tuned on, only its score was seen since",
}
UNREAD = frozenset({"held-out", "blind4"})  # scored, never listed
TARGET_PRECISION, TARGET_RECALL = 0.8, 0.6


@dataclass
class Score:
    """Counts for one kind of memory."""

    right: int = 0
    wrong: int = 0
    found: int = 0
    missed: int = 0
    notes: list[str] = field(default_factory=list)

    @property
    def precision(self) -> float:
        return self.right / (self.right + self.wrong) if self.right + self.wrong else 1.0

    @property
    def recall(self) -> float:
        return self.found / (self.found + self.missed) if self.found + self.missed else 1.0


def keywords(label: object) -> list[str]:
    """A label is a list of keywords, or for failure → fix {"fail": [...], "fix": [...]}."""
    if isinstance(label, dict):
        return [*label["fail"], *label["fix"]]
    assert isinstance(label, list)
    return label


def matches(draft: Draft, label: object) -> bool:
    """All keywords occur, whatever their case; `a|b` is one keyword with two spellings."""
    text = f"{draft.text}\n{draft.reason}\n{draft.detail}".lower()
    return all(any(word.lower() in text for word in key.split("|")) for key in keywords(label))


def score(case: Case, scores: dict[str, Score]) -> float:
    """Add one session to the counts; give back the milliseconds that distilling took."""
    start = time.perf_counter()
    drafts = distil_session(case.session, case.events)
    took = (time.perf_counter() - start) * 1_000
    optional = case.labels.get("optional", {})
    assert isinstance(optional, dict)
    for kind, memory in KINDS.items():
        if kind not in case.labels:
            continue
        wanted = case.labels[kind]
        assert isinstance(wanted, list)
        found = [draft for draft in drafts if draft.kind is memory]
        tally = scores[kind]
        for label in wanted:
            hit = any(matches(draft, label) for draft in found)
            tally.found += hit
            tally.missed += not hit
            if not hit:
                tally.notes.append(f"  missed  {case.name}: {keywords(label)}")
        for draft in found:
            if any(matches(draft, label) for label in wanted):
                tally.right += 1
            elif not any(matches(draft, label) for label in optional.get(kind, [])):
                tally.wrong += 1
                tally.notes.append(f"  wrong   {case.name}: {draft.text} | {draft.reason}")
    return took


def report(name: str, chosen: list[Case], show: bool) -> bool:
    """Print some sessions' scores; whether they reach the targets."""
    scores = {kind: Score() for kind in KINDS}
    times = [score(case, scores) for case in chosen]
    events = sum(len(case.events) for case in chosen)
    pace = f"median {statistics.median(times):.1f} ms, max {max(times):.1f} ms"
    print(f"\n{name}: {len(chosen)} sessions, {events} events, {pace}")
    if name in CLEAN:
        print(f"({CLEAN[name]}; the rules are {VERSION})")
    print(f"{'':14}{'precision':>10}{'recall':>10}{'right':>8}{'wrong':>8}{'missed':>8}")
    for kind, tally in scores.items():
        print(
            f"{kind:14}{tally.precision:10.2f}{tally.recall:10.2f}{tally.right:8}{tally.wrong:8}{tally.missed:8}"
        )
        if show:
            print("\n".join(tally.notes))
    return all(s.precision >= TARGET_PRECISION and s.recall >= TARGET_RECALL for s in scores.values())


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--data",
        default=os.environ.get("BACKSTORY_BENCH_DATA", ""),
        help="folder with transcripts/ and coding/",
    )
    parser.add_argument("--split", choices=["all", "both", *CLEAN], default="all")
    parser.add_argument(
        "--group", default="", help="only one group: transcripts, prose, authored, recordings"
    )
    parser.add_argument("--show", action="store_true", help="list misses and false positives of one set")
    options = parser.parse_args()
    if options.show and options.split not in CLEAN.keys() - UNREAD:
        parser.error(f"--show needs one --split, and not {' or '.join(sorted(UNREAD))}: scored, never read")
    if not options.data:
        print(
            "no data folder (--data or BACKSTORY_BENCH_DATA): only the sessions that we wrote are scored",
            file=sys.stderr,
        )
    found = [c for c in cases(Path(options.data) if options.data else None) if options.group in {"", c.group}]
    chosen = {"all": list(CLEAN), "both": ["dev", "held-out"]}.get(options.split, [options.split])
    good = [score_set(name, found, options.show) for name in chosen]
    return 0 if all(good) else 1


def score_set(name: str, found: list[Case], show: bool) -> bool:
    """Print one set, a blind one also by where its sessions come from; whether it reaches the targets."""
    chosen = [case for case in found if set_of(case) == name]
    if name in BLIND:
        for part, ours in (("recordings", True), ("real sessions", False)):
            some = [case for case in chosen if (case.group == "recordings") is ours]
            if some and len(some) < len(chosen):
                report(f"{name}, {part}", some, False)
    return report(name, chosen, show) if chosen else True


def set_of(case: Case) -> str:
    """The name of the set that a session belongs to."""
    return str(case.labels["split"]) if case.blind else "held-out" if case.held_out else "dev"


if __name__ == "__main__":
    raise SystemExit(main())
