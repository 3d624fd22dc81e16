"""The file that says which team a machine belongs to."""

import os
from pathlib import Path

import pytest

from backstory.errors import SourceMissing
from backstory.team_membership import FILE, Membership, Person, leave, read_membership, write_membership

ONE = Membership(
    "https://memory.example",
    "a" * 43,
    b"k" * 32,
    "server-1",
    "t1",
    Person("m1", "Ada", "owner"),
    Person("d1", "laptop"),
)


def test_it_reads_as_it_was_written_and_nobody_else_may(tmp_path: Path) -> None:
    assert read_membership(tmp_path) is None
    write_membership(tmp_path, ONE)
    assert read_membership(tmp_path) == ONE
    assert (tmp_path / FILE).stat().st_mode & 0o777 == 0o600 or os.name == "nt"
    leave(tmp_path)
    assert read_membership(tmp_path) is None


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"address": 1}', '{"address": "a", "server": "b"}'])
def test_a_damaged_one_is_said_and_stays_where_it_is(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text)
    with pytest.raises(SourceMissing, match="join"):
        read_membership(tmp_path)
    assert (tmp_path / FILE).read_text() == text
