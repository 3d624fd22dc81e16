"""The boxes that `backstory install` lets a person tick: which of the agents found here are connected."""

from collections.abc import Sequence

import click

from backstory.agents import Agent
from backstory.cli.output import line
from backstory.errors import UsageError

_ASK = "Numbers to tick or untick, Enter to go on"


def chosen_agents(found: Sequence[Agent]) -> list[Agent]:
    """The agents that a person leaves ticked; all are at first."""
    ticked = [True] * len(found)
    while True:
        for number, agent in enumerate(found):
            box = ("[x]", "green") if ticked[number] else ("[ ]", "dim")
            line(box, f" {number + 1} {agent.title}", indent=2)
        try:
            typed = click.prompt(_ASK, default="", show_default=False, err=True)
        except click.Abort as abort:
            if isinstance(abort.__cause__ or abort.__context__, KeyboardInterrupt):
                raise
            raise UsageError("nobody answered, and nothing was changed: name the agents") from None
        words = typed.replace(",", " ").split()
        if not words or typed.strip().lower() in ("y", "yes"):
            break
        if typed.strip().lower() in ("n", "no", "q"):
            raise UsageError("nothing was changed")
        for word in words:
            if word.isdecimal() and 0 < int(word) <= len(found):
                ticked[int(word) - 1] ^= True
            else:
                click.echo(f"{word} is no number from 1 to {len(found)}", err=True)
    kept = [agent for agent, is_ticked in zip(found, ticked, strict=True) if is_ticked]
    if not kept:
        raise UsageError("no agent is ticked, and nothing was changed")
    return kept
