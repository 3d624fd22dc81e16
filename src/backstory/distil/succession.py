"""Whether a newer decision takes the place of an older one: the same matter, decided otherwise.

Better two decisions that contradict each other in plain sight than one that was hidden by mistake. So only
these ways count: the newer names what it gives up, and that is what the older chose; it goes back to what the
older gave up; it takes the older back in so many words; both choose something for the same matter, of which
one takes one at a time; both say the same but for one amount or one value; the newer says the older's words
with one thing instead of another; one denies the very words of the other. Where the newer does not say on
which matter, the older must be the only one that it can mean.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from functools import lru_cache

from backstory.distil.alternatives import kinds, side_by_side, tongues
from backstory.distil.matters import Matter, given_up, read_matter
from backstory.distil.terms import telling


def _stems(words: str) -> frozenset[str]:
    return frozenset(telling(words))


_AMOUNT = re.compile(r"\d[\d.:]*(?P<unit>%|\s?[a-z]+)?")
_TIME = re.compile(
    r"(?:ms|s|secs?|seconds?|mins?|minutes?|h|hours?|days?|weeks?|months?|years?|sekunden?|minuten|stunden?|tagen?|"
    r"wochen?)"
)
#: One more of these takes nothing away.
_ADDING = _stems("accept add allow cover handle include offer support test")
#: A part of a product, for which one uses many things at once.
_COMPONENTS = _stems(
    """admin api app application backend client cli code codebase company dashboard deployment development
    everything frontend library module package page platform product project repo repository script server
    service shop site system team tool ui web website worker"""
)
#: When and how, not with what: beside it anything else may be said.
_MANNER = _stems(
    """advance background batches day evening friday hand hour house monday morning night order parallel
    random saturday sequence sunday thursday time tuesday wednesday week weekend"""
)
#: Verbs that say how something is done, so that even two described ways exclude each other.
_ONE_WAY = frozenset(
    {"encode", "hash", "indent", "merge", "order", "paginate", "render", "round", "serialize", "sign", "sort"}
)
#: Verbs of which "as" says in which form.
_SHAPES = frozenset({"encode", "format", "hold", "render", "send", "serialize", "write"})
#: What one thing can be besides what it is; for a part of a product one may have several of these.
_ROLES = frozenset({"cache", "holding", "queue", "search", "secrets", "token"})
#: Frames that say the same of a matter: it has its place there.
_PLACED = frozenset({"hold in", "run in", "host in", "place", "use", "use as"})
_USED = frozenset({"place", "use"})
#: What has one value at a time.
_ONLY_ONE = _stems("default level maximum minimum mode primary")
_VALUES = _ONLY_ONE | _stems(
    """age budget cap concurrency cost count depth factor height interval length limit max min port quota
    ratio size threshold timeout ttl width"""
)
#: What is something, and not two things, where it is said to be that.
_ONE_VALUE = _stems("encoding locale timezone version")
#: What is written in one tongue; pages and manuals are had in several.
_ONE_TONGUE = _stems(
    "changelog comments descriptions docstrings identifiers messages names tickets titles variables"
)
_PREFERRED_TO = re.compile(
    r"(?:(?P<not>(?:and )?not|und nicht)|instead of|rather than|in favou?r of|over|statt|anstatt|"
    r"anstelle von|au lieu de|plutôt que|en vez de|en lugar de)\s[^.!?;]+(?:\.\w[^.!?;]*)*",
    re.IGNORECASE,
)
_SHORTEST = 2  # words that say more than a name with its number


class Succeeds(Enum):
    """How surely a decision takes another's place: in any case, or if no other can be meant."""

    SURELY = "surely"
    IF_ALONE = "if alone"


def in_full(text: str, reason: str) -> str:
    """A decision with what it gives up, where that is told as its reason ("not HS256", "Vue is gone")."""
    lost = _PREFERRED_TO.match(reason)
    if lost is not None:
        return f"{text.rstrip(' .,;')}{', ' if lost['not'] else ' '}{lost.group().strip()}"
    gone = given_up(reason)
    return f"{text.rstrip(' .,;')}, {gone}" if gone else text


def supersedes(newer: Matter, older: Matter) -> Succeeds | None:
    """Whether the newer of two decisions of a project makes the older history."""
    if not newer.firm or not older.firm or older.several:
        return None
    ways = (_chooses_otherwise, _counts_otherwise, _denies, _values_otherwise, _swaps)
    if any(way(newer, older) for way in ways):
        return Succeeds.SURELY
    return _takes_back(newer, older) or _turns_away(newer, older) or _goes_back(newer, older.gone, older)


