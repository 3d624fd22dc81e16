"""The spool's file format, shared by the hook that writes and the drain that reads.

A file is one payload as the agent sent it, then one trailer byte, which cannot stand raw in JSON: with it
the writer finished, without it the writer is still at work or was killed. The name says whose it is,
`agent.event.ppid.pid[.n]`; `….reason.fail` beside it marks what a hook could not do. Whatever else lies in
the folder is not ours and is left alone.
"""

import os
import time

from backstory.hook.regular_file import mtime_ns, open_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from backstory.hook.time_limit import TimeLimit

TRAILER = b"\x1e"
RECEIPT = "brief"  # the event name of what the answering hook leaves about itself
USER = "user"  # stands where an agent's name would, in the name of what a person asked to remember
_NAME_LIMIT = 200


class Name:
    """Who wrote a spool file."""

    __slots__ = ("agent", "event", "pid", "ppid", "serial")

    def __init__(self, agent: str, event: str, ppid: int, pid: int, serial: int = 0) -> None:
        self.agent = agent
        self.event = event
        self.ppid = ppid
        self.pid = pid
        self.serial = serial


class Entry:
    """A spool file as the folder lists it."""

    __slots__ = ("inode", "mtime_ns", "name", "path", "size")

    def __init__(self, path: str, name: Name, mtime_ns: int, size: int, inode: int) -> None:
        self.path = path
        self.name = name
        self.mtime_ns = mtime_ns
        self.size = size
        self.inode = inode


def parse_name(text: str) -> Name | None:
    """What a file's name says, or None if no hook of ours wrote it."""
    parts = text.split(".")
    if not 4 <= len(parts) <= 5 or len(text) > _NAME_LIMIT or not text.isascii():
        return None
    agent, event, *numbers = parts
    if not agent.replace("-", "").isalnum() or not event.isalnum():
        return None
    if not all(number.isdigit() for number in numbers):
        return None
    return Name(agent, event, *map(int, numbers))


def parse_fail(text: str) -> tuple[str, str, str] | None:
    """Agent, event and reason of a `.fail` mark; `interpreter.fail` belongs to no agent."""
    if not text.endswith(".fail"):
        return None
    base, _, reason = text[: -len(".fail")].rpartition(".")
    if not base:
        return "", "", reason
    name = parse_name(base)
    return (name.agent, name.event, reason) if name else None


def spool_entries(folder: str, newest: int = 0, until: "TimeLimit | None" = None) -> list[Entry]:
    """Our files, oldest first: all of them or the `newest` ones; stops looking at `until`."""
    found = []
    try:
        with os.scandir(folder) as listing:
            for item in listing:
                name = parse_name(item.name)
                if name is None:
                    continue
                try:
                    stat = item.stat(follow_symlinks=False)
                except OSError:  # drained meanwhile
                    continue
                if stat.st_mode & 0o170000 == 0o100000:
                    found.append(Entry(item.path, name, mtime_ns(stat), stat.st_size, stat.st_ino))
                if until is not None and until.passed():
                    break
    except OSError:  # no spool yet, or not for us
        return []
    found.sort(key=_order)
    return found[-newest:] if newest else found


def _order(entry: Entry) -> tuple[int, str]:
    return entry.mtime_ns, entry.path


def read_spooled(path: str) -> bytes | None:
    """The payload of a finished file, or None if its writer has not finished or it is gone."""
    try:
        fd = open_regular(path, follow=False)
    except OSError:
        return None
    try:
        data = _read_all(fd)
    except OSError:
        return None
    finally:
        os.close(fd)
    return data[:-1] if data.endswith(TRAILER) else None


def _read_all(fd: int) -> bytes:
    size = os.fstat(fd).st_size
    data = os.read(fd, size + 1)
    if len(data) == size:
        return data
    chunks = [data]  # a read may be short above 2 GB, or the file grew
    while chunk := os.read(fd, 1 << 20):
        chunks.append(chunk)
    return b"".join(chunks)


def write_spooled(folder: str, agent: str, event: str, data: bytes) -> str:
    """Leave a payload as the script's hook would, and the same marks on failure; the new file's path."""
    path = os.path.join(folder, f"{agent}.{event}.{os.getppid()}.{os.getpid()}")
    reason = "open"
    try:
        path, fd = _create(path)
        reason = "write"
        try:
            view = memoryview(data + TRAILER)
            while view:
                view = view[os.write(fd, view) :]
        finally:
            os.close(fd)
    except OSError:
        leave_mark(path, reason)
        raise
    return path


def _create(base: str) -> tuple[str, int]:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    folder = os.path.dirname(base)
    if not os.path.isdir(folder):
        os.mkdir(folder, 0o700)  # not its parents: a home that was deleted stays so
    path = base
    for _ in range(99):
        try:
            return path, os.open(path, flags, 0o600)
        except FileExistsError:  # one process may write many (`serve`), so do not count upwards
            path = f"{base}.{time.monotonic_ns() % 1_000_000_000}"
    return path, os.open(path, flags, 0o600)


def leave_mark(path: str, reason: str) -> None:
    """Say beside a spool file what could not be done; a mark that cannot be left either is let go.

    Where no inode is left for a new file, another one gets the mark's name: as a link, or a spare is renamed.
    """
    mark = f"{path}.{reason}.fail"
    hook = os.path.join(os.path.dirname(os.path.dirname(path)), "hook")
    for leave in (_make_empty, _link_stamp, _rename_spare):
        try:
            leave(hook, mark)
            return
        except FileExistsError:
            return
        except OSError:
            continue


def _make_empty(hook: str, mark: str) -> None:
    os.close(os.open(mark, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


def _link_stamp(hook: str, mark: str) -> None:
    os.link(os.path.join(hook, "stamp"), mark)


def _rename_spare(hook: str, mark: str) -> None:
    os.rename(os.path.join(hook, "spare"), mark)
