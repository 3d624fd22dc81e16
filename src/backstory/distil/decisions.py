"""Decisions with their reason, and wishes that outlive the task.

A sentence is a decision when somebody chooses and says why (CCE-49). The user's choice between named
alternatives ("RS256, not HS256") counts without a "because": the alternative that lost is its reason.
Questions, hypotheticals, quotations, code and tool output never count. What a sub-agent was told was
written by another agent, so there nothing is "the user's".
"""

import re
from collections.abc import Iterator, Sequence

from backstory.distil import phrases
from backstory.distil.answers import Offers, answered
from backstory.distil.prose import Sentence, once, sentences, shorten, subject
from backstory.distil.story import Story
from backstory.model import Draft, MemoryKind

USER_CHOICE = phrases.Rule("user_choice")
ASSISTANT_CHOICE = phrases.Rule("assistant_choice")
CONTRAST = phrases.Rule("contrast")
REASON = phrases.Rule("reason")
TENTATIVE = phrases.Rule("tentative")
STANDING = phrases.Rule("standing")
HEADING = phrases.Rule("decision_heading")

#: A reason that only a comma introduces: "drop the preview, we don't need it".
_IMPLICIT = re.compile(
    r"\s*(?:[,;:–—]| - )\s+(?=(?:we|it|it'?s|they|this|that|that'?s|there|there'?s|i|i'?m|nobody|nothing"
    r"|everyone|only"
    r"|the (?:\w+ ){1,3}(?:is|are|can|cannot|can't|has|have|does|doesn't|needs?|already|will|won't))\b)",
    re.IGNORECASE,
)
_PLAIN = re.compile(r"we\s+(?:use|do|don'?t|do not)$")  # also how things are described: needs a "because"
_FIRM = re.compile(
    r"decid|chose|choos|opt|pick|settl|went with|go(?:ing)? with|stick|entsch|chois|eleg|决定|选择|採用"
)
_DOCUMENT = re.compile(r"^#{1,4} \S", re.MULTILINE)
_DASH = re.compile(r" [—–-] ")

Read = tuple[str, str]
"""A choice and its reason."""


def decisions(story: Story) -> list[Draft]:
    """Every decision of the session, once."""
    if story.subagent:
        return []
    drafts: list[Draft] = []
    offers = Offers()
    for turn in story.turns:
        drafts += answered(turn, offers)
        if turn.ask:
            drafts += _spoken(turn.ask, "user", turn.ask_id, turn.at, turn.number)
        for said in turn.said:
            drafts += _spoken(said.text, "assistant", said.id, said.at, said.turn)
        if turn.last_said is not None:
            offers = offers.after(turn.last_said)
    told = once(sorted(drafts, key=lambda draft: draft.said_by != "user"))  # the user's wording wins
    return sorted(told, key=lambda draft: draft.turn)


def _spoken(text: str, who: str, event_id: str, at: int, turn: int) -> Iterator[Draft]:
    if who == "assistant" and not (
        ASSISTANT_CHOICE.near(text) and (REASON.near(text) or CONTRAST.near(text))
    ):
        return
    found: Sequence[Sentence] = sentences(text)
    if who == "user" and _DOCUMENT.search(text):  # a pasted plan or review: only what it calls a decision
        found = [sentence for sentence in found if HEADING.search(sentence.heading)]
    for number, sentence in enumerate(found):
        following = found[number + 1].text if number + 1 < len(found) else ""
        read = _read(sentence, following, who == "user")
        if read is not None:
            yield Draft(
                MemoryKind.DECISION,
                subject(read[0]),
                shorten(read[0], 280),
                at,
                (event_id,),
                reason=shorten(read[1], 240),
                said_by=who,
                weight=1.5 if who == "user" else 1.0,
                auto=True,
                turn=turn,
            )


def _read(sentence: Sentence, following: str, user: bool) -> Read | None:
    """The choice and its reason, or None when the sentence is no decision."""
    text = sentence.text
    if text.endswith(("?", "？", ":")) or not 8 <= len(text) <= 600:
        return None
    listed = sentence.bullet and HEADING.search(sentence.heading) is not None
    match = (USER_CHOICE if user else ASSISTANT_CHOICE).search(text)
    if (match is None and not listed) or TENTATIVE.search(text):
        return None
    cue, contrast = REASON.search(text), CONTRAST.search(text)
    if cue is not None:
        firm = match is not None and _FIRM.search(match.group(0)) is not None
        return split_reason(text, cue) if user or listed or contrast or firm else None
    if following and (user or listed or contrast) and not following.endswith("?") and REASON.match(following):
        return text, following
    if listed and len(parts := _DASH.split(text, maxsplit=1)) == 2:
        return parts[0], parts[1]
    if not user or match is None:
        return None
    implied = None if _PLAIN.match(match.group(0)) else _IMPLICIT.search(text, match.end())
    if implied is not None and len(text) - implied.end() > 12:
        return text[: implied.start()], text[implied.end() :]
    return (text, text[contrast.start() :].strip(" ,;")) if contrast is not None else None


def split_reason(text: str, cue: re.Match[str]) -> Read:
    """Cut a sentence at its "because"; when it begins with one, at the comma."""
    before, after = text[: cue.start()].strip(" ,;–—-:("), text[cue.start() :].strip(" ,;)")
    if len(before) >= 8:
        return before, after
    reason, comma, choice = after.partition(",")
    return (choice.strip(), reason.strip()) if comma and len(choice) >= 8 else (text, after)


def preferences(story: Story) -> list[Draft]:
    """The user's standing wishes."""
    drafts: list[Draft] = []
    for turn in story.turns if not story.subagent else ():
        if not turn.ask or not STANDING.near(turn.ask) or _DOCUMENT.search(turn.ask):
            continue
        drafts += [
            Draft(
                MemoryKind.PREFERENCE,
                subject(text),
                shorten(text, 280),
                turn.at,
                (turn.ask_id,),
                said_by="user",
                weight=1.5,
                turn=turn.number,
            )
            for text in (sentence.text for sentence in sentences(turn.ask))
            if len(text) < 400 and not text.endswith(("?", "？", ":")) and STANDING.search(text)
        ]
    return once(drafts)
