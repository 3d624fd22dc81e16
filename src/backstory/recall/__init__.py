"""Recall: giving back what was learned.

prepare.py    the rows of a project's brief and of a session's checkpoint, written for the hook to read
ready_answers.py  finished answers to plain starts, for the shell to print
brief_rows.py which rows a project's brief may show, each with its worth
others_rows.py what others share, among the rows of a brief
outcomes.py   what came of a session, in one row
worth.py      how much a statement is worth at a start: features and fitted weights
written_down.py  what CLAUDE.md, AGENTS.md, GEMINI.md and README.md say already
rows.py       a memory as a row of them
notes.py      what may be said on a prompt, before a tool or after its failure, and the flags for the shell
call_literals.py what a tool call's payload must hold for any note on it
deeds.py      which commands, edits and errors they belong to
informative.py what of a passage is worth telling
note_worth.py how much a passage is worth as a note: features and fitted weights
episodes.py   which episode of the past a question is about
lookup.py     passages that tell of a prompt, an error, a command or a file
freshness.py  whether the files that a memory names are as they were
gitpast.py    what git knows of files: changed since when, moved where to
usefulness.py whether what was told was of use, from what agents did then
standing.py   in force or history, fresh or not: the labels of memories
brief.py      the brief as a command shows it
handles.py    from the beginning of an id to the one thing that it stands for
handoff.py    a session's work as a text to paste into any agent
"""
