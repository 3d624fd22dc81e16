"""`backstory completion`: the script that makes a shell complete commands and options."""

import click
from click.shell_completion import get_completion_class

from backstory.errors import Failed

VARIABLE = "_BACKSTORY_COMPLETE"  # click's own name for it; the script sets it when the user presses Tab


@click.command()
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print what makes a shell complete these commands.

    \b
    bash   eval "$(backstory completion bash)"     in ~/.bashrc
    zsh    eval "$(backstory completion zsh)"      in ~/.zshrc, after compinit
    fish   backstory completion fish > ~/.config/fish/completions/backstory.fish
    """
    script = get_completion_class(shell)
    if script is None:
        raise Failed(f"this version of click knows no completion for {shell}: install Backstory again")
    click.echo(script(context.find_root().command, {}, "backstory", VARIABLE).source())
