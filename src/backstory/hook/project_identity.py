"""Which project a folder belongs to, found by reading git's files, without running git.

A project is its repository, not its folder's name. In order: what the user confirmed for this path (a
cloned repository must not claim another project's memory by itself); the remote, in one spelling; git's
common folder, so that worktrees share and submodules do not; the folder itself. Everything read here may
be broken or hostile: a file that makes no sense counts as missing, and nothing raises.

A remote, like a `.git` file or a `commondir` that leads elsewhere, is only a claim: whoever packs an archive
can write it. It counts once the worker has joined this repository to that project (see
`capture/project_claims.py`) and left a mark for the hook, or the user confirmed it. Until then the repository
is a project of its own.
"""

import os
from _blake2 import blake2b

from backstory.hook import remote_url
from backstory.hook.regular_file import read_head

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

MARKERS = (
    "package.json", "pyproject.toml", "Cargo.toml", "go.mod", "pom.xml", "build.gradle", "build.gradle.kts",
    "composer.json", "Gemfile", "mix.exs", "pubspec.yaml", "Package.swift", "setup.py", "deno.json",
)  # fmt: skip
_ID_LIMIT = 200
_SMALL = 64 * 1024
_REFS = 16 * 1024 * 1024
_NO_BRANCH, _LONGEST_BRANCH = frozenset("~^:?*[\\"), 250  # what git refuses, and a file system
LONGEST_PATH = 32_767 if os.name == "nt" else 4_096  # none is longer, and looking one up takes its square
_CONFIG = 256 * 1024  # it is parsed line by line, for each waiting payload that names another folder


class Place:
    """A folder as git sees it, and the project it belongs to."""

    __slots__ = (
        "branch", "claim", "commit", "common_dir", "git_dir", "identity", "name", "own", "root", "worktree",
    )  # fmt: skip

    def __init__(self, identity: str, root: str) -> None:
        self.identity = identity
        self.name = remote_url.last_part(identity)
        self.root = root
        self.branch = ""
        self.commit = ""
        self.worktree = ""  # a linked worktree's name; empty in the main one
        self.git_dir = ""
        self.common_dir = ""
        self.own = identity  # what it is by itself, whatever it claims
        self.claim = ""  # the project that it claims to be, and was not joined to


def project_id(identity: str) -> str:
    """The id of a project, the same on every machine for the same remote."""
    return "p" + blake2b(_bytes(identity), digest_size=8).hexdigest()


def ident(value: object) -> str:
    """An agent's own id. It is data, never part of a path; an absurd one is cut but stays distinct."""
    if not isinstance(value, str):
        return ""
    if (
        len(value) <= _ID_LIMIT
        and value.isprintable()
        and not ("/" in value or "\\" in value or ".." in value)
    ):
        return value
    digest = blake2b(_bytes(value), digest_size=8).hexdigest()
    shown = "".join(c if c.isprintable() and c not in "/\\" else "?" for c in value[: _ID_LIMIT - 20])
    return f"{shown.replace('..', '??')}~{digest}"


def session_id(agent: str, native: str) -> str:
    """The id of an agent's session; whatever the agent calls it becomes a safe name for a file."""
    return "s" + blake2b(_bytes(f"{agent}\0{native}"), digest_size=8).hexdigest()


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def resolve_place(
    cwd: str,
    confirmed: dict[str, str] | None = None,
    monorepo: bool | list[str] | tuple[str, ...] = (),
    joined: "Callable[[Place, str], bool] | None" = None,
) -> Place:
    """The place of `cwd`, which may no longer exist.

    `joined` says whether a repository may be the project that it claims to be; without it every claim counts.
    """
    if len(cwd) > LONGEST_PATH:
        return Place(ident(cwd), ident(cwd))
    here = _real(cwd)
    folder, gone = here, False
    while not os.path.isdir(folder):
        parent = os.path.dirname(folder)
        if parent == folder:
            break
        folder, gone = parent, True
    place = _work_tree(folder) or Place(here if gone else folder, here if gone else folder)
    if place.common_dir:
        identity, package = _of_remote(place) or place.common_dir, ""
        if monorepo is True or (monorepo and ("*" in monorepo or identity in monorepo)):
            package = _package(folder, place.root)
        if identity != place.own and joined is not None:
            said = (confirmed or {}).get(place.own)
            if said == "" or (said != identity + package and not joined(place, identity + package)):
                place.claim = identity + package
                identity = place.own
        place.identity = identity + package
        place.name = _name(place, place.identity)
    if confirmed:
        _claim(place, here, confirmed)
    return place


