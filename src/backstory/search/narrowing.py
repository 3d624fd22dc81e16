"""What a search is narrowed to must be something that is known: a mistyped name is told, not searched for."""

import os
from collections.abc import Callable, Collection, Iterable
from pathlib import Path

from backstory.attribution import TEAM
from backstory.errors import SourceMissing, UsageError
from backstory.model import Kind, MemoryKind
from backstory.store import Store
from backstory.store.passages import SEARCHED
from backstory.store.records import Filters

KINDS = tuple(str(kind) for kind in (*SEARCHED, Kind.REASONED, "session", *MemoryKind))
_MOST_NAMED = 12
_OURS = ("user", "docs")  # what people told us themselves


def check(store: Store, filters: Filters, project_id: str | None, agents: Iterable[str]) -> None:
    """Refuse kinds that there are not, agents and branches that nothing is of, and a time that is none."""
    if filters.until and filters.since >= filters.until:
        raise UsageError("--since is later than --until: no time lies between them")
    for kind in filters.kinds:
        if kind not in KINDS:
            raise UsageError(f"there is no kind {kind!r}{_instead(kind, KINDS)}")
    seen = sorted({*store.listings.filter_choices("")[0], *_OURS}) if filters.agents else []
    for agent in filters.agents:
        if agent == TEAM:
            continue  # what others share; whether anybody does is no fault of the question
        if agent not in (known := {*agents, *seen}):
            raise UsageError(f"there is no agent {agent!r}{_instead(agent, sorted(known))}")
        if agent not in seen:
            raise SourceMissing(f"no session of {agent} is remembered: known are {', '.join(seen)}")
    for branch in filters.branches:
        if not store.listings.knows_branch(branch, project_id):
            others = _instead(branch, store.listings.branches(project_id))
            raise SourceMissing(f"nothing happened on a branch {branch!r}{others}")


def renamed(
    store: Store, filters: Filters, project_id: str | None, earlier: Callable[[str], Iterable[str]]
) -> dict[str, str]:
    """For files that nothing touched, the earlier names by which something did; refuse those without."""
    found = {}
    for file in filters.files:
        if not store.listings.knows_file(file, project_id):
            names = (name for name in earlier(file) if store.listings.knows_file(name, project_id))
            if (name := next(names, None)) is None:
                raise SourceMissing(
                    f"nothing is known that touched {file!r}: leave --file out, or name another"
                )
            found[file] = name
    return found


def within(path: str, folder: Path, root: str) -> str:
    """A file's path as it is stored: from the project's root, if it is there."""
    if not path.startswith((".", "/", "~")):
        return path
    whole = Path(os.path.normpath(folder / Path(path).expanduser()))
    inside = root and whole.is_relative_to(root)
    return (whole.relative_to(root) if inside else whole).as_posix().lstrip("/")


def _instead(name: str, known: Collection[str]) -> str:
    import difflib

    near = difflib.get_close_matches(name, known, 1) or [each for each in known if each.startswith(name)]
    if near:
        return f": did you mean {near[0]!r}?"
    names = ", ".join(list(known)[:_MOST_NAMED]) or "none yet"
    return f": known are {names}{', …' if len(known) > _MOST_NAMED else ''}"
