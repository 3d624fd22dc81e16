"""The hook path: what runs while an agent waits, fenced off from the rest of the product.

An agent runs our hook dozens of times a minute, so every import is paid for by the user. Nothing in this
folder imports anything but a few cheap parts of the standard library (a test holds the allow-list). The
worker prepares small JSON files, the hook reads those and what still waits in the spool; only for a note with
a prompt or after an error `installed.py` opens the door to the package, which reads the database.
`capture/hook_bundle.py` compiles these modules into the home, where no site-packages, no virtual environment
and no upgrade in progress can get in their way. The product imports them too, so that the brief on the
command line and the one an agent receives are the same text.

hook.sh                  copies a payload into the spool: a whole capture hook, sourced by the agent's `sh -c`
agent_facts.py           what hooks must know of each agent, from the agents' table
hook_command.py          the command line that an agent's settings hold
spool.py                 the spool's file format: names, trailer, listing, reading, writing
bundle_loader.py         the one file that hooks run, with the other modules in it
regular_file.py          opening a file that somebody else may have made
project_identity.py      which project a folder belongs to, by reading git's files
remote_url.py            a git remote in one spelling
ignore_globs.py          the ignore globs of the settings
payload.py               JSON without the json module
windows_paths.py         payloads whose backslashes were not escaped
patterns.py              the table of secrets and personal data
token_shapes.py          rows for tokens that a service marks by a prefix or a shape
context_shapes.py        rows for secrets that what stands around them tells: commands, sentences, files
command_shapes.py        rows for secrets that stand in a certain place of a command
argument_shapes.py       rows for drawn values that are given to a telling name or call
config_shapes.py         rows for secrets that the syntax of one kind of file or command gives
context_validators.py    whether what those have matched is a secret
secret_columns.py        secrets in columns: tables, CSV, INSERT statements, Kubernetes Secrets
secret_names.py          which identifiers name a secret
anchors.py               which rows of the table a text may hold
placeholders.py          what tells a secret from a placeholder or code
precompiled_patterns.py  patterns ready to run without `re`
plaintext_passwords.py   which plain words are passwords all the same
validators.py            whether what a row has matched is a secret
pii.py                   the same for personal data
private_spans.py         merges what was found
redact.py                takes them out of a text
pending_events.py        rows from what is still in the spool
sanitize.py              text that cannot pretend to be anything but a quoted note
error_advice.py          what a line of a tool reports, without what it tells its reader to do
untrusted_text.py        what no agent may be told as advice: remote code, links, orders in errors
command_line.py          a shell command line as data: pipelines, words, substitutions, redirections
shell_programs.py        what programs do with their input: the tables for judging commands
remote_code.py           commands that run code nobody sees, which are not recommended
brief_text.py            rows to the text that a starting session receives
file_stamps.py           whether the files that rows speak of are what they were
installed.py             the one door to the installed package
session_brief.py         the brief for one start of a session
normalize.py             what prompts, commands and edits are recognised by
error_signature.py       what errors are recognised by, and which any program may have
work_notes.py            notes on them, said at work
deferred_brief.py        a brief that waits for the first prompt, or came too late for its start
time_limit.py            how long a hook may look around
__main__.py              the answering hook
windows_hook.py          both hooks in one process, for Windows
"""
