"""How many of the secrets that people and tools leave in texts are found, and how few harmless lines are changed."""

from collections import Counter

import pytest

from backstory.hook.redact import Redactor
from tests.security import fresh_secrets
from tests.security.fake_secrets import Fake, fakes, harmless

REDACTOR = Redactor()
FRESH_SHAPED, FRESH_PROSE = (
    0.8,
    0.5,
)  # of a set that was written before its author knew the rules: not yet the goal
SHARES = {"prose": 0.7}  # a sentence has no shape; everything else has


def kept(fake: Fake) -> bool:
    return fake.kept_by(REDACTOR.redact(fake.text))


@pytest.mark.parametrize("held_out", [False, True], ids=["developed on", "held out"])
def test_nine_of_ten_families_of_secrets_with_a_shape_are_redacted(held_out: bool) -> None:
    shaped = [fake for fake in fakes() if fake.category != "prose" and fake.held_out == held_out]
    missed = [fake.family for fake in shaped if kept(fake)]
    assert len(shaped) > 150
    assert len(missed) <= len(shaped) * 0.1, missed


def test_most_secrets_that_a_sentence_tells_are_redacted() -> None:
    told = [fake for fake in fakes() if fake.category == "prose"]
    missed = [fake.family for fake in told if kept(fake)]
    assert len(missed) <= len(told) * 0.4, missed


def test_no_category_is_left_behind() -> None:
    found, all_of = Counter[str](), Counter[str]()
    for fake in fakes():
        all_of[fake.category] += 1
        found[fake.category] += not kept(fake)
    shares = {category: found[category] / count for category, count in all_of.items()}
    assert all(share >= SHARES.get(category, 0.8) for category, share in shares.items()), shares


def test_harmless_lines_stay_as_they_are() -> None:
    lines = harmless()
    changed = [line for line in lines if REDACTOR.redact(line) != line]
    assert len(lines) > 200
    assert len(changed) <= len(lines) * 0.02, changed


def test_what_is_found_in_a_text_is_suspected_in_the_raw_json_of_it() -> None:
    import json

    for fake in fakes():
        if not kept(fake):
            assert REDACTOR.suspicious(json.dumps({"text": fake.text})), fake.family


def test_of_secrets_written_without_knowledge_of_the_rules_most_are_redacted() -> None:
    fresh = [fake for fake in fresh_secrets.fakes() if fresh_secrets.held_back(fake.family)]
    for shaped, share in ((True, FRESH_SHAPED), (False, FRESH_PROSE)):
        some = [fake for fake in fresh if (fake.category != "prose") == shaped]
        missed = [fake.family for fake in some if kept(fake)]
        assert len(missed) <= len(some) * (1 - share), missed
    lines = fresh_secrets.harmless()
    changed = [line for line in lines if REDACTOR.redact(line) != line]
    assert len(changed) <= len(lines) * 0.02, changed


def test_a_secret_that_was_told_once_goes_wherever_its_text_repeats_it() -> None:
    text = "DB_PASSWORD=" + "Kq7vTz2LpRw9" + "\nthen I typed " + "Kq7vTz2LpRw9" + " into the form"
    assert "Kq7vTz2LpRw9" not in REDACTOR.redact(text)


@pytest.mark.parametrize(
    "text",
    [
        "mc alias set prod https://s3.acme.dev jane {}",
        "poetry config http-basic.corp jane {}",
        "DB_PASS=vault({}",
    ],
)
def test_a_secret_in_the_place_of_a_commands_word_or_behind_a_parenthesis_goes(text: str) -> None:
    assert "9xQk7vTz2" not in REDACTOR.redact(text.format("9xQk7vTz2"))
