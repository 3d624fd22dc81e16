"""Decisions with their reason, and wishes that outlive the task.

A sentence is a decision when somebody chooses and says why (CCE-49), or when the user chooses between named
alternatives: the one that lost is its reason. What the user says is weighed (`choices`); the assistant must
say that it chose. Questions, hypotheticals, quotations, code and tool output never count. What a sub-agent
was told was written by another agent, so there nothing is "the user's".
"""

import re
from collections.abc import Iterator, Sequence

from backstory.distil import phrases
from backstory.distil.agreed import RECOMMEND
from backstory.distil.answers import Offers, answered
from backstory.distil.choices import FEW, TENTATIVE, UNDECIDED, Place, answers, read_choice, read_names
from backstory.distil.named import came_to_nothing, settles
from backstory.distil.occasion import one_occasion
from backstory.distil.prose import Sentence, content_words, names, once, sentences, shorten, subject
from backstory.distil.reasons import (
    CHORE,
    CONTRAST,
    DIRECTIVE,
    OWN_PLAN,
    REASON,
    Around,
    Read,
    decides,
    judges,
    opening,
    split_reason,
    states,
)
from backstory.distil.story import Story, Turn
from backstory.model import Draft, MemoryKind

ASSISTANT_CHOICE = phrases.Rule("assistant_choice")
STANDING = phrases.Rule("standing")
HEADING = phrases.Rule("decision_heading")
REFUSAL = phrases.Rule("refusal")
REVERSAL = phrases.Rule("reversal")
DELEGATE = phrases.Rule("delegate")

BRIEF = 300  # characters of a prompt that only answers
PERSONAL = 900  # characters of a prompt that one person rarely writes without "we", "I" or "you"
ROOMY = 500  # characters of a prompt in which every sentence may belong to the choice
LONG = 1_500  # characters of a prompt that is partly pasted
EDGE = 6  # so many sentences at either end of a long prompt are read

FIRM = re.compile(
    r"decid|chose|choos|opt|pick|settl|went with|go(?:ing)? with|stick|is to|entsch|chois|eleg|决定|选择|採用"
)
_CALLED = re.compile(r"\bdecisions?(?: (?:made|taken|locked in|confirmed))?\s*:\s+(?=\S)", re.IGNORECASE)
_DOCUMENT = re.compile(r"^#{1,4} \S", re.MULTILINE)
_RHETORIC = re.compile(r"why (?:did|would|do|are) you\b.{0,40}\?$", re.IGNORECASE)
#: Asks for advice, with or without a question mark; "can you" only asks for work.
_SEEKS = re.compile(
    r"(?:what (?!a\b)|what'?s|which|how (?:would|do|should|can|about)|where (?:would|should|do)|"
    r"should (?:we|i|it)|"
    r"shall|is it|are there|any (?:ideas?|thoughts|advice)|ideas\b|do (?:we|you think)|was (?:meinst|würdest|"
    r"soll|nimmt)|welche\w*|wie (?:würdest|soll|macht)|soll(?:en|te)?\b|quel\w*|"
    r"que (?:conseilles|me)|comment|"
    r"qué|cuál|cómo)",
    re.IGNORECASE,
)
_ITEM = re.compile(r" [—–-] |[:：]\s+")


def decisions(story: Story) -> list[Draft]:
    """Every decision of the session, once; what the user took back is left out."""
    if story.subagent:
        return []
    drafts: list[Draft] = []
    offers, worked = Offers(), False
    lasting = not came_to_nothing(story)
    for turn in story.turns:
        if turn.typed and REVERSAL.search(turn.typed):
            drafts = _not_taken_back(turn.typed, drafts)
        drafts += answered(turn, offers)
        if turn.typed:
            drafts += _users(turn, offers, worked, lasting)
        delegated = bool(turn.ask) and DELEGATE.search(turn.ask) is not None
        for said in turn.said:
            for read in _assistants(said.text, delegated):
                drafts.append(_draft(read, "assistant", said.id, said.at, said.turn))
        worked = bool(turn.changes)
        if turn.last_said is not None:
            offers = offers.after(turn.last_said, turn.ask)
    told = once(sorted(drafts, key=lambda draft: draft.said_by != "user"))  # the user's wording wins
    return sorted(told, key=lambda draft: draft.turn)


