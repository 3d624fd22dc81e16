"""Connecting an agent to the memory, and disconnecting it, as plans.

Install gives every event of the agent one hook of ours, in the user's settings or in those of a project that
are not committed, and lists our MCP server; where that stands already, it changes nothing. Uninstall takes
out ours, wherever they are, and with the last agent everything in the home that is not the memory.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from backstory.agents import Agent
from backstory.agents.agent import Owned
from backstory.agents.mcp_lists import Servers
from backstory.capture import instruction_block, mcp_registration, owned_file, settings_entries, written_files
from backstory.capture.file_plan import Change, Drafts, Plan, agent_backups, carry_out, make_home
from backstory.capture.hook_bundle import hook_files_current
from backstory.capture.ownership import require_own
from backstory.capture.settings_files import (
    agent_surface,
    event_commands,
    hook_interpreter,
    instructions_file,
    is_here,
    naming_file,
    settings_file,
    wanted_entries,
)
from backstory.capture.setup_check import Configured, installed_hooks
from backstory.capture.written_files import INSTRUCTIONS, OWNED, SERVER, SETTINGS, Site
from backstory.errors import SourceMissing, UsageError
from backstory.git.boundary import ask
from backstory.git.ignore_rules import is_ignored
from backstory.hook import spool
from backstory.hook.project_identity import resolve_place
from backstory.paths import Home

__all__ = [
    "Change",
    "Configured",
    "Plan",
    "carry_out",
    "installed_hooks",
    "instructions_file",
    "make_home",
    "plan_install",
    "plan_uninstall",
    "settings_file",
    "stale_server",
    "uninstall_plans",
]

_BLOCK = "how to search the memory"
_SERVER = "MCP server"
_Known = dict[tuple[Path, str], Site]


# --- install ----------------------------------------------------------------------------------------------


def plan_install(
    agent: Agent, home: Home, project: Path | None = None, instructions: Path | None = None
) -> Plan:
    """Our hooks into the settings; with `instructions`, also the block about searching into that file."""
    require_own(home)
    settings = settings_file(agent, project)
    if project is not None and not project.is_dir():
        raise SourceMissing(f"{project} is not a folder: name the project's folder")
    before = written_files.written_sites(home).get(agent.name, ())
    known = {(site.file, site.kind): site for site in before}
    drafts = Drafts()
    _put_hooks(agent, home, settings, drafts, known)
    if mcp_registration.is_there():
        _put_server(agent, home, project, drafts, known)
    if instructions is not None:
        _put_block(instructions.absolute(), drafts, known)
    others = [
        Change(home.hook, _hook_files(home), "hook script and code"),
        *_beside(drafts, home, tuple(known.values()) != before),
        *_warnings(agent, settings, project),
    ]
    return Plan.of(agent.name, drafts, others, known.values())


def _note(known: _Known, file: Path, kind: str, wrote: str = "") -> None:
    known[file, kind] = written_files.site_record(file, kind, known.values(), wrote)


def _put_hooks(agent: Agent, home: Home, file: Path, drafts: Drafts, known: _Known) -> None:
    hooks = agent_surface(agent).hooks
    if isinstance(hooks, Owned):
        _put_owned(agent, hooks, home, file, drafts, known)
        return
    _note(known, file, SETTINGS)
    with naming_file(file):
        after, done = settings_entries.put_entries(
            drafts.text(file) or "", wanted_entries(agent, hooks, home)
        )
        off = settings_entries.switched_off(settings_entries.parse_settings(after), hooks)
    changes = [Change(file, action, f"hook {event}") for event, action in done.items()]
    if off:
        changes.append(Change(file, "warn", f"{off}: {agent.title} runs no hook until that is changed"))
    drafts.put(file, after, changes)


def _put_owned(agent: Agent, hooks: Owned, home: Home, file: Path, drafts: Drafts, known: _Known) -> None:
    wrote = known[file, OWNED].wrote if (file, OWNED) in known else ""
    after, action, warning = owned_file.owned_file_text(
        drafts.text(file), hooks, event_commands(agent, home), wrote
    )
    _note(known, file, OWNED, owned_file.text_digest(after))
    changes = [Change(file, action, f"hook {hook.name}") for hook in agent.hooks]
    if warning:
        changes.append(Change(file, "warn", warning))
    drafts.put(file, after, changes)


def stale_server(agent: Agent, home: Home) -> Path | None:
    """The user's list that names our MCP server, but not as install would; None if there is none such."""
    listed = agent.servers
    file = listed.file(None) if listed else None
    if listed is None or file is None:
        return None
    _, action = _with_server(listed, file, home, None, written_files.read_text(file) or "")
    return file if action == "update" else None


