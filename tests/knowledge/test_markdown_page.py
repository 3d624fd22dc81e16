"""Foreign text in a page stands there and does nothing, also in an editor with plugins."""

import pytest

from backstory.knowledge.markdown_page import code_span, harmless_line

RUNS = "require('child_process').exec('touch /tmp/x')"


@pytest.mark.parametrize("before", ["", " ", "\u00a0", "``", "` a ", "x `", "`` "])
@pytest.mark.parametrize("sign", ["=", "$="])
def test_no_code_span_is_a_query_that_an_editor_runs(before: str, sign: str) -> None:
    line = harmless_line(f"{before}`{before}{sign} {RUNS}`")
    spans = [part.lstrip() for part in line.split("`")]
    assert not [part for part in spans if part.startswith(("=", "$="))], line
    assert RUNS in line


@pytest.mark.parametrize("tag", ["<% {} %>", "<%* {} %>", "<%+ {} %>"])
def test_no_text_is_a_template_that_an_editor_runs(tag: str) -> None:
    assert "<%" not in harmless_line(tag.format(RUNS))


def test_no_name_of_a_file_is_a_query_either() -> None:
    for name in ("= x.py", "$= x.py", "a` `$= x.py", " $= x"):
        told = code_span(name)
        assert told.count("`") == 2
        assert not told[1:].lstrip().startswith(("=", "$="))
    assert code_span("src/a=b.py") == "`src/a=b.py`"


def test_everyday_code_stays_as_it_is() -> None:
    for text in ("`a = b`", "`x == y` is true", "`--flag=1`", "a < b % c", "`$HOME`"):
        assert harmless_line(text) == text
