"""Ending ids for good: their rows and words go, a grave stays, and the journal beside the database knows."""

from collections.abc import Mapping

from backstory.failpoints import step
from backstory.team.admission import now_ms
from backstory.team.database import Asking, Connection
from backstory.team.grave_journal import Burial, GraveJournal
from backstory.team.pushed_row import signed
from backstory.team_wire import BURIED, mark

_AT_ONCE = 500


def bury(asking: Asking, tenant: str, project: str, authors: Mapping[str, str], head: int) -> int:
    """End these ids, each in the name of somebody, numbered from `head` on; how many had a text.

    The project's row is held by the caller. The journal is written before anything commits.
    """
    if not authors:
        return 0
    assert asking.journal is not None
    asking.journal.append([Burial(tenant, project, each, who) for each, who in authors.items()])
    step("push.journalled")
    return _end(asking, tenant, project, authors, head)


def replay(connection: Connection, journal: GraveJournal) -> None:
    """Bury again what the journal says and the database does not know: it was restored, or died before."""
    waiting: dict[tuple[str, str], dict[str, str]] = {}
    for each in journal.burials():
        waiting.setdefault((each.tenant, each.project), {})[each.id] = each.author
    for (tenant, project), authors in waiting.items():
        asking = Asking(connection, None)
        asking.as_tenant(tenant)
        try:
            asking.as_member("", "keeper")
            rebury(asking, tenant, project, authors)
            asking.commit()
        finally:
            asking.roll_back()


def rebury_of(asking: Asking, tenant: str, project: str) -> None:
    """The same for one project that was just opened: perhaps it was there before a backup was restored."""
    assert asking.journal is not None
    found = asking.journal.burials()
    authors = {each.id: each.author for each in found if (each.tenant, each.project) == (tenant, project)}
    rebury(asking, tenant, project, authors)


def rebury(asking: Asking, tenant: str, project: str, authors: Mapping[str, str]) -> None:
    """End those of these ids that have no grave; a project that is not there waits until it is opened."""
    held = asking.one(
        "SELECT head FROM projects WHERE tenant = %s AND project = %s FOR UPDATE", tenant, project
    )
    if held is None or not authors:
        return
    head = int(held[0])
    ids = list(authors)
    for at in range(0, len(ids), _AT_ONCE):
        some = ids[at : at + _AT_ONCE]
        graves = asking.all(
            "SELECT id FROM graves WHERE tenant = %s AND project = %s AND id = ANY(%s)",
            *(tenant, project, some),
        )
        known = {row[0] for row in graves}
        new = {each: authors[each] for each in some if each not in known}
        if new:
            _end(asking, tenant, project, new, head)
            head += len(new)
    if head > held[0]:
        asking.do("UPDATE projects SET head = %s WHERE tenant = %s AND project = %s", head, tenant, project)


def _end(asking: Asking, tenant: str, project: str, authors: Mapping[str, str], head: int) -> int:
    ids = list(authors)
    asking.do("DELETE FROM words WHERE tenant = %s AND project = %s AND id = ANY(%s)", tenant, project, ids)
    ended = asking.do(
        "DELETE FROM memories WHERE tenant = %s AND project = %s AND id = ANY(%s)", tenant, project, ids
    )
    asking.do(
        "INSERT INTO graves SELECT %s, %s, id, author, seq, mark, %s "
        "FROM unnest(%s::text[], %s::text[], %s::bigint[], %s::bigint[]) AS t(id, author, seq, mark)",
        *(tenant, project, now_ms(), ids, list(authors.values())),
        *(list(range(head + 1, head + 1 + len(ids))), [signed(mark(each, BURIED)) for each in ids]),
    )
    return ended
