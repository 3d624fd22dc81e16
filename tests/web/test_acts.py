"""A person's say: the page and the command line do the same, and a rebuild does it again."""

import subprocess
import sys
from typing import Any

import pytest

from backstory import settings
from backstory.app import App
from backstory.model import Act, Kind, MemoryKind, MemoryStatus
from tests.conftest import eventually
from tests.story import House
from tests.web.viewer import Viewer

ACTS = [act for act in Act if act not in (Act.EDIT, Act.SUPERSEDE)]


@pytest.fixture
def told(house: House) -> House:
    """A house that learned two decisions."""
    story = house.session()
    story.starts().prompts("Tabs or spaces?").edits("a.py")
    story.stops("We decided to use tabs for indentation, because the linter wants them.").ends()
    later = house.session()
    later.starts().prompts("Which database?").edits("db.py")
    later.stops("We decided to use Postgres for storage, because it has triggers.").ends()
    house.works()
    return house


def decisions(house: House) -> list[Any]:
    states = list(MemoryStatus)
    return house.store.memories.listed([MemoryKind.DECISION], states, None, None, 10)[::-1]


def command(house: House, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "backstory", *words],
        env={"BACKSTORY_HOME": str(house.home.root), "PATH": "/usr/bin:/bin", "HOME": str(house.home.root.parent)},
        capture_output=True, text=True, check=True, cwd=house.project,
    )  # fmt: skip
    return done.stdout + done.stderr


def rows(house: House, mid: str) -> tuple[Any, ...]:
    """What is stored of a memory and of what was done to it, without times."""
    memory = house.store.memories.kept(mid)
    assert memory is not None
    acts = [
        (stored.event.at, (stored.event.kind, stored.event.reason, stored.event.target, stored.event.text))
        for source in memory.sources
        if (stored := house.store.events.event(source)) is not None and stored.event.kind is Kind.JUDGED
    ]
    return memory.status, memory.pinned, memory.text, [each for _, each in sorted(acts)]


def test_the_page_and_the_command_leave_the_same_rows(told: House, viewer: Viewer) -> None:
    """Every act of the viewer has its twin on the command line."""
    first, second = decisions(told)
    for act in ACTS:
        assert viewer.post(f"/memories/{first.id}/{act}", next="/memories").status == 303
        command(told, "review", second.id, f"--{act}")
        ours, theirs = rows(told, first.id), rows(told, second.id)
        assert ours[:2] == theirs[:2], act
        assert [row[:2] for row in ours[3]] == [row[:2] for row in theirs[3]]
    assert viewer.post(f"/memories/{first.id}/edit", text="We use spaces").status == 303
    command(told, "review", second.id, "--edit", "We use SQLite")
    assert rows(told, first.id)[:3] == (MemoryStatus.CONFIRMED, False, "We use spaces")
    assert rows(told, second.id)[:3] == (MemoryStatus.CONFIRMED, False, "We use SQLite")
    assert viewer.post(f"/memories/{first.id}/supersede", text=second.id[:9]).status == 303
    assert rows(told, first.id)[0] is MemoryStatus.SUPERSEDED
    assert rows(told, first.id)[3][-1] == (Kind.JUDGED, "supersede", first.id, second.id)


def test_an_act_survives_a_rebuild(told: House) -> None:
    first, second = decisions(told)
    with App(told.home) as app:
        app.judge(first.id, Act.EDIT, "We use spaces")
        app.judge(first.id, Act.PIN)
        app.judge(second.id, Act.REJECT)
    before = rows(told, first.id), rows(told, second.id)
    told.rebuilds()
    assert (rows(told, first.id), rows(told, second.id)) == before
    assert "We use spaces" in told.brief().text
    assert "Postgres for storage" not in "".join(
        line for line in told.brief().text.splitlines() if "decided:" in line
    )


def test_what_was_rejected_is_shown_nowhere_and_can_be_taken_back(told: House) -> None:
    first, _ = decisions(told)
    with App(told.home) as app:
        app.judge(first.id, Act.REJECT)
        assert app.store.memories.memory(first.id) is None
        assert first.id not in {hit.id for hit in app.search(first.text, None).hits}
        app.judge(first.id, Act.RESTORE)
        assert app.store.memories.memory(first.id) is not None


