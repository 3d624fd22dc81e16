"""The rows of a project's brief: what each session that starts is told, whatever it will be about.

Four sources. Outcomes of the latest sessions; what failed in several sessions, from what happened alone
(`failure_history.py`); memories, in the sections of their kinds; and statements of any age, by their worth
(`worth.py`). Each row carries its worth, and the hook takes the best that fit. A
statement is told only above a floor, and only if it repeats no better row: what is not worth telling is left
out, however much room there is.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from backstory.attribution import AGENT_SAID, MODEL_SAID, USER_SAID, by_agent, led_in
from backstory.failure_history import OF_LATE, blamed_stem, failure_histories
from backstory.hook.brief_text import shorten
from backstory.hook.remote_code import runs_remote_code
from backstory.hook.untrusted_text import fetches_and_runs
from backstory.model import Memory, MemoryKind, MemoryStatus, Session, Speaker, Tier, speaker
from backstory.project_checks import project_checks
from backstory.recall import worth
from backstory.recall.others_rows import with_others
from backstory.recall.outcomes import COMMITTED, outcome
from backstory.recall.rows import SECTIONS, Row, history_row, row
from backstory.recall.standing import Standing
from backstory.recall.usefulness import Deed, Done, deeds_of, usefulness
from backstory.recall.written_down import WrittenDown
from backstory.statements import PassageKind, Statement, statements
from backstory.store import Store

_SESSIONS = 20  # whose statements are weighed
_OUTCOMES = 3
_OUTCOME_CHARS = (300, 220, 220)
_ASKED_CHARS = 100
_OPEN_SESSIONS = 2
_OPEN_STEPS = 4
_STATEMENTS = 12
_HISTORIES = 3
_SEVERAL = 2
_COMMAND_DAYS = 90
_RECENT_MS = 30 * 86_400_000
# What a start is told first. Statements have about 0.3 to 1; a pinned memory comes before everything.
_PINNED, _OUTCOME, _RETURNS, _WANTED, _OPEN = 3.0, 2.0, 1.2, 1.1, 0.9
_SHARED_COMMANDS, _DECIDED, _NOTED = 0.7, 0.4, 0.3
# What a model has chosen to say, beside what the sentence itself is worth; a fact of the code less; and what
# each time adds that it came up again, up to so many.
_CHOSEN, _CHOSEN_FACT, _AGAIN, _MANY = 0.3, 0.1, 0.05, 3
_LONGEST = 360  # characters of a row that is no outcome
_REPEATS = 0.25  # of a statement's words that a better row has: then it says little new
_TELLING = (
    PassageKind.PROMPT,
    PassageKind.REFUSAL,
    PassageKind.CLOSING,
    PassageKind.SUMMARY,
    PassageKind.COMMIT,
    PassageKind.RECORD,
)
_WORDS = (MemoryKind.DECISION, MemoryKind.PREFERENCE, MemoryKind.FACT)
_OUTCOME_KINDS = (PassageKind.CLOSING, PassageKind.COMMIT, PassageKind.RECORD)
_SAME = 0.6  # of the words of a hidden memory
_WORD = re.compile(r"[^\W\d_][\w'-]{2,}")
_LEADS = {PassageKind.PROMPT: USER_SAID, PassageKind.REFUSAL: "The user refused a call and said"}
_FAILED = re.compile(r"^`([^`]{1,400})` failed\b([^→]{0,400})")


@dataclass(frozen=True, slots=True)
class _Weighed:
    """A statement and its worth."""

    worth: float
    statement: Statement


def project_rows(store: Store, project_id: str, root: str = "") -> list[Row]:
    """All rows that a brief of this project may show, each with its section and worth."""
    sessions = store.events.sessions(project_id, _SESSIONS)
    known: list[Statement] = []
    done: dict[str, list[Deed]] = {}
    for session in sessions:
        events = store.events.of_session(session.id)
        known += statements(session, events)
        done[session.id] = deeds_of(events)
    around = worth.surroundings([session.id for session in sessions], known)
    weighed = [_Weighed(worth.worth(each, around), each) for each in known]
    written = WrittenDown(root)
    hidden = [_words(text) for text in _hidden(store, project_id)]
    rows = list(_outcomes(store, project_id, sessions, weighed))
    recent = {each["session"] for each in rows[:1]} | {session.id for session in sessions[:1]}
    histories = dict(_histories(store, project_id, written, hidden))
    rows += histories.values()
    rows += _memories(store, project_id, around, recent, written, histories, done.get)
    rows += _commands(store, project_id, sessions)
    rows += _statements(sessions, weighed, rows, written, hidden)
    rows = with_others(store, project_id, rows)
    places = {section: place for place, section in enumerate(_ORDER)}
    return sorted(rows, key=lambda each: (places[each["section"]], -each["worth"]))


def _hidden(store: Store, project_id: str) -> Iterator[str]:
    """The texts of memories that were rejected or replaced: nothing says the same in their place."""
    return (memory.text for memory in map(store.memories.kept, store.memories.hidden(project_id)) if memory)


def _says_hidden(words: set[str], hidden: Sequence[set[str]]) -> bool:
    return any(len(words & one) >= _SAME * len(one) for one in hidden if one)


_ORDER = ("left_off", "open", "prefs", "decisions", "failed", "known", "commands", "others")


# --- outcomes ---------------------------------------------------------------------------------------------


def _outcomes(
    store: Store, project_id: str, sessions: Sequence[Session], weighed: Sequence[_Weighed]
) -> Iterator[Row]:
    """One row for each of the latest sessions, the newest that left work behind first."""
    summaries = store.memories.of_project(project_id, [MemoryKind.SUMMARY], 2 * _OUTCOMES)
    answered = {each.statement.session for each in weighed if each.statement.kind != PassageKind.PROMPT}
    # stable: the newest that did something
    summaries.sort(key=lambda summary: not _worked(store, summary, answered))
    branches = {session.id: session.branch for session in sessions}
    titles = {session.id: session.title for session in sessions}
    since = _latest(sessions) - _RECENT_MS
    for place, (summary, room) in enumerate(zip(summaries, _OUTCOME_CHARS, strict=False)):
        if place and summary.at < since:
            continue
        own = [
            (each.worth, each.statement) for each in weighed if each.statement.session == summary.session_id
        ]
        told = row("others" if place else "left_off", summary)
        said = summary.status is MemoryStatus.CONFIRMED or summary.tier is Tier.MODEL
        text = shorten(summary.text, room) if said else outcome(own, room, worth.FLOOR)
        if summary.tier is Tier.MODEL and not _judged(summary):
            text = led_in(MODEL_SAID, text)
        if text and not said and not text.startswith(COMMITTED) and (asked := titles.get(summary.session_id)):
            told_by = text if text.startswith(AGENT_SAID) else led_in(AGENT_SAID, text)
            text = f"Asked: {shorten(asked, _ASKED_CHARS).rstrip('.')}. {told_by}"
        branch = branches.get(summary.session_id, "")
        if text:
            told["text"] = f"On {branch}: {text}" if branch else text
        yield told | {"worth": _PINNED if summary.pinned else _OUTCOME - place / 10, "branch": branch}


def _latest(sessions: Sequence[Session]) -> int:
    """When the project was last worked in: what is recent is counted from there, however long ago that is."""
    return max((session.last_at for session in sessions), default=0)


def _worked(store: Store, summary: Memory, answered: set[str]) -> bool:
    """Whether a session left more than an exchange of words; a prompt without an answer is not even that."""
    if summary.session_id not in answered:
        return bool(summary.files)
    told = (MemoryKind.SUMMARY, MemoryKind.TURN, MemoryKind.CHECKPOINT)
    return bool(summary.files) or any(
        memory.kind not in told for memory in store.memories.of_session(summary.session_id)
    )


# --- what fails again and again ---------------------------------------------------------------------------


def _histories(
    store: Store, project_id: str, written: WrittenDown, hidden: Sequence[set[str]]
) -> Iterator[tuple[str, Row]]:
    """What failed in several sessions for the same reason, and what made it pass, by the commands' stems."""
    found = failure_histories(store.events.deeds(project_id, OF_LATE))
    lasting = [each for each in found if each.returned >= _SEVERAL and not written.says(each.text)]
    for each in [one for one in lasting if not _says_hidden(_words(one.text), hidden)][:_HISTORIES]:
        yield each.stem, history_row(each) | {"worth": _RETURNS}


