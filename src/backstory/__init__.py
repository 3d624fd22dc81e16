"""Backstory: one memory for every coding agent. For programs: `backstory.open()`, see docs/python.md."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from os import PathLike

    from backstory.library import ProjectMemory

__version__ = "0.1.0"


def open(folder: "str | PathLike[str]" = ".", home: "str | PathLike[str] | None" = None) -> "ProjectMemory":
    """The memory of a folder's project; `home` is Backstory's own folder, by default the usual one."""
    from backstory.library import ProjectMemory

    return ProjectMemory(folder, home)
