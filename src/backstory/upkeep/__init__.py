"""Keeping the memory in order: what a person asks for by name; by itself only what settings ask for.

backups.py   copies of the database, and going back to one
repair.py    a new database from what a damaged one still gives
forget.py    forgetting for good, with all that hangs on it
echoes.py    where we repeated what is forgotten
normal_form.py one normal form for words that are looked for and texts that may hold them
orphans.py   an end for sessions that nobody ended
retention.py what has grown old, out of the database; once a day, if the settings say so
archive.py   where it goes, and how it is forgotten there
room.py      how much room everything takes, and what could be freed
export.py    everything as lines, out and in; what was learned, to read
arriving.py  such lines by the privacy rules of the home that takes them in
scrub.py     secrets out of what is stored already
"""
