"""One way of saying something: the pattern, and an example that it must match."""

from typing import NamedTuple


class Phrase(NamedTuple):
    """A row of a table; patterns are tried without regard to case."""

    pattern: str
    example: str
