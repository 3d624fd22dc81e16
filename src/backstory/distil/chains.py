"""Failing runs of one command, and the run that ended them.

Two lines are the same trouble when they run the same program on the same things; a run answers a failure when
it covers what had failed, or, shortly after, is another spelling of it (`python` → `python3`, `docker` →
`podman`, `npm test` → `npm ci && npm test`).
"""

from dataclasses import dataclass, replace

from backstory.distil import shell
from backstory.distil.shell import Role
from backstory.distil.story import Run

NEAR = 4  # how many runs later another spelling of a failed command still counts as its answer
_GIVES_UP = frozenset({"--skip", "--abort", "--quit"})
OPEN = 40  # how many commands may be failing at once; older ones are no longer waited for


@dataclass(slots=True)
class Chain:
    """Failures of one command, and the run that ended them, if any."""

    failures: list[Run]
    cure: Run | None = None
    number: int = 0


def chains(runs: list[Run]) -> list[Chain]:
    """Group failing runs with the run that finally passed, oldest first."""
    waiting: list[Chain] = []
    done: list[Chain] = []
    for number, run in enumerate(runs):
        if run.passed and waiting and run.command.role is not Role.PROBE:
            for chain in [c for c in waiting if _answers(run, c.failures[-1], number - c.number)]:
                chain.cure = run
                waiting.remove(chain)
                done.append(chain)
        elif run.failed:
            chain = next((c for c in waiting if _same_trouble(run, c.failures[-1])), Chain([]))
            if not chain.failures:
                waiting.append(chain)
            chain.failures.append(run)
            chain.number = number
            if len(waiting) > OPEN:
                done.append(waiting.pop(0))
    return sorted(done + waiting, key=lambda chain: chain.failures[0].place)


def _same_trouble(run: Run, before: Run) -> bool:
    one, two = run.culprit, before.culprit
    if one is None or two is None or not shell.same_program(one, two):
        return False
    return (
        one.role not in {Role.RUN, Role.TEST}
        or shell.covers(one, two, before.text)
        or shell.covers(two, one, run.text)
    )


def _leaves_out(run: Run, before: Run) -> bool:
    """Whether a line does the same to fewer things: `git add` without the file that was refused."""
    for step in before.command.steps:
        if step.role is not Role.CHANGE or not step.operands:
            continue
        again = [each for each in run.command.steps if shell.same_program(each, step)]
        together = {operand for each in again for operand in each.operands}
        if again and not shell.covers(replace(again[0], operands=tuple(together)), step):
            return True
    return False


def _respelled(step: shell.Step, failed: shell.Step) -> bool:
    """Whether a command was given another way: the same subcommand, with nothing left out."""
    if not shell.same_program(step, failed) or failed.role not in {Role.CHANGE, Role.INSTALL, Role.BUILD}:
        return False
    if not step.verb and step.operands[:1] != failed.operands[:1]:
        return False
    return not failed.operands or failed.role is not Role.CHANGE or shell.covers(step, failed)


def _answers(run: Run, before: Run, distance: int) -> bool:
    failed = before.culprit
    if failed is None or _GIVES_UP.intersection(run.line.split()) or _leaves_out(run, before):
        return False
    for step in run.command.steps:
        if shell.covers(step, failed, before.text):
            return True
        if distance > NEAR or step.role is Role.PROBE:
            continue
        if _respelled(step, failed):
            return True
        if (
            step.program != failed.program
            and step.operands
            and step.operands == failed.operands
            and step.verb == failed.verb
        ):
            return True
    return False
