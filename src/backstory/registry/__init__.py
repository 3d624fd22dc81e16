"""The session registry, for hosts that run agents in containers or groups.

state.py      `session-state.json`: who registered when, read and written under one lock
sentinel.py   which session has been given its bootstrap, and whether this one needs it
source.py     the session's id in the host's own database, read-only
places.py     which files are meant: flag, then environment, then default
"""
