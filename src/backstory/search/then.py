"""What a time holds: for questions that ask for it and for nothing else ("what did we do yesterday").

There is nothing to compare such a question with: the time itself chooses. What sums up or was learned comes
first, then what was done turn by turn, then what was asked; of each the latest first. Of a landmark ("what
happened before the migration") it is what lies nearest to it.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import tzinfo
from itertools import chain

from backstory import clock
from backstory.hook.brief import HANDLE, shorten
from backstory.model import Kind, MemoryKind
from backstory.search.timetold import told
from backstory.store import Store
from backstory.store.values import Filters, Found

_LEARNED = (
    MemoryKind.SUMMARY,
    MemoryKind.DECISION,
    MemoryKind.LESSON,
    MemoryKind.ATTEMPT,
    MemoryKind.FACT,
    MemoryKind.PREFERENCE,
)
_DONE = (MemoryKind.TURN, MemoryKind.NEXT_STEP, MemoryKind.COMMAND)
_ASKED = (Kind.PROMPT, Kind.NOTED, Kind.DOCUMENT)
_SAID = (Kind.SAID, Kind.TOOL, Kind.COMPACTED)
_TIERS: tuple[tuple[str, ...], ...] = (_LEARNED, _DONE, _ASKED, _SAID)
_TELLING = (*_LEARNED, *_DONE, *_ASKED)
_NEAR_CHARS = 80
_NEAREST: tuple[tuple[str, ...], ...] = ((*_LEARNED, *_DONE), _ASKED, _SAID)
# Words that ask for one kind first.
_KINDS = {
    MemoryKind.DECISION: "decide decided decision decisions agree agreed entschieden beschlossen decidimos",
    MemoryKind.LESSON: "learn learned learnt lesson lessons gelernt",
    MemoryKind.ATTEMPT: "try tried attempt attempts versucht",
    MemoryKind.NEXT_STEP: "open unfinished pending todo todos",
}
_KIND_OF = {word: kind for kind, words in _KINDS.items() for word in words.split()}
# Words that ask what there was, and say nothing of what.
_IDLE_WORDS = """
    accomplish accomplished achieve ask asked catch caught achieved activities activity anything busy
    change changed changes chat chatted complete completed conversation conversations directly discuss
    discussed everything exactly finish finished give happen happened happening happens history
    immediately left leave list log look new progress recap remember right session sessions shortly show
    something start started stuff summarise summarize summary talk talked tell update updates went work
    worked working overview
    alles am an bei das der die dem den denn eigentlich es gab gearbeitet gemacht geschafft geschah geschehen
    getan habe haben hatten hast hat ich ihr im ist los mir passiert passierte sind uns waren was wir woran
    wurde zeig zeige
    en hemos hice hicimos hizo ha pasado pasó que qué se trabajamos trabajé yo
    a-t-on ai ai-je avons avons-nous est-il fait j'ai nous on passé qu'avons-nous qu'ai-je quoi s'est-il
    s'est travaillé qu s j
"""
_IDLE = frozenset(_IDLE_WORDS.split())
# Words for doing things: they may be what is looked for; if they find nothing, they ask what was done.
_DOING_WORDS = """
    add added adding build building built code coded coding create created creating deliver delivered deploy
    deployed develop developed developing edit edited fix fixed fixing handle handled implement implemented
    implementing merge merged release released remove removed ship shipped solve solved touch touched write
    writing written wrote
    behoben erstellt gebaut geschrieben umgesetzt
