"""The store: everything that is kept, and the only place that contains SQL.

records.py          what goes in and out
sqlite.py           the embedded default: opening, pragmas, transactions
schema.py           migrations, applied in order
new_database.py     the one way to make a database file: fresh folder, checked, put in place
backup_copy.py      backups: made, looked into, kept apart
salvage.py          what a damaged database still gives, in a new one
reconstruction.py   lost sessions, projects, turns and counts, made again from other rows
compression.py      payloads packed, and unpacked if they are not damaged
page_reader.py      rows found page by page, where nothing leads to them any more
key_escrow.py       the key and the tombstones, a second time
expired_rows.py     what has aged, to be archived and let go
row_erasure.py      removing for good, with tombstones
row_export.py       everything as plain rows, for another database
row_import.py       such rows taken in, but for what was forgotten
import_filter.py    which of such rows may be taken in
row_check.py        what makes a row of theirs fit
projects.py         projects, and the folders that belonged to them
event_ids.py        which event is which: ids made of what it is
events.py           sessions, turns and events, each stored exactly once
event_reader.py     sessions and events, read
memories.py         memories with their lineage
others_memories.py  what others share, beside the home's own
feeds.py            what is shared with the team's server, and how far it was read
supersessions.py    which decision took the place of which
brief_receipts.py   what a brief is made from, and receipts of what was given
job_queue.py        work to be done: leased, retried, parked
model_ledger.py     calls of models: what they took, what was answered
passages.py         the text index: what search looks through
passage_reader.py   the text index as a hook reads it: one connection that cannot write
payload_scan.py     names in the middle of long outputs, which the index leaves out
full_text_index.py  which passages have which words, project by project
tokenizer.py        what is indexed beside the text, and how a question's words are put to it
vectors.py          vectors of passages, all of one model
activity.py         what is being done right now
listings.py         what only people look at: long lists, sums, what has just happened
counters.py         counters of what capture did
spool_receipts.py   which spool files are stored, though not removed yet
transcript_marks.py how far histories were read, and how much of each is in our copy
tombstones.py       ids of what was forgotten
meta_values.py      small values
disk_errors.py      a full or read-only disk, lost permissions: what keeps a whole database from being used
integrity.py        is the database whole, looked at without changing it
migrations/         numbered schema files, never edited
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from backstory.store.sqlite import Store, open_store, scratch_store

__all__ = ["Store", "open_store", "scratch_store"]


def __getattr__(name: str) -> Any:
    """What opens a store is imported when asked for: a hook reads one index and has no time for more."""
    if name not in __all__:
        raise AttributeError(name)
    from backstory.store import sqlite

    return getattr(sqlite, name)
