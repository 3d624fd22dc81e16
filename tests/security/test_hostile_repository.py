"""A repository out of an archive that somebody else packed: it runs nothing, stops nothing, and stays as it is."""

import ast
import hashlib
import os
import random
import re
import struct
import subprocess
import sys
import time
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

import backstory
from backstory.git.object_store import object_id
from backstory.git.read_limit import Unavailable
from backstory.git.repository import Repository
from backstory.git.work_tree import shortstat
from backstory.hook.project_identity import resolve_place
from backstory.model import Kind
from tests.conftest import Git
from tests.story import House
from tests.tables import walks

SIGNED = """tree {tree}
parent {parent}
author A <a@b.example> 1700000000 +0000
committer A <a@b.example> 1700000000 +0000
gpgsig -----BEGIN PGP SIGNATURE-----
 Version: 1
 iQEzBAABCAAdFiEE
 -----END PGP SIGNATURE-----

Signed
"""
Plant = Callable[[Path, Path, Git], None]


def trap_in(folder: Path) -> Path:
    trap = folder / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch '{folder}/sprung'\ncat\n")
    trap.chmod(0o755)
    return trap


def clean_filter(folder: Path, trap: Path, git: Git) -> None:
    git(folder, "config", "filter.x.clean", str(trap))
    git(folder, "config", "filter.x.smudge", str(trap))
    (folder / ".git/info/attributes").write_text("* filter=x\n")


def process_filter(folder: Path, trap: Path, git: Git) -> None:
    git(folder, "config", "filter.x.process", str(trap))
    (folder / ".gitattributes").write_text("* filter=x\n")


def index_hook(folder: Path, trap: Path, git: Git) -> None:
    (folder / ".git/hooks").mkdir(exist_ok=True)
    for name in ("post-index-change", "post-checkout", "reference-transaction", "fsmonitor-watchman"):
        (folder / ".git/hooks" / name).write_text(trap.read_text())
        (folder / ".git/hooks" / name).chmod(0o755)


def signature(folder: Path, trap: Path, git: Git) -> None:
    text = SIGNED.format(
        tree=git(folder, "rev-parse", "HEAD^{tree}"), parent=git(folder, "rev-parse", "HEAD~1")
    )
    (folder / "signed").write_text(text)
    git(folder, "update-ref", "HEAD", git(folder, "hash-object", "-t", "commit", "-w", "signed"))
    (folder / "signed").unlink()
    git(folder, "config", "log.showSignature", "true")
    git(folder, "config", "gpg.program", str(trap))


def promisor(folder: Path, trap: Path, git: Git) -> None:
    git(folder, "config", "core.repositoryformatversion", "1")
    for key, value in (("promisor", "true"), ("url", str(folder)), ("uploadpack", str(trap))):
        git(folder, "config", f"remote.evil.{key}", value)
    git(folder, "config", "extensions.partialClone", "evil")
    blob = git(folder, "rev-parse", "HEAD:auth.py")
    (folder / ".git/objects" / blob[:2] / blob[2:]).unlink()


def programs(folder: Path, trap: Path, git: Git) -> None:
    names = ("core.fsmonitor", "diff.external", "diff.x.textconv", "diff.x.command", "core.sshCommand",
             "core.pager", "core.editor", "core.gitProxy", "credential.helper", "core.alternateRefsCommand",
             "uploadpack.packObjectsHook", "submodule.x.update", "alias.diff")  # fmt: skip
    for name in names:
        git(folder, "config", name, str(trap) if name != "submodule.x.update" else f"!{trap}")
    git(folder, "config", "core.hooksPath", str(trap.parent))
    (folder / ".gitattributes").write_text("* diff=x\n")


def bare_layout(folder: Path, trap: Path, git: Git) -> None:
    """What git takes for a bare repository, though no folder is called `.git`."""
    clean_filter(folder, trap, git)
    git(folder, "config", "core.worktree", str(folder))
    for path in (folder / ".git").iterdir():
        path.rename(folder / path.name)
    (folder / ".git").rmdir()


def planted_git(folder: Path, trap: Path, git: Git) -> None:
    for name in ("git", "git.exe", "gpg", "ssh"):
        (folder / name).write_text(trap.read_text())
        (folder / name).chmod(0o755)


ATTACKS = [clean_filter, process_filter, index_hook, signature, promisor, programs, bare_layout, planted_git]


