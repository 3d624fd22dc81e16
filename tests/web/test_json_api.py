"""The API for programs: what it says of itself is true, and nothing breaks it."""

import json
import subprocess
import sys
import time
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings

from backstory.web.json_api import ENDPOINTS
from tests.conftest import eventually
from tests.story import House
from tests.web.viewer import Viewer

_FEW = settings(
    max_examples=8,
    deadline=None,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture
def filled(viewer: Viewer, house: House) -> Viewer:
    """A viewer over a house with one session, distilled."""
    story = house.session()
    story.starts().prompts("Use tabs from now on, because the linter wants them").runs(
        "make", fails="Error 1"
    )
    story.edits("a.py").runs("make", "ok")
    story.stops("We decided to use tabs everywhere, because the linter wants them.").ends()
    eventually("it is distilled", lambda: decisions(viewer), 30)
    eventually("the spool is empty", lambda: not house.spooled())
    return viewer


def decisions(viewer: Viewer) -> list[Any]:
    found: list[Any] = viewer.ask("GET", "/api/memories?kind=decision").json["memories"]
    return found


def test_no_request_that_its_description_allows_makes_a_5xx(filled: Viewer) -> None:
    """schemathesis asks everything that /openapi.json describes, over HTTP."""
    described = filled.ask("GET", "/openapi.json").json
    del described["paths"]["/api/health"]  # it runs hooks, for seconds; another test asks it
    schema = schemathesis.openapi.from_dict(described)
    headers = {"Authorization": f"Bearer {filled.token}"}
    seen: dict[str, set[int]] = {}

    def ask(operation: Any, statuses: set[int]) -> None:
        @_FEW
        @given(case=operation.as_strategy())
        def every(case: Any) -> None:
            answer = case.call(base_url=filled.numbers, headers=headers)
            while answer.status_code == 429:
                time.sleep(0.25)
                answer = case.call(base_url=filled.numbers, headers=headers)
            statuses.add(answer.status_code)
            assert answer.status_code < 500, (case.method, case.formatted_path, answer.text)
            json.loads(answer.text)

        every()

    for result in schema.get_all_operations():
        operation: Any = result.ok()  # type: ignore[union-attr]
        ask(operation, seen.setdefault(f"{operation.method.upper()} {operation.path}", set()))
    assert len(seen) == len(ENDPOINTS) - 1
    assert 200 in seen["GET /api/sessions"]


def test_every_endpoint_answers_its_owner(filled: Viewer, house: House) -> None:
    session = filled.ask("GET", "/api/sessions").json["sessions"][0]
    whole = filled.ask("GET", f"/api/sessions/{session['id'][:9]}").json
    event = whole["events"][0]["id"]
    memory = decisions(filled)[0]
    project = filled.ask("GET", "/api/projects").json["projects"][0]
    paths = (
        f"/api/events/{event}", f"/api/memories/{memory['id']}", "/api/timeline?limit=3", "/api/settings",
        f"/api/brief?project={project['id']}", "/api/status", "/api/search?q=tabs&explain=true",
    )  # fmt: skip
    for path in paths:
        assert filled.ask("GET", path).status == 200, path
    assert filled.ask("GET", "/api/search?q=tabs").json["hits"]
    long_ago = filled.ask("GET", "/api/search?q=what+did+we+do+in+2019").json
    assert long_ago["hits"] == []
    assert long_ago["time_note"].startswith("Nothing of 2019 is remembered")
    assert "tabs" in filled.ask("GET", f"/api/brief?project={project['id']}").json["text"]
    assert {check["name"] for check in filled.ask("GET", "/api/health").json["checks"]} >= {
        "home",
        "database",
    }


def test_mcp_is_spoken_over_http(filled: Viewer, house: House) -> None:
    ask = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "search", "arguments": {"query": "tabs"}},
    }
    answer = filled.ask("POST", f"/mcp?cwd={house.project}", ask)
    assert answer.status == 200
    assert "tabs" in answer.json["result"]["content"][0]["text"]
    said = filled.ask("POST", "/mcp", {"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert (said.status, said.body) == (202, b"")
    assert filled.ask("POST", "/mcp", b"no json").json["error"]["code"] == -32700


def test_long_lists_come_in_pages(viewer: Viewer, house: House) -> None:
    for number in range(7):
        house.session().starts().prompts(f"task {number}").stops("done").ends()
    eventually("all are stored", lambda: len(viewer.ask("GET", "/api/sessions").json["sessions"]) == 7, 30)
    seen: list[str] = []
    before: str | None = ""
    while before is not None:
        page = viewer.ask("GET", f"/api/sessions?limit=3&before={before}").json
        seen += [session["title"] for session in page["sessions"]]
        before = page["next"]
    assert seen == [f"task {number}" for number in reversed(range(7))]


def test_status_tells_without_a_server_what_the_api_tells(filled: Viewer, house: House) -> None:
    """CCE-75: size, schema, counts by status and source, queue, worst attempts, vectors, retained bytes."""
    filled.ends()
    done = subprocess.run(
        [sys.executable, "-m", "backstory", "status", "--json"],
        env={"BACKSTORY_HOME": str(house.home.root), "PATH": "/usr/bin:/bin", "HOME": str(house.home.root.parent)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    said = json.loads(done.stdout)
    assert said["database_bytes"] > 0
    assert said["schema"] == house.store.schema_version()
    assert sum(said["by_status"].values()) == said["memories"] == sum(said["by_source"].values())
    assert set(said["by_status"]) == {"candidate"}
    assert said["jobs"]["done"] > 0
    assert said["worst_attempts"] == 0
    assert said["vectors"] == list(house.store.vectors.counts())
    assert said["sizes"]["payloads"] > 0
