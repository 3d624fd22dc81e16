"""The tool `forget`, in two steps: the first call tells what would go, the second, with its code, does it.

A code belongs to what its first call told, in this process, for some minutes. When something else would go by
then, it is refused. The agent may send both calls without a person: so a client that can ask its user is
made to ask (`json_rpc.py`), and where nobody was asked, an agent forgets little: what is recent, of its own
project, and not much of it, by what is so when the code is carried out. Beyond that it is told the command
for the user's terminal. Every time leaves a trace in the counters, which `status`, the viewer and the next
briefs tell (`recall/prepare.py`).
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
from backstory.file_reader import read_bytes
from backstory.front_matter import split_front_matter
from backstory.hook.brief_text import HANDLE, shorten
from backstory.knowledge.vault import vault_of
from backstory.recall.prepare import FORGOT
from backstory.upkeep.erasure import ErasurePlan, ErasureRequest, PlanChanged, hold_to

_MINUTES = 10
_SHOWN = 20
_TEXT = 120
_MOST_CODES = 50
# So much an agent forgets when no person was asked.
MOST_EVENTS, MOST_MEMORIES = 100, 30
HOURS = 24
_TOO_OLD = f"No agent forgets by itself what is older than {HOURS} hours"
_LISTS = ("index.md", "log.md", "facts/index.md")


@dataclass(frozen=True, slots=True)
class _Told:
    """What a first call told would go, and until when it may be confirmed."""

    wanted: ErasureRequest
    plan: ErasurePlan
    until: float
    folder: Path
    rows: tuple[str, ...]


_told: dict[str, _Told] = {}
_agreed: set[str] = set()


def confirmation_question(code: str) -> str:
    """What a client asks its user before a code is carried out; "" if it is unknown, or was agreed to."""
    told = _told.get(code)
    if told is None or told.until < now() or code in _agreed:
        return ""
    return "\n".join((f"Forget this for good? {_counts(told.plan)}. It cannot be undone.", *told.rows))


def record_agreement(code: str) -> None:
    """The client's user wants what a code stands for."""
    _agreed.add(code)


def forget_call(app: App, arguments: Mapping[str, Any], folder: Path, asks_user: bool = False) -> str:
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
        return "\n".join(_stays(plan)) or f"There is nothing of that kind{where}."
    rows = (*_rows(app, plan), *_copies(plan))
    limits = _beyond_an_agent(app, plan, folder)
    head = f"Nothing is forgotten yet. This would go for good{where}: {_counts(plan)}."
    if limits and not asks_user:
        return "\n".join((head, *rows, f"{limits}: only the user can, with `{_command(app, wanted)}`."))
    code = _keep(_Told(wanted, plan, now() + _MINUTES * 60, folder, rows))
    last = f'If the user wants exactly this: forget(confirm="{code}"), within {_MINUTES} minutes.'
    return "\n".join((head, *rows, last))


def _beyond_an_agent(app: App, plan: ErasurePlan, folder: Path) -> str:
    """Why an agent may not forget this by itself; "" if it may. Whatever a plan touches is looked at."""
    events, memories = plan.reach.events, plan.reach.memories
    done = Counter[str]()  # today, so that many calls are no way around it
    for _, _, event, what, count in app.store.counters.since(clock.day_of(clock.now_ms())):
        done[what] += count if event == FORGOT else 0
    if done["event"] + len(events) > MOST_EVENTS or done["memory"] + len(memories) > MOST_MEMORIES:
        return f"No agent forgets more than {MOST_EVENTS} events or {MOST_MEMORIES} memories a day by itself"
    project = app.project_at(folder)
    vault = vault_of(app.home, project).root
    pages = [(vault, page) for page in plan.pages] + [(Path(project.root), page) for page in plan.exported]
    if set(plan.sessions.values()) - {project.id} or any(own not in page.parents for own, page in pages):
        return "No agent forgets by itself what is of another project"
    since = clock.now_ms() - HOURS * 3_600_000
    known = (app.store.events.event(eid) for eid in events)
    times = [stored.event.at for stored in known if stored is not None]
    times += [memory.at for mid in memories if (memory := app.store.memories.kept(mid)) is not None]
    if len(times) < len(events) + len(memories) or any(at < since for at in times):
        return _TOO_OLD
    if plan.damaged or plan.damaged_copies or any(_is_older(app, file, since) for file in plan.files):
        return _TOO_OLD
    if plan.unwanted.by_words and any(_page_is_older(page, vault, since) for page in plan.pages):
        return _TOO_OLD  # else only rows go that tell of those events and memories
    return ""


