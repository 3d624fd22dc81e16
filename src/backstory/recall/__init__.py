"""Recall: giving back what was learned.

prepare.py    the rows of a project's brief and of a session's checkpoint, written for the hook to read
brief.py      the brief as a command shows it
handoff.py    a session's work as a text to paste into any agent
"""