def join_mark(own: str, identity: str) -> str:
    """The name of the file that says that a repository was joined to a project."""
    return blake2b(_bytes(f"{own}\0{identity}"), digest_size=16).hexdigest()


def joined_in(home: str) -> "Callable[[Place, str], bool]":
    """Whether the worker has left a mark for a repository and a project; without its folder all count."""
    folder = os.path.join(home, "briefs", "joined")

    def joined(place: Place, identity: str) -> bool:
        if os.path.isfile(os.path.join(folder, join_mark(place.own, identity))):
            return True
        return not os.path.isdir(folder)

    return joined


def _real(path: str) -> str:
    """A real path where there is one; a NUL or a loop in it leaves the path as it was given."""
    path = path.replace("\0", "") or os.sep
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return os.path.normpath(path)


def _name(place: Place, identity: str) -> str:
    if identity == place.common_dir:  # /x/shop/.git is shop, in every worktree
        base = os.path.basename(identity)
        return remote_url.last_part(os.path.dirname(identity) if base.startswith(".") else identity)
    return remote_url.last_part(identity)


def _work_tree(folder: str) -> Place | None:
    """The git work tree around `folder`; a `.git` that leads nowhere is passed by."""
    while True:
        dot = os.path.join(folder, ".git")
        git_dir = _git_dir(dot, folder)
        if git_dir:
            break
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent
    shared = _line(os.path.join(git_dir, "commondir"))
    if remote_url.leaves_machine(shared, folder):
        shared = ""
    common = _real(os.path.join(git_dir, shared)) if shared else git_dir
    if shared and not os.path.isdir(common):
        shared, common = "", git_dir
    place = Place(common, folder)
    place.git_dir, place.common_dir = git_dir, common
    place.worktree = os.path.basename(git_dir) if shared else ""
    place.own = common if _mutual(git_dir, common, folder) else folder
    _head(place)
    return place


def _git_dir(dot: str, folder: str) -> str:
    """Where `.git` leads: itself, or what a worktree's or submodule's file names; empty if nowhere."""
    if not os.path.isdir(dot):
        line = _line(dot)
        if not line.startswith("gitdir:"):
            return ""
        dot = os.path.join(folder, line[len("gitdir:") :].strip())
        if remote_url.leaves_machine(dot, folder):
            return ""
    return _real(dot) if os.path.isfile(os.path.join(dot, "HEAD")) else ""


def _mutual(git_dir: str, common: str, folder: str) -> bool:
    """Whether the git folder that `.git` leads to names this work tree as its own: anybody can point."""
    dot = os.path.join(folder, ".git")
    if git_dir == dot:
        return common == git_dir
    if common != git_dir:  # a linked worktree
        ours = os.path.dirname(git_dir) == os.path.join(common, "worktrees")
        return ours and _same(os.path.join(git_dir, _line(os.path.join(git_dir, "gitdir"))), dot)
    config = read_head(os.path.join(git_dir, "config"), _CONFIG).decode("utf-8", "surrogateescape")
    tree = remote_url.config_values(config, "core", "worktree").get("", "")  # as in a submodule
    return bool(tree) and _same(os.path.join(git_dir, tree), folder)


def _same(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)
    except (OSError, ValueError):
        return False