def _turns_away(newer: Matter, older: Matter) -> Succeeds | None:
    """The newer gives up, by name, what the older chose."""
    if newer.adds or not any(_is_what(older.choice, phrase) for phrase in newer.gone):
        return None
    return _same_matter(newer, older)


def _goes_back(newer: Matter, given_up: Sequence[frozenset[str]], older: Matter) -> Succeeds | None:
    """The newer returns to what the older gave up."""
    return _same_matter(newer, older) if newer.back and newer.back in given_up else None


def _takes_back(newer: Matter, older: Matter) -> Succeeds | None:
    """The newer takes back a decision, in words that are the older's."""
    if not newer.undoes or not newer.undoes <= frozenset(older.words):
        return None
    return Succeeds.SURELY if newer.undoes == frozenset(older.words) else Succeeds.IF_ALONE


def _same_matter(newer: Matter, older: Matter) -> Succeeds | None:
    """Whether what the newer says of the matter holds for the older; a narrower matter is another one."""
    known = older.about | older.on | older.where
    verbs = {frame.split()[0] for frame in (newer.frame, older.frame) if " " in frame}
    if not (newer.about <= known or newer.on <= known) or not newer.where <= known:
        return None
    if len(verbs - {"hold", "run", "be", "use"}) > 1:
        return None
    same = newer.about | newer.where == older.about | older.where or newer.on | newer.where == known
    return Succeeds.SURELY if same else Succeeds.IF_ALONE


def _chooses_otherwise(newer: Matter, older: Matter) -> bool:
    """Both choose something for one matter, of which one takes one at a time, and not the same."""
    if (
        newer.adds
        or newer.several
        or (newer.about != older.about and newer.on != older.on)
        or newer.where != older.where
        or not (newer.choice and older.choice)
    ):
        return False
    both = newer.choice | older.choice
    if newer.frame == older.frame == "write in" and newer.head in _ONE_TONGUE and tongues(both):
        return newer.choice != older.choice
    if side_by_side(both) or both & _MANNER:
        return False
    known, alike = _known_for(newer.choice, older.choice)
    if (known and not alike) or newer.choice <= older.choice or older.choice <= newer.choice:
        return False
    if newer.frame != older.frame:
        frames = {newer.frame, older.frame}
        said_as_a_verb = newer.on == older.on and not frames.isdisjoint(_USED)
        return bool(alike and newer.about) and (frames <= _PLACED or said_as_a_verb)
    if newer.frame in _USED and (newer.head in _COMPONENTS or not newer.about):
        return bool(alike and (newer.about or newer.where) and alike - _ROLES)
    if alike:
        return bool(newer.about or " " in newer.frame)
    if newer.choice & older.choice:
        return False
    verb, _, preposition = newer.frame.partition(" ")
    if verb == "be":
        if preposition == "called":
            return bool(newer.about)
        return preposition == "many" or newer.head in _ONE_VALUE or not newer.about.isdisjoint(_ONLY_ONE)
    if preposition == "as" and verb in _SHAPES:
        return bool(newer.about)
    if verb == "set":
        return bool(newer.about)
    if preposition == "to" or not (newer.about or preposition):
        return False
    if newer.frame == "use as":
        return newer.proper and older.proper
    return verb in _ONE_WAY and len(newer.choice) == len(older.choice) == 1


def _known_for(newer: frozenset[str], older: frozenset[str]) -> tuple[bool, frozenset[str]]:
    """Whether it is known what both are for, but for words that they share, and for what both can be had."""
    now, before = kinds(newer - older), kinds(older - newer)
    return bool(now and before), now & before


def _counts_otherwise(newer: Matter, older: Matter) -> bool:
    """Both say the same, but for one amount."""
    if (
        newer.words == older.words
        or len(newer.words) != len(older.words)
        or newer.denied != older.denied
        or newer.adds
    ):
        return False
    if _uncounted(newer.words) != _uncounted(older.words) or not _ADDING.isdisjoint(newer.words):
        return False
    differ = [at for at, (now, was) in enumerate(zip(newer.words, older.words, strict=True)) if now != was]
    if len(differ) != 1:
        return False
    amount, before = newer.words[differ[0]], newer.words[max(differ[0] - 1, 0)]
    valued = len(newer.words) > _SHORTEST and not _VALUES.isdisjoint(newer.words)
    return not amount[-1].isdigit() or ":" in amount or valued or bool(kinds(frozenset({before})))


