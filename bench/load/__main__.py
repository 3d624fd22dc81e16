"""What happens under load: fifty agents at once, a worker that runs for long, a memory that has become large.

    python -m bench.load [offered] [memory] [million] [--json]

offered  Fifty agents send two events a second each, at fixed times: one that is late because a hook hung is
         counted from when it was due. Between any two of them runs a plain `sh -c 'cat >f'`, so both live
         under the same load at the same time. Afterwards every event whose hook returned must be stored once.
memory   One worker takes in event after event; its memory is read while it does.
million  A memory with so many events, indexed by words and by meaning, is asked: the brief's hook, searches,
         status. --kept FOLDER leaves it there, and the next run finds it.

The figures of the issue are the defaults; --events, --worked and --stored make it smaller.
"""

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path

from bench.load.memory import memory
from bench.load.million import million
from bench.load.offered import offered
from bench.load.stage import Figures


def main() -> int:
    """Measure, print, and say by the exit code whether the targets are met."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.load",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("parts", nargs="*", default=["offered", "memory", "million"], metavar="PART")
    parser.add_argument("--agents", type=int, default=50)
    parser.add_argument("--rate", type=float, default=2.0, help="events per second of each agent")
    parser.add_argument("--events", type=int, default=20_000, help="events through hooks, in `offered`")
    parser.add_argument("--worked", type=int, default=200_000, help="events through one worker, in `memory`")
    parser.add_argument("--stored", type=int, default=1_000_000, help="events to be asked, in `million`")
    parser.add_argument("--kept", type=Path, help="a folder for `million` to keep its memory in")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    figures = Figures()
    parts: dict[str, Callable[[], None]] = {
        "offered": lambda: offered(chosen.agents, chosen.rate, chosen.events, figures),
        "memory": lambda: memory(chosen.worked, figures),
        "million": lambda: million(chosen.stored, chosen.kept, figures),
    }
    for part in chosen.parts:
        if part not in parts:
            parser.error(f"there is no part {part!r}: {', '.join(parts)}")
        seen = len(figures.rows)
        parts[part]()
        for row in figures.rows[seen:] if not chosen.json else ():
            mark = {True: "ok  ", False: "MISS", None: "    "}[row.met]
            print(f"{mark} {row.what:<54}{row.value:<46}{row.target}", flush=True)
    if chosen.json:
        print(json.dumps(figures.numbers, indent=1))
    return 0 if all(row.met is not False for row in figures.rows) else 1


if __name__ == "__main__":
    sys.exit(main())
