"""What a plain start is told, finished ahead: the hook's shell prints it, and no Python starts.

For each folder and agent of a project's latest sessions there is a list in `briefs/ready/at/<folder>/`: the
files that the answer was made from, oldest first, and those that were not there. The list's own time is that
of the newest of them. The shell looks at their times again (`hook/hook.sh`); in any doubt the answering hook
makes the brief as ever. The answer lies in a file named by its content, whose time is the midnight that ends
its day. Both hold nothing but what `brief_for` gave, so both ways say the same words.

The shell sources the list, so all in it is quoted here; the answer is only copied. Whatever forgets removes
them all. They are never synced: one that a power cut damaged lacks its last line, or is empty.
"""

import contextlib
import json
import os
import shutil
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from backstory.agents import AGENTS
from backstory.atomic import make_private_dir
from backstory.file_reader import read_bytes
from backstory.hook import session_brief
from backstory.hook.__main__ import seen_line, shape_answer
from backstory.hook.brief_text import Brief, rows_of
from backstory.hook.hook_command import quote_sh
from backstory.hook.payload import encode_json
from backstory.hook.project_identity import Place, join_mark, joined_in, project_id, resolve_place
from backstory.hook.work_notes import may_have_flags
from backstory.paths import Home
from backstory.store import Store

_SESSIONS = 20  # whose folders and agents get answers
_NOBODY = "-"  # stands for the session that will start; none has this id
_SOURCE = "startup"


@dataclass(frozen=True, slots=True)
class _Made:
    """What an answer was made from: files with their times, and names that nothing stood at.

    The time of `repository`, one of the files, says that the folder holds the same one as when this was made.
    """

    there: tuple[tuple[int, str], ...]
    absent: tuple[str, ...]
    repository: str

    @property
    def repository_time(self) -> int:
        """Of that file, in ns."""
        return next((time for time, name in self.there if name == self.repository), 0)


def write_answers(home: Home, store: Store, project: str) -> None:
    """Finish the answers to plain starts in a project, and remove its others."""
    settings = session_brief.settings_file(str(home.root))
    kept: set[str] = set()
    sessions = store.events.sessions(project, _SESSIONS)
    for agent, folder in dict.fromkeys((each.agent, each.cwd) for each in sessions):
        for event in _answering(agent):
            with contextlib.suppress(OSError):  # a folder that cannot be named below the home has none
                kept.update(_write_one(home, settings, project, agent, event, folder))
    for path in home.ready.glob(f"{project}.*"):
        if path.name not in kept:
            path.unlink(missing_ok=True)


def drop_all(home: Home) -> None:
    """Remove all answers; the worker makes them again, of what there is then."""
    if home.ready.is_dir():
        shutil.rmtree(home.ready)


def _answering(agent: str) -> Iterator[str]:
    """The events at which an agent takes in a brief at once."""
    hooks = AGENTS[agent].hooks if agent in AGENTS else ()
    if not any(hook.delivers for hook in hooks):
        yield from (hook.name for hook in hooks if hook.answers)


def _write_one(
    home: Home, settings: dict[str, Any], project: str, agent: str, event: str, folder: str
) -> Iterable[str]:
    """Write the answer for one folder; gives the name of its file, if there is one."""
    if not _stands_for_itself(folder):
        return ()
    path = Path(f"{home.ready}/at{folder}/.{agent}.{event}")
    now = time.time()
    made = _made_from(home, settings, project, agent, folder)
    told = _told(home, settings, agent, folder) if made else Brief("", [])
    newest = made.there[-1][0] if made else 0
    # Archives and images give their files whole seconds, often the same: such a time tells nothing.
    if (
        not made
        or not told.text
        or (made.repository and made.repository_time % 10**9 == 0)
        or newest > now * 1e9
        or made != _made_from(home, settings, project, agent, folder)
    ):
        path.unlink(missing_ok=True)
        return ()
    text = shape_answer(agent, event, told.text, seen_line(told.rows)).encode("utf-8", "replace")
    name = f"{project}.{blake2b(text, digest_size=12).hexdigest()}"
    _replace(home.ready / name, text, _next_midnight(now))
    if made.repository:
        _replace(path.with_name(f"{path.name}.repository"), b"", made.repository_time)
    _replace(path, _list_text(made, name, folder, told), newest)
    return (name,)


def _stands_for_itself(folder: str) -> bool:
    """Whether agents name this folder as the shell does: its real path, the same in JSON as it is."""
    plain = may_have_flags(folder) and json.dumps(folder, ensure_ascii=False) == f'"{folder}"'
    return plain and os.path.realpath(folder) == folder and Path(folder).is_dir()


def _told(home: Home, settings: dict[str, Any], agent: str, folder: str) -> Brief:
    """The brief of a plain start, as if nothing waited."""
    return session_brief.brief_for(
        str(home.root), settings, folder, agent, _SOURCE, _NOBODY, lambda text: text, spool=""
    )


