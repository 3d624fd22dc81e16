"""Whether a newer decision takes the place of an older one: the same matter, decided otherwise.

Better two decisions that contradict each other in plain sight than one that was hidden by mistake. So only
four ways count: the newer names what it turns away from, and that is what the older chose; it goes back to
what the older gave up; both choose something for the same purpose, and not the same thing; both say the same
but for a number. Pure functions of two texts.
"""

import itertools
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

#: What stands behind one of these was given up.
_AWAY = re.compile(
    r"\b(?:instead of|rather than|in place of|no longer(?: us(?:e|ing))?|not(?= .{1,40} any ?more)|"
    r"(?:switch(?:ed|ing)?|mov(?:e|ed|ing)|migrat(?:e|ed|ing)|chang(?:e|ed|ing)) (?:\w+ ){0,4}?"
    r"(?:away )?from|"
    r"(?:cho(?:se|ose|sen)|pick(?:ed)?|prefer(?:red)?|went with|go(?:ing)? with|us(?:e|ing)) "
    r"[\w.+-]+(?: [\w.+-]+)? over|"
    r"replac(?:e|es|ed|ing)|drop(?:ped|ping)?|abandon(?:ed)?|gave up|give up(?: on)?|stop(?:ped)? using|"
    r"statt|anstelle von|anstatt|plutôt que|au lieu de|en lugar de|en vez de)\s+",
    re.IGNORECASE,
)
#: Where what was given up ends.
_END = re.compile(
    r"\b(?:for|as|because|since|so that|so|to|with|by|in|on|and|but|when|we|it)\b"
    r"|\b(?:weil|für|parce|pour|porque|para)\b|[.,;:()]",
    re.IGNORECASE,
)
#: Something is chosen for a purpose.
_CHOSEN = re.compile(
    r"\b(?:us(?:e|es|ed|ing)|go(?:ing)? with|went with|choos(?:e|ing)|chose|chosen|pick(?:ed)?|adopt(?:ed)?|"
    r"stick(?:ing)? (?:with|to)|settled? on|switch(?:ed|ing)? to|mov(?:e|ed|ing) to|migrat(?:e|ed|ing) to)\s+"
    r"(?P<what>[^.,;:()]{2,60}?)\s+(?:for|as|to)\s+"
    r"(?P<purpose>[^.,;:()]{3,80}?)(?=\s+(?:because|since|so|when|instead|rather|and)\b|[.,;:()]|$)",
    re.IGNORECASE,
)
#: What follows is why.
_BECAUSE = re.compile(r"\b(?:because|since|so that|weil|damit|parce que|porque)\b", re.IGNORECASE)
#: What follows is not done, or was only thought of.
_DENIED = re.compile(
    r"(?:\b(?:not|never|against|cannot|without|consider(?:ed|ing)?|nicht|nie|niemals|jamais|nunca)|n['’]t)"
    r"(?: \w+){0,2} ?$",
    re.IGNORECASE,
)
#: The number behind one of these (without its ending) is a name.
_NAMED_BY_NUMBER = frozenset(
    {
        "api", "client", "day", "epic", "issu", "iteration", "level", "mileston", "nod", "part", "phas", "pr",
        "quarter", "region", "room", "shard", "sprint", "stag", "step", "team", "tenant", "ticket", "week",
        "zon",
    }
)  # fmt: skip
_TOKEN = re.compile(r"[\w#@][\w.+#@/-]*\w|\w", re.ASCII | re.IGNORECASE)
_NUMBER = re.compile(r"v?\d[\d.]*(?:ms|s|min|h|d|k|kb|mb|gb|px|%)?", re.IGNORECASE)
_ENDING = re.compile(r"(?:ing|es|ed|s|e)$")
_EMPTY = frozenset(
    {
        "a", "adopt", "adopted", "agree", "agreed", "all", "also", "always", "an", "and", "any", "are",
        "as", "at", "be", "because", "been", "both", "but", "by", "choose", "chose", "chosen", "decide",
        "decided", "decision", "do", "for", "from", "go", "has", "have", "i", "in", "instead", "into", "is",
        "it", "its", "just", "let", "let's", "longer", "me", "more", "my", "never", "new", "no", "not",
        "now", "of", "on", "one", "only", "or", "our", "over", "own", "pick", "picked", "please", "rather",
        "should", "since", "so", "than", "that", "the", "their", "them", "then", "there", "these", "they",
        "this", "to", "us", "use", "used", "uses", "using", "want", "wants", "was", "we", "we'll", "will",
        "with", "you",
    }
)  # fmt: skip
_SAME_PURPOSE = 0.75
_SAME_MATTER = 0.5
_SHARED = 3


@dataclass(frozen=True, slots=True)
class Choice:
    """A decision as it is compared: its words in order, and among them what it speaks of and what it turns
    away from; what it chooses, and for which purpose."""

    words: tuple[str, ...]
    kept: frozenset[str]
    gone: frozenset[str]
    thing: frozenset[str]
    purpose: frozenset[str]


