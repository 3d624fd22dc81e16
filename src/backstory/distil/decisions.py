"""Decisions with their reason, and wishes that outlive the task.

A sentence is a decision when somebody chooses and says why (CCE-49). The user's choice between named
alternatives ("RS256, not HS256") counts without a "because": the alternative that lost is its reason.
Questions, hypotheticals, quotations, code and tool output never count. What a sub-agent was told was
written by another agent, so there nothing is "the user's".
"""

import re
from collections.abc import Iterator, Sequence

from backstory.distil import phrases
from backstory.distil.prose import Sentence, sentences, shorten
from backstory.distil.story import Said, Story, Turn
from backstory.model import Draft, MemoryKind

USER_CHOICE = phrases.Rule("user_choice")
ASSISTANT_CHOICE = phrases.Rule("assistant_choice")
CONTRAST = phrases.Rule("contrast")
REASON = phrases.Rule("reason")
TENTATIVE = phrases.Rule("tentative")
STANDING = phrases.Rule("standing")
RECOMMEND = phrases.Rule("recommend")
APPROVAL = phrases.Rule("approval")
HEADING = phrases.Rule("decision_heading")

_OPTION = re.compile(r"^\s*(?:[-*]\s+)?(?:\*\*)?\s*(?:option\s+)?([A-Da-d]|[1-6])\s*[.):]\s*(.+)", re.IGNORECASE)
_IMPLICIT = re.compile(
    r"\s*(?:[,;:–—]| - )\s+(?=(?:we|it|it'?s|they|this|that|that'?s|there|there'?s|i|i'?m|nobody|nothing|everyone|only|the (?:\w+ ){1,3}"
    r"(?:is|are|can|cannot|can't|has|have|does|doesn't|needs?|already|will|won't))\b)", re.IGNORECASE)
_LIST_ANSWER = re.compile(r"^\W*(?:(?:ok|yes|do|go with|let'?s do|options?)\s+)*(?P<picks>[A-D1-9](?:\s*(?:,|and|&|\+|\s)\s*(?:and\s+)?[A-D1-9])+|both|all(?: of them| three| four)?)\W*$", re.IGNORECASE)
_ANSWER = re.compile(r"^\s*(?:ok[,. ]+|yes[,. ]+|let'?s (?:do|go with) |go with |i (?:pick|choose|like|prefer) |use )?(?:option\s+)?([A-Da-d]|[1-6])\b[.)!,]?\s*(.*)$",
                     re.IGNORECASE | re.DOTALL)
_ASKED = re.compile(r"^(.{3,400}?)\n→ (.{1,400})$", re.MULTILINE)
_PLAIN = re.compile(r"we\s+(?:use|do|don'?t|do not)$", re.IGNORECASE)  # also how things are described: needs a "because"
_YES = re.compile(r"(?:yes|yup|yeah|yep|ok|sure|no|ja|nein|oui|non|sí)\b", re.IGNORECASE)
_DOCUMENT = re.compile(r"^#{1,4} \S", re.MULTILINE)
_PICKING = re.compile(r"\s*(?:option|go with|let'?s|i (?:pick|choose)|use)\b", re.IGNORECASE)
_REPLIES = re.compile(r"^\s*([1-9])[.):]\s+(\S.{1,300})$", re.MULTILINE)
_MARK = re.compile(r"\*\*|__")


def decisions(story: Story) -> list[Draft]:
    """Every decision of the session, once."""
    if story.subagent:
        return []
    drafts: list[Draft] = []
    offered: list[dict[str, str]] = []
    before: Said | None = None
    for turn in story.turns:
        if turn.ask:
            drafts += _answered(turn, offered)
            drafts += _approved(turn, before)
            drafts += _spoken(turn.ask, "user", turn.ask_id, turn.at, turn.number)
        for event_id, at, text in turn.choices:
            drafts += _chosen(text, event_id, at, turn.number)
        for said in turn.said:
            drafts += _spoken(said.text, "assistant", said.id, said.at, said.turn)
        if turn.last_said is not None:
            before = turn.last_said
            offered = [options for options in (_options(before.text), *offered[:1]) if options]
    return _once(drafts)


