"""The table that ships: what has to do with each other lies close, and nothing outside the standard library
and numpy is needed."""

import subprocess
import sys

import numpy as np
import pytest

from backstory.embed import vector_codes
from backstory.embed.static_table import table
from backstory.embed.word_pieces import words


def cosine(one: str, other: str) -> float:
    made = table().embed([one, other])
    return float(made[0] @ made[1])


@pytest.mark.parametrize(
    ("one", "other", "else_"),
    [
        ("deploy the service", "roll out the release to servers", "paint the kitchen wall"),
        ("the test fails with an exception", "an error is raised in the unit test", "a walk by the lake"),
        ("delete the database table", "drop the rows from sqlite", "birthday cake with candles"),
    ],
)
def test_what_means_the_same_lies_closer(one: str, other: str, else_: str) -> None:
    assert cosine(one, other) > cosine(one, else_) + 0.1


def test_names_are_cut_at_their_humps() -> None:
    assert words("parseHTTPResponse foo_bar Größe x2") == [
        "parse", "HTTP", "Response", "foo", "bar", "Gro", "e", "x2",
    ]  # fmt: skip


def test_a_text_without_known_words_has_no_direction_and_breaks_nothing() -> None:
    assert not table().embed(["", "漢字", "🙂"]).any()


def test_eight_bits_lose_next_to_nothing_and_signs_are_whole_words() -> None:
    made = table().embed(["the login test fails", "rename the cart"])
    again = vector_codes.decoded(vector_codes.values(made))
    assert np.allclose((made * again).sum(axis=1), 1, atol=1e-3)
    assert {len(row) % 8 for row in vector_codes.signs(made)} == {0}
    odd = np.ones((1, 13), np.float32)
    assert vector_codes.distances(vector_codes.signs(odd)[0], 1, vector_codes.signs(-odd)[0]).tolist() == [13]


def test_the_table_is_mapped_and_not_read() -> None:
    """Several processes share it."""
    code = (
        "from backstory.embed.static_table import table; import numpy as np\n"
        "own = table(); print(isinstance(own._vectors, np.memmap))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"
