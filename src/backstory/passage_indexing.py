"""Events get into the text index: turns that have new ones are harvested, and their passages indexed."""

from backstory.distil.harvest import Passage, harvest
from backstory.store import Store
from backstory.store.passages import STEP
from backstory.store.records import NewPassage


def index_events(store: Store, limit: int = STEP) -> int:
    """Index the next events that are not indexed yet, else older passages whose words are not.

    Gives how many; 0 when all are. Call it inside a transaction.
    """
    turns = store.passages.unindexed_turns(limit)
    if not turns.events:
        return store.passages.index_words(limit)
    events = store.events.of_turns(turns.turns, store.passages.skipped())
    store.passages.index_turns(turns, events, [_indexed(each) for each in harvest(events)])
    return turns.events


def _indexed(passage: Passage) -> NewPassage:
    """A passage as the index has it; its heading stands before it, as what it says depends on that."""
    text = f"{passage.heading}: {passage.text}" if passage.heading else passage.text
    context = "" if passage.kind == "prompt" else passage.prompt
    return NewPassage(passage.event, passage.part, passage.kind, text, context)
