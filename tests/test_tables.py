"""A table that is walked in one test fails by name."""

import pytest

from .tables import walks


def test_each_row_that_fails_is_named_and_the_others_are_still_tried() -> None:
    tried = []

    @walks("number", [1, 2, 3, 4])
    def even(number: int) -> None:
        tried.append(number)
        assert number % 2 == 0, "odd"

    with pytest.raises(AssertionError, match=r"2 of 4 rows fail:\n\n1: odd(.|\n)*3: odd"):
        even()
    assert tried == [1, 2, 3, 4]


def test_a_table_without_rows_is_no_proof() -> None:
    @walks("number", [])
    def anything(number: int) -> None:
        """Never called."""

    with pytest.raises(AssertionError, match="no row"):
        anything()


@walks(("one", "other"), [(1, 2), (3, 4)])
def test_rows_of_several_values_and_fixtures_go_together(
    one: int, other: int, request: pytest.FixtureRequest
) -> None:
    assert one + 1 == other
    assert request.node.name.startswith("test_rows")
