"""The seam for a model: whoever can write better prose than the rules do.

Without one, everything works by rules. With one, what it is given is bounded and redacted already, what it
answers is checked, and a failure leaves what the rules made.
"""

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

T = TypeVar("T")

# What a model answers when there is nothing worth saying; anything longer that mentions it is an answer.
NOTHING = "NOTHING_TO_SAVE"


class Writer(Protocol):
    """One bounded call to a model."""

    def write(self, purpose: str, prompt: str) -> str:
        """The model's text for a prompt; raises what went wrong. `purpose` is what the ledger books it on."""

    def fill(
        self, purpose: str, prompt: str, schema: dict[str, Any], read: Callable[[dict[str, Any]], T]
    ) -> T:
        """What `read` makes of an answer of this shape; a ValueError of it has the model asked once more."""


def said_nothing(answer: str) -> bool:
    """Whether a model answered that there is nothing to say: with exactly that, and no more."""
    return answer.strip() == NOTHING
