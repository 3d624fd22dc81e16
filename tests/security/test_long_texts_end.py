"""No text, however long and whatever it repeats, keeps a reader of it busy for ever."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.security.long_texts import READERS

ROOT = Path(__file__).parents[2]
PARTS = 4  # processes that share the readers


@pytest.mark.parametrize("part", range(PARTS))
def test_a_long_text_is_read_to_its_end(part: int) -> None:
    names = list(READERS)[part::PARTS]
    done = subprocess.run(
        [sys.executable, "-m", "tests.security.long_texts", *names],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        timeout=1_800,
    )
    assert (done.returncode, done.stdout.splitlines()) == (0, names), "the last one did not come to its end"