def _not_taken_back(ask: str, drafts: list[Draft]) -> list[Draft]:
    """Without the decisions that a "forget what I said about X" speaks of."""
    words = content_words(ask)
    return [draft for draft in drafts if not words & content_words(draft.text)]


def _draft(read: Read, who: str, event_id: str, at: int, turn: int) -> Draft:
    reason = "" if read.reason.strip(" .") == read.choice.strip(" .") else read.reason
    return Draft(
        MemoryKind.DECISION,
        subject(read.choice),
        shorten(read.choice, 280),
        at,
        (event_id,),
        reason=shorten(reason, 400),
        detail=shorten(read.context, 400),
        said_by=who,
        weight=1.5 if who == "user" else 1.0,
        auto=True,
        turn=turn,
    )


def _users(turn: Turn, offers: Offers, worked: bool, lasting: bool) -> Iterator[Draft]:
    """The decisions in a prompt. Of a pasted plan or review only what it calls a decision counts.

    What only names decide must be `lasting`: a task that came to nothing settled nothing.
    """
    chosen: list[tuple[float, str, Read]] = []
    for sentence, place in places(turn, offers, worked):
        listed = _listed(sentence)
        if listed is not None:
            yield _draft(listed, "user", turn.ask_id, turn.at, turn.number)
            continue
        found = read_choice(sentence.text, place) if place is not None else None
        if found is None and place is not None and lasting:
            found = read_names(sentence.text, place)
        if place is not None and found is not None:
            read = told(found[0], place, offers, sentence.text)
            if names(read.choice):
                chosen.append((found[1], sentence.text, read))
    used: list[str] = []
    for _, text, read in sorted(chosen, key=lambda row: -row[0]):
        if not any(text in other for other in used):  # the reason of a surer choice is none itself
            used.append(f"{read.choice} {read.reason} {read.context}")
            yield _draft(read, "user", turn.ask_id, turn.at, turn.number)


def places(turn: Turn, offers: Offers, worked: bool) -> Iterator[tuple[Sentence, Place | None]]:
    """The sentences of a prompt with where they stand; None where nobody can decide."""
    words = turn.typed
    found: Sequence[Sentence] = sentences(words) or ((Sentence(words),) if words.isalnum() else ())
    document = _DOCUMENT.search(turn.ask) is not None
    before = offers.before(worked)
    edge = EDGE if len(turn.ask) > LONG else len(found)  # people write around what they paste
    refused = False
    wavers = any(UNDECIDED.search(s.text) for s in found[:FEW])
    last_asks = max((n for n, s in enumerate(found) if _SEEKS.match(s.text[opening(s.text) :])), default=-1)
    for number, sentence in enumerate(found):
        if document:
            yield sentence, None
            continue
        previous = found[number - 1].text if number else ""
        after = [s.text for s in found[number + 1 : number + 3]]
        following = after[-1] if after and _RHETORIC.match(after[0]) else "".join(after[:1])
        earlier = found[number - 2].text if number > 1 else ""
        around = Around(previous, following, len(found) - refused == 2, earlier, "".join(after[1:]))
        inside = not edge <= number < len(found) - edge
        yield (
            sentence,
            Place(
                around,
                before,
                number,
                len(found),
                len(turn.ask),
                refused,
                inside,
                asks_on=number < last_asks,
                wavers=wavers,
            ),
        )
        refused = number == 0 and len(sentence.text) < 12 and REFUSAL.match(sentence.text) is not None


