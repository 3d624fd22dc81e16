"""An agent at work whose hooks run as agents run them, and sessions that leave it something to be told."""

import json
import subprocess
from pathlib import Path
from typing import Any

from tests.story import House, Story

ERROR = "Exit code 1\nModuleNotFoundError: No module named 'yaml' in loader"


class Desk:
    """An agent that works in a folder of a house, and what its hooks answer."""

    def __init__(self, house: House) -> None:
        self.house = house
        house.installs()

    def fires(
        self,
        event: str,
        session: str = "now",
        agent: str = "claude-code",
        cwd: Path | None = None,
        **fields: Any,
    ) -> str:
        """Run an event's hook in the folder; the context that it gives, "" if it prints nothing."""
        folder = cwd or self.house.project
        payload = {"session_id": session, "cwd": str(folder), "hook_event_name": event, **fields}
        done = subprocess.run(
            ["/bin/sh", "-c", self.house.command(event, agent)],
            input=json.dumps(payload).encode(),
            env={"PATH": ""},
            cwd=folder,
            capture_output=True,
            check=False,
            timeout=60,
        )
        assert (done.returncode, done.stderr) == (0, b"")
        if not done.stdout:
            return ""
        answer = json.loads(done.stdout)
        if agent == "copilot":
            assert list(answer) == ["additionalContext"]
            return str(answer["additionalContext"])
        answer.pop("systemMessage", "")  # a brief's line for the user
        assert list(answer) == ["hookSpecificOutput"]
        assert list(answer["hookSpecificOutput"]) == ["hookEventName", "additionalContext"]
        assert answer["hookSpecificOutput"]["hookEventName"] == event
        return str(answer["hookSpecificOutput"]["additionalContext"])

    def asks(self, prompt: str, **how: Any) -> str:
        return self.fires("UserPromptSubmit", prompt=prompt, **how)

    def is_about_to_run(self, command: str, **how: Any) -> str:
        return self.fires("PreToolUse", tool_name="Bash", tool_input={"command": command}, **how)

    def is_about_to_edit(self, file: str, old: str, new: str, **how: Any) -> str:
        given = {"file_path": f"{self.house.project}/{file}", "old_string": old, "new_string": new}
        return self.fires("PreToolUse", tool_name="Edit", tool_input=given, **how)

    def fails(self, command: str, error: str, **how: Any) -> str:
        how |= {"tool_name": "Bash", "tool_input": {"command": command}}
        return self.fires("PostToolUseFailure", error=error, is_interrupt=False, **how)

    def is_about_to_write(self, file: str, content: str, **how: Any) -> str:
        given = {"file_path": f"{self.house.project}/{file}", "content": content}
        return self.fires("PreToolUse", tool_name="Write", tool_input=given, **how)


def mends_the_loader(house: House) -> Story:
    """A session in which a command fails and is made to pass."""
    story = house.session().starts().prompts("Load the settings from YAML")
    story.runs("python load.py", fails=ERROR)
    story.runs("pip install pyyaml", "Successfully installed pyyaml")
    story.runs("python load.py", "loaded 12 settings").stops("It loads now.").ends()
    house.works()
    return story


def decides(house: House) -> Story:
    """A session in which the user settles how prices are rounded."""
    story = house.session().starts()
    story.prompts("We decided to round discounts half-even because the auditors want banker's rounding.")
    story.stops("Understood.").ends()
    house.works()
    return story


def finds_another_way(house: House) -> Story:
    """A session in which a command fails for how it is called, and another is the way that works."""
    story = house.session().starts().prompts("Load the settings from YAML")
    story.runs(
        "python load.py", fails="Exit code 1\nImportError: attempted import beyond top-level shop.loader"
    )
    story.runs("PYTHONPATH=src python load.py", "loaded 12 settings").stops("It loads now.").ends()
    house.works()
    return story
