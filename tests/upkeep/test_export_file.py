"""An export loses nothing, and comes back as it was."""

import json
from collections import Counter
from pathlib import Path

import pytest

from backstory.app import App
from backstory.errors import Failed, NewerSchema, SourceMissing
from backstory.paths import Home
from tests.story import House

from .conftest import continues, lived

FOREVER = 2**62


def exported(app: App, path: Path) -> Path:
    path.write_text("".join(f"{line}\n" for line in app.export_lines(None, 0, FOREVER)))
    return path


def rows(path: Path) -> list[str]:
    """All lines but the first, which carries the time; in the order of the tables."""
    return path.read_text().splitlines()[1:]


def rich(house: House, app: App) -> None:
    """A past with everything in it: failures, sub-agents, a brief that was given, something forgotten."""
    lived(house)
    story = house.session()
    story.starts().prompts("Delegate it \u202e 世界 \x00").delegates().runs("ls", "ünïcode 😀").ends()
    story.compacts("so far").stops("Done.").ends()
    house.works()
    lived(house, "red panda")
    app.forget(app.wanted([], text="red panda"), really=True)
    app.remember("We deploy on Fridays", Path(house.project))


def test_a_round_trip_gives_the_same_rows(house: House, app: App, tmp_path: Path) -> None:
    rich(house, app)
    first = exported(app, tmp_path / "first.jsonl")
    with App(Home(tmp_path / "other")) as other:
        new, same_key = other.import_export(first)
        assert same_key
        assert new["events"] == app.status().events
        second = exported(other, tmp_path / "second.jsonl")
        assert rows(second) == rows(first)
        assert other.search("deploy fridays", None).hits
        assert not [hit for hit in other.search("red panda", None, floor=False).hits if "panda" in hit.text]
        assert other.brief(house.project, "claude-code").text == app.brief(house.project, "claude-code").text


def test_loading_it_twice_changes_nothing(house: House, app: App, tmp_path: Path) -> None:
    rich(house, app)
    file = exported(app, tmp_path / "all.jsonl")
    with App(Home(tmp_path / "other")) as other:
        other.import_export(file)
        before = rows(exported(other, tmp_path / "before.jsonl"))
        assert sum(other.import_export(file)[0].values()) == 0
        assert rows(exported(other, tmp_path / "after.jsonl")) == before


@pytest.mark.parametrize("when", ["before", "after"])
def test_what_is_captured_again_in_the_new_home_is_recognised(
    house: House, app: App, tmp_path: Path, when: str
) -> None:
    story = house.session()
    story.starts().prompts("Hello", prompt_id="p1").stops("Hi.")
    house.works()
    file = exported(app, tmp_path / "all.jsonl")
    other = House(tmp_path / "other", house.project)
    payload = json.dumps(story.payload("UserPromptSubmit", prompt="Hello", prompt_id="p1")).encode()
    if when == "before":
        other.leaves(payload, "UserPromptSubmit")
    with App(other.home) as opened:
        opened.import_export(file)
    if when == "after":
        other.leaves(payload, "UserPromptSubmit")
    other.works()
    assert [e.text for e in other.events(story)].count("Hello") == 1
    other.close()


def test_what_the_new_home_has_forgotten_does_not_come_back(house: House, app: App, tmp_path: Path) -> None:
    lived(house)
    file = exported(app, tmp_path / "all.jsonl")
    app.forget(app.wanted([], text="blue whale"), really=True)
    app.import_export(file)
    app.close()
    assert house.found_in_home("blue whale") == []


def test_an_export_is_of_one_moment_though_capture_goes_on(house: House, app: App, tmp_path: Path) -> None:
    """Else it has events whose session it does not have, and no home can take it in."""
    lived(house)
    before = app.status().events
    told: list[str] = []
    for line in app.export_lines(None, 0, FOREVER):
        told.append(line)
        if '"table": "sessions"' in line:
            lived(house, "red panda")
    file = tmp_path / "all.jsonl"
    file.write_text("".join(f"{line}\n" for line in told))
    with App(Home(tmp_path / "other")) as other:
        assert other.import_export(file)[0]["events"] == before
        assert not other.search("red panda", None).hits


