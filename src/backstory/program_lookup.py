"""Programs on the PATH that may be started: none that a repository or another user could have put there.

`PATH=.:…`, `node_modules/.bin` and a folder that everybody may write to are how a planted `claude` would be
found. Only absolute folders outside of the current project count, and only while nobody else may write there.
"""

import os
import shutil
import stat
from pathlib import Path


def find_program(name: str) -> str | None:
    """Where a program lies, None if it lies nowhere that can be trusted."""
    project = _project()
    folders = [folder for folder in os.get_exec_path() if _is_trusted(folder, project)]
    found = shutil.which(name, path=os.pathsep.join(folders)) if folders else None
    # On Windows the current folder is looked at first, and a link may lead back into the project.
    if found is None or not Path(found).is_absolute() or _lies_in(found, project):
        return None
    return found


def _project() -> str:
    """The repository around the current folder, or that folder; "" where it holds the user's own programs."""
    try:
        here = Path(os.path.realpath(Path.cwd()))
    except OSError:
        return ""
    root = next((each for each in (here, *here.parents) if (each / ".git").exists()), here)
    home = os.path.realpath(Path.home())
    if not _lies_in(home, str(root)):
        return str(root)
    return "" if _lies_in(home, str(here)) else str(here)


def _is_trusted(folder: str, project: str) -> bool:
    if not Path(folder).is_absolute() or _lies_in(folder, project):
        return False
    try:
        about = Path(folder).stat()
    except (OSError, ValueError):
        return False
    return os.name == "nt" or not about.st_mode & stat.S_IWOTH


def _lies_in(path: str, folder: str) -> bool:
    if not folder:
        return False
    return any(Path(each).is_relative_to(folder) for each in (os.path.realpath(path), os.path.normpath(path)))
