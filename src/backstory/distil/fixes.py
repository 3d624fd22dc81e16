"""Failure → what made it pass: the most useful thing that a session leaves behind.

Between the first failure of a command and the run that passed lie edits, installs, other commands, or only
another spelling. When nothing lies between, it was a flake, and there is no lesson. Without a line that says
what went wrong, or a cause, there is none either. Edits that did not stay, or that the assistant
calls vain, are no part of the fix; an error that another one followed only went away.
What throws work away fixes nothing, though it may turn a check green; and the number of a process or a lock
is another one the next time, so it is not told.
"""

import re
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise

from backstory.distil import phrases
from backstory.distil.chains import Chain
from backstory.distil.failure import evidence
from backstory.distil.prose import content_words, sentences, shorten
from backstory.distil.refusals import intended, refusal
from backstory.distil.shell import CHECKS, Role, covers
from backstory.distil.signatures import shape, signature, stem
from backstory.distil.story import Change, Run, Said, Story, between
from backstory.distil.turns import as_name
from backstory.distil.undone import (
    discards,
    given_up,
    set_aside,
    stashes,
    thrown_away,
    turned_back,
    undoes,
    written_over,
)
from backstory.distil.vain import called_vain
from backstory.error_lines import informative
from backstory.model import Draft, MemoryKind

CAUSE = phrases.Rule("cause")

_ERROR_WORD = re.compile(r"[a-z][a-z_]{2,}|[a-z]+\d{3,}")
#: A test that is switched off, in an added line; a test file that is removed.
_SKIP = re.compile(
    r"(?:^|\n)\+ (?:(?!\n[-+] ).)*?(?:pytest\.mark\.(?:skip|xfail)|pytest\.skip\(|@unittest\.(?:skip|"
    r"expectedFailure)|"
    r"\b(?:it|test|describe)\.(?:skip|todo|fails)\b|\bx(?:it|describe|test)\(|\bt\.Skip\w*\(|#\[ignore|"
    r"@Disabled|@Ignore\b|"
    r"\bskip\s*[:=]\s*true|\[Fact\(Skip|continue-on-error: true)",
    re.DOTALL,
)
_DELETES = re.compile(r"\b(?:git\s+)?rm\s+(?:-\w+\s+)*\S*(?:test|spec)\S*", re.IGNORECASE)
_ROW, _LEAST = 420, 100  # characters of a lesson, and of what failed at least
_CAUSE_WORDS = 2  # "I see the issue." names none
_ANNOUNCES = re.compile(r"(?:now |then |ok,? |so )*(?:let me|i'?ll|i will|let'?s)\b", re.IGNORECASE)
STAGES = 4  # so many errors in a row are told one by one
FIXED, PAST = "fix:", "past:"  # how the subjects begin: the command passed, or only met the next error
_BOOKKEEPING = frozenset(
    {"add", "commit", "push", "status", "switch", "checkout", "branch", "fetch", "log", "info"}
)
_LOOKING = frozenset({"nl", "for", "while", "if", "mise"})
_MISSING = re.compile(r"command not found|: not found|not recognized", re.IGNORECASE)
#: Ids that are gone with what they named: processes and jobs, locks, containers.
_PASSING = (
    (
        re.compile(r"(\bkill(?:\s++-s\s++\w+|\s++-\w+){0,6})(?:\s++%?\d+(?![\w.>]))+", re.IGNORECASE),
        r"\1 <pid>",
    ),
    (re.compile(r"((?:/PID|\s-Id)\s+)\d+\b", re.IGNORECASE), r"\1<pid>"),
    (re.compile(r"(\bpg_(?:terminate|cancel)_backend\()\d+", re.IGNORECASE), r"\1<pid>"),
    (re.compile(r"(\bforce-unlock(?:\s++-\S++){0,9}\s++)[\w\"'][^\s;&|]*"), r"\1<id>"),
    (
        re.compile(
            r"(\b(?:docker|podman)\s+(?:container\s+)?(?:stop|rm|kill|restart)(?:\s++-\S++){0,9})"
            r"(?:\s++(?=\D{0,64}\d)[0-9a-f]{12,64}\b)+"
        ),
        r"\1 <id>",
    ),
)


def lessons(story: Story, found: list[Chain]) -> list[Draft]:
    """What failed and how it was made to pass, each once."""
    drafts: dict[str, Draft] = {}
    gone = given_up(story)
    for chain in found:
        if chain.cure is None:
            continue
        edits = between(story.changes, chain.failures[0].place, chain.cure.place)
        lost = gone | written_over(edits) | called_vain(story, chain).keys()
        for part in stages(story, chain, lost):
            draft = _lesson(story, part, lost)
            if draft is not None:
                drafts.setdefault(draft.subject, draft)
    return list(drafts.values())


