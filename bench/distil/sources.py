"""Where the benchmark's sessions come from: cut transcripts, prose sessions, scripts, recorded hook payloads.

Nothing real is copied into the repository: labels name a file and a range of lines, and the data folder is
given by argument or `BACKSTORY_BENCH_DATA`. Sessions written by us are plain text under `sessions/`.
"""

import gzip
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from backstory.agents import claude_code
from backstory.agents.claude_transcript import read_lines
from backstory.model import Action, Event, Kind, Outcome, Session, SessionStatus, StoredEvent, Where

HERE = Path(__file__).parent
START = 1_760_000_000_000
BLIND = ("blind", "blind2", "blind3", "blind4")


@dataclass(frozen=True)
class Case:
    """One labelled session."""

    name: str
    group: str
    session: Session
    events: tuple[StoredEvent, ...]
    labels: Mapping[str, object]

    @property
    def blind(self) -> bool:
        """Labelled by somebody who had not seen the rules; belongs to neither half."""
        return self.labels.get("split") in BLIND

    @property
    def held_out(self) -> bool:
        """By the first hex digit of the name's SHA-256: odd is held out."""
        return int(hashlib.sha256(self.name.encode()).hexdigest()[0], 16) % 2 == 1


def cases(data: Path | None) -> list[Case]:
    """All labelled sessions that can be read; without a data folder only our own."""
    found = list(authored())
    found += recorded()
    if data is not None:
        found += transcripts(data)
        found += prose(data)
    return found


def labels(group: str) -> dict[str, dict[str, object]]:
    """The labels of one group; those of `blind*.json` belong to the group that reads what they name."""
    path = HERE / "labels" / f"{group}.json"
    found: dict[str, dict[str, object]] = json.loads(path.read_text("utf-8")) if path.exists() else {}
    if names := {"transcripts": "file", "prose": "id"}.get(group):
        for blind in BLIND:
            found |= {name: label for name, label in labels(blind).items() if names in label}
    return found


def case(
    name: str,
    group: str,
    events: Iterable[Event],
    label: Mapping[str, object],
    parent: str = "",
    status: str = "",
) -> Case:
    """Number the turns and make the session around the events, as the store would."""
    stored: list[StoredEvent] = []
    turn = 0
    for seq, event in enumerate(events):
        turn += event.kind is Kind.PROMPT
        stored.append(StoredEvent(f"{name}#{seq}", name, turn, seq, len(event.body), event))
    cwd = next((s.event.where.cwd for s in stored if s.event.where.cwd), "")
    last = stored[-1].event.at if stored else START
    ended = any(s.event.kind is Kind.SESSION_ENDED for s in stored)
    session = Session(
        id=name,
        agent="claude-code",
        native_id=name,
        project_id="p",
        project_name="bench",
        parent_id=parent,
        subagent_type="explore" if parent else "",
        source="startup",
        cwd=cwd,
        branch="",
        transcript="",
        started_at=stored[0].event.at if stored else START,
        last_at=last,
        ended_at=last if ended else None,
        end_reason="",
        status=SessionStatus(status) if status else SessionStatus.ENDED if ended else SessionStatus.ACTIVE,
        prompt_count=turn,
        event_count=len(stored),
        title="",
    )
    return Case(name, group, session, tuple(stored), label)


def transcripts(data: Path) -> Iterator[Case]:
    """Ranges of lines of real Claude Code transcripts."""
    for name, label in labels("transcripts").items():
        bounds = label["lines"]
        assert isinstance(bounds, list)
        with gzip.open(data / "transcripts" / "claude-code" / str(label["file"])) as file:
            lines = [line for number, line in enumerate(file) if bounds[0] <= number <= bounds[1]]
        yield case(name, "transcripts", read_lines(lines, name), label)