def _spoken(text: str, who: str, event_id: str, at: int, turn: int) -> Iterator[Draft]:
    if who == "assistant" and not ASSISTANT_CHOICE.near(text):
        return
    found: Sequence[Sentence] = sentences(text)
    if who == "user" and _DOCUMENT.search(text):  # a pasted plan or review: only what it calls a decision
        found = [sentence for sentence in found if HEADING.search(sentence.heading)]
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
    if who == "user" and match is not None:
        implied = None if _PLAIN.match(match.group(0)) else _IMPLICIT.search(text, match.end())
        if implied is not None and len(text) - implied.end() > 12:
            return shorten(text[: implied.start()], 280), shorten(text[implied.end() :], 240)
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
    """The lettered or numbered options that a message offered last."""
    found: dict[str, str] = {}
    for line in text.split("\n"):
        match = _OPTION.match(line)
        if match:
            found[match.group(1).upper()] = _MARK.sub("", match.group(2)).strip()
    return found if len(found) > 1 else {}


def _answered(turn: Turn, offered: list[dict[str, str]]) -> Iterator[Draft]:
    """The user picked from the options that the last message offered, or, by a bare letter, the one before."""
    bare = len(turn.ask.strip(" .)!")) == 1
    options = next((o for o in offered if not bare or turn.ask.strip(" .)!").upper() in o), {})
    if not options:
        return
    replies = _REPLIES.findall(turn.ask[:2_000]) if len(turn.ask) < 1_200 else []
    if len(replies) > 1 or (replies and turn.ask.lstrip()[:1].isdigit() and replies[0][1]):
        for key, reply in replies:
            if key in options and (not reply.endswith("?") or _YES.match(reply)):
                question = shorten(options[key], 160)
                yield Draft(
                    MemoryKind.DECISION, _subject(f"{question} {reply}"), shorten(f"{question} → {reply}", 400), turn.at,
                    (turn.ask_id,), reason="the user's answer", said_by="user", weight=1.5, turn=turn.number,
                )
        return
    picks, why = _picks(turn.ask, options)
    if not picks:
        return
    chosen = "; ".join(shorten(options[key], 160) for key in picks)
    others = "; ".join(shorten(text, 60) for key, text in options.items() if key not in picks)
    yield Draft(
        MemoryKind.DECISION, _subject(chosen), shorten(f"Chosen: {chosen}", 400), turn.at, (turn.ask_id,),
        reason=shorten(why or (f"over: {others}" if others else "all that was offered"), 240),
        said_by="user", weight=1.5, turn=turn.number,
    )


def _picks(ask: str, options: dict[str, str]) -> tuple[list[str], str]:
    """The options that a prompt names, and what else it says."""
    several = _LIST_ANSWER.match(ask[:80])
    if several is not None:
        word = several.group("picks").lower()
        keys = list(options) if word.startswith(("both", "all")) else re.findall(r"[A-D1-9]", several.group("picks").upper())
        if word == "both" and len(options) != 2:
            keys = []
        return [key for key in keys if key in options], ""
    match = _ANSWER.match(ask[:300])
    if match is None or match.group(1).upper() not in options:
        return [], ""
    rest = ask[match.end(1) :]
    if (rest[:1] == "." and rest[1:2].isdigit()) or len(rest) > 160 or "\n" in rest.strip():
        return [], ""  # a version, or a list of its own
    if rest.strip()[:1].isalnum() and not _PICKING.match(ask):
        return [], ""  # "a test would help" answers nothing
    return [match.group(1).upper()], match.group(2).strip()


def _approved(turn: Turn, before: Said | None) -> Iterator[Draft]:
    """The user agreed to what the assistant had recommended."""
    if before is None or len(turn.ask) > 80 or not APPROVAL.match(turn.ask) or not RECOMMEND.search(before.text):
        return
    found = [s.text for s in sentences(before.text) if RECOMMEND.search(s.text) and not s.text.endswith(("?", ":"))]
    if found:
        cue = REASON.search(found[-1])
        choice, reason = (_parts(found[-1], cue) if cue else None) or (shorten(found[-1], 280), "recommended, and the user agreed")
        yield Draft(
            MemoryKind.DECISION, _subject(choice), choice, turn.at, (before.id, turn.ask_id), reason=reason,
            said_by="user", weight=1.3, turn=turn.number,
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
        if not turn.ask or not STANDING.near(turn.ask):
            continue
        for sentence in sentences(turn.ask) if not _DOCUMENT.search(turn.ask) else ():
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
