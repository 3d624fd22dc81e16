"""The command line: one small file per command, imported only when it is called.

main.py              the group: its help, lazy commands, from any error to one line and an exit code
output.py            printing: JSON, plain text, rich on a terminal; stored text made harmless
listing.py           events, sessions and memories as one line each, and as JSON
project_scope.py     which project a command is about: --cwd, --project, --all
log_file.py          what is logged goes to a file in the home, tracebacks too
reference.py         the pages docs/cli.md and docs/settings.md
setup_pages.py       the pages docs/agents.md and docs/schedules.md
install.py           install, uninstall
agent_choice.py      which agents a person leaves ticked
first_import.py      what a first install ends with: the import, and three true things
scheduled_import.py  what a schedule runs
confirm.py           asking before something that cannot be taken back
forget.py            forget, scrub
backup.py            backup, restore, repair
import_.py           import
wiki.py              compile, lint, ask
log.py               log
team.py              team: what is shared, and its lazy subcommands
team_sharing.py      team join, share, sync, mute, unmute, leave
team_members.py      team open, invite, devices, revoke, purge
team_serve.py        team serve
session.py           session, for hosts
scheduled.py         what schedules run that were installed before scheduled_import.py had its name

One command each: brief.py · search.py · show.py · timeline.py · remember.py · handoff.py · status.py ·
doctor.py · config.py · serve.py · review.py · jobs.py · cost.py · rebuild.py · cleanup.py · export.py ·
mcp.py · help_.py · completion.py
"""

from backstory.cli.main import cli, main

__all__ = ["cli", "main"]
