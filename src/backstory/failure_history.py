"""What fails here again and again, and what made it pass: one text for each command, over all sessions.

Told from what happened, not from what was said. The failures of commands with the same stem (`git commit`,
`mise run lint`) are put together by the shapes of their error lines. An error is told if it came back in
another session, or if no edit was needed to get past it: a command that ran in between, or another spelling
(the same command on other files is none).
What an edit cured and did not come back is development, not knowledge, and so is what programs of all sorts
say. An error is over when it has been away for three times as many sessions as it took to come; that of one
session also when the very command passed in a later one.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from backstory.distil.shell import Role, Step, parse
from backstory.distil.signatures import shape
from backstory.error_lines import cut_line, error_lines, informative
from backstory.hook import normalize
from backstory.hook.error_signature import is_generic, is_noise
from backstory.hook.remote_code import runs_remote_code
from backstory.hook.shell_programs import READERS
from backstory.store.records import Deed

#: What failed is put together over so many sessions.
OF_LATE = 60
_LINES, _LINE_CHARS = 3, 130  # of an output; of a line
_ERRORS = 3  # of a history
_TEXT_CHARS = 400
_COMMAND_CHARS = 80
_HELPERS = 2
_ADDRESS, _GIT = "://", "git "
_SEVERAL = 2
# An error is over when it has been away for so many times as long as it took to come, in sessions.
_AWAY = 3
_PLACE = re.compile(r"^(?:\[[\w:-]{1,40}\] )?\S{1,200}?:\d+(?::\d+)?:? ")
_FORMATS = re.compile(r"\b(?:format|fmt)\b(?! --check)|(?<!\S)--(?:fix|write)\b")
_HELPING = (Role.INSTALL, Role.CHANGE, Role.RUN, Role.BUILD)
_STEP_ENDS = re.compile(r"&&|\|\||[;\n]")
_FILE_OR_NUMBER = re.compile(r"[/\d]|\w\.\w")
_BOOKKEEPING = frozenset(("add", "commit", "push", "switch", "checkout", "branch", "fetch", "log", "info"))


@dataclass(slots=True)
class _Failure:
    """A run that failed, and what was done until its like passed in the same session."""

    stem: str
    deed: Deed
    lines: tuple[str, ...]
    ran: list[str] = field(default_factory=list)
    unclear: bool = False  # an edit, or what was fetched, may have helped
    passed: str = ""

    @property
    def remedy(self) -> str:
        """What made it pass, if only what was run can have."""
        if not self.passed or self.unclear:
            return ""
        own = normalize.command_stems(self.deed.target)
        helpers = [each for each in dict.fromkeys(self.ran) if each not in own]
        if helpers:
            return "passed after " + ", ".join(f"`{each}`" for each in helpers[-_HELPERS:])
        if parse(self.passed).folder != parse(self.deed.target).folder:
            return ""  # which folder it took, a lesson of that session tells
        way = _shown(self.passed)
        same = normalize.command_key(way) == normalize.command_key(_shown(self.deed.target))
        if same or runs_remote_code(way) or self._of_other_files():
            return ""
        return f"passed as `{way}`"

    def _of_other_files(self) -> bool:
        """Whether it passed only because it was given other files or numbers: no other way of calling it."""
        new = _words_of(self.stem, self.passed) - _words_of(self.stem, self.deed.target)
        given = {word for step in parse(self.passed).steps for word in step.operands}
        return bool(new) and all(word in given and _FILE_OR_NUMBER.search(word) for word in new)


@dataclass(frozen=True, slots=True)
class History:
    """The failures of one stem in words, in how many sessions it failed, and the last of them.

    `returned` is in how many sessions its commonest error came: one stem may fail for many reasons.
    """

    stem: str
    text: str
    seen: int
    last: Deed
    returned: int


@dataclass(frozen=True, slots=True)
class _Times:
    """When it was last so, in each session: that a stem `ran`, that a very command `passed`."""

    ran: dict[str, dict[str, int]] = field(default_factory=lambda: defaultdict(dict))
    passed: dict[str, dict[str, int]] = field(default_factory=lambda: defaultdict(dict))

    def passed_since(self, deed: Deed) -> bool:
        """Whether the very command passed in a later session."""
        passed = self.passed.get(normalize.command_key(deed.target), {})
        return any(at > deed.at for session, at in passed.items() if session != deed.session)


def failure_histories(deeds: Iterable[Deed]) -> list[History]:
    """One for each command that failed for a reason worth knowing, those of most sessions first.

    `deeds` come session by session, each in its order.
    """
    failures: dict[str, list[_Failure]] = defaultdict(list)
    times = _Times()
    for session, own in groupby(deeds, key=lambda deed: deed.session):
        for failure in _failures(list(own), session, times):
            failures[failure.stem].append(failure)
    found = (_history(stem, own, times) for stem, own in failures.items())
    return sorted(filter(None, found), key=lambda each: (-each.seen, -each.last.at))


def blamed_stem(command: str, error: str = "") -> str:
    """What a failed command has in common with its like; "" if it only looked at something."""
    step = parse(command).culprit(error)
    return _stem(command, step) if step is not None else ""


def _stem(command: str, step: Step) -> str:
    """The stem of a step as hooks know it."""
    if step.role is Role.PROBE or step.program in READERS:
        return ""
    stems = normalize.command_stems(command)
    words = {step.program, *filter(None, [step.verb])}
    return next((each for each in stems if words <= set(each.split())), "")


def _stems(command: str) -> list[str]:
    return [stem for step in parse(command).steps if (stem := _stem(command, step))]


def _helpers(command: str) -> list[str]:
    """The steps of a command that may have changed what another one meets."""
    return [
        stem
        for step in parse(command).steps
        if (step.role in _HELPING and step.verb not in _BOOKKEEPING) or _FORMATS.search(command)
        if (stem := _stem(command, step)) and stem.partition(" ")[2] not in _BOOKKEEPING
    ]


def _failures(deeds: Sequence[Deed], session: str, times: _Times) -> Iterator[_Failure]:
    """The failures of a session; of several in a row before its like passed, the first."""
    waiting: dict[str, _Failure] = {}
    for deed in deeds:
        if deed.action != "run":
            for failure in waiting.values():
                failure.unclear = True
            continue
        stems = _stems(deed.target)
        for stem in stems:
            times.ran[stem][session] = deed.at
        if deed.outcome == "failed":
            stem = blamed_stem(deed.target, deed.text)
            if stem and stem not in waiting and not is_noise(deed.text):
                waiting[stem] = _Failure(stem, deed, _lines(deed.text))
        elif deed.outcome == "ok":
            for failure in waiting.values() if _ADDRESS in deed.target else ():
                failure.unclear = True
            times.passed[normalize.command_key(deed.target)][session] = deed.at
            for stem in [each for each in stems if each in waiting]:
                failure = waiting.pop(stem)
                failure.passed = deed.target
                failure.ran += _helpers(deed.target)
                yield failure
            for failure in waiting.values():
                failure.ran += _helpers(deed.target)
    yield from waiting.values()


def _lines(output: str) -> tuple[str, ...]:
    """The lines of an output that say what went wrong, without where; none if none of them says enough."""
    lines = error_lines(output, _LINES).split(" / ")
    return tuple(_PLACE.sub("", line) for line in lines) if any(map(informative, lines)) else ()


def _history(stem: str, failures: Sequence[_Failure], times: _Times) -> History | None:
    """What is told of a stem; None if nothing about it is worth knowing."""
    last = max(failures, key=lambda each: each.deed.at)
    seen = len({each.deed.session for each in failures})
    ran = len(times.ran[stem])
    head = f"`{stem}` failed in {seen} of {ran} sessions" if ran > 1 else f"`{stem}` failed"
    text, errors = "", _errors(stem, failures, times)
    for _, error in errors:
        longer = f"{text}; {error}" if text else f"{head}: {error}"
        if not text or len(longer) <= _TEXT_CHARS:
            text = longer
    return History(stem, text, seen, last.deed, max(each for each, _ in errors)) if text else None


def _alike(failures: Sequence[_Failure]) -> dict[tuple[int, ...], list[str]]:
    """The lines that the same failures printed, by these failures' places."""
    shapes: dict[str, dict[int, str]] = defaultdict(dict)  # of an error, with its line in each failure
    for number, failure in enumerate(failures):
        before = ""
        for line in failure.lines:
            own = shape(line, failure.deed.branch if failure.stem.startswith(_GIT) else "")
            before = own if own.strip("§ ") else f"{before} §"  # a path alone belongs to the line before it
            shapes[before].setdefault(number, line)
    found: dict[tuple[int, ...], list[str]] = defaultdict(list)
    for printed in shapes.values():
        latest = printed[max(printed, key=lambda number: failures[number].deed.at)]
        found[tuple(printed)].append(cut_line(latest, _LINE_CHARS))
    return found


