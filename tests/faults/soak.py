"""`make soak`: storm after storm until enough events went through, and a table of what came of it."""

import argparse
import logging
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.faults.storm import Weather, rages
from tests.story import House

_PER_STORM = 10_000
_AGENTS = 8
_EVENTS_PER_TURN = 5


def main() -> int:
    """Exit code 1 if an event was lost or doubled."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=100_000, help="hooks that must have returned in all")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**9))
    options = parser.parse_args()
    logging.disable(logging.WARNING)  # every hook that was struck is told of there
    print(f"{'seed':>10} {'events':>8} {'killed':>8} {'lost':>5} {'doubled':>8} {'quarantined':>12} {'s':>6}")
    events = failures = number = 0
    while events < options.events:
        turns = min(_PER_STORM, options.events - events) // (_AGENTS * _EVENTS_PER_TURN) + 1
        weather = Weather(options.seed + number, _AGENTS, turns, kills=turns)
        with tempfile.TemporaryDirectory(prefix="backstory-soak-") as folder:
            project = Path(folder, "shop")
            project.mkdir()
            subprocess.run(["git", "init", "--quiet", str(project)], check=True)
            house = House(Path(folder, "home"), project)
            after = rages(house, weather)
            lost, doubled = after.lost.total(), after.doubled.total()
            quarantined = house.counter("quarantined")
            house.close()
        row = (after.events, after.tally.kills, lost, doubled, quarantined, after.seconds)
        print("{:>10} {:>8,} {:>8,} {:>5} {:>8} {:>12} {:>6.0f}".format(weather.seed, *row), flush=True)
        if lost or doubled:
            print(f"  lost {after.lost}, doubled {after.doubled}", flush=True)
        events += after.events
        failures += lost + doubled
        number += 1
    print(f"{events:,} events, {failures} lost or doubled")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
