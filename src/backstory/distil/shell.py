"""Command lines, read far enough to tell what they are for and when two of them are the same.

`cd app && CI=1 npx jest -x src/a.test.ts 2>&1 | tail -20` is the test runner `jest` on one file, run
in `app`. Flags, wrappers, environment and pipes into pagers do not change what a command is.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from backstory.distil.programs import (
    ALIASES,
    CHECKS,
    PROGRAMS,
    RUNNERS,
    SETUP,
    TASK_RUNNERS,
    VALUE_FLAGS,
    VERBS,
    WHOLE_TREE,
    WRAPPERS,
    Role,
    role_of,
)
from backstory.hook.remote_code import LEFT_OUT, runs_remote_code

__all__ = ["CHECKS", "Command", "Role", "Step", "covers", "parse", "same_program"]

READ = 600  # how many characters of a line are read

_TOKEN = re.compile(
    r"\s*(?:(?P<op>&&|\|\||\|&?|;|\n)|(?P<redirect>\d?(?:>>?|<)(?:&\d|\s*[^\s;&|]+)|&>\s*\S+)|(?P<amp>&)"
    r"|(?P<word>(?:'[^']*'|\"(?:\\.|[^\"\\])*\"|\$\([^()]*\)|\\.|[^\s'\"|&;<>\\])+)|(?P<other>.))",
    re.DOTALL,
)
_HEREDOC = re.compile(r"<<-?\s*['\"]?\w+")
_ENV = re.compile(r"[A-Za-z_]\w*=")
_VERSION = re.compile(r"(?<=[a-z])[\d.]+$")
_LEAD = re.compile(r"^\s*+(?:(?:cd|export|source|\.)\s++[^;&|]++|set\s++-\w++\s*+)(?:&&|;)\s*+")
_TAIL = re.compile(
    r"(?:(?<!\s)\s++)?(?:2>&1|[\d&]?>\s*+/dev/null|\|\s*+(?:tail|head|tee|cat|less|more|grep|rg|sed|awk|sort|wc)\b[^|]*+"
    r"|\|\|\s*+(?:true|echo\b[^|]*+))\s*+$"
)
_KEYWORDS = frozenset({"(", "{", "!", "do", "then", "else"})
_EVERYTHING = frozenset({".", "...", "./...", "all"})


@dataclass(frozen=True, slots=True)
class Step:
    """One simple command of a line: program and verb say what, operands say on what."""

    program: str
    verb: str
    operands: tuple[str, ...]
    role: Role

    @property
    def name(self) -> str:
        return f"{self.program} {self.verb}".strip()

    def named_in(self, error: str) -> int:
        """How long a word of this step the error names."""
        words = (self.program, *self.operands)
        return max((len(word) for word in words if len(word) > 3 and word in error), default=0)


@dataclass(frozen=True, slots=True)
class Command:
    """A command line: how it is shown, its steps, where it ran, and whether its exit code was hidden."""

    shown: str
    steps: tuple[Step, ...]
    main: Step | None
    folder: str
    masked: bool

    @property
    def role(self) -> Role:
        return self.main.role if self.main else Role.PROBE

    def culprit(self, error: str) -> Step | None:
        """The step that failed: a check, or the one that the error names, or the main one."""
        if self.main is None or self.main.role in CHECKS or len(self.steps) == 1:
            return self.main
        steps = [self.main, *(step for step in self.steps if step.role is not Role.PROBE)]
        return max(steps, key=lambda step: step.named_in(error))  # of equals the first: the main one


def without_heredoc(line: str) -> str:
    """A command line up to the body of its first heredoc."""
    heredoc = _HEREDOC.search(line)
    return line[: heredoc.end()] if heredoc else line


@lru_cache(maxsize=4_096)
def parse(line: str) -> Command:
    """Read a command line; a heredoc's body is not read."""
    head = without_heredoc(line)[:READ]
    steps: list[Step] = []
    words: list[str] = []
    folder, masked, pipe = "", False, False
    for match in _TOKEN.finditer(head.replace("\\\n", " ")):
        operator = match.group("op") or match.group("amp")
        if operator:
            folder = _close(words, steps, folder, pipe)
            words = []
            pipe = operator.startswith("|") and operator != "||"
            masked = masked or pipe or operator in {"||", ";"}
        elif (word := match.group("word")) is not None:
            words.append(word)
    folder = _close(words, steps, folder, pipe)
    shown = LEFT_OUT if runs_remote_code(line) else _shown(head)
    return Command(shown, tuple(steps), _main(steps), folder, masked)


def _main(steps: list[Step]) -> Step | None:
    """The step that a line is about: its last check, else its last step that is no probe."""
    for step in reversed(steps):
        if step.role in CHECKS:
            return step
    return next((s for s in reversed(steps) if s.role is not Role.PROBE), steps[-1] if steps else None)


