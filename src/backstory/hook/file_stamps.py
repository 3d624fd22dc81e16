"""Whether the files that rows speak of are still what they were when the worker prepared the rows.

The worker leaves a stamp of each file beside the rows; whoever tells them looks at the files again, without
git. A file that was only touched, or lies in another work tree, is told by its hash. What cannot be told (no
stamp, no permission, a large file of the same size, no time left) counts as the same.
"""

import os
from _blake2 import blake2b

from backstory.hook.regular_file import read_head

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from backstory.hook.brief_text import Row
    from backstory.hook.time_limit import TimeLimit

CHANGED = "its files have changed since"
GONE = "its files are gone"
_HASHED = 64 * 1024  # bytes; a larger file has no hash
_REGULAR = 0o100000


def file_stamp(path: str, was: "list[int | str] | None" = None) -> "list[int | str] | None":
    """A file's size, time in ns and hash; [] if it is not there, None if that cannot be told.

    One that has the size and time of the stamp `was` is not read again.
    """
    try:
        seen = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except (OSError, ValueError):
        return None
    size = seen.st_size if seen.st_mode & 0o170000 == _REGULAR else -1
    if was and was[:2] == [size, seen.st_mtime_ns]:
        return was
    data = read_head(path, _HASHED) if size <= _HASHED else b""
    return [size, seen.st_mtime_ns, blake2b(data, digest_size=8).hexdigest() if len(data) == size else ""]


def label_rows(
    rows: "Sequence[Row]",
    prepared: "Mapping[str, object]",
    root: str,
    busy: "Container[str]" = (),
    until: "TimeLimit | None" = None,
) -> None:
    """Say on each row what has become of its files below `root` since `prepared` was written.

    Rows of `busy` sessions are left alone: what those do to their files is not known yet. Looking stops at
    `until`.
    """
    stamps = prepared.get("files")
    if not isinstance(stamps, dict) or not os.path.isdir(root):
        return
    same_tree = prepared.get("root") == root
    seen: dict[str, tuple[bool, bool]] = {}
    for row in rows:
        if row.session in busy:
            continue
        for name in row.files:
            if name not in seen:
                if until is not None and until.passed():
                    return
                seen[name] = _look(os.path.join(root, name), stamps.get(name), same_tree)
        if any(differs for differs, _ in map(seen.__getitem__, row.files)):
            row.label = GONE if all(gone for _, gone in map(seen.__getitem__, row.files)) else CHANGED


def _look(path: str, was: object, same_tree: bool) -> tuple[bool, bool]:
    """Whether a file differs from its stamp, and whether it is gone."""
    if not isinstance(was, list) or len(was) not in (0, 3):
        return False, False
    now = file_stamp(path, was if same_tree else None)
    if now is None:
        return False, False
    if not now or not was:
        return bool(now) != bool(was), not now
    return now[0] != was[0] or bool(now[2] and was[2] and now[2] != was[2]), False
