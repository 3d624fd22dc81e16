"""Failure → what made it pass, and attempts that led nowhere.

A command that failed and later passed is the most useful thing a session leaves behind: the error, and
what was done in between. What never passed, what was undone, and what the user said does not work are
attempts: worth knowing so that nobody repeats them.
"""

import re
from dataclasses import dataclass

from backstory.distil import failure, phrases, shell
from backstory.distil.prose import sentences, shorten
from backstory.distil.shell import CHECKS, Role
from backstory.distil.story import Change, Run, Said, Story, Turn
from backstory.model import Draft, MemoryKind

CAUSE = phrases.compiled("cause")
DISSENT = phrases.compiled("dissent")
TROUBLE = phrases.compiled("trouble")

NEAR = 4  # how many runs later another spelling of a failed command still counts as its answer
_UNDO = re.compile(r"\bgit\s+(?:checkout\s+(?:HEAD\s+)?--|checkout\s+\.|restore\s+(?!--staged)|reset\s+--hard|revert\b|stash(?!\s+(?:pop|list|show|apply)))")
_EDIT = re.compile(r"- ((?:(?!\n[-+] ).)*)\n\+ ((?:(?!\n[-+] ).)*)", re.DOTALL)
_MISSING = re.compile(r"command not found|: not found|not recognized as|No such file or directory|No module named|executable file not found")


@dataclass(slots=True)
class Chain:
    """Failures of one command, and the run that ended them, if any."""

    failures: list[Run]
    cure: Run | None = None


def chains(runs: list[Run]) -> list[Chain]:
    """Group failing runs with the run that finally passed."""
    open_chains: list[Chain] = []
    done: list[Chain] = []
    for number, run in enumerate(runs):
        if run.passed:
            still: list[Chain] = []
            for chain in open_chains:
                last = chain.failures[-1]
                distance = sum(1 for r in runs[max(0, number - NEAR - 1) : number] if r.place > last.place)
                if _answers(run, last, distance):
                    chain.cure = run
                    done.append(chain)
                else:
                    still.append(chain)
            open_chains = still
        elif run.failed:
            for chain in open_chains:
                if _same_trouble(run, chain.failures[-1]):
                    chain.failures.append(run)
                    break
            else:
                open_chains.append(Chain([run]))
    return sorted(done + open_chains, key=lambda chain: chain.failures[0].place)


def culprit(run: Run) -> shell.Step | None:
    """The step of a failed line that failed: a check, or the one that the error names, or the main one."""
    main = run.command.main
    if main is None or main.role in CHECKS or len(run.command.steps) == 1:
        return main
    error = failure.telling_line(run.text)
    for step in run.command.steps:
        if step.role is not Role.PROBE and any(len(word) > 3 and word in error for word in (step.program, *step.operands)):
            return step
    return main


def _same_trouble(run: Run, before: Run) -> bool:
    one, two = culprit(run), culprit(before)
    if one is None or two is None:
        return False
    return shell.covers(one, two, before.text) or shell.covers(two, one, run.text) or (
        run.command.shown.split(" ")[0] == before.command.shown.split(" ")[0] and shell.same_program(one, two) and one.role is not Role.RUN
    )


def _answers(run: Run, before: Run, distance: int) -> bool:
    main = culprit(before)
    if main is None:
        return False
    for step in run.command.steps:
        if shell.covers(step, main, before.text):
            return True
        if distance > NEAR or step.role is Role.PROBE:
            continue
        if shell.same_program(step, main) and main.role in {Role.CHANGE, Role.INSTALL, Role.BUILD}:
            return True
        if step.program != main.program and step.operands and step.operands == main.operands and step.verb == main.verb:
            return True
    return False


def lessons(story: Story) -> list[Draft]:
    """What failed and how it was made to pass."""
    drafts: list[Draft] = []
    seen: set[str] = set()
    for chain in chains(story.runs):
        if chain.cure is None:
            continue
        draft = _lesson(story, chain)
        if draft is not None and draft.subject not in seen:
            seen.add(draft.subject)
            drafts.append(draft)
    covered = {change for draft in drafts for change in draft.sources}
    for draft in _reported(story, covered):
        if draft.subject not in seen:
            seen.add(draft.subject)
            drafts.append(draft)
    return drafts


