"""Forgetting within one project or time leaves the others as they are, and nobody without their brief."""

import json
from pathlib import Path

import pytest

from backstory.app import App
from backstory.knowledge_base import KnowledgeBase
from tests.conftest import Git, repository
from tests.story import House, Story

from .conftest import lived


@pytest.fixture
def blog(house: House, tmp_path: Path, git: Git) -> House:
    """Another project of the same home."""
    return House(house.home.root, repository(tmp_path / "blog", git))


def prepared(house: House) -> dict[Path, bytes]:
    """What hooks would tell from, by file."""
    return {path: path.read_bytes() for path in house.home.briefs.rglob("*") if path.is_file()}


def project_of(house: House, story: Story) -> str:
    return house.row(story).project_id


def test_words_of_another_project_are_nothing_here_and_its_brief_stays(
    house: House, blog: House, app: App
) -> None:
    here, there = lived(house, "red panda"), lived(blog, "blue whale")
    blog.close()
    before = prepared(house)
    assert any(b"blue whale" in data for data in before.values()), "or this test proves nothing"
    shop = project_of(house, here)
    plan = app.forget(app.wanted([], text="blue whale", project_id=shop), really=False)
    assert not plan
    assert plan.files == ()
    app.forget(app.wanted([], text="blue whale", project_id=shop), really=True)
    assert prepared(house) == before
    assert "blue whale" in blog.brief().text
    assert house.events(there)


def test_words_of_two_projects_go_in_one_and_the_other_ones_files_stay(
    house: House, blog: House, app: App
) -> None:
    here, there = lived(house, "blue whale"), lived(blog, "blue whale")
    blog.close()
    house.works()  # notes are looked up again when the vectors are there
    shop, other = project_of(house, here), project_of(house, there)
    names = (f"{other}.json", f"notes/{other}.json", f"sessions/{there.id}.json")
    files = [house.home.briefs / name for name in names]
    before = [file.read_bytes() for file in files]
    plan = app.forget(app.wanted([], text="blue whale", project_id=shop), really=True)
    assert plan.reach.events
    assert not set(files) & set(plan.files)
    assert [file.read_bytes() for file in files] == before
    left = [path for path, data in prepared(house).items() if b"blue whale" in data and path not in files]
    assert not [path for path in left if path.parent != house.home.ready or not path.name.startswith(other)]


def test_another_session_of_the_project_that_was_told_of_it_is_prepared_anew(house: House, app: App) -> None:
    """Its file quotes the words, though none of its events has them."""
    gone, stays = lived(house, "blue whale"), lived(house, "red panda")
    file = house.home.briefs / "sessions" / f"{stays.id}.json"
    told = json.loads(file.read_bytes())
    file.write_text(json.dumps({**told, "pending": [{"text": "mind the blue whale"}]}))
    shop = project_of(house, gone)
    app.forget(app.wanted([], text="blue whale", project_id=shop), really=True)
    assert "whale" not in file.read_text()
    assert json.loads(file.read_bytes())["last_at"] == told["last_at"]


def test_a_brief_that_goes_for_its_words_alone_is_prepared_again(house: House, blog: House, app: App) -> None:
    """A file may have words that no row has any more, such as those of a memory that changed a moment ago."""
    there = lived(blog, "red panda")
    blog.close()
    lived(house, "green heron")
    other = project_of(house, there)
    files = [house.home.briefs / f"{other}.json", house.home.notes / f"{other}.json"]
    for file in files:
        value = json.loads(file.read_bytes())
        file.write_text(json.dumps({**value, "name": "the blue whale"}))
    plan = app.forget(app.wanted([], text="blue whale"), really=True)
    assert set(files) <= set(plan.files)
    assert all("whale" not in file.read_text() for file in files)
    assert "red panda" in blog.brief().text


def test_what_waits_to_be_taken_in_is_not_lost_to_another_projects_wish(
    house: House, blog: House, app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hook may leave something while the plan is made: it is nobody's yet."""
    here = lived(house, "blue whale")
    monkeypatch.setattr(App, "catch_up", lambda self: None)
    blog.session().starts().prompts("the blue whale again")
    blog.close()
    plan = app.forget(app.wanted([], text="blue whale", project_id=project_of(house, here)), really=False)
    assert not [file for file in plan.files if file.parent == house.home.spool]
    plan = app.forget(app.wanted([], text="blue whale"), really=False)
    assert [file for file in plan.files if file.parent == house.home.spool]


def test_which_sessions_were_forgotten_is_known_whatever_words_go(house: House, app: App) -> None:
    """Its file has a word of its own, which a user may mean."""
    gone = lived(house, "blue whale")
    lived(house, "red panda")
    app.forget(app.wanted([gone.id]), really=True)
    plan = app.forget(app.wanted([], text="sessions"), really=False)
    assert house.home.forgotten.exists()
    assert house.home.forgotten not in plan.files


def test_a_project_of_which_nothing_is_left_leaves_no_folder_that_is_called_so(
    house: House, app: App, tmp_path: Path, git: Git
) -> None:
    lived(house, "red panda")
    packs = House(house.home.root, repository(tmp_path / "zirkon packs", git))
    lived(packs, "zirkon packs")
    for project in app.store.projects.all():
        KnowledgeBase(app).compile(project, everything=True)
    packs.close()
    (vault,) = house.home.knowledge.glob("zirkon*")

    def named() -> list[str]:
        return [str(path) for path in house.home.root.rglob("*") if "zirkon" in path.name.lower()]

    assert len(named()) > 1, "a vault and a flag's folder, or this test proves nothing"
    done = app.forget(app.wanted([], text="zirkon packs"), really=True)
    assert named() == []
    assert not vault.exists()
    assert done.projects == (), "a project that is gone need not be forgotten"
    assert any("red panda" in path.read_text("utf-8") for path in house.home.knowledge.rglob("*.md"))


def test_pages_that_a_person_wrote_stay_though_their_project_is_gone(
    house: House, app: App, tmp_path: Path, git: Git
) -> None:
    packs = House(house.home.root, repository(tmp_path / "packs", git))
    story = lived(packs, "zirkon packs")
    for project in app.store.projects.all():
        KnowledgeBase(app).compile(project, everything=True)
    packs.close()
    (vault,) = (path for path in house.home.knowledge.iterdir() if path.name.startswith("packs"))
    (vault / "my-own-page.md").write_text("# Mine\n\nNothing of it.\n", "utf-8")
    app.forget(app.wanted([], project_id=project_of(house, story)), really=True)
    left = [path.name for path in vault.rglob("*") if path.is_file()]
    assert left == ["my-own-page.md"]
