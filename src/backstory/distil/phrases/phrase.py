"""One way of saying something: the pattern, and an example that it must match."""

from typing import NamedTuple


class Phrase(NamedTuple):
    """A row of a table; patterns are in lower case, as is the text they meet."""

    pattern: str
    example: str
