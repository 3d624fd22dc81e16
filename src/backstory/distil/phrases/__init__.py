"""What people say when they choose, wish, complain or plan: the prose rules, as tables per language.

Structure (outcomes, edits, todos) needs no language and is read elsewhere. Every row is a phrase with an
example that it must match; a test walks the rows. All languages are tried at once: a session mixes them
freely, and no row of one is a word of another.

- `phrase`  the row
- `english`  with `english_choices`, `english_talk`, `english_later`: the widest, most sessions are in it
- `german french spanish chinese japanese`

The tables.
Choosing: user_choice, assistant_choice, decision_heading, contrast (one thing over another), reason (where it
begins), tentative (asked or imagined), recommend, approval, delegate (the user leaves the choice), reversal.
The moves of a talk: opener, refusal, directive (orders, norms), negated, verdict (a judgement), merit (praise
and blame), chore (only steers the work), own_plan (what the speaker will do), standing (a lasting wish).
What remains: next_heading, next_sentence, time, dated (a time that only dates something), put_off, waiting,
offer and filler (questions that offer work; mere politeness).
Trouble: trouble (the user reports it), dissent (the user says that it did not help), vain (the assistant says
so of what it tried), cause (the assistant names why).
"""

import re
from functools import cached_property, lru_cache

from backstory.distil.phrases import chinese, english, french, german, japanese, spanish

LANGUAGES = {
    "en": english,
    "de": german,
    "fr": french,
    "es": spanish,
    "zh": chinese,
    "ja": japanese,
}


class Rule:
    """One table in all languages.

    It runs on every sentence of every session, so it is built for speed: patterns are matched against the
    lower-cased text (cheaper than ignoring case), Chinese and Japanese only where there is more than ASCII,
    nothing at all where no anchor of the table occurs, and
    nothing is compiled before it is needed.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        tables = [module for module in LANGUAGES.values() if name in module.TABLES]
        anchored = all(name in module.ANCHORS for module in tables)
        self._anchors = (
            tuple(word for module in tables for word in module.ANCHORS[name].split("|") if word)
            if anchored
            else ()
        )

    @cached_property
    def _ascii(self) -> re.Pattern[str]:
        return _compiled(self._name, "en", "de", "fr", "es")

    @cached_property
    def _whole(self) -> re.Pattern[str]:
        return _compiled(self._name, *LANGUAGES)

    def near(self, text: str) -> bool:
        """Whether the table could match at all."""
        return not self._anchors or any(map(text.lower().__contains__, self._anchors))

    def search(self, text: str) -> re.Match[str] | None:
        lower = _lower(text)
        if self._anchors and not any(map(lower.__contains__, self._anchors)):
            return None
        return (self._ascii if lower.isascii() else self._whole).search(lower)

    def match(self, text: str) -> re.Match[str] | None:
        lower = _lower(text)
        return (self._ascii if lower.isascii() else self._whole).match(lower)


def _compiled(name: str, *languages: str) -> re.Pattern[str]:
    """All rows as one pattern; a start that rows share (`^`, `\\b`) is tried once per place, not per row."""
    groups: dict[str, list[str]] = {"^": [], r"\b": [], "": []}
    for language in languages:
        for row in LANGUAGES[language].TABLES.get(name, ()):
            start = next(start for start in groups if row.pattern.startswith(start))
            groups[start].append(f"(?:{row.pattern[len(start) :]})")
    return re.compile("|".join(f"{start}(?:{'|'.join(rows)})" for start, rows in groups.items() if rows))


@lru_cache(maxsize=64)  # many tables in a row read the same sentence
def _lower(text: str) -> str:
    """In lower case, character for character, so that a match's place in it is its place in the text."""
    lower = text.lower()
    return (
        lower if len(lower) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
    )