def _is_older(app: App, file: Path, since: int) -> bool:
    """Whether a file that would go has something of before; what is prepared is made again."""
    if app.home.briefs in file.parents:
        return False
    session = app.store.events.session(file.name.partition(".")[0])
    if session is not None and file.parent == app.home.transcripts:
        return session.started_at < since
    return _changed_at(file) < since


def _page_is_older(page: Path, vault: Path, since: int) -> bool:
    """Whether a page of the wiki may say what was said before: by its day, by when it was made, by its file.

    The lists of pages are made of the others, and so is what was compiled.
    """
    name = page.relative_to(vault).as_posix()
    if name in _LISTS or name.startswith((".backstory/", "reports/")):
        return False
    if name.startswith("daily/"):
        made = page.stem
    else:
        made = str(split_front_matter(read_bytes(page).decode("utf-8", "replace"))[0].get("created") or "")
    return _changed_at(page) < since or (bool(made) and made < clock.day_of(since))


def _changed_at(file: Path) -> int:
    try:
        return file.stat().st_mtime_ns // 1_000_000
    except OSError:
        return 0


def _command(app: App, wanted: ErasureRequest) -> str:
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
    try:
        with App(app.home) as patient:  # it goes on beside, and may wait for a worker
            done = patient.forget(
                told.wanted, True, lambda plan: _hold_to(patient, code, told, plan), by_agent=True
            )
    except PlanChanged as error:
        del _told[code]
        raise UsageError(
            f"{error}: nothing was forgotten. Call forget again with what is meant, look at what it tells "
            "now, and confirm that"
        ) from None
    del _told[code]
    _agreed.discard(code)
    return "\n".join((f"Forgotten: {_counts(done)}.", *_beyond(done)))


def _hold_to(app: App, code: str, told: _Told, plan: ErasurePlan) -> None:
    """Raise unless this is what was told, and is still within an agent's limits or agreed to by the user."""
    hold_to(app.store, told.plan, plan)
    if code not in _agreed and (limits := _beyond_an_agent(app, plan, told.folder)):
        raise UsageError(
            f"{limits}: nothing was forgotten. Only the user can, with `{_command(app, told.wanted)}`"
        )


def _counts(plan: ErasurePlan) -> str:
    parts = ((plan.reach.sessions, "sessions"), (plan.reach.events, "events"))
    return ", ".join(f"{len(ids)} {name}" for ids, name in (*parts, (plan.reach.memories, "memories")))


def _rows(app: App, plan: ErasurePlan) -> list[str]:
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


def _copies(plan: ErasurePlan) -> list[str]:
    gone = [f"- the file {path}" for path in plan.files]
    cut = [f"- its words in {path}" for path in (*plan.pages, *plan.exported, *plan.archives, *plan.copies)]
    return [*gone, *cut, *_beyond(plan)]


def _beyond(plan: ErasurePlan) -> list[str]:
    paths = (*plan.backups, *plan.out_of_reach)
    return [*(f"Out of reach, may still have it: {path}" for path in paths), *_stays(plan)]


def _stays(plan: ErasurePlan) -> list[str]:
    called = [
        f"Stays: the project {name} has the words in its name or address; only the user can forget "
        "all of it, with `backstory forget --project`."
        for name in plan.projects
    ]
    damaged = [
        f"Damaged, nobody can tell what it holds: {path}" for path in (*plan.damaged, *plan.damaged_copies)
    ]
    return [*(f"Stays as it is, and has the words: {path}" for path in plan.needed), *called, *damaged]
