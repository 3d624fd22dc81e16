"""The session in one row for a brief, and as a longer page whose cut never falls inside a turn."""

from backstory.distil.commands import outcome, tally
from backstory.distil.fixes import PAST
from backstory.distil.prose import gist, in_a_row, shorten
from backstory.distil.shell import Role
from backstory.distil.story import Limits, Story
from backstory.distil.turns import ending, names, ran
from backstory.model import Draft, MemoryKind, SessionStatus

ROW = 700
# Reasons of an end that nobody chose; an imported session without an end has none at all.
_KILLED = frozenset(("killed", "lost"))


def state(story: Story) -> str:
    """How the session stands: finished, or open during which ask."""
    turn = story.unfinished
    if turn is None:
        return ""
    ask = gist(turn.asked, 100) if turn.ask else "a turn without a prompt"
    return f"unfinished: {_stopped(story)} during: {ask} ({ending(turn)})"


def _stopped(story: Story) -> str:
    """How the session itself stopped; an agent gives a reason for an end of its own."""
    if story.session.status is SessionStatus.FAILED or (story.ended and story.end_reason in _KILLED):
        return "the session was killed"
    return "the session was ended" if story.ended else "the session did not end"


def summary(story: Story, digests: list[Draft], others: list[Draft], limits: Limits) -> list[Draft]:
    """One SUMMARY draft, made from the turns and from what the other rules found."""
    turns = [turn for turn in story.turns if not turn.empty and turn.ids]
    if not turns:
        return []
    files = tuple(dict.fromkeys(change.file for change in story.changes))
    last = turns[-1]
    sources = tuple(dict.fromkeys(sid for turn in turns[-30:] for sid in (turn.ids[0], turn.ids[-1])))
    return [
        Draft(
            MemoryKind.SUMMARY,
            "summary",
            _row(story, others),
            last.at,
            sources,
            detail=page(story, digests, others, limits),
            files=files[-40:],
            weight=1.5,
            turn=last.number,
        )
    ]


def _of(drafts: list[Draft], kind: MemoryKind) -> list[Draft]:
    return [draft for draft in drafts if draft.kind is kind]


def _row(story: Story, others: list[Draft]) -> str:
    asks = [turn.asked for turn in story.turns if turn.ask]
    parts: list[str] = []
    if asks:
        parts.append(f"Asked: {gist(asks[0], 140)}")
        if len(asks) > 1:
            between = f", {len(asks) - 2} more, then" if len(asks) > 2 else ", then"
            parts[-1] = f"{parts[-1].rstrip('.')}{between}: {gist(asks[-1], 140)}"
    if story.changes:
        parts.append(f"Changed {names([c.file for c in story.changes], 4)}")
    if line := ran(story.runs, 2):
        parts.append(f"Ran {line}")
    fixes = [row for row in _of(others, MemoryKind.LESSON) if not row.subject.startswith(PAST)]
    if fixes:
        parts.append(
            f"Fixed: {shorten(fixes[-1].text, 120)}" + (f" (+{len(fixes) - 1})" if len(fixes) > 1 else "")
        )
    if story.unfinished is not None:
        parts.append(f"Unfinished: {_stopped(story)}, {ending(story.unfinished)}")
    elif story.said:
        parts.append(f"Ended: {gist(story.said[-1].text, 160)}")
    return shorten(in_a_row(parts), ROW)


def page(story: Story, digests: list[Draft], others: list[Draft], limits: Limits) -> str:
    """The long form. Newest turns are kept, whole; older ones are counted (CM-7, CM-8)."""
    head = [f"# {gist(story.turns[0].asked, 100)}" if story.turns and story.turns[0].ask else "# Session"]
    if line := state(story):
        head.append(f"\n**{line}**")
    reads = [file for turn in story.turns for file in turn.reads]
    if story.changes:
        head.append(f"\n## Files changed\n{names([c.file for c in story.changes], 30)}")
    if reads:
        head.append(f"\n## Files read\n{names(reads, 20)}")
    counts = [
        (line, count)
        for line, count in tally(story.runs).items()
        if count.failed or count.runs[0].command.role is not Role.PROBE
    ]
    if counts:
        head.append(
            "\n## Commands\n"
            + "\n".join(f"- `{shorten(line, 110)}` {outcome(count)}" for line, count in counts[-20:])
        )
    for title, kind in (
        ("Failures and fixes", MemoryKind.LESSON),
        ("Abandoned", MemoryKind.ATTEMPT),
        ("Decisions", MemoryKind.DECISION),
        ("Next steps", MemoryKind.NEXT_STEP),
    ):
        if rows := _of(others, kind):
            head.append(
                f"\n## {title}\n"
                + "\n".join(f"- {row.text}" + (f" ({row.reason})" if row.reason else "") for row in rows[:12])
            )
    if story.said:
        head.append(f"\n## Last message\n{shorten(story.said[-1].text, 600)}")
    fixed = "\n".join(head)
    return (
        fixed + "\n\n## Turns\n" + "\n".join(kept_turns(digests, limits, limits.max_chars - len(fixed) - 60))
    )


def kept_turns(digests: list[Draft], limits: Limits, room: int) -> list[str]:
    """Digests of the newest turns that fit, each whole, oldest first."""
    kept: list[str] = []
    for draft in reversed(digests[-limits.max_turns :] if limits.max_turns > 0 else []):
        line = f"- turn {draft.turn}: {draft.text}"
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    if len(kept) < len(digests):
        kept.append(f"- ({len(digests) - len(kept)} earlier turns left out)")
    return kept[::-1]
