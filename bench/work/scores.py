"""What is counted: needs told in time, rows of a start that are worth telling."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from bench.work.labels import Fact, Labelled, Session, important

AT_START, WITH_PROMPT, AT_WORK = "start", "prompt", "action"
_ROW = re.compile(r"\n(?=[-*#<!])|\n\n")
_NO_ROW = ("#", "<", "More:")


@dataclass(slots=True)
class InTime:
    """What was told in time, over the sessions of a project."""

    needs: int = 0
    told: Counter[str] = field(default_factory=Counter)
    hooks: int = 0
    notes: int = 0
    useful: int = 0
    characters: Counter[str] = field(default_factory=Counter)
    missed: list[str] = field(default_factory=list)

    def count(self, session: Session, said: Sequence["Said"], known: Sequence[Fact]) -> None:
        """Add what was said in one session."""
        told: set[str] = set()
        for each in said:
            states = {fact.id for fact in known if each.states(fact)}
            self.characters[each.moment] += len(each.text)
            if each.moment != AT_START:
                self.notes += 1
                self.useful += bool(states - told)
            told |= states
        self.needs += len(session.needs)
        for need in session.needs:
            first = next((e for e in said if _helps(e, need.line) and e.states(need.fact)), None)
            if first is None:
                self.missed.append(f"{session.id[:8]} {need.why[:90]} => {need.fact.fact[:110]}")
            else:
                self.told[first.moment] += 1

    def __str__(self) -> str:
        at_start = self.characters[AT_START]
        return (
            f"needs told in time {share(self.told.total(), self.needs)}: "
            f"at the start {self.told[AT_START]}, with a prompt {self.told[WITH_PROMPT]}, "
            f"at work {self.told[AT_WORK]}; notes {self.notes} in {self.hooks} hooks, "
            f"useful {share(self.useful, self.notes)}; characters at the start {at_start}, "
            f"in notes {self.characters.total() - at_start}"
        )


@dataclass(slots=True)
class Briefs:
    """What the starts of a project said."""

    briefs: int = 0
    rows: int = 0
    worth: int = 0
    outdated: int = 0
    needs: int = 0
    got: int = 0
    characters: int = 0

    def count(self, text: str, project: Labelled, number: int) -> None:
        """Add one start."""
        needs, rows = project.sessions[number].needs, _rows(text)
        self.briefs += 1
        self.characters += len(text)
        self.rows += len(rows)
        self.needs += len(needs)
        self.got += sum(any(need.fact.is_in(row) for row in rows) for need in needs)
        known, outdated = important(project.known_before(number)), project.outdated_before(number)
        seen: set[str] = set()
        for row in rows:
            new = {fact.id for fact in known if fact.id not in seen and fact.is_in(row)}
            seen |= new
            self.worth += bool(new)
            self.outdated += not new and any(fact.is_in(row) for fact in outdated)

    def __str__(self) -> str:
        return (
            f"needs {share(self.got, self.needs)}, rows worth telling {share(self.worth, self.rows)}, "
            f"outdated {self.outdated}, {self.characters // max(1, self.briefs)} characters a brief"
        )


@dataclass(frozen=True, slots=True)
class Said:
    """What a hook said, at which line of the transcript, at which moment."""

    line: int
    moment: str
    text: str

    def states(self, fact: Fact) -> bool:
        """Whether one of its rows states a fact."""
        return any(fact.is_in(row) for row in _ROW.split(self.text) if row.strip())


def _helps(said: Said, line: int) -> bool:
    return said.line <= line or (not line and said.moment == WITH_PROMPT)


def _rows(text: str) -> list[str]:
    """Bullets and longer paragraphs, each with the lines that belong to it."""
    found: list[str] = []
    for line in text.splitlines():
        if not line.strip() or line.startswith(_NO_ROW):
            found.append("")
        elif line.startswith(("- ", "* ")) or not found or not found[-1]:
            found.append(line)
        else:
            found[-1] += " " + line.strip()
    return [row for row in found if row.startswith(("- ", "* ", "!")) or len(row) > 60]


def share(part: int, whole: int) -> str:
    return f"{part} of {whole} ({part / whole:.2f})" if whole else "-"