def _with_server(listed: Servers, file: Path, home: Home, project: Path | None, text: str) -> tuple[str, str]:
    with naming_file(file):
        entry = listed.entry(mcp_registration.server_launch(home))
        return mcp_registration.put_server(text, listed.keys(project), entry, file.suffix == ".toml")


def _put_server(agent: Agent, home: Home, project: Path | None, drafts: Drafts, known: _Known) -> None:
    if (listed := agent.servers) is None:
        return
    if (file := listed.file(project)) is None:
        return
    file = file.absolute()
    after, action = _with_server(listed, file, home, project, drafts.text(file) or "")
    if action == "taken":
        drafts.put(
            file, after, [Change(file, "warn", f"another server is called {mcp_registration.NAME} and stays")]
        )
        return
    _note(known, file, SERVER)
    drafts.put(file, after, [Change(file, action, _SERVER)])


def _put_block(file: Path, drafts: Drafts, known: _Known) -> None:
    _note(known, file, INSTRUCTIONS)
    after, action = instruction_block.put_block(drafts.text(file) or "", file)
    drafts.put(file, after, [Change(file, action, _BLOCK)])


def _hook_files(home: Home) -> str:
    """What install does to the hook's files."""
    if hook_interpreter(home) is None:
        return "write"
    return "keep" if hook_files_current(home.root) else "update"


def _beside(drafts: Drafts, home: Home, listed: bool) -> Iterator[Change]:
    """What is written besides: folders, copies of the agent's files, the list of what we wrote to."""
    copied = [path for path in drafts.edited if drafts.before[path] is not None]
    folders = [home.root, home.spool, home.logs, home.briefs]
    folders += [agent_backups(home).parent, agent_backups(home)] if copied else []
    for path in drafts.edited:
        folders += reversed(path.parents)
    for folder in dict.fromkeys(folders):
        if not folder.exists():
            yield Change(folder, "make", "the folder")
    for path in copied:
        yield Change(agent_backups(home), "copy", str(path))
    if listed:
        file = written_files.state_file(home)
        yield Change(file, "update" if file.exists() else "write", "the list of files that install wrote to")


def _warnings(agent: Agent, settings: Path, project: Path | None) -> Iterator[Change]:
    if not is_here(agent):
        folder = agent_surface(agent).folder()
        found = f"no `{agent_surface(agent).program}` on the PATH, no folder {folder}"
        yield Change(folder, "warn", f"{agent.title} was not found ({found}); it is installed all the same")
    if project is not None and _would_be_committed(settings):
        yield Change(
            settings, "warn", "git would commit this file of one machine: add it to .git/info/exclude"
        )


def _would_be_committed(file: Path) -> bool:
    place = resolve_place(str(file.parent))
    real = Path(os.path.realpath(file.parent)) / file.name
    return bool(place.git_dir) and not ask(place.root, lambda: is_ignored(place, real), False)


# --- uninstall --------------------------------------------------------------------------------------------


def uninstall_plans(
    agents: Sequence[Agent], home: Home, project: Path | None = None, gone: frozenset[str] = frozenset()
) -> list[Callable[[], Plan]]:
    """What plans each, in this order: the last one knows that the others, and who else is `gone`, will be."""
    return [
        partial(plan_uninstall, agent, home, project, gone | {other.name for other in agents[:number]})
        for number, agent in enumerate(agents)
    ]


