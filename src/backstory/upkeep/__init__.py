"""Keeping the memory in order: what a person asks for by name; by itself only what settings ask for.

backups.py           copies of the database, and going back to one
repair.py            a new database from what a damaged one still gives
erasure.py           forgetting for good, with all that hangs on it
injected_copies.py   where we repeated what is forgotten
normal_form.py       one normal form for words that are looked for and texts that may hold them
stale_sessions.py    an end for sessions that nobody ended
retention_policy.py  what has grown old, out of the database; once a day, if the settings say so
event_archive.py     where it goes, and how it is forgotten there
disk_usage.py        how much room everything takes, and what could be freed
export_file.py       everything as lines, out and in; what was learned, to read
import_privacy.py    such lines by the privacy rules of the home that takes them in
scrub.py             secrets out of what is stored already
"""
