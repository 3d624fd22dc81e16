"""What is known and not told: a person sees it with why, and is told what to do."""

import pytest

from backstory.app import App
from backstory.errors import SourceMissing
from backstory.paths import Home
from backstory.present.plain_text import UNTOLD
from backstory.web.pages import memories_page, review_page
from backstory.web.request import Page, PageRequest

from .memory import Memory


def works_on_its_own(memory: Memory) -> str:
    """A session breaks what it has just written, and mends it; the handle of what that taught."""
    file = str(memory.project / "queue.go")

    def edit(old: str, new: str) -> None:
        words = {"file_path": file, "old_string": old, "new_string": new}
        memory.hook(
            "PostToolUse", tool_name="Edit", tool_input=words, tool_response={"filePath": file},
            tool_use_id=f"t-{memory.clock}",
        )  # fmt: skip

    memory.hook("SessionStart", source="startup")
    memory.prompt("Write the queue.")
    edit("a", "b")
    memory.command("go test ./...", "queue.go:3:1: undefined: Push", failed=True)
    edit("b", "c")
    memory.command("go test ./...", "ok")
    memory.hook("Stop", last_assistant_message="The queue is written.")
    memory.hook("SessionEnd", reason="prompt_input_exit")
    memory.caught_up()
    (lesson,) = [each for each in memory.json("review")["memories"] if each["kind"] == "lesson"]
    assert lesson["untold"] is True
    return str(lesson["id"])


def test_what_review_lists_can_be_shown_and_says_that_no_agent_is_told_yet(memory: Memory) -> None:
    lesson = works_on_its_own(memory)
    listed = memory.ask("review")
    assert "(not told yet)" in listed.stdout
    assert UNTOLD in listed.stderr
    shown = memory.ask("show", lesson[:9])
    assert shown.exit_code == 0, shown.stderr
    assert UNTOLD in " ".join(shown.stdout.split())
    assert lesson[:9] not in memory.ask("brief").stdout

    with App(Home(memory.home)) as app:
        assert "not told yet" in str(review_page.page(app, PageRequest()).body)
        told = memories_page.memory_page(app, PageRequest(parts={"id": lesson}))
        assert isinstance(told, Page)
        assert UNTOLD in str(told.body)
        with pytest.raises(SourceMissing, match="not to be shown"):
            app.show(lesson)  # as an agent asks through MCP

    memory.ask("review", lesson, "--confirm")
    assert UNTOLD not in " ".join(memory.ask("show", lesson).stdout.split())
    assert memory.json("show", lesson)["memory"]["untold"] is False


def test_what_cannot_be_shown_says_why_and_what_to_do(memory: Memory) -> None:
    lesson = works_on_its_own(memory)
    memory.ask("review", lesson, "--reject")
    refused = memory.ask("show", lesson)
    assert refused.exit_code == 2
    assert f"it was rejected, and this takes that back; `backstory review {lesson[:9]} --restore`" in (
        refused.stderr
    )
    assert memory.ask("forget", lesson, "--yes").exit_code == 0
    gone = memory.ask("show", lesson[:9])
    assert gone.exit_code == 2
    assert "was forgotten" in gone.stderr
