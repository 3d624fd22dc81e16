"""Which projects may use what is shared: the user's setting `project.trust` says so, never a repository.

A row of the setting is a glob over a project's id or identity; `!` takes out again, also by name. A name
alone lets nobody in: whoever clones a repository chooses its name.
"""

from collections.abc import Sequence
from fnmatch import fnmatchcase

from backstory.model import Project


def is_trusted(project: Project, rows: Sequence[str]) -> bool:
    """Whether a project may read and write what is shared; the last row that speaks of it decides."""
    answer = False
    for row in rows:
        if row.startswith("!"):
            if any(fnmatchcase(word, row[1:]) for word in (project.id, project.identity, project.name)):
                answer = False
        elif any(fnmatchcase(word, row) for word in (project.id, project.identity)):
            answer = True
    return answer
