"""Commands that work here: how this project is built, tested, checked and run."""

import re
from dataclasses import dataclass, field

from backstory.distil.shell import CHECKS, Role, Step, parse
from backstory.distil.signatures import signature, stem
from backstory.distil.story import Run, Story
from backstory.hook.remote_code import LEFT_OUT
from backstory.model import Draft, MemoryKind

MOST, LONGEST = 12, 120
# In the words in which somebody would ask for it.
_PURPOSES = {
    Role.TEST: "How to run the tests",
    Role.BUILD: "How to build",
    Role.LINT: "How to check the code (lint, format, types)",
    Role.RUN: "How to run",
    Role.INSTALL: "How to install",
}
_WRITTEN = re.compile(r"[|;]|^ssh |\s-c\s|<<|\b(?:for|if|while)\b")
_PART = re.compile(r"\s(?:--filter|-F|-w|--workspace|--prefix|-p|--package|--project)[ =](\S+)")
_SELECTS = re.compile(r" && |\s(?:-run|-k|-t|--testPathPattern|--grep)[ =]|::")


@dataclass(slots=True)
class Tally:
    """How one command line fared."""

    runs: list[Run] = field(default_factory=list)

    @property
    def passed(self) -> int:
        return sum(run.passed for run in self.runs)

    @property
    def failed(self) -> int:
        return sum(run.failed for run in self.runs)


def tally(runs: list[Run]) -> dict[str, Tally]:
    """Runs by the line as it is shown, so that repeats become a count (CMEM-27)."""
    counts: dict[str, Tally] = {}
    for run in runs:
        counts.setdefault(run.shown, Tally()).runs.append(run)
    return counts


def outcome(count: Tally) -> str:
    """A count as words, in the order in which it ended: "failed ×2, then ok"."""
    judged = [run for run in count.runs if run.passed or run.failed]
    if not judged:
        return "interrupted" if count.runs[-1].interrupted else "no result"
    totals = {"ok": count.passed, "failed": count.failed}
    last = "ok" if judged[-1].passed else "failed"
    order = [word for word in totals if word != last and totals[word]] + [last]
    return ", then ".join(f"{word} ×{totals[word]}" if totals[word] > 1 else word for word in order)


def commands(story: Story) -> list[Draft]:
    """Commands that passed last time and belong to the project, not to one moment: one for each stem."""
    by_stem: dict[str, Tally] = {}
    for run in story.runs:
        if run.command.main is not None and (run.passed or run.failed):
            part = _PART.search(run.shown)
            name = f"{stem(run.command.main)} {part.group(1) if part else ''}"
            by_stem.setdefault(name, Tally()).runs.append(run)
    drafts = [draft for name, count in by_stem.items() if (draft := _command(name, count)) is not None]
    drafts.sort(key=lambda draft: -draft.weight)
    return drafts[:MOST]


def _command(name: str, count: Tally) -> Draft | None:
    """The plainest line of a stem that passes, with how its runs fared."""
    plain = [run for run in count.runs if run.passed and _is_plain(run)]
    step = count.runs[-1].command.main
    if not plain or step is None or not count.runs[-1].passed:
        return None
    checks = step.role in CHECKS
    if not checks and not (step.role in {Role.RUN, Role.INSTALL} and count.passed > 1):
        return None
    run = min(plain, key=lambda run: (_narrow(run), len(run.shown), -run.at))
    where = f" (in {run.command.folder})" if run.command.folder else ""
    return Draft(
        MemoryKind.COMMAND,
        run.shown,
        f"{_PURPOSES[step.role]}: `{run.shown}`{where}: {outcome(count)}",
        count.runs[-1].at,
        tuple(each.id for each in count.runs[-5:]),
        detail=outcome(count),
        weight=1.0 + 0.1 * min(count.passed, 5) + (0.2 if checks else 0.0),
        turn=count.runs[-1].turn,
        signature=signature(name),
        times=count.passed,
        own_work=_narrow(run),
    )


def _is_plain(run: Run) -> bool:
    """Whether a line is one command, not a program or a pipe written for the moment."""
    line = run.shown
    return len(line) <= LONGEST and line != LEFT_OUT and not _WRITTEN.search(line)


def _narrow(run: Run) -> bool:
    step = run.command.main
    return step is not None and _is_part(step, run.shown)


def runs_a_part(line: str) -> bool:
    """Whether a line runs a part only (a file, a folder, a test by its name), or something else as well."""
    step = parse(line).main
    return step is not None and _is_part(step, line)


def _is_part(step: Step, line: str) -> bool:
    some = any(word.strip("./") and any(mark in word for mark in "/.:") for word in step.operands)
    return some or _SELECTS.search(line) is not None
