"""`backstory session`: the registry of a host that runs agents in containers or groups.

Each command prints one JSON line, says the rest on stderr, and its exit code is what counts. The lock, the
state and the sentinel are the host's files: nothing of the memory itself is opened but by `bootstrap`.
"""

import json
import sys
from datetime import UTC, datetime
from typing import Any

import click

from backstory.cli.output import raw, table, talk
from backstory.cli.project_scope import chosen_folder, cwd_option, open_app
from backstory.paths import Home
from backstory.registry import sentinel as sentinels
from backstory.registry import session_state as states
from backstory.registry.host_session import session_id_in
from backstory.registry.registry_paths import Places, registry_places, session_id, session_name

_state_option = click.option(
    "--state",
    metavar="FILE",
    help="The state file. Else BACKSTORY_STATE, else session-state.json in the home.",
)
_sentinel_option = click.option(
    "--sentinel",
    metavar="FILE",
    help="The sentinel. Else BACKSTORY_SENTINEL, else session-bootstrapped in the home.",
)


@click.group()
def session() -> None:
    """Register sessions, for hosts that run agents in groups.

    Each command prints JSON on one line. The session's name is NANOCLAW_SESSION_NAME, or "default"; the id
    that the sentinel holds is CLAUDE_SESSION_ID, or CLAUDE_CODE_SESSION_ID.
    """


@session.command()
@_state_option
@_sentinel_option
@click.option("--db", metavar="FILE", help="The host's database with a table `sessions`. Else BACKSTORY_DB.")
def register(state: str | None, sentinel: str | None, db: str | None) -> None:
    """Write that a session starts, and that it was given its bootstrap.

    Exits 1 if the lock, the state or the sentinel cannot be used. Without an id in the environment, or with
    a state of a newer version, no sentinel is written, and the next start asks for the bootstrap again.
    """
    places = _places(state, sentinel, db)
    name, own = session_name(), session_id()
    known, note = session_id_in(places.database)
    after = states.register_session(places, name, known, datetime.now(UTC))
    wrote_sentinel = not after.newer and sentinels.write_sentinel(places.sentinel, own)
    for said in filter(None, (note, *after.notes)):
        talk(f"backstory: {said}")
    if not own:
        talk("backstory: no session id in the environment: no sentinel is written")
    _print_line(
        session_id=known,
        session_name=name,
        schema_version=states.SCHEMA_VERSION,
        wrote_state=not after.newer,
        wrote_sentinel=wrote_sentinel,
    )


@session.command("needs-bootstrap")
@_sentinel_option
def needs_bootstrap(sentinel: str | None) -> None:
    """Tell whether this session still needs its bootstrap: exit 0 if so, 1 if not."""
    found = sentinels.bootstrap_need(_places(None, sentinel, None).sentinel, session_id())
    _print_line(needs_bootstrap=found.needed, reason=found.reason)
    sys.stdout.flush()
    sys.exit(0 if found.needed else 1)


@session.command("list")
@_state_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
def list_(state: str | None, as_json: bool) -> None:
    """List the sessions that were registered."""
    found = states.read_state(_places(state, None, None).state)
    for note in found.notes:
        talk(f"backstory: {note}")
    if as_json:
        rows = [{"name": name, **entry} for name, entry in found.sessions.items()]
        _print_line(sessions=rows, schema_version=found.whole.get("schema_version"))
    elif found.sessions:
        shown = ("started", "last_seen", "ended", "session_id")
        table(
            [[name, *(str(entry.get(key) or "") for key in shown)] for name, entry in found.sessions.items()],
            ("name", *shown),
        )
    else:
        talk("No session is registered.")


@session.command()
@_state_option
@click.argument("name", required=False)
def end(state: str | None, name: str | None) -> None:
    """Write that a session is over: NAME, or the one that runs."""
    wanted = name or session_name()
    after, ended = states.end_session(_places(state, None, None), wanted, datetime.now(UTC))
    for note in after.notes:
        talk(f"backstory: {note}")
    if not ended and not after.newer:
        talk(f"backstory: no session is registered as {wanted!r}")
    _print_line(session_name=wanted, schema_version=states.SCHEMA_VERSION, ended=ended)


@session.command()
@click.option("--about", metavar="TEXT", help="What the session is about; picks the facts told in full.")
@cwd_option
def bootstrap(about: str | None, cwd: str | None) -> None:
    """Print what is written down of a project, for a session that starts.

    Index, runbook, facts, the last two days and weeks, highlights, and what is shared if the project is
    trusted, within about 3,000 tokens; nothing if there is nothing.
    """
    from backstory.knowledge_base import KnowledgeBase

    with open_app() as app:
        text = KnowledgeBase(app).bootstrap(app.project_at(chosen_folder(cwd)), about or "")
    if text:
        raw(text.rstrip("\n"))


def _places(state: str | None, sentinel: str | None, db: str | None) -> Places:
    return registry_places(Home.default(), state, sentinel, db)


def _print_line(**values: Any) -> None:
    click.echo(json.dumps(values))
