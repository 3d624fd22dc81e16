"""Edits of which the assistant itself says that they did not help.

The sentence must name something that the edit put in, or the file, or follow at once with a "that"; and the
command must have failed again after the edit.
"""

import re
from collections.abc import Iterator, Sequence

from backstory.distil import phrases
from backstory.distil.chains import Chain
from backstory.distil.prose import names, sentences
from backstory.distil.story import Change, Said, Story, between
from backstory.distil.undone import added, removed

VAIN = phrases.Rule("vain")

_THAT = re.compile(
    r"\W*(?:(?:hm+|ok(?:ay)?|well|no|so|but|unfortunately|sadly|leider|malheureusement)\W+)*"
    r"(?:that|this|it|das|es|ça|cela|esto|eso)\b",
    re.IGNORECASE,
)


def called_vain(story: Story, chain: Chain) -> dict[str, str]:
    """The ids of the edits that the assistant calls vain, each with the sentence that does."""
    cure, first, last = chain.cure, chain.failures[0], chain.failures[-1]
    edits = between(story.changes, first.place, last.place)
    if cure is None or not edits:
        return {}
    found: dict[str, str] = {}
    end = story.said[-1].place + 1 if story.said else 0
    for said in between(story.said, edits[0].place, end):
        if said.turn > cure.turn:
            break
        if VAIN.search(said.text):
            answers = said.place < cure.place and not between(story.changes, last.place, said.place)
            for edit, sentence in _blamed(said, edits, chain, answers):
                found.setdefault(edit.id, sentence)
    return found


def _blamed(said: Said, edits: Sequence[Change], chain: Chain, answers: bool) -> Iterator[tuple[Change, str]]:
    """What a message blames; a "that" is what was tried last, if the message answers its failing."""
    red = [run.place for run in chain.failures if run.place < said.place]
    tested = between(edits, -1, red[-1])
    untested = between(edits, red[-1], said.place)
    just_now = between(edits, red[-2], red[-1]) if len(red) > 1 and answers and not untested else ()
    for sentence in sentences(said.text):
        text = sentence.text
        if text.endswith(("?", ":")) or not VAIN.search(text):
            continue
        named = [edit for edit in tested if _names(text, edit)]
        if not named and _THAT.match(text):
            named = list(just_now)
        for edit in named:
            yield edit, text


def _names(text: str, edit: Change) -> bool:
    new = names(added(edit)) - names(removed(edit))
    return bool(names(text) & new) or edit.file.rsplit("/", 1)[-1] in text
