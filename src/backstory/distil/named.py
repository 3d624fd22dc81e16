"""Whether a sentence settles a matter by the names in it, though it gives no reason and answers nothing.

A prompt that opens a session is mostly a task. It decides as well where it gives up one thing by name for
another ("switch from RabbitMQ to NATS", "sign tokens with EdDSA instead of RS256"), or takes one by name for
a matter ("let's use Postgres for the users table"). A name is one of the table of alternatives, alone or with
one word more ("NATS JetStream"), or a word with a capital letter that is no identifier.
"""

import re

from backstory.distil.alternatives import everyday, is_known
from backstory.distil.forms import INSTEAD, LATELY, VERB_OF
from backstory.distil.matters import Matter, clauses, read
from backstory.distil.story import Story
from backstory.distil.terms import telling
from backstory.distil.undone import given_up

#: How a clause begins that turns from one thing to another, and one that takes something.
_TURNS = re.compile(
    r"(?:switch|migrat|mov|replac|swap|drop|ditch|abandon|retir|dump|scrap|ersetz|wechs|migrier)\w*\b"
    r"|(?:go|going|went) back\b|no longer\b|stop(?:ped)? using\b",
    re.IGNORECASE,
)
_TAKES = re.compile(
    r"(?:us(?:e|ing)|go(?:ing)? with|went with|choos(?:e|ing)|chose|pick(?:ed)?|adopt(?:ed)?|settled? on|"
    r"(?:switch|mov|migrat)(?:e|ed|ing)? to|opt(?:ed)? for|decided? on|agreed on|standardi[sz]ed? on|"
    r"nutzen|nehmen|verwenden|utilisons|usemos)\b",
    re.IGNORECASE,
)
_DECISION = re.compile(r"\W*(?:decision|decided|entscheidung|décision|decisión)\s*[:：]", re.IGNORECASE)
_SWITCHES = re.compile(r"(?:switch|migrat)\w*\b", re.IGNORECASE)
_ENDS = re.compile(
    r"\bno longer\b|\bany ?more\b|\bstop(?:ped)? using\b|\b(?:drop|ditch|retire|abandon)", re.I
)
_PEOPLE = re.compile(
    r"\b(?:let'?s|let us|we|we'?(?:ll|re|ve)|decided|decision|wir|nous|\w+ons|usemos)\b", re.IGNORECASE
)
_HABIT = re.compile(r"^\W*we (?:already |currently )?use\b", re.IGNORECASE)
#: What shows that one place in the work is meant: a file, a piece of code, "this".
_ONE_PLACE = re.compile(
    r"`|\w/\w|\w\(\)|\w_\w|\b\w+\.(?:py|tsx?|jsx|ya?ml|json|toml|md|go|rs|java|rb|php|css|html|sh|txt|sql|lock)\b"
    r"|\b(?:this|these|that|those|here|branch(?:es)?|tab|line|file|diese\w*)\b",
    re.IGNORECASE,
)
_PURPOSE = re.compile(r"\b(?:for|as|für|als|pour|para|in favou?r)\b", re.IGNORECASE)
_WORD = re.compile(r"(?<![.-])[.-]*+[\w+#](?:[\w.+#-]*[\w+#])?")
_ARTICLES = frozenset({"the", "a", "an", "my", "your", "der", "die", "das", "den", "ein", "eine", "einen"})
_IDENTIFIER = re.compile(r"[a-z][A-Z]|_")
_VERSION = re.compile(r"v?\d[\d.x]*")
_COUNT = re.compile(r"^\d+ ")
_DAYS = frozenset(
    telling(
        """Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March April May June July
        August September October November December"""
    )
)


def settles(text: str) -> bool:
    """Whether a sentence chooses between things by their names, or one by its name for a matter."""
    if _ONE_PLACE.search(text):
        return False
    said = read(text)
    if not said.firm or said.adds:
        return False
    heads = clauses(text)
    everywhere = not said.where or _PEOPLE.search(text) is not None
    turning = any(_turning(clause) or (everywhere and _doing(clause)) for clause in heads)
    if said.gone and (turning or _DECISION.match(text)):
        return _turns(text, heads[0], said)
    takes = _TAKES.match(heads[0]) or _DECISION.match(text) if heads else None
    return bool(said.about) and takes is not None and _takes(text, said)


def _turning(clause: str) -> bool:
    """Whether a clause tells somebody to turn to something, or to take it."""
    return bool(_TURNS.match(clause) or _TAKES.match(clause))


def _doing(clause: str) -> bool:
    """Whether a clause tells somebody to do something with one thing instead of another."""
    return clause.split()[0].lower() in VERB_OF and INSTEAD.search(clause) is not None


def came_to_nothing(story: Story) -> bool:
    """Whether everything that a session changed was taken back before its end."""
    return bool(story.changes) and {change.id for change in story.changes} <= given_up(story)


def _turns(text: str, head: str, said: Matter) -> bool:
    called = [_called(text, phrase) for phrase in (*said.gone, said.choice) if phrase]
    if not all(called):
        return False
    if not said.choice:
        return "known" in called and _ENDS.search(text) is not None
    return "known" in called or _SWITCHES.match(head) is not None or _PEOPLE.search(text) is not None


def _takes(text: str, said: Matter) -> bool:
    if said.denied or not _PURPOSE.search(text) or (_HABIT.match(text) and not LATELY.search(text)):
        return False
    called = _called(text, said.choice)
    return called == "known" or (called == "named" and _PEOPLE.search(text) is not None)


def _called(text: str, phrase: frozenset[str]) -> str:
    """How a phrase calls a thing: by a "known" name, as somebody "named" it; "" if it only describes one."""
    counted = " ".join(_COUNT.sub("", word) for word in phrase if not _VERSION.fullmatch(word))
    bare = frozenset(telling(counted))
    words = _WORD.findall(text)
    for before, word in zip(("", *words), words, strict=False):
        if before.lower() in _ARTICLES and bare.intersection(telling(word)):
            return ""
    if not bare or is_known(bare) or _surnamed(bare, words):
        return "known"
    proper = {
        stem
        for word in words[1:]
        if word[0].isupper() and not _IDENTIFIER.search(word)
        for stem in telling(word)
    }
    return "named" if bare <= proper - _DAYS else ""


def _surnamed(phrase: frozenset[str], words: list[str]) -> bool:
    """Whether a phrase is a known name with one more beside it: "NATS JetStream", "Amazon SES"."""
    alone = [stem for stem in phrase if is_known(frozenset({stem}))]
    sure = [stem for stem in alone if not everyday(frozenset({stem}))]
    capital = {stem for word in words if word[0].isupper() for stem in telling(word)}
    return bool(sure) and len(phrase) == len(sure) + 1 and phrase <= capital
