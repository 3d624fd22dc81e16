"""What the last messages leave open: put off, promised, awaited, not done.

As with choices, no phrase decides. "Tomorrow" may only date something ("launch is next week"), "I'll" may end
a talk ("I'll take it from here"). A sentence is read for marks (a promise, a time, somebody else, "still",
"until", who says it, how long ago, whether work followed), and `weights` say what they are worth. A sentence
that lost its subject ("not today") is told together with what it is about.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from backstory.distil import phrases
from backstory.distil.prose import Sentence, content_words, sentences
from backstory.distil.story import Said, Turn
from backstory.distil.weights import STEP, STEP_ENOUGH

TIME = phrases.Rule("time")
DATED = phrases.Rule("dated")
PUT_OFF = phrases.Rule("put_off")
WAITING = phrases.Rule("waiting")
TENTATIVE = phrases.Rule("tentative")
SENTENCE = phrases.Rule("next_sentence")
CHORE = phrases.Rule("chore")
DIRECTIVE = phrases.Rule("directive")

LONG = 300
BACK = 3  # so many prompts may leave something open
_PROMISE = re.compile(
    r"\b(?:i'?ll|i will|i'?m (?:going|gonna)|gonna|we'?ll|we will|will (?:do|try|check|test|let|discuss|"
    r"ask|look|run|see)|let me"
    r"|ich (?:werde|mache?|frage?|schaue?|teste?|gucke?|kümmere?)|(?:machen|sehen|schauen|klären) wir|"
    r"je (?:vais|m'en|m'occupe|relance|"
    r"demande|fais)|on (?:va|fait|verra)|voy a|vamos a|(?:lo|la) (?:hago|miro|pregunto)|pregunto)\b",
    re.IGNORECASE,
)
_MUST = re.compile(
    r"\b(?:(?:has|have|had|needs?|ha[sv]e got) to|must|needs?|muss|müssen|il faut|faut|doit|hay que|"
    r"tiene que|falta[n]?)\b",
    re.IGNORECASE,
)
_DOING = re.compile(
    r"^\W*(?:(?:ok|great|cool|good|yeah|yes|and)\W+)*(?!nothing|something|anything|everything)\w{3,}ing\b",
    re.IGNORECASE,
)
_UNTIL = re.compile(
    r"\b(?:until|till|once|as soon as|before|after|when|waiting|wait|bis|sobald|erst wenn|warte\w*|"
    r"jusqu|quand|dès|avant|hasta|cuando|antes)\b",
    re.IGNORECASE,
)
_FOR_NOW = re.compile(
    r"\b(?:for now|for today|not (?:now|today|yet|this week|before)|nicht mehr|leave (?:it|that|this|"
    r"the|them)|leave .{2,30} (?:as|out|there|alone)|can wait|"
    r"placeholder|first|vorerst|erstmal|heute nicht|nicht heute|pour l'instant|por ahora|de momento)\b",
    re.IGNORECASE,
)
_STILL = re.compile(
    r"\b(?:still|remaining|remains?|missing|left|pending|open|todo|to do|outstanding|rest|noch|offen|"
    r"fehl(?:t|en)|reste|restent|manque|"
    r"queda\w*|pendiente|falta\w*)\b",
    re.IGNORECASE,
)
_OTHER = re.compile(
    r"(?<=[\w,;:] )[A-Z][a-z]+\b|\b(?:he|she|they|team|legal|finance|ops|security|marketing|design\w*|"
    r"client|customer|boss|colleague|"
    r"vendor|provider|support|somebody|someone|jemand|kunde|chef|quelqu'un|cliente|jefe)\b"
)
_PAST = re.compile(
    r"\b(?:yesterday|last (?:week|time|month|year|night)|ago|(?:i|we|you|he|she|they|"
    r"it) (?:already )?(?:did|was|were|had|went|made|put|"
    r"spent|got|ran|found|saw|said|wrote|fixed|\w{3,}ed)|gestern|hier|ayer)\b",
    re.IGNORECASE,
)
_CANNOT = re.compile(
    r"\b(?:can'?t|cannot|could(?:n'?t| not)|wasn'?t able|unable|not (?:possible|available|connected|"
    r"reachable)|isn'?t (?:connected|there|"
    r"available)|no access|offline|down|kann (?:ich )?nicht|konnte nicht)\b",
    re.IGNORECASE,
)
_NEGATED = re.compile(
    r"\b(?:not|n'?t|haven|hasn|isn|aren|wasn|didn|no|nicht|kein\w*|pas|sin)\b", re.IGNORECASE
)
_NEXT = re.compile(
    r"\b(?:next|then|afterwards|later|follow(?:s|-?up)?|nothing else|als nächstes|danach|ensuite|"
    r"después)\b",
    re.IGNORECASE,
)
_MAYBE = re.compile(
    r"\b(?:would|could|might|may|if|whenever|in case|falls|wenn|maybe|perhaps)\b", re.IGNORECASE
)
_YOU = re.compile(r"\b(?:you|your|du|dein\w*|sie|vous|tu)\b", re.IGNORECASE)
_PARTS = re.compile(
    r"\b(?:see|talk to|until|bis) (?:you|tomorrow|later|morgen|then)\b|\bgood night\b|\bsehen uns\b",
    re.IGNORECASE,
)
_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|will|does|do|did|can|ist|sind|war|hat|\w+'s|\w+ed)\b", re.IGNORECASE
)
_NOT_NOW = re.compile(
    r"^\W*(?:(?:but|aber|ok|so|and) )*(?:not (?:today|now|yet)|nicht (?:heute|jetzt)|heute nicht|"
    r"leave (?:it|that|this)|"
    r"(?:i'?ll|i will|will) do (?:that|it|them|those))\b",
    re.I,
)
_POINTS = re.compile(
    r"\b(?:them|that|it|those|this|one|(?:the )?rest|das|den rest|ça|en|eso|lo)\b", re.IGNORECASE
)
#: Words that carry no subject of their own.
_HOLLOW_WORDS = """
    tomorrow tonight later today time times week month session monday tuesday wednesday thursday
    friday another machen wir morgen später jetzt feierabend come comes leave take stop then meeting
    that this those these them weiter heute back over pick continue finish call talk sleep night
    evening enough rest stuff thing things will myself after before weekend lunch until think know first
    morning sunday saturday couple days keep fingers crossed
