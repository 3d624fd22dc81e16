"""Tests that walk a table: one test for all of its rows, whose failure names each row that failed, and how.

`@walks("text", ROWS)` is written as `@pytest.mark.parametrize("text", ROWS)` is, for tests that begin with
nothing and leave nothing behind. A test of its own for each of thousands of rows takes longer to be counted,
sent to a process and reported than to run.
"""

import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest

Test = Callable[..., None]
Walking = Callable[[Test], Test]
SHOWN = 20


def walks(names: str | tuple[str, ...], rows: Iterable[Any], ids: Callable[[Any], str] = ascii) -> Walking:
    """The test, over all rows: `names` are its arguments, `ids` says what a row is called."""
    table = list(rows)
    single = isinstance(names, str)
    given = (names,) if isinstance(names, str) else names

    def walking(test: Test) -> Test:
        def walked(**others: Any) -> None:
            assert table, "there is no row"
            failed = []
            for row in table:
                try:
                    test(**dict(zip(given, (row,) if single else row, strict=True)), **others)
                except (AssertionError, pytest.fail.Exception) as error:
                    failed.append(f"{ids(row)}: {error}")
            shown = "\n\n".join(failed[:SHOWN])
            assert not failed, f"{len(failed)} of {len(table)} rows fail:\n\n{shown}"

        kept = [each for each in inspect.signature(test).parameters.values() if each.name not in given]
        walked.__signature__ = inspect.Signature(kept)  # type: ignore[attr-defined]
        walked.__name__, walked.__qualname__, walked.__doc__ = test.__name__, test.__qualname__, test.__doc__
        walked.__module__ = test.__module__
        return walked

    return walking
