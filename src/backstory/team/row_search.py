"""Search in a project for whoever has no home of their own, such as CI and agents in a cloud.

The words' table finds candidates by its index, with the project as one of the words, so that the size of the
rest of the server plays no part. Their texts are read through `memories`, which has a policy. The order is
ours: rare words weigh more, what was said by a person and what is current come first.
"""

import json
import math
from collections import Counter
from typing import Any

from backstory.search.smallwords import SMALL
from backstory.team.admission import Asker
from backstory.team.database import Asking
from backstory.team.project_access import find_project, index_word, project_name
from backstory.team.pushed_row import words_of
from backstory.team.refusal import Refusal

_CANDIDATES = 300
_MOST = 50
_MOST_WORDS = 30
_LONGEST = 2_000
_PERSON, _HISTORY = 1.2, 0.4
_FIND = """
WITH found AS (
    SELECT id FROM words
    WHERE words.words @@ %(query)s::tsquery AND words.tenant = %(tenant)s AND words.project = %(project)s
    ORDER BY ts_rank(words.words, %(query)s::tsquery) DESC, id LIMIT %(most)s
)
SELECT memories.id, kind, state, at, body, seq, author, members.name, members.role
FROM found JOIN memories ON memories.tenant = %(tenant)s AND memories.project = %(project)s
    AND memories.id = found.id
LEFT JOIN members ON members.tenant = memories.tenant AND members.member = memories.author
"""


def search(asking: Asking, asker: Asker, name: object, query: object, limit: int) -> dict[str, Any]:
    """The rows that answer best, each with its author and a score; none where no word of it occurs."""
    if not isinstance(query, str) or not query.strip() or len(query) > _LONGEST:
        raise Refusal("malformed", f"query is a text of at most {_LONGEST} characters")
    project = find_project(asking, asker, name)
    words = list(dict.fromkeys(word for word in words_of(query) if word not in SMALL))[:_MOST_WORDS]
    if not words:
        return {"rows": []}
    alternatives = " | ".join(f"'{word}'" for word in words)
    values = {
        "query": f"'{index_word(asker, project_name(name))}' & ({alternatives})",
        "tenant": asker.tenant,
        "project": project.key,
        "most": _CANDIDATES,
    }
    found = asking.connection.execute(_FIND, values).fetchall()
    rows = [_row(*each) for each in found if each[1] != "act"]
    return {"rows": _ranked(rows, set(words))[: max(1, min(limit, _MOST))]}


def _row(
    row_id: str, kind: str, state: str, at: int, body: str, seq: int, author: str, name: str, role: str
) -> dict[str, Any]:
    row = {"id": row_id, "kind": kind, "state": state, "at": at, "body": json.loads(body), "seq": seq}
    return {**row, "author": {"id": author, "name": name or "", "role": role or ""}}


def _ranked(rows: list[dict[str, Any]], asked: set[str]) -> list[dict[str, Any]]:
    """Best first: BM25 without lengths over the candidates, which are all short."""
    holds = [asked.intersection(words_of(_text(row["body"]))) for row in rows]
    often = Counter(word for each in holds for word in each)
    weigh = {word: math.log(1 + (len(rows) + 0.5) / (count + 0.5)) for word, count in often.items()}
    for row, words in zip(rows, holds, strict=True):
        score = sum(weigh[word] for word in words)
        score *= _PERSON if row["body"].get("said_by") == "user" else 1.0
        row["score"] = round(score if row["state"] == "current" else score * _HISTORY, 4)
    return sorted(rows, key=lambda row: (-row["score"], -row["at"], row["id"]))


def _text(body: dict[str, Any]) -> str:
    return " ".join(each if isinstance(each, str) else json.dumps(each) for each in body.values())
