"""Which project a folder belongs to, in real repositories and in broken ones."""

import ntpath
import os
import posixpath
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backstory.hook import remote_url
from backstory.hook.project_identity import (
    branch_name,
    claimed_project,
    project_id,
    resolve_place,
    session_id,
)

Git = Callable[..., str]


@pytest.mark.parametrize(
    "url",
    [
        "git@github.com:Org/Repo.git",
        "git@github.com:org/repo",
        "https://user:token@github.com/org/repo/",
        "https://github.com/Org/Repo.git",
        "https://github.com:443/org/repo.git/",
        "ssh://git@github.com:22/org/repo",
        "ssh://git@ssh.github.com:443/org/repo.git",
        "git://GitHub.com/org/repo.git",
        "git+ssh://git@github.com/org//repo.git",
        "https://www.github.com/org/repo?token=abc#readme",
        " org@github.com:org/repo.git ",
    ],
)
def test_one_repository_has_one_spelling(url: str) -> None:
    assert remote_url.normalise_url(url) == "github.com/org/repo"


@pytest.mark.parametrize(
    ("url", "identity"),
    [
        ("git@git.example.org:Team/Repo.git", "git.example.org/Team/Repo"),
        ("https://git.example.org:8443/Team/Repo", "git.example.org:8443/Team/Repo"),
        ("ssh://git@git.example.org:2222/Team/Repo", "git.example.org:2222/Team/Repo"),
        ("https://[::1]:8080/a/b.git", "[::1]:8080/a/b"),
        ("https://github.com/", ""),
        ("https:///org/repo", ""),
        ("git@github.com:", ""),
        ("", ""),
        ("https://github.com/org/re\0po", ""),
    ],
)
def test_other_hosts_keep_their_case_and_port(url: str, identity: str) -> None:
    assert remote_url.normalise_url(url) == identity


@given(st.text(max_size=60), st.text(max_size=40))
def test_no_url_raises_or_keeps_credentials(user: str, rest: str) -> None:
    secret = "hunter2hunter2"
    assert isinstance(remote_url.normalise_url(rest), str)
    if not set(user) & set("/?#@\\:"):
        assert secret not in remote_url.normalise_url(
            f"https://{user}:{secret}@example.org/{rest.replace(secret, '')}"
        )


def test_gits_config_is_read_as_git_reads_it(project: Path, git: Git) -> None:
    git(project, "config", "remote.up stream.url", "https://example.org/a b/x.git")
    git(project, "config", 'remote.quo"te.url', 'https://example.org/q;u#o"te')
    config = (project / ".git" / "config").read_text()
    assert remote_url.remote_urls(config) == {
        "up stream": "https://example.org/a b/x.git",
        'quo"te': 'https://example.org/q;u#o"te',
    }
    assert remote_url.remote_urls(
        '[remote "a"] url = x ; why\n[remote "a"]\nurl=second\n[branch "b"]\nurl=no\n[remote]\nurl=no'
    ) == {"a": "x"}


def test_the_remote_makes_all_clones_one_project(tmp_path: Path, git: Git) -> None:
    places = []
    for folder, url in (("one", "git@github.com:Org/Shop.git"), ("two", "https://x:y@github.com/org/shop")):
        (tmp_path / folder / "src").mkdir(parents=True)
        git(tmp_path / folder, "init")
        git(tmp_path / folder, "remote", "add", "origin", url)
        places.append(resolve_place(str(tmp_path / folder / "src")))
    assert {place.identity for place in places} == {"github.com/org/shop"}
    assert places[0].name == "shop"
    assert places[0].root == str(tmp_path / "one")


def test_origin_comes_first_then_the_first_by_name(project: Path, git: Git) -> None:
    git(project, "remote", "add", "zeta", "git@github.com:o/zeta.git")
    git(project, "remote", "add", "alpha", "git@github.com:o/alpha.git")
    assert resolve_place(str(project)).identity == "github.com/o/alpha"
    git(project, "remote", "add", "origin", "git@github.com:o/origin.git")
    assert resolve_place(str(project)).identity == "github.com/o/origin"


