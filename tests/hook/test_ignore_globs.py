"""Ignore globs mean what `fnmatch` says."""

import fnmatch

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from backstory.hook.ignore_globs import expand_braces, glob_matches, ignores_any, ignores_folder


@given(st.text("ab/.-]", max_size=8), st.text("ab/.*?[]!-", max_size=8))
@example("a", "[a")
@example("]", "[]]")
@example("b", "[!]a]")
def test_a_glob_matches_what_fnmatch_matches(text: str, glob: str) -> None:
    if "[" in glob and "-" in glob:
        return  # fnmatch itself changed its mind about odd ranges between versions
    assert glob_matches(text, glob) == fnmatch.fnmatchcase(text, glob)


@pytest.mark.parametrize("text", ["b", "x", "-"])
@pytest.mark.parametrize("glob", ["[a-c]", "[!a-c]", "[a-c]*", "[ab-]"])
def test_ranges(text: str, glob: str) -> None:
    assert glob_matches(text, glob) == fnmatch.fnmatchcase(text, glob)


def test_a_hostile_glob_stays_quick() -> None:
    assert not glob_matches("a" * 2_000, "*a" * 30 + "b")


def test_folders_and_what_lies_in_them() -> None:
    assert ignores_folder("/home/me/secret", ["/home/me/secret"])
    assert ignores_folder("/home/me/secret/deep", ["/home/me/secret/"])
    assert ignores_folder("/home/me/secret/deep", ["*/secret"])
    assert not ignores_folder("/home/me/secrets", ["/home/me/secret"])


def test_files_by_name_or_path() -> None:
    globs = [".env", "*.pem", "*/private/*"]
    assert ignores_any(["/srv/shop/.env"], globs)
    assert ignores_any(["C:\\shop\\key.pem"], globs)
    assert ignores_any(["/srv/private/x"], globs)
    assert not ignores_any(["/srv/shop/env.py"], globs)


@given(st.text("ab/.", max_size=8), st.text("ab/.*?[]!{},", max_size=8))
@example("x/secrets/y", "secrets/")
def test_a_file_is_ignored_by_its_name_its_path_or_a_folder_that_it_lies_in(path: str, glob: str) -> None:
    """As it is defined, glob by glob; what is looked at first to save time changes nothing."""
    name = path.rpartition("/")[2]
    forms = [(form, form.rstrip("/") + "/*") for form in expand_braces(glob)]
    expected = any(
        glob_matches(name, form)
        or glob_matches(path, form)
        or glob_matches(path, below)
        or glob_matches(path, f"*/{below}")
        for form, below in forms
    )
    assert ignores_any([path], [glob]) == expected
