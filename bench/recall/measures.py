"""How good an order is."""

import math
from collections.abc import Collection, Sequence


def share(order: Sequence[str], gold: Collection[str], k: int) -> float:
    """The share of what answers that is among the first k; 1 if nothing does."""
    return len(set(order[:k]) & set(gold)) / len(set(gold)) if gold else 1.0


def hit(order: Sequence[str], gold: Collection[str], k: int) -> float:
    """1 if something that answers is among the first k."""
    return float(bool(set(order[:k]) & set(gold)))


def reciprocal(order: Sequence[str], gold: Collection[str]) -> float:
    """One over the place of the first that answers."""
    return next((1 / n for n, each in enumerate(order, 1) if each in gold), 0.0)


def ndcg(order: Sequence[str], gold: Collection[str], k: int = 10, kind: bool = False) -> float:
    """NDCG at k; `kind` takes the ideal list from what was retrieved, as peers do."""
    gains = [1 / math.log2(n + 1) for n, each in enumerate(order[:k], 1) if each in gold]
    there = len(gains) if kind else min(len(set(gold)), k)
    ideal = sum(1 / math.log2(n + 1) for n in range(1, there + 1))
    return sum(gains) / ideal if ideal else 0.0