def _told_by(histories: Mapping[str, Row], memory: Memory) -> bool:
    """Whether the history of its command tells what a memory tells of one failure."""
    failed = _FAILED.match(memory.text)
    stem = blamed_stem(failed[1], failed[2]) if failed and not _judged(memory) else ""
    told = histories.get(stem)
    return told is not None and _repeats(_words(memory.text), _words(told["text"]))


# --- memories ---------------------------------------------------------------------------------------------


def _memories(
    store: Store,
    project_id: str,
    around: worth.Surroundings,
    recent: set[str],
    written: WrittenDown,
    histories: Mapping[str, Row],
    done: Done,
) -> Iterator[Row]:
    """What was distilled: open steps of the latest sessions, decisions, wishes, what failed."""
    steps = store.memories.of_project(project_id, [MemoryKind.NEXT_STEP], 40)
    latest = [s.id for s in store.events.sessions(project_id, _OPEN_SESSIONS)]
    still_open = _distinct(step for step in steps if step.session_id in latest)[:_OPEN_STEPS]
    for step in still_open:
        yield row("open", step) | {"worth": _OPEN - latest.index(step.session_id) / 10}
    standing = Standing(store)
    open_events = {source for step in still_open for source in step.sources}
    for section, kinds, limit in SECTIONS:
        found = [
            memory
            for memory in store.memories.of_project(project_id, kinds, limit * 4)
            # a check that is still red is told once, as an open thread
            if (memory.kind is not MemoryKind.ATTEMPT or open_events.isdisjoint(memory.sources))
            and (_judged(memory) or not written.says(memory.text))
            and not (section == "failed" and _told_by(histories, memory))
        ]
        worths = {memory.id: _worth_of(memory, around, recent) for memory in found}
        worth_it = _by_weight([memory for memory in found if worths[memory.id]])
        for memory in sorted(_distinct(worth_it), key=lambda each: -worths[each.id])[:limit]:
            value = worths[memory.id] * (1.0 if _judged(memory) else usefulness(store, memory, done).factor)
            yield standing.row(section, memory) | {"worth": value}