def branch_name(said: str) -> str:
    """A branch's name, "" if git would take no such name: a file may say anything, and a brief tells it."""
    for char in said:
        shown = char.isprintable() or "\udc80" <= char <= "\udcff"  # bytes that are no UTF-8
        if not shown or char.isspace() or char in _NO_BRANCH:
            return ""
    return said if ".." not in said and len(said) <= _LONGEST_BRANCH else ""


def _head(place: Place) -> None:
    head = _line(os.path.join(place.git_dir, "HEAD"))
    if not head.startswith("ref:"):
        place.commit = _hash(head)
        return
    ref = head[len("ref:") :].strip()
    if not ref.startswith("refs/") or ".." in ref:
        return
    place.branch = branch_name(ref[len("refs/heads/") :] if ref.startswith("refs/heads/") else ref)
    for folder in (place.git_dir, place.common_dir):
        place.commit = _hash(_line(os.path.join(folder, ref)))
        if place.commit:
            return
    packed = b"\n" + read_head(os.path.join(place.common_dir, "packed-refs"), _REFS)
    end = packed.find(b" " + ref.encode("utf-8", "surrogateescape") + b"\n")
    if end > 0:
        place.commit = _hash(packed[packed.rfind(b"\n", 0, end) + 1 : end].decode("ascii", "replace"))


def _hash(text: str) -> str:
    good = len(text) in (40, 64) and not text.strip("0123456789abcdef")
    return text if good else ""


def _of_remote(place: Place) -> str:
    """The remote in its one spelling: origin, else the first by name."""
    config = read_head(os.path.join(place.common_dir, "config"), _CONFIG)
    urls = remote_url.remote_urls(config.decode("utf-8", "surrogateescape"))
    for name in sorted(urls, key=_origin_first):
        if identity := remote_url.normalise_url(urls[name], place.root):
            return identity
    return ""


def _origin_first(name: str) -> tuple[bool, str]:
    return name != "origin", name


def _package(folder: str, root: str) -> str:
    """`#path/of/package` for the nearest package marker below the root, or nothing."""
    while folder != root and len(folder) > len(root):
        if any(os.path.isfile(os.path.join(folder, marker)) for marker in MARKERS):
            return "#" + os.path.relpath(folder, root).replace(os.sep, "/")
        folder = os.path.dirname(folder)
    return ""


def _claim(place: Place, here: str, confirmed: dict[str, str]) -> None:
    """Take the identity that a `.backstory.toml` claims, if the user confirmed just that for its path."""
    candidates = []
    folder = here
    edge = place.root if place.common_dir else ""  # what lies above a work tree has no say in it
    while True:
        candidates.append(folder)
        parent = os.path.dirname(folder)
        if folder in (parent, edge):
            break
        folder = parent
    # a worktree obeys what holds for the main one
    if place.own == place.common_dir and os.path.basename(place.common_dir) == ".git":
        candidates.append(os.path.dirname(place.common_dir))
    for folder in candidates:
        wanted = confirmed.get(folder)
        if wanted and claimed_project(folder) == wanted:
            place.identity = wanted
            place.name = remote_url.last_part(wanted)
            return


def claimed_project(folder: str) -> str:
    """What `.backstory.toml` in `folder` says the project is: its top-level `project = "…"`."""
    text = read_head(os.path.join(folder, ".backstory.toml"), _SMALL).decode("utf-8", "replace")
    for line in text.splitlines():
        key, _, value = line.strip().partition("=")
        if key.startswith("["):
            return ""
        value = value.strip()
        if key.strip() == "project" and len(value) > 1 and value[0] in "\"'":
            return value[1:].partition(value[0])[0].strip()
    return ""


def _line(path: str) -> str:
    """The first line of a small file, without surrounding space; empty if it makes no sense."""
    data = read_head(path, _SMALL)
    if b"\0" in data:
        return ""
    return data.decode("utf-8", "surrogateescape").partition("\n")[0].strip()
