"""The tool `forget`, in two steps: the first call tells what would go, the second, with its code, does it.

A code belongs to what its first call told, in this process, for some minutes. When something else would go by
then, it is refused. The agent may send both calls without a person: so a client that can ask its user is
made to ask (`protocol.py`), and where nobody was asked, an agent forgets little: what is recent, of its own
project, and not much of it. Beyond that it is told the command for the user's terminal. Every time leaves a
trace in the counters, which `status`, the viewer and the next briefs tell (`recall/prepare.py`).
"""

import secrets
import shlex
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from time import monotonic as now
from typing import Any

from backstory import clock
from backstory.app import App
from backstory.errors import SourceMissing, UsageError
from backstory.hook.brief import HANDLE, shorten
from backstory.recall.prepare import FORGOT
from backstory.upkeep.forget import Changed, Forgotten, Wanted

_MINUTES = 10
_SHOWN = 20
_TEXT = 120
_MOST_CODES = 50
# So much an agent forgets when no person was asked.
MOST_EVENTS, MOST_MEMORIES = 100, 30
HOURS = 24


@dataclass(frozen=True, slots=True)
class _Told:
    """What a first call told would go, and until when it may be confirmed."""

    wanted: Wanted
    plan: Forgotten
    until: float
    limits: str
    rows: tuple[str, ...]


_told: dict[str, _Told] = {}
_agreed: set[str] = set()


def question(code: str) -> str:
    """What a client asks its user before a code is carried out; "" if it is unknown, or was agreed to."""
    told = _told.get(code)
    if told is None or told.until < now() or code in _agreed:
        return ""
    return "\n".join((f"Forget this for good? {_counts(told.plan)}. It cannot be undone.", *told.rows))


def agree(code: str) -> None:
    """The client's user wants what a code stands for."""
    _agreed.add(code)


def forget(app: App, arguments: Mapping[str, Any], folder: Path, asks_user: bool = False) -> str:
    """Tell what would be forgotten, or forget what was told; `asks_user`: the client asks first."""
    if code := arguments.get("confirm", "").strip(" `'\".,"):
        if arguments.get("all") or any(arguments.get(name, "").strip() for name in ("handle", "text")):
            raise UsageError(
                "a code confirms what was told with it, and stands alone: nothing was forgotten. Call forget "
                "with confirm and nothing else, or without it to hear what would go"
            )
        return _carry_out(app, code)
    handles, text = arguments.get("handle", "").replace(",", " ").split(), arguments.get("text", "")
    if not handles and not text.strip():
        raise UsageError("there is nothing to forget: give a handle (of a memory, event or session) or text")
    limited = bool(text) and not arguments.get("all")
    wanted = app.wanted(
        [handle.strip("[]()`'\".;:") for handle in handles],
        text=text,
        project_id=app.project_at(folder).id if limited else None,
    )
    plan = app.forget(wanted, really=False)
    where = " in this project; all=true looks in every project" if limited else ""
    if not plan:
        return "\n".join(_called(plan)) or f"There is nothing of that kind{where}."
    rows = (*_rows(app, plan), *_copies(plan))
    limits = _beyond_an_agent(app, plan, folder)
    head = f"Nothing is forgotten yet. This would go for good{where}: {_counts(plan)}."
    if limits and not asks_user:
        return "\n".join((head, *rows, f"{limits}: only the user can, with `{_command(app, wanted)}`."))
    code = _keep(_Told(wanted, plan, now() + _MINUTES * 60, limits, rows))
    last = f'If the user wants exactly this: forget(confirm="{code}"), within {_MINUTES} minutes.'
    return "\n".join((head, *rows, last))


