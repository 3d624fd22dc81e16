"""Keeping the memory in order: what a person asks for by name, never a schedule.

backups.py   copies of the database, and going back to one
repair.py    a new database from what a damaged one still gives
forget.py    forgetting for good, with all that hangs on it
orphans.py   an end for sessions that nobody ended
export.py    everything as lines, out and in; what was learned, to read
scrub.py     secrets out of what is stored already
"""
