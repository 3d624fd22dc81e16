"""How much a statement is worth telling at a start, whatever the session will be about.

A weighted sum of structural features: what the statement is, how old, how specific, and whether what it names
has failed in several sessions. `bench/work/fit_worth.py` fits the weights on labelled projects and prints the
table below; each project is judged with weights that were fitted without it.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from backstory.statements import PassageKind, Statement

_NAME = re.compile(
    r"`[^`]{1,200}`|(?<![\w-])\w[\w-]*[./_]\w[\w./-]*|\b[a-z]+[A-Z]\w+|(?<!\w)--[\w-]+|\b[A-Z]{3,}\b"
)
_RULE = re.compile(
    r"\b(?:must|never|always|don't|do not|should|only|instead|needs? to|requires?|avoid|before|without)\b",
    re.I,
)
_WISH = re.compile(
    r"\b(?:never|always|don'?t|do not|must not|should not|shouldn't|make sure|prefer|stop|ensure|i want"
    r"|expect|before making|before you|from now on)\b",
    re.I,
)
_CAUSE = re.compile(r"\b(?:because|since|due to|caused?|reason|turns out|actually|otherwise|so that)\b", re.I)
_FAILURE = re.compile(
    r"\b(?:fail|error|broke|crash|wrong|hang|warn|reject|refus|den[iy]|block|missing|conflict)", re.I
)
_REMEDY = re.compile(r"\b(?:fix|resolv|solution|workaround|works)", re.I)
_HEADED = {
    "headed_errors": re.compile(r"error|fix|problem|issue|feedback|lesson|learn|cause|caveat|note", re.I),
    "headed_open": re.compile(r"pending|next|todo|remain|open|follow|current", re.I),
    "headed_files": re.compile(r"file|code|section", re.I),
}


# A prompt of more pieces is a plan or a report that was pasted.
_TYPED_PIECES = 3
_WISH_CHARS = 220


#: What is worth less is not told at a start.
FLOOR = 0.35
INTERCEPT = 0.093
WEIGHTS: dict[str, float] = {
    "age": -0.085,
    "begins": 0.076,
    "cause": 0.093,
    "closes": 0.094,
    "cured_by_command": 0.313,
    "explained": 0.151,
    "explains": 0.056,
    "failed": -0.061,
    "headed_errors": 0.114,
    "headed_files": -0.163,
    "headed_open": -0.062,
    "kind_answer": -0.108,
    "kind_closing": 0.052,
    "kind_commit": 0.111,
    "kind_memory_lesson": -0.026,
    "kind_prompt": 0.051,
    "kind_record": 0.090,
    "kind_refusal": -0.049,
    "kind_report": -0.107,
    "kind_said": -0.013,
    "kind_step": -0.147,
    "kind_summary": 0.146,
    "names": 0.217,
    "pasted": -0.072,
    "recurs": 0.062,
    "remedy": 0.084,
    "rule": 0.106,
    "wish": 0.249,
}


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What is known of a project when a statement is weighed: its sessions, newest first, and what failed.

    `named` are the sessions in which a name stands, `failed` those in which a failed call has it.
    """

    order: dict[str, int]
    named: dict[str, set[str]]
    failed: dict[str, set[str]]


def names(text: str) -> set[str]:
    """The identifiers, paths, options and quoted code of a text."""
    return {name.strip("`").lower() for name in _NAME.findall(text)}


def surroundings(sessions: Sequence[str], known: Sequence[Statement]) -> Surroundings:
    """Of a project's sessions, newest first, and all its statements."""
    named: dict[str, set[str]] = defaultdict(set)
    failed: dict[str, set[str]] = defaultdict(set)
    for each in known:
        for name in names(each.text):
            named[name].add(each.session)
            if each.failed:
                failed[name].add(each.session)
    return Surroundings({sid: place for place, sid in enumerate(sessions)}, dict(named), dict(failed))


def is_wish(statement: Statement) -> bool:
    """Whether the user asks in a few typed words for how things are to be done."""
    return (
        statement.kind in (PassageKind.PROMPT, PassageKind.REFUSAL)
        and statement.of <= _TYPED_PIECES
        and len(statement.text) <= _WISH_CHARS
        and "?" not in statement.text
        and bool(_WISH.search(statement.text))
    )


def features(statement: Statement, around: Surroundings) -> dict[str, float]:
    """What is known of a statement, most of it between 0 and 1; what is 0 is left out."""
    text, kind = statement.text, statement.kind
    ago = around.order.get(statement.session, len(around.order))
    found = names(text)
    seen = max((len(around.named.get(name, ())) for name in found), default=0)
    failed = max((len(around.failed.get(name, ())) for name in found), default=0)
    values: dict[str, float] = {
        f"kind_{kind}": 1.0,
        "names": min(len(found), 6) / 6,
        "rule": min(len(_RULE.findall(text)), 2) / 2,
        "cause": bool(_CAUSE.search(text)),
        "remedy": bool(_REMEDY.search(text)),
        "explains": ": " in text or "—" in text or "→" in text,
        "begins": statement.place == 0,
        "age": min(ago, 10) / 10,
        "closes": statement.closes,
        "recurs": min(max(seen - 1, 0), 3) / 3,
        "failed": min(failed, 2) / 2,
        "wish": is_wish(statement),
        "pasted": kind == PassageKind.PROMPT and statement.of > _TYPED_PIECES,
        "explained": kind == PassageKind.COMMIT and bool(_CAUSE.search(text)),
        "cured_by_command": statement.kind == "memory_lesson" and not statement.edits,
    }
    values.update((name, bool(pattern.search(statement.heading))) for name, pattern in _HEADED.items())
    return {name: float(value) for name, value in values.items() if value}


def worth(statement: Statement, around: Surroundings) -> float:
    """About the chance that it is worth telling; what a session needed counts twice."""
    return INTERCEPT + sum(
        WEIGHTS.get(name, 0.0) * value for name, value in features(statement, around).items()
    )


def is_momentary(statement: Statement) -> bool:
    """Whether it lists changed files, or tells what was pending in the middle of a session."""
    headings = ("headed_files", "headed_open") if statement.kind == PassageKind.SUMMARY else ("headed_files",)
    return any(_HEADED[name].search(statement.heading) for name in headings)


def tells_cause(statement: Statement) -> bool:
    """Whether it says why something is so."""
    return bool(_CAUSE.search(statement.text))


def tells_failure(statement: Statement) -> bool:
    """Whether it is about something that failed."""
    return bool(_FAILURE.search(statement.told))
