"""No pattern takes longer than its text is long: one hostile line must not stop everybody's memory."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.security import pattern_growth

ROOT = Path(__file__).parents[2]
#: Patterns that are put together where they are used, each with the reason why it cannot grow.
PUT_TOGETHER = {
    "backstory.capture.hook_bundle:_with_automata": "the rows of hook/patterns.py, which are tested",
    "backstory.settings:_names_a_key": "names of variables, matched as a whole; no repeat in a repeat",
    "backstory.failpoints:_spin": "endless on purpose: what a test of limits runs",
    "backstory.store.passages:completions": "one escaped word and the rest of a word behind it",
    "backstory.typed_words:_speaks": "words of this module, no repeat but blanks at an end",
    "backstory.upkeep.normal_form:_likenesses": "a class of characters, no repeat",
    "backstory.upkeep.normal_form:_as_written": "an escaped text, no repeat",
    "backstory.capture.ignored_files:_any_of": "escaped words, no repeat",
    "backstory.capture.ignored_files:compile_globs": "the user's own globs; fnmatch makes each star atomic",
    "backstory.distil.forms:_form": "called for this module's tables only, which are tested",
    "backstory.distil.forms:_rule": "called for this module's tables only, which are tested",
    "backstory.distil.signatures:shape": "an escaped branch name, no repeat",
    "backstory.distil.phrases:_compiled": "the tables of phrases, whose rows are tested",
    "backstory.hook.precompiled_patterns:automaton": "the rows of hook/patterns.py, which are tested, and the user's own",
    "backstory.knowledge.topics:decision_title": "words of a table, no repeat",
    "backstory.search.names:stands_in": "an escaped name, no repeat",
    "backstory.search.spelling:mended": "a word that is there, no repeat",
    "backstory.search.time_expressions:_form": "called for this module's table only, which is tested",
    "backstory.search.requested_kinds:_asked": "called for this module's table only, which is tested",
    "backstory.share.portable_text:__init__": "escaped paths, no repeat",
    "backstory.store.page_reader:_like": "forms of our own columns, matched as a whole",
    "backstory.store.passages:spelled_like": "one letter and letters behind it, from a word's beginning",
    "backstory.upkeep.erasure:_matcher": "the pattern that the user gives to `forget`",
}
PARTS = 2  # shared among processes; each looks for all patterns first


@pytest.mark.parametrize("part", range(PARTS))
def test_no_pattern_grows_faster_than_its_text(part: int) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.security.pattern_growth", str(part), str(PARTS)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=900,
        check=True,
    )
    assert done.stdout.splitlines() == []


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
