"""What a session leaves in the daily log: context, exchanges, decisions, lessons, action items.

Empty sections are left out, and a session with nothing new leaves nothing. Every row begins with the handle
of the memory it tells, which is how the log knows what it holds. Before a compaction the order is that of
what would be missed most: facts, decisions, commitments, the state of the task, people to turn to.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import tzinfo

from backstory import clock
from backstory.attribution import told_as
from backstory.hook.brief_text import HANDLE
from backstory.knowledge.markdown_page import code_span, harmless_line
from backstory.model import Memory, MemoryKind, Session, Tier

CONTEXT = "Context"
OUTCOME = "Outcome"
EXCHANGES = "Key Exchanges"
FACTS = "Facts"
DECISIONS = "Decisions Made"
LESSONS = "Lessons Learned"
ACTIONS = "Action Items"
TASK = "Task State"
CONTACTS = "Contacts"
_ROW = 400
_DOTS = re.compile(r"(?<![.])([.?!])\.(?= |$)")
_CONTEXT = 300
BECAUSE = "because|since|so that|weil|da|parce que|porque"
_BECAUSE = re.compile(rf"(?:{BECAUSE})\b", re.IGNORECASE)
_TALK = re.compile(
    r"^(?:(?:ok(?:ay)?|good|yes|so|then|and)[,.]? )*(?:please |let's |let us )?", re.IGNORECASE
)
_PLEASE = re.compile(r",? please(?=[.!]?$)", re.IGNORECASE)
_SECTION_OF = {
    MemoryKind.SUMMARY: OUTCOME,
    MemoryKind.TURN: EXCHANGES,
    MemoryKind.FACT: FACTS,
    MemoryKind.PREFERENCE: DECISIONS,
    MemoryKind.DECISION: DECISIONS,
    MemoryKind.LESSON: LESSONS,
    MemoryKind.ATTEMPT: LESSONS,
    MemoryKind.NEXT_STEP: ACTIONS,
}
_ORDER = (CONTEXT, OUTCOME, EXCHANGES, FACTS, DECISIONS, LESSONS, ACTIONS)
_BEFORE_COMPACTION = (FACTS, DECISIONS, ACTIONS, TASK, CONTACTS, CONTEXT, OUTCOME, LESSONS, EXCHANGES)
# A fact that says whom to turn to, and how.
_CONTACT = re.compile(
    r"[\w.+-]{1,64}@[\w-]{1,99}\.\w|(?<![\w`/])@\w{2,}|\b(?:contact|reach|ask|call|phone|e-?mail)\b",
    re.IGNORECASE,
)
_TASK_PARTS = (("goal", "Goal"), ("pending", "Pending"), ("failing", "Failing"), ("files", "Files"))


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry as it is to be appended."""

    day: str
    time: str
    title: str
    body: str


def entry_of(
    session: Session,
    memories: Sequence[Memory],
    logged: str,
    zone: tzinfo | None,
    most_turns: int,
    compacting: bool = False,
) -> Entry | None:
    """The entry of what is new in a session; `logged` is all that logs say of it already."""
    new = [
        memory
        for memory in memories
        if memory.kind in _SECTION_OF and f"`{memory.id[:HANDLE]}`" not in logged and _tells(memory)
    ]
    if compacting:  # the turn that is going on is told when it is over
        last = max((memory.turn for memory in memories if memory.kind is MemoryKind.TURN), default=0)
        new = [memory for memory in new if memory.kind is not MemoryKind.TURN or memory.turn < last]
    if not new:
        return None
    rows: dict[str, list[str]] = {}
    for memory in sorted(new, key=lambda memory: (memory.at, memory.turn)):
        contact = compacting and memory.kind is MemoryKind.FACT and _CONTACT.search(memory.text)
        rows.setdefault(CONTACTS if contact else _SECTION_OF[memory.kind], []).append(_row(memory))
    if len(rows.get(EXCHANGES, [])) > most_turns > 0:
        left = len(rows[EXCHANGES]) - most_turns
        handle = session.id[:HANDLE]
        rows[EXCHANGES] = [f"- ({left} earlier turns: `backstory show {handle}`)", *rows[EXCHANGES][left:]]
    parts = {title: f"**{title}:**\n" + "\n".join(found) for title, found in rows.items()}
    parts[CONTEXT] = f"**{CONTEXT}:** {_context(session, new, zone)}"
    if compacting and (task := _task(memories)):
        parts[TASK] = f"**{TASK}:**\n" + "\n".join(task)
    order = _BEFORE_COMPACTION if compacting else _ORDER
    at = max(memory.at for memory in new) if compacting else session.last_at
    body = "\n\n".join(parts[name] for name in order if name in parts)
    title = f"{session.agent} · {session.id[:HANDLE]}" + (" · before compaction" if compacting else "")
    moment = clock.in_zone(at, zone)
    return Entry(f"{moment:%Y-%m-%d}", f"{moment:%H:%M}", title, body)