def _worth_of(memory: Memory, around: worth.Surroundings, recent: set[str]) -> float:
    """What a memory is worth; 0 if it is not told.

    The user's words count most. What failed and was mended by editing, and what only an agent said, is the
    last session's business: in older sessions it is development, not knowledge. What a model has chosen to
    keep is knowledge, however old it is.
    """
    if _judged(memory):
        return _PINNED
    if memory.tier is Tier.MODEL:  # also what it quotes of the user: much of that was for the moment
        chosen = _CHOSEN_FACT if memory.kind is MemoryKind.FACT else _CHOSEN
        return chosen + _AGAIN * min(memory.seen - 1, _MANY) + worth.worth(as_statement(memory), around)
    if speaker(memory.said_by) is Speaker.USER and memory.kind in _WORDS:
        return _DECIDED if memory.kind is MemoryKind.DECISION else _WANTED
    if memory.kind is MemoryKind.LESSON and not memory.files and len(memory.text) <= _LONGEST:
        found = worth.worth(as_statement(memory), around)
        if found >= worth.FLOOR:
            return found
    return _NOTED if memory.session_id in recent or memory.agent == Speaker.USER else 0.0


def as_statement(memory: Memory) -> Statement:
    """A memory, to be weighed like a statement."""
    text = row("", memory)["text"]
    return Statement(
        text, f"memory_{memory.kind}", "", memory.id, memory.session_id, memory.at, edits=bool(memory.files)
    )