def snapshot(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Every file of a folder, with the time of its last write."""
    return {
        str(path.relative_to(folder)): (path.lstat().st_mtime_ns, b"" if path.is_dir() else path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.name != "auth.py"
    }


def finished(house: House) -> None:
    """The worker that the hook has started has stored everything."""
    end = time.monotonic() + 60
    while house.spooled() or not house.home.database.exists():
        assert time.monotonic() < end, "no worker emptied the spool"
        time.sleep(0.05)


def one_turn(house: House, folder: Path, path: str) -> None:
    """A turn that edits a file, by the real hooks and the real worker."""
    common = {"session_id": "one", "cwd": str(folder), "permission_mode": "default"}
    edit = {"file_path": str(folder / "auth.py"), "old_string": "x = 1", "new_string": "x = 2"}
    events = (
        ("UserPromptSubmit", {"prompt": "We decided to keep the tokens in auth.py because of the audit."}),
        ("PostToolUse", {"tool_name": "Edit", "tool_input": edit, "tool_response": {}, "tool_use_id": "t"}),
        ("Stop", {"last_assistant_message": "auth.py is done."}),
    )
    for event, fields in events:
        payload = {**common, "hook_event_name": event, **fields}
        assert house.fires(event, payload, PATH=path).returncode == 0
    finished(house)


def searches(house: House, folder: Path, path: str) -> None:
    """What a person asks, by words and by a file that has no hits under its name."""
    for words in (("tokens",), ("zeppelin", "--file", "auth.py")):
        done = subprocess.run(
            [sys.executable, "-m", "backstory", "search", *words],
            env={"PATH": path, "HOME": str(folder.parent), "BACKSTORY_HOME": str(house.home.root)},
            cwd=folder, capture_output=True, timeout=120, check=False,
        )  # fmt: skip
        assert b"Traceback" not in done.stderr
        assert done.returncode in (0, 1), done.stderr


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)
def test_a_repository_runs_nothing_in_the_worker_and_in_search_and_stays_as_it_is(
    house: House, git: Git, tmp_path: Path, attack: Plant
) -> None:
    folder = house.project
    (folder / "other.py").write_text("y = 1\n")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message=Other")
    attack(folder, trap_in(tmp_path), git)
    (folder / "auth.py").write_text("x = 2\n")  # so that it has to be compared
    os.utime(folder / "other.py", (1, 1))  # git would note that its content is the same
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    house.installs()
    before = snapshot(folder)
    one_turn(house, folder, path)
    later = time.time() + 100
    os.utime(folder / "auth.py", (later, later))
    searches(house, folder, path)
    assert not (tmp_path / "sprung").exists()
    assert snapshot(folder) == before
    ended = [e.event for e in house.store.events.latest(None, 0, 9) if e.event.kind is Kind.TURN_ENDED]
    assert len(ended) == 1
    assert ended[0].where.dirty is (None if attack is bare_layout else True)


def test_a_partial_clone_fetches_nothing(house: House, git: Git, tmp_path: Path) -> None:
    for number in range(3):
        (house.project / "auth.py").write_text(f"x = {number}\n")
        git(house.project, "commit", "--quiet", "-am", "Next")
    git(house.project, "config", "uploadpack.allowFilter", "true")
    url = f"file://{house.project}"
    git(tmp_path, "clone", "--quiet", "--filter=blob:none", "--no-checkout", url, "partial")
    clone = tmp_path / "partial"
    git(clone, "reset", "--quiet")
    (clone / "auth.py").write_text("x = 9\n")
    before = snapshot(clone)
    house.installs()
    one_turn(house, clone, os.environ["PATH"])
    searches(house, clone, os.environ["PATH"])
    assert snapshot(clone) == before
    assert (
        shortstat(Repository(resolve_place(str(clone)), 30))
        == "1 file changed, 0 insertions(+), 0 deletions(-)"
    )


READ = """
import sys
from pathlib import Path
from backstory.capture.project_lookup import ProjectLookup
from backstory.recall.freshness import _Tree
from backstory.recall.gitpast import names_before
root = sys.argv[1]
ProjectLookup(None, {}, ()).diffstat(root)
tree = _Tree(Path(root))
print(tree.state("auth.py", 1), tree.state("gone.py", 1), tree.today("gone.py"), names_before(Path(root), "auth.py"))
"""


def reads(folder: Path) -> subprocess.CompletedProcess[bytes]:
    """Ask all that is ever asked of a repository, in a process that may not take long nor much memory."""
    limits = (
        "import resource; resource.setrlimit(resource.RLIMIT_AS, (2 << 30,) * 2)\n"
        if os.name == "posix"
        else ""
    )
    done = subprocess.run(
        [sys.executable, "-c", limits + READ, str(folder)], capture_output=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    return done


PIPES = (
    "index", "HEAD", "packed-refs", "config", "config.worktree", "commondir", "shallow",
    "info/attributes", "objects/info/alternates", "objects/info/commit-graph",
    "refs/heads/main", "../auth.py", "../.gitattributes", "../sub/.gitattributes",
)  # fmt: skip
LOOSE = ("COMMIT", "TREE", "BLOB")
PACKED = ("objects/pack/pack-1.pack", "objects/pack/pack-1.idx", "objects/pack/multi-pack-index")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes in the file system")
@pytest.mark.parametrize("packed", [False, True], ids=["loose", "packed"])
def test_a_pipe_in_the_place_of_any_file_blocks_nothing(house: House, git: Git, packed: bool) -> None:
    commit, tree = (git(house.project, "rev-parse", each) for each in ("HEAD", "HEAD^{tree}"))
    blob = git(house.project, "rev-parse", "HEAD:auth.py")
    names = {"COMMIT": commit, "TREE": tree, "BLOB": blob}
    if packed:
        git(house.project, "gc", "--quiet")
    (house.project / "sub").mkdir()
    for name in (*PIPES, *(PACKED if packed else LOOSE)):
        oid = names.get(name)
        path = house.project / ".git" / (f"objects/{oid[:2]}/{oid[2:]}" if oid else name)
        path.parent.mkdir(parents=True, exist_ok=True)
        kept = path.with_name("kept")
        if path.exists():
            path.rename(kept)
        os.mkfifo(path)
        reads(house.project)
        path.unlink()
        if kept.exists():
            kept.rename(path)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no such device")
def test_a_link_to_a_device_in_the_place_of_any_file_is_not_read(house: House) -> None:
    for name in ("index", "HEAD", "packed-refs", "shallow", "objects/info/alternates", "../auth.py"):
        path = house.project / ".git" / name
        kept = path.with_name("kept")
        if path.exists():
            path.rename(kept)
        path.symlink_to("/dev/zero")
        reads(house.project)
        path.unlink()
        if kept.exists():
            kept.rename(path)


def loose(folder: Path, kind: bytes, content: bytes) -> str:
    """Write a loose object, whatever is in it."""
    oid = object_id(kind, content)
    path = folder / ".git/objects" / oid[:2] / oid[2:]
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(zlib.compress(b"%s %d\0" % (kind, len(content)) + content, 1))
    return oid


def test_a_tree_that_repeats_itself_without_end_is_given_up(house: House, git: Git) -> None:
    """Ten folders of the same folder, ten deep: 10,000,000,000 files in a kilobyte."""
    oid, mode = loose(house.project, b"blob", b"x\n"), b"100644"
    for _ in range(10):
        items = b"".join(b"%s f%d\0%s" % (mode, n, bytes.fromhex(oid)) for n in range(10))
        oid, mode = loose(house.project, b"tree", items), b"40000"
    text = f"tree {oid}\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\nBomb\n"
    git(house.project, "update-ref", "HEAD", loose(house.project, b"commit", text.encode()))
    reads(house.project)


def test_an_index_whose_names_repeat_the_one_before_takes_no_memory(house: House) -> None:
    """In version 4 a name may extend the name before: 6 MB stand for 12 GB."""
    entry = struct.pack(">8xII8xI8xI20sH", 1, 0, 0o100644, 6, b"\1" * 20, 0xFFF)
    rows = b"".join(entry + b"\0" + b"a" * 1500 + b"\0" for _ in range(4096))
    (house.project / ".git/index").write_bytes(b"DIRC" + struct.pack(">II", 4, 4096) + rows + b"\0" * 20)
    reads(house.project)


def test_the_lines_of_files_that_take_long_to_compare_are_not_counted(house: House, git: Git) -> None:
    """Half a million lines of one letter, in another order: to compare two such files takes seconds."""
    dice = random.Random(1)
    lines = [b"%c\n" % dice.randrange(65, 91) for _ in range(500_000)]
    (house.project / "letters").write_bytes(b"".join(lines))
    git(house.project, "add", ".")
    git(house.project, "commit", "--quiet", "--message=Letters")
    dice.shuffle(lines)
    (house.project / "letters").write_bytes(b"".join(lines))
    told = shortstat(Repository(resolve_place(str(house.project)), 30))
    assert told == "1 file changed, 0 insertions(+), 0 deletions(-)"


GIGABYTES = 3 << 30


def deflated(head: bytes) -> bytes:
    """Gigabytes of zeros behind a head, as zlib packs them."""
    engine, zeros = zlib.compressobj(1), bytes(1 << 20)
    start = engine.compress(head) + engine.flush(zlib.Z_FULL_FLUSH)
    block = engine.compress(zeros) + engine.flush(zlib.Z_FULL_FLUSH)  # after a full flush it can be repeated
    return start + block * (GIGABYTES // len(zeros)) + engine.flush()


def pack_of(folder: Path, oid: str, kind: int) -> None:
    """A pack with one object that claims to be `oid`, and its index."""
    size, head = GIGABYTES >> 4, [0x80 | kind << 4 | GIGABYTES & 15]
    while size:
        head.append(size & 0x7F | (0x80 if size >> 7 else 0))
        size >>= 7
    body = b"PACK" + (2).to_bytes(4, "big") + (1).to_bytes(4, "big") + bytes(head) + deflated(b"")
    body += hashlib.sha1(body).digest()
    fan = b"".join(int(n >= int(oid[:2], 16)).to_bytes(4, "big") for n in range(256))
    index = (
        b"\377tOc" + (2).to_bytes(4, "big") + fan + bytes.fromhex(oid) + bytes(4) + (12).to_bytes(4, "big")
    )
    index += body[-20:]
    index += hashlib.sha1(index).digest()
    (folder / ".git/objects/pack/pack-1.pack").write_bytes(body)
    (folder / ".git/objects/pack/pack-1.idx").write_bytes(index)


@pytest.mark.parametrize(("kind", "name"), [(1, "HEAD"), (2, "HEAD^{tree}"), (3, "HEAD:auth.py")])
@pytest.mark.parametrize("packed", [False, True], ids=["loose", "packed"])
def test_an_object_that_unpacks_to_gigabytes_is_not_unpacked(
    house: House, git: Git, kind: int, name: str, packed: bool
) -> None:
    folder, oid = house.project, git(house.project, "rev-parse", name)
    (folder / "auth.py").write_text("x = 2\n")
    path = folder / ".git/objects" / oid[:2] / oid[2:]
    path.unlink()
    if packed:
        pack_of(folder, oid, kind)
    else:
        path.write_bytes(deflated(b"%s %d\0" % ((b"commit", b"tree", b"blob")[kind - 1], GIGABYTES)))
    reads(folder)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a file away")
def test_a_repository_of_another_user_is_not_read(house: House) -> None:
    (house.project / "auth.py").write_text("x = 2\n")
    os.chown(house.project / ".git", 12345, 12345)
    with pytest.raises(Unavailable):
        Repository(resolve_place(str(house.project)), 30)
    reads(house.project)


@pytest.mark.parametrize("name", ["index", "objects/pack"])
def test_damaged_files_of_git_are_done_without(house: House, git: Git, name: str) -> None:
    git(house.project, "gc", "--quiet")
    target = house.project / ".git" / name
    files = sorted(target.iterdir()) if target.is_dir() else [target]
    for file in files:
        whole = file.read_bytes()
        for at in range(0, len(whole), max(1, len(whole) // 12)):
            for damaged in (whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :], whole[:at]):
                file.unlink()
                file.write_bytes(damaged)
                ask_in_process(house.project)
        file.unlink()
        file.write_bytes(whole)


def ask_in_process(folder: Path) -> None:
    from backstory.capture.project_lookup import ProjectLookup
    from backstory.recall.freshness import _Tree

    assert ProjectLookup(None, {}, ()).diffstat(str(folder)) in (None, "", "1 file changed, 1 deletion(-)")  # type: ignore[arg-type]
    assert _Tree(folder).state("auth.py", 1) in ("fresh", "changed since", "")


SOURCE = Path(backstory.__file__).parent
GIT = re.compile(r"(?:.*[/\\\\])?git(?:\.exe)?(?: .*)?", re.DOTALL)


def starts_git(tree: ast.AST) -> bool:
    """Whether a row of words begins with git's name, or git's name with words is given to a function."""
    for node in ast.walk(tree):
        words: list[ast.expr] = []
        if isinstance(node, ast.List | ast.Tuple):
            words = node.elts[:1]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            starts = (
                node.func.attr in ("which", "system", "popen", "run", "Popen") or "exec" in node.func.attr
            )
            words = node.args[:1] if starts else []
        if any(
            isinstance(w, ast.Constant) and isinstance(w.value, str) and GIT.fullmatch(w.value) for w in words
        ):
            return True
    return False


@walks("path", sorted(SOURCE.rglob("*.py")))
def test_no_module_starts_git_and_one_alone_imports_libgit2(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"))
    assert not starts_git(tree)
    names = [a.name for node in ast.walk(tree) if isinstance(node, ast.Import) for a in node.names]
    names += [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert (path.relative_to(SOURCE).as_posix() == "git/object_store.py") == any(
        name.split(".")[0] in ("pygit2", "dulwich", "git") for name in names
    )


def test_looking_for_starts_of_git_can_find_one() -> None:
    assert starts_git(ast.parse('import subprocess\nsubprocess.run(["git", "status"])'))
    assert starts_git(ast.parse('_GIT = ("git", "-C")\nimport subprocess\nsubprocess.Popen([*_GIT, "log"])'))
    assert starts_git(ast.parse('import os\nos.system("git log")'))
    assert not starts_git(
        ast.parse('import subprocess\nsubprocess.run([sys.executable, "-m", "x"])\nx = ".git"')
    )
