"""Whose doing a question asks for: an agent's name in it ("what did codex do last month") chooses."""

import re
from functools import cache
from typing import NamedTuple

from backstory.search.wishes import says_nothing


class Whose(NamedTuple):
    """The agents that a text names, and the text with "we" instead of them."""

    agents: tuple[str, ...]
    text: str


def whose(text: str) -> Whose:
    """The agents that a text names, each once, in their order; "codex hooks" are things, not an agent."""
    names, pattern = _names()
    found: dict[str, None] = {}

    def we(m: re.Match[str]) -> str:
        if _is_things(m["behind"].lower()):
            return m[0]
        found[names[" ".join(m["called"].lower().replace("-", " ").split())]] = None
        return "we"

    put = pattern.sub(we, text)
    return Whose(tuple(found), put)


def _is_things(word: str) -> bool:
    return word.endswith("s") and not word.endswith("ss") and not says_nothing(word)


@cache
def _names() -> tuple[dict[str, str], re.Pattern[str]]:
    """What people call the agents: by name, by title, or by the first word of it."""
    from backstory.agents.importable_histories import histories  # only questions of a time need them

    names: dict[str, str] = {}
    for name, source in histories().items():
        for called in (name.replace("-", " "), source.title.lower()):
            names |= {called: name, called.split()[0]: name}
    spelled = "|".join(each.replace(" ", "[ -]+") for each in sorted(names, key=len, reverse=True))
    named = rf"(?<![\w./@-])(?P<called>{spelled})(?:['’]s)?(?![\w/@-]|\.\w)(?=\W*(?P<behind>\w*))"
    return names, re.compile(named, re.IGNORECASE)
