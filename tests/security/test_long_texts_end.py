"""No text, however long and whatever it repeats, keeps a reader of it busy for ever."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.security.long_texts import READERS

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("reader", READERS)
def test_a_long_text_is_read_to_its_end(reader: str) -> None:
    subprocess.run(
        [sys.executable, "-m", "tests.security.long_texts", reader], cwd=ROOT, timeout=600, check=True
    )