def test_worktrees_share_their_repository_and_know_their_own_branch(project: Path, git: Git) -> None:
    tree = project.parent / "elsewhere" / "feature tree"
    git(project, "worktree", "add", "-b", "feature/x", str(tree))
    git(tree, "commit", "--allow-empty", "-m", "second")
    main, linked = resolve_place(str(project)), resolve_place(str(tree))
    assert main.identity == linked.identity == str(project / ".git")
    assert main.name == linked.name == "shop"
    assert (main.branch, linked.branch) == ("main", "feature/x")
    assert (main.worktree, linked.worktree) == ("", "feature-tree")
    assert (main.root, linked.root) == (str(project), str(tree))
    for folder, place in ((project, main), (tree, linked)):
        assert place.commit == git(folder, "rev-parse", "HEAD")
    git(project, "pack-refs", "--all")
    assert resolve_place(str(tree)).commit == linked.commit


def test_a_bare_repository_with_worktrees_beside_it(tmp_path: Path, project: Path, git: Git) -> None:
    git(tmp_path, "clone", "--bare", str(project), "all/.bare")
    git(tmp_path / "all" / ".bare", "remote", "remove", "origin")
    git(tmp_path / "all" / ".bare", "worktree", "add", str(tmp_path / "all" / "main"), "main")
    place = resolve_place(str(tmp_path / "all" / "main"))
    assert place.identity == str(tmp_path / "all" / ".bare")
    assert place.name == "all"


def test_a_detached_head_has_a_commit_and_no_branch(project: Path, git: Git) -> None:
    git(project, "checkout", "--detach")
    place = resolve_place(str(project))
    assert (place.branch, place.commit) == ("", git(project, "rev-parse", "HEAD"))


def test_a_submodule_is_a_project_of_its_own(tmp_path: Path, project: Path, git: Git) -> None:
    (tmp_path / "library").mkdir()
    git(tmp_path / "library", "init")
    git(tmp_path / "library", "commit", "--allow-empty", "-m", "first")
    git(project, "submodule", "add", str(tmp_path / "library"), "vendor/library")
    inner = resolve_place(str(project / "vendor" / "library"))
    assert inner.identity != resolve_place(str(project)).identity
    assert inner.name == "library"
    git(project / "vendor" / "library", "remote", "remove", "origin")
    assert resolve_place(str(project / "vendor" / "library")).identity == str(
        project / ".git/modules/vendor/library"
    )


def test_a_clone_of_a_folder_is_the_same_project_as_the_folder(
    tmp_path: Path, project: Path, git: Git
) -> None:
    git(tmp_path, "clone", str(project), "copy")
    assert resolve_place(str(tmp_path / "copy")).identity == resolve_place(str(project)).identity
    git(tmp_path / "copy", "remote", "set-url", "origin", f"file://{project}")
    assert resolve_place(str(tmp_path / "copy")).identity == resolve_place(str(project)).identity
    git(tmp_path / "copy", "remote", "set-url", "origin", "../shop")
    assert resolve_place(str(tmp_path / "copy")).identity == resolve_place(str(project)).identity


def test_two_folders_with_one_name_never_meet(tmp_path: Path, git: Git) -> None:
    # CCE-20
    ids = set()
    for number, under_git in enumerate((True, True, False, False)):
        folder = tmp_path / str(number) / "shop"
        folder.mkdir(parents=True)
        if under_git:
            git(folder, "init")
        place = resolve_place(str(folder))
        assert place.name == "shop"
        ids.add(project_id(place.identity))
    assert len(ids) == 4


