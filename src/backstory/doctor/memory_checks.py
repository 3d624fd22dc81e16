"""The memory itself: home, settings, database, what was captured, and the brief that comes of it."""

import os
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from backstory import clock
from backstory.agents import AGENTS, claude_code
from backstory.app import App
from backstory.capture.ownership import planting_ground
from backstory.doctor import capture_checks
from backstory.doctor.check import Check, fail, ok, warn
from backstory.embed.embedder import check_model_files
from backstory.errors import BackstoryError
from backstory.llm.model_provider import model_for, out_of_reach, provider
from backstory.store.backup_copy import Contents
from backstory.store.disk_errors import find_obstacle
from backstory.store.integrity import Health, examine_database, has_fts5

_RECENT_MS = 7 * 86_400_000
_MISSED_MS = 3_600_000
_SESSIONS = 500
_WIPED = 4  # so many times as much in the latest backup: somebody emptied the database
_MEND_FIRST = "fix what is named above, then try again"


def home(app: App) -> Iterator[Check]:
    """The folder that holds everything, for its owner alone."""
    root = app.home.root
    quoted = shlex.quote(str(root))
    if not root.is_dir():
        found = f"{root} is not a folder" if root.exists() else f"{root} does not exist"
        yield fail("home", found, "run `backstory install`: it makes the home; or set BACKSTORY_HOME")
    elif why := find_obstacle(app.home.database):
        yield fail("home", why.found, why.todo)
    elif found := planting_ground(app.home):
        todo = f"fix its owner and mode, or move the home with BACKSTORY_HOME; then look at {root / 'hook'}"
        yield fail("home", f"{found}, and so replace what hooks run", todo)
    elif os.name == "posix" and (mode := root.stat().st_mode & 0o777) & 0o077:
        yield warn("home", f"others can enter {root} (mode {mode:o})", f"run `chmod 700 {quoted}`")
    elif closed := app.closed_parts():
        found = ", ".join(map(str, closed))
        yield fail("home", f"{found} cannot be read", "run `backstory doctor --fix`: it repairs permissions")
    else:
        yield ok("home", f"{root}, readable by you alone")


def settings(app: App) -> Iterator[Check]:
    """The settings file."""
    problems = list(app.problems)
    zone = os.environ.get("BACKSTORY_TZ") or app.settings.time_zone
    if zone and clock.zone(zone) is None:
        problems.append(f"no time zone is called {zone!r}: times are the system's")
    for problem in problems:
        yield warn("settings", problem, "fix it; `backstory config` lists all settings")
    if not problems:
        changed = [row.key for row in app.setting_rows() if row.value != row.default]
        yield ok("settings", f"changed: {', '.join(changed)}" if changed else "all defaults")


def model(app: App) -> Check:
    """Whether the model that is to be asked could be; nobody is told that they have not asked for one."""
    try:
        if provider(app.settings, "distil") is None:
            return replace(ok("model", "none is configured, and none is needed"), quiet=True)
        why = out_of_reach(app.settings, app.store.projects.folders())
    except BackstoryError as error:
        why = str(error)
    if why:
        todo = "fix it where agents are started; or `backstory config model.provider off`"
        return warn("model", f"{app.settings.model_provider} cannot be asked: {why}", todo)
    return ok("model", f"{app.settings.model_provider}, {model_for(app.settings, 'distil')}")


def has_database(app: App) -> bool:
    """Whether there is a database, and this user may see it."""
    return os.access(app.home.database, os.R_OK)