def _lesson(story: Story, chain: Chain, lost: AbstractSet[str]) -> Draft | None:
    first, cure = chain.failures[0], chain.cure
    errors = quoted_errors(chain)
    if cure is None or first.culprit is None or not errors or intended(story, first):
        return None
    changes = _kept(story, chain, lost)
    helpers = helping(story, first, cure)
    ways = _ways(story, chain, changes)
    if not ways or _hides(chain, changes, helpers):
        return None
    verdict = refusal(story, cure, [*ways, *(c.excerpt for c in changes[-4:])])
    if verdict is not None:
        names = {c.file for c in changes}
        changes = [c for c in verdict.changes if c.file in names]
        if not changes:
            return None  # the user threw the fix out, and nothing took its place
        ways = [f"editing {file_names(changes)}, after the user refused the first fix"]
    cause = cause_between(story.said, first.place, cure.place)
    if not cause and not any(informative(run.error) for run in chain.failures):
        return None
    excerpt = next((shorten(c.excerpt, 120) for c in reversed(changes) if c.excerpt and not c.created), "")
    outcome = "fixed by" if cure.passed else "went away after"
    remedy = f"{outcome} {' and '.join(ways)}"
    rest = f". Cause: {cause}" if cause else f" ({excerpt})" if excerpt else ""
    rest += "" if cure.passed else f', then: "{cure.error}"'
    text = _told(f"`{first.shown}` failed: {errors}", remedy, rest)
    detail = [f"- failed ×{len(chain.failures)}: `{first.shown}`: {errors}"]
    detail.append(f"- its output: {evidence(first.text, first.error)}")
    detail += [f"- changed {c.file}: {shorten(c.excerpt, 200)}" for c in changes[-6:] if c.excerpt]
    detail += [f"- ran `{_lasting(h.shown)}`" for h in helpers[-6:] if not discards(h)]
    detail.append(
        f"- {'passed' if cure.passed else 'got further'}: `{shorten(_lasting(spelling(cure)), 160)}`"
    )
    ids = (
        [r.id for r in chain.failures[-6:]]
        + [c.id for c in changes[-8:]]
        + [h.id for h in helpers[-6:]]
        + [first.id, cure.id]
    )
    return Draft(
        MemoryKind.LESSON,
        f"{FIXED if cure.passed else PAST}{first.culprit.name} {' '.join(first.culprit.operands)}"[:80]
        + f":{errors[:60]}",
        text,
        cure.at,
        tuple(dict.fromkeys(ids)),
        detail="\n".join(detail),
        reason=cause,
        files=unique(c.file for c in changes),
        weight=1.2 if cure.passed else 1.0,
        turn=cure.turn,
        signature=signature(stem(first.culprit), _shape_of(first), *_installed(helpers)),
        times=len(chain.failures),
        own_work=_own_work(story, first, changes),
    )


def _shape_of(failed: Run) -> str:
    """The shape of its error; git's own errors name the branch that it ran on."""
    of_git = failed.culprit is not None and failed.culprit.program == "git"
    return shape(failed.error, failed.branch if of_git else "")


def _installed(helpers: Sequence[Run]) -> list[str]:
    """What was installed to make it pass: another thing missing is another lesson."""
    return sorted({h.shown for h in helpers if h.command.role is Role.INSTALL})


def _own_work(story: Story, first: Run, changes: Sequence[Change]) -> bool:
    """Whether the fix lies in what this session had been writing when it failed: unfinished, not unknown."""
    written = {change.file for change in story.changes if change.place < first.place}
    return any(change.file in written for change in changes)


def _told(failed: str, remedy: str, rest: str) -> str:
    """A lesson in one row. What helped stands whole: the error gives room, then what is told besides."""
    room = _ROW - len(" → ") - len(remedy)
    if len(failed) + len(rest) > room:
        rest = rest if len(rest) < room // 2 else ""
        failed = shorten(failed, max(room - len(rest), _LEAST))
    return f"{failed} → {shorten(remedy, _ROW - _LEAST)}{rest}"


