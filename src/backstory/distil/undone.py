"""Edits that did not stay: turned back by a later edit, thrown away by git, or written over on the way."""

import re
from collections.abc import Sequence

from backstory.distil.story import Change, Run, Story, between

_EDIT = re.compile(r"- ((?:(?!\n[-+] ).)*)\n\+ ((?:(?!\n[-+] ).)*)", re.DOTALL)
_UNDO = re.compile(
    r"\bgit\s+(?:checkout\s+(?:-\w+\s+)*(?:HEAD\s+)?(?:--|\.|\S+\.[a-z]\w{0,5}(?!\S))|restore\s+(?!--staged)"
    r"|reset\s+(?:[^\s;&|]+\s+)?--hard|revert\b|(?:checkout|switch)\s+(?:-f|--force|--discard-changes)\b"
    r"|stash(?!\s+(?:pop|list|show|apply)))"
)
_CLEAN = re.compile(r"\bgit\s+clean\s++(?:\S++\s++){0,12}-(?:\w*f|-force)")
_ALL = re.compile(
    r"\bgit\s+(?:revert\b|(?:checkout|switch)\s+(?:-f|--force|--discard-changes)\b|checkout\s+(?:-\w+\s+)*HEAD\s*(?:$|[;&|]))"
)
_STASH = re.compile(r"\bgit\s+stash\b")
_UNSTASH = re.compile(r"\bgit\s+stash\s+(?:pop|apply)\b")
_STASHED = re.compile(r"\bgit\s+stash\b(?:\s+(?:push|save)\b)?")
_COMMIT = re.compile(r"\bgit\s+commit\b")
RECENT = 40  # so many edits of one file are looked at when a later one is written over them


def given_up(story: Story) -> frozenset[str]:
    """The ids of the edits that do not stand any more when the session ends."""
    lost = {first.id for first, _ in turned_back(story.changes)}
    lost.update(change.id for run in story.runs for change in thrown_away(story, run))
    return frozenset(lost)


def undoes(run: Run) -> bool:
    """Whether a command throws edits away."""
    return "git" in run.line and _UNDO.search(run.line) is not None


def discards(run: Run) -> bool:
    """Whether a command throws work away: edits, or files that git does not know."""
    return undoes(run) or _CLEAN.search(run.line) is not None


def stashes(run: Run) -> bool:
    """Whether a command throws nothing away but what it stashes."""
    return _STASH.search(run.line) is not None and _UNDO.search(_STASHED.sub("", run.line)) is None


def set_aside(story: Story, run: Run, until: Run) -> bool:
    """Whether what a command stashed was fetched again before another one."""
    fetched = (run, *between(story.runs, run.place, until.place))
    return stashes(run) and any(later.passed and _UNSTASH.search(later.line) for later in fetched)


def thrown_away(story: Story, run: Run) -> Sequence[Change]:
    """The edits that a git command undid: what was committed before, or stashed and fetched again, stays."""
    if not run.passed or not undoes(run):
        return ()
    after = between(story.runs, run.place - 1, story.runs[-1].place + 1)
    if _STASH.search(run.line) and any(later.passed and _UNSTASH.search(later.line) for later in after):
        return ()
    commits = (
        before.place
        for before in reversed(between(story.runs, -1, run.place))
        if before.passed and _COMMIT.search(before.line)
    )
    named = {operand for step in run.command.steps for operand in step.operands}
    whole = "." in named or "--hard" in run.line or "stash" in run.line or _ALL.search(run.line) is not None
    edits = between(story.changes, next(commits, -1), run.place)
    return [change for change in edits if whole or change.file in named]


def turned_back(changes: Sequence[Change]) -> list[tuple[Change, Change]]:
    """Edits that a later edit reversed exactly, with that edit; not those that were made again after it."""
    pairs: list[tuple[tuple[str, str, str], Change, Change]] = []
    standing: dict[tuple[str, str, str], Change] = {}
    for change in changes:
        sides = _sides(change)
        if sides is None:
            continue
        old, new = sides
        first = standing.pop((change.file, new, old), None)
        if first is None:
            standing[(change.file, old, new)] = change
        else:
            pairs.append(((change.file, new, old), first, change))
    return [(first, back) for key, first, back in pairs if key not in standing]


def written_over(changes: Sequence[Change]) -> frozenset[str]:
    """The ids of the edits of which a later one replaced every word."""
    return frozenset(past.id for past, _ in replacements(changes))


def replacements(changes: Sequence[Change]) -> list[tuple[Change, Change]]:
    """Edits of which a later one replaced every word, with the first that did."""
    pairs: dict[str, tuple[Change, Change]] = {}
    latest: dict[str, list[tuple[str, Change]]] = {}
    for change in changes:
        sides = _sides(change)
        if sides is None:
            continue
        old, new = sides
        before = latest.setdefault(change.file, [])
        for text, past in before[-RECENT:]:
            if text in old and text not in new:
                pairs.setdefault(past.id, (past, change))
        if new:
            before.append((new, change))
    return list(pairs.values())


def added(change: Change) -> str:
    """What an edit put into the file."""
    sides = _sides(change)
    return sides[1] if sides is not None else change.excerpt


def removed(change: Change) -> str:
    """What an edit took out of the file."""
    sides = _sides(change)
    return sides[0] if sides is not None else ""


def _sides(change: Change) -> tuple[str, str] | None:
    match = _EDIT.fullmatch(change.excerpt) if " … " not in change.excerpt else None
    return (match.group(1).strip(), match.group(2).strip()) if match is not None else None
