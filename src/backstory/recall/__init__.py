"""Recall: giving back what was learned.

prepare.py    the rows of a project's brief and of a session's checkpoint, written for the hook to read
rows.py       a memory as a row of them
notes.py      what may be said on a prompt, before a tool or after its failure, and the flags for the shell
deeds.py      which commands, edits and errors they belong to
named.py      which names reach one of them alone
freshness.py  whether the files that a memory names are as they were
gitpast.py    what git knows of files: changed since when, moved where to
standing.py   in force or history, fresh or not: the labels of memories
brief.py      the brief as a command shows it
handles.py    from the beginning of an id to the one thing that it stands for
handoff.py    a session's work as a text to paste into any agent
"""
