"""The brief for one start of a session: may this folder be briefed, which project is it, what has the worker
prepared, what still waits in the spool, which rows, which text. The hook and `backstory brief` both ask here.
"""

import os
import time

from backstory.hook import brief_text, file_stamps, pending_events
from backstory.hook.agent_facts import facts_of
from backstory.hook.ignore_globs import ignores_folder
from backstory.hook.payload import BadPayload, parse_payload
from backstory.hook.project_identity import ident, joined_in, project_id, resolve_place, session_id
from backstory.hook.regular_file import read_head

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from backstory.hook.time_limit import TimeLimit

SOURCES = ("startup", "resume", "clear", "compact", "fork")
_SAME_BRANCH = 0.5  # more worth: what came of the last session on the branch that is checked out
_FILE_BYTES = 4 * 1024 * 1024
# What the worker writes for hooks, by the type of each value; see `Settings.for_hook`.
_SHAPES: "dict[str, type]" = {
    **dict.fromkeys(
        ("sources", "redact_off", "skip_tools", "ignore_paths", "ignore_projects", "monorepo"), list
    ),
    **dict.fromkeys(("notes", "confirmed"), dict),
}


def brief_for(
    home: str,
    settings: "dict[str, Any]",
    cwd: str,
    agent: str,
    source: str,
    native: str,
    redact: "Callable[[str], str]",
    until: "TimeLimit | None" = None,
    notices: tuple[str, ...] = (),
    failed: "Callable[[Exception], None] | None" = None,
    project: str = "",
    spoke: int = 0,
    forked: str = "",
    spool: str = "spool",
) -> brief_text.Brief:
    """What a session of `agent` that starts in `cwd` is told; `native` is the agent's own id of it, or "".

    Looking through the spool stops at `until`; what goes wrong there is reported to `failed`, and
    the prepared rows are given without it. `project` names the project of a folder that is gone. `spoke` is
    when this context last heard something, if the agent says so. `forked` is the agent's own id of the
    session whose conversation this one goes on from: it holds what that one held. `spool` is the folder of
    what waits, "" for what would be told if nothing did.
    """
    if ignores_folder(cwd, settings.get("ignore_projects") or []) or source not in settings.get(
        "sources", SOURCES
    ):
        return brief_text.Brief("", [])
    native = forked or native
    own = session_id(agent, ident(native)) if native else ""
    joined = joined_in(home)
    place = resolve_place(cwd, settings.get("confirmed"), settings.get("monorepo") or (), joined)
    briefs = os.path.join(home, "briefs")
    prepared = json_file(os.path.join(briefs, f"{project or project_id(place.identity)}.json"))
    session = json_file(os.path.join(briefs, "sessions", f"{own}.json")) if own else {}
    try:
        forgotten = text_list(json_file(os.path.join(briefs, "forgotten.json")).get("sessions"))
        waiting = (
            pending_events.pending_rows(
                os.path.join(home, spool), place, settings, redact, forgotten, until, joined
            )
            if spool
            else []
        )
    except Exception as error:
        if failed is None:
            raise
        failed(error)
        waiting = []
    rows = brief_text.rows_of(prepared.get("rows"))
    for row in rows:
        row.worth += _SAME_BRANCH if row.branch and row.branch == place.branch else 0.0
    rows = _taken_over(rows, briefs, agent, source)
    file_stamps.label_rows(rows, prepared, place.root, {own, *(row.session for row in waiting)}, until)
    told = {row.id for row in rows}
    waiting = [row for row in waiting if row.id not in told]  # a note that is prepared already
    facts = facts_of(agent)
    tokens = positive_number(settings.get("budget_tokens"), brief_text.TOKENS)
    if source == "resume" and facts["told_again"]:
        source, rows = "startup", [row for row in rows if row.session != own]
    return brief_text.compose_brief(
        brief_text.choose_rows(source, rows, session, waiting, own, spoke),
        str(prepared.get("name") or place.name),
        now_ms(),
        [*notices, *_trouble(home), *text_list(prepared.get("notices"))],
        positive_number(settings.get("budget_chars"), brief_text.CHARS),
        min(tokens, facts["most_tokens"] or tokens),
    )


def _taken_over(rows: "list[brief_text.Row]", briefs: str, agent: str, source: str) -> "list[brief_text.Row]":
    """Where another agent left off, its checkpoint stands for its summary, and tells the open steps too."""
    left = next((row for row in rows if row.section == "left_off"), None)
    if left is None or left.agent == agent or source not in ("startup", "clear"):
        return rows
    session = json_file(os.path.join(briefs, "sessions", f"{left.session}.json"))
    checkpoint = brief_text.rows_of(session.get("checkpoint"), "left_off")
    if not checkpoint:
        return rows
    others = [row for row in rows if row is not left and (row.section, row.session) != ("open", left.session)]
    if any((row.section, row.session) == ("decisions", left.session) for row in others):
        checkpoint = [row for row in checkpoint if not row.text.startswith("Decided: ")]
    return [*checkpoint, *others]


def _trouble(home: str) -> list[str]:
    """A line if the worker could not store anything when it last tried."""
    trouble = json_file(os.path.join(home, "trouble.json"))
    if not trouble:
        return []
    since = brief_text.age_label(positive_number(trouble.get("since"), 0), now_ms())
    return [f"Backstory could not store anything ({since}); what was captured waits. Run `backstory doctor`."]


def settings_file(home: str) -> "dict[str, Any]":
    """What the worker tells hooks of the settings; what is not of its shape counts as not told."""
    found = json_file(os.path.join(home, "hook", "settings.json"))
    shaped = {key: value for key, value in found.items() if isinstance(value, _SHAPES.get(key, object))}
    return {key: text_list(value) if isinstance(value, list) else value for key, value in shaped.items()}


def text_list(value: object) -> list[str]:
    """The texts of a list in a prepared file, whatever state it is in."""
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def json_file(path: str) -> "dict[str, Any]":
    """A prepared file; a missing or broken one is an empty one."""
    data = read_head(path, _FILE_BYTES)
    try:
        return parse_payload(data) if data else {}
    except BadPayload:
        return {}


def positive_number(value: object, default: int) -> int:
    """A setting that must be a positive number."""
    return value if isinstance(value, int) and value > 0 else default


def now_ms() -> int:
    """Milliseconds since 1970."""
    return time.time_ns() // 1_000_000
