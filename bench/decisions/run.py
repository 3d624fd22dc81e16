"""What a session that begins with a bug report is told of the decision that the report needs. Offline.

    python -m bench.decisions.run [--pushed | --search] [-v]

All chats are imported into a scratch home as Claude Code's transcripts. Then, for each report:

  --pushed   (default) a fresh session starts and sends the report as its first prompt, through the installed
             hooks: the brief and the first 2,000 characters of the prompt's note are what it was told.
  --search   the first 2,000 characters that `backstory search REPORT` prints.

Whole: every part of the decision as it holds today was told. Of the amended decisions also: the new value was
told, and only the old one was told. Noise: prompts about which nothing is known, and which got something.
`fts5` is SQLite's full-text search over whole messages, which always answers.

The halves come from a hash of the ids. Tune on dev only; test says whether it holds.
"""

import argparse
import subprocess
import tempfile
import uuid
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.decisions.chats import DEV, TEST, Decision, DecisionSet, half, load, transcript
from bench.work.home import ScratchHome
from bench.work.naive import Naive

_CHARACTERS = 2_000


@dataclass(frozen=True, slots=True)
class Told:
    """What a session was told at its start, and with its prompt or as the answer to its question."""

    start: str
    note: str

    @property
    def text(self) -> str:
        """Both."""
        return f"{self.start}\n{self.note}"


Ask = Callable[[str, str], Told]


def main() -> None:
    """Print a table of ours and the baseline, for both halves."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    way = parser.add_mutually_exclusive_group()
    way.add_argument("--pushed", action="store_true", help="through the hooks; the default")
    way.add_argument("--search", action="store_true", help="by the search command")
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="tell what was missed and what was noise"
    )
    asked = parser.parse_args()
    given = load()
    with tempfile.TemporaryDirectory() as folder:
        cwd = _repository(Path(folder) / "latchbox")
        sessions = [transcript(chat, cwd) for chat in given.chats]
        baseline = Naive(sessions)
        home = ScratchHome(Path(folder) / "scratch", "claude-code", sessions, cwd)
        ours = _searched(home, cwd) if asked.search else _pushed(home)
        asks: dict[str, Ask] = {
            "search" if asked.search else "pushed": ours,
            "fts5": lambda _, text: Told("", baseline.search(text, hits=40, hit=_CHARACTERS)[:_CHARACTERS]),
        }
        for name, ask in asks.items():
            _report(name, given, ask, asked.verbose and ask is ours)
        home.close()


def _pushed(home: ScratchHome) -> Ask:
    def ask(name: str, prompt: str) -> Told:
        session = {"session_id": str(uuid.uuid5(uuid.NAMESPACE_URL, f"latchbox/asks/{name}"))}
        start = home.fire("SessionStart", {**session, "source": "startup"})
        note = home.fire("UserPromptSubmit", {**session, "prompt": prompt})
        home.fire("SessionEnd", {**session, "reason": "other"})
        return Told(start, note[:_CHARACTERS])

    return ask


def _searched(home: ScratchHome, cwd: str) -> Ask:
    def ask(_: str, prompt: str) -> Told:
        found = home.run("search", prompt, "--cwd", cwd)[:_CHARACTERS]
        return Told("", "" if found.startswith("Nothing") else found)

    return ask


def _report(way: str, given: DecisionSet, ask: Ask, verbose: bool) -> None:
    told = {each.id: ask(each.id, each.report) for each in given.decisions}
    noise = {each.id: ask(each.id, each.prompt) for each in given.unknown}
    for name in (DEV, TEST):
        print(f"{way:7} {name:5} {table_row(given, told, noise, name)}", flush=True)
    for each in given.decisions if verbose else ():
        print(f"   {_verdict(each, told[each.id])}")
    for prompt in given.unknown if verbose else ():
        if noise[prompt.id].note:
            print(f"   {prompt.id} {half(prompt.id)}: noise: {prompt.prompt}")


def table_row(given: DecisionSet, told: Mapping[str, Told], noise: Mapping[str, Told], part: str) -> str:
    """What one half was told, in one line."""
    sums: Counter[str] = Counter()
    for each in given.decisions:
        if half(each.id) != part:
            continue
        text = told[each.id].text
        kind = "amended" if each.amendment else "plain"
        sums[kind] += 1
        sums[f"{kind} whole"] += each.is_told(text)
        sums["parts"] += len(each.parts)
        sums["parts told"] += each.parts_told(text)
        sums["new"] += bool(each.amendment) and each.tells_new(text)
        sums["only old"] += bool(each.amendment) and each.tells_only_old(text)
        sums["start"] += len(told[each.id].start)
        sums["note"] += len(told[each.id].note)
    prompts = [each for each in given.unknown if half(each.id) == part]
    spoke = sum(bool(noise[each.id].note) for each in prompts)
    asked = sums["plain"] + sums["amended"]
    return (
        f"whole {sums['plain whole']} of {sums['plain']}, "
        f"amended {sums['amended whole']} of {sums['amended']} "
        f"(new value {sums['new']}, only the old {sums['only old']}); "
        f"parts {sums['parts told']} of {sums['parts']}; noise {spoke} of {len(prompts)}; "
        f"characters {sums['start'] // asked} + {sums['note'] // asked}"
    )


def _verdict(each: Decision, told: Told) -> str:
    if each.is_told(told.text):
        said = "whole"
    else:
        said = f"{each.parts_told(told.text)} of {len(each.parts)} parts"
    stale = ", only the old value" if each.amendment and each.tells_only_old(told.text) else ""
    return f"{each.id} {half(each.id)}: {said}{stale}, note of {len(told.note)} characters: {each.title}"


def _repository(folder: Path) -> str:
    subprocess.run(["git", "init", "-q", str(folder)], check=True, capture_output=True)
    return str(folder)


if __name__ == "__main__":
    main()
