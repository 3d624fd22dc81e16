"""Sharing: what may leave this home, how it crosses to the team's server and back, and what it is at home.

outgoing_rows.py   which memories may leave, at which level, and the row that each becomes
portable_text.py   texts without this machine: paths relative, the home as `~`, secrets redacted again
incoming_rows.py   rows that others sent → memories of theirs, read without trust
team_client.py     the requests of docs/team-protocol.md: HTTP with one deadline, no redirects, TLS verified
feed_sync.py       one feed brought up to date: push the difference, bury, pull, prove
share_pass.py      the worker's part: every feed that is due, without the worker's lock, with backoff
shared_files.py    no server: one reviewed Markdown file per memory under `.backstory/shared/`

Nothing here is loaded by a home that has joined no team and reads no shared files.
"""
