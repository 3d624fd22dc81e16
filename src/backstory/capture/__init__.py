"""Capture: from what hooks left in the spool, and agents' own transcripts, to stored events.

install.py      plans to install and to uninstall, agent by agent
plan.py         what a plan would change, and carrying it out
entries.py      our entries in an agent's settings
owned.py        a file of an agent's that is all ours
servers.py      our MCP server in an agent's list of servers
schedule.py     importing again and again: what systemd, launchd and cron are given
scheduling.py   putting a schedule in place and taking it out
surfaces.py     per agent: where its settings and instructions lie
sites.py        which agents' files we have written to
installed.py    what is configured now, event by event
instructions.py the marked block in CLAUDE.md, AGENTS.md or whatever the agent reads
ownership.py    whether another user could plant what our hooks run
hookfiles.py    the script and compiled code that agents' hooks run, written into the home
drain.py        the spool into the store, each file exactly once
privacy.py      what must not be kept: redaction, ignored files and projects
places.py       which project a folder belongs to, also when it is gone
project_claims.py  whether a repository may be the project that its remote names
transcripts.py  what hooks do not carry, from a live session's own transcript
history.py      an agent's own history of a session, read into the store
importing.py    everything that agents have kept, brought in
import_process.py  an import's own process, so that one history cannot end all of it
rewritten.py    rows of other tools that were changed in place
documents.py    documentation made searchable
archive.py      redacted copies of the agents' transcripts
proof.py        what agents wrote down themselves, compared with what is stored
quarantine.py   what could not be read, kept with its reason
calling.py      a worker, called as a process of its own
confirmed.py    which folders' `.backstory.toml` the user has agreed to
waiting.py      whether anything waits for a drain
remembered.py   what a person asks to remember
wildcards.py    whether two patterns can match the same path
"""
