"""How fast secrets leave real transcripts, and how many of them: `python bench/redact.py [DATA]`.

DATA (or BACKSTORY_BENCH_DATA) is a folder with `transcripts/claude-code/*.jsonl.gz`. Times are CPU time of
one core, the best of five, each with a redactor that has seen nothing before.
"""

import gzip
import json
import os
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from backstory.hook.patterns import ROWS
from backstory.hook.redact import Redactor

SEEDS_PER_ROW = 20


def main(argv: Sequence[str]) -> int:
    """Print the table."""
    data = Path(argv[0] if argv else os.environ.get("BACKSTORY_BENCH_DATA", "."))
    files = sorted((data / "transcripts" / "claude-code").glob("*.jsonl.gz"))
    if not files:
        print(
            f"no transcripts below {data}: name a folder with transcripts/claude-code/*.jsonl.gz",
            file=sys.stderr,
        )
        return 2
    lines = [
        line for file in files for line in gzip.decompress(file.read_bytes()).decode().split("\n") if line
    ]
    strings = [text for line in lines for text in _strings(json.loads(line))]
    distinct = list(dict.fromkeys(strings))
    Redactor(anchored=False).redact("compile every pattern first")

    print(
        f"{len(files)} transcripts, {len(lines)} lines, {len(strings)} strings, {_megabytes(strings):.1f} MB"
    )
    ours = _speed("redact, every string", strings, lambda: Redactor().redact)
    _speed("redact, distinct strings only", distinct, lambda: Redactor().redact)
    _speed("suspicious, raw JSON lines", lines, lambda: Redactor().suspicious)
    _speed(
        "suspicious, lines of 400 to 800",
        [x for x in lines if 400 <= len(x) <= 800],
        lambda: Redactor().suspicious,
    )
    slow = _speed("same patterns, no anchors", strings, lambda: Redactor(anchored=False).redact, rounds=1)
    print(f"{'anchors make it':34} {ours / slow:8.1f} times faster")
    suspicious = sum(map(Redactor().suspicious, lines))
    print(f"{'suspicious':34} {suspicious:8} of {len(lines)} lines")
    found, seeded = _seeded(strings)
    print(f"{'seeded secrets found':34} {found:8} of {seeded}")
    return 0


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for child in value.values() if isinstance(value, dict) else value:
            yield from _strings(child)


def _megabytes(texts: Sequence[str]) -> float:
    return sum(len(text.encode("utf-8", "surrogatepass")) for text in texts) / 1e6


def _speed(
    label: str, texts: Sequence[str], make: Callable[[], Callable[[str], object]], rounds: int = 5
) -> float:
    best = float("inf")
    for _ in range(rounds):
        run = make()
        start = time.process_time()
        for text in texts:
            run(text)
        best = min(best, time.process_time() - start)
    speed = _megabytes(texts) / best
    print(f"{label:34} {speed:8.1f} MB/s {best / len(texts) * 1e6:10.2f} µs each")
    return speed


def _seeded(strings: Sequence[str]) -> tuple[int, int]:
    """Put each row's example between two lines of real texts; count those that are gone."""
    chance = random.Random(7)
    hosts = [text for text in strings if text.count("\n") > 3 and "<private" not in text]
    redactor, found, seeded = Redactor(), 0, 0
    for row in ROWS:
        for _ in range(SEEDS_PER_ROW):
            lines = chance.choice(hosts).split("\n")
            lines.insert(chance.randrange(len(lines)), row.example)
            seeded += 1
            found += row.example not in redactor.redact("\n".join(lines))
    return found, seeded


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