"""
_DOING = frozenset(_DOING_WORDS.split())
_IDLE_UNSPACED = re.compile(
    "我们|我|做|了|什么|干|发生|过|的|事|吗|呢|怎么|工作|哪些|些|都|在|有|是|"
    "何|を|し|た|やった|ました|私|たち|は|が|あった|の|で|に|무엇을|뭐|했|나|우리|어|지|요"
)


def wanted(words: Iterable[str], doing: bool = False) -> tuple[str, ...] | None:
    """The kinds that words ask for first, if they ask for a time and nothing else; None if they do.

    `doing`: words for doing things ("what did we build") ask for nothing else either.
    """
    kinds: list[str] = []
    for word in words:
        bare = word.strip(".:*-_/?？。").lower()
        if bare in _KIND_OF:
            kinds.append(_KIND_OF[bare])
        elif bare in _IDLE or (doing and bare in _DOING):
            continue
        elif bare.isascii() or _IDLE_UNSPACED.sub("", bare):
            return None
    return tuple(dict.fromkeys(kinds))


def held(
    store: Store,
    project_id: str | None,
    since: int,
    until: int,
    first: Sequence[str] = (),
    filters: Filters | None = None,
    limit: int = 100,
) -> list[tuple[Found, float]]:
    """What a time holds, each with how much it says: what is asked for first, then the rest, latest first."""
    tiers = chain([first] if first else [], _TIERS)
    return _read(store, project_id, since, until, tiers, filters, limit, latest=True)


def beside(
    store: Store,
    project_id: str | None,
    landmark: str,
    earlier: bool,
    now: int,
    filters: Filters | None = None,
    limit: int = 100,
) -> list[tuple[Found, float]]:
    """What came before or after the turn of an event, the nearest first."""
    event = store.events.event(landmark)
    if event is None:
        return []
    turn = [each.event.at for each in store.events.of_session(event.session_id) if each.turn == event.turn]
    since, until = (0, min(turn)) if earlier else (max(turn) + 1, now + 1)
    return _read(store, project_id, since, until, _NEAREST, filters, limit, latest=earlier)


def nothing(
    store: Store,
    project_id: str | None,
    since: int,
    until: int,
    filters: Filters | None,
    now: int,
    zone: tzinfo | None,
) -> str:
    """What to say of a time that holds nothing: so, and what lies nearest to it."""
    beside = []
    for side, first, last in (("before", 0, since), ("after", until, now + 1)):
        found = _read(store, project_id, first, last, [_TELLING], filters, 1, latest=side == "before")
        if found:
            near = found[0][0]
            text = shorten(" ".join(near.text.split()), _NEAR_CHARS)
            beside.append(f"{side}: {clock.day_of(near.at, zone)}, “{text}” ({near.owner[:HANDLE]})")
    nearest = f" The nearest {'; the nearest '.join(beside)}." if beside else ""
    return f"Nothing of {told(since, until, now, zone)} is remembered{_where(project_id, filters)}.{nearest}"


def elsewhere(
    store: Store,
    project_id: str | None,
    since: int,
    until: int,
    filters: Filters | None,
    now: int,
    zone: tzinfo | None,
    hits: bool,
) -> str:
    """What to say when none of the hits is of the time that was asked for."""
    if _read(store, project_id, since, until, [(*_TELLING, *_SAID)], filters, 1, latest=True):
        return f"None of these is of {told(since, until, now, zone)}." if hits else ""
    if not hits:
        return nothing(store, project_id, since, until, filters, now, zone)
    asked = told(since, until, now, zone)
    return f"Nothing of {asked} is remembered{_where(project_id, filters)}: these are of other times."


def _where(project_id: str | None, filters: Filters | None) -> str:
    return f"{' in this project' if project_id else ''}{', so narrowed' if filters else ''}"


def _read(
    store: Store,
    project_id: str | None,
    since: int,
    until: int,
    tiers: Iterable[Sequence[str]],
    filters: Filters | None,
    limit: int,
    latest: bool,
) -> list[tuple[Found, float]]:
    found: list[tuple[Found, float]] = []
    seen: set[str] = set()
    for tier, kinds in enumerate(tiers):
        if len(found) >= limit:
            break
        rows = store.passages.of_time(project_id, since, until, kinds, limit, latest, filters)
        found += [(row, round(0.9 - 0.2 * tier, 2)) for row in rows if row.owner not in seen]
        seen.update(row.owner for row in rows)
    return found