def _list_text(made: _Made, answer: str, folder: str, told: Brief) -> bytes:
    """The list as the shell reads it; its last line says that it is whole."""
    receipt = {
        "cwd": folder,
        "source": _SOURCE,
        "shown": told.shown,
        "chars": len(told.text),
        "tokens": round(told.tokens),
    }
    names = [*(name for _, name in made.there), "", *made.absent]
    lines = [
        f"zone={quote_sh(os.environ.get('TZ', ''))}",
        f"repository={quote_sh(made.repository)}",
        f"receipt={quote_sh(encode_json(receipt)[1:-1])}",
        f"set -- {' '.join(map(quote_sh, names))}",
        f"answer={quote_sh(answer)}",
    ]
    return os.fsencode("\n".join(lines) + "\n")


def _next_midnight(now: float) -> int:
    """When the day ends, where we are, in ns."""
    today = time.localtime(now)
    return int(time.mktime((today.tm_year, today.tm_mon, today.tm_mday + 1, 0, 0, 0, 0, 0, -1))) * 10**9


def _replace(path: Path, data: bytes, mtime_ns: int) -> None:
    """Put a file in place with its time; not if it is there already."""
    with contextlib.suppress(FileNotFoundError):
        there = path.lstat()
        if there.st_mtime_ns == mtime_ns and there.st_size == len(data) and read_bytes(path) == data:
            return
    make_private_dir(path.parent)
    new = path.with_name(f"{path.name}.new")
    new.unlink(missing_ok=True)
    fd = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(fd, "wb") as file:
        file.write(data)
    os.utime(new, ns=(mtime_ns, mtime_ns))
    new.replace(path)


# --- what an answer is made from ---------------------------------------------------------------------------


def _made_from(home: Home, settings: dict[str, Any], project: str, agent: str, folder: str) -> _Made | None:
    """All files that `brief_for` looks at for a plain start; None if that cannot be told by files alone."""
    monorepo = settings.get("monorepo") or ()
    place = resolve_place(folder, settings.get("confirmed"), monorepo, joined_in(str(home.root)))
    if project_id(place.identity) != project or (monorepo and folder != place.root) or home.trouble.exists():
        return None
    prepared = session_brief.json_file(str(home.briefs / f"{project}.json"))
    names = [home.hook / "settings.json", home.hook / "stamp", home.briefs / f"{project}.json", home.trouble]
    names += _other_agents_checkpoint(home, prepared, agent)
    if place.own != place.identity or place.claim:
        names.append(home.joined / join_mark(place.own, place.claim or place.identity))
        names += [] if home.joined.is_dir() else [home.joined]
    stamps = prepared.get("files")
    files = {name for row in rows_of(prepared.get("rows")) for name in row.files}
    names += [
        Path(place.root, name) for name in sorted(files & set(stamps if isinstance(stamps, dict) else ()))
    ]
    dot, repository = Path(place.root, ".git"), ""
    around = _around(folder, place)
    bare = [each / ".git" for each in around if not place.common_dir or each / ".git" != dot]
    if any(map(os.path.lexists, bare)):
        return None  # it leads nowhere, which only a closer look can tell
    names += bare
    if place.common_dir:
        head = Path(place.git_dir, "HEAD")
        repository = str(head if dot.is_dir() else dot)
        names += [head, *(Path(place.git_dir, name) for name in ("commondir", "gitdir"))]
        names += [Path(place.common_dir, "config"), Path(repository)]
        around.append(Path(place.common_dir).parent)  # a worktree obeys what holds for the main one
    confirmed = settings.get("confirmed") or {}
    names += [each / ".backstory.toml" for each in around if str(each) in confirmed]
    return _looked_at(dict.fromkeys(map(str, names)), repository)


def _around(folder: str, place: Place) -> list[Path]:
    """The folder and those around it, up to the work tree's root, or all if it is in none."""
    found = [Path(folder)]
    while found[-1] != Path(place.root if place.common_dir else "/"):
        found.append(found[-1].parent)
    return found


def _other_agents_checkpoint(home: Home, prepared: dict[str, Any], agent: str) -> list[Path]:
    """The file of the session in which another agent left off: its checkpoint is told, too."""
    left = next((row for row in rows_of(prepared.get("rows")) if row.section == "left_off"), None)
    other = left is not None and left.agent != agent
    return [home.briefs / "sessions" / f"{left.session}.json"] if left is not None and other else []


def _looked_at(names: Iterable[str], repository: str) -> _Made | None:
    """The times of files; None if one cannot be looked at, or has a name that no list holds."""
    there, absent = [], []
    for name in names:
        if "\n" in name or "\0" in name:
            return None
        try:
            there.append((Path(name).stat().st_mtime_ns, name))
        except (FileNotFoundError, NotADirectoryError):
            absent.append(name)
        except OSError:
            return None
    return _Made(tuple(sorted(there)), tuple(absent), repository)