def test_an_edit_is_redacted_found_and_forgotten_with_its_memory(told: House) -> None:
    first, _ = decisions(told)
    secret = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    with App(told.home) as app:
        app.judge(first.id, Act.EDIT, f"Deploy with zebracorn and {secret}")
        assert secret not in app.judge(first.id, Act.CONFIRM).text
        assert first.id in {hit.id for hit in app.search("zebracorn", None).hits}
        app.forget(app.wanted([first.id]), really=True)
    told.close()
    for path in told.home.root.rglob("*"):
        if path.is_file():
            assert b"zebracorn" not in path.read_bytes(), path


def test_nonsense_is_refused_in_words(told: House, viewer: Viewer) -> None:
    first, _ = decisions(told)
    event = told.store.memories.kept(first.id).sources[0]  # type: ignore[union-attr]
    for path, form, status in (
        (f"/memories/{first.id}/explode", {}, 400),
        (f"/memories/{first.id}/edit", {"text": "  "}, 400),
        (f"/memories/{first.id}/supersede", {"text": first.id}, 400),
        (f"/memories/{event}/confirm", {}, 404),
        ("/memories/m0000000000/confirm", {}, 404),
        ("/settings", {"key": "no.such", "value": "1"}, 400),
        ("/settings", {"key": "brief.max_chars", "value": "many"}, 400),
        ("/remember", {"text": "x", "project": "nowhere"}, 404),
        ("/forget", {}, 400),
    ):
        answer = viewer.post(path, **form)
        assert answer.status == status, (path, answer.text)
        assert "That did not work" in answer.text or "Not found" in answer.text
    there = viewer.post(f"/memories/{first.id}/confirm", next="//evil.example/").headers["location"]
    assert there.startswith("/?did=")


def test_what_decides_where_data_goes_is_changed_on_the_terminal_only(told: House, viewer: Viewer) -> None:
    """With a stolen cookie, any variable and all sessions could be sent anywhere."""
    kept = [row for row in settings.setting_rows(settings.Settings()) if row.terminal_only]
    assert {row.key.partition(".")[0] for row in kept} == {
        "model",
        "embed",
        "privacy",
        "project",
        "knowledge",
    }
    for key in (
        "model.url",
        "model.provider",
        "model.key_env",
        "embed.url",
        "knowledge.export",
        "project.trust",
    ):
        assert key in {row.key for row in kept}
    page = viewer.get("/settings").text
    for n, row in enumerate(kept):
        if n % 4 == 0:  # more would be too many writes at once
            answer = viewer.post("/settings", key=row.key, value="x")
            assert answer.status == 403, row.key
            assert f"backstory config {row.key}" in answer.text
        assert f"backstory config {row.key} …" in page
        assert f'name="key" value="{row.key}"' not in page
    told_no = viewer.ask("PUT", "/api/settings/model.url", {"value": "http://127.0.0.1:9"})
    assert told_no.status == 403
    assert "on the terminal only" in told_no.json["error"]
    assert not told.home.settings.exists()
    command(told, "config", "model.url", "http://127.0.0.1:9/v1")
    assert "127.0.0.1:9" in told.home.settings.read_text("utf-8")
    assert "http://127.0.0.1:9/v1" in viewer.get("/settings").text


def test_forgetting_shows_first_and_then_forgets(told: House, viewer: Viewer) -> None:
    first, _ = decisions(told)
    shown = viewer.get("/forget", handle=first.id)
    assert "Nothing has been removed yet" in shown.text
    assert "tabs for indentation" in shown.text
    assert told.store.memories.kept(first.id) is not None
    assert str(told.home.briefs) not in shown.text  # what is made again is counted, not listed
    assert "prepared file" in shown.text
    done = viewer.post("/forget", handle=first.id)
    assert (done.status, "no import brings them back" in done.text) == (200, True)
    assert told.store.memories.kept(first.id) is None
    assert viewer.get(f"/memories/{first.id}").status == 404


def test_what_one_tells_is_remembered(told: House, viewer: Viewer) -> None:
    project = viewer.ask("GET", "/api/projects").json["projects"][0]["id"]
    assert viewer.post("/remember", text="The fence is green", project=project).status == 303
    facts = eventually("it is there", lambda: viewer.ask("GET", "/api/memories?kind=fact").json["memories"])
    assert facts[0]["text"] == "The fence is green"
    assert "The fence is green" in command(told, "brief")
