"""What people say when they choose, wish, complain or plan: the prose rules, as tables per language.

Structure (outcomes, edits, todos) needs no language and is read elsewhere. Every row is a phrase with an
example that it must match; a test walks the rows. All languages are tried at once: a session mixes them
freely, and no row of one is a word of another.

- `phrase`  the row
- `english german french spanish chinese japanese`  the tables

The tables: user_choice and assistant_choice (somebody picks something), contrast (one thing over another),
reason (where the reason begins), tentative (asked or imagined, so no decision), decision_heading, recommend,
approval; standing (a wish that outlives the task); next_heading, next_sentence, user_later, offer, filler
(what remains; questions that offer work; mere politeness); trouble (the user reports a failure), dissent
(the user says it did not work), cause (the assistant names why).
"""

import re

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
    """One table in all languages."""

    def __init__(self, name: str) -> None:
        rows = [row for module in LANGUAGES.values() for row in module.TABLES.get(name, ())]
        self.pattern = re.compile("|".join(f"(?:{row.pattern})" for row in rows), re.IGNORECASE)
        anchored = all(name in module.ANCHORS or name not in module.TABLES for module in LANGUAGES.values())
        words = [word for module in LANGUAGES.values() for word in module.ANCHORS.get(name, "").split("|")]
        self._plain = tuple(word for word in words if word.isascii() and word) if anchored else ()
        self._other = tuple(word for word in words if not word.isascii()) if anchored else ()

    def near(self, text: str) -> bool:
        """Whether the table could match at all: a quick look for its anchors."""
        if not self._plain:
            return True
        lower = text.lower()
        if any(word in lower for word in self._plain):
            return True
        return not lower.isascii() and any(word in lower for word in self._other)

    def search(self, text: str) -> re.Match[str] | None:
        return self.pattern.search(text) if self.near(text) else None

    def match(self, text: str) -> re.Match[str] | None:
        return self.pattern.match(text)
