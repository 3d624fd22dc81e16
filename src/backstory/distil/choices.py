"""Whether a sentence of the user is a decision: its marks, and what each weighs.

No single phrase makes a decision. People choose in many ways ("use X", "no Y", "Z it is", "B is better") and
justify in more ("because", a second clause, the next sentence, the one before). So a sentence is read for
marks: what chooses, what gives a reason, what lost, and above all what it answers. The marks are weighed by
`weights`, which were fitted on labelled sessions (`bench/distil/fit.py`), not chosen by hand.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from backstory.distil import phrases
from backstory.distil.named import settles
from backstory.distil.occasion import one_occasion
from backstory.distil.prose import content_words, names
from backstory.distil.reasons import (
    CHORE,
    CLAUSE,
    CONTRAST,
    DIRECTIVE,
    MERIT,
    OWN_PLAN,
    REASON,
    SO,
    USER_CHOICE,
    Around,
    Read,
    implied,
    judges,
    opening,
    reason_of,
    states,
)
from backstory.distil.weights import CHOICE, CHOICE_ENOUGH

TENTATIVE = phrases.Rule("tentative")
REFUSAL = phrases.Rule("refusal")
NEGATED = phrases.Rule("negated")
VERDICT = phrases.Rule("verdict")
TROUBLE = phrases.Rule("trouble")
UNDECIDED = phrases.Rule("undecided")

WAITING = phrases.Rule("waiting")
PUT_OFF = phrases.Rule("put_off")
TIME = phrases.Rule("time")

SHORT, LONG = 200, 900  # characters of a prompt that mostly answers, and of one that is partly pasted
NEAR = 3  # so many sentences of a prompt may answer
FEW = 3  # so many sentences of a prompt belong together
TERSE, WORDY = 5, 40  # words of a sentence
NEITHER = "neither"  # neither chooses nor answers
#: How much less a sentence must weigh that says both choice and cause; how much more without a reason, and
#: where nothing was said before it.
SAID, BARE, OPENING = 0.2, 0.5, 1.5
_BACKED = frozenset(
    f"{what}, {reason} reason" for what in ("firm choice", "answer") for reason in ("sure", "near")
) | {"decided", "picks", "proposed, names first"}
#: What a sentence that neither chooses nor answers must have to settle something.
_MAY_SETTLE = frozenset({"open", "names first", "talk, echoes", "proposed, echoes"})
LONGEST = 600  # characters of a sentence that somebody wrote by hand
#: What would happen else, and what for: said of what shall be, not of what is.
_COUNTER = re.compile(
    r"(?:(?:^|[,;.–—(] ?|\band |\bor )otherwise|\bor else|\bso that|\bsonst|\bdamit|\bsinon|\bafin|"
    r"\bsi no)\b",
    re.IGNORECASE,
)
#: One thing over another, said so plainly that no further word of choosing is needed.
_RATHER = re.compile(
    r"\b(?:instead of|rather than|statt|sondern|und nicht|au lieu|plutôt qu|en vez de|en lugar de)\b"
    r"|(?:,|\band) (?:not|never) |^[\w.+-]+ over [a-z]",
    re.IGNORECASE,
)
_SELF = re.compile(
    r"^\W*(?:i'?m|i am|i (?:was|made|meant|did|got|get|see|ran|tried|saw)|ich (?:bin|war|habe))\b", re.I
)
_DID = re.compile(
    r"(?:i(?:'ve| have)(?: just| already)? \w+|i (?:just |already )?(?:\w+ed|ran|did|put|set|got|made|"
    r"went|sent|saw)|(?:we'?re|we are|there (?:is|are)|both are)"
    r"|ich habe|j'ai|he \w+ado)\b",
    re.IGNORECASE,
)
_MEANT = re.compile(
    r"\b(?:i (?:meant|mean|said|asked)|not that one|the other one|wrong (?:file|one|place|line)|"
    r"ich (?:meinte|meine)|je voulais dire|quise decir)\b",
    re.IGNORECASE,
)
_PAST = re.compile(
    r"\b(?:was|were|did|had|went|got|ran|broke|came|made|said|saw|yesterday|ago|war|hatte|gestern|"
    r"\w{3,}ed)\b",
    re.I,
)
_DECIDED = re.compile(r"decided|settle[sd]|agreed on|entschieden|beschlossen|décidé|decidido", re.IGNORECASE)
_QUESTION = re.compile(r"[?？](?:[\s)\"'”*]|$)")
_ASKS = re.compile(
    r"(?:i'?m (?:an?|the|not|new|just)|i am (?:an?|the|not|new)|what|which|why|who|where|how|dunno|"
    r"shouldn'?t (?:we|it)|isn'?t|aren'?t|doesn'?t seem|seems?|can|could|would|will|do(?! (?:it|that|this|"
    r"so|the|not)\b)|does|is|are)\b",
    re.IGNORECASE,
)
_BIDS = re.compile(r"\b(?:please|pls|kindly|bitte|s'il (?:te|vous) pla[iî]t|por favor)\b", re.IGNORECASE)
#: What should have happened and did not: a bug report.
_EXPECTED = re.compile(
    r"\b(?:should|supposed to)\b.{3,80}?\b(?:but|however|yet|instead)\b,? (?:\w+ ){0,3}?(?:is|are|was|"
    r"does|did|gets?|shows?|nothing|\w+n'?t)\b",
    re.IGNORECASE,
)
_NEEDS = re.compile(r"(?:(?:we|i|you|it|they|this|that) )?(?:also |still |really )?needs?\b", re.IGNORECASE)
_PLAIN = re.compile(r"we\s+(?:use|do|don'?t|do not)$")  # also how things are described
_AGREES = re.compile(
    r"\W*(?:ok(?:ay)?|y|yes|yeah|yep|yup|sure|agreed?|right|good|great|fine|perfect|exactly|makes? sense|"
    r"sounds|fair|true|cool|ja|gut|passt|genau|oui|d'accord|sí|vale)\b",
    re.IGNORECASE,
)
_TAKEN = re.compile(
    r"(?:\bit is|\bthen|\bi'?m afraid|\bplease|\bfor (?:now|me|us)|\bi (?:like|think|guess)|"
    r"\bis (?:fine|right|better|best|ok)"
    r"|\bdann|\bbitte)(?:[.!,;:–—]|$)",
    re.IGNORECASE,
)
_WE = re.compile(r"\b(?:we|us|our|let'?s|wir|uns|unsere?\w*|on|nous|nuestr\w+|\w+mos)\b", re.IGNORECASE)
_PERSONAL = re.compile(
    r"\b(?:we|i|you|our|my|let'?s|i'?d|i'?ll|us|wir|ich|uns|nous|on|je|nosotros|yo)\b", re.IGNORECASE
)
_DEGREE = re.compile(
    r"\b(?:too|enough|more|less|better|best|worse|worst|only|never|always|nobody|everybody|everyone|zu|"
    r"genug|"
    r"mehr|besser|nur|nie|niemand|alle|trop|assez|plus|mieux|jamais|personne|demasiado|más|mejor|nunca|"
    r"nadie|"
    r"\w{3,}(?:er|ier) than)\b",
    re.IGNORECASE,
)
_ANAPHOR = re.compile(
    r"^(?:\W*(?:ok|yes|so|then)\W+)?(?:let'?s |we (?:should |will )?|please |just )*"
    r"(?:do|use|keep|drop|remove|take|leave|make)\s+(?:that|this|those|these|it|them)\b(?!\s+\w+ing)",
    re.IGNORECASE,
)
_SIGNS = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")
_NO = re.compile(
    r"(?:\W*+\w++){0,2}?\W*+\b(?:no|nope|nah|nein|nee|non)\b(?:\s*+(?:[,.!;:–—…]|$)| please| thanks| thx)",
    re.IGNORECASE,
)
#: How things came to be: told, not chosen.
_EXPLAINS = re.compile(
    r"\b(?:explains?|explained|that(?:'s| is| was) (?:why|because|how|what)|which is why|"
    r"understood|turns out|"
    r"i see|so that'?s|so (?:it|he|she|they|every\w*|each|this|that|there|the|\d\S*)(?: \w+)? (?:is|was|are|"
    r"were|means|\w+s)|das (?:heißt|liegt)|erklärt|c'est pour ça|por eso)\b",
    re.IGNORECASE,
)
#: How things are, in so many words: "main is now fixed".
_DESCRIBES = re.compile(
    r"(?:(?!(?:no|not|never|let'?s|use|keep|if|option)\b)[\w`'./()-]+ ){1,4}?"
    r"(?:is|are|was|were|has|have|had|does|did|works?|says?|runs?|means|seems?|looks?|ist|sind|war|hat|"
    r"läuft|est|sont|était|es|son|está)\b"
    r"|(?:it|that|this|there|we|i|they|he|she)'(?:s|re|m)\b",
    re.IGNORECASE,
)
#: One more wish, on top of what was talked about.
_ADDS = re.compile(
    r"^.{0,25}?\b(?:also|as well|next|another|one more|(?:and|ok|good|super|thanks)\W+now|now|außerdem|auch|"
    r"noch|aussi|encore|maintenant|también|otra|ahora)\b",
    re.IGNORECASE,
)
_REPORTED = re.compile(
    r"\b(?:writes?|wrote|says?|said|schreibt|sagt|écrit|dit|dice|escribe)\s*:", re.IGNORECASE
)
_FRAGMENT = re.compile(
    r"(?<=\w)[,.;:!?–—(=](?!\w)|\s-\s|\s(?:then|it is|for|as|please|better|always|everywhere|"
    r"is (?:fine|ok|better|"
    r"enough)|dann|für|besser|entonces|para|mejor|alors|pour|suffi\w+)\b|$",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"(?:\b(?:option|opción|num[eé]ro|nummer|la|le|el|die|variant|variante|approach|number|nr\.?|no\.|#|for|on|bei|zu|so|then|do|take|with|"
    r"it'?s)\s*"
    r"|^\W*(?:(?:ok|yes|y|yeah)\W+)?)([a-d]|[1-9])(?=\W*(?:$|[,;:!.–—]|\b(?:please|pls|then|it is|"
    r"because|since|for|no|yes)\b))",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Before:
    """What the assistant had just said: whether it asked, argued, offered a choice, and between what."""

    spoke: bool = False
    asked: bool = False
    argued: bool = False
    offered: bool = False
    wondered: bool = False
    choice: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()
    worked: bool = False
    inquired: bool = False
    proposed: bool = False

    @property
    def open(self) -> bool:
        """Whether there is something to settle."""
        return self.offered or self.argued or self.wondered or self.asked


@dataclass(frozen=True, slots=True)
class Place:
    """Where a sentence stands: its neighbours, the prompt around it, and what that answers."""

    around: Around
    before: Before
    number: int
    count: int
    length: int
    refused: bool
    edge: bool = True
    asks_on: bool = False
    wavers: bool = False


def read_choice(text: str, place: Place) -> tuple[Read, float] | None:
    """The choice with its reason, and how surely it is one."""
    if vetoed(text, place):
        return None
    found = frozenset(marks(text, place))
    score = weigh(found)
    return (read(text, place), score) if score >= enough(found) and NEITHER not in found else None


def read_names(text: str, place: Place) -> tuple[Read, float] | None:
    """The choice that a sentence makes by the names in it, whatever its other marks weigh."""
    if vetoed(text, place) or place.wavers or place.asks_on or not settles(text):
        return None
    return read(text, place), CHOICE_ENOUGH


def enough(found: frozenset[str]) -> float:
    """How much a sentence must weigh: least with a plain cause, most where it opens a session."""
    if "chooses" in found and found & {"cause", "so", "decided"}:
        return CHOICE_ENOUGH - SAID
    if "opens" in found:
        return CHOICE_ENOUGH + OPENING
    return CHOICE_ENOUGH + (0.0 if found & _BACKED else BARE)


def vetoed(text: str, place: Place) -> bool:
    """What is never a decision: questions, headings, code, the middle of a pasted text, a task for once."""
    return (
        text.endswith(":")
        or "\\n" in text
        or len(text) > LONGEST
        or not place.edge
        or _QUESTION.search(text) is not None
        or TENTATIVE.search(text) is not None
        or _EXPECTED.search(text) is not None
        or UNDECIDED.search(text) is not None
        or _REPORTED.search(text) is not None
        or not text[opening(text) :].strip(" .!…")
        or _ASKS.match(text[opening(text) :]) is not None
        or (place.length > LONG and not _PERSONAL.search(text))
        or one_occasion(text, answers(place))
    )


def weigh(found: frozenset[str]) -> float:
    """The sum of the weights of the marks."""
    return sum(CHOICE.get(mark, 0.0) for mark in (*found, "always"))


def read(text: str, place: Place) -> Read:
    """Where the choice ends and its reason begins."""
    strong = _strongest(text)
    at = opening(text)
    end = strong.end() if strong is not None else min(at + 3, len(text))
    plain = strong is not None and _PLAIN.match(strong.group(0)) is not None
    return _resolved(reason_of(text, end, place.around, plain)[0], place.around.previous)


def marks(text: str, place: Place) -> Iterator[str]:
    """The marks of one sentence."""
    chosen = set(_choosing(text))
    answers = set(_answering(text, place))
    firm = chosen & {"chooses", "orders", "rather", "counter", "decided"}
    soft = chosen & {"verdict", "orders-later", "plain", "wants"}
    answer = answers & {"takes", "picks", "refuses"}
    silent = not (firm or soft or answer or "taken" in answers)
    if silent and (place.number >= NEAR or not answers & _MAY_SETTLE):
        yield NEITHER  # whatever its reasons are, and they are dear to find
        return
    reasons = set(_reasoning(text, place.around))
    spoiled = set(_spoiling(text, place))
    yield from chosen | reasons | answers | spoiled
    sure = reasons & {"cause", "cause-after", "so", "clause"}
    near = reasons & {"judged-after", "judged-before", "hint"}
    near |= chosen & {"rather"}  # what lost is a reason of its own
    if place.count <= FEW:
        near |= reasons & {"stated-after", "stated-before"}
    if not firm and states(text):
        yield "tells"
    if "describes" in spoiled and not (firm or soft):
        yield "describes, no choice"
    if "asked" in answers and "argued" not in answers and not (sure or near or "contrast" in chosen):
        yield "asked, no reason"
    choice = "firm choice" if firm else "soft choice" if soft else "no choice"
    reason = "sure reason" if sure else "near reason" if near else "no reason"
    yield f"{choice}, {reason}"
    if not place.before.spoke:
        yield f"opens, {reason}"
    if "explains" in spoiled and not firm:
        yield NEITHER
    if silent:
        echoed = sure and answers & {"talk, echoes", "proposed, echoes"}
        settles = "open" in answers and (sure or near or answers & {"echoes", "agrees"})
        yield "neither, open" if settles or echoed or "names first" in answers else NEITHER
    if answer:
        yield f"answer, {reason}"
        yield f"answer, {choice}"


def _choosing(text: str) -> Iterator[str]:
    start = opening(text)
    strong = _strongest(text)
    if strong is not None:
        yield "plain" if _PLAIN.match(strong.group(0)) else "chooses"
    if _DECIDED.search(text):
        yield "decided"
    if DIRECTIVE.match(text[start:]):
        yield "wants" if _NEEDS.match(text[start:]) else "orders"
    elif any(DIRECTIVE.match(text[cut.end() :]) for cut in CLAUSE.finditer(text, start)):
        yield "orders-later"
    if VERDICT.search(text):
        yield "verdict"
    if _COUNTER.search(text):
        yield "counter"
    if _RATHER.search(text) and not TROUBLE.search(text):
        yield "rather"
    if CONTRAST.search(text):
        yield "contrast"
    if NEGATED.match(text[start:]):
        yield "negated"
    if _WE.search(text):
        yield "we"


def _reasoning(text: str, around: Around) -> Iterator[str]:
    cue = REASON.search(text)
    if cue is not None:
        yield "cause"
    if SO.match(text):
        yield "so"
    following, previous = around.following, around.previous
    cause = REASON.match(following) or (not following.isascii() and REASON.search(following))
    if cause and not following.endswith(("?", "？")):
        yield "cause-after"
    clause = implied(text, opening(text) + 3)
    if clause is not None:
        yield "clause" if judges(clause.reason) else "hint"
    if states(following):
        yield "judged-after" if judges(following) else "stated-after"
        if _DEGREE.search(following):
            yield "degree-near"
    if states(previous):
        yield "judged-before" if judges(previous) else "stated-before"
    if MERIT.search(text):
        yield "merit"
    if _DEGREE.search(text):
        yield "degree"


def _answering(text: str, place: Place) -> Iterator[str]:
    before = place.before
    if not before.spoke:
        yield "opens"
        return
    words = names(text)
    if place.number == 0:
        yield "head"
    if before.asked:
        yield "asked"
    if before.worked:
        yield "worked"
    if before.open:
        yield "open"
        for name in ("argued", "offered", "wondered"):
            if getattr(before, name):
                yield name
        if place.number < NEAR:
            taken = bool(words & before.choice)
            yield "takes" if taken else "misses"
            if _length(text) <= TERSE:
                yield "takes-tersely" if taken else "misses-tersely"
    if words & before.words:
        yield "echoes"
        if words <= before.words | before.choice and _length(text) <= TERSE:
            yield "names it"
            if not (before.worked or before.inquired):
                yield "names it, talk"
    if place.number < NEAR:
        talk = "inquired" if before.inquired else "" if before.worked else "talk"
        if talk == "talk" and before.proposed:
            talk = "proposed"
        if talk:
            yield talk
            if words & before.words:
                yield f"{talk}, echoes"
        if _names_first(text, before):
            yield "names first"
            if talk:
                yield f"{talk}, names first"
    if before.numbers and named_in(text) & before.numbers:
        yield "picks"
    if refuses(text, place):
        yield "refuses"
    if place.number == 0 and _AGREES.match(text):
        yield "agrees"
    if _TAKEN.search(text):
        yield "taken"


def _spoiling(text: str, place: Place) -> Iterator[str]:
    start = opening(text)
    if WAITING.search(text) or PUT_OFF.search(text) or TIME.search(text):
        yield "later"
    if _BIDS.search(text):
        yield "bids"
    if TROUBLE.search(text):
        yield "trouble"
    if OWN_PLAN.match(text[start:]):
        yield "own-plan"
    if (CHORE.match(text) or CHORE.match(text[start:])) and not REFUSAL.match(text):
        yield "chore"
    if _EXPLAINS.search(text):
        yield "explains"
    if _DESCRIBES.match(text[start:]):
        yield "describes"
    if _ADDS.search(text):
        yield "adds"
    if place.asks_on:
        yield "asks on"
    if place.wavers:
        yield "wavers"
    if _SELF.search(text):
        yield "self"
    if _MEANT.search(text):
        yield "meant"
    if _DID.match(text[start:]):
        yield "did"
    if _PAST.search(text):
        yield "past"
    if not _PERSONAL.search(text):
        yield "impersonal"
    if place.length > LONG:
        yield "long"
    elif place.length < SHORT:
        yield "short"
    words = _length(text)
    if words <= TERSE:
        yield "terse"
    elif words > WORDY:
        yield "wordy"
    if not names(text):
        yield "empty"


def _length(text: str) -> int:
    """How many words; two signs are one where there are no spaces."""
    return len(text.split()) + len(_SIGNS.findall(text)) // 2


def _names_first(text: str, before: Before) -> bool:
    """Whether a sentence begins with what the assistant had named: "sqlite, it's only me"."""
    start = opening(text)
    cut = _FRAGMENT.search(text, start)
    head = text[start : cut.start()] if cut is not None else ""
    known = before.words | before.choice
    return 0 < len(head.split()) <= FEW + 1 and bool(words := names(head)) and words <= known


def refuses(text: str, place: Place) -> bool:
    """Whether a sentence says no to what the assistant did or offered."""
    return place.refused or REFUSAL.match(text) is not None or _NO.match(text) is not None


def answers(place: Place) -> bool:
    """Whether a sentence may react to something that was open."""
    return place.before.open and place.number < NEAR


def named_in(text: str) -> set[str]:
    """The numbers and letters of options that a sentence names."""
    return {key.upper() for key in _NUMBER.findall(text)}


def _resolved(read: Read, previous: str) -> Read:
    """With the sentence before it, where "let's do that" says nothing alone."""
    bare = _ANAPHOR.match(read.choice)
    if bare is None or len(content_words(previous)) < 2 or previous.endswith("?"):
        return read
    return Read(f"{previous} {read.choice}", "" if read.reason == previous else read.reason, read.ahead)


def _strongest(text: str) -> re.Match[str] | None:
    """The first words that choose; "we do" and "we use" only if there are no others."""
    first = USER_CHOICE.search(text)
    if first is not None and _PLAIN.match(first.group(0)):
        blanked = " " * first.end() + text[first.end() :]
        return USER_CHOICE.search(blanked) or first
    return first