def read(text: str) -> Choice:
    """Take a decision apart; its reason tells nothing of the matter."""
    text = _BECAUSE.split(text, maxsplit=1)[0]
    gone: set[str] = set()
    for match in _AWAY.finditer(text):
        if not _DENIED.search(text[: match.start()]):
            rest = text[match.end() :]
            end = _END.search(rest)
            gone.update(_words(rest[: end.start()] if end else rest))
    chosen = next(
        (match for match in _CHOSEN.finditer(text) if not _DENIED.search(text[: match.start()])), None
    )
    thing, purpose = (_words(chosen["what"]), _words(chosen["purpose"])) if chosen else ((), ())
    words = _words(text)
    return Choice(words, frozenset(words) - gone, frozenset(gone), frozenset(thing), frozenset(purpose))


def supersedes(newer: Choice, older: Choice) -> bool:
    """Whether the newer of two decisions of a project makes the older history."""
    ways = (_turns_away, _goes_back, _chooses_otherwise, _counts_otherwise)
    return any(way(newer, older) for way in ways)


def _turns_away(newer: Choice, older: Choice) -> bool:
    """The newer gives up, by name, what the older chose, and both speak of the same matter."""
    if not newer.gone or not newer.gone <= older.kept:
        return False
    now, before = newer.kept, older.kept - newer.gone
    if not before and not newer.purpose:  # nothing but what it chose, and given up for whatever it was used
        return True
    return len(now & before) >= max(1, _SAME_MATTER * min(len(now), len(before)))


def _goes_back(newer: Choice, older: Choice) -> bool:
    """What one gave up the other took, both ways: X instead of Y, then Y instead of X."""
    return bool(newer.gone and older.gone) and newer.gone <= older.kept and older.gone <= newer.kept


def _chooses_otherwise(newer: Choice, older: Choice) -> bool:
    """Both choose something for one purpose, and not the same."""
    if not newer.thing or not older.thing or not newer.thing.isdisjoint(older.thing):
        return False
    together = newer.purpose | older.purpose
    return bool(together) and len(newer.purpose & older.purpose) >= _SAME_PURPOSE * len(together)


def _counts_otherwise(newer: Choice, older: Choice) -> bool:
    """Both say the same, but for one number."""
    if len(newer.words) != len(older.words) or len(newer.words) <= _SHARED:
        return False
    pairs = list(zip(newer.words, older.words, strict=True))
    differ = [at for at, (now, was) in enumerate(pairs) if now != was]
    if len(differ) != 1 or not all(_NUMBER.fullmatch(word) for word in pairs[differ[0]]):
        return False
    at = differ[0]
    return not newer.words[at].startswith("v") and (at == 0 or newer.words[at - 1] not in _NAMED_BY_NUMBER)


def _words(text: str) -> tuple[str, ...]:
    """The telling words without their endings, in their order."""
    found = (word.lower().strip(".-") for word in _TOKEN.findall(text))
    return tuple(_ENDING.sub("", word) if len(word) > 3 else word for word in found if word not in _EMPTY)


def successions(
    decisions: Sequence[tuple[str, int, str]],
    may: Callable[[str, str], bool] = lambda older, newer: True,
) -> dict[str, str]:
    """Which of these decisions (id, time, text) are history: the older's id → the id of the one in force.

    A chain of them ends in the newest; what was taken up again is in force again. `may` says of two ids
    whether the older gives way to the newer at all.
    """
    choices = [(mid, read(text)) for mid, _, text in sorted(decisions, key=lambda each: (each[1], each[0]))]
    found: dict[str, str] = {}
    earlier: dict[object, set[int]] = defaultdict(set)
    for at, (newer, now) in enumerate(choices):
        for place in sorted(set[int]().union(*(earlier[mark] for mark in _looks_for(now)))):
            older, before = choices[place]
            if may(older, newer) and supersedes(now, before):
                found[older] = newer
                for mark in _shows(before):
                    earlier[mark].discard(place)
        for mark in _shows(now):
            earlier[mark].add(at)
    return found


def _shows(choice: Choice) -> Iterator[object]:
    """What a later decision can find this one by: no pair that is worth comparing has nothing in common."""
    yield from choice.kept
    yield from (("for", word) for word in choice.purpose)
    yield _uncounted(choice)


def _looks_for(choice: Choice) -> Iterator[object]:
    """What earlier decisions show that this one may supersede; see the four ways."""
    yield from itertools.islice(sorted(choice.gone, key=len, reverse=True), 1)  # they must have all of it
    yield from (("for", word) for word in choice.purpose)
    yield _uncounted(choice)


def _uncounted(choice: Choice) -> tuple[str, ...]:
    return tuple("#" if _NUMBER.fullmatch(word) else word for word in choice.words)
