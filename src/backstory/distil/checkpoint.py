"""What a session must still know after its context was compacted: goal, done, pending, red and green."""

import json

from backstory.attribution import spoken
from backstory.distil.chains import Chain
from backstory.distil.commands import tally
from backstory.distil.plan import DONE, plan_items
from backstory.distil.prose import gist, shorten
from backstory.distil.shell import CHECKS, Role
from backstory.distil.story import Story
from backstory.model import Draft, MemoryKind


def checkpoint(story: Story, found: list[Chain], others: list[Draft]) -> list[Draft]:
    """One CHECKPOINT draft; its `detail` is a JSON object that the brief renders."""
    turns = [turn for turn in story.turns if not turn.empty and turn.ids]
    asks = [turn for turn in turns if turn.ask]
    if not turns:
        return []
    goal = gist(asks[0].asked, 300) if asks else ""
    if len(asks) > 1:
        goal = f"{goal} · now: {gist(asks[-1].asked, 200)}"
    done = [f"ticked off by the agent: {item.content}" for item in plan_items(turns) if item.status in DONE]
    done += [f"changed {file}" for file in dict.fromkeys(c.file for c in story.changes)][-8:]
    pending = [
        spoken(draft.kind, draft.said_by, draft.text)
        for draft in others
        if draft.kind is MemoryKind.NEXT_STEP
    ]
    failing = [
        shorten(f"{chain.failures[-1].shown}: {chain.failures[-1].error}", 200)
        for chain in found
        if chain.cure is None
    ]
    passing = [
        shorten(line, 120)
        for line, count in tally(story.runs).items()
        if count.runs[-1].passed and count.runs[-1].command.role in CHECKS | {Role.RUN}
    ]
    value = {
        "goal": goal,
        "done": done[-12:],
        "pending": pending[:8],
        "files": list(dict.fromkeys(c.file for c in reversed(story.changes)))[:20],
        "failing": failing[-6:],
        "passing": passing[-8:],
        "decisions": [
            spoken(d.kind, d.said_by, f"{d.text} ({d.reason})" if d.reason else d.text)
            for d in others
            if d.kind is MemoryKind.DECISION
        ][-8:],
    }
    text = (
        f"Goal: {goal}"
        + (f" · failing: {failing[-1]}" if failing else "")
        + (f" · pending: {pending[0]}" if pending else "")
    )
    sources = tuple(dict.fromkeys(sid for turn in turns[-20:] for sid in (turn.ids[0], turn.ids[-1])))
    return [
        Draft(
            MemoryKind.CHECKPOINT,
            "checkpoint",
            shorten(text, 500),
            turns[-1].at,
            sources,
            detail=json.dumps(value, ensure_ascii=False),
            files=tuple(value["files"]),
            turn=turns[-1].number,
        )
    ]
