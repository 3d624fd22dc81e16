"""Rows and burials into a project. Its row is held until the commit, so `seq` is the order of commits.

What is there already with the same hash takes no new `seq`; what another member wrote is refused by name and
stops nothing; a buried id is never stored again.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from backstory.failpoints import step
from backstory.team.admission import Asker, audit
from backstory.team.burial import bury
from backstory.team.database import Asking
from backstory.team.project_access import Project, find_project
from backstory.team.pushed_row import CheckedRow, check_row
from backstory.team_wire import Refused, read_id

_NOT_YOURS = "not yours: another member wrote it"


@dataclass(slots=True)
class Outcome:
    """What became of a push, as the protocol answers it."""

    head: int = 0
    stored: list[dict[str, str]] = field(default_factory=list)
    buried: list[str] = field(default_factory=list)
    refused: list[dict[str, str]] = field(default_factory=list)
    erased: int = 0  # how many rows with a text went, which is still on the disk

    def refuse(self, row_id: object, reason: str) -> None:
        """Set one aside, with its reason."""
        self.refused.append({"id": row_id if isinstance(row_id, str) else "", "reason": reason})

    def as_json(self) -> dict[str, Any]:
        """As it crosses the wire."""
        return {
            "head": self.head,
            "stored": self.stored,
            "buried": self.buried,
            "refused": self.refused,
        }


@dataclass(frozen=True, slots=True)
class Pushed:
    """A push that was read, before any transaction: what is well-formed, and what is not."""

    rows: dict[str, CheckedRow]
    bury: list[str]
    refused: list[tuple[object, str]]


def read_push(rows: Sequence[object], bury: Sequence[object], project_word: str) -> Pushed:
    """Check and redact; this takes time and no lock. Of two rows with one id the last counts."""
    fair: dict[str, CheckedRow] = {}
    refused: list[tuple[object, str]] = []
    for value in rows:
        try:
            checked = check_row(value, project_word)
            fair[checked.row.id] = checked
        except Refused as error:
            refused.append((value.get("id") if isinstance(value, dict) else "", str(error)))
    ended: dict[str, None] = {}
    for value in bury:
        try:
            ended[read_id(value)] = None
        except Refused as error:
            refused.append((value, str(error)))
    return Pushed({key: row for key, row in fair.items() if key not in ended}, list(ended), refused)


def push(asking: Asking, asker: Asker, name: object, pushed: Pushed) -> Outcome:
    """Store and bury, in the transaction of `asking`."""
    project = find_project(asking, asker, name, write=True)
    outcome = Outcome()
    for row_id, reason in pushed.refused:
        outcome.refuse(row_id, reason)
    ids = [*pushed.rows, *pushed.bury]
    authors, graves = _known(asking, asker, project, ids)
    new = []
    for row_id, checked in pushed.rows.items():
        author, stored = authors.get(row_id, (asker.member, ""))
        if row_id in graves:
            outcome.buried.append(row_id)
        elif author != asker.member:
            outcome.refuse(row_id, _NOT_YOURS)
        else:
            outcome.stored.append({"id": row_id, "hash": checked.hash})
            if stored != checked.hash:
                new.append(checked)
    ended = []
    for row_id in pushed.bury:
        author = authors.get(row_id, (asker.member, ""))[0]
        if author != asker.member and asker.role != "owner":
            outcome.refuse(row_id, _NOT_YOURS)
            continue
        outcome.buried.append(row_id)
        if row_id not in graves:
            ended.append(row_id)
    outcome.head = project.head
    if new or ended:
        outcome.head = _advance(asking, asker, project, len(new) + len(ended))
        _store(asking, asker, project, new, project.head)
        outcome.erased = bury(
            *(asking, asker.tenant, project.key, dict.fromkeys(ended, asker.member)),
            project.head + len(new),
        )
    if ended:
        audit(asking, asker, "bury", f"{len(ended)} in {project.key}")
    step("push.written")
    return outcome


def _advance(asking: Asking, asker: Asker, project: Project, by: int) -> int:
    row = asking.one(
        "UPDATE projects SET head = head + %s WHERE tenant = %s AND project = %s RETURNING head",
        *(by, asker.tenant, project.key),
    )
    assert row is not None
    return int(row[0])


def _known(
    asking: Asking, asker: Asker, project: Project, ids: list[str]
) -> tuple[dict[str, tuple[str, str]], set[str]]:
    """Of these ids: who wrote them with which hash, and which are buried."""
    rows = asking.all(
        "SELECT id, author, hash FROM memories WHERE tenant = %s AND project = %s AND id = ANY(%s) "
        "UNION ALL SELECT id, NULL, NULL FROM graves WHERE tenant = %s AND project = %s AND id = ANY(%s)",
        *(asker.tenant, project.key, ids, asker.tenant, project.key, ids),
    )
    return (
        {row_id: (author, found) for row_id, author, found in rows if author},
        {row_id for row_id, author, _ in rows if not author},
    )


def _store(asking: Asking, asker: Asker, project: Project, rows: list[CheckedRow], head: int) -> None:
    if not rows:
        return
    columns: list[list[Any]] = [
        [each.row.id for each in rows],
        list(range(head + 1, head + 1 + len(rows))),
        [each.hash for each in rows],
        [each.mark for each in rows],
        [each.row.kind for each in rows],
        [each.row.state for each in rows],
        [each.row.at for each in rows],
        [each.body for each in rows],
    ]
    asking.do(
        "INSERT INTO memories SELECT %s, %s, id, %s, %s, seq, hash, mark, kind, state, at, body "
        "FROM unnest(%s::text[], %s::bigint[], %s::text[], %s::bigint[], %s::text[], %s::text[], "
        "%s::bigint[], %s::text[]) AS t(id, seq, hash, mark, kind, state, at, body) "
        "ON CONFLICT (tenant, project, id) DO UPDATE SET device = excluded.device, seq = excluded.seq, "
        "hash = excluded.hash, mark = excluded.mark, kind = excluded.kind, state = excluded.state, "
        "at = excluded.at, body = excluded.body",
        *(asker.tenant, project.key, asker.member, asker.device, *columns),
    )
    asking.do(
        "INSERT INTO words SELECT %s, %s, id, words::tsvector FROM unnest(%s::text[], %s::text[]) "
        "AS t(id, words) ON CONFLICT (tenant, project, id) DO UPDATE SET words = excluded.words",
        *(asker.tenant, project.key, columns[0], [each.words for each in rows]),
    )
