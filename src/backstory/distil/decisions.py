"""Decisions with their reason, and wishes that outlive the task.

A sentence is a decision when somebody chooses and says why (CCE-49). The user's choice between named
alternatives ("RS256, not HS256") counts without a "because": the alternative that lost is its reason.
Questions, hypotheticals, quotations, code and tool output never count. What a sub-agent was told was
written by another agent, so there nothing is "the user's".
"""

import re
from collections.abc import Iterator

from backstory.distil import phrases
from backstory.distil.prose import Sentence, sentences, shorten
from backstory.distil.story import Story, Turn
from backstory.model import Draft, MemoryKind

USER_CHOICE = phrases.compiled("user_choice")
ASSISTANT_CHOICE = phrases.compiled("assistant_choice")
CONTRAST = phrases.compiled("contrast")
REASON = phrases.compiled("reason")
TENTATIVE = phrases.compiled("tentative")
STANDING = phrases.compiled("standing")
HEADING = phrases.compiled("decision_heading")

_ANY_CHOICE = re.compile(f"{USER_CHOICE.pattern}|{ASSISTANT_CHOICE.pattern}", re.IGNORECASE)
_OPTION = re.compile(r"^\s*(?:[-*]\s+)?(?:\*\*)?\s*(?:option\s+)?([A-Da-d]|[1-6])\s*[.):]\s*(.+)", re.IGNORECASE)
_ANSWER = re.compile(r"^\s*(?:ok[,. ]+|yes[,. ]+|let'?s (?:do|go with) |go with |i (?:pick|choose|like|prefer) |use )?(?:option\s+)?([A-Da-d]|[1-6])\b[.)!,]?\s*(.*)$",
                     re.IGNORECASE | re.DOTALL)
_ASKED = re.compile(r"[\"“]([^\"”]{3,300})[\"”]\s*=\s*[\"“]([^\"”]{1,300})[\"”]")
_MARK = re.compile(r"\*\*|__")


def decisions(story: Story) -> list[Draft]:
    """Every decision of the session, once."""
    if story.subagent:
        return []
    drafts: list[Draft] = []
    options: dict[str, str] = {}
    for turn in story.turns:
        drafts += _answered(turn, options)
        if turn.ask:
            drafts += _spoken(turn.ask, "user", turn.ask_id, turn.at, turn.number)
        for event_id, at, text in turn.choices:
            drafts += _chosen(text, event_id, at, turn.number)
        for said in turn.said:
            drafts += _spoken(said.text, "assistant", said.id, said.at, said.turn)
        if turn.last_said is not None:
            options = _options(turn.last_said.text)
    return _once(drafts)


def _spoken(text: str, who: str, event_id: str, at: int, turn: int) -> Iterator[Draft]:
    if not (_ANY_CHOICE.search(text) or "ecision" in text or "hoice" in text):
        return
    found = list(sentences(text))
    for number, sentence in enumerate(found):
        following = found[number + 1] if number + 1 < len(found) else None
        read = _read(sentence, following, who)
        if read is None:
            continue
        choice, reason = read
        yield Draft(
            MemoryKind.DECISION, _subject(choice), choice, at, (event_id,),
            reason=reason, said_by=who, weight=1.5 if who == "user" else 1.0, auto=True, turn=turn,
        )


def _read(sentence: Sentence, following: Sentence | None, who: str) -> tuple[str, str] | None:
    """The choice and its reason, or None when the sentence is no decision."""
    text = sentence.text
    if text.endswith(("?", "？", ":")) or len(text) > 600 or len(text) < 8:
        return None
    listed = sentence.bullet and bool(HEADING.search(sentence.heading))
    pattern = USER_CHOICE if who == "user" else ASSISTANT_CHOICE
    match = pattern.search(text)
    if match is None and not listed:
        return None
    if TENTATIVE.search(text):
        return None
    cue = REASON.search(text)
    contrast = CONTRAST.search(text)
    if cue is not None:
        if who == "assistant" and not listed and not contrast and not _firm(match):
            return None
        return _parts(text, cue)
    if following is not None and not following.text.endswith("?"):
        lead = REASON.match(following.text)
        if lead and (who == "user" or contrast or listed):
            return shorten(text, 280), shorten(following.text, 240)
    if listed and (" — " in text or " - " in text or " – " in text):
        choice, _, why = re.split(r"( [—–-] )", text, maxsplit=1)
        return shorten(choice, 280), shorten(why, 240)
    if who == "user" and contrast is not None:
        return shorten(text, 280), shorten(text[contrast.start() :].strip(" ,;"), 200)
    return None


