"""The data sets as cases. None is part of the project: the folder is an argument, or BACKSTORY_BENCH_DATA.

`HOW_TO_GET` says where each comes from and what its file is called; whoever runs without them is told.
"""

import gzip
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

# The files of each part of the benchmark.
FILES = {
    "locomo": ("locomo10.json",),
    "longmemeval": ("longmemeval_s_first500.jsonl.gz",),
    "coding": ("coding/sessions.jsonl.gz", "coding/queries.json"),
}
FILES["controls"] = tuple(name for names in FILES.values() for name in names)
HOW_TO_GET = """\
  locomo10.json    LoCoMo (CC BY-NC 4.0: to be run, not shipped), as it is:
      https://raw.githubusercontent.com/snap-research/locomo/main/data/locomo10.json
  longmemeval_s_first500.jsonl.gz    LongMemEval-S (MIT), longmemeval_s of
      https://huggingface.co/datasets/xiaowu0162/longmemeval made smaller: a line for each of its questions,
      {"question", "type": question_type, "gold": answer_session_ids, "sessions": [{"id", "when", "text"}]},
      of haystack_session_ids, haystack_dates, and the user's turns of haystack_sessions, joined by line ends
      and cut at 500 characters
  coding/sessions.jsonl.gz, coding/queries.json    any coding sessions and the subjects of commits that they
      made: lines of {"id", "agent", "turns": [{"role", "when", "text"}]}, a list of {"query", "gold": id}.
      The 132 that were measured are of a project under Apache-2.0 (they speak of specstoryai/getspecstory),
      without the lines of their commits"""

_EVIDENCE = re.compile(r"D\d+:\d+")
_LOCOMO_DATE = "%I:%M %p on %d %B, %Y"
_LME_DATE = "%Y/%m/%d (%a) %H:%M"


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing that somebody said."""

    id: str
    asked: bool
    text: str
    at: int


@dataclass(frozen=True, slots=True)
class Session:
    """A session to be stored."""

    id: str
    agent: str
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Ask:
    """A question, and the sessions and turns that answer it."""

    text: str
    sessions: frozenset[str]
    turns: frozenset[str] = frozenset()
    category: str = ""


@dataclass(frozen=True, slots=True)
class Case:
    """One store and the questions that are put to it; `tuned` if it belongs to the development half."""

    name: str
    sessions: tuple[Session, ...]
    asks: tuple[Ask, ...]
    tuned: bool


def lacking(folder: Path, parts: Iterable[str]) -> list[str]:
    """The files that these parts need and the folder has not."""
    wanted = dict.fromkeys(name for part in parts for name in FILES.get(part, ()))
    return [name for name in wanted if not (folder / name).is_file()]


def locomo(folder: Path) -> Iterator[Case]:
    """Ten conversations; tuned on 0 to 4."""
    for number, each in enumerate(json.loads((folder / "locomo10.json").read_text("utf-8"))):
        talk = each["conversation"]
        sessions = []
        for key in sorted((k for k in talk if re.fullmatch(r"session_\d+", k)), key=lambda k: int(k[8:])):
            at = _when(talk.get(f"{key}_date_time", ""), _LOCOMO_DATE)
            turns = tuple(
                Turn(
                    t["dia_id"],
                    t["speaker"] == talk["speaker_a"],
                    f'{t["speaker"]} said, "{t["text"]}"',
                    at + n,
                )
                for n, t in enumerate(talk[key])
            )
            sessions.append(Session(key[8:], "claude-code", turns))
        asks = []
        for q in each["qa"]:
            found = frozenset(e for text in q.get("evidence", []) for e in _EVIDENCE.findall(text))
            days = frozenset(e[1:].split(":")[0] for e in found)
            asks.append(Ask(q["question"], days, found, str(q["category"])))
        yield Case(f"conversation {number}", tuple(sessions), tuple(asks), number < 5)


def longmemeval(folder: Path) -> Iterator[Case]:
    """500 questions with a store each; tuned on even lines."""
    with gzip.open(folder / "longmemeval_s_first500.jsonl.gz", "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            q = json.loads(line)
            sessions = tuple(
                Session(
                    s["id"], "claude-code", (Turn(s["id"], True, s["text"], _when(s["when"], _LME_DATE)),)
                )
                for s in q["sessions"]
            )
            ask = Ask(q["question"], frozenset(q["gold"]), category=q["type"])
            yield Case(f"question {number}", sessions, (ask,), number % 2 == 0)


def coding(folder: Path) -> Iterator[Case]:
    """132 coding sessions of one project; development only, the gold is noisy."""
    with gzip.open(folder / "coding" / "sessions.jsonl.gz", "rt", encoding="utf-8") as lines:
        sessions = tuple(_coding_session(json.loads(line)) for line in lines)
    queries = json.loads((folder / "coding" / "queries.json").read_text("utf-8"))
    asks = tuple(Ask(q["query"], frozenset([q["gold"]])) for q in queries)
    yield Case("coding", sessions, asks, True)


def _coding_session(row: dict[str, Any]) -> Session:
    agent = {"Claude Code": "claude-code", "Codex CLI": "codex", "Gemini CLI": "gemini-cli"}
    turns = tuple(
        Turn(f"{row['id']}/{n}", t["role"] == "user", t["text"], _iso(t["when"]) + n)
        for n, t in enumerate(row["turns"])
        if isinstance(t["text"], str) and t["text"].strip()
    )
    return Session(row["id"], agent.get(row["agent"], "claude-code"), turns)


def _when(text: str, form: str) -> int:
    try:
        return int(datetime.strptime(text, form).replace(tzinfo=UTC).timestamp() * 1000)
    except ValueError:
        return 1_600_000_000_000


def _iso(text: str) -> int:
    try:
        return int(datetime.fromisoformat(text).timestamp() * 1000)
    except (TypeError, ValueError):
        return 1_600_000_000_000
