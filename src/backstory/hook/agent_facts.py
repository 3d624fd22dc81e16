"""What hooks must know of each agent, as plain values.

The agents' table (`backstory.agents`) is the one place where these facts stand. Loading it fills FACTS; hooks
never load it, so `capture/hook_bundle.py` writes the values into the bundle that hooks run.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypedDict

    class Facts(TypedDict):
        """See `Answering` and `HookEvent` in `agents/agent.py`."""

        top_level: bool
        visible: bool
        most_tokens: int
        told_again: bool
        answers: list[str]
        delivers: list[str]
        wakes: list[str]
        notes: dict[str, str]


FACTS: "dict[str, Facts]" = {}
_NOTHING: "Facts" = {
    "top_level": False,
    "visible": False,
    "most_tokens": 0,
    "told_again": False,
    "answers": [],
    "delivers": [],
    "wakes": [],
    "notes": {},
}


def facts_of(agent: str) -> "Facts":
    """The facts about an agent; of an unknown one, what most agents do."""
    return FACTS.get(agent, _NOTHING)
