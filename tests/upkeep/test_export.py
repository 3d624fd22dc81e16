"""An export loses nothing, and comes back as it was."""

import json
from pathlib import Path

import pytest

from backstory.app import App
from backstory.errors import Failed, SourceMissing
from backstory.paths import Home
from tests.story import House

from .conftest import lived

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


def test_what_is_captured_again_in_the_new_home_is_recognised(house: House, app: App, tmp_path: Path) -> None:
    story = house.session()
    story.starts().prompts("Hello", prompt_id="p1").stops("Hi.")
    house.works()
    file = exported(app, tmp_path / "all.jsonl")
    other = House(tmp_path / "other", house.project)
    with App(other.home) as opened:
        opened.import_export(file)
    payload = story.payload("UserPromptSubmit", prompt="Hello", prompt_id="p1")
    other.leaves(json.dumps(payload).encode(), "UserPromptSubmit")
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


def test_a_project_or_a_time_exports_only_its_sessions(house: House, app: App) -> None:
    story = lived(house)
    project = house.row(story).project_id
    tables = [json.loads(line).get("table") for line in app.export_lines(project, 0, FOREVER)]
    assert "events" in tables
    assert "tombstones" not in tables
    assert [json.loads(line).get("table") for line in app.export_lines(project, 0, 1)][1:] == ["projects"]


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
