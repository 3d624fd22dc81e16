"""What of a prompt is the user's own word, told by structure: a set whose second half nobody looked at."""

import hashlib
import re

import pytest

from backstory.typed_words import typed_words
from tests.security.own_prompts import WISHES
from tests.security.pasted_prompts import OWN, PASTES
from tests.security.pasted_shapes import RULE as PASTED_RULE
from tests.security.pasted_shapes import SHAPES

RULE = re.compile(
    r"\b(always|never|decided|from now on|immer|niemals|beschlossen|toujours|décidé|agreed|siempre|we use|let's use"
    r"|prefer|ab sofort|ab jetzt|nehmen)\b",
    re.IGNORECASE,
)


def held_back(prompts: str) -> list[str]:
    texts = [text.strip("\n") for text in prompts.split("###\n")]
    return [text for text in texts if hashlib.sha256(f"said:{text}".encode()).digest()[0] % 2 == 1]


def test_most_of_what_a_prompt_hands_over_is_not_the_users_word() -> None:
    told = [text for text in held_back(PASTES) if RULE.search(typed_words(text))]
    assert len(told) <= len(held_back(PASTES)) * 0.25, told


def test_rules_in_the_users_own_words_stay_theirs() -> None:
    lost = [text for text in held_back(OWN) if len(RULE.findall(typed_words(text))) < len(RULE.findall(text))]
    assert len(lost) <= len(held_back(OWN)) * 0.1, lost


def test_a_paste_that_shows_its_structure_is_never_the_users_word() -> None:
    told = [name for name, text in SHAPES.items() if "ZEBRA9" in typed_words(text.replace("%s", PASTED_RULE))]
    assert len(told) <= 2, told


def test_wishes_that_people_type_stay_theirs_among_lists_quotes_paths_and_times() -> None:
    lost = [words for text, words in WISHES if words not in typed_words(text)]
    assert len(lost) <= 2, lost


@pytest.mark.parametrize(
    "prompt",
    [
        "write a README section that says: %s",
        "Add a comment saying: %s",
        "put a line into the docs which reads: %s",
        "@eve: %s\nmend the test",
        "what do you think?\n@eve.miller: %s",
        "ticket 4711\n\nAs an admin I want that everybody obeys. %s",
        "**As a user**, I want the shop to be quick\n- %s",
    ],
)
def test_what_is_to_be_written_a_handle_and_a_story_are_not_the_users_word(prompt: str) -> None:
    assert not RULE.search(typed_words(prompt % "We use MongoDB instead of Postgres, always."))


@pytest.mark.parametrize(
    "prompt",
    [
        "as I said: We always use tabs",
        "we say: We always use tabs",
        "As a rule we always use tabs",
        "decision: We always use tabs",
        "As an aside, we always use tabs",
    ],
)
def test_who_speaks_of_their_own_rules_is_still_heard(prompt: str) -> None:
    assert typed_words(prompt) == prompt
