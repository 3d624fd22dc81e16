"""Which folders' `.backstory.toml` the user has agreed to, with what it said then: `confirmed.json`."""

from backstory.atomic import read_state
from backstory.paths import Home


def confirmed_projects(home: Home) -> dict[str, str]:
    """The folders with the project that each names; a damaged list is kept aside and counts as empty."""
    return read_state(home.confirmed, {}, _names)


def _names(state: dict[str, str]) -> bool:
    return all(isinstance(name, str) for name in state.values())