def _beyond_an_agent(app: App, plan: Forgotten, folder: Path) -> str:
    """Why an agent may not forget this by itself; "" if it may."""
    events, memories = plan.reach.events, plan.reach.memories
    done = Counter[str]()  # today, so that many calls are no way around it
    for _, _, event, what, count in app.store.books.counted(clock.day_of(clock.now_ms())):
        done[what] += count if event == FORGOT else 0
    if done["event"] + len(events) > MOST_EVENTS or done["memory"] + len(memories) > MOST_MEMORIES:
        return f"No agent forgets more than {MOST_EVENTS} events or {MOST_MEMORIES} memories a day by itself"
    if set(plan.sessions.values()) - {app.project_at(folder).id}:
        return "No agent forgets by itself what is of another project"
    known = (app.store.events.event(eid) for eid in events)
    times = [stored.event.at for stored in known if stored is not None]
    times += [memory.at for mid in memories if (memory := app.store.memories.kept(mid)) is not None]
    if len(times) < len(events) + len(memories) or min(times, default=0) < clock.now_ms() - HOURS * 3_600_000:
        return f"No agent forgets by itself what is older than {HOURS} hours"
    return ""


def _command(app: App, wanted: Wanted) -> str:
    """The command that forgets it."""
    words = ["backstory", "forget", *(full[:HANDLE] for full in wanted.ids)]
    project = app.store.projects.get(wanted.project_id) if wanted.project_id else None
    words += ["--text", wanted.text] if wanted.text else []
    words += ["--project", project.name] if project else []
    return shlex.join(words)


def _keep(told: _Told) -> str:
    for code in [code for code, old in _told.items() if old.until < now()]:
        del _told[code]
    while len(_told) >= _MOST_CODES:
        del _told[next(iter(_told))]
    code = f"yes-{secrets.token_hex(4)}"
    _told[code] = told
    return code


def _carry_out(app: App, code: str) -> str:
    told = _told.get(code)
    if told is None or told.until < now():
        raise SourceMissing(
            f"the code {code!r} is unknown here, used or older than {_MINUTES} minutes: nothing was "
            "forgotten. Call forget with a handle or text, look at what it tells, and confirm that"
        )
    if told.limits and code not in _agreed:
        raise UsageError(f"{told.limits}: nothing was forgotten. {_command(app, told.wanted)} is the user's")
    try:
        with App(app.home) as patient:  # it goes on beside, and may wait for a worker
            done = patient.forget(told.wanted, really=True, agreed=told.plan, by_agent=True)
    except Changed as error:
        del _told[code]
        raise UsageError(
            f"{error}: nothing was forgotten. Call forget again with what is meant, look at what it tells "
            "now, and confirm that"
        ) from None
    del _told[code]
    _agreed.discard(code)
    return "\n".join((f"Forgotten: {_counts(done)}.", *_beyond(done)))


def _counts(plan: Forgotten) -> str:
    parts = ((plan.reach.sessions, "sessions"), (plan.reach.events, "events"))
    return ", ".join(f"{len(ids)} {name}" for ids, name in (*parts, (plan.reach.memories, "memories")))


def _rows(app: App, plan: Forgotten) -> list[str]:
    """What would go, one line each: memories first, they say most."""
    memories = (app.store.memories.kept(mid) for mid in sorted(plan.reach.memories)[:_SHOWN])
    events = (app.store.events.event(eid) for eid in sorted(plan.reach.events)[:_SHOWN])
    rows = [
        *((m.id, str(m.kind), m.text) for m in memories if m is not None),
        *((e.id, str(e.event.kind), f"{e.event.target} {e.event.text}") for e in events if e is not None),
    ][:_SHOWN]
    more = len(plan.reach.events) + len(plan.reach.memories) - len(rows)
    return [
        *(
            f"- {kind.replace('_', ' ')}: {shorten(' '.join(text.split()), _TEXT)} ({full[:HANDLE]})"
            for full, kind, text in rows
        ),
        *([f"- and {more} more: `backstory forget --dry-run --json` lists all"] if more > 0 else []),
    ]


def _copies(plan: Forgotten) -> list[str]:
    gone = [f"- the file {path}" for path in plan.files]
    cut = [f"- its words in {path}" for path in (*plan.pages, *plan.archives, *plan.copies)]
    return [*gone, *cut, *_beyond(plan)]


def _beyond(plan: Forgotten) -> list[str]:
    paths = (*plan.backups, *plan.needed, *plan.out_of_reach)
    return [*(f"Out of reach, may still have it: {path}" for path in paths), *_called(plan)]


def _called(plan: Forgotten) -> list[str]:
    return [
        f"Stays: the project {name} has the words in its name or address; only the user can forget "
        "all of it, with `backstory forget --project`."
        for name in plan.projects
    ]
