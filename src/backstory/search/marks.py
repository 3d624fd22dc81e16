"""How well passages fit a question: by words, by words with what their turn was asked, by meaning.

Each mark is from 0 to 1 within a question, and a fixed convex sum of them is the score. Priors decide between
equals. Hooks use this too, so it imports little.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from backstory.store.full_text_index import Match

_WEIGHTS = {"words": 0.2, "context": 0.2, "meaning": 0.6}
# The cosine of what has nothing to do with each other: the worst of the candidates is often not bad.
_STRANGE = -0.1
# Where all cosines are low, the highest is no proof.
_SPAN = 0.3
# What was written for others to read says more than what was asked for; digests repeat what events say.
FORMS = {"commit": 0.08, "closing": 0.05, "step": 0.03, "prompt": -0.03}
KINDS = {
    "turn": -0.1, "summary": -0.1, "next_step": -0.05, "session": -0.1,
    "decision": 0.01, "lesson": 0.02, "attempt": 0.02, "command": 0.15, "preference": 0.02, "fact": 0.03,
}  # fmt: skip


class Marks(NamedTuple):
    """How well each candidate fits, by its row: what its marks add to its score, and its cosine."""

    shares: Mapping[int, Mapping[str, float]]
    cosines: Mapping[int, float]

    def best(self, most: int) -> list[int]:
        """The rows of the best candidates, before priors, best first."""
        return sorted(self.shares, key=lambda row: -sum(self.shares[row].values()))[:most]


def marks(ranks: Sequence[Match], cosines: Mapping[int, float]) -> Marks:
    """The marks of all candidates that were found by words or have a cosine."""
    words = _scaled({each.row: -each.own for each in ranks}, 0.0, 0.0)
    context = _scaled({each.row: -each.with_context for each in ranks}, 0.0, 0.0)
    meaning = _scaled(cosines, _STRANGE, _SPAN)
    total = 1.0 if cosines else _WEIGHTS["words"] + _WEIGHTS["context"]
    shares = {
        row: {
            name: _WEIGHTS[name] / total * values.get(row, 0.0)
            for name, values in (("words", words), ("context", context), ("meaning", meaning))
        }
        for row in {**words, **meaning}
    }
    return Marks(shares, cosines)


def _scaled(values: Mapping[int, float], low: float, span: float) -> dict[int, float]:
    high = max(values.values(), default=low)
    return {row: max(value - low, 0.0) / max(high - low, span, 1e-9) for row, value in values.items()}
