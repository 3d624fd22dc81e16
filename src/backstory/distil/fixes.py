"""Failure → what made it pass: the most useful thing that a session leaves behind.

Between the first failure of a command and the run that passed lie edits, installs, other commands, or only
another spelling. When nothing lies between, it was a flake, and there is no lesson.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Protocol, TypeVar

from backstory.distil import phrases
from backstory.distil.chains import Chain
from backstory.distil.failure import evidence
from backstory.distil.prose import sentences, shorten
from backstory.distil.refusals import intended, refusal
from backstory.distil.shell import CHECKS, Role, covers
from backstory.distil.story import Change, Run, Said, Story
from backstory.model import Draft, MemoryKind

CAUSE = phrases.Rule("cause")

_UNDO = re.compile(
    r"\bgit\s+(?:checkout\s+(?:-\w+\s+)*(?:HEAD\s+)?(?:--|\.)|restore\s+(?!--staged)|reset\s+--hard|revert\b"
    r"|stash(?!\s+(?:pop|list|show|apply)))"
)
_ERROR_WORD = re.compile(r"[a-z][a-z_]{2,}|[a-z]+\d{3,}")
#: A test that is switched off, in an added line; a test file that is removed.
_SKIP = re.compile(
    r"(?:^|\n)\+ (?:(?!\n- ).)*?(?:pytest\.mark\.(?:skip|xfail)|pytest\.skip\(|@unittest\.(?:skip|"
    r"expectedFailure)|"
    r"\b(?:it|test|describe)\.(?:skip|todo|fails)\b|\bx(?:it|describe|test)\(|\bt\.Skip\w*\(|#\[ignore|"
    r"@Disabled|@Ignore\b|"
    r"\bskip\s*[:=]\s*true|\[Fact\(Skip|continue-on-error: true)",
    re.DOTALL,
)
_DELETES = re.compile(r"\b(?:git\s+)?rm\s+(?:-\w+\s+)*\S*(?:test|spec)\S*", re.IGNORECASE)
STAGES = 4
_BOOKKEEPING = frozenset({"add", "commit", "push", "status"})


class Placed(Protocol):
    """Anything that stands somewhere in the session."""

    @property
    def place(self) -> int: ...


Item = TypeVar("Item", bound=Placed)


def between(items: Sequence[Item], start: int, end: int) -> Sequence[Item]:
    """What stands strictly between two places."""
    first = bisect_right(items, start, key=lambda item: item.place)
    return items[first : bisect_left(items, end, lo=first, key=lambda item: item.place)]


def lessons(story: Story, found: list[Chain]) -> list[Draft]:
    """What failed and how it was made to pass, each once."""
    drafts: dict[str, Draft] = {}
    for chain in found:
        for part in stages(story, chain):
            draft = _lesson(story, part)
            if draft is not None:
                drafts.setdefault(draft.subject, draft)
    return list(drafts.values())


def _lesson(story: Story, chain: Chain) -> Draft | None:
    first, cure = chain.failures[0], chain.cure
    errors = quoted_errors(chain)
    if cure is None or first.culprit is None or not errors or intended(story, first):
        return None
    changes = between(story.changes, first.place, cure.place)
    helpers = _helpers(story, first, cure)
    ways = _ways(chain, cure, changes, helpers)
    if not ways or _hides(chain, changes, helpers):
        return None
    verdict = refusal(story, cure, [*ways, *(c.excerpt for c in changes[-4:])])
    if verdict is not None:
        names = {c.file for c in changes}
        changes = [c for c in verdict.changes if c.file in names]
        if not changes:
            return None  # the user threw the fix out, and nothing took its place
        ways = [f"editing {file_names(changes)}, after the user refused the first fix"]
    excerpt = next((shorten(c.excerpt, 120) for c in reversed(changes) if c.excerpt and not c.created), "")
    text = f"`{first.shown}` failed: {errors} → fixed by {' and '.join(ways)}" + (
        f" ({excerpt})" if excerpt else ""
    )
    detail = [f"- failed ×{len(chain.failures)}: `{first.shown}`: {errors}"]
    detail.append(f"- its output: {evidence(first.text, first.error)}")
    detail += [f"- changed {c.file}: {shorten(c.excerpt, 200)}" for c in changes[-6:] if c.excerpt]
    detail += [f"- ran `{h.shown}`" for h in helpers[-6:]]
    detail.append(f"- {'passed' if cure.passed else 'got further'}: `{shorten(spelling(cure), 160)}`")
    ids = (
        [r.id for r in chain.failures[-6:]]
        + [c.id for c in changes[-8:]]
        + [h.id for h in helpers[-6:]]
        + [first.id, cure.id]
    )
    return Draft(
        MemoryKind.LESSON,
        f"fix:{first.culprit.name} {' '.join(first.culprit.operands)}"[:80] + f":{errors[:60]}",
        shorten(text, 420),
        cure.at,
        tuple(dict.fromkeys(ids)),
        detail="\n".join(detail),
        reason=cause_between(story.said, first.place, cure.place),
        files=unique(c.file for c in changes),
        weight=1.2,
        turn=cure.turn,
    )


def stages(story: Story, chain: Chain) -> list[Chain]:
    """One chain for each distinct error: what got past the first is not what got past the second.

    Where many errors follow each other the command was only groping, and the whole is one lesson.
    """
    if chain.cure is None:
        return []
    if any(undoes(run) for run in between(story.runs, chain.failures[0].place, chain.cure.place)):
        return [chain]
    parts: list[Chain] = [Chain([chain.failures[0]])]
    for before, run in pairwise(chain.failures):
        if distinct(before.error, run.error) and _something_done(story, before, run):
            parts[-1].cure = run
            parts.append(Chain([run]))
        else:
            parts[-1].failures.append(run)
    parts[-1].cure = chain.cure
    return parts if len(parts) <= STAGES else [chain]


def _something_done(story: Story, before: Run, run: Run) -> bool:
    return bool(between(story.changes, before.place, run.place) or spelling(run) != spelling(before))


def distinct(one: str, two: str) -> bool:
    """Whether two errors are of different kinds, and not one error with other numbers."""
    left, right = (set(_ERROR_WORD.findall(error.lower())) for error in (one, two))
    return bool(left and right) and len(left & right) * 2 < min(len(left), len(right))


def _ways(chain: Chain, cure: Run, changes: Sequence[Change], helpers: list[Run]) -> list[str]:
    first, last = chain.failures[0], chain.failures[-1]
    since = any(c.place > last.place for c in changes) or any(h.place > last.place for h in helpers)
    if not since and spelling(cure) != spelling(last):
        if cure.command.role in CHECKS and not _same_operands(cure, last):
            return []  # something else passed; nothing was fixed
        return [f"running it as `{shorten(spelling(cure), 140)}`"]
    if changes and any(undoes(helper) for helper in helpers):
        return []  # it passes again because the edits were given up
    ways: list[str] = []
    if changes:
        ways.append("editing " + file_names(changes))
    if helpers:
        ways.append("running " + ", ".join(f"`{h.shown}`" for h in helpers[-3:]))
    if ways and spelling(cure) != spelling(first) and cure.command.role not in CHECKS:
        ways.append(f"then running it as `{shorten(spelling(cure), 100)}`")
    return ways


def _hides(chain: Chain, changes: Sequence[Change], helpers: list[Run]) -> bool:
    """Whether the check passes because the failing part was skipped or deleted: that fixes nothing."""
    last = chain.failures[-1].place
    removed = any(_DELETES.search(helper.line) for helper in helpers if helper.place > last)
    return removed or any(_SKIP.search(change.excerpt) for change in changes if change.place > last)


def undoes(run: Run) -> bool:
    """Whether a command throws edits away."""
    return "git" in run.line and _UNDO.search(run.line) is not None


def _same_operands(one: Run, two: Run) -> bool:
    left, right = one.command.main, two.command.main
    return left is not None and right is not None and left.operands == right.operands


def spelling(run: Run) -> str:
    """The command with the folder it ran in."""
    folder = run.command.folder
    return f"cd {folder} && {run.shown}" if folder else run.shown


def quoted_errors(chain: Chain) -> str:
    """The distinct errors of a chain, the first and the last two of them."""
    found = list(dict.fromkeys(run.error for run in chain.failures if run.error))
    if len(found) > 3:
        found = [found[0], *found[-2:]]
    return ", then ".join(f'"{line}"' for line in found)


def _helpers(story: Story, first: Run, cure: Run) -> list[Run]:
    """Commands between failure and success that changed something."""
    failed = first.culprit
    assert failed is not None
    found = [
        run
        for run in between(story.runs, first.place, cure.place)
        if run.passed
        and (main := run.command.main) is not None
        and main.role in {Role.INSTALL, Role.CHANGE, Role.RUN}
        and main.verb not in _BOOKKEEPING
        and not any(covers(step, failed) for step in run.command.steps)
    ]
    installs = any(step.role is Role.INSTALL for step in cure.command.steps)
    if installs and not any(step.role is Role.INSTALL for step in first.command.steps):
        found.append(cure)
    return found


def file_names(changes: Sequence[Change]) -> str:
    """A few of the files changed last, and how many more there are."""
    names = unique(c.file for c in changes)
    shown = ", ".join(names[-4:])
    return shown if len(names) <= 4 else f"{shown} and {len(names) - 4} more"


def cause_between(said: Sequence[Said], start: int, end: int) -> str:
    """The last sentence between two places that names a cause."""
    for message in reversed(between(said, start, end)):
        if CAUSE.near(message.text):
            for sentence in reversed(sentences(message.text)):
                if not sentence.text.endswith(("?", ":")) and CAUSE.search(sentence.text):
                    return shorten(sentence.text, 240)
    return ""


def unique(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
