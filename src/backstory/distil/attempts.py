"""What was tried in vain, so that nobody repeats it: red to the end, undone, replaced, blamed, rejected."""

from collections.abc import Iterator
from itertools import pairwise

from backstory.distil.chains import Chain
from backstory.distil.fixes import file_names, helping, quoted_errors, spelling, unique
from backstory.distil.prose import sentences, shorten
from backstory.distil.reports import DISSENT, objects, report_of
from backstory.distil.shell import CHECKS, Role
from backstory.distil.story import Change, Run, Story, between
from backstory.distil.undone import added, given_up, replacements, thrown_away, turned_back
from backstory.distil.vain import called_vain
from backstory.error_lines import informative
from backstory.model import Draft, MemoryKind


def attempts(story: Story, found: list[Chain]) -> list[Draft]:
    """Every vain attempt, once."""
    drafts = [draft for chain in found if (draft := _still_failing(story, chain))]
    drafts += [draft for run in story.runs if (draft := _thrown_away(story, run))]
    drafts += [
        _turned_back(*pair)
        for pair in turned_back(story.changes)
        if any(run.failed for run in between(story.runs, pair[0].place, pair[1].place))
    ]
    drafts += _replaced(story, found)
    drafts += _in_vain(story, found)
    drafts += _rejected(story)
    return list({draft.subject: draft for draft in drafts}.values())


def _still_failing(story: Story, chain: Chain) -> Draft | None:
    last, step, error = chain.failures[-1], chain.failures[-1].culprit, quoted_errors(chain)
    if chain.cure is not None or step is None or not informative(last.error):
        return None
    if step.role is Role.CHANGE and len(chain.failures) < 2:
        return None
    count = f" ×{len(chain.failures)}" if len(chain.failures) > 1 else ""
    changes = between(story.changes, chain.failures[0].place, last.place)
    tried = f" (tried editing {file_names(changes)})" if changes else ""
    return Draft(
        MemoryKind.ATTEMPT,
        f"failed:{step.name} {' '.join(step.operands)}"[:120],
        shorten(f"`{last.shown}` failed{count} and did not pass again in that session: {error}{tried}", 360),
        last.at,
        tuple(run.id for run in chain.failures[-8:]),
        files=unique(c.file for c in changes),
        weight=1.1 if step.role in CHECKS else 1.0,
        turn=last.turn,
    )


def _thrown_away(story: Story, run: Run) -> Draft | None:
    """Edits that git undid."""
    lost = thrown_away(story, run)
    tried = between(story.runs, lost[0].place, run.place) if lost else ()
    error = next((before.error for before in reversed(tried) if before.error), "")
    if not error:
        return None  # put away, for another branch or because plans changed; nothing was tried in vain
    names = file_names(lost)
    after = f'; they had ended in "{error}"'
    return Draft(
        MemoryKind.ATTEMPT,
        f"undone:{names}"[:120],
        f"Edits to {names} were undone by `{shorten(run.shown, 80)}`{after}",
        run.at,
        unique([*(c.id for c in lost[-4:]), run.id]),
        files=unique(c.file for c in lost),
        turn=run.turn,
    )


def _turned_back(first: Change, back: Change) -> Draft:
    """An edit that a later edit reversed exactly."""
    return Draft(
        MemoryKind.ATTEMPT,
        f"undone:{first.file}:{added(back)[:40]}",
        f"An edit of {first.file} was tried and turned back: {shorten(first.excerpt, 160)}",
        back.at,
        (first.id, back.id),
        files=(first.file,),
        turn=back.turn,
    )


def _replaced(story: Story, found: list[Chain]) -> Iterator[Draft]:
    """Edits after which the same error came again, until others in their place made the command pass.

    Nothing else may have done so: neither a command nor an edit of anything that was not tried before.
    """
    gone = given_up(story)
    for chain in found:
        first, last, cure = chain.failures[0], chain.failures[-1], chain.cure
        if cure is None or not cure.passed or first is last or first.culprit is None:
            continue
        if cure.command.role not in CHECKS and spelling(cure) != spelling(last):
            continue
        pairs = replacements(between(story.changes, first.place, cure.place))
        final = between(story.changes, last.place, cure.place)
        instead = {other.id for _, other in pairs}
        if not final or any(change.id not in instead for change in final):
            continue
        if any(run.place > last.place for run in helping(story, first, cure)):
            continue
        for change, other in pairs:
            before = next(run for run in reversed(chain.failures) if run.place < change.place)
            after = next((run for run in chain.failures if run.place > change.place), None)
            if change.id in gone or after is None or other.place < after.place:
                continue
            if before.error and before.error == after.error:
                passed = f"The same error came again; it passed with {shorten(final[-1].excerpt, 160)}"
                yield _called_vain(chain, [change], passed)


def _in_vain(story: Story, found: list[Chain]) -> Iterator[Draft]:
    """Edits that still stand, and that the assistant says did not help."""
    gone = given_up(story)
    edits = {change.id: change for change in story.changes if change.id not in gone}
    for chain in found:
        blamed: dict[str, list[Change]] = {}
        for id_, sentence in called_vain(story, chain).items():
            if id_ in edits:
                blamed.setdefault(sentence, []).append(edits[id_])
        for sentence, changes in blamed.items():
            yield _called_vain(chain, changes, sentence)


def _called_vain(chain: Chain, changes: list[Change], sentence: str) -> Draft:
    run = next(run for run in chain.failures if run.place > changes[-1].place)
    before = next(run for run in reversed(chain.failures) if run.place < changes[0].place)
    names, excerpt = file_names(changes), shorten(changes[-1].excerpt, 120)
    return Draft(
        MemoryKind.ATTEMPT,
        f"vain:{names}:{added(changes[-1])[:40]}",
        shorten(f'Editing {names} against "{before.error}" did not help ({excerpt})', 360),
        run.at,
        unique([*(c.id for c in changes[-4:]), run.id]),
        reason=shorten(sentence, 240),
        files=unique(c.file for c in changes),
        turn=run.turn,
    )


def _rejected(story: Story) -> list[Draft]:
    """Edits after which the user said that it does not work."""
    drafts: list[Draft] = []
    turns = [turn for turn in story.turns if not turn.empty]
    for before, turn in pairwise(turns):
        if not before.changes or not turn.ask or not objects(turn, before):
            continue
        words = next((s.text for s in sentences(turn.asked) if DISSENT.search(s.text)), "") or report_of(turn)
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
