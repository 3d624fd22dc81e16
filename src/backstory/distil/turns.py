"""One digest per turn: the ask, what changed, what ran and how, how it ended."""

from backstory.distil.commands import outcome, tally
from backstory.distil.prose import gist, in_a_row, shorten
from backstory.distil.shell import Role
from backstory.distil.story import Run, Story, Turn
from backstory.model import Draft, MemoryKind


def names(files: list[str], most: int = 5) -> str:
    """A few file names and how many more there are."""
    unique = [as_name(file) for file in dict.fromkeys(files)]
    shown = ", ".join(unique[:most])
    return shown if len(unique) <= most else f"{shown} and {len(unique) - most} more"


def as_name(file: str) -> str:
    """A file's name as a row tells it: one with blanks may be a sentence, and stands in quotation marks."""
    return f"“{file}”" if " " in file else file


def ran(runs: list[Run], most: int = 4) -> str:
    """Commands with their outcome; probes are left out."""
    worth = [run for run in runs if run.failed or run.command.role is not Role.PROBE]
    counts = list(tally(worth).items())
    shown = "; ".join(f"`{shorten(line, 70)}` {outcome(count)}" for line, count in counts[-most:])
    return shown if len(counts) <= most else f"{shown} (and {len(counts) - most} more)"


def ending(turn: Turn) -> str:
    """How a turn ended, in a few words."""
    if turn.broken:
        return f"ended by an error: {shorten(turn.broken, 80)}"
    if turn.interrupted:
        return "interrupted by the user"
    if not turn.ended:
        return f"its last step used {turn.last_tool}" if turn.last_tool else "not answered"
    return ""


def digest(turn: Turn) -> str:
    """The turn in one to three lines."""
    parts = [f"Asked: {gist(turn.asked, 200)}" if turn.ask else "Without a prompt"]
    if turn.changes:
        parts.append(f"changed {names([c.file for c in turn.changes])}")
    if line := ran(turn.runs):
        parts.append(f"ran {line}")
    if error := next((run.error for run in reversed(turn.runs) if run.error), ""):
        parts.append(f"failed with “{shorten(error, 120)}”")
    if end := ending(turn):
        parts.append(end)
    elif turn.last_said is not None:
        parts.append(f"said: {gist(turn.last_said.text, 200)}")
    return in_a_row(part[0].upper() + part[1:] for part in parts)


def turn_digests(story: Story) -> list[Draft]:
    """A TURN draft for each turn in which anything happened."""
    return [
        Draft(
            MemoryKind.TURN,
            f"turn:{turn.number}",
            shorten(digest(turn), 640),
            turn.at,
            tuple(turn.ids[:1] + turn.ids[1:][-19:]),
            files=tuple(dict.fromkeys(change.file for change in turn.changes)),
            turn=turn.number,
            weight=0.8,
        )
        for turn in story.turns
        if not turn.empty and turn.ids
    ]
