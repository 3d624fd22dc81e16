"""The command line that an agent's settings hold for one event.

It never changes with upgrades (Codex trusts it by its hash), names the agent and the event (nobody guesses
them from the environment), and ends in 0 whatever has become of our files: the script is tested before it
is sourced, and the trap catches what a shell does on a syntax error in it or a failed fork.
"""


def quote_sh(text: str) -> str:
    """One word of a POSIX shell, whatever it holds."""
    return "'" + text.replace("'", "'\\''") + "'"


def quote_cmd(text: str) -> str:
    """One argument of cmd.exe and of the C runtime's parser behind it; Windows paths hold no quotes.

    Inside quotes cmd leaves & | < > ^ ( ) alone. A backslash before the closing quote would escape it.
    """
    body = text.replace('"', "")
    trailing = len(body) - len(body.rstrip("\\"))
    return '"' + body + "\\" * trailing + '"'


def hook_command(home: str, agent: str, event: str) -> str:
    """What a POSIX agent runs through `sh -c`."""
    script = quote_sh(f"{home.rstrip('/')}/hook/hook.sh")
    return (
        f"trap 'exit 0' EXIT; BACKSTORY_AGENT={_word(agent)} BACKSTORY_EVENT={_word(event)}; "
        f"[ -r {script} ] && . {script}; exit 0"
    )


def hook_command_windows(home: str, agent: str, event: str, python: str) -> str:
    """What an agent on Windows runs through cmd.exe: `python missing.pyc` would exit 2, so it is tested."""
    home = home.rstrip("\\/")
    script = quote_cmd(f"{home}\\hook\\hook.pyc")
    run = f"{quote_cmd(python)} -I -S {script} capture {quote_cmd(home)} {_word(agent)} {_word(event)}"
    return f"(if exist {script} {run}) & exit 0"


def _word(name: str) -> str:
    """An agent's or event's name; it becomes part of a file's name and of a command."""
    if not (name.isascii() and name.replace("-", "").isalnum()):
        raise ValueError(f"{name!r} is no name for an agent or an event: letters, digits and - only")
    return name
