"""The block about searching in CLAUDE.md: ours between its marks, the rest the user's."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backstory.agents import AGENTS
from backstory.capture import instruction_block
from backstory.errors import UsageError

FILE = Path("CLAUDE.md")
OLD = "<!-- backstory:begin v0 -->\nolder words\n<!-- backstory:end -->"
TEXTS = st.lists(st.sampled_from(["# Title", "some words", "", "- é", "<!-- a comment -->", " \t"])).flatmap(
    lambda lines: st.sampled_from(["\n", "\r\n"]).map(lambda newline: newline.join(lines))
)


# CCE-33
def test_the_block_is_versioned_marked_and_three_lines_long_cce_33() -> None:
    first, *lines, last = instruction_block.BLOCK.splitlines()
    assert first == f"<!-- backstory:begin v{instruction_block.VERSION} -->"
    assert last == "<!-- backstory:end -->"
    assert len(lines) == 3
    assert "backstory search" in lines[0]


@given(TEXTS)
# CCE-33
def test_putting_it_in_and_taking_it_out_gives_the_text_back_cce_33(text: str) -> None:
    more, action = instruction_block.put_block(text, FILE)

    assert action == "add"
    assert more.startswith(text)
    assert more.replace("\r\n", "\n").count(instruction_block.BLOCK) == 1
    assert instruction_block.put_block(more, FILE) == (more, "keep")
    assert instruction_block.remove_block(more, FILE) == (text, True)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            f"# Mine\n\n{OLD}\n\n## More of mine\n",
            f"# Mine\n\n{instruction_block.BLOCK}\n\n## More of mine\n",
        ),
        (f"{OLD}\nbelow", f"{instruction_block.BLOCK}\nbelow"),
        (f"above\n\n{OLD}\n\nbetween\n\n{OLD}\n", f"above\n\n{instruction_block.BLOCK}\n\nbetween\n"),
        (f"above\r\n\r\n{OLD}\r\n", "above\r\n\r\n" + instruction_block.BLOCK.replace("\n", "\r\n") + "\r\n"),
    ],
)
# CCE-33
def test_an_older_block_is_updated_in_place_cce_33(before: str, after: str) -> None:
    assert instruction_block.put_block(before, FILE) == (after, "update")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f"# Mine\n\n{OLD}\n\n## More of mine\n", "# Mine\n\n## More of mine\n"),
        (f"{OLD}\nbelow\n", "below\n"),
        (f"a line right above\n{OLD}\na line right below\n", "a line right above\na line right below\n"),
        ("nothing of ours\n", "nothing of ours\n"),
        (
            "inline `<!-- backstory:begin v1 -->` is only talk\n",
            "inline `<!-- backstory:begin v1 -->` is only talk\n",
        ),
    ],
)
def test_taking_it_out_leaves_the_words_around_it(before: str, after: str) -> None:
    assert instruction_block.remove_block(before, FILE)[0] == after


@pytest.mark.parametrize("change", [instruction_block.put_block, instruction_block.remove_block])
def test_a_block_without_an_end_is_not_touched(change: object) -> None:
    assert callable(change)
    with pytest.raises(UsageError, match=r"CLAUDE\.md:3: our block starts here and does not end"):
        change(f"words\n\n<!-- backstory:begin v1 -->\nmine, perhaps\n{OLD}\n", FILE)


def test_each_agent_reads_its_own_file() -> None:
    assert AGENTS["claude-code"].instructions == ("CLAUDE.md", "CLAUDE.md")
    assert AGENTS["codex"].instructions == ("AGENTS.md", "AGENTS.md")
    assert AGENTS["copilot"].instructions == ("copilot-instructions.md", "AGENTS.md")
    assert AGENTS["gemini-cli"].instructions == ("GEMINI.md", "GEMINI.md")
