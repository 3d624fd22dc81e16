"""Packed objects are what git says they are, however they are packed."""

import hashlib
from pathlib import Path

import pytest

from backstory.git.object_store import ObjectStore, object_id
from backstory.git.read_limit import ReadLimit, Unavailable
from tests.conftest import Git, repository


def versions(folder: Path, git: Git) -> None:
    """A file and folders that change a little in each commit, so that git keeps differences."""
    lines = [f"line {number} {hashlib.sha1(b'%d' % number).hexdigest()}\n" for number in range(3000)]
    for number in range(40):
        lines[number * 70] = f"changed in {number}\n"
        lines.insert(number * 50, f"new in {number}\n")
        (folder / "large.txt").write_text("".join(lines))
        for name in range(5):
            (folder / f"folder-{number}-{name}").write_text(f"{number} {name}\n")
        git(folder, "add", ".")
        git(folder, "commit", "--quiet", f"--message=Number {number}")


def objects(folder: Path, git: Git) -> list[tuple[str, bytes]]:
    listed = git(folder, "cat-file", "--batch-check", "--batch-all-objects").splitlines()
    return [(oid, kind.encode()) for oid, kind, _ in map(str.split, listed)]


def check_all(folder: Path, git: Git) -> None:
    assert not list((folder / ".git/objects").glob("??")), "all of them are packed"
    store = ObjectStore(folder / ".git/objects", ReadLimit(60))
    found = objects(folder, git)
    assert len(found) > 100
    for oid, kind in found:
        assert object_id(kind, store.read(oid, kind)) == oid


@pytest.mark.parametrize("by_offset", ["true", "false"])
def test_objects_that_are_differences_to_others_are_read(tmp_path: Path, git: Git, by_offset: str) -> None:
    folder = repository(tmp_path / "shop", git)
    versions(folder, git)
    git(
        folder, "-c", f"repack.useDeltaBaseOffset={by_offset}", "repack", "-adfq", "--depth=50", "--window=50"
    )
    (index,) = (folder / ".git/objects/pack").glob("*.idx")
    assert "chain length = " in git(folder, "verify-pack", "-v", str(index))
    check_all(folder, git)


def test_an_index_with_places_of_64_bits_is_read(tmp_path: Path, git: Git) -> None:
    folder = repository(tmp_path / "shop", git)
    versions(folder, git)
    git(folder, "repack", "-adfq")
    (pack,) = (folder / ".git/objects/pack").glob("*.pack")
    pack.with_suffix(".idx").unlink()
    git(folder, "index-pack", "--index-version=2,0x40", str(pack))
    check_all(folder, git)


def test_objects_are_found_among_several_packs(tmp_path: Path, git: Git) -> None:
    folder = repository(tmp_path / "shop", git)
    for number in range(50):
        (folder / "auth.py").write_text(f"y = {number}\n")
        git(folder, "commit", "--quiet", "-am", "Next")
        git(folder, "repack", "-dq")
    assert len(list((folder / ".git/objects/pack").glob("*.pack"))) > 40
    check_all(folder, git)


def test_what_is_not_there_or_of_another_kind_is_unavailable(tmp_path: Path, git: Git) -> None:
    folder = repository(tmp_path / "shop", git)
    git(folder, "gc", "--quiet")
    store = ObjectStore(folder / ".git/objects", ReadLimit(60))
    for oid, kind in (("0" * 40, b"blob"), ("f" * 40, b"tree"), (git(folder, "rev-parse", "HEAD"), b"blob")):
        with pytest.raises(Unavailable):
            store.read(oid, kind)
