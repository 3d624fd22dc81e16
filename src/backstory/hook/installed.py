"""The one door from a hook to the installed package: for what is too large to be bundled with the hook.

A hook starts without site-packages. The folders that the package and its libraries lie in are written into
FOLDERS when the hook is bundled (`capture/hook_bundle.py`). Whatever is missing there, or half upgraded, is
an error here, and the hook's silence; capture and briefs never come this way.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FOLDERS: list[str] = []


def module(name: str) -> "Any":
    """A module of the installed package, which lies in the first of the folders; an ImportError if none."""
    import backstory

    sys.path += [folder for folder in FOLDERS if folder not in sys.path]
    backstory.__path__ = [*backstory.__path__, *(os.path.join(each, "backstory") for each in FOLDERS[:1])]
    return __import__(f"backstory.{name}", fromlist=["*"])
