"""Capture: from what hooks left in the spool, and agents' own transcripts, to stored events.

hookfiles.py    the script and compiled code that agents' hooks run, written into the home
drain.py        the spool into the store, each file exactly once
privacy.py      what must not be kept: redaction, ignored files and projects
places.py       which project a folder belongs to, also when it is gone
transcripts.py  what hooks do not carry, from the agent's own history
quarantine.py   what could not be read, kept with its reason
"""
