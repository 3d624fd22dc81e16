"""What the user put off, still misses, or waits for.

"Tomorrow" alone is no step: it may only date something ("launch is next week"). It is one when somebody is to
do something then, or when the sentence has no verb at all ("the docs: next time"). A sentence that lost its
subject ("that's one for tomorrow") is told together with the one before it.
"""

import re
from collections.abc import Iterator

from backstory.distil import phrases
from backstory.distil.prose import Sentence, content_words, sentences
from backstory.distil.story import Turn

TIME = phrases.Rule("time")
DATED = phrases.Rule("dated")
PUT_OFF = phrases.Rule("put_off")
WAITING = phrases.Rule("waiting")
TENTATIVE = phrases.Rule("tentative")

LONG = 300
_ACTS = re.compile(
    r"\b(?:(?:we|i|you)(?:'ll| will| can| should| must| could|'re going to| are going to| need to|"
    r" have to|'d)?"
    r" \w+|let'?s|to-?do|(?:wir|ich|du) \w+|\w+ (?:wir|ich)|on \w+|nous \w+|mos\b|\w+mos|demain|mañana)\b"
    r"|^\W*(?:(?:and|but|then|so|please|also|ok|und|aber)\W+)*(?:do|add|fix|move|write|finish|test|try|"
    r"check|"
    r"deploy|release|merge|push|look|leave|keep|continue|not|nicht|heute|tomorrow|later|morgen|next)\b"
    r"|[\u3040-\u30ff\u4e00-\u9fff]",
    re.IGNORECASE,
)
_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|will|does|do|did|can|ist|sind|war|hat|\w+'s|\w+ed)\b",
    re.IGNORECASE,
)
_NOT_NOW = re.compile(
    r"^\W*(?:but |aber )?(?:not (?:today|now|yet)|nicht (?:heute|jetzt)|heute nicht)\b", re.I
)
_PAST = re.compile(
    r"\b(?:yesterday|last (?:week|time)|(?:i|we) (?:did|was|were|had|went|made|put|\w+ed)|gestern)\b", re.I
)
#: Words that carry no subject of their own.
_HOLLOW_WORDS = """
    tomorrow tonight later today time times week month session monday tuesday wednesday thursday
    friday another machen wir morgen später jetzt feierabend come comes leave take stop then meeting
    that this those these them weiter heute back over pick continue finish call talk sleep night
    evening enough rest stuff thing things
"""
_HOLLOW = frozenset(_HOLLOW_WORDS.split())


def put_off(turns: list[Turn]) -> Iterator[tuple[Turn, str]]:
    """What the last prompts leave open, with its turn; what a later turn took up is left out."""
    for number, turn in enumerate(turns):
        if not turn.ask:
            continue
        found = sentences(turn.ask)
        for at, sentence in enumerate(found):
            if len(sentence.text) > LONG or sentence.text.endswith(("?", "？")) or not _open(sentence):
                continue
            text = _whole(found, at)
            if not _taken_up(text, turns[number + 1 :]):
                yield turn, text


def _open(sentence: Sentence) -> bool:
    text = sentence.text
    if WAITING.search(text):
        return True
    if DATED.search(text) or _PAST.search(text):
        return False
    if TENTATIVE.search(text):
        text = text.split(", ", 1)[0]  # "tomorrow we look at the key, I bet it is that"
        if TENTATIVE.search(text):
            return False
    if PUT_OFF.search(text):
        return True
    if TIME.search(text) is None:
        return False
    return _ACTS.search(text) is not None or _VERB.search(text) is None or _hollow(text)


def _hollow(text: str) -> bool:
    """Whether a sentence says nothing about what is put off."""
    return _NOT_NOW.match(text) is not None or len(content_words(text) - _HOLLOW) < 1


def _whole(found: tuple[Sentence, ...], at: int) -> str:
    """The sentence, with the one before it when it has no subject of its own."""
    text = found[at].text
    if at and _hollow(text):
        return f"{found[at - 1].text} {text}"
    return text


def _taken_up(text: str, after: list[Turn]) -> bool:
    """Whether a later turn worked on it: it was asked for, in its words, and something was done."""
    words = content_words(text) - _HOLLOW
    return any(
        len(words & content_words(turn.ask)) * 2 >= max(len(words), 2)
        for turn in after
        if turn.changes or turn.runs
    )