"""
_HOLLOW = frozenset(_HOLLOW_WORDS.split())


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a sentence stands: whose it is, how many turns ago, what came of it."""

    user: bool
    ago: int
    worked: bool
    final: bool
    asked: bool = False
    opening: bool = False
    idle: bool = False


def put_off(turns: list[Turn]) -> Iterator[tuple[Turn, str]]:
    """What the last prompts leave open, with its turn; what a later turn took up is left out."""
    for turn, text, spot, whole in prompted(turns):
        if leaves_open(text, spot) and not _taken_up(whole, turns[len(turns) - spot.ago :]):
            yield turn, whole


def prompted(turns: list[Turn]) -> Iterator[tuple[Turn, str, Spot, str]]:
    """The sentences of the last prompts, where they stand, and how they are told."""
    for number in range(max(len(turns) - BACK, 0), len(turns)):
        turn = turns[number]
        if not turn.typed:
            continue
        found = sentences(turn.typed)
        said = turns[number - 1].last_said if number else None
        worked = bool(turn.runs or turn.changes)
        for at, sentence in enumerate(found):
            spot = Spot(True, len(turns) - 1 - number, worked, at == len(found) - 1, opening=number == 0)
            yield turn, sentence.text, spot, _whole(found, at, said)


def leaves_open(text: str, spot: Spot) -> bool:
    """Whether the marks of a sentence say that something is still to come."""
    if spot.asked:
        return False  # an answer tells how things are
    return not vetoed(text) and weigh(frozenset(marks(text, spot))) >= STEP_ENOUGH


def vetoed(text: str) -> bool:
    """What never leaves anything open: questions, headings, goodbyes."""
    return not 6 <= len(text) <= LONG or text.endswith(("?", "？", ":")) or _PARTS.search(text) is not None


def weigh(found: frozenset[str]) -> float:
    """The sum of the weights of the marks."""
    return sum(STEP.get(mark, 0.0) for mark in (*found, "always"))


def marks(text: str, spot: Spot) -> Iterator[str]:
    """The marks of one sentence, told apart by who says it."""
    who = "user" if spot.user else "agent"
    found = {name for name, rule in (_USER if spot.user else _AGENT) if rule.search(text)}
    yield from (f"{who}: {name}" for name in found)
    yield f"{who}: {'last' if not spot.ago else 'idle since' if spot.idle else 'before last'}"
    if spot.final:
        yield f"{who}: at the end"
    if spot.worked:
        yield f"{who}: worked"
        if spot.user and found & {"time", "put off", "waiting", "promise"}:
            yield "user: aside"
    if spot.opening:
        yield f"{who}: opening"
    if spot.asked:
        yield f"{who}: asked"
    if spot.user:
        if CHORE.match(text) or DIRECTIVE.match(text):
            yield "user: orders"
        if "time" in found and not _VERB.search(text):
            yield "user: time alone"
        if hollow(text):
            yield "user: hollow"
        if "promise" in found and not spot.ago:
            yield "user: last promise" if not spot.worked else "user: promise and work"
        if "promise" in found and ("time" in found or "other" in found):
            yield "user: promise at a time"
    elif "negated" in found and "still" in found:
        yield "agent: still not"
    if not content_words(text):
        yield f"{who}: empty"
    if spot.user and found & {"time", "put off", "waiting"} and not found & {"dated", "past"}:
        yield "user: plainly later"


_AGENT = (
    ("put off", PUT_OFF),
    ("left", SENTENCE),
    ("must", _MUST),
    ("until", _UNTIL),
    ("for now", _FOR_NOW),
    ("still", _STILL),
    ("other", _OTHER),
    ("past", _PAST),
    ("cannot", _CANNOT),
    ("negated", _NEGATED),
    ("next", _NEXT),
    ("maybe", _MAYBE),
    ("you", _YOU),
)
_USER = (
    *_AGENT,
    ("time", TIME),
    ("dated", DATED),
    ("waiting", WAITING),
    ("tentative", TENTATIVE),
    ("promise", _PROMISE),
    ("doing", _DOING),
)


def hollow(text: str) -> bool:
    """Whether a sentence says nothing about what is put off."""
    words = len(content_words(text) - _HOLLOW)
    return words < 1 or (words < 3 and _POINTS.search(text) is not None) or _NOT_NOW.match(text) is not None


def _whole(found: tuple[Sentence, ...], at: int, said: Said | None) -> str:
    """The sentence, with the one or the answer before it when it has no subject of its own."""
    text = found[at].text
    if not hollow(text):
        return text
    if at and len(content_words(found[at - 1].text) - _HOLLOW) > 0:
        return f"{found[at - 1].text} {text}"
    told = [s.text for s in sentences(said.text)] if said is not None else []
    return f"{text} ({' '.join(told[-2:])})" if told else text


def _taken_up(text: str, after: list[Turn]) -> bool:
    """Whether a later turn worked on it: it was asked for, in its words, and something was done."""
    words = content_words(text) - _HOLLOW
    return any(
        len(words & content_words(turn.ask)) * 2 >= max(len(words), 2)
        for turn in after
        if turn.changes or turn.runs
    )
