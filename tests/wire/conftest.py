"""Payloads and transcripts that the real Claude Code 2.1.325 wrote, without its own prompts."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SAMPLES = Path(__file__).parent / "samples"

Sample = Callable[[str], dict[str, Any]]
Transcript = Callable[[str], list[bytes]]


@pytest.fixture(scope="session")
def sample() -> Sample:
    """A hook payload by its name, such as "PostToolUse.Bash"."""
    return lambda name: dict(json.loads((SAMPLES / f"{name}.json").read_text("utf-8")))


@pytest.fixture(scope="session")
def transcript() -> Transcript:
    """A transcript's lines by its name, such as "basic"."""
    return lambda name: (SAMPLES / f"{name}.jsonl").read_bytes().splitlines(keepends=True)
