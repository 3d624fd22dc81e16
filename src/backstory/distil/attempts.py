"""What was tried in vain, so that nobody repeats it: never passed, undone, or rejected by the user."""

import re
from itertools import pairwise

from backstory.distil.chains import Chain
from backstory.distil.fixes import between, file_names, quoted_errors, undoes, unique
from backstory.distil.prose import sentences, shorten
from backstory.distil.reports import DISSENT, objects, report_of
from backstory.distil.shell import CHECKS, Role
from backstory.distil.story import Change, Run, Story
from backstory.model import Draft, MemoryKind

_EDIT = re.compile(r"- ((?:(?!\n[-+] ).)*)\n\+ ((?:(?!\n[-+] ).)*)", re.DOTALL)


def attempts(story: Story, found: list[Chain]) -> list[Draft]:
    """Every vain attempt, once."""
    drafts = [draft for chain in found if (draft := _never_passed(story, chain))]
    drafts += [draft for run in story.runs if (draft := _thrown_away(story, run))]
    drafts += _turned_back(story.changes)
    drafts += _rejected(story)
    return list({draft.subject: draft for draft in drafts}.values())


def _never_passed(story: Story, chain: Chain) -> Draft | None:
    last, step, error = chain.failures[-1], chain.failures[-1].culprit, quoted_errors(chain)
    if chain.cure is not None or step is None or not error:
        return None
    if step.role is Role.CHANGE and len(chain.failures) < 2:
        return None
    count = f" ×{len(chain.failures)}" if len(chain.failures) > 1 else ""
    changes = between(story.changes, chain.failures[0].place, last.place)
    tried = f" (tried editing {file_names(changes)})" if changes else ""
    return Draft(
        MemoryKind.ATTEMPT,
        f"failed:{step.name} {' '.join(step.operands)}"[:120],
        shorten(f"`{last.shown}` failed{count} and never passed: {error}{tried}", 360),
        last.at,
        tuple(run.id for run in chain.failures[-8:]),
        files=unique(c.file for c in changes),
        weight=1.1 if step.role in CHECKS else 1.0,
        turn=last.turn,
    )


def _thrown_away(story: Story, run: Run) -> Draft | None:
    """Edits that git undid."""
    if not run.passed or not undoes(run):
        return None
    named = {operand for step in run.command.steps for operand in step.operands}
    whole = bool(named & {".", "HEAD"}) or "--hard" in run.line or "stash" in run.line
    lost = [c for c in between(story.changes, -1, run.place) if whole or c.file in named]
    if not lost:
        return None
    names = file_names(lost)
    tried = between(story.runs, lost[0].place, run.place)
    error = next((before.error for before in reversed(tried) if before.error), "")
    after = f'; they had ended in "{error}"' if error else ""
    return Draft(
        MemoryKind.ATTEMPT,
        f"undone:{names}"[:120],
        f"Edits to {names} were undone by `{shorten(run.shown, 80)}`{after}",
        run.at,
        unique([*(c.id for c in lost[-4:]), run.id]),
        files=unique(c.file for c in lost),
        turn=run.turn,
    )


def _turned_back(changes: list[Change]) -> list[Draft]:
    """Edits that a later edit reversed exactly."""
    drafts: list[Draft] = []
    before: dict[tuple[str, str, str], Change] = {}
    for change in changes:
        match = _EDIT.fullmatch(change.excerpt) if " … " not in change.excerpt else None
        if match is None:
            continue
        old, new = match.group(1).strip(), match.group(2).strip()
        first = before.pop((change.file, new, old), None)
        if first is None:
            before[(change.file, old, new)] = change
            continue
        drafts.append(
            Draft(
                MemoryKind.ATTEMPT,
                f"undone:{change.file}:{new[:40]}",
                f"An edit of {change.file} was tried and turned back: {shorten(first.excerpt, 160)}",
                change.at,
                (first.id, change.id),
                files=(change.file,),
                turn=change.turn,
            )
        )
    return drafts


def _rejected(story: Story) -> list[Draft]:
    """Edits after which the user said that it does not work."""
    drafts: list[Draft] = []
    turns = [turn for turn in story.turns if not turn.empty]
    for before, turn in pairwise(turns):
        if not before.changes or not turn.ask or not objects(turn, before):
            continue
        words = next((s.text for s in sentences(turn.ask) if DISSENT.search(s.text)), "") or report_of(turn)
        names = file_names(before.changes)
        drafts.append(
            Draft(
                MemoryKind.ATTEMPT,
                f"objected:{turn.number}",
                shorten(f"After edits to {names} the user said: “{shorten(words, 160)}”", 320),
                turn.at,
                (*(c.id for c in before.changes[-4:]), turn.ask_id),
                said_by="assistant" if story.subagent else "user",
                files=unique(c.file for c in before.changes),
                weight=1.3,
                turn=turn.number,
            )
        )
    return drafts
