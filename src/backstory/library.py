"""The memory for Python programs: what the next session is told, search, what was learned, remembering.

    import backstory

    with backstory.open("~/src/shop") as memory:
        print(memory.brief())
        for hit in memory.search("why do logins fail"):
            print(hit.id, hit.text)

Small on purpose, and the part of Backstory that stays as it is when its inside changes.
"""

import os
from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import Self

from backstory.app import App
from backstory.attribution import commanded_by
from backstory.model import Memory, MemoryKind, MemoryStatus
from backstory.paths import Home
from backstory.search.answer import Hit

_IN_FORCE = (MemoryStatus.CANDIDATE, MemoryStatus.CONFIRMED)
_LEARNED = (
    MemoryKind.DECISION,
    MemoryKind.LESSON,
    MemoryKind.ATTEMPT,
    MemoryKind.PREFERENCE,
    MemoryKind.FACT,
    MemoryKind.COMMAND,
    MemoryKind.NEXT_STEP,
)


class ProjectMemory:
    """One project's memory; close it, or use it in a `with` block."""

    def __init__(self, folder: str | PathLike[str] = ".", home: str | PathLike[str] | None = None) -> None:
        self._folder = Path(folder).expanduser().resolve()
        self._app = App(Home(Path(home).expanduser()) if home is not None else Home.default())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let the database go."""
        self._app.close()

    def brief(self, agent: str = "claude-code") -> str:
        """What a session of an agent that starts in the folder now is told; "" if there is nothing to say."""
        return self._app.brief(self._folder, agent).text

    def search(self, question: str, limit: int = 7, every_project: bool = False) -> list[Hit]:
        """The best answers to a question, each with a handle; none if nothing is near enough."""
        project = None if every_project else self._app.project_at(self._folder).id
        return list(self._app.search(question, project, limit).hits)

    def memories(self, kinds: Iterable[str] = (), limit: int = 50) -> list[Memory]:
        """What was learned in the project and holds, newest first; of some kinds ("decision") if named."""
        wanted = [MemoryKind(kind) for kind in kinds] or list(_LEARNED)
        project = self._app.project_at(self._folder).id
        return self._app.memories(wanted, _IN_FORCE, project, None, limit)

    def remember(self, text: str, kind: str = "") -> Memory:
        """Keep what a person says, for the next sessions; in a shell that an agent runs it is the agent's."""
        return self._app.remember(text, self._folder, kind, commanded_by(os.environ))
