"""No pattern takes longer than its text is long: one hostile line must not stop everybody's memory."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.security import pattern_growth

ROOT = Path(__file__).parents[2]
#: Patterns that are put together where they are used, each with the reason why it cannot grow.
PUT_TOGETHER = {
    "backstory.distil.forms:_form": "called for this module's tables only, which are tested",
    "backstory.distil.forms:_rule": "called for this module's tables only, which are tested",
    "backstory.distil.phrases:_compiled": "the tables of phrases, which are tested",
    "backstory.hook.automata:automaton": "the rows of hook/patterns.py, which are tested",
    "backstory.knowledge.topics:_named": "a literal and a table of words, no repeat",
    "backstory.search.meaning:_meant": "an escaped name, no repeat",
}
#: Replaced by markdown-it-py: until then only what it can reach is bounded.
LEFT_OUT = ("backstory.web.markdown:",)


@pytest.mark.parametrize("group", sorted(set(map(pattern_growth.group_of, pattern_growth.modules()))))
def test_no_pattern_grows_faster_than_its_text(group: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.security.pattern_growth", group],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=900,
        check=True,
    )
    faults = [json.loads(line) for line in done.stdout.splitlines()]
    assert [fault for fault in faults if not fault["pattern"].startswith(LEFT_OUT)] == []


def test_a_pattern_that_is_put_together_in_a_function_is_known_with_its_reason() -> None:
    found = {
        f"{module}:{function}"
        for module in pattern_growth.modules()
        for function, call in pattern_growth.written(module)
        if pattern_growth.literal(call) is None
    }
    assert found == set(PUT_TOGETHER)


@pytest.mark.parametrize(
    "pattern",
    [r"(a+)+$", r"\s+$", r"(.*?,){11}P", r'"(?:[^"\\]|\\.)*"', r"we .* instead of", r"(?:\W*hm+\b\W*)*what"],
)
def test_a_pattern_that_is_known_to_grow_is_found(pattern: str) -> None:
    assert pattern_growth.grown(re.compile(pattern))


@pytest.mark.parametrize(
    "pattern",
    [
        r"(?<!a)a++$",
        r"(?<!\s)\s++$",
        r'"[^"\n]{0,80}"',
        r"we .{0,300} instead of",
        r"^[^\S\n]*+#",
        r"\bfoo\b",
    ],
)
def test_a_pattern_that_is_known_to_be_linear_passes(pattern: str) -> None:
    assert pattern_growth.grown(re.compile(pattern)) is None


def test_what_only_begins_at_a_given_place_is_not_searched_for() -> None:
    assert pattern_growth.grown(re.compile(r"\s*x"), "match") is None
    assert pattern_growth.grown(re.compile(r"\s*x"))
