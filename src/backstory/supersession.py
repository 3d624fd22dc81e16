"""The stage that supersedes: which decisions are history by what they say, and who may overrule whom.

Only the user's word, or what a person confirmed, takes the place of the user's word: what an agent says that
was decided stands beside it.
"""

from backstory.distil import succession
from backstory.revision import write_revisions
from backstory.store import Store


def update_supersessions(store: Store, project_id: str) -> None:
    """Find out which decisions of a project are history; what a person has judged stays as it is."""
    with store.transaction():
        write_supersessions(store, project_id)


def write_supersessions(store: Store, project_id: str) -> None:
    """The same, inside a transaction; first, what several sessions showed becomes one, revised by models."""
    store.memories.consolidate(project_id)
    write_revisions(store, project_id)
    decided = {each.id: each for each in store.supersessions.candidates(project_id)}

    def may(older: str, newer: str) -> bool:
        before, now = decided[older], decided[newer]
        return not before.firm and (now.users or not before.users)

    told = [(each.id, each.at, succession.in_full(each.text, each.reason)) for each in decided.values()]
    store.supersessions.write(project_id, succession.successions(told, may))
    if store.others.has(project_id):
        _write_contradictions(store, project_id)


def _write_contradictions(store: Store, project_id: str) -> None:
    """Where somebody else decided otherwise on the same matter: both are told."""
    decided = {row[0]: row for row in store.others.decisions(project_id)}
    told = [(mid, at, succession.in_full(text, reason)) for mid, text, reason, at, _ in decided.values()]
    found = succession.successions(told, lambda older, newer: decided[older][4] != decided[newer][4])
    store.others.contradict(project_id, list(found.items()))
