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
--answers DIR has a model read each session before the next one starts: its answers lie in DIR/PROJECT
(`answers.py`). Questions without an answer are written there, and the run ends; --wait S leaves them open.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from bench.work.answers import Answers, recorded
from bench.work.home import ScratchHome
from bench.work.labels import Labelled, Session, load
from bench.work.naive import Naive
from bench.work.replay import hooks
from bench.work.scores import AT_START, AT_WORK, WITH_PROMPT, Briefs, InTime, Said, share

PARTS = ("in-time", "brief", "search")
_PRINTED = 2_000


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
    parser.add_argument("--answers", type=Path, metavar="DIR", help="a model's answers, recorded")
    parser.add_argument("--wait", type=float, default=0.0, metavar="S", help="seconds for an answer to come")
    asked = parser.parse_args()
    if asked.data is None or not asked.data.is_dir():
        parser.error("name the folder of labelled projects with --data")
    names = asked.projects or sorted(p.parent.name for p in asked.data.glob("*/gold.json"))
    for name in names:
        with ExitStack() as stack:
            scratch = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            project = load(asked.data / name, scratch)
            answers = None
            if asked.answers is not None:
                answers = stack.enter_context(recorded(asked.answers / name, scratch, asked.wait))
            if {"in-time", "brief"} & set(asked.parts):
                starts(project, scratch, asked, answers)
            if "search" in asked.parts:
                searches(project, scratch, asked.naive, asked.verbose, answers)
            if answers is not None:
                print(f"{name}: {tokens_taken(answers)}", flush=True)


def starts(project: Labelled, scratch: Path, asked: argparse.Namespace, answers: Answers | None) -> None:
    """Go through a project's sessions in their order, and look at each start that needed something."""
    told, brief, naive = InTime(), Briefs(), Briefs()
    home = ScratchHome(scratch / "starts", project.agent, [], project.sessions[0].cwd, answers)
    taken = 0
    for number, session in later(project, asked.sessions):
        for each in project.sessions[taken:number]:
            home.add([each])
            stop_if_missing(answers)
        taken = number
        home.moves_to(session.cwd)
        if "brief" in asked.parts:
            brief.count(home.run("brief", "--cwd", session.cwd), project, number)
            if asked.naive:
                naive.count(Naive(project.sessions[:number]).brief(), project, number)
        if "in-time" in asked.parts:
            with home.as_it_is():
                said = list(played(home, session, told))
            told.count(session, said, project.known_before(number))
            if asked.said is not None:
                write_said(asked.said / f"{project.name}-{number:02}.md", said)
    home.close()
    if "in-time" in asked.parts:
        print(f"{project.name}: {told}", flush=True)
        for missed in told.missed if asked.verbose else ():
            print(f"   missed: {missed}")
    for name, sums in (("ours", brief), ("naive", naive)):
        if sums.briefs:
            print(f"{project.name}: brief [{name}] {sums}", flush=True)


def stop_if_missing(answers: Answers | None) -> None:
    """A question without an answer ends the run: what comes later depends on it."""
    if answers is not None and answers.missing:
        raise SystemExit(f"answers missing: {len(answers.missing)}; see {answers.folder}/*.question")


def tokens_taken(answers: Answers) -> str:
    """What the questions and answers come to, for people."""
    if not answers.tokens:
        return "no model was asked"
    inward, outward = zip(*answers.tokens, strict=True)
    return (
        f"{len(inward)} questions, tokens in {sum(inward) // len(inward):,} each, at most {max(inward):,}; "
        f"out {sum(outward) // len(outward):,}, at most {max(outward):,}"
    )


def later(project: Labelled, most: int) -> Iterator[tuple[int, Session]]:
    """The sessions that needed something of their predecessors."""
    for number, session in enumerate(project.sessions[:most]):
        if number and session.needs:
            yield number, session


# --- told in time -----------------------------------------------------------------------------------------


def played(home: ScratchHome, session: Session, sums: InTime) -> Iterator[Said]:
    if text := home.fire("SessionStart", {"source": "startup"}):
        yield Said(0, AT_START, text)
    for hook in hooks(session.text):
        sums.hooks += 1
        if text := home.fire(hook.event, hook.fields):
            yield Said(hook.line, WITH_PROMPT if hook.event == "UserPromptSubmit" else AT_WORK, text)
    home.fire("SessionEnd", {"reason": "other"})


def write_said(file: Path, said: Sequence[Said]) -> None:
    """What the hooks said in one session, to be read."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n\n".join(f"== line {e.line}, {e.moment}\n{e.text}" for e in said), "utf-8")


# --- the brief --------------------------------------------------------------------------------------------


# --- search -----------------------------------------------------------------------------------------------


def searches(project: Labelled, scratch: Path, naive: bool, verbose: bool, answers: Answers | None) -> None:
    """Print how many questions are answered within the first characters, and how many get nothing rightly."""
    cwd = project.sessions[-1].cwd
    home = ScratchHome(scratch / "search", project.agent, [], cwd, answers)
    for each in project.sessions:
        home.add([each])
        stop_if_missing(answers)
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
            f"{project.name}: search [{name}] answered {share(len(asked) - len(lost), len(asked))}, "
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


if __name__ == "__main__":
    main()
