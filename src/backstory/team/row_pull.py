"""What is new in a project, oldest first: rows, graves, head and proof in one statement, so of one moment.

A device that asks from `cursor` on has taken in everything up to there. That is kept, and tells which devices
have confirmed a burial.
"""

import json
from typing import Any

from backstory.team.admission import Asker, now_ms
from backstory.team.database import Asking
from backstory.team.project_access import find_project
from backstory.team_wire import MOST_BYTES, MOST_ROWS, Proof

_FEED = """
WITH changed AS (
    (
        SELECT seq, id, kind, state, at, body, author FROM memories
        WHERE tenant = %(tenant)s AND project = %(project)s AND seq > %(cursor)s
        ORDER BY seq LIMIT %(limit)s + 1
    )
    UNION ALL
    (
        SELECT seq, id, NULL, NULL, NULL, NULL, author FROM graves
        WHERE tenant = %(tenant)s AND project = %(project)s AND seq > %(cursor)s
        ORDER BY seq LIMIT %(limit)s + 1
    )
),
page AS (SELECT * FROM changed ORDER BY seq LIMIT %(limit)s + 1),
proof AS (
    SELECT count(*) AS count, coalesce(sum(mark), 0) AS total FROM (
        SELECT mark FROM memories WHERE tenant = %(tenant)s AND project = %(project)s
        UNION ALL
        SELECT mark FROM graves WHERE tenant = %(tenant)s AND project = %(project)s
    ) AS marks
)
SELECT projects.head, proof.count, proof.total, page.seq, page.id, page.kind, page.state, page.at, page.body,
    page.author, members.name, members.role
FROM projects CROSS JOIN proof LEFT JOIN page ON true
LEFT JOIN members ON members.tenant = projects.tenant AND members.member = page.author
WHERE projects.tenant = %(tenant)s AND projects.project = %(project)s
ORDER BY page.seq
"""
_AROUND = 300  # bytes of a row beside its body


def pull(asking: Asking, asker: Asker, name: object, cursor: int, limit: int) -> dict[str, Any]:
    """The answer of the protocol, with rows of at most so many bytes that a laptop takes them."""
    project = find_project(asking, asker, name)
    if not project.made:
        return _answer(0, 0, False, [], [], Proof().as_json())
    limit = max(1, min(limit, MOST_ROWS))
    _confirm(asking, asker, project.key, min(cursor, project.head))
    values = {"tenant": asker.tenant, "project": project.key, "cursor": cursor, "limit": limit}
    found = asking.connection.execute(_FEED, values).fetchall()
    head, count, total = found[0][:3]
    rows: list[dict[str, Any]] = []
    graves: list[dict[str, Any]] = []
    more, last, size = False, cursor, 0
    for _, _, _, seq, row_id, kind, state, at, body, author, author_name, role in found:
        if seq is None:
            break
        size += len(body or "") + _AROUND
        if len(rows) + len(graves) == limit or (size > MOST_BYTES and (rows or graves)):
            more = True
            break
        last = seq
        if kind is None:
            graves.append({"id": row_id, "seq": seq})
            continue
        who = {"id": author, "name": author_name or "", "role": role or ""}
        row = {"id": row_id, "kind": kind, "state": state, "at": at, "body": json.loads(body)}
        rows.append({**row, "seq": seq, "author": who})
    proof = Proof(count, int(total) % 2**64).as_json()
    return _answer(last if more else head, head, more, rows, graves, proof)


def _answer(
    cursor: int, head: int, more: bool, rows: list[Any], graves: list[Any], proof: dict[str, Any]
) -> dict[str, Any]:
    told = {"cursor": cursor, "head": head, "more": more, "rows": rows, "graves": graves}
    return {**told, "proof": proof}


def _confirm(asking: Asking, asker: Asker, project: str, cursor: int) -> None:
    """Keep how far this device has come, where that has changed."""
    row = asking.one(
        "SELECT seq FROM cursors WHERE tenant = %s AND project = %s AND device = %s",
        *(asker.tenant, project, asker.device),
    )
    if row is None or row[0] != cursor:
        asking.do(
            "INSERT INTO cursors VALUES (%s, %s, %s, %s, %s) ON CONFLICT (tenant, project, device) "
            "DO UPDATE SET seq = excluded.seq, at = excluded.at",
            *(asker.tenant, project, asker.device, cursor, now_ms()),
        )
