"""How well search finds, how fast, and whether it knows when to be silent. Everything offline.

    python -m bench.recall.run [locomo longmemeval coding controls load] [--data DIR] [--only dev|test]
                               [--sample N] [--mempalace PYTHON] [--memories N --project M]

The data are not part of the project: DIR, or BACKSTORY_BENCH_DATA, holds them (who has none is told how to
get them). Sessions are stored as sessions, and the question goes to the search that users get; there is no
path of its own for a benchmark. All of this is *retrieval*, no answer is written.

  locomo       per conversation one store. Session level: the share of the question's evidence sessions among
               the first k, a question without evidence counts 1. Turn level: the same with single turns.
               Tuned on conversations 0-4.
  longmemeval  per question a store of its own. R@k: any answer session among the first k; the share of them;
               NDCG@10 with the true ideal list, and in peers' kinder form. Tuned on even lines.
  coding       the subject of a commit finds the session that made it. Development only; the gold is noisy.
  controls     questions of another conversation, of another kind of store, and everyday ones: how many get
               nothing; and how many questions that the store can answer are wrongly silenced. Developers'
               questions in words of their own, and of other projects, are counted apart (developers.py).
  load         latency, speed of embedding and size with 100,000 memories in projects of 20,000, or as
               --memories and --project say.

MB is the mean size of a store: of ours the whole database, of FTS5 and vectors their index of passages, of
MemPalace its folder. --sample N takes every Nth store of longmemeval only (each takes about a second).
--mempalace PYTHON, an interpreter that has it, puts MemPalace's product beside ours (bench/recall/peer.py).
"""

import argparse
import json
import os
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Any

from bench.recall import data, measures, memory, methods, peer
from bench.recall.controls import controls
from bench.recall.load import load

PARTS = ("locomo", "longmemeval", "coding", "controls", "load")
WITHOUT_DATA = ("load",)
PEER = "MemPalace"
NAMES = ("ours", "plain FTS5", "vectors alone", PEER)
_KS = (1, 5, 10)
_WIDTHS = {"what": 56, "split": 30, "method": 14, "NDCG@10 (peers)": 22}


def main() -> None:
    """Run the parts that are asked for, and print their tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="all by default")
    given = os.environ.get("BACKSTORY_BENCH_DATA")
    parser.add_argument("--data", type=Path, default=Path(given) if given else None)
    parser.add_argument("--only", choices=("dev", "test"))
    parser.add_argument("--sample", type=int, default=1, metavar="N")
    parser.add_argument("--mempalace", default="", metavar="PYTHON")
    parser.add_argument("--memories", type=int, default=100_000, metavar="N", help="in `load`")
    parser.add_argument("--project", type=int, default=20_000, metavar="M", help="of them in each project")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    parts = args.parts or (PARTS if args.data else WITHOUT_DATA)
    if args.data is None and set(parts) - set(WITHOUT_DATA):
        sys.exit(
            f"name the folder of the data: --data DIR, or BACKSTORY_BENCH_DATA. It holds\n{data.HOW_TO_GET}"
        )
    if args.data and (lacks := data.lacking(args.data, parts)):
        sys.exit(f"{args.data} lacks {', '.join(lacks)}. It is to hold\n{data.HOW_TO_GET}")
    results: dict[str, Any] = {}
    for part in parts:
        if part == "load":
            results[part] = load(args.memories, args.project)
        elif part == "controls":
            results[part] = controls(args.data, args.only)
        else:
            cases = _chosen(getattr(data, part)(args.data), args.only)
            step = args.sample if part == "longmemeval" else 1
            results[part] = found(part, islice(cases, 0, None, step), args.mempalace)
        if args.json:
            continue
        print(f"\n{part}")
        for row in results[part]:
            print("  " + "  ".join(f"{value!s:<{_WIDTHS.get(name, 12)}}" for name, value in row.items()))
    if args.json:
        json.dump(results, sys.stdout, indent=1)


def _chosen(cases: Iterable[data.Case], only: str | None) -> Iterator[data.Case]:
    return (case for case in cases if only is None or case.tuned == (only == "dev"))


def found(part: str, cases: Iterable[data.Case], palace: str = "") -> list[dict[str, Any]]:
    """The table of one data set: a row per split, category and method; `palace` is who has MemPalace."""
    sums: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    turn_level = part == "locomo"
    for case in cases:
        with ExitStack() as opened:
            app, sessions, turns = opened.enter_context(memory.filled(case))
            asked = {
                "ours": methods.ours(app, sessions, turns, turn_level),
                "plain FTS5": methods.plain(case),
                "vectors alone": methods.vectors(case),
            }
            if palace:
                try:
                    asked[PEER] = methods.sessions_only(*opened.enter_context(peer.palace(palace, case)))
                except peer.Absent as error:
                    print(f"{PEER} is left out: {error}", file=sys.stderr)
                    palace = ""
            for ask in case.asks:
                splits = ["dev" if case.tuned else "test", "all"]
                splits += [f"category {ask.category}"] if ask.category else []
                for name, method in asked.items():
                    start = time.process_time()
                    orders = method.ask(ask.text)
                    took = (time.process_time() - start) * 1000 / (2 if turn_level else 1)
                    marks = _marks(part, ask, orders)
                    if name != PEER:  # whose process is another one
                        marks["CPU"] = took
                    for split in splits:
                        for mark, value in marks.items():
                            sums[split, name][mark].append(value)
            for split in ("dev" if case.tuned else "test", "all"):
                for name, method in asked.items():
                    sums[split, name]["MB"].append(method.size / 1e6)
    return [
        {"split": split, "method": name} | {mark: _told(mark, values) for mark, values in marks.items()}
        for (split, name), marks in sorted(sums.items(), key=lambda row: (row[0][0], NAMES.index(row[0][1])))
    ]


def _marks(part: str, ask: data.Ask, orders: methods.Orders) -> dict[str, float]:
    order, gold = orders.sessions, ask.sessions
    if part == "locomo":
        marks = {f"R@{k}": measures.share(order, gold, k) for k in _KS}
        if orders.turns is None:
            return marks
        return marks | {f"turn R@{k}": measures.share(orders.turns, ask.turns, k) for k in (5, 10)}
    marks = {f"R@{k}": measures.hit(order, gold, k) for k in _KS}
    if part == "coding":
        return marks | {"MRR": measures.reciprocal(order, gold)}
    marks |= {"share@10": measures.share(order, gold, 10)}
    return marks | {
        "NDCG@10": measures.ndcg(order, gold),
        "NDCG@10 (peers)": measures.ndcg(order, gold, kind=True),
    }


def _told(mark: str, values: list[float]) -> str:
    if mark == "CPU":
        return f"{sorted(values)[len(values) // 2]:.1f} ms"
    mean = sum(values) / len(values)
    if mark == "MB":
        return f"{mean:.2f} MB"
    return f"{mark} {mean:.3f}" if mark.startswith(("NDCG", "MRR")) else f"{mark} {100 * mean:.1f}"


if __name__ == "__main__":
    main()
