"""Ending every row that holds a text, whoever wrote it: for an owner, and audited without the text."""

import json

from backstory.team.admission import Asker, audit
from backstory.team.burial import bury
from backstory.team.database import Asking
from backstory.team.project_access import find_project, projects
from backstory.team.refusal import Refusal

_SHORTEST = 4


def purge(asking: Asking, asker: Asker, name: object, text: object) -> list[str]:
    """Bury what holds the text, in one project or, without a name, in all that this owner sees."""
    asker.require("owner")
    if not isinstance(text, str) or len(text.strip()) < _SHORTEST:
        raise Refusal("malformed", f"text has at least {_SHORTEST} characters")
    names = [name] if name else [each["project"] for each in projects(asking, asker)]
    ended: list[str] = []
    for each in names:
        project = find_project(asking, asker, each, write=True)
        found = asking.all(
            "SELECT id FROM memories WHERE tenant = %s AND project = %s AND strpos(body, %s) > 0",
            *(asker.tenant, project.key, json.dumps(text, ensure_ascii=False)[1:-1]),
        )
        ids = [row[0] for row in found]
        if ids:
            asking.do(
                "UPDATE projects SET head = head + %s WHERE tenant = %s AND project = %s",
                *(len(ids), asker.tenant, project.key),
            )
            bury(asking, asker.tenant, project.key, dict.fromkeys(ids, asker.member), project.head)
            ended += ids
    audit(asking, asker, "purge", f"{len(ended)} rows")
    return ended
