"""Patterns ready to run without the `re` module, which takes longer to load than all else that a hook loads.

What `re` makes of a pattern is a list of codes for the interpreter's own engine. `capture/hook_bundle.py`
fills CODES with those of our table, made by the interpreter that runs the hook. Anywhere else, and for
patterns of the user's, `re` is loaded and asked.
"""

from _sre import CODESIZE, MAGIC  # type: ignore[import-not-found]
from _sre import compile as make

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

MADE_FOR = (0, 0)
CODES: dict[str, tuple[int, int, bytes]] = {}  # pattern: its flags, its groups, its codes


def automaton(pattern: str) -> "re.Pattern[str]":
    """The compiled pattern. ASCII: otherwise the Kelvin sign is a k, and `anchors` would have to know."""
    if pattern in CODES and MADE_FOR == (MAGIC, CODESIZE):
        flags, groups, codes = CODES[pattern]
        numbers = [*memoryview(codes).cast("I")]
        return make(pattern, flags, numbers, groups, {}, (None,) * (groups + 1))  # type: ignore[no-any-return]
    import re

    return re.compile(pattern, re.ASCII)