def prose(data: Path) -> Iterator[Case]:
    """Real sessions of which only the words are known: no tool calls, so failure → fix is not scored."""
    wanted = {str(label["id"]): (name, label) for name, label in labels("prose").items()}
    with gzip.open(data / "coding" / "sessions.jsonl.gz", "rt", encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            if row["id"] in wanted:
                name, label = wanted[row["id"]]
                yield case(name, "prose", _words(row["turns"]), label)


def _words(turns: list[dict[str, str]]) -> Iterator[Event]:
    for number, turn in enumerate(turns):
        kind = Kind.PROMPT if turn["role"] == "user" else Kind.SAID
        yield Event(
            "claude-code",
            "prose",
            kind,
            START + number * 1_000,
            text=turn["text"].strip().removesuffix("---").strip(),
        )


def recorded() -> Iterator[Case]:
    """Hook payloads recorded from the real client: one JSON object per line, with `hook_event_name`.

    A sub-agent's events are a session of their own, as in the store: the label with `agent` has them.
    """
    named = [
        (folder, *item)
        for folder in ("recordings", "recordings2", "recordings3", "recordings4")
        for item in labels(folder).items()
    ]
    for folder, name, label in named:
        events: list[Event] = []
        file = HERE / folder / f"{label.get('recording', name)}.jsonl"
        for number, line in enumerate(file.read_text("utf-8").splitlines()):
            payload = json.loads(line)
            events += claude_code.read_claude_payload(
                "claude-code", payload["hook_event_name"], payload, START + number * 1_000
            )
        inside = bool(label.get("agent"))
        events = [event for event in events if bool(event.subagent) == inside]
        parent = str(label["recording"]) if inside else ""
        yield case(name, "recordings", events, label, parent, str(label.get("status", "")))


def written() -> Iterator[Case]:
    """Short sessions by the author of the rules, in rounds, each written before the rules were run on it.

    In `written/*.txt` a session begins with `=== name`; `<` is what the assistant says, `t` its todo list,
    and labels follow as lines: `D` a decision, `N` a next step, `d` and `n` optional ones, with keywords.
    A round without any `N` is labelled for decisions only.
    """
    for path in sorted((HERE / "written").glob("*.txt")):
        whole = path.read_text("utf-8")
        kinds = ("decisions", "next_steps") if "\nN " in whole else ("decisions",)
        for block in whole.split("=== ")[1:]:
            name, _, text = block.partition("\n")
            yield _short(f"{path.stem}/{name.strip()}", text.splitlines(), kinds)


def _short(name: str, rows: list[str], kinds: tuple[str, ...]) -> Case:
    wanted: dict[str, list[list[str]]] = {kind: [] for kind in kinds}
    optional: dict[str, list[list[str]]] = {"decisions": [], "next_steps": []}
    lines: list[str] = []
    talk = ""
    for row in rows:
        head, _, rest = row.partition(" ")
        if head in {"D", "N", "d", "n"}:
            kind = "decisions" if head in "Dd" else "next_steps"
            (wanted if head.isupper() else optional)[kind].append([word.strip() for word in rest.split(",")])
            continue
        if head == "<" or head in {">", "t", *_RUNS, *_FILES}:
            lines += ["end"] if talk == "<" and head != "<" else []
            talk = head
        if head == "<":
            lines += ["said", f"  {rest}"] if rest.strip() else []
        elif head == "t":
            lines += ["todo", *(f"  {item.strip()}" for item in rest.split(";"))]
        elif head in {">", *_RUNS, *_FILES}:
            lines.append(row)
        else:
            lines.append(f"  {row.strip()}" if row.startswith("  ") or talk in {"<", ">"} else row)
    lines += ["end"] if talk == "<" else []
    return script(name, "\n".join(lines), {**wanted, "optional": optional})


# --- scripts ------------------------------------------------------------------------------------------

_RUNS = {"$": Outcome.OK, "!": Outcome.FAILED, "^": Outcome.INTERRUPTED, "?": Outcome.NONE}
_BOXES = {"x": "completed", "~": "in_progress", " ": "pending"}
_FILES = {"edit": Action.EDIT, "write": Action.WRITE, "read": Action.READ}


def authored() -> Iterator[Case]:
    """Sessions that we wrote, one text file each (see README.md for the format)."""
    for name, label in labels("authored").items():
        yield script(name, (HERE / "sessions" / f"{name}.txt").read_text("utf-8"), label)


def script(name: str, text: str, label: Mapping[str, object] | None = None) -> Case:
    """Read one script."""
    head: dict[str, str] = {}
    events: list[Event] = []
    lines = text.splitlines()
    while lines and (not lines[0] or lines[0].split(":", 1)[0] in {"cwd", "status", "parent"}):
        key, _, value = lines.pop(0).partition(":")
        head[key] = value.strip()
    for line in lines:
        if line.startswith("  ") and events:
            last = events[-1]
            events[-1] = replace(last, text=f"{last.text}\n{line[2:]}" if last.text else line[2:])
        elif line.strip():
            events.append(_event(line, START + len(events) * 5_000, head.get("cwd", "")))
    return case(
        name, "authored", map(_finished, events), label or {}, head.get("parent", ""), head.get("status", "")
    )


def _event(line: str, at: int, cwd: str) -> Event:
    word, _, rest = line.partition(" ")
    base = Event("claude-code", "script", Kind.TOOL, at, where=Where(cwd))
    if word == ">":
        return replace(base, kind=Kind.PROMPT, text=rest)
    if word in _RUNS:
        return replace(base, tool="Bash", action=Action.RUN, target=rest, outcome=_RUNS[word])
    if word in _FILES:
        return replace(base, tool=word.title(), action=_FILES[word], target=rest, outcome=Outcome.OK)
    match word:
        case "said":
            return replace(base, kind=Kind.SAID)
        case "todo":
            return replace(base, tool="TodoWrite", action=Action.PLAN, outcome=Outcome.OK)
        case "compacted":
            return replace(base, kind=Kind.COMPACTED)
        case "end":
            return replace(base, kind=Kind.TURN_ENDED, outcome=Outcome.OK)
        case "exit":
            return replace(base, kind=Kind.SESSION_ENDED, reason=rest)
        case _:
            raise ValueError(f"unknown line in script: {line!r}")


def _finished(event: Event) -> Event:
    """A plan's lines become the JSON that the real tool sends."""
    if event.action is not Action.PLAN:
        return event
    todos = [{"content": row[4:], "status": _BOXES[row[1]]} for row in event.text.splitlines()]
    return replace(event, text=json.dumps({"todos": todos}, ensure_ascii=False))
