"""A session's events in, drafts of memories out: the one entry, pure and deterministic.

It is called after every stop, so the session may still run, or may have been killed in mid-turn.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace

from backstory.distil.attempts import attempts
from backstory.distil.chains import chains
from backstory.distil.checkpoint import checkpoint
from backstory.distil.commands import commands
from backstory.distil.decisions import decisions, preferences
from backstory.distil.fixes import lessons
from backstory.distil.reports import reported
from backstory.distil.steps import next_steps
from backstory.distil.story import Limits, Story
from backstory.distil.summary import summary
from backstory.distil.telling import tell
from backstory.distil.turns import turn_digests
from backstory.file_mentions import cited_files
from backstory.model import Draft, Kind, MemoryKind, Session, StoredEvent

VERSION = "t1.12"
DEFAULTS = Limits()


def distil_session(session: Session, events: Sequence[StoredEvent], limits: Limits = DEFAULTS) -> list[Draft]:
    """Everything that the rules find in one session."""
    if too_little(session, events, limits):
        return []
    story = tell(session, events, limits)
    failing = chains(story.runs)
    fixed = lessons(story, failing)
    found = [
        *fixed,
        *reported(story, fixed),
        *attempts(story, failing),
        *decisions(story),
        *preferences(story),
        *next_steps(story, failing),
        *commands(story),
    ]
    folders = dict.fromkeys((session.cwd, *(each.event.where.worktree for each in events)))
    found = [_citing(draft, story, folders) for draft in _told_once(found)]
    digests = turn_digests(story)
    drafts = [*summary(story, digests, found, limits), *digests, *found, *checkpoint(story, failing, found)]
    return [draft for draft in drafts if draft.sources and draft.text]


def _citing(draft: Draft, story: Story, folders: Collection[str]) -> Draft:
    """A decision or a wish with the files that its own words name; what changed meanwhile is its turn's."""
    if draft.kind not in (MemoryKind.DECISION, MemoryKind.PREFERENCE):
        return draft
    known = {change.file for change in story.changes}.union(*(turn.reads for turn in story.turns))
    return replace(draft, files=cited_files(f"{draft.text}\n{draft.reason}", known, folders))


def _told_once(drafts: list[Draft]) -> list[Draft]:
    """Leave out a wish that a decision says already."""
    decided = [
        draft.text for draft in drafts if draft.kind is MemoryKind.DECISION and draft.said_by == "user"
    ]
    return [
        draft
        for draft in drafts
        if draft.kind is not MemoryKind.PREFERENCE or not any(text in draft.text for text in decided)
    ]


def too_little(session: Session, events: Sequence[StoredEvent], limits: Limits = DEFAULTS) -> str:
    """Why there is nothing to distil, with the numbers (MEMORIA-30); "" when there is."""
    turns = {
        e.turn
        for e in events
        if not e.event.recalled and e.event.kind in {Kind.PROMPT, Kind.TOOL, Kind.SAID, Kind.TURN_ENDED}
    }
    compacting = bool(events) and events[-1].event.kind is Kind.COMPACTING
    least = limits.min_turns_compact if compacting else limits.min_turns_end
    if not events or not turns:
        return f"SKIP: nothing to distil ({len(events)} events, {len(turns)} turns)"
    if len(turns) < least:
        return f"SKIP: {len(turns)} turns, at least {least} needed ({len(events)} events)"
    return ""