def _judged(memory: Memory) -> bool:
    """Whether a person pinned or confirmed it."""
    return memory.pinned or memory.status is MemoryStatus.CONFIRMED


def _by_weight(memories: Sequence[Memory]) -> list[Memory]:
    """Pinned and weighty first, then the newest; what an agent said counts less than what the user said."""
    return sorted(memories, key=lambda m: (not m.pinned, -m.weight, -m.at))


def _distinct(memories: Iterable[Memory]) -> list[Memory]:
    seen: dict[str, Memory] = {}
    for memory in memories:
        seen.setdefault(" ".join(memory.text.lower().split()), memory)
    return list(seen.values())


# --- commands ---------------------------------------------------------------------------------------------


def _commands(store: Store, project_id: str, sessions: Sequence[Session]) -> Iterator[Row]:
    """What somebody noted, and one row of the checks that passed in several sessions."""
    found = [
        memory
        for memory in store.memories.of_project(project_id, [MemoryKind.COMMAND], 400)
        if not runs_remote_code(memory.text)
    ]
    for memory in found:
        if _judged(memory) or memory.agent == Speaker.USER:
            yield row("commands", memory) | {"worth": _PINNED if _judged(memory) else _WANTED}
    since = _latest(sessions) - _COMMAND_DAYS * 86_400_000
    if checks := project_checks([memory for memory in found if memory.at >= since]):
        text = ", ".join(f"`{command}` in {memory.seen} sessions" for command, memory in checks)
        yield row("commands", checks[0][1]) | {"text": f"Passed: {text}", "worth": _SHARED_COMMANDS}


# --- statements -------------------------------------------------------------------------------------------


def _statements(
    sessions: Sequence[Session],
    weighed: Sequence[_Weighed],
    better: Sequence[Row],
    written: WrittenDown,
    hidden: Sequence[set[str]],
) -> Iterator[Row]:
    """The statements that are worth telling beside the other rows, best first."""
    latest = sessions[0].id if sessions else ""
    agents = {session.id: session.agent for session in sessions}
    told = [_words(each["text"]) for each in better]
    left = _STATEMENTS
    for each in sorted(weighed, key=lambda each: -each.worth):
        if each.worth < worth.FLOOR or not left:
            return
        statement = each.statement
        words = _words(statement.told)
        if not _may_be_told(statement, latest) or any(_repeats(words, one) for one in told):
            continue
        if fetches_and_runs(statement.told) or written.says(statement.text):
            continue
        if _says_hidden(words, hidden):
            continue
        told.append(words)
        left -= 1
        yield _row(statement, agents[statement.session]) | {"worth": each.worth}


def _may_be_told(statement: Statement, latest: str) -> bool:
    """Outcomes are the last session's, unless they tell a cause; of prompts only wishes."""
    if statement.kind not in _TELLING or len(statement.told) > _LONGEST or worth.is_momentary(statement):
        return False
    if statement.kind in (PassageKind.PROMPT, PassageKind.REFUSAL):
        return worth.is_wish(statement)
    return statement.kind not in _OUTCOME_KINDS or statement.session == latest or worth.tells_cause(statement)


def _row(statement: Statement, agent: str) -> Row:
    lead = _LEADS.get(PassageKind(statement.kind), "")
    return {
        "id": statement.event,
        "section": "prefs" if lead else "failed" if worth.tells_failure(statement) else "known",
        "text": f"{lead}: {statement.told}" if lead else by_agent(statement.told),
        "at": statement.at,
        "agent": agent,
        "session": statement.session,
        "by": Speaker.USER.value if lead else Speaker.AGENT.value,
    }


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))


def _repeats(words: set[str], other: set[str]) -> bool:
    return len(words & other) >= _REPEATS * min(len(words), len(other))