def database(app: App, deep: bool = False) -> Iterator[Check]:
    """The database: readable, of a schema that we know, whole, writable; `deep` unpacks every payload."""
    path = app.home.database
    if not has_fts5():
        yield fail("text index", "this Python's SQLite lacks FTS5", "install Backstory with another Python")
    kept = app.kept_backups()[:1]
    if not path.exists():
        if kept:
            yield warn(
                "database", f"there is none, but {_holds(kept[0])}", "run `backstory restore` to go back"
            )
        else:
            yield ok("database", "not there yet: the first event makes it")
        return
    health = examine_database(path, deep)
    restore = ", or `backstory restore` to go back to the latest backup" if kept else ""
    mend = f"run `backstory repair`: it builds a new database beside it{restore}"
    if health.unreadable:
        why = find_obstacle(path)
        found = f"{path}: {health.unreadable}{f', because {why.found}' if why else ''}"
        yield fail("database", found, why.todo if why else mend)
        return
    if health.schema > health.known_schema:
        found = f"{path} has schema {health.schema}, this Backstory knows {health.known_schema}"
        yield fail("database", found, "upgrade Backstory; nothing was changed")
        return
    size = f"{path.stat().st_size / 1e6:,.1f} MB"
    old = "" if health.schema == health.known_schema else f", to be upgraded to {health.known_schema}"
    yield ok("database", f"{path}, {size}, schema {health.schema}{old}")
    if kept and health.events * _WIPED < kept[0].events:
        found = f"it has {health.events:,} events, but {_holds(kept[0])}"
        yield warn("database", found, "if you did not forget the rest, run `backstory restore`")
    if health.damage:
        yield fail("integrity", health.damage, mend)
    elif health.payloads_damaged:
        found = f"{health.payloads_damaged:,} of {health.payloads_read:,} payloads cannot be unpacked"
        yield warn("integrity", found, "run `backstory repair`: it leaves those out and keeps all the rest")
    else:
        yield ok("integrity", f"no damage found{_unread(health)}")
    if health.unwritable:
        why = find_obstacle(path)
        yield fail("writable", f"{path}: {health.unwritable}", why.todo if why else "end what holds the lock")
    else:
        yield ok("writable", "yes")


def _unread(health: Health) -> str:
    if health.payloads_read == health.payloads:
        return ""
    return f" ({health.payloads_read:,} of {health.payloads:,} payloads were unpacked; --deep unpacks all)"


def _holds(backup: Contents) -> str:
    return f"the backup {backup.path.name} has {backup.events:,}"


def index(app: App) -> Iterator[Check]:
    """The text index, which search looks through."""
    if app.store.passages.is_consistent():
        yield ok("text index", "whole")
    else:
        todo = "run `backstory doctor --fix`: it builds the index again from the events"
        yield fail("text index", "it does not have what is stored", todo)


def jobs(app: App) -> Iterator[Check]:
    """Work that failed too often."""
    parked = app.parked()
    if not parked:
        yield ok("jobs", "none has failed for good")
        return
    first = parked[0]
    yield warn(
        "jobs",
        f"{len(parked)} failed, the first: {first.kind} of {first.subject} ({first.last_error})",
        f"run `backstory doctor --fix` to try again; {app.home.logs / 'worker.log'} has the details",
    )


def captured(app: App, connected: Sequence[str]) -> Iterator[Check]:
    """What came in lately, by agent, compared with what the agent itself wrote down."""
    now = clock.now_ms()
    failed: dict[str, int] = {}
    for _, agent, _, name, count in app.store.counters.since(clock.day_of(now - _RECENT_MS)):
        if name == "failed":
            failed[agent or "hook"] = failed.get(agent or "hook", 0) + count
    for agent, count in failed.items():
        todo = f"{app.home.logs} has the details; run `backstory doctor` again after the next session"
        yield warn("captured", f"{count} hooks of {agent} failed in the last 7 days", todo)
    last: dict[str, int] = {}
    for session in app.store.events.sessions(limit=_SESSIONS):
        last[session.agent] = max(last.get(session.agent, 0), session.last_at)
    zone = clock.zone(app.settings.time_zone)
    for agent in dict.fromkeys((*connected, *last)):
        title = AGENTS[agent].title if agent in AGENTS else agent
        worked = _last_unread(app, agent) if agent in connected else 0
        if worked > last.get(agent, 0) + _MISSED_MS:
            heard = (
                f"its last event is of {clock.stamp(last[agent], zone)}" if agent in last else "nothing came"
            )
            yield warn(
                "captured",
                f"{title} wrote its own history at {clock.stamp(worked, zone)}, but {heard}",
                "start a new session: hooks are read when one starts; then run `backstory doctor` again",
            )
        elif agent in last:
            yield ok("captured", f"{title}: last event {clock.stamp(last[agent], zone)}")
        else:
            yield ok("captured", f"{title}: nothing yet; a session started from now on is captured")


