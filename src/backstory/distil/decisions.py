"""Decisions with their reason, and standing wishes: what was said in a task and outlives it.

Evidence, not words alone: the answer to a question that was put in a structured way, the pick of an offered
option and the yes to a recommendation (`answers`); a list under a heading "decisions"; a sentence of the user
that chooses and says why (CCE-49) or what lost; the refusal of a tool call, with words; a rule in a durable
form ("never", "from now on"). Tasks, questions, reports, quotations, code and tool output are none, nor is
what the assistant tells of its work, unless it says that it decided and why. What a sub-agent was told was
written by another agent, so there nothing is "the user's".
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from backstory.distil import phrases
from backstory.distil.alternatives import is_known
from backstory.distil.answers import Offers, answered
from backstory.distil.matters import read_matter
from backstory.distil.prose import Sentence, content_words, once, sentences, shorten, subject
from backstory.distil.story import Story, Turn
from backstory.model import Draft, MemoryKind

USER_CHOICE = phrases.Rule("user_choice")
ASSISTANT_CHOICE = phrases.Rule("assistant_choice")
CONTRAST = phrases.Rule("contrast")
REASON = phrases.Rule("reason")
TENTATIVE = phrases.Rule("tentative")
STANDING = phrases.Rule("standing")
HEADING = phrases.Rule("decision_heading")
REVERSAL = phrases.Rule("reversal")
OPENER = phrases.Rule("opener")
CHORE = phrases.Rule("chore")
TROUBLE = phrases.Rule("trouble")

PASTED = 1_500  # characters of a prompt that is mostly pasted: a plan, a review, a log
SHORTEST, LONGEST = 8, 400  # characters of a sentence that decides
FEW = 3  # sentences of a prompt that has one matter

FIRM = re.compile(
    r"decid|chose|choos|opt|pick|settl|agreed|went with|go(?:ing)? with|stick|"
    r"entsch|chois|eleg|决定|选择|採用"
)
_DECIDED = re.compile(
    r"\b(?:we|i|team)(?:'ve| have| has)?(?: just| already| finally| all)? (?:decided|chose|chosen|opted for|"
    r"settled on|agreed (?:on|to)|went with|picked|standardi[sz]ed on)\b|\bdecisions?\s*[:：]"
    r"|\bwir haben (?:uns|beschlossen)\b|\bentscheidung\s*:",
    re.IGNORECASE,
)
_CALLED = re.compile(
    r"\W*(?:key |design )?decisions?(?: (?:made|taken|locked in|confirmed))?\s*:\s+(?=\S)", re.I
)
_DOCUMENT = re.compile(r"^#{1,4} \S", re.MULTILINE)
_ITEM = re.compile(r" [—–-] |[:：]\s+")
_OVER = re.compile(r"\b\w+ over \w+|\b(?:no|not|only|prevents?|preventing|avoids?|avoiding)\b", re.IGNORECASE)
#: This run, this file, for now: over as soon as it is done.
_ONCE = re.compile(
    r"\b(?:this|the current|today's) (?:\w+ )?(?:run|time|once|attempt|call|session|pr|branch|commit)\b"
    r"|\bfor (?:now|the moment|today|the repro\w*|the demo|a demo)\b(?!')|\b(?:yet|right now|first)[.!]?$"
    r"|\bin (?:the|this|that) (?:\w+ )?(?:readme|examples?|demo|test|file|function)\b(?! (?:app|project)s?\b)"
    r"|\b(?:a different|another|the (?:new|other|second|third|first|old)|my|your) (?:[\w-]+ )?(?:variable|"
    r"name|keys?|tokens?|passwords?|account|options?|one|port)(?= instead| for |\s*[,;.!]|$)|"
    r"\bhere\b(?! instead)|\bport \d|\b(?:tomorrow|later|morgen|später|demain|mañana)\b",
    re.IGNORECASE,
)
_FOR_ALL = re.compile(
    r"\b(?:we|we'(?:ll|re|ve)|decided|always|never|everywhere|wir|nous|on)\b|^\W*(?:let'?s )?(?:keep|stay|"
    r"stick|remain|leave)\b",
    re.IGNORECASE,
)
#: One place in the work: a file, a piece of code.
_ONE_PLACE = re.compile(
    r"`|\w/\w|\w\(\)|\w_\w|\.\w{1,4}\b(?<!\.io)|\b(?:this|these|that|those|here|test)\b", re.I
)
_TURNS = re.compile(
    r"^(?:switch|migrat|mov|replac|drop|ditch|use|sign|write|go|we|let|wir|ersetz)\w*\b", re.I
)
_GOES_ON = re.compile(r"\b(?:fix|look|check|please|first|next|then|now)\b", re.IGNORECASE)
_ARTICLE = re.compile(r"\w+ (?:the|an?|my|your) ", re.IGNORECASE)
#: A clause that says how things are: somebody or something, and a verb.
_STATES = re.compile(
    r"(?!(?:and|then|also|please|can|could|would you|what|why|how|when|where|who|which|like|such|e\.g|"
    r"i'?(?:ll|m)?"
    r"|let'?s|so|we (?:should|need|want)|you (?:should|need|can))\b)(?=\S+ \S+ \S).*\b(?:is|are|was|were|has|"
    r"have|had|can|could|would|will|does|do|did|need|never|get|ist|sind|hat|haben|kann|wird|würde|dürfen|"
    r"\w+n't|cannot|\w+'s|\w{2,}(?:s|ed))\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"(?:[,;:–—(]|(?<=\s)-|(?<!\.)\.{2,}|…)\s+")
_SO = re.compile(
    r"^(.{12,400}?)[\s,;.…-]{1,6}(?:so|hence|therefore|deshalb|daher|donc|así que)[,\s]{1,6}(?=\S)", re.I
)
_NORM = re.compile(r"\b(?:should|must|has to|have to|never|always)\b", re.IGNORECASE)
_ASKS = re.compile(
    r"(?:what|which|how|why|when|where|who|is|are|do|does|did|can|could|was|wie|quel\w*|qué)\b", re.I
)
_LOST = re.compile(
    r"(?:,? not|,? (?i:instead of)|,? (?i:rather than)) (?:(?:the|a|an|in|on|to) )?`?(?=[A-Z]|[a-z]+\d)\w"
)
_THAT = re.compile(r"\b(?:do|use|keep|drop|remove|take|leave|make) (?:that|this|those|these|it|them)\b", re.I)
_POINTER = re.compile(r"(?:it|that|this|they|we|i|you)\b", re.IGNORECASE)
#: What for: of what is not done it says which matter is meant, not why ("don't use Redis to keep sessions").
_PURPOSE = re.compile(r"(?:for (?!now)|to )\w", re.IGNORECASE)
_DENIED = re.compile(r"\b(?:not|never|no|dont|against|avoid|drop|ditch|stop|remove)\b|n['’]t\b", re.I)
_BAN = re.compile(
    r"(?:please )?(?:don'?t|do not|never|stop)\b(?!.*\b(?:yet|worry|think|see|know)\b)"
    r"|(?:no,? )?i did(?:n'?t| not) (?:ask|say|tell|want)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Choice:
    """What was chosen, and why."""

    text: str
    reason: str


def decisions(story: Story) -> list[Draft]:
    """Every decision of the session, once; what the user took back is left out."""
    if story.subagent:
        return []
    drafts: list[Draft] = []
    offers = Offers()
    for turn in story.turns:
        if turn.typed and REVERSAL.search(turn.typed):
            drafts = _not_taken_back(turn.typed, drafts)
        drafts += answered(turn, offers)
        for choice in _users(turn, offers):
            drafts.append(_draft(choice, "user", turn.ask_id, turn.at, turn.number))
        for said in turn.said:
            for choice in _assistants(said.text):
                drafts.append(_draft(choice, "assistant", said.id, said.at, said.turn))
        if turn.last_said is not None:
            offers = offers.after(turn.last_said, turn.typed)
    if story.compacted is not None:
        id_, at, text = story.compacted
        drafts += [_draft(choice, "assistant", id_, at, 0) for choice in _lists(text)]
    told = once(sorted(drafts, key=lambda draft: draft.said_by != "user"))  # the user's wording wins
    return sorted(told, key=lambda draft: draft.turn)


def _not_taken_back(ask: str, drafts: list[Draft]) -> list[Draft]:
    """Without the decisions that a "forget what I said about X" speaks of."""
    words = content_words(ask)
    return [draft for draft in drafts if not words & content_words(draft.text)]


def _draft(choice: Choice, who: str, event_id: str, at: int, turn: int) -> Draft:
    reason = "" if choice.reason.strip(" .") == choice.text.strip(" .") else choice.reason
    return Draft(
        MemoryKind.DECISION,
        subject(choice.text),
        shorten(choice.text, 280),
        at,
        (event_id,),
        reason=shorten(reason, 400),
        said_by=who,
        weight=1.5 if who == "user" else 1.0,
        auto=True,
        turn=turn,
    )


def _users(turn: Turn, offers: Offers) -> Iterator[Choice]:
    """The decisions in a prompt. Of a plan or review that was pasted only what it calls decisions counts."""
    found = sentences(turn.typed) if turn.typed else ()
    document = len(turn.typed) > PASTED or _DOCUMENT.search(turn.ask) is not None
    used = ""
    for number, sentence in enumerate(found):
        if (listed := _listed(sentence, reasoned=False)) is not None:
            yield listed
        elif not document and sentence.text not in used:
            following = found[number + 1].text if number + 1 < len(found) else ""
            choice = choice_of(sentence.text, following if len(found) <= FEW else "", offers.last is not None)
            if choice is not None:
                used = choice.reason
                yield _resolved(choice, found[number - 1].text if number else "")


def choice_of(text: str, following: str = "", talked: bool = True) -> Choice | None:
    """The choice that a sentence of the user makes; what opens a session is mostly a task: it says why."""
    bare = _bare(text)
    if _vetoed(text, bare) or USER_CHOICE.search(bare) is None:
        return None
    if STANDING.search(text) and not REASON.search(text) and not _DECIDED.search(text):
        return None  # a wish
    choice = _with_reason(text, following)
    if _ONCE.search(choice.text) and not _FOR_ALL.search(choice.text) and not (talked and "for now" in text):
        return None
    if (TROUBLE.search(choice.text) or " but " in choice.text) and not _DECIDED.search(text):
        return None
    contrast = CONTRAST.search(choice.text) if talked else None
    norm = contrast is not None and (_NORM.search(text) or _LOST.search(choice.text) or not text.isascii())
    if not (choice.reason or norm or _DECIDED.search(text) or _by_name(text, bare)):
        return None
    lost = _LOST.search(choice.text) if not choice.reason else None
    return Choice(choice.text[: lost.start()], choice.text[lost.start() :].strip(" ,")) if lost else choice


def _resolved(choice: Choice, previous: str) -> Choice:
    """With what "that" is: the sentence before, or the reason if it stands in front of the choice."""
    if not _THAT.search(choice.text):
        return choice
    if (
        not _POINTER.match(choice.reason)
        and len(content_words(choice.reason)) > 1
        and not REASON.match(choice.reason)
    ):
        return Choice(f"{choice.reason}, so {choice.text}", "")
    told = previous and "?" not in previous and len(content_words(previous)) > 1
    return Choice(f"{previous} {choice.text}", choice.reason) if told else choice


def _bare(text: str) -> str:
    """A sentence behind its "ok, so then", in whatever mix of languages."""
    end = 0
    while (opener := OPENER.match(text[end:])) is not None and opener.end():
        end += opener.end()
    return text[end:] or text


def _vetoed(text: str, bare: str) -> bool:
    """What is never a decision: questions, headings, doubts, steering of the work."""
    return (
        not SHORTEST <= len(text) <= LONGEST
        or "?" in text
        or "？" in text
        or text[0] == "("
        or text.endswith(":")
        or _ASKS.match(bare) is not None
        or TENTATIVE.search(text) is not None
        or ((CHORE.match(bare) or CHORE.match(text)) is not None and REVERSAL.search(text) is None)
    )


def _with_reason(text: str, following: str) -> Choice:
    """Where the choice ends and its reason begins: behind a "because", in a clause, in the next sentence."""
    cue = REASON.search(text)
    if cue is not None:
        return _split(text, cue)
    so = _SO.match(text)
    if so is not None:
        return Choice(text[so.end() :], so.group(1))
    if following and not following.endswith("?") and (REASON.match(following) or _is_signs(following)):
        return Choice(text, following)
    for cut in _CLAUSE.finditer(text, SHORTEST):
        clause = text[cut.end() :]
        quoted = text.count("`", 0, cut.start()) % 2 or text.count('"', 0, cut.start()) % 2
        if not quoted and len(clause) > 12 and _says(clause) and not CONTRAST.match(text[cut.start() :]):
            return Choice(text[: cut.start()].strip(), clause)
    told = not following.endswith("?") and _says(following) and not _GOES_ON.search(following)
    return Choice(text, following if told else "")


def _is_signs(text: str) -> bool:
    """Whether a sentence in Chinese or Japanese gives a reason: there it stands at the end."""
    return "\u3040" <= text[:1] <= "\u9fff" and REASON.search(text) is not None


def _says(clause: str) -> bool:
    """Whether a clause says how things are, and neither orders nor asks."""
    bare = _bare(clause)
    return (
        _STATES.match(clause) is not None and CHORE.match(bare) is None and USER_CHOICE.search(bare) is None
    )


def _split(text: str, cue: re.Match[str]) -> Choice:
    """Cut a sentence at its "because"; when it begins with one, at the comma."""
    head = text[: cue.start()]
    before, after = head.strip(" ,;–—-:("), text[cue.start() :].strip(" ,;)")
    if _PURPOSE.match(after) and head.rstrip() == before and _DENIED.search(before):
        return Choice(text, "")
    if len(before) >= 6:
        return Choice(before, after)
    reason, comma, choice = after.partition(",")
    return Choice(choice.strip(), reason.strip()) if comma and len(choice) >= SHORTEST else Choice(text, "")


def _by_name(text: str, bare: str) -> bool:
    """Whether one thing that is known by name is given up for another, for the whole project."""
    if _ONE_PLACE.search(text) or _ARTICLE.match(bare):
        return False
    if not any(_TURNS.match(clause) for clause in _CLAUSE.split(bare)):
        return False
    said = read_matter(text)
    return said.firm and not said.adds and bool(said.gone) and any(map(is_known, (*said.gone, said.choice)))


def _assistants(text: str) -> Iterator[Choice]:
    """What the assistant says that it decided and why, and its lists of decisions."""
    choosing = len(text) > 40 and ASSISTANT_CHOICE.near(text)
    if "ecision" in text or "esign" in text:
        yield from _lists(text)
    if not choosing:
        return
    found = sentences(text)
    for number, sentence in enumerate(found):
        following = found[number + 1].text if number + 1 < len(found) else ""
        if (choice := _said(sentence.text, following)) is not None:
            yield choice


def _said(text: str, following: str) -> Choice | None:
    if text.endswith(("?", "？", ":")) or not SHORTEST <= len(text) <= LONGEST:
        return None
    called = _CALLED.match(text) if "ecision" in text else None
    if called is not None:
        return Choice(text[called.end() :], "")
    if ASSISTANT_CHOICE.search(text) is None or TENTATIVE.search(text):
        return None
    if (cue := REASON.search(text)) is not None:
        choice = _split(text, cue)
        return None if _ONCE.search(choice.text) else choice
    if CONTRAST.search(text) and following and REASON.match(following):
        return Choice(text, following)
    return None


def _lists(text: str) -> Iterator[Choice]:
    for sentence in sentences(text):
        if (listed := _listed(sentence, reasoned=True)) is not None:
            yield listed


def _listed(sentence: Sentence, reasoned: bool) -> Choice | None:
    """A bullet under a heading that says "decisions": its name is the choice, the rest the reason."""
    if not (sentence.bullet and sentence.first and sentence.heading and HEADING.search(sentence.heading)):
        return None
    text = sentence.text
    why = REASON.search(text) or CONTRAST.search(text) or _OVER.search(text)
    if reasoned and why is None:
        return None
    parts: Sequence[str] = _ITEM.split(text, maxsplit=1)
    if len(parts) == 2 and len(parts[0]) >= 4:
        return Choice(parts[0], parts[1])
    cue = REASON.search(text)
    return _split(text, cue) if cue is not None else Choice(text, "") if why else None


def preferences(story: Story) -> list[Draft]:
    """The user's standing wishes: rules in a durable form, and what a refusal forbids."""
    if story.subagent:
        return []
    drafts: list[Draft] = []
    interrupted = False
    for turn in story.turns:
        drafts += [
            _wish(words, what, id_, at, turn.number) for id_, at, what, words in turn.refusals if words
        ]
        if turn.typed and not _DOCUMENT.search(turn.ask):
            for sentence in sentences(turn.typed):
                if _is_rule(sentence.text) or (interrupted and _forbids(sentence.text)):
                    drafts.append(_wish(sentence.text, "", turn.ask_id, turn.at, turn.number))
        interrupted = turn.interrupted if not turn.empty else interrupted
    return once(drafts)


def _is_rule(text: str) -> bool:
    return len(text) < LONGEST and not text.endswith(("?", "？", ":")) and STANDING.search(text) is not None


def _forbids(text: str) -> bool:
    """Whether a correction forbids something: said right after the user had stopped the agent."""
    return "?" not in text and len(text) < LONGEST and _BAN.match(_bare(text)) is not None


def _wish(words: str, refused: str, event_id: str, at: int, turn: int) -> Draft:
    return Draft(
        MemoryKind.PREFERENCE,
        subject(words),
        shorten(words, 280),
        at,
        (event_id,),
        reason=f"said on refusing {shorten(refused, 120)}" if refused else "",
        said_by="user",
        weight=1.5,
        turn=turn,
    )
