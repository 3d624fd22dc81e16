"""`backstory help`: the help of a command, as its `--help` prints it."""

import click

from backstory.errors import UsageError


@click.command(name="help")
@click.argument("words", metavar="[COMMAND]...", nargs=-1)
@click.pass_context
def help_(context: click.Context, words: tuple[str, ...]) -> None:
    """Show what a command does and which options it takes.

    Without COMMAND, all commands and the exit codes. `backstory help session register` is the help of a
    command within a command.
    """
    here = context.find_root()
    for word in words:
        known = here.command.list_commands(here) if isinstance(here.command, click.Group) else []
        command = here.command.get_command(here, word) if isinstance(here.command, click.Group) else None
        if command is None:
            near = f": it has {', '.join(known)}" if known and here.parent else ""
            raise UsageError(
                f"`{here.command_path}` has no command {word!r}{near or '; `backstory help` lists them'}"
            )
        here = click.Context(command, info_name=word, parent=here)
    click.echo(here.get_help())
