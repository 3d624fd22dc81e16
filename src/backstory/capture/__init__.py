"""Capture: from what hooks left in the spool, and agents' own transcripts, to stored events.

agent_setup.py         plans to install and to uninstall, agent by agent
file_plan.py           what a plan would change, and carrying it out
settings_entries.py    our entries in an agent's settings
owned_file.py          a file of an agent's that is all ours
mcp_registration.py    our MCP server in an agent's list of servers
schedule_units.py      importing again and again: what systemd, launchd and cron are given
schedule_setup.py      putting a schedule in place and taking it out
settings_files.py      per agent: where its settings and instructions lie
written_files.py       which agents' files we have written to
setup_check.py         what is configured now, event by event
instruction_block.py   the marked block in CLAUDE.md, AGENTS.md or whatever the agent reads
ownership.py           whether another user could plant what our hooks run
hook_bundle.py         the script and compiled code that agents' hooks run, written into the home
drain.py               the spool into the store, each file exactly once
privacy.py             what must not be kept: redaction, ignored files and projects
ignored_files.py       whether a call, its output or a row is about an ignored file
project_lookup.py      which project a folder belongs to, also when it is gone
project_claims.py      whether a repository may be the project that its remote names
live_transcript.py     what hooks do not carry, from a live session's own transcript
history_reader.py      an agent's own history of a session, read into the store
importer.py            everything that agents have kept, brought in
import_process.py      an import's own process, so that one history cannot end all of it
rewritten_rows.py      rows of other tools that were changed in place
project_docs.py        documentation made searchable
transcript_archive.py  redacted copies of the agents' transcripts
coverage_audit.py      what agents wrote down themselves, compared with what is stored
quarantine.py          what could not be read, kept with its reason
worker_spawn.py        a worker, called as a process of its own
confirmed_folders.py   which folders' `.backstory.toml` the user has agreed to
spool_state.py         whether anything waits for a drain
note_payload.py        what a person asks to remember
wildcard_overlap.py    whether two patterns can match the same path
"""
