"""Whether git ignores a file: by `.gitignore` files, `.git/info/exclude` and the user's own list."""

import os
from collections.abc import Iterator
from pathlib import Path

from backstory.hook.ignore_globs import glob_matches
from backstory.hook.project_identity import Place
from backstory.hook.regular_file import read_head

_MOST_BYTES = 256 * 1024


def is_ignored(place: Place, file: Path) -> bool:
    """Whether git would leave a file out; of all rules the last one that fits decides."""
    ignored = False
    for folder, rule in _rules(place, file):
        keeps = rule.startswith("!")
        if _fits(rule.removeprefix("!"), os.path.relpath(file, folder).replace(os.sep, "/")):
            ignored = not keeps
    return ignored


def _rules(place: Place, file: Path) -> Iterator[tuple[Path, str]]:
    top = Path(place.root)
    config = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    lists = [(top, config / "git" / "ignore"), (top, Path(place.common_dir) / "info" / "exclude")]
    inside = [each for each in reversed(file.parents) if each.is_relative_to(top)]
    for folder, path in [*lists, *((each, each / ".gitignore") for each in inside)]:
        for line in read_head(str(path), _MOST_BYTES).decode("utf-8", "replace").splitlines():
            if line.strip() and not line.startswith("#"):
                yield folder, line.strip()


def _fits(rule: str, name: str) -> bool:
    """Whether a rule names a file, or a folder that it lies in."""
    anchored = "/" in rule.rstrip("/")
    glob = rule.rstrip("/").removeprefix("/").replace("**/", "*")
    parts = name.split("/")
    above = len(parts) - 1 if rule.endswith("/") else len(parts)
    folders = ("/".join(parts[: number + 1]) for number in range(above))
    return any(glob_matches(each if anchored else each.rpartition("/")[2], glob) for each in folders)
