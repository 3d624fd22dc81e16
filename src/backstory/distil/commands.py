"""Commands that work here: how this project is built, tested, checked and run."""

from dataclasses import dataclass, field

from backstory.distil.shell import CHECKS, Role
from backstory.distil.story import Run, Story
from backstory.hook.remote_code import LEFT_OUT
from backstory.model import Draft, MemoryKind

MOST = 12


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
    """Commands that passed last time and belong to the project, not to one moment."""
    drafts: list[tuple[int, Draft]] = []
    for line, count in tally(story.runs).items():
        last, step = count.runs[-1], count.runs[-1].command.main
        if step is None or not last.passed or len(line) > 120 or line == LEFT_OUT:
            continue
        checks = step.role in CHECKS
        if not checks and not (step.role in {Role.RUN, Role.INSTALL} and count.passed > 1):
            continue
        if step.program == "python" and "-c" in line.split():
            continue
        folder = last.command.folder
        where = f" (in {folder})" if folder else ""
        draft = Draft(
            MemoryKind.COMMAND,
            line,
            f"{step.role.value}: `{line}`{where}: {outcome(count)}",
            last.at,
            tuple(run.id for run in count.runs[-5:]),
            detail=outcome(count),
            weight=1.0 + 0.1 * min(count.passed, 5),
            turn=last.turn,
        )
        drafts.append((count.passed + 2 * checks, draft))
    drafts.sort(key=lambda pair: -pair[0])
    return [draft for _, draft in drafts[:MOST]]