def _lesson(story: Story, chain: Chain) -> Draft | None:
    first, last, cure = chain.failures[0], chain.failures[-1], chain.cure
    assert cure is not None
    errors = _errors(chain)
    changes = [c for c in story.changes if first.place < c.place < cure.place]
    helpers = _helpers(story, first, cure)
    respelled = _spelling(cure) != _spelling(first)
    since = [item for item in (*changes, *helpers) if item.place > last.place]
    ways: list[str] = []
    if not since and _spelling(cure) != _spelling(last):
        if cure.command.role in CHECKS and not _same_operands(cure, last):
            return None  # something else passed; nothing was fixed
        ways.append(f"running it as `{shorten(_spelling(cure), 140)}`")
        respelled = False
    if changes and (since or not ways):
        ways.append("editing " + _files(changes))
    if helpers and (since or not ways):
        ways.append("running " + ", ".join(f"`{h.shown}`" for h in helpers[-3:]))
    if not ways or not errors:
        return None
    if respelled and cure.command.role not in CHECKS:
        ways.append(f"then running it as `{shorten(_spelling(cure), 100)}`")
    cause = _cause(story.said, first.place, cure.place)
    command = culprit(first)
    assert command is not None
    text = f"`{first.shown}` failed: {errors} → fixed by {' and '.join(ways)}"
    excerpt = _excerpt(changes)
    detail = "\n".join(
        [f"- failed ×{len(chain.failures)}: `{first.shown}`: {errors}"]
        + [f"- changed {c.file}: {shorten(c.excerpt, 200)}" for c in changes[-6:] if c.excerpt]
        + [f"- ran `{h.shown}`" for h in helpers]
        + [f"- passed: `{shorten(_spelling(cure), 160)}`"]
    )
    ids = [r.id for r in chain.failures] + [c.id for c in changes[-8:]] + [h.id for h in helpers] + [cure.id]
    return Draft(
        MemoryKind.LESSON,
        f"fix:{command.name} {' '.join(command.operands)}"[:80] + f":{errors[:60]}",
        shorten(text + (f" ({excerpt})" if excerpt else ""), 420),
        cure.at,
        tuple(dict.fromkeys(ids)),
        detail=detail,
        reason=cause,
        files=_unique(c.file for c in changes),
        weight=1.2,
        turn=cure.turn,
    )


def _same_operands(one: Run, two: Run) -> bool:
    left, right = one.command.main, two.command.main
    return left is not None and right is not None and left.operands == right.operands


def _spelling(run: Run) -> str:
    """The command with the folder it ran in."""
    folder = run.command.folder
    return f"cd {folder} && {run.shown}" if folder else run.shown


def _errors(chain: Chain) -> str:
    found: list[str] = []
    for run in chain.failures:
        line = failure.telling_line(run.text)
        if line and line not in found:
            found.append(line)
    if len(found) > 3:
        found = [found[0], *found[-2:]]
    return ", then ".join(f'"{line}"' for line in found)


def _helpers(story: Story, first: Run, cure: Run) -> list[Run]:
    """Commands between failure and success that changed something."""
    main = culprit(first)
    found = [
        run
        for run in story.runs
        if first.place < run.place < cure.place
        and run.passed
        and any(step.role in {Role.INSTALL, Role.CHANGE, Role.RUN} for step in run.command.steps)
        and not any(main is not None and shell.covers(step, main) for step in run.command.steps)
        and run.command.main is not None
        and (run.command.main.role is not Role.CHANGE or run.command.main.verb not in {"add", "commit", "push"})
    ]
    extra = [step for step in cure.command.steps if step.role is Role.INSTALL]
    if extra and not any(step.role is Role.INSTALL for step in first.command.steps):
        found.append(cure)
    return found


def _files(changes: list[Change]) -> str:
    names = _unique(c.file for c in changes)
    shown = ", ".join(names[-4:])
    return shown if len(names) <= 4 else f"{shown} and {len(names) - 4} more"


def _excerpt(changes: list[Change]) -> str:
    edits = [c for c in changes if not c.created and c.excerpt]
    return shorten(edits[-1].excerpt, 120) if edits else ""


def _cause(said: list[Said], start: int, end: int) -> str:
    """The last sentence between two places that names a cause."""
    best = ""
    for message in said:
        if start < message.place < end and CAUSE.search(message.text):
            for sentence in sentences(message.text):
                if CAUSE.search(sentence.text) and not sentence.text.endswith("?"):
                    best = sentence.text
    return shorten(best, 240)


def _reported(story: Story, covered: set[str]) -> list[Draft]:
    """The user reported trouble, the assistant named the cause and changed files, and nobody objected."""
    drafts: list[Draft] = []
    turns = [turn for turn in story.turns if turn.ask]
    report = ""
    for turn, after in zip(turns, [*turns[1:], None], strict=False):
        if not TROUBLE.search(turn.ask[:2_000]):
            report = ""
            continue
        if not report or not DISSENT.search(turn.ask[:400]):
            report = _report(turn)
        if not turn.changes or not turn.ended or (after is not None and objects(after, turn)):
            continue
        if any(change.id in covered for change in turn.changes):
            continue
        cause = _cause(turn.said, turn.ask_place, turn.said[-1].place + 1) if turn.said else ""
        if not cause:
            continue
        drafts.append(
            Draft(
                MemoryKind.LESSON,
                f"report:{report[:80]}",
                shorten(f"Reported: {report} → {cause} Changed {_files(turn.changes)}", 420),
                turn.at,
                (turn.ask_id, *(c.id for c in turn.changes[-8:])),
                reason=cause,
                files=_unique(c.file for c in turn.changes),
                weight=1.0,
                turn=turn.number,
            )
        )
    return drafts


