"""The floor: below it a hit is no answer. Better nothing than something irrelevant."""

from backstory.search.question import Question
from backstory.search.ranking import Ranked

FLOOR = 0.5


def of(one: Ranked, question: Question) -> float:
    """How sure it is that a hit has to do with the question, from 0 to 1."""
    return 1.0
