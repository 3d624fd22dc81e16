"""Which project an event belongs to, by identity and not by its folder's name, also when the folder is gone."""

import shutil
from pathlib import Path

import pytest

from backstory.capture import project_lookup as places_module
from backstory.capture.project_lookup import ProjectLookup
from backstory.model import Kind
from tests.conftest import Git, repository
from tests.story import House


def project_of(house: House, folder: Path) -> str:
    """Where a session in the folder ends up, by the project's id."""
    story = house.session(cwd=folder).prompts("where am I")
    house.works()
    return house.row(story).project_id


class TestIdentity:
    def test_worktrees_share_their_repositorys_project(self, house: House, git: Git, tmp_path: Path) -> None:
        git(house.project, "worktree", "add", "--quiet", "-b", "feature", str(tmp_path / "elsewhere"))
        assert project_of(house, tmp_path / "elsewhere") == project_of(house, house.project)
        branches = {
            e.event.where.branch: e.event.where.worktree for e in house.store.events.latest(None, 0, 9)
        }
        assert branches == {"main": "", "feature": "elsewhere"}

    def test_folders_with_one_name_never_meet(self, house: House, git: Git, tmp_path: Path) -> None:
        """CCE-20: neither project, nor brief, nor search."""
        other = repository(tmp_path / "other" / "shop", git)
        outside = tmp_path / "third" / "shop"
        outside.mkdir(parents=True)
        folders = (house.project, other, outside)
        for folder in folders:
            story = house.session(cwd=folder).prompts(f"remember the {folder.parent.name} garden")
            story.stops("Done.")
        house.works()
        ids = {project_of(house, folder) for folder in folders}
        assert len(ids) == 3
        assert {p.name for p in house.store.projects.all()} == {"shop"}
        for folder in folders:
            text = house.brief(folder).text
            assert f"the {folder.parent.name} garden" in text
            assert sum(f"the {f.parent.name} garden" in text for f in folders) == 1

    def test_clones_of_one_remote_share(self, house: House, git: Git, tmp_path: Path) -> None:
        one = repository(tmp_path / "one", git, "git@github.com:acme/shop.git")
        git(tmp_path, "clone", "--quiet", str(one), "two")
        two = tmp_path / "two"
        git(two, "remote", "set-url", "origin", "https://someone:token@github.com/Acme/Shop")
        assert project_of(house, one) == project_of(house, two)
        assert house.store.projects.all()[0].identity == "github.com/acme/shop"

    def test_a_sub_folder_belongs_to_its_repository(self, house: House) -> None:
        below = house.project / "src" / "deep"
        below.mkdir(parents=True)
        assert project_of(house, below) == project_of(house, house.project)

    def test_a_submodule_is_a_project_of_its_own(self, house: House, git: Git, tmp_path: Path) -> None:
        library = repository(tmp_path / "library", git)
        git(house.project, "submodule", "--quiet", "add", str(library), "vendor/library")
        assert project_of(house, house.project / "vendor" / "library") != project_of(house, house.project)

    def test_outside_git_the_folder_itself_is_the_project(self, house: House, tmp_path: Path) -> None:
        one, two = tmp_path / "notes", tmp_path / "letters"
        for folder in (one, two):
            folder.mkdir()
        assert project_of(house, one) != project_of(house, two)
        assert {p.name for p in house.store.projects.all()} == {"notes", "letters"}

    def test_a_deleted_folder_keeps_the_project_it_had(self, house: House, git: Git, tmp_path: Path) -> None:
        tree = tmp_path / "tree"
        git(house.project, "worktree", "add", "--quiet", str(tree))
        before = project_of(house, tree)
        shutil.rmtree(tree)
        assert project_of(house, tree) == before
        assert project_of(house, tree / "src") == before

    def test_a_folder_that_was_never_there_is_a_project_too(self, house: House, tmp_path: Path) -> None:
        assert project_of(house, tmp_path / "never" / "was") != project_of(house, house.project)

    def test_a_session_stays_with_the_project_it_began_in(self, house: House, tmp_path: Path) -> None:
        story = house.session().prompts("here")
        story.cwd = str(tmp_path)
        story.prompts("there")
        house.works()
        assert [e.where.cwd for e in house.events(story)] == [str(house.project), str(tmp_path)]
        assert house.row(story).project_name == "shop"

    def test_a_claim_in_the_repository_counts_only_after_the_user_agreed(self, house: House) -> None:
        (house.project / ".backstory.toml").write_text('project = "acme/treasury"\n')
        unconfirmed = ProjectLookup(house.store, {}, ()).project(str(house.project), 1)
        confirmed = ProjectLookup(house.store, {str(house.project): "acme/treasury"}, ()).project(
            str(house.project), 1
        )
        assert unconfirmed.identity != "acme/treasury"
        assert confirmed.identity == "acme/treasury"

    def test_packages_of_a_monorepo_are_apart_only_if_the_user_asked(
        self, house: House, git: Git, tmp_path: Path
    ) -> None:
        mono = repository(tmp_path / "mono", git, "https://github.com/acme/mono")
        package = mono / "packages" / "cart"
        package.mkdir(parents=True)
        (package / "package.json").write_text("{}")
        assert project_of(house, package) == project_of(house, mono)
        house.sets("project.monorepo", "github.com/acme/mono")
        assert project_of(house, package) != project_of(house, mono)


