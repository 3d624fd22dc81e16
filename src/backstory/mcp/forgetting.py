"""The tool `forget`, in two steps: the first call tells what would go, the second, with its code, does it.

A code belongs to what its first call told, in this process, for some minutes. When something else would go by
then, it is refused. So an agent cannot forget what nobody was shown.
"""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from time import monotonic as now
from typing import Any

from backstory.app import App
from backstory.errors import SourceMissing, UsageError
from backstory.hook.brief import HANDLE, shorten
from backstory.upkeep.forget import Changed, Forgotten, Wanted

_MINUTES = 10
_SHOWN = 20
_TEXT = 120
_MOST_CODES = 50


@dataclass(frozen=True, slots=True)
class _Told:
    """What a first call told would go, and until when it may be confirmed."""

    wanted: Wanted
    plan: Forgotten
    until: float


_told: dict[str, _Told] = {}


def forget(app: App, arguments: Mapping[str, Any], folder: Path) -> str:
    """Tell what would be forgotten, or forget what was told."""
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
    code = _keep(_Told(wanted, plan, now() + _MINUTES * 60))
    return "\n".join(
        (
            f"Nothing is forgotten yet. This would go for good{where}: {_counts(plan)}.",
            *_rows(app, plan),
            *_copies(plan),
            f'If the user wants exactly this: forget(confirm="{code}"), within {_MINUTES} minutes.',
        )
    )


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
    try:
        with App(app.home) as patient:  # it goes on beside, and may wait for a worker
            done = patient.forget(told.wanted, really=True, agreed=told.plan)
    except Changed as error:
        del _told[code]
        raise UsageError(
            f"{error}: nothing was forgotten. Call forget again with what is meant, look at what it tells "
            "now, and confirm that"
        ) from None
    del _told[code]
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