def _errors(stem: str, failures: Sequence[_Failure], times: _Times) -> list[tuple[int, str]]:
    """What went wrong, each error once with what helped and in how many sessions, those of most first."""
    found = []
    for numbers, lines in _alike(failures).items():
        own = [failures[number] for number in numbers]
        those, last = {each.deed.session for each in own}, max(each.deed.at for each in own)
        sessions = len(those)
        without = sum(at > last for session, at in times.ran[stem].items() if session not in those)
        gap = (len(times.ran[stem]) - without) / sessions
        if without >= _AWAY * gap or (sessions == 1 and times.passed_since(own[0].deed)):
            continue
        remedy = next((each.remedy for each in sorted(own, key=lambda e: -e.deed.at) if each.remedy), "")
        if remedy or (sessions >= _SEVERAL and not all(map(is_generic, lines))):
            facts = [f"{sessions} sessions"] if sessions >= _SEVERAL else []
            told = f'"{" / ".join(lines[:2])}" ({", ".join([*facts, *filter(None, [remedy])])})'
            found.append((sessions, last, told))
    return [(sessions, told) for sessions, _, told in sorted(found, reverse=True)[:_ERRORS]]


def _words_of(stem: str, command: str) -> set[str]:
    """The words of the steps of a command that have this stem, without what is typed into it."""
    steps = _STEP_ENDS.split(command.partition("<<")[0])
    return {word for step in steps if stem in normalize.command_stems(step) for word in step.split()}


def _shown(command: str) -> str:
    """A command in a few characters, without where it ran and where its output went."""
    return cut_line(parse(command).shown, _COMMAND_CHARS)
