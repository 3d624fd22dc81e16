"""Which repositories may be the project that they claim to be: the user's own, and not everybody's."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from backstory.app import App
from backstory.doctor import memory_checks as doctor
from backstory.doctor.check import State
from tests.conftest import Git, repository
from tests.story import House

URL = "git@github.com:acme/shop.git"
SECRET = "We decided to keep the vault key in drawer nine because of the audit."
Layout = Callable[
    [Path, Path, Git], Path
]  # of the victim's repository and an empty folder: where work is done


@pytest.fixture
def shop(house: House, git: Git) -> Path:
    """A repository with a remote, a submodule and a worktree, in which a decision was made."""
    git(house.project, "remote", "add", "origin", URL)
    library = repository(house.project.parent / "library", git)
    git(house.project, "submodule", "--quiet", "add", str(library), "vendor/lib")
    git(house.project, "commit", "--quiet", "--message=Library")
    git(house.project, "worktree", "add", "--quiet", str(house.project.parent / "linked"))
    decides(house, house.project)
    return house.project


def decides(house: House, folder: Path, text: str = SECRET) -> str:
    """A session in the folder that decides something; gives the id of its project."""
    story = house.session(cwd=folder).prompts(text).stops("Done.")
    house.works()
    return house.row(story).project_id


def own_repository(folder: Path, git: Git, url: str) -> Path:
    repository(folder / "evil", git, url)
    (folder / "evil" / "auth.py").write_text("y = 9\n")
    git(folder / "evil", "commit", "--quiet", "--all", "--amend", "--message=Mine")
    return folder / "evil"


def same_remote(shop: Path, folder: Path, git: Git) -> Path:
    return own_repository(folder, git, URL)


def other_spelling(shop: Path, folder: Path, git: Git) -> Path:
    return own_repository(folder, git, "https://www.github.com/Acme/SHOP/")


def instead_of(shop: Path, folder: Path, git: Git) -> Path:
    evil = own_repository(folder, git, "x:shop.git")
    git(evil, "config", "url.git@github.com:acme/.insteadOf", "x:")
    return evil


def local_path(shop: Path, folder: Path, git: Git) -> Path:
    return own_repository(folder, git, str(shop))


def no_commit(shop: Path, folder: Path, git: Git) -> Path:
    git(folder, "init", "--quiet")
    git(folder, "remote", "add", "origin", URL)
    return folder


def git_file(shop: Path, folder: Path, git: Git) -> Path:
    (folder / ".git").write_text(f"gitdir: {shop}/.git\n")
    return folder


def git_link(shop: Path, folder: Path, git: Git) -> Path:
    (folder / ".git").symlink_to(shop / ".git")
    return folder


def commondir(shop: Path, folder: Path, git: Git) -> Path:
    git(folder, "init", "--quiet")
    (folder / ".git/commondir").write_text(f"{shop}/.git\n")
    (folder / ".git/gitdir").write_text(f"{folder}/.git\n")
    return folder


def pretended_worktree(shop: Path, folder: Path, git: Git) -> Path:
    """A git folder of its own that calls itself a worktree of another repository."""
    inner = folder / "kept/worktrees/evil"
    inner.mkdir(parents=True)
    (inner / "HEAD").write_text("ref: refs/heads/main\n")
    (inner / "commondir").write_text(f"{shop}/.git\n")
    (folder / ".git").write_text(f"gitdir: {inner}\n")
    (inner / "gitdir").write_text(f"{folder}/.git\n")
    return folder


def existing_worktree(shop: Path, folder: Path, git: Git) -> Path:
    (folder / ".git").write_text(f"gitdir: {shop}/.git/worktrees/linked\n")
    return folder


def submodule(shop: Path, folder: Path, git: Git) -> Path:
    other = own_repository(folder / "origin", git, "")
    outer = repository(folder / "outer", git)
    git(outer, "submodule", "--quiet", "add", str(other), "vendor/x")
    git(outer / "vendor/x", "remote", "set-url", "origin", URL)
    return outer / "vendor/x"


def borrowed_objects(shop: Path, folder: Path, git: Git) -> Path:
    evil = own_repository(folder, git, URL)
    (evil / ".git/objects/info").mkdir(exist_ok=True)
    (evil / ".git/objects/info/alternates").write_text(f"{shop}/.git/objects\n")
    (evil / ".git/refs/heads/main").write_text(git(shop, "rev-parse", "HEAD") + "\n")
    return evil


def linked_objects(shop: Path, folder: Path, git: Git) -> Path:
    evil = own_repository(folder, git, URL)
    shutil.rmtree(evil / ".git/objects")
    (evil / ".git/objects").symlink_to(shop / ".git/objects")
    (evil / ".git/refs/heads/main").write_text(git(shop, "rev-parse", "HEAD") + "\n")
    return evil


def linked_packs(shop: Path, folder: Path, git: Git) -> Path:
    git(shop, "gc", "--quiet")
    evil = own_repository(folder, git, URL)
    for file in (shop / ".git/objects/pack").iterdir():
        (evil / ".git/objects/pack" / file.name).symlink_to(file)
    return evil


def forged_object(shop: Path, folder: Path, git: Git) -> Path:
    """The hash of a commit is no secret; a file that is called so does not have its content."""
    evil, oid = own_repository(folder, git, URL), git(shop, "rev-parse", "HEAD")
    mine = git(evil, "rev-parse", "HEAD")
    (evil / ".git/objects" / oid[:2]).mkdir(exist_ok=True)
    shutil.copy(evil / ".git/objects" / mine[:2] / mine[2:], evil / ".git/objects" / oid[:2] / oid[2:])
    (evil / ".git/refs/heads/main").write_text(oid + "\n")
    return evil


CLAIMS = [
    *(same_remote, other_spelling, instead_of, local_path, no_commit, git_file, git_link, commondir),
    *(pretended_worktree, existing_worktree, submodule, borrowed_objects, linked_objects, linked_packs),
    forged_object,
]


@pytest.mark.parametrize("layout", CLAIMS, ids=lambda layout: layout.__name__)
def test_a_folder_that_only_claims_a_project_is_not_told_of_it_and_tells_it_nothing(
    house: House, shop: Path, git: Git, tmp_path: Path, layout: Layout
) -> None:
    """Neither before its first session is stored nor after, by the function that the hook calls."""
    if layout is local_path:
        git(shop, "remote", "remove", "origin")
        decides(house, shop)
    (tmp_path / "archive").mkdir()
    evil = layout(shop, tmp_path / "archive", git)
    assert "drawer nine" in house.brief(shop).text
    assert "drawer nine" not in house.brief(evil).text
    story = house.session(cwd=evil).prompts("We decided to keep the vault key under the doormat instead.")
    assert "doormat" not in house.brief(shop).text
    story.stops("Done.")
    assert "drawer nine" not in house.brief(evil).text
    house.works()
    for _ in range(2):
        assert "drawer nine" not in house.brief(evil).text
        assert "doormat" not in house.brief(shop).text
        assert "drawer nine" in house.brief(shop).text
        decides(house, evil, "Once more under the doormat, always.")


def worktree(shop: Path, folder: Path, git: Git) -> Path:
    git(shop, "worktree", "add", "--quiet", str(folder / "feature"))
    return folder / "feature"


def clone(shop: Path, folder: Path, git: Git) -> Path:
    git(folder, "clone", "--quiet", str(shop), "second")
    git(folder / "second", "remote", "set-url", "origin", "https://github.com/acme/shop")
    return folder / "second"


def clone_of_older(shop: Path, folder: Path, git: Git) -> Path:
    """Of what was pushed, while sessions worked on commits that were not."""
    second = clone(shop, folder, git)
    git(second, "reset", "--quiet", "--hard", "HEAD~1")
    git(second, "update-ref", "-d", "refs/remotes/origin/main")
    git(second, "update-ref", "-d", "refs/remotes/origin/linked")
    git(second, "update-ref", "-d", "refs/remotes/origin/HEAD")
    git(second, "reflog", "expire", "--expire=now", "--all")
    git(second, "gc", "--quiet", "--prune=now")
    return second


def shallow_clone(shop: Path, folder: Path, git: Git) -> Path:
    git(folder, "clone", "--quiet", "--depth=1", f"file://{shop}", "second")
    git(folder / "second", "remote", "set-url", "origin", URL)
    return folder / "second"


def moved_repository(shop: Path, folder: Path, git: Git) -> Path:
    shutil.copytree(shop, folder / "moved")
    return folder / "moved"


def local_clone(shop: Path, folder: Path, git: Git) -> Path:
    git(folder, "clone", "--quiet", str(shop), "second")
    git(shop, "remote", "set-url", "origin", str(folder / "second"))
    git(shop, "remote", "set-url", "origin", URL)
    git(folder / "second", "remote", "set-url", "origin", URL)
    return folder / "second"


@pytest.mark.parametrize(
    "layout",
    [worktree, clone, clone_of_older, shallow_clone, moved_repository, local_clone],
    ids=lambda layout: layout.__name__,
)
def test_the_users_own_clones_and_worktrees_belong_to_the_project(
    house: House, shop: Path, git: Git, tmp_path: Path, layout: Layout
) -> None:
    (tmp_path / "more").mkdir()
    second = layout(shop, tmp_path / "more", git)
    project = decides(house, shop, "Where are we?")
    assert ("drawer nine" in house.brief(second).text) == (layout is worktree), "before a worker has looked"
    assert decides(house, second, "And where are we here?") == project
    assert "drawer nine" in house.brief(second).text


def test_a_clone_without_a_remote_of_its_own_is_the_project_that_it_was_cloned_from(
    house: House, git: Git, tmp_path: Path
) -> None:
    project = decides(house, house.project)
    git(tmp_path, "clone", "--quiet", str(house.project), "second")
    assert decides(house, tmp_path / "second", "Where are we?") == project


def test_a_commit_of_a_folder_that_a_session_only_passed_through_proves_nothing(
    house: House, shop: Path, git: Git, tmp_path: Path
) -> None:
    evil = same_remote(shop, tmp_path, git)
    story = house.session(cwd=shop).prompts("Look at what I unpacked")
    story.cwd = str(evil)
    story.runs("make").stops("Done.")
    house.works()
    assert "drawer nine" not in house.brief(evil).text
    assert decides(house, evil, "Where are we?") != house.row(story).project_id


def test_what_belonged_to_a_project_before_marks_were_made_still_does(
    house: House, shop: Path, git: Git, tmp_path: Path
) -> None:
    """As after an upgrade: no proof, but it is in the store."""
    old = same_remote(shop, tmp_path, git)
    story = house.session(cwd=shop).prompts("Where are we?")
    house.works()
    project = house.row(story).project_id
    with house.store.transaction():
        house.store.projects.note_place(str(old), project, 1)
    shutil.rmtree(house.home.joined)
    assert "drawer nine" in house.brief(old).text, "until the worker has made the marks"
    assert decides(house, old, "Still here?") == project
    assert house.home.joined.is_dir()
    assert "drawer nine" in house.brief(old).text
    new = same_remote(shop, tmp_path / "new", git)
    assert "drawer nine" not in house.brief(new).text


def test_the_user_can_confirm_what_cannot_be_proven_and_take_it_back(
    house: House, shop: Path, git: Git, tmp_path: Path
) -> None:
    mine = same_remote(shop, tmp_path, git)
    own = decides(house, mine, "Where are we?")
    with App(house.home) as app:
        (check,) = doctor.project(app, mine)
        assert check.state is State.WARN
        assert "github.com/acme/shop" in check.found
        assert f"backstory config --confirm --cwd {mine}" in check.todo
        assert app.confirm_project(mine) == (mine / ".git", "github.com/acme/shop")
        (check,) = doctor.project(app, mine)
        assert check.state is State.OK
        assert "drawer nine" in app.brief(mine, "claude-code").text
        project = app.project_at(mine).id
    assert decides(house, mine, "And now?") == project != own
    with App(house.home) as app:
        app.confirm_project(mine, agreed=False)
        assert "drawer nine" not in app.brief(mine, "claude-code").text
    assert decides(house, mine, "And again?") == own


@pytest.mark.parametrize("layout", [same_remote, git_file, commondir], ids=lambda layout: layout.__name__)
def test_the_installed_hook_tells_a_claiming_folder_nothing(
    house: House, shop: Path, git: Git, tmp_path: Path, layout: Layout
) -> None:
    house.installs()
    (tmp_path / "archive").mkdir()
    evil = layout(shop, tmp_path / "archive", git)
    answers = [
        house.fires(
            "SessionStart",
            {"session_id": "n", "cwd": str(folder), "hook_event_name": "SessionStart", "source": "startup"},
            PATH=os.environ["PATH"],
        ).stdout
        for folder in (shop, evil)
    ]
    assert b"drawer nine" in answers[0]
    assert b"drawer nine" not in answers[1]
