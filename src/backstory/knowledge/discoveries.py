"""Discoveries: what may become a fact one day. What, in which context, and where it should go.

A field is one line, so that no entry can pretend to be another; an entry that differs only in its time is
the same one.
"""

import re

from backstory.errors import BackstoryError
from backstory.knowledge.markdown_page import harmless_line
from backstory.knowledge.page_transaction import Changes

PAGE = "discoveries.md"
_HEAD = "# Discoveries\n\nWhat was found out and may become a fact; only appended to.\n"
_STAMP = re.compile(
    r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])[T ](?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?Z?"
)
_FIELDS = ("What", "Context", "Promote-to")
_LONGEST = 1_000


class BadDiscovery(BackstoryError):
    """A field is empty, has several lines, or the time is none."""

    exit_code = 2


def plan_discovery(changes: Changes, what: str, context: str, promote_to: str, stamp: str) -> bool:
    """Plan a discovery; False if it is there already."""
    if not _STAMP.fullmatch(stamp):
        raise BadDiscovery(f"{stamp!r} is no time: write YYYY-MM-DDTHH:MM")
    values = dict(zip(_FIELDS, (what, context, promote_to), strict=True))
    for name, value in values.items():
        if re.search(r"[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]", value):
            raise BadDiscovery(f"{name} must be one line")
        if not harmless_line(value):
            raise BadDiscovery(f"{name} is empty: a discovery says what, in which context, and where it goes")
    entry = "\n".join(f"- {name}: {harmless_line(value, _LONGEST)}" for name, value in values.items())
    old = changes.read(PAGE) or _HEAD
    if _normal(entry) in {_normal(part.partition("\n")[2]) for part in old.split("\n## ")[1:]}:
        return False
    changes.put(PAGE, f"{old.rstrip()}\n\n## {stamp}\n\n{entry}\n")
    return True


def _normal(text: str) -> str:
    return " ".join(text.split())
