"""A labelled project: its sessions in order, the facts that they established, what later sessions needed.

The data are not part of the project. A project is a folder with `gold.json` and the agents' own transcripts
(`.jsonl`, or `.jsonl.gz`). Folders in the transcripts are replaced by worktrees of one scratch repository, so
that all sessions belong to one project, as they did.
"""

import gzip
import json
import re
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_SPACE = re.compile(r"\s+")
_LINE = re.compile(r"lines? (\d+)")
# A fact counts as told in time up to so many lines after the one at which the session paid for it.
_GRACE_LINES = 5
_IMPORTANT = 2


@dataclass(frozen=True, slots=True)
class Fact:
    """Something worth knowing; a text states it if it has one alternative of every group of keys."""

    id: str
    session: str
    importance: int
    fact: str
    keys: tuple[tuple[str, ...], ...]
    question: str
    until: str

    def is_in(self, text: str) -> bool:
        """Whether a text states the fact."""
        plain = normal(text)
        return all(any(key in plain for key in group) for group in self.keys)


@dataclass(frozen=True, slots=True)
class Need:
    """A fact that a later session needed, and the last line at which it helps; 0: with any prompt."""

    fact: Fact
    why: str
    line: int


@dataclass(frozen=True, slots=True)
class Session:
    """One session: its transcript as text, and those of its sub-agents by file name."""

    id: str
    file: str
    cwd: str
    text: str
    needs: tuple[Need, ...]


@dataclass(frozen=True, slots=True)
class Labelled:
    """One project."""

    name: str
    agent: str
    sessions: tuple[Session, ...]
    facts: tuple[Fact, ...]
    off_topic: tuple[str, ...]

    def known_before(self, number: int) -> list[Fact]:
        """The facts that earlier sessions established and that none of them made untrue."""
        order = {session.id: place for place, session in enumerate(self.sessions)}
        return [
            fact
            for fact in self.facts
            if order[fact.session] < number and order.get(fact.until, number) >= number
        ]

    def outdated_before(self, number: int) -> list[Fact]:
        """The facts that an earlier session made untrue."""
        order = {session.id: place for place, session in enumerate(self.sessions)}
        return [fact for fact in self.facts if fact.until in order and order[fact.until] < number]


def normal(text: str) -> str:
    """A text as keys are compared: small letters, single blanks, no backticks."""
    return _SPACE.sub(" ", text.lower().replace("`", "").replace("\u2019", "'"))


def important(facts: Iterable[Fact]) -> list[Fact]:
    """Those that are more than nice to know."""
    return [fact for fact in facts if fact.importance >= _IMPORTANT]


def load(folder: Path, scratch: Path) -> Labelled:
    """A project's labels and transcripts, with the folders of its sessions made below `scratch`."""
    gold = json.loads((folder / "gold.json").read_text("utf-8"))
    facts = {row["id"]: _fact(row) for row in gold["facts"]}
    places = _worktrees(scratch, dict.fromkeys(row["cwd"] for row in gold["sessions"]))
    sessions = tuple(
        Session(
            row["id"],
            Path(row["file"]).name,
            places[row["cwd"]],
            _moved(_read(folder / row["file"]), places),
            tuple(
                _need(facts[need["fact"]], need)
                for need in gold.get("needs", {}).get(row["id"], [])
                if need["fact"] in facts
            ),
        )
        for row in gold["sessions"]
    )
    agent = gold.get("agent", "claude-code")
    return Labelled(gold["project"], agent, sessions, tuple(facts.values()), tuple(gold.get("off_topic", ())))


def _fact(row: dict[str, Any]) -> Fact:
    keys = tuple(tuple(map(normal, group)) for group in row["keys"])
    importance = row.get("importance", _IMPORTANT)
    return Fact(
        row["id"],
        row["session"],
        importance,
        row["fact"],
        keys,
        row.get("question", ""),
        row.get("until", ""),
    )


def _need(fact: Fact, row: dict[str, Any]) -> Need:
    paid = _LINE.search(row.get("why", ""))
    return Need(fact, row.get("why", ""), int(paid[1]) + _GRACE_LINES if paid else 0)


def _read(file: Path) -> str:
    if file.exists():
        return file.read_text("utf-8", "replace")
    return gzip.decompress(file.with_name(file.name + ".gz").read_bytes()).decode("utf-8", "replace")


def _moved(text: str, places: dict[str, str]) -> str:
    for old in sorted(places, key=len, reverse=True):
        text = text.replace(json.dumps(old)[1:-1], json.dumps(places[old])[1:-1])
    return text


def _worktrees(scratch: Path, folders: Iterable[str]) -> dict[str, str]:
    main = scratch / "main"
    _git("init", "-q", str(main))
    _git("commit", "-q", "--allow-empty", "-m", "begin", cwd=main)
    places = {}
    for number, folder in enumerate(folders):
        places[folder] = str(scratch / f"w{number}" / (Path(folder).name or "project"))
        _git("worktree", "add", "-q", "--detach", places[folder], cwd=main)
    return places


def _git(*words: str, cwd: Path | None = None) -> None:
    who: Sequence[str] = ("-c", "user.name=a", "-c", "user.email=a@b.example")
    subprocess.run(["git", *who, *words], cwd=cwd, check=True, capture_output=True)
