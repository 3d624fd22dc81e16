"""What settles an open question, and what only sounds like it: facts, answers about facts, one more wish."""

import pytest

from backstory.model import MemoryKind
from tests.distil import of


def settled(said: str, prompt: str, asked: str = "hi") -> str:
    text = f"> {asked}\nsaid\n  {said}\nend\n> {prompt}\nsaid\n  ok\nend\n"
    return "\n".join(f"{draft.text} {draft.reason}" for draft in of(MemoryKind.DECISION, text))


@pytest.mark.parametrize(
    ("said", "prompt", "word"),
    [
        ("A queue survives crashes, draining is simpler.", "draining. stripe retries anyway", "drain"),
        (
            "argparse is built in; click would be nicer.",
            "argparse, nobody shall install anything",
            "argparse",
        ),
        (
            "Soit ISO 8601, lisible, soit des secondes Unix.",
            "iso, le support lit les logs à l'oeil nu",
            "iso",
        ),
        (
            "1. a lock\n  2. a queue\n  The queue needs a service.",
            "la 1, pas envie d'un service de plus",
            "lock",
        ),
        ("It works, but threads cost 16 GB; asyncio would stay flat.", "true. asyncio then", "asyncio"),
    ],
)
def test_naming_what_was_offered_settles_it(said: str, prompt: str, word: str) -> None:
    assert word in settled(said, prompt).lower()


@pytest.mark.parametrize(
    ("said", "prompt"),
    [
        ("Furo has dark mode. I'd lean to Furo.", "I'll sleep on it"),
        (
            "I'd go with kustomize: no templates.",
            "need to talk to Ravi about that one, he did the last setup",
        ),
        ("Ich würde bei JavaScript bleiben.", "da denke ich nochmal drüber nach"),
        ("Je conseillerais de migrer avant.", "on verra ça avec l'équipe lundi"),
        ("Do you run one locally, or only in CI?", "only in CI, locally I have no docker because of windows"),
        ("I'd look at line 61.", "line 61 takes an Int so it takes the minutes as resource id"),
        ("It's fixed; you could lazy-load the tiles.", "I also want a button, on my phone the gps is slow"),
        ("Both fixed.", "ok. the size has to grow, 16 is nothing. what would you take"),
    ],
)
def test_facts_doubts_and_further_wishes_settle_nothing(said: str, prompt: str) -> None:
    assert settled(said, prompt) == ""


@pytest.mark.parametrize(
    "prompt",
    [
        "we want shelf as its own table. existing data must survive",
        "The export must not time out any more, accounting runs it every friday.",
        "show the weekday instead of the date in the header",
        "Il faut que ça n'arrive plus jamais.",
    ],
)
def test_what_opens_a_session_is_an_ask(prompt: str) -> None:
    assert of(MemoryKind.DECISION, f"> {prompt}\nsaid\n  Done.\nend\n") == []
