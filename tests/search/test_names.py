"""Names that are spelled out: that one or none."""

import pytest

from backstory.embed.embedder import load_embedder
from backstory.search.find import search
from backstory.search.names import unknown
from backstory.search.question import question
from backstory.settings import Settings
from tests.story import House

TOLD = (
    "CVE-2024-3094 does not affect us, xz is 5.4 on all machines.",
    "PROJ-1234 is the ticket for the tax rounding of Swiss invoices.",
    "The rates live in src/tax_rules.py, one row for each canton.",
    "We embed with bge-large since accuracy matters most.",
)


@pytest.fixture
def told(house: House) -> House:
    for each in TOLD:
        house.session().starts().prompts(each).stops("Noted.").ends()
    house.works()
    return house


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ("are we affected by CVE-2021-44228", "cve-2021-44228"),
        ("CVE-2021-44228", "cve-2021-44228"),
        ("PROJ-1235", "proj-1235"),
        ("what was PROJ-9999 about", "proj-9999"),
        ("src/tax_tables.py", "src/tax_tables.py"),
        ("bge-small", "bge-small"),
    ],
)
def test_a_name_that_nothing_has_is_not_answered_with_another_ones_record(
    told: House, asked: str, name: str
) -> None:
    """CCE-53, CCE-54"""
    answer = search(told.store, asked, None, means=load_embedder(Settings()))
    assert (answer.hits, answer.unknown) == ((), (name,))
    assert answer.reading == f"Nothing here has “{name}”."
    assert search(told.store, asked, None, means=load_embedder(Settings()), floor=False).hits, (
        "the nearest, if wanted"
    )


@pytest.mark.parametrize(
    "asked", ["CVE-2024-3094", "what was PROJ-1234 about", "src/tax_rules.py", "bge-large"]
)
def test_one_that_is_there_finds_itself(told: House, asked: str) -> None:
    """CCE-53"""
    answer = search(told.store, asked, None, means=load_embedder(Settings()))
    assert answer.hits
    assert answer.unknown == ()


def test_what_else_is_asked_still_finds(told: House) -> None:
    asked = "which ticket is the tax rounding of Swiss invoices, PROJ-4321?"
    answer = search(told.store, asked, None, means=load_embedder(Settings()))
    assert "PROJ-1234" in answer.hits[0].text
    assert answer.unknown == ("proj-4321",)


def test_words_with_a_hyphen_a_slash_or_a_number_are_no_names() -> None:
    asked = question("is the long-term plan and/or the 10-day trip at 3 pm with python 3.11 on 2026-02-03", 0)
    assert unknown(asked.words, {phrase for word in asked.words for phrase in word.phrases}) == ()