def _denies(newer: Matter, older: Matter) -> bool:
    """One denies what the other says, word for word."""
    return newer.denied != older.denied and newer.words == older.words and bool(newer.words)


def _values_otherwise(newer: Matter, older: Matter) -> bool:
    """Both give one thing a value of one sort, and not the same."""
    now, was = newer.fact, older.fact
    return now is not None and was is not None and now != was and now[:2] == was[:2]


def _swaps(newer: Matter, older: Matter) -> bool:
    """The newer says the older's words, with one thing in the place of another that it names."""
    rest, lost = newer.swap
    kept = tuple(word for word in older.words if word not in lost)
    if (
        not kept
        or newer.adds
        or not lost <= frozenset(older.words)
        or not 0 < len(rest) - len(kept) <= _SHORTEST
    ):
        return False
    return any(rest[:at] + rest[at + len(rest) - len(kept) :] == kept for at in range(len(kept) + 1))


def _is_what(choice: frozenset[str], phrase: frozenset[str]) -> bool:
    """Whether a choice is what a phrase names, at most with one word more."""
    return bool(phrase) and phrase <= choice and len(choice - phrase) <= 1


@lru_cache(8_192)
def _uncounted(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words, with all amounts of a kind alike."""
    amounts = ((word, _AMOUNT.fullmatch(word)) for word in words)
    return tuple(word if amount is None else _kind_of_amount(amount["unit"]) for word, amount in amounts)


def _kind_of_amount(unit: str | None) -> str:
    unit = (unit or "").strip()
    return "# of time" if _TIME.fullmatch(unit) else f"# {unit}"


def successions(
    decisions: Sequence[tuple[str, int, str]],
    may: Callable[[str, str], bool] = lambda older, newer: True,
) -> dict[str, str]:
    """Which of these decisions (id, time, text) are history: the older's id → the id of the one in force.

    A chain of them ends in the newest; what was taken up again is in force again. `may` says of two ids
    whether the older gives way to the newer at all.
    """
    read_as = [
        (mid, read_matter(text)) for mid, _, text in sorted(decisions, key=lambda each: (each[1], each[0]))
    ]
    found: dict[str, str] = {}
    standing: dict[object, set[int]] = defaultdict(set)
    given_up: dict[int, list[frozenset[str]]] = {}
    for at, (newer, now) in enumerate(read_as):
        near = sorted(set[int]().union(*(standing[mark] for mark in _looks_for(now))))
        ways = {place: supersedes(now, read_as[place][1]) for place in near}
        for place in near:
            ways[place] = ways[place] or _goes_back(now, given_up[place], read_as[place][1])
        alone = sum(way is not None for way in ways.values()) == 1
        given_up[at] = list(now.gone)
        for place, way in ways.items():
            older, before = read_as[place]
            if (way is Succeeds.SURELY or (way and alone)) and may(older, newer):
                found[older] = newer
                given_up[at].append(before.choice)
                for mark in _shows(before, given_up[place]):
                    standing[mark].discard(place)
        for mark in _shows(now, given_up[at]):
            standing[mark].add(at)
    return found


def _shows(matter: Matter, given_up: Sequence[frozenset[str]]) -> Iterator[object]:
    """What a later decision can find this one by: no pair that is worth comparing has nothing in common."""
    yield from (("chose", word) for word in matter.choice)
    yield from (("gave up", phrase) for phrase in given_up)
    yield from (("says", word) for word in matter.words)
    yield from _alike(matter)


def _looks_for(matter: Matter) -> Iterator[object]:
    """What earlier decisions show that this one may supersede; see the ways."""
    yield from (("chose", max(phrase, key=len)) for phrase in matter.gone)  # they must have all of it
    yield ("gave up", matter.back)
    if matter.undoes:
        yield ("says", max(matter.undoes, key=len))
    if matter.swap[1]:
        yield ("says", max(matter.swap[1], key=len))
    yield from _alike(matter)


def _alike(matter: Matter) -> Iterator[object]:
    """What two decisions have in common that say the same but for one thing."""
    yield from _matters(matter)
    yield _uncounted(matter.words)
    yield ("words", matter.words)
    if matter.fact:
        yield ("fact", *matter.fact[:2])


def _matters(matter: Matter) -> Iterator[object]:
    """What two decisions have in common that choose for one matter; some say nothing of it but the verb."""
    if matter.about or matter.where:
        yield ("about", matter.about, matter.where)
    elif " " in matter.frame:
        yield ("frame", matter.frame)
    if matter.on:
        yield ("on", matter.on, matter.where)