def objects(after: Turn, turn: Turn) -> bool:
    """Whether the next prompt says that it did not work, in words or by showing the same error again."""
    if DISSENT.search(after.ask[:400]):
        return True
    error = _error_of(after.ask)
    return bool(error) and error == _error_of(turn.ask)


def _error_of(ask: str) -> str:
    """The first line of a pasted report, without its numbers."""
    line = ask.split("\n", 1)[0]
    return re.sub(r"\d+", "", line)[:80] if "\n" in ask and len(line) > 5 else ""


def _report(turn: Turn) -> str:
    for sentence in sentences(turn.ask[:2_000]):
        if TROUBLE.search(sentence.text):
            return shorten(sentence.text, 160)
    return shorten(failure.telling_line(turn.ask[:2_000]) or turn.ask, 160)


def attempts(story: Story) -> list[Draft]:
    """What was tried in vain."""
    drafts = [draft for chain in chains(story.runs) if (draft := _never_passed(story, chain))]
    drafts += _undone(story)
    drafts += _objected(story)
    seen: set[str] = set()
    return [d for d in drafts if not (d.subject in seen or seen.add(d.subject))]  # type: ignore[func-returns-value]


def _never_passed(story: Story, chain: Chain) -> Draft | None:
    last = chain.failures[-1]
    step = last.command.main
    error = _errors(chain)
    if chain.cure is not None or step is None or not error:
        return None
    if step.role not in CHECKS and len(chain.failures) < 2 and step.role is not Role.RUN and step.role is not Role.INSTALL:
        return None
    count = f" ×{len(chain.failures)}" if len(chain.failures) > 1 else ""
    changes = [c for c in story.changes if chain.failures[0].place < c.place < last.place]
    tried = f" (tried editing {_files(changes)})" if changes else ""
    return Draft(
        MemoryKind.ATTEMPT,
        f"failed:{step.name} {' '.join(step.operands)}"[:120],
        shorten(f"`{last.shown}` failed{count} and never passed: {error}{tried}", 360),
        last.at,
        tuple(run.id for run in chain.failures[-8:]),
        files=_unique(c.file for c in changes),
        weight=1.1,
        turn=last.turn,
    )


def _undone(story: Story) -> list[Draft]:
    """Edits that git threw away, or that a later edit turned back."""
    drafts: list[Draft] = []
    for run in story.runs:
        if not run.passed or not _UNDO.search(run.line):
            continue
        named = {operand for step in run.command.steps for operand in step.operands}
        lost = [c for c in story.changes if c.place < run.place and (c.file in named or named & {".", "HEAD"} or "--hard" in run.line)]
        if lost:
            names = _files(lost)
            drafts.append(
                Draft(
                    MemoryKind.ATTEMPT, f"undone:{names}"[:120], f"Edits to {names} were undone by `{shorten(run.shown, 80)}`",
                    run.at, tuple(dict.fromkeys([*(c.id for c in lost[-4:]), run.id])), files=_unique(c.file for c in lost), turn=run.turn,
                )
            )
    before: dict[tuple[str, str, str], Change] = {}
    for change in story.changes:
        old, new = _sides(change.excerpt)
        if not old or not new:
            continue
        first = before.pop((change.file, new, old), None)
        if first is None:
            before[(change.file, old, new)] = change
            continue
        drafts.append(
            Draft(
                MemoryKind.ATTEMPT, f"undone:{change.file}:{new[:40]}",
                f"An edit of {change.file} was tried and turned back: {shorten(first.excerpt, 160)}",
                change.at, (first.id, change.id), files=(change.file,), turn=change.turn,
            )
        )
    return drafts


def _sides(excerpt: str) -> tuple[str, str]:
    """What an edit took out and put in, when it is a single edit that is shown whole."""
    match = _EDIT.fullmatch(excerpt)
    return (match.group(1).strip(), match.group(2).strip()) if match and " … " not in excerpt else ("", "")


def _objected(story: Story) -> list[Draft]:
    """Edits after which the user said that it does not work."""
    drafts: list[Draft] = []
    turns = [turn for turn in story.turns if not turn.empty]
    for before, turn in zip(turns, turns[1:], strict=False):
        if not before.changes or not turn.ask or not objects(turn, before):
            continue
        words = next((s.text for s in sentences(turn.ask[:600]) if DISSENT.search(s.text)), _report(turn))
        names = _files(before.changes)
        drafts.append(
            Draft(
                MemoryKind.ATTEMPT, f"objected:{turn.number}",
                shorten(f"After edits to {names} the user said: “{shorten(words, 160)}”", 320),
                turn.at, (*(c.id for c in before.changes[-4:]), turn.ask_id),
                said_by="user", files=_unique(c.file for c in before.changes), weight=1.3, turn=turn.number,
            )
        )
    return drafts


def _unique(names: object) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))  # type: ignore[call-overload]
