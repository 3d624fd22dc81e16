"""Who runs the recall benchmark without its data is told how to get them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("given", "options", "says"),
    [
        (None, ["locomo"], "name the folder of the data"),
        ("", ["locomo"], "name the folder of the data"),
        ("", ["--data", "/nonexistent"], "/nonexistent lacks locomo10.json, longmemeval_s_first500"),
        ("/nonexistent", [], "/nonexistent lacks locomo10.json"),
        ("/nonexistent", ["controls"], "coding/queries.json"),
    ],
)
def test_data_that_are_not_there_are_named_with_where_they_come_from(
    given: str | None, options: list[str], says: str
) -> None:
    env = {name: value for name, value in os.environ.items() if name != "BACKSTORY_BENCH_DATA"}
    done = subprocess.run(
        [sys.executable, "-m", "bench.recall.run", *options],
        cwd=ROOT,
        env=env if given is None else {**env, "BACKSTORY_BENCH_DATA": given},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert says in done.stderr
    assert "github" in done.stderr
    assert "Traceback" not in done.stderr
