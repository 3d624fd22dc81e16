"""Whether another user of this machine could put something of theirs in the place of our files.

Agents run `hook/hook.sh` out of the home in every session. Whoever may write to a folder above it can rename
what lies there and leave a script of their own. So each folder on the way belongs to root or to this user,
and nobody else may write to it; below a folder that nobody else can enter, only owners matter. A sticky one
(/tmp) is safe for what we have made in it. A link counts like a folder: whoever owns it can turn it, so all
that the system goes through on the way is looked at, links of links too. Access lists beyond owner, group and
others are not looked at.
"""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from backstory.errors import Failed
from backstory.paths import Home

_UID_MAP, _UNKNOWN_UID = Path("/proc/self/uid_map"), Path("/proc/sys/kernel/overflowuid")
_ALL_UIDS = "4294967295"
_MOST_LINKS = 40  # as many as Linux follows


def require_own(home: Home) -> None:
    """Refuse a home in which another user could plant what our hooks run."""
    if found := planting_ground(home):
        raise Failed(
            f"{found}, and so replace what hooks run: change that, or move the home with BACKSTORY_HOME"
        )


def planting_ground(home: Home) -> str:
    """Which folder or file on the way lets another user in, in words; "" if none does."""
    if os.name != "posix":
        return ""
    closed: set[Path] = set()
    for path in dict.fromkeys(path for goal in _goals(home.root.absolute()) for path in _way_to(goal)):
        try:
            about = path.lstat()
        except OSError:  # not there yet
            continue
        is_link = stat.S_ISLNK(about.st_mode)
        if not _is_trusted(about.st_uid):
            what = "is a link of" if is_link else "belongs to"
            return f"{path} {what} another user (uid {about.st_uid}), who may change it"
        if not is_link and closed.isdisjoint(path.parents) and _others_may_write(about):
            return f"other users may write to {path} (mode {stat.S_IMODE(about.st_mode):o})"
        if stat.S_ISDIR(about.st_mode) and not about.st_mode & 0o011:
            closed.add(path)
    return ""


def _goals(root: Path) -> tuple[Path, ...]:
    return root, root / "hook" / "hook.sh", root / "hook" / "hook.pyc"


def _way_to(goal: Path) -> Iterator[Path]:
    """Every folder and link that the system goes through to reach a path, and itself."""
    here, links = Path(goal.anchor), 0
    ahead = list(reversed(goal.parts[1:]))
    yield here
    while ahead and links < _MOST_LINKS:
        part = ahead.pop()
        if part == "..":
            here = here.parent
            continue
        yield here / part
        if not os.path.islink(here / part):  # noqa: PTH114 - no error where it may not be looked at
            here = here / part
            continue
        links += 1
        target = (here / part).readlink()
        here = Path(target.anchor) if target.is_absolute() else here
        ahead += reversed(target.parts[1:] if target.is_absolute() else target.parts)


def _is_trusted(uid: int) -> bool:
    return uid in (0, os.geteuid(), _unknown_uid())


def _unknown_uid() -> int | None:
    """The number that stands for every user whom this container does not know: who that is cannot be told."""
    try:
        mapped = _UID_MAP.read_text("ascii").split()
        return None if mapped[-1] == _ALL_UIDS else int(_UNKNOWN_UID.read_text("ascii"))
    except (OSError, ValueError, IndexError):
        return None


def _others_may_write(about: os.stat_result) -> bool:
    if about.st_mode & stat.S_ISVTX and stat.S_ISDIR(about.st_mode):
        return False
    shared = about.st_mode & stat.S_IWGRP and not _is_private(about.st_gid)
    return bool(about.st_mode & stat.S_IWOTH or shared)


def _is_private(gid: int) -> bool:
    """Whether nobody but this user and root is in a group: many systems give each user one."""
    import grp
    import pwd

    users = pwd.getpwall()
    own = {user.pw_name for user in users if user.pw_uid in (0, os.geteuid())}
    members = {user.pw_name for user in users if user.pw_gid == gid}
    try:
        members |= set(grp.getgrgid(gid).gr_mem)
    except KeyError:  # a number without a name
        return gid == os.getegid()
    return members <= own