class TestGit:
    def test_branch_and_commit_are_noted_with_every_event(self, house: House, git: Git) -> None:
        story = house.session().prompts("go")
        house.works()
        where = house.events(story)[0].where
        assert (where.branch, where.commit) == ("main", git(house.project, "rev-parse", "HEAD"))

    def test_the_end_of_a_turn_knows_whether_the_work_tree_is_dirty(self, house: House) -> None:
        story = house.session().prompts("one").stops("Clean.")
        house.works()
        (house.project / "auth.py").write_text("x = 2\ny = 3\n")
        story.prompts("two").stops("Dirty.")
        house.works()
        ends = [e for e in house.events(story) if e.kind is Kind.TURN_ENDED]
        assert [e.where.dirty for e in ends] == [False, True]
        assert ends[1].target == "1 file changed, 2 insertions(+), 1 deletion(-)"

    def test_outside_git_nobody_can_tell(self, house: House, tmp_path: Path) -> None:
        story = house.session(cwd=tmp_path).prompts("one").stops("Done.")
        house.works()
        assert [e.where.dirty for e in house.events(story)] == [None, None, None]

    def test_a_repository_cannot_make_us_run_its_programs(
        self, house: House, git: Git, tmp_path: Path
    ) -> None:
        trap = tmp_path / "trap.sh"
        trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\n")
        trap.chmod(0o755)
        git(house.project, "config", "core.fsmonitor", str(trap))
        git(house.project, "config", "diff.external", str(trap))
        git(house.project, "config", "diff.evil.textconv", str(trap))
        (house.project / ".gitattributes").write_text("*.py diff=evil\n")
        (house.project / "auth.py").write_text("changed\n")
        assert ProjectLookup(house.store, {}, ()).diffstat(str(house.project)) is not None
        assert not (tmp_path / "sprung").exists()

    def test_the_environment_of_another_git_does_not_lead_us_astray(
        self, house: House, git: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        other = repository(tmp_path / "other", git)
        (other / "auth.py").write_text("changed\n")
        monkeypatch.setenv("GIT_DIR", str(other / ".git"))
        monkeypatch.setenv("GIT_WORK_TREE", str(other))
        assert ProjectLookup(house.store, {}, ()).diffstat(str(house.project)) == ""

    def test_without_git_on_the_path_it_is_told_all_the_same(
        self, house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        assert ProjectLookup(house.store, {}, ()).diffstat(str(house.project)) == ""

    def test_what_takes_too_long_is_not_told(self, house: House, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(places_module, "_GIT_SECONDS", 0.0)
        assert ProjectLookup(house.store, {}, ()).diffstat(str(house.project)) is None