def plan_uninstall(
    agent: Agent, home: Home, project: Path | None = None, gone: frozenset[str] = frozenset()
) -> Plan:
    """Ours out of the user's settings, those of `project`, and every file that install remembers.

    `gone` are the agents that will have been uninstalled by then. What waits in the spool is memory: the
    caller drains it first, and what is left then stays.
    """
    drafts = Drafts()
    if not agent.hooks or agent.surface is None:
        return Plan.of(agent.name, drafts, (), ())
    known = written_files.written_sites(home)
    remembered = {(site.file, site.kind): site for site in known.get(agent.name, ())}
    named = _usual(agent, project)
    others: list[Change] = []
    unreadable: list[Site] = []
    for file, kind in dict.fromkeys([*named, *remembered]):
        site = remembered.get((file, kind), Site(file, kind))
        try:
            _take_out(site, drafts)
        except UsageError as error:
            if (file, kind) in named:
                raise
            unreadable.append(site)
            others.append(Change(file, "warn", str(error)))
    last = not known.keys() - {agent.name, *gone}
    if agent.name in known:
        others.append(_forget(home, last and not unreadable))
    if last:
        others += _leftovers(home)
    return Plan.of(agent.name, drafts, others, unreadable, last)


def _usual(agent: Agent, project: Path | None) -> list[tuple[Path, str]]:
    """Where ours would be if nothing were remembered."""
    where = agent_surface(agent)
    kind = OWNED if isinstance(where.hooks, Owned) else SETTINGS
    found = [(settings_file(agent), kind), (settings_file(agent, project), kind)]
    if listed := agent.servers:
        files = [listed.file(None), listed.file(project)]
        found += [(file.absolute(), SERVER) for file in files if file is not None]
    return found


def _take_out(site: Site, drafts: Drafts) -> None:
    after = drafts.text(site.file)
    changes: list[Change] = []
    if after is not None:
        with naming_file(site.file):
            after, changes = _TAKE_OUT[site.kind](site, after)
    empty = after is not None and after.strip("\ufeff \t\r\n") in ("", "{}")
    if empty and site.made and not site.file.is_symlink():
        after = None
        changes.append(Change(site.file, "delete", "the file, which install had made"))
    drafts.put(site.file, after, changes)


_Taken = tuple[str | None, list[Change]]


def _take_out_hooks(site: Site, text: str) -> _Taken:
    after, events = settings_entries.remove_entries(text)
    changes = [Change(site.file, "remove", f"hook {event}") for event in events]
    if settings_entries.has_our_plugin(settings_entries.parse_settings(after)):
        changes.append(Change(site.file, "warn", "the plugin stays: `claude plugin uninstall` removes it"))
    return after, changes


def _take_out_owned(site: Site, text: str) -> _Taken:
    if not settings_entries.bears_our_mark(text):
        return text, [Change(site.file, "warn", "it is not ours and stays")] if site.wrote else []
    by_hand = site.wrote and site.wrote != owned_file.text_digest(text)
    what = "the file, which is ours, though somebody changed it" if by_hand else "the file, which is ours"
    return None, [Change(site.file, "delete", what)]


def _take_out_block(site: Site, text: str) -> _Taken:
    after, found = instruction_block.remove_block(text, site.file)
    return after, [Change(site.file, "remove", _BLOCK)] if found else []


def _take_out_server(site: Site, text: str) -> _Taken:
    after, found = mcp_registration.remove_servers(text, site.file.suffix == ".toml")
    return after, [Change(site.file, "remove", _SERVER)] if found else []


_TAKE_OUT: dict[str, Callable[[Site, str], _Taken]] = {
    SETTINGS: _take_out_hooks,
    OWNED: _take_out_owned,
    INSTRUCTIONS: _take_out_block,
    SERVER: _take_out_server,
}


def _forget(home: Home, last: bool) -> Change:
    what = "the list of files that install wrote to"
    return Change(written_files.state_file(home), "delete" if last else "update", what)


def _leftovers(home: Home) -> Iterator[Change]:
    """What in the home is not the memory. Briefs are: they are derived from it."""
    for path, what in (
        (home.hook, "hook script and code"),
        (home.logs, "logs"),
        (agent_backups(home), "copies of agents' files"),
        (home.worker_lock, "the worker's lock"),
    ):
        if path.exists():
            yield Change(path, "delete", what)
    if any(path.is_file() for path in home.spool.rglob("*")):
        waiting = len(spool.spool_entries(str(home.spool)))
        yield Change(
            home.spool, "keep", f"{waiting} captured and not stored yet; quarantine and marks with them"
        )
    elif home.spool.exists():
        yield Change(home.spool, "delete", "the spool, which is empty")
