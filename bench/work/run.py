"""What our memory is worth on real work. Everything offline, through the installed program and hooks.

    python -m bench.work.run [PROJECT …] --data DIR [--parts in-time brief search] [--naive] [-v]

DIR (or BACKSTORY_BENCH_DATA, with `work/` below it) holds a folder per labelled project; none of it is part
of this repository. `labels.py` says what a project's folder holds.

  in-time   each later session is played again, call by call, through the hooks, after its predecessors were
            imported. A needed fact counts when it was told at the start, with a prompt, or before or right
            after a call, at the latest five transcript lines after the one where the session paid for it.
            A note is useful when it states a labelled fact that holds and was not told before.
  brief     at each later session's start: the needed facts that one row states; rows that state a labelled
            fact that holds and that no earlier row stated; rows that state what is outdated; characters.
  search    each fact's question, after all sessions: one hit within the first 2,000 printed characters
            states it. Off-topic questions should get nothing.

--naive adds the baseline that anybody writes in an hour (no hooks: brief and search only).
"""

import argparse
import os
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.work.home import ScratchHome
from bench.work.labels import Fact, Labelled, Session, important, load
from bench.work.naive import Naive
from bench.work.replay import hooks

PARTS = ("in-time", "brief", "search")
_PRINTED = 2_000
_ROW = re.compile(r"\n(?=[-*#<!])|\n\n")
_AT_START, _WITH_PROMPT, _AT_WORK = "start", "prompt", "action"
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


@dataclass(frozen=True, slots=True)
class Said:
    """What a hook said, at which line of the transcript, at which moment."""

    line: int
    moment: str
    text: str

    def states(self, fact: Fact) -> bool:
        """Whether one of its rows states a fact."""
        return any(fact.is_in(row) for row in _ROW.split(self.text) if row.strip())