def test_an_export_of_a_newer_backstory_is_refused(house: House, app: App, tmp_path: Path) -> None:
    """What this one does not know would be lost on the way."""
    lived(house)
    head, *rest = exported(app, tmp_path / "all.jsonl").read_text().splitlines()
    newer = json.dumps(json.loads(head) | {"schema": app.store.schema_version() + 1})
    (tmp_path / "newer.jsonl").write_text("\n".join([newer, *rest]))
    with App(Home(tmp_path / "other")) as other:
        with pytest.raises(NewerSchema, match="upgrade Backstory"):
            other.import_export(tmp_path / "newer.jsonl")
        assert other.status().events == 0


def test_a_project_exports_only_what_is_its_own(house: House, app: App, tmp_path: Path) -> None:
    """Not the names and places of other projects either; and nothing of its own is left behind."""
    story = lived(house)
    (tmp_path / "secret-garden").mkdir()
    house.session(tmp_path / "secret-garden").starts().prompts("Water the roses").stops("Watered.").ends()
    house.works()
    mine = house.row(story).project_id
    file = tmp_path / "mine.jsonl"
    file.write_text("".join(f"{line}\n" for line in app.export_lines(mine, 0, FOREVER)))
    assert "secret-garden" not in file.read_text()
    tables = Counter(json.loads(line).get("table") for line in file.read_text().splitlines())
    assert tables["events"] == len(house.events(story))
    assert tables["tombstones"] == 0
    with App(Home(tmp_path / "other")) as other:
        other.import_export(file)
        for memory in app.store.memories.of_session(story.id):
            assert other.show(memory.id) == app.show(memory.id), "with the events that it rests on"
    assert len(list(app.export_lines(mine, 0, 1))) == 1, "of a time without sessions, the first line alone"


@pytest.mark.parametrize("ordinals", ["told", "untold"])
def test_a_session_goes_on_where_its_project_was_taken_to(
    house: House, app: App, tmp_path: Path, ordinals: str
) -> None:
    """Equal things are told apart by their number: what comes later is no repetition of what was brought."""
    story = house.session()
    story.starts()
    continues(house, story, 5)
    strange = house.session(tmp_path).starts()
    continues(house, strange, 1)
    file = tmp_path / "mine.jsonl"
    told = list(app.export_lines(house.row(story).project_id, 0, FOREVER))
    bases = {json.loads(line)["base"] for line in told if '"ordinals"' in line}
    every = {json.loads(line)["base"] for line in app.export_lines(None, 0, FOREVER) if '"ordinals"' in line}
    assert bases < every, "its own, not the other project's"
    if ordinals == "untold":
        told = [line for line in told if '"ordinals"' not in line]
    file.write_text("".join(f"{line}\n" for line in told))
    other = House(tmp_path / "other", house.project)
    with App(other.home) as opened:
        opened.import_export(file)
    continues(other, story, 5)
    assert [e.text for e in other.events(story)].count("continue") == 10
    assert len(other.events(story)) == len(house.events(story)) + 10
    other.close()


def test_cce_74_markdown_tells_what_was_learned(house: House, app: App) -> None:
    """CCE-74."""
    lived(house)
    text = "".join(app.export_markdown(None, 0, FOREVER))
    assert "### Decisions" in text
    assert "postgres" in text


@pytest.mark.parametrize("content", ["", "{}\n", "word\n", '{"backstory": 99}\n'])
def test_what_is_no_export_is_refused(app: App, tmp_path: Path, content: str) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(content)
    with pytest.raises(Failed):
        app.import_export(path)
    with pytest.raises(SourceMissing):
        app.import_export(tmp_path / "none")


def test_a_cut_export_gives_what_it_has_and_says_where_it_ends(
    house: House, app: App, tmp_path: Path
) -> None:
    lived(house)
    file = exported(app, tmp_path / "all.jsonl")
    text = file.read_text()
    file.write_text(text[: len(text) * 2 // 3])
    with App(Home(tmp_path / "other")) as other, pytest.raises(Failed, match="is no JSON object"):
        other.import_export(file)