_FIRM = re.compile(r"decid|chose|choos|opt|pick|settl|went with|go(?:ing)? with|stick|entsch|chois|opté|eleg|决定|选择|採用|决定", re.IGNORECASE)


def _firm(match: re.Match[str] | None) -> bool:
    """Whether the verb itself says "decided"; "I'll use" alone is only a step."""
    return match is not None and bool(_FIRM.search(match.group(0)))


def _parts(text: str, cue: re.Match[str]) -> tuple[str, str] | None:
    before, after = text[: cue.start()].strip(" ,;–—-:("), text[cue.start() :].strip(" ,;)")
    if len(before) >= 8:
        return shorten(before, 280), shorten(after, 240)
    reason, comma, choice = after.partition(",")
    if comma and len(choice) >= 8:
        return shorten(choice.strip(), 280), shorten(reason.strip(), 240)
    return shorten(text, 280), shorten(after, 240)


def _options(text: str) -> dict[str, str]:
    """The lettered or numbered options that a message offered."""
    if "?" not in text[-600:]:
        return {}
    found: dict[str, str] = {}
    for line in text.split("\n"):
        match = _OPTION.match(line)
        if match:
            found[match.group(1).upper()] = _MARK.sub("", match.group(2)).strip()
    return found if len(found) > 1 else {}


def _answered(turn: Turn, options: dict[str, str]) -> Iterator[Draft]:
    """The user picked one of the options that the last message offered."""
    if not options or not turn.ask:
        return
    match = _ANSWER.match(turn.ask[:300])
    if match is None or match.group(1).upper() not in options:
        return
    if len(turn.ask.split()) > 1 and match.group(1).upper() == "A" and not re.match(r"\s*(?:option\s+)?A\b[.,)!:]|\s*option", turn.ask, re.I):
        return
    chosen = options[match.group(1).upper()]
    others = "; ".join(shorten(text, 60) for key, text in options.items() if key != match.group(1).upper())
    yield Draft(
        MemoryKind.DECISION, _subject(chosen), shorten(f"Chosen: {chosen}", 280), turn.at, (turn.ask_id,),
        reason=shorten(match.group(2).strip() or f"over: {others}", 240), said_by="user", weight=1.5, turn=turn.number,
    )


def _chosen(text: str, event_id: str, at: int, turn: int) -> Iterator[Draft]:
    """Answers to the agent's multiple-choice tool."""
    for question, answer in _ASKED.findall(text):
        yield Draft(
            MemoryKind.DECISION, _subject(f"{question} {answer}"), shorten(f"{question} → {answer}", 280), at, (event_id,),
            reason="the user's answer", said_by="user", weight=1.5, turn=turn,
        )


def preferences(story: Story) -> list[Draft]:
    """The user's standing wishes."""
    if story.subagent:
        return []
    drafts: list[Draft] = []
    for turn in story.turns:
        if not turn.ask or not STANDING.search(turn.ask) and "lways" not in turn.ask and "ever" not in turn.ask:
            continue
        for sentence in sentences(turn.ask):
            text = sentence.text
            if STANDING.search(text) and not text.endswith(("?", "？", ":")) and len(text) < 400:
                drafts.append(
                    Draft(
                        MemoryKind.PREFERENCE, _subject(text), shorten(text, 280), turn.at, (turn.ask_id,),
                        said_by="user", weight=1.5, turn=turn.number,
                    )
                )
    return _once(drafts)


def _subject(text: str) -> str:
    """The words of a statement, so that saying it again is the same memory."""
    words = re.findall(r"[^\W_]{3,}|[\u3040-\u30ff\u4e00-\u9fff]", text.lower())
    return " ".join(sorted(dict.fromkeys(words))[:24])[:160] or text[:80]


def _once(drafts: list[Draft]) -> list[Draft]:
    """Each statement once per session; the user's wording wins over the assistant's."""
    kept: list[tuple[set[str], Draft]] = []
    for draft in sorted(drafts, key=lambda d: d.said_by != "user"):
        words = set(draft.subject.split())
        if any(words and len(words & other) >= 0.7 * min(len(words), len(other)) for other, _ in kept):
            continue
        kept.append((words, draft))
    chosen = {id(draft) for _, draft in kept}
    return [draft for draft in drafts if id(draft) in chosen]