def _last_unread(app: App, agent: str) -> int:
    """When the agent last wrote a transcript that was not read as it is now, in milliseconds; 0 if never."""
    history = AGENTS[agent].history
    if history is None or not history.root().exists():
        return 0
    marks = app.store.transcript_marks.all()
    read = {(key, mark.size, mark.stamp) for key, mark in marks.items()}
    found = history.find(history.root())
    return max((t.updated for t in found if (t.key, t.size, t.stamp) not in read), default=0)


def project(app: App, folder: Path) -> Iterator[Check]:
    """Which project the folder belongs to, and whether a file in it claims another."""
    place = app.place_at(folder)
    claim = app.claim_at(folder)
    if claim is not None and not claim[2]:
        yield warn(
            "project",
            f"{claim[0] / '.backstory.toml'} says that this is {claim[1]!r}; "
            f"until you agree it is {place.name}, known by {place.identity}",
            f"if you trust it, run `backstory config --confirm --cwd {shlex.quote(str(claim[0]))}`",
        )
    elif place.claim:
        yield warn(
            "project",
            f"git's files say that this is {place.claim}, but it has none of the commits that sessions there "
            f"worked on; until you agree it is {place.name}, known by {place.identity}",
            f"if it is yours, run `backstory config --confirm --cwd {shlex.quote(place.root)}`",
        )
    else:
        yield ok("project", f"{place.name}, known by {place.identity}")


def brief(app: App, folder: Path, usable: bool) -> Iterator[Check]:
    """What a session starting in the folder is told, by the product and by the installed hook itself."""
    expected = ""
    if usable:
        try:
            expected = app.brief(folder, claude_code.NAME).text
        except (BackstoryError, OSError) as error:
            yield fail("brief", f"it cannot be made: {error}", _MEND_FIRST)
            return
    elif not app.home.hook.is_dir():
        yield fail("brief", "it cannot be made without the database", _MEND_FIRST)
        return
    if not (app.home.hook / "hook.pyc").exists():
        found = f"{len(expected)} characters" if expected else "empty: nothing is known here yet"
        yield ok("brief", f"{found} (no hook is installed to print it)")
    else:
        yield capture_checks.answer(app, folder, expected)


def meaning(app: App) -> Iterator[Check]:
    """Search by meaning: whether there is something to make vectors with, and how many are missing."""
    means = app.means()
    if means.embedder is None:
        if app.settings.embed_provider == "off":
            yield ok("search", means.why)
        else:
            yield warn("search", means.why, "until then search goes by words only")
        return
    if wrong := check_model_files(app.settings):
        yield warn("search", wrong, "until then no vectors are made")
        return
    model, made_by = means.embedder.model, app.store.vectors.model()
    done, waiting = app.store.vectors.counts(model)
    if made_by and made_by != model:
        yield warn(
            "search",
            f"by words only: the vectors are of {made_by}, {waiting:,} of {model} are to be made",
            "the next worker makes them, if the model answers: `backstory jobs` tells what is stuck",
        )
    elif waiting:
        yield ok("search", f"by words and meaning; {waiting:,} of {done + waiting:,} vectors are to be made")
    else:
        yield ok("search", f"by words and meaning ({model}, {done:,} vectors)")
