"""Which decisions of a project are history, by what they say, and who may overrule whom.

Only the user's word, or what a person confirmed, takes the place of the user's word: what an agent says that
was decided stands beside it.
"""

from backstory.distil import succession
from backstory.store import Store


def succeed(store: Store, project_id: str) -> None:
    """Find out which decisions of a project are history; what a person has judged stays as it is."""
    with store.transaction():
        settle(store, project_id)


def settle(store: Store, project_id: str) -> None:
    """The same, inside a transaction."""
    decided = {each.id: each for each in store.successions.decisions(project_id)}

    def may(older: str, newer: str) -> bool:
        before, now = decided[older], decided[newer]
        return not before.firm and (now.users or not before.users)

    told = [(each.id, each.at, succession.in_full(each.text, each.reason)) for each in decided.values()]
    store.successions.write(project_id, succession.successions(told, may))
