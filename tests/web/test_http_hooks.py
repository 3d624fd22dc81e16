"""Hook payloads over HTTP: the same spool, the same rows, and never an agent's trouble."""

import json
from typing import Any

from backstory.model import Kind
from tests.conftest import eventually
from tests.story import House
from tests.web.viewer import Viewer


def send(viewer: Viewer, event: str, agent: str = "claude-code", query: str = "", **fields: Any) -> Any:
    return viewer.ask("POST", f"/hooks/{agent}/{event}{query}", {"session_id": "over-http", **fields})


def test_all_five_events_write_their_rows(viewer: Viewer, house: House) -> None:
    """CCE-1: SessionStart, UserPromptSubmit, PostToolUse, Stop and SessionEnd through one endpoint."""
    here = {"cwd": str(house.project)}
    tool = {
        "tool_name": "Bash",
        "tool_use_id": "t1",
        "tool_input": {"command": "make"},
        "tool_response": {"stdout": "ok"},
    }
    for event, fields in (
        ("SessionStart", {"source": "startup"}),
        ("UserPromptSubmit", {"prompt": "build it"}),
        ("PostToolUse", tool),
        ("Stop", {"last_assistant_message": "Built."}),
        ("SessionEnd", {"reason": "other"}),
    ):
        assert send(viewer, event, **here, **fields).status == 202
    story = house.session(session="over-http")
    eventually("all is stored", lambda: any(e.kind is Kind.SESSION_ENDED for e in house.events(story)), 20)
    kinds = [event.kind for event in house.events(story)]
    assert kinds == [
        Kind.SESSION_STARTED, Kind.PROMPT, Kind.TOOL, Kind.SAID, Kind.TURN_ENDED, Kind.SESSION_ENDED,
    ]  # fmt: skip


def test_a_request_without_a_session_id_writes_nothing(viewer: Viewer, house: House) -> None:
    """CCE-2: 400."""
    for body in (b"{}", b'{"session_id": ""}', b'{"session_id": null}', b'{"cwd": "/"}', b"[]", b"1"):
        assert viewer.ask("POST", "/hooks/claude-code/Stop", body).status == 400, body
    assert house.spooled() == []


def test_a_body_that_is_no_json_is_no_trouble(viewer: Viewer, house: House) -> None:
    """CCE-4: never a 500."""
    for body in (b"", b"not json", b"\xff\xfe\x00", b"{" * 100_000, b'{"session_id": "a"', b"\x1e"):
        assert viewer.ask("POST", "/hooks/claude-code/PostToolUse", body).status == 400, body
    assert house.spooled() == []


def test_a_path_whose_backslashes_nobody_escaped_is_repaired(viewer: Viewer, house: House) -> None:
    """As the drain repairs what the shell's hook left."""
    body = rb'{"session_id": "win", "cwd": "C:\Users\new\temp", "prompt": "count the whales"}'
    assert viewer.ask("POST", "/hooks/claude-code/UserPromptSubmit", body).status == 202
    story = house.session(session="win")
    [event] = eventually("it is stored", lambda: house.events(story), 20)
    assert event.text == "count the whales"
    assert event.where.cwd == r"C:\Users\new\temp"


def test_the_end_of_a_session_nobody_knows_makes_no_session(viewer: Viewer, house: House) -> None:
    assert send(viewer, "SessionEnd", reason="other", cwd=str(house.project)).status == 202
    eventually("it is taken in", lambda: not house.spooled(), 20)
    assert send(viewer, "UserPromptSubmit", prompt="hello", session_id="another").status == 202
    eventually("another one is there", lambda: viewer.ask("GET", "/api/sessions").json["sessions"], 20)
    found = viewer.ask("GET", "/api/sessions").json["sessions"]
    assert [session["id"] for session in found] == [house.session(session="another").id]


def test_trouble_inside_is_logged_and_answered_202(viewer: Viewer, house: House) -> None:
    """CCE-3: the spool cannot be written; the agent is not told."""
    house.home.spool.mkdir(exist_ok=True)
    house.home.spool.rename(house.home.root / "away")
    house.home.spool.write_text("a file where the folder should be")
    assert send(viewer, "PostToolUse", cwd="/").status == 202
    log = house.home.logs / "cli.log"
    texts = (
        [path.read_text("utf-8") for path in house.home.logs.iterdir()] if house.home.logs.exists() else []
    )
    assert any("could not be taken in" in text for text in texts), log


def test_the_answer_to_a_start_is_the_brief(viewer: Viewer, house: House) -> None:
    """CCE-6: the response body is the text that the hook prints; `shape=hook` gives it as the agent wants it."""
    house.session().starts().prompts("paint the fence green").edits("fence.py").stops(
        "The fence is green."
    ).ends()
    eventually(
        "it is distilled", lambda: viewer.ask("GET", "/api/memories?kind=summary").json["memories"], 20
    )
    eventually("the spool is empty", lambda: not house.spooled())
    answer = send(viewer, "SessionStart", cwd=str(house.project), source="startup")
    assert answer.status == 202
    assert answer.text == house.brief().text
    assert "fence" in answer.text
    shaped = send(viewer, "SessionStart", query="?shape=hook", cwd=str(house.project), source="startup")
    assert "fence" in json.loads(shaped.body)["hookSpecificOutput"]["additionalContext"]
    session = house.session(session="over-http")
    eventually("its receipt is kept", lambda: house.store.briefs.of_session(session.id), 20)
    assert send(viewer, "Stop", cwd=str(house.project)).text == ""


def test_an_agent_that_nobody_knows_is_refused(viewer: Viewer, house: House) -> None:
    assert send(viewer, "Stop", agent="nobody").status == 404
    assert send(viewer, "..%2fx").status == 404
    assert house.spooled() == []