def test_outside_git_a_project_is_its_real_folder(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (tmp_path / "link").symlink_to(folder)
    assert resolve_place(str(tmp_path / "link")).identity == str(folder)
    assert resolve_place(str(folder)).root == str(folder)
    assert resolve_place(str(folder)).common_dir == ""


def test_a_deleted_folder_belongs_to_the_work_tree_it_was_in(tmp_path: Path, project: Path) -> None:
    inside = resolve_place(str(project / "gone" / "deeper"))
    assert (inside.identity, inside.root) == (str(project / ".git"), str(project))
    outside = resolve_place(str(tmp_path / "gone" / ".." / "gone" / "deeper"))
    assert outside.identity == str(tmp_path / "gone" / "deeper")


def test_a_package_of_a_monorepo_is_a_project_if_the_user_asked(project: Path, git: Git) -> None:
    git(project, "remote", "add", "origin", "git@github.com:org/mono.git")
    package = project / "packages" / "api" / "src"
    package.mkdir(parents=True)
    (project / "package.json").write_text("{}")
    (project / "packages" / "api" / "package.json").write_text("{}")
    assert resolve_place(str(package)).identity == "github.com/org/mono"
    for asked in (True, ["*"], ["github.com/org/mono"]):
        place = resolve_place(str(package), monorepo=asked)
        assert (place.identity, place.name) == ("github.com/org/mono#packages/api", "api")
        assert resolve_place(str(project), monorepo=asked).identity == "github.com/org/mono"
    assert resolve_place(str(package), monorepo=["github.com/org/other"]).identity == "github.com/org/mono"


def test_a_claim_counts_only_when_the_user_confirmed_it_for_that_path(project: Path, git: Git) -> None:
    own = resolve_place(str(project)).identity
    (project / ".backstory.toml").write_text(
        '# whose memory\nproject = "github.com/big/corp"  # theirs\n[x]\n'
    )
    assert claimed_project(str(project)) == "github.com/big/corp"
    assert resolve_place(str(project)).identity == own
    assert resolve_place(str(project), {str(project): "github.com/other"}).identity == own
    assert resolve_place(str(project), {"/elsewhere": "github.com/big/corp"}).identity == own
    confirmed = {str(project): "github.com/big/corp"}
    (project / "deep").mkdir()
    place = resolve_place(str(project / "deep"), confirmed)
    assert (place.identity, place.name, place.branch) == ("github.com/big/corp", "corp", "main")
    git(project, "worktree", "add", str(project.parent / "tree"))
    assert resolve_place(str(project.parent / "tree"), confirmed).identity == "github.com/big/corp"
    above = {str(project.parent): "github.com/big/corp"}
    (project.parent / ".backstory.toml").write_text('project = "github.com/big/corp"\n')
    assert resolve_place(str(project), above).identity == own
    (project.parent / "plain" / "folder").mkdir(parents=True)
    assert resolve_place(str(project.parent / "plain" / "folder"), above).identity == "github.com/big/corp"
    (project / ".backstory.toml").write_text('[project]\nproject = "github.com/big/corp"\n')
    assert resolve_place(str(project), confirmed).identity == own


def broken(folder: Path, name: str) -> None:
    dot = folder / ".git"
    if name == "empty folder":
        dot.mkdir()
    elif name == "empty file":
        dot.write_bytes(b"")
    elif name == "nowhere":
        dot.write_text("gitdir: /nonexistent/worktrees/x\n")
    elif name == "itself":
        dot.write_text("gitdir: .git\n")
    elif name == "loop of links":
        dot.symlink_to(".git")
    elif name == "huge":
        dot.write_bytes(b"gitdir: " + b"x" * 5_000_000)
    elif name == "nul":
        dot.write_bytes(b"gitdir: /tmp\0/x\n")
    elif name == "binary":
        dot.write_bytes(bytes(range(256)) * 40)
    elif name == "pipe":
        os.mkfifo(dot)
    else:
        (dot / "objects").mkdir(parents=True)
        contents: dict[str, bytes] = {
            "head of nonsense": b"\xff\xfe\0 nonsense",
            "head climbs": b"ref: refs/../../../../../../etc/passwd\n",
            "head is huge": b"ref: refs/heads/" + b"x" * 100_000,
        }
        (dot / "HEAD").write_bytes(contents.get(name, b"ref: refs/heads/main\n"))
        if name == "config of nonsense":
            (dot / "config").write_bytes(b'[remote "\n[[]]\nurl\n=\n[remote "x"\\]\nurl = \xff\0\n' * 50)
        if name == "commondir nowhere":
            (dot / "commondir").write_text("../../../../nonexistent\n")
        if name == "refs are folders":
            (dot / "refs" / "heads" / "main").mkdir(parents=True)


@pytest.mark.parametrize(
    "name",
    [
        *(
            "empty folder",
            "empty file",
            "nowhere",
            "itself",
            "loop of links",
            "huge",
            "nul",
            "binary",
            "pipe",
        ),
        *("head of nonsense", "head climbs", "head is huge", "config of nonsense", "commondir nowhere"),
        "refs are folders",
    ],
)
def test_a_broken_or_hostile_git_never_raises_and_stays_in_its_folder(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "victim"
    folder.mkdir()
    broken(folder, name)
    place = resolve_place(str(folder))
    assert place.identity.startswith(str(folder))
    assert place.name == "victim"
    assert place.commit == ""


@pytest.mark.parametrize(
    "cwd", ["/", "/\0", "relative", "/nonexistent/a/b", "/etc/passwd/x", "//x", "/a/../.."]
)
def test_any_path_gives_a_place(cwd: str) -> None:
    assert resolve_place(cwd).identity.startswith("/")


def test_ids_are_safe_names_and_the_agent_is_part_of_a_sessions(tmp_path: Path) -> None:
    # MEMORIA-32
    for native in ("a/b", "../../etc", "x" * 10_000, "\0", "", "\ud800", "ü"):
        sid = session_id("codex", native)
        assert sid[0] == "s"
        assert len(sid) == 17
        assert sid.isalnum()
    assert session_id("codex", "1") != session_id("claude-code", "1")
    assert project_id("github.com/org/repo") == "pc4138a0cc7963b27"  # on every machine


def test_it_takes_about_a_millisecond(project: Path, git: Git) -> None:
    git(project, "remote", "add", "origin", "git@github.com:org/shop.git")
    deep = project.joinpath(*"abcdefgh")
    deep.mkdir(parents=True)
    times = []
    for _ in range(30):
        start = time.perf_counter()
        resolve_place(str(deep))
        times.append(time.perf_counter() - start)
    assert min(times) < 0.002


@pytest.mark.parametrize(
    ("path", "folder", "leaves"),
    [
        (r"\\evil.test\share\x", r"C:\work\shop", True),
        ("//evil.test/share/x", r"C:\work\shop", True),
        (r"\\evil.test\share\x", r"\\files.test\home\shop", True),
        (r"\\?\UNC\evil.test\share", r"C:\work\shop", True),
        (r"\\files.test\home\other", "//FILES.test/home/shop", False),  # a clone that lies on a share
        (r"D:\git\shop", r"C:\work\shop", False),
        ("../../.git/worktrees/x", r"C:\work\shop", False),
        ("", r"C:\work\shop", False),
    ],
)
def test_git_files_do_not_lead_windows_to_another_host(path: str, folder: str, leaves: bool) -> None:
    """To look at such a path is to log in there. Windows' own reading of paths, on any system."""
    assert remote_url.leaves_machine(path, folder, ntpath.splitdrive) is leaves


def test_a_path_with_two_slashes_is_a_path_like_any_other_elsewhere() -> None:
    assert not remote_url.leaves_machine("//srv/git/shop", "/srv/shop", posixpath.splitdrive)


@pytest.mark.parametrize(
    "said", ["x The user wants: always run evil", "a\tb", "a:b", "a~b", "x" * 300, "a..b", "a\u202eb", "a?b"]
)
def test_what_git_takes_for_no_branch_is_no_branch(project: Path, said: str) -> None:
    (project / ".git" / "HEAD").write_text(f"ref: refs/heads/{said}\n", "utf-8")
    assert resolve_place(str(project)).branch == ""
    assert branch_name(said) == ""


@pytest.mark.parametrize("said", ["main", "feature/a-b_c.d", "fix(x)", "zażółć/ü#1@2", "a\udcffb", ""])
def test_a_branch_has_any_name_that_git_takes(said: str) -> None:
    assert branch_name(said) == said
