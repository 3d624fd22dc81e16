"""The store: everything that is kept, and the only place that contains SQL.

protocol.py    what a store can do, for any database
values.py      what goes in and out
sqlite.py      the embedded default: opening, pragmas, transactions
schema.py      migrations, applied in order
new_database.py  the one way to make a database file: fresh folder, checked, put in place
copies.py      backups: made, looked into, kept apart
salvage.py     what a damaged database still gives, in a new one
reconstruction.py  lost sessions, projects, turns and counts, made again from other rows
compression.py payloads packed, and unpacked if they are not damaged
pages.py       rows found page by page, where nothing leads to them any more
spare.py       the key and the tombstones, a second time
retention.py   what has aged, to be archived and let go
forgetting.py  removing for good, with tombstones
dump.py        everything as plain rows, for another database
intake.py      such rows taken in, but for what was forgotten
admission.py   which of such rows may be taken in
incoming.py    what makes a row of theirs fit
projects.py    projects, and the folders that belonged to them
event_ids.py   which event is which: ids made of what it is
events.py      sessions, turns and events, each stored exactly once
memories.py    memories with their lineage
successions.py  which decision took the place of which
briefs.py      what a brief is made from, and receipts of what was given
jobs.py        work to be done: leased, retried, parked
ledger.py      calls of models: what they took, what was answered
passages.py    the text index: what search looks through
depths.py      names in the middle of long outputs, which the index leaves out
shelves.py     which passages have which words, project by project
words.py       what is indexed beside the text, and how a question's words are put to it
vectors.py     vectors of passages, all of one model
doing.py       what is being done right now
views.py       what only people look at: long lists, sums, what has just happened
books.py       counters, tombstones, spool receipts, transcript marks
obstacles.py   a full or read-only disk, lost permissions: what keeps a whole database from being used
health.py      is the database whole, looked at without changing it
migrations/    numbered schema files, never edited
"""

from backstory.store.protocol import Store
from backstory.store.sqlite import open_store, scratch

__all__ = ["Store", "open_store", "scratch"]
