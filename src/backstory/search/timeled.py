"""Whether a word that may name a time does so here: "friday" and "march" by what stands beside them."""

import re

from backstory.search.smallwords import SMALL
from backstory.search.timewords import DAYS, Plain

SINCE = "since|starting|beginning|newer than"
BEFORE = "before|prior to|earlier than|older than|vor"
UNTIL = "until|till|up to|up until|through"
AFTER = "after|later than"
_NEAR = 20  # characters within which such a word stands
LEADS = re.compile(r"(?<!\S)(?:in|during|on|of|by|last|this|from|am|early|late|around) $")
_DIRECTED = re.compile(rf"(?<!\S)(?:{SINCE}|{BEFORE}|{UNTIL}|{AFTER}) $")
_IN_MONTH = re.compile(r"(?<!\S)(?:in|during|last|this|by|around) $")
# Before a weekday: it is a name, one of many, or yet to come.
_NAMING = re.compile(
    r"(?<!\S)(?:an?|any|each|every|most|no|not|some|which|what|is|are|be|called|named|like|as|class|enum|const"
    r"|next|coming|upcoming|following|due|black|good|cyber|patch|giving|super|fat|ash|palm|easter|holy|happy"
    r"|casual|taco|throwback) $"
)
_PARTICIPLE = re.compile(r"ge\w+(?:t|en)|passiert")  # which in German comes last
_DOING = re.compile(r"(?<!\S)(?:do|did|done) $")
_OTHER_DAYS = re.compile(rf"(?: (?:and|or|to|until|till|through) (?:on |the )*(?:{'|'.join(DAYS)})(?!\S))*")
_BASES = re.compile(r"(?<!\S)(?:hex|hexadecimal|bin|binary|octal|decimal)(?!\S)")


def always(m: re.Match[str], said: Plain) -> bool:
    """Whatever stands beside it."""
    return True


def is_led(m: re.Match[str], said: Plain) -> bool:
    """Whether a year, a part of the day or a small word before it says so."""
    before = _before(m)
    return bool((m.lastindex or 0) > 1 or LEADS.search(before) or _DIRECTED.search(before))


def is_weekday(m: re.Match[str], said: Plain) -> bool:
    """A weekday is a time, unless a word beside it makes it a name: "the Friday deploy", "Black Friday"."""
    if is_led(m, said):
        return True
    before = _before(m)
    if _NAMING.search(before) or (m[1] not in DAYS and not _DOING.search(before)):
        return False
    if said.written(*m.span()).endswith(("'s", "’s")):
        return True
    others = _OTHER_DAYS.match(m.string, m.end())
    named = before and said.is_name(m.start() - 2)
    return not named and _ends(m.string[others.end() if others else m.end() :])


def is_short_month(m: re.Match[str], said: Plain) -> bool:
    """A month's short name is one beside a year, or behind a small word with no noun behind it."""
    before = _before(m)
    led = _IN_MONTH.search(before) or _DIRECTED.search(before)
    return bool(m[2] or (led and ends(m) and not _BASES.search(m.string)))


def ends(m: re.Match[str]) -> bool:
    """Whether no other noun follows, which a time's name would belong to."""
    return _ends(m.string[m.end() :])


def _ends(rest: str) -> bool:
    following = (rest.split(maxsplit=1) or ["on"])[0]
    said = following in SMALL - {"of"} or following.endswith("ly")
    return said or _PARTICIPLE.fullmatch(following) is not None


def _before(m: re.Match[str]) -> str:
    return m.string[max(0, m.start() - _NEAR) : m.start()]