def _tells(memory: Memory) -> bool:
    """Of summaries only what a model said came of it: the rules' repeat what stands below."""
    return memory.kind is not MemoryKind.SUMMARY or memory.tier is Tier.MODEL


def _context(session: Session, new: Sequence[Memory], zone: tzinfo | None) -> str:
    asked = told_title(session.title) or "A session without a prompt"
    begun, ended = clock.stamp(session.started_at, zone), clock.stamp(session.last_at, zone)
    when = begun if begun == ended else f"{begun}–{ended[11:] if begun[:10] == ended[:10] else ended}"
    files = list(dict.fromkeys(file for memory in new for file in memory.files))
    facts = [when]
    if session.branch:
        facts.append(f"branch {harmless_line(session.branch, 60)}")
    if files:
        more = f" and {len(files) - 6} more" if len(files) > 6 else ""
        facts.append("files " + ", ".join(code_span(file, 120) for file in files[:6]) + more)
    return f"{asked} ({'; '.join(facts)})"


def told_title(title: str) -> str:
    """What a log says a session was about."""
    return harmless_line(title, _CONTEXT)


def memory_line(memory: Memory) -> str:
    """What a log says of a memory."""
    text = memory.text
    if memory.kind is MemoryKind.DECISION:
        who = told_as(memory)
        reason = memory.reason.strip().rstrip(".") if memory.reason not in text else ""
        joined = f", {reason}" if _BECAUSE.match(reason) else f" ({reason})" if reason else ""
        text = f"{who}: {_plainly(text).rstrip('.') if reason else _plainly(text)}{joined}"
    elif memory.kind is MemoryKind.PREFERENCE:
        text = f"{told_as(memory) or 'Wanted'}: {_plainly(text)}"
    elif memory.kind is MemoryKind.ATTEMPT:
        text = f"Abandoned: {text}"
    return harmless_line(_DOTS.sub(r"\1", text), _ROW)


def _plainly(text: str) -> str:
    """A decision or a wish without the talk around it."""
    said = _PLEASE.sub("", _TALK.sub("", text))
    return said[:1].lower() + said[1:] if said[:2].istitle() or said[:1] == "A" else said


def _row(memory: Memory) -> str:
    box = "[ ] " if memory.kind is MemoryKind.NEXT_STEP else ""
    return f"- {box}`{memory.id[:HANDLE]}` {memory_line(memory)}"


def _task(memories: Sequence[Memory]) -> list[str]:
    """What the checkpoint says of the task that is under way."""
    found = next((memory for memory in memories if memory.kind is MemoryKind.CHECKPOINT), None)
    if found is None:
        return []
    try:
        parts = json.loads(found.detail)
    except ValueError:
        parts = {"goal": found.text}
    rows = []
    for key, label in _TASK_PARTS if isinstance(parts, dict) else ():
        value = parts.get(key)
        text = "; ".join(map(str, value)) if isinstance(value, list) else str(value or "")
        if text:
            rows.append(f"- {label}: {harmless_line(text, _ROW)}")
    return rows
