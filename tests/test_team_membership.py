"""The file that says which team a machine belongs to."""

import os
from pathlib import Path

import pytest

from backstory.errors import SourceMissing
from backstory.paths import Home
from backstory.team_membership import Membership, Person, leave_team, read_membership, write_membership

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
    home = Home(tmp_path)
    assert read_membership(home) is None
    write_membership(home, ONE)
    assert read_membership(home) == ONE
    assert home.team.stat().st_mode & 0o777 == 0o600 or os.name == "nt"
    leave_team(home)
    assert read_membership(home) is None


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"address": 1}', '{"address": "a", "server": "b"}'])
def test_a_damaged_one_is_said_and_stays_where_it_is(tmp_path: Path, text: str) -> None:
    home = Home(tmp_path)
    home.team.write_text(text)
    with pytest.raises(SourceMissing, match="join"):
        read_membership(home)
    assert home.team.read_text() == text
