"""Trouble that the user reported and that no command shows: the cause that was named, and the files changed.

It is a lesson if nobody objected; when the next prompt says that it did not work, in words or by the same
error again, it was an attempt.
"""

import re

from backstory.distil import failure, phrases
from backstory.distil.fixes import cause_between, file_names, unique
from backstory.distil.prose import in_a_row, sentences, shorten
from backstory.distil.story import Story, Turn
from backstory.distil.undone import given_up
from backstory.model import Draft, MemoryKind

DISSENT = phrases.Rule("dissent")
TROUBLE = phrases.Rule("trouble")

HEAD = 1_200  # a report is at the head of a prompt; what follows is the log


def reported(story: Story, others: list[Draft]) -> list[Draft]:
    """Lessons from reports, except where a command told the same story already."""
    covered = {source for draft in others for source in draft.sources}
    gone = given_up(story)
    drafts: dict[str, Draft] = {}
    turns = [turn for turn in story.turns if turn.ask]
    report = ""
    for turn, after in zip(turns, [*turns[1:], None], strict=False):
        if not TROUBLE.search(turn.ask[:HEAD]):
            report = ""
            continue
        if not report or not DISSENT.search(turn.ask[:400]):
            report = report_of(turn)
        changes = [change for change in turn.changes if change.id not in gone]
        if not changes or not turn.said or not turn.ended or (after is not None and objects(after, turn)):
            continue
        cause = cause_between(turn.said, turn.ask_place, turn.said[-1].place + 1)
        if not cause or any(change.id in covered for change in turn.changes):
            continue
        draft = Draft(
            MemoryKind.LESSON,
            f"report:{report[:80]}",
            shorten(in_a_row((f"Reported: {report} → {cause}", f"Changed {file_names(changes)}")), 420),
            turn.at,
            (turn.ask_id, *(c.id for c in changes[-8:])),
            reason=cause,
            files=unique(c.file for c in changes),
            turn=turn.number,
        )
        drafts.setdefault(draft.subject, draft)
    return list(drafts.values())


def objects(after: Turn, turn: Turn) -> bool:
    """Whether the next prompt says that it did not work, in words or by showing the same error again."""
    if DISSENT.search(after.ask[:400]):
        return True
    error = _first_line(after.ask)
    return bool(error) and error == _first_line(turn.ask)


def _first_line(ask: str) -> str:
    """The first line of a pasted report, without its numbers."""
    line = ask.split("\n", 1)[0]
    return re.sub(r"\d+", "", line)[:80] if "\n" in ask and len(line) > 5 else ""


def report_of(turn: Turn) -> str:
    """The sentence that reports the trouble, or the telling line of what was pasted."""
    for sentence in sentences(turn.ask):
        if TROUBLE.search(sentence.text):
            return shorten(sentence.text, 160)
    return shorten(failure.telling_line(turn.ask[:HEAD]) or turn.ask, 160)
