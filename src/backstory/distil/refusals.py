"""Failures that were wanted, and fixes that the user threw out."""

import re

from backstory.distil import phrases
from backstory.distil.prose import content_words, sentences
from backstory.distil.story import Run, Story, Turn

REFUSAL = phrases.Rule("refusal")
OPENER = phrases.Rule("opener")
DISSENT = phrases.Rule("dissent")

_NEGATED = re.compile(
    r"(?:(?:i|we|you) )?(?:no|not|never|don'?t|do not|must ?n[o']t|should ?n[o']t|avoid|drop|remove|skip|"
    r"forget|"
    r"keine?n?|nicht|nie)\b",
    re.IGNORECASE,
)
SAME = 24  # so many characters of an error are enough to know it again


def intended(story: Story, run: Run) -> bool:
    """Whether a command failed with words that this session wrote into the code: that was the point."""
    words = run.error.removeprefix("Error: ").removeprefix("error: ")[:SAME]
    return len(words) >= 12 and any(words in c.excerpt for c in story.changes if c.place < run.place)


def refusal(story: Story, cure: Run, fix: list[str]) -> Turn | None:
    """The next turn, if in it the user refuses what had made the command pass."""
    after = next((turn for turn in story.turns if turn.number > cure.turn and turn.ask), None)
    if after is None:
        return None
    about = content_words(" ".join(fix))
    refused = False
    for sentence in sentences(after.ask)[:3]:
        opener = OPENER.match(sentence.text)
        bare = sentence.text[opener.end() :] if opener else sentence.text
        refused = refused or REFUSAL.match(sentence.text) is not None
        against = refused or _NEGATED.match(bare) or DISSENT.search(sentence.text)
        if against and about & content_words(sentence.text):
            return after
    return None