def main() -> None:
    """Run the parts that are asked for, and print a line for each."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("projects", nargs="*", help="all that have labels by default")
    given = os.environ.get("BACKSTORY_BENCH_DATA")
    parser.add_argument("--data", type=Path, default=Path(given, "work") if given else None)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--naive", action="store_true")
    parser.add_argument("--sessions", type=int, default=sys.maxsize, metavar="N", help="only the first N")
    parser.add_argument("-v", "--verbose", action="store_true", help="tell what was missed")
    parser.add_argument(
        "--said", type=Path, metavar="DIR", help="write there what the hooks said, to be read"
    )
    asked = parser.parse_args()
    if asked.data is None or not asked.data.is_dir():
        parser.error("name the folder of labelled projects with --data")
    names = asked.projects or sorted(p.parent.name for p in asked.data.glob("*/gold.json"))
    for name in names:
        with tempfile.TemporaryDirectory() as scratch:
            project = load(asked.data / name, Path(scratch))
            if "in-time" in asked.parts:
                told_in_time(project, Path(scratch), asked.sessions, asked.verbose, asked.said)
            if "brief" in asked.parts:
                briefs(project, Path(scratch), asked.sessions, asked.naive)
            if "search" in asked.parts:
                searches(project, Path(scratch), asked.naive, asked.verbose)


def later(project: Labelled, most: int) -> Iterator[tuple[int, Session]]:
    """The sessions that needed something of their predecessors."""
    for number, session in enumerate(project.sessions[:most]):
        if number and session.needs:
            yield number, session


# --- told in time -----------------------------------------------------------------------------------------


def told_in_time(project: Labelled, scratch: Path, most: int, verbose: bool, folder: Path | None) -> None:
    """Play each later session again, and print what was told in time."""
    sums = InTime()
    for number, session in later(project, most):
        home = ScratchHome(
            scratch / f"in-time-{number}", project.agent, project.sessions[:number], session.cwd
        )
        said = list(_played(home, session, sums))
        home.close()
        _count(sums, session, said, project.known_before(number))
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            text = "\n\n".join(f"== line {each.line}, {each.moment}\n{each.text}" for each in said)
            (folder / f"{project.name}-{number:02}.md").write_text(text, "utf-8")
    told = sum(sums.told.values())
    print(
        f"{project.name}: needs told in time {_share(told, sums.needs)}: "
        f"at the start {sums.told[_AT_START]}, with a prompt {sums.told[_WITH_PROMPT]}, "
        f"at work {sums.told[_AT_WORK]}; notes {sums.notes} in "
        f"{sums.hooks} hooks, useful {_share(sums.useful, sums.notes)}; characters at the start "
        f"{sums.characters[_AT_START]}, in notes {sums.characters.total() - sums.characters[_AT_START]}",
        flush=True,
    )
    for each in sums.missed if verbose else ():
        print(f"   missed: {each}")


def _played(home: ScratchHome, session: Session, sums: InTime) -> Iterator[Said]:
    if text := home.fire("SessionStart", {"source": "startup"}):
        yield Said(0, _AT_START, text)
    for hook in hooks(session.text):
        sums.hooks += 1
        if text := home.fire(hook.event, hook.fields):
            yield Said(hook.line, _WITH_PROMPT if hook.event == "UserPromptSubmit" else _AT_WORK, text)
    home.fire("SessionEnd", {"reason": "other"})


def _count(sums: InTime, session: Session, said: Sequence[Said], known: Sequence[Fact]) -> None:
    told: set[str] = set()
    for each in said:
        states = {fact.id for fact in known if each.states(fact)}
        sums.characters[each.moment] += len(each.text)
        if each.moment != _AT_START:
            sums.notes += 1
            sums.useful += bool(states - told)
        told |= states
    sums.needs += len(session.needs)
    for need in session.needs:
        first = next((each for each in said if _helps(each, need.line) and each.states(need.fact)), None)
        if first is None:
            sums.missed.append(f"{session.id[:8]} {need.why[:90]} => {need.fact.fact[:110]}")
        else:
            sums.told[first.moment] += 1


def _helps(said: Said, line: int) -> bool:
    return said.line <= line or (not line and said.moment == _WITH_PROMPT)


# --- the brief --------------------------------------------------------------------------------------------


def briefs(project: Labelled, scratch: Path, most: int, naive: bool) -> None:
    """Print how many needed facts the brief has, and how many of its rows are worth telling."""
    for name in ("ours", "naive") if naive else ("ours",):
        sums: Counter[str] = Counter()
        for number, session in later(project, most):
            text = _brief(name, project, scratch / f"brief-{number}", number)
            rows = _rows(text)
            sums["characters"] += len(text)
            sums["briefs"] += 1
            sums["rows"] += len(rows)
            sums["needs"] += len(session.needs)
            sums["got"] += sum(any(need.fact.is_in(row) for row in rows) for need in session.needs)
            known, outdated = important(project.known_before(number)), project.outdated_before(number)
            seen: set[str] = set()
            for row in rows:
                new = {fact.id for fact in known if fact.id not in seen and fact.is_in(row)}
                seen |= new
                sums["worth"] += bool(new)
                sums["outdated"] += not new and any(fact.is_in(row) for fact in outdated)
        print(
            f"{project.name}: brief [{name}] needs {_share(sums['got'], sums['needs'])}, rows worth telling "
            f"{_share(sums['worth'], sums['rows'])}, outdated {sums['outdated']}, "
            f"{sums['characters'] // max(1, sums['briefs'])} characters a brief",
            flush=True,
        )


def _brief(name: str, project: Labelled, folder: Path, number: int) -> str:
    earlier, cwd = project.sessions[:number], project.sessions[number].cwd
    if name == "naive":
        return Naive(earlier).brief()
    home = ScratchHome(folder, project.agent, earlier, cwd)
    text = home.run("brief", "--cwd", cwd)
    home.close()
    return text


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


# --- search -----------------------------------------------------------------------------------------------


def searches(project: Labelled, scratch: Path, naive: bool, verbose: bool) -> None:
    """Print how many questions are answered within the first characters, and how many get nothing rightly."""
    cwd = project.sessions[-1].cwd
    home = ScratchHome(scratch / "search", project.agent, project.sessions, cwd)
    baseline = Naive(project.sessions)
    asks: dict[str, Callable[[str], str]] = {
        "ours": lambda question: home.run("search", question, "--cwd", cwd),
        "naive": baseline.search,
    }
    for name in ("ours", "naive") if naive else ("ours",):
        ask = asks[name]
        asked = [fact for fact in project.facts if fact.question]
        lost = [f for f in asked if not any(f.is_in(hit) for hit in _hits(ask(f.question)[:_PRINTED]))]
        silent = sum(
            not (text := ask(question)).strip() or "othing" in text[:200] for question in project.off_topic
        )
        print(
            f"{project.name}: search [{name}] answered {_share(len(asked) - len(lost), len(asked))}, "
            f"off-topic silent {silent} of {len(project.off_topic)}",
            flush=True,
        )
        for fact in lost if verbose and name == "ours" else ():
            print(f"   not answered: {fact.question} => {fact.fact}")
    home.close()


def _hits(text: str) -> list[str]:
    """A hit begins at the margin; what is indented belongs to it."""
    found: list[str] = []
    for line in text.splitlines():
        if line[:1] in (" ", "\t") and found:
            found[-1] += " " + line.strip()
        elif line.strip():
            found.append(line)
    return found


def _is_silent(answer: str) -> bool:
    return not answer.strip() or "othing" in answer[:200]


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole} ({part / whole:.2f})" if whole else "-"


if __name__ == "__main__":
    main()