def stages(story: Story, chain: Chain, lost: AbstractSet[str]) -> list[Chain]:
    """One chain for each distinct error: what got past the first is not what got past the second.

    Where many errors follow each other the command was only groping, and the whole is one lesson. Where
    nothing of what got past an error stayed, the error belongs to the next stage.
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
    if len(parts) > STAGES:
        return [chain]
    for part, after in pairwise(parts):
        edits = between(story.changes, part.failures[0].place, after.failures[0].place)
        if edits and not _ways(story, part, _kept(story, part, lost)):
            after.failures = [*part.failures, *after.failures]
            part.cure = None
    return [part for part in parts if part.cure is not None]


def _kept(story: Story, chain: Chain, lost: AbstractSet[str]) -> Sequence[Change]:
    """The edits of a chain that count: not those that did not stay, nor those that only took such back."""
    assert chain.cure is not None
    changes = between(story.changes, chain.failures[0].place, chain.cure.place)
    backs = {back.id for _, back in turned_back(changes)}
    return [change for change in changes if change.id not in lost and change.id not in backs]


def _something_done(story: Story, before: Run, run: Run) -> bool:
    respelled = run.command.role not in CHECKS and spelling(run) != spelling(before)
    return respelled or bool(between(story.changes, before.place, run.place))


def distinct(one: str, two: str) -> bool:
    """Whether two errors are of different kinds, and not one error with other numbers."""
    left, right = (set(_ERROR_WORD.findall(error.lower())) for error in (one, two))
    return bool(left and right) and len(left & right) * 2 < min(len(left), len(right))


def _ways(story: Story, chain: Chain, changes: Sequence[Change]) -> list[str]:
    first, last, cure = chain.failures[0], chain.failures[-1], chain.cure
    assert cure is not None
    if discards(cure) and not _for_git(first, cure):
        return []
    helpers = helping(story, first, cure)
    since = between(story.changes, last.place, cure.place) or any(h.place > last.place for h in helpers)
    missing = _MISSING.search(first.error) is not None and cure.shown != last.shown
    if (not since or missing) and spelling(cure) != spelling(last):
        if cure.command.role in CHECKS and not _same_operands(cure, last):
            return []  # something else passed; nothing was fixed
        return [f"running it as `{shorten(_lasting(spelling(cure)), 140)}`"]
    undone = [helper for helper in helpers if discards(helper)]
    edited = between(story.changes, first.place, cure.place)
    if edited and undone and not (changes and all(thrown_away(story, helper) for helper in undone)):
        return []  # it passes again because the edits were given up
    if not edited:
        undone = [h for h in undone if not _for_git(first, h) and not set_aside(story, h, cure)]
        if any(thrown_away(story, helper) for helper in undone):
            return []  # it passes again because what was edited before it failed was given up
    helpers = [helper for helper in helpers if helper not in undone]
    ways: list[str] = []
    if changes:
        ways.append("editing " + file_names(changes))
    if helpers:
        ways.append("running " + ", ".join(f"`{_lasting(h.shown)}`" for h in helpers[-3:]))
    if ways and spelling(cure) != spelling(first) and cure.command.role not in CHECKS:
        ways.append(f"then running it as `{shorten(_lasting(spelling(cure)), 100)}`")
    return ways


def _for_git(failed: Run, run: Run) -> bool:
    """Whether it was git that failed, and work was stashed out of its way."""
    return failed.culprit is not None and failed.culprit.program == "git" and stashes(run)


def _lasting(line: str) -> str:
    """A command without the ids that will be others the next time: `kill <pid>`."""
    for pattern, blank in _PASSING:
        line = pattern.sub(blank, line)
    return line


def _hides(chain: Chain, changes: Sequence[Change], helpers: list[Run]) -> bool:
    """Whether the check passes because the failing part was skipped or deleted: that fixes nothing."""
    last = chain.failures[-1].place
    removed = any(_DELETES.search(helper.line) for helper in helpers if helper.place > last)
    return removed or any(_SKIP.search(change.excerpt) for change in changes if change.place > last)


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


def helping(story: Story, first: Run, cure: Run) -> list[Run]:
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
        and (main.program not in _LOOKING or main.role is Role.INSTALL)
        and not any(covers(step, failed) for step in run.command.steps)
    ]
    installs = any(step.role is Role.INSTALL for step in cure.command.steps)
    if installs and not any(step.role is Role.INSTALL for step in first.command.steps):
        found.append(cure)
    return found


def file_names(changes: Sequence[Change]) -> str:
    """A few of the files changed last, and how many more there are."""
    names = [as_name(name) for name in unique(c.file for c in changes)]
    shown = ", ".join(names[-4:])
    return shown if len(names) <= 4 else f"{shown} and {len(names) - 4} more"


def cause_between(said: Sequence[Said], start: int, end: int) -> str:
    """The last sentence between two places that names a cause, and not only that there is one."""
    for message in reversed(between(said, start, end)):
        if CAUSE.near(message.text):
            for sentence in reversed(sentences(message.text)):
                text = sentence.text
                if text.endswith(("?", ":")) or not CAUSE.search(text) or _ANNOUNCES.match(text):
                    continue
                if len(content_words(text)) >= _CAUSE_WORDS:
                    return shorten(text, 240)
    return ""


def unique(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
