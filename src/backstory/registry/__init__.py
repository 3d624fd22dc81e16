"""The session registry, for hosts that run agents in containers or groups.

session_state.py   `session-state.json`: who registered when, read and written under one lock
sentinel.py        which session has been given its bootstrap, and whether this one needs it
host_session.py    the session's id in the host's own database, read-only
registry_paths.py  which files are meant: flag, then environment, then default
"""