def told(read: Read, place: Place, offers: Offers, text: str) -> Read:
    """A choice with what belongs to it: the option that it names, what stands around it, what it answers.

    What stands around it is its reason only if it gives none itself.
    """
    option = offers.named(read.choice) or offers.named(text)
    choice = f"{option} → {read.choice}" if option else read.choice
    parts: list[str] = []
    room = place.length < ROOMY
    around = place.around
    for near in (around.following, around.previous, around.earlier, around.next):
        if _belongs(near, room, text) and not any(near in part for part in (*parts, choice, read.reason)):
            parts.append(near)
    taken = "" if option else offers.taken(text, answers(place))
    if not (parts or read.reason) and room and answers(place) and offers.complaint:
        parts.append(offers.complaint)
    if taken and not names(choice):  # "like it"
        choice, taken = f"{choice} → {taken}", ""
    said = " ".join(parts)
    reason, rest = (read.reason, said) if read.reason else (said, "")
    return Read(choice, reason, context=f"{rest} (of: {taken})".strip() if taken else rest)


def _belongs(near: str, room: bool, text: str) -> bool:
    """Whether a sentence next to a choice is told with it; a task is not, beside what decides by itself."""
    if not near or near.endswith(("?", "？", ":")) or OWN_PLAN.match(near):
        return False
    if CHORE.match(near) and not REFUSAL.match(near):
        return False
    if DIRECTIVE.match(near[opening(near) :]) and not judges(near) and (decides(text) or settles(text)):
        return False
    return room or (states(near) and judges(near))


def _assistants(text: str, delegated: bool) -> Iterator[Read]:
    """What the assistant says that it chose, or, when the user left it the choice, what it recommends."""
    choosing = len(text) > 40 and ASSISTANT_CHOICE.near(text)
    if not choosing and not delegated and "ecision" not in text:
        return
    found = sentences(text)
    for number, sentence in enumerate(found):
        listed = _listed(sentence)
        if listed is not None:
            yield listed
            continue
        following = found[number + 1].text if number + 1 < len(found) else ""
        read = _chosen(sentence.text, following) if choosing else None
        if read is None and delegated and RECOMMEND.search(sentence.text) and not sentence.text.endswith("?"):
            cue = REASON.search(sentence.text)
            parts = _ITEM.split(sentence.text, maxsplit=1)
            read = split_reason(sentence.text, cue) if cue else Read(parts[0], "".join(parts[1:]))
        if read is not None:
            yield read


def _chosen(text: str, following: str) -> Read | None:
    if text.endswith(("?", "？", ":")) or not 8 <= len(text) <= 600:
        return None
    called = _CALLED.search(text) if "ecision" in text.lower() else None
    if called is not None:
        return Read(text[called.end() :], "")
    match = ASSISTANT_CHOICE.search(text)
    if match is None or TENTATIVE.search(text) or one_occasion(text):
        return None
    cue, contrast = REASON.search(text), CONTRAST.search(text)
    firm = FIRM.search(match.group(0)) is not None or (cue is not None and settles(text))
    if cue is not None and (contrast is not None or firm):
        return split_reason(text, cue)
    if firm and "is to" in match.group(0) and len(parts := _ITEM.split(text, maxsplit=1)) == 2:
        return Read(parts[0], parts[1])
    if contrast is not None and following and not following.endswith("?") and REASON.match(following):
        return Read(text, following)
    return None


def _listed(sentence: Sentence) -> Read | None:
    """A bullet under a heading that says "decisions": its name is the choice, the rest the reason."""
    if not (sentence.bullet and sentence.first and sentence.heading and HEADING.search(sentence.heading)):
        return None
    parts = _ITEM.split(sentence.text, maxsplit=1)
    if len(parts) == 2 and len(parts[0]) >= 6:
        return Read(parts[0], parts[1])
    cue, contrast = REASON.search(sentence.text), CONTRAST.search(sentence.text)
    if cue is not None:
        return split_reason(sentence.text, cue)
    return Read(sentence.text, "") if contrast is not None else None


def preferences(story: Story) -> list[Draft]:
    """The user's standing wishes."""
    drafts: list[Draft] = []
    for turn in story.turns if not story.subagent else ():
        if not turn.typed or not STANDING.near(turn.typed) or _DOCUMENT.search(turn.ask):
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
            for text in (sentence.text for sentence in sentences(turn.typed))
            if len(text) < 400 and not text.endswith(("?", "？", ":")) and STANDING.search(text)
        ]
    return once(drafts)
