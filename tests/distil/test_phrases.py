"""The tables of prose rules, row by row."""

import re

from backstory.distil.phrases import LANGUAGES, Rule
from backstory.distil.phrases.phrase import Phrase
from tests.tables import walks

ROWS = [(name, row) for module in LANGUAGES.values() for name, rows in module.TABLES.items() for row in rows]


@walks(("name", "row"), ROWS)
def test_every_row_matches_its_example_alone_and_in_its_table(name: str, row: Phrase) -> None:
    assert re.search(row.pattern, row.example.lower())
    assert Rule(name).search(row.example), "an anchor is missing"
    assert Rule(name).search(row.example.upper()) or not row.example.isascii()


@walks(("name", "row"), ROWS)
def test_rows_are_written_in_lower_case_and_hold_one_phrase(name: str, row: Phrase) -> None:
    plain = re.sub(r"\\.", "", row.pattern)
    assert plain == plain.lower()
    depth = 0
    for character in re.sub(r"\[[^\]]*\]", "", plain):
        depth += (character == "(") - (character == ")")
        assert character != "|" or depth, "an alternative at the outer level would escape its row's start"


def test_every_language_has_the_same_tables() -> None:
    english = set(LANGUAGES["en"].TABLES)
    for language, module in LANGUAGES.items():
        missing = english - set(module.TABLES)
        assert missing <= {"filler"}, language
        assert set(module.ANCHORS) == set(LANGUAGES["en"].ANCHORS), language


def test_a_match_stands_where_it_stands_in_the_text() -> None:
    match = Rule("reason").search("İİİ RS256 BECAUSE keys rotate")
    assert match is not None
    assert match.start() == 10
