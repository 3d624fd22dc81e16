"""What prompts, commands, errors and edits are recognised by."""

import pytest

from backstory.agents.claude_tools import describe
from backstory.hook import normalize


@pytest.mark.parametrize(
    "command",
    [
        "make  ship",
        "cd app && make ship",
        "cd a && cd b && make ship",
        "make ship 2>&1",
        "make ship 2>&1 | tail -5",
        "make ship|head",
        "\n make ship\n",
        "make ship > out.txt",
        "timeout 60 make ship 2>&1 | tail -3",
        "time make ship",
    ],
)
def test_a_command_has_one_key_however_it_is_called(command: str) -> None:
    assert normalize.command_key(command) == "make ship"


@pytest.mark.parametrize(
    "command",
    [
        "make ship-it",
        "FAST=1 make ship",
        "poetry run make ship",
        "timeout make ship",
        "make ship | grep x",
        "make -n ship",
    ],
)
def test_what_changes_a_command_changes_its_key(command: str) -> None:
    assert normalize.command_key(command) != "make ship"


def test_each_step_of_a_command_has_a_key() -> None:
    assert {"make ship", "git pull", "echo done"} <= set(
        normalize.command_keys("git pull && make ship; echo done")
    )


def edit(file: str, old: str, new: str, root: str) -> set[str]:
    return set(normalize.edit_keys(file, normalize.edit_text(old, new), root))


def test_an_edit_is_the_same_whatever_its_indentation_and_in_any_copy_of_the_project() -> None:
    one = edit("/a/shop/cache.py", "TTL = 60", "TTL =  86400\n", "/a/shop")
    assert one == edit("/b/tree/cache.py", " TTL = 60", "  TTL = 86400", "/b/tree") != set()
    assert not one & edit("/a/shop/cache.py", "TTL = 86400", "TTL = 60", "/a/shop")
    assert edit("/a/shop/cache.py", "x", " x ", "/a/shop") == set()


def test_lines_around_an_edit_are_no_part_of_it() -> None:
    one = edit("a.py", "x = 1", "x = 2", "")
    assert one == edit("a.py", "import os\n\nx = 1\ny = 1", "import os\n\nx = 2\ny = 1", "")
    assert not one & edit("a.py", "import os\nx = 1", "import re\nx = 2", "")


def test_a_long_text_that_is_put_in_is_the_same_whatever_it_replaces() -> None:
    new = "return sorted(rows, key=lambda row: row.at, reverse=True)"
    assert edit("a.py", "return rows", new, "") & edit("a.py", "return list(rows)", new, "")
    assert not edit("a.py", "return rows", "pass", "") & edit("a.py", "return list(rows)", "pass", "")


@pytest.mark.parametrize("old", ["x = 1", "- a\n- b", "+ a", "", "long line\n" * 100])
@pytest.mark.parametrize("new", ["x = 2", "- a\n- c", "- d\n+ e", "", "longer line\n" * 100])
def test_the_hook_words_an_edit_as_capture_does(old: str, new: str) -> None:
    if not old and not new:
        return
    given = {"file_path": "/a/b.py", "old_string": old, "new_string": new}
    assert describe("Edit", given, {}, None, False).text == normalize.edit_text(old, new)
    content = new * 30
    written = describe("Write", {"file_path": "/a/b.py", "content": content}, {}, None, False).text
    assert normalize.write_key("b.py", written, "") == normalize.write_key("b.py", content, "")


def test_edits_that_are_kept_together_have_the_keys_of_each() -> None:
    together = f"{normalize.edit_text('a', 'b')}\n{normalize.edit_text('c', 'd')}"
    assert set(normalize.edit_keys("f", together, "")) == edit("f", "a", "b", "") | edit("f", "c", "d", "")


@pytest.mark.parametrize(
    ("command", "stems"),
    [
        ("git commit -m 'fix: a; b'", ["git commit", "b'"]),
        ("cd web && npm run lint -- --fix 2>&1 | tail -5", ["npm run lint", "tail"]),
        ("MIX_ENV=test mix test test/a_test.exs:12", ["mix test"]),
        ("sudo /usr/bin/systemctl restart nginx", ["systemctl restart"]),
        ("uv run pytest -q", ["uv run pytest"]),
        ("git commit -F - <<EOF\nrm -rf / && make\nEOF", ["git commit"]),
        ("./gradlew :app:test", ["gradlew :app:test"]),
        ("", []),
    ],
)
def test_commands_of_a_like_have_a_stem(command: str, stems: list[str]) -> None:
    assert normalize.command_stems(command) == stems