def _close(words: list[str], steps: list[Step], folder: str, piped: bool) -> str:
    """Turn collected words into a step; give back the folder that a `cd` leads to."""
    while words and (_ENV.match(words[0]) or words[0] in _KEYWORDS):
        words = words[1:]
    if not words:
        return folder
    if words[0] in {"cd", "pushd"}:
        return words[1].strip("'\"") if len(words) > 1 else folder
    if words[0] not in SETUP and not (piped and steps):
        step = _step(_unwrapped([words[0].lstrip("("), *words[1:]]))
        if step is not None:
            steps.append(step)
    return folder


def _unwrapped(words: list[str]) -> list[str]:
    """Without `sudo`, `timeout 60`, `uv run`, `NAME=value` in front."""
    while words:
        head = words[0].rsplit("/", 1)[-1]
        if head == "timeout":
            words = _past_flags(words[1:])[1:]
        elif head in WRAPPERS:
            words = _past_flags(words[1:])
        elif head in RUNNERS and words[1:2] == [RUNNERS[head]]:
            words = _past_flags(words[2:])
        elif _ENV.match(words[0]):
            words = words[1:]
        else:
            break
    return words


def _past_flags(words: list[str]) -> list[str]:
    at = next((at for at, word in enumerate(words) if not word.startswith("-")), len(words))
    return words[at:]


def _step(words: list[str]) -> Step | None:
    if not words or not words[0]:
        return None
    raw, rest = words[0].strip("'\""), words[1:]
    program = raw.rsplit("/", 1)[-1]
    if raw.startswith(("./", "../")) and program not in PROGRAMS:
        return Step(raw, "", tuple(_operand(word) for word in rest if not word.startswith("-")), Role.RUN)
    if program.startswith(("python", "pip")):
        program = _VERSION.sub("", program)
    program = ALIASES.get(program, program)
    if program == "python" and "-m" in rest[:3]:
        at = rest.index("-m")
        module = "".join(rest[at + 1 : at + 2]).rsplit(".", 1)[-1]
        program, rest = ALIASES.get(module, module), rest[at + 2 :]
    flags = VALUE_FLAGS.get(program, frozenset())
    operands = [
        word.strip("'\"")
        for at, word in enumerate(rest)
        if not word.startswith("-") and not (flags and at and rest[at - 1] in flags)
    ]
    verb, operands = _verb(program, operands)
    if program == "git" and verb in WHOLE_TREE:
        operands = []
    return Step(program, verb, tuple(map(_operand, operands)), role_of(program, verb, rest))


def _verb(program: str, operands: list[str]) -> tuple[str, list[str]]:
    """Split off the verb of a program that has verbs; the scripts of npm are its verbs."""
    if program == "npm":
        if len(operands) > 1 and operands[0] in TASK_RUNNERS:
            operands = operands[1:]
        if operands[:1] in (["run"], ["run-script"]):
            operands = operands[1:]
        verb = operands[0] if operands else "install"
        return {"t": "test", "i": "install", "ci": "install"}.get(verb, verb), operands[1:]
    if program == "mise" and operands[:1] == ["run"] and len(operands) > 1:
        return operands[1], operands[2:]
    if program not in VERBS or not operands:
        return "", operands
    if len(operands) > 1 and (program == "gh" or operands[0] == "compose"):
        return f"{operands[0]} {operands[1]}", operands[2:]
    return operands[0], operands[1:]


def _operand(word: str) -> str:
    return word.strip("'\"").removeprefix("./").rstrip("/").split("::", 1)[0]


def _shown(line: str) -> str:
    """The line as a person would quote it: no `cd` in front, no pager behind."""
    text = " ".join(line.split())
    while match := _LEAD.match(text):
        text = text[match.end() :]
    while (match := _TAIL.search(text)) and text[: match.start()].strip():
        text = text[: match.start()]
    return text if len(text) <= 160 else text[:159].rstrip() + "…"


def same_program(one: Step, two: Step) -> bool:
    return one.program == two.program and one.verb == two.verb


def covers(passed: Step, failed: Step, mentioned: str = "") -> bool:
    """Whether `passed` ran what `failed` ran: the same thing, all of it, or the part that had failed."""
    if not same_program(passed, failed):
        return False
    ours, theirs = set(passed.operands), set(failed.operands)
    if ours == theirs:
        return True
    if passed.role not in CHECKS:  # what was left out was not mended
        return all(any(_same_path(a, b) for a in ours) for b in theirs) and bool(theirs)
    if not ours or ours & _EVERYTHING:
        return True
    if not theirs or theirs & _EVERYTHING:
        return any(word in mentioned for word in ours)
    return any(
        _same_path(a, b) or a.startswith(b + "/") or b.startswith(a + "/") for a in ours for b in theirs
    )


def _same_path(one: str, two: str) -> bool:
    """Whether two operands are the same file, seen from one folder or from another."""
    return one == two or one.endswith("/" + two) or two.endswith("/" + one)
