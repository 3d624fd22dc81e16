"""Who asks. An agent that searches in the middle of a turn must not get its own question back as an answer.

Some agents tell their children which session they belong to; then it is that session's open turn. Of the
others it is only known that an agent asks: then the turns count that are open in the project and were heard
of lately. Left out are the prompt of such a turn and the memories that rest on it, nothing else: what the
session did before may well be the answer, after a compaction most of all.
"""

from collections.abc import Mapping

from backstory.store import Store

# Set by the agents for the programs that they start.
SESSION_VARIABLES = ("CLAUDE_CODE_SESSION_ID", "GEMINI_SESSION_ID")
_LATELY_MS = 3_600_000


def own_words(
    store: Store, project_id: str | None, environment: Mapping[str, str], by_agent: bool, now: int
) -> frozenset[str]:
    """The ids of what is being asked right now, so that it is no answer."""
    named = [environment[name] for name in SESSION_VARIABLES if environment.get(name)]
    found = store.activity.open_prompts(named) if named else frozenset()
    if not found and by_agent:
        found = store.activity.open_prompts(project_id=project_id, since=now - _LATELY_MS)
    return found
