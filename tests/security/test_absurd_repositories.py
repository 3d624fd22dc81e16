"""Files of git that are well formed and absurd: the turn is stored, a search answers, neither takes much memory."""

import hashlib
import itertools
import os
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from backstory.capture import quarantine
from backstory.git.object_store import object_id
from backstory.model import Kind
from tests.story import House

MOST_MEGABYTES = 450  # a search by meaning takes 250 by itself
COMMAND = """
import re, resource, runpy, sys
from pathlib import Path
try:
    runpy.run_module("backstory", run_name="__main__")
finally:
    own = re.search("VmHWM: *\\t* *([0-9]+)", Path("/proc/self/status").read_text())
    peak = max(int(own[1]), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
    print("peak", peak >> 10, file=sys.stderr)
"""


class Forge:
    """Writes git's files by hand, whatever is in them."""

    def __init__(self, folder: Path) -> None:
        self.git = folder / ".git"

    def loose(self, kind: bytes, content: bytes) -> str:
        oid = object_id(kind, content)
        path = self.git / "objects" / oid[:2] / oid[2:]
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(zlib.compress(b"%s %d\0" % (kind, len(content)) + content, 1))
        return oid

    def tree(self, *items: tuple[bytes, bytes, str]) -> str:
        rows = (mode + b" " + name + b"\0" + bytes.fromhex(oid) for mode, name, oid in items)
        return self.loose(b"tree", b"".join(rows))

    def commit(self, tree: str, when: bytes = b"1700000000", parents: str = "") -> str:
        text = f"tree {tree}\n{parents}".encode()
        text += b"author A <a@b> %s +0000\ncommitter A <a@b> %s +0000\n\nText\n" % (when, when)
        return self.loose(b"commit", text)

    def head(self, commit: str) -> None:
        (self.git / "HEAD").write_text(commit + "\n")

    def index(self, extensions: bytes, version: int = 2, count: int = 0, entries: bytes = b"") -> None:
        head = b"DIRC" + struct.pack(">II", version, count)
        (self.git / "index").write_bytes(head + entries + extensions + bytes(20))

    def pack(self, entries: list[bytes], oid: str) -> None:
        """A pack of these entries, whose last one claims to be `oid`, and its index."""
        body = b"PACK" + struct.pack(">II", 2, len(entries)) + b"".join(entries)
        body += hashlib.sha1(body).digest()
        ids = [number.to_bytes(20, "big") for number in range(1, len(entries))] + [bytes.fromhex(oid)]
        places = itertools.accumulate(map(len, entries[:-1]), initial=12)
        fan = (sum(each[0] <= first for each in ids) for first in range(256))
        index = b"\377tOc" + struct.pack(">I256I", 2, *fan) + b"".join(ids) + bytes(4 * len(ids))
        index += struct.pack(f">{len(ids)}I", *places) + body[-20:]
        (self.git / "objects/pack").mkdir(exist_ok=True)
        (self.git / "objects/pack/pack-1.pack").write_bytes(body)
        (self.git / "objects/pack/pack-1.idx").write_bytes(index + hashlib.sha1(index).digest())

    def blob(self) -> str:
        return self.loose(b"blob", b"x = 1\n")


def mode_of_60_digits(forge: Forge) -> None:
    forge.head(forge.commit(forge.tree((b"7" * 60, b"auth.py", forge.blob()))))


def mode_below_zero(forge: Forge) -> None:
    forge.head(forge.commit(forge.tree((b"-40000", b"auth.py", forge.blob()))))


def mode_of_a_folder_for_a_file(forge: Forge) -> None:
    forge.head(forge.commit(forge.tree((b"40000", b"auth.py", forge.blob()))))


def time_of_5000_digits(forge: Forge) -> None:
    forge.head(forge.commit(forge.tree((b"100644", b"auth.py", forge.blob())), b"9" * 5000))


def time_after_the_end_of_64_bits(forge: Forge) -> None:
    forge.head(forge.commit(forge.tree((b"100644", b"auth.py", forge.blob())), b"9" * 19))


def tree_named_by_a_megabyte(forge: Forge) -> None:
    forge.head(forge.commit("a" * 1_000_000))


def folders_1000_deep(forge: Forge) -> None:
    oid, mode = forge.blob(), b"100644"
    for _ in range(1000):
        oid, mode = forge.tree((mode, b"a", oid)), b"40000"
    forge.head(forge.commit(oid))


def folders_of_long_names(forge: Forge) -> None:
    """A folder of 3,000 letters with 60,000 folders in it, each named by its whole path."""
    empty = forge.tree()
    wide = forge.tree(*((b"40000", b"%d" % number, empty) for number in range(60_000)))
    forge.head(forge.commit(forge.tree((b"40000", b"a" * 3000, wide))))


def wide_folders(forge: Forge) -> None:
    """Twelve folders of 100,000 files: more names than may be kept."""
    blob = forge.blob()
    trees = []
    for number in range(12):
        rows = ((b"100644", b"%d.%d" % (n, number), blob) for n in range(100_000))
        trees.append((b"40000", b"%d" % number, forge.tree(*rows)))
    forge.head(forge.commit(forge.tree(*trees)))


def moved_files_of_one_content(forge: Forge) -> None:
    """100,000 files of the same content with other names: each could be any of the others."""
    blob = forge.blob()
    old, new = (
        forge.tree(*((b"100644", b"%s%d" % (name, number), blob) for number in range(100_000)))
        for name in (b"a", b"b")
    )
    first = forge.commit(old)
    forge.head(forge.commit(new, b"1700000001", f"parent {first}\n"))


def index_nested_90000_deep(forge: Forge) -> None:
    tree = b"".join((b"a" if number else b"") + b"\0-1 1\n" for number in range(90_000))
    forge.index(b"TREE" + struct.pack(">I", len(tree)) + tree)


def index_of_many_long_folders(forge: Forge) -> None:
    """Folders inside a folder with a long name, each known by its whole path."""
    rows = b"".join(b"%d\0-1 0\n" % number for number in range(90_000))
    tree = b"\0-1 1\n" + b"a" * 4000 + b"\0-1 90000\n" + rows
    forge.index(b"TREE" + struct.pack(">I", len(tree)) + tree)


def index_of_long_numbers(forge: Forge) -> None:
    tree = b"\0" + b"9" * 4000 + b" " + b"9" * 4000 + b"\n"
    forge.index(b"TREE" + struct.pack(">I", len(tree)) + tree)


def index_of_empty_extensions(forge: Forge) -> None:
    forge.index((b"LINK" + bytes(4)) * 4_000_000)


def index_with_an_offset_without_end(forge: Forge) -> None:
    entry = struct.pack(">8xII8xI8xI20sH", 1, 0, 0o100644, 6, b"\1" * 20, 0xFFF)
    forge.index(b"", 4, 1, entry + b"\xff" * (16 << 20) + b"\0")


def index_of_a_million_files(forge: Forge) -> None:
    rows = (
        struct.pack(">8xII8xI8xI20sH", 1, 0, 0o100644, 6, b"\1" * 20, 0) + b"%08d" % number + b"\0\0"
        for number in range(800_000)
    )
    forge.index(b"", 2, 800_000, b"".join(rows))


def index_of_as_many_files_as_are_read(forge: Forge) -> None:
    rows = (
        struct.pack(">8xII8xI8xI20sH", 1, 0, 0o100644, 6, b"\1" * 20, 0) + b"%08d" % number + b"\0\0"
        for number in range(400_000)
    )
    forge.index(b"", 2, 400_000, b"".join(rows))


def refs_that_lead_to_each_other(forge: Forge) -> None:
    (forge.git / "HEAD").write_text("ref: refs/heads/" + "a/" * 100_000 + "\n")


def entry(kind: int, content: bytes, base: bytes = b"") -> bytes:
    """An object in a pack; a difference names its base."""
    size, head = len(content) >> 4, [kind << 4 | len(content) & 15]
    while size:
        head[-1] |= 0x80
        head.append(size & 0x7F)
        size >>= 7
    return bytes(head) + base + zlib.compress(content, 1)


def number(value: int) -> bytes:
    """A length in a difference."""
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


def back(distance: int) -> bytes:
    """How far before an object its base stands."""
    found = [distance & 0x7F]
    while distance := distance >> 7:
        distance -= 1
        found.insert(0, distance & 0x7F | 0x80)
    return bytes(found)


def chain_of(forge: Forge, length: int, delta: bytes, base: bytes) -> None:
    """HEAD is a difference to a difference to a difference …"""
    entries = [entry(1, base)]
    for _ in range(length):
        entries.append(entry(6, delta, back(len(entries[-1]))))
    forge.head("ab" * 20)
    forge.pack(entries, "ab" * 20)


def pack_of_a_long_chain(forge: Forge) -> None:
    chain_of(forge, 20_000, number(100) * 2 + b"\x90\x64", b"x" * 100)


def pack_of_large_differences(forge: Forge) -> None:
    """All is copied byte by byte, dozens of times over."""
    size = 400_000
    chain_of(forge, 38, number(size) * 2 + b"\x90\x01" * size, b"x" * size)


def pack_of_small_differences_between_large_objects(forge: Forge) -> None:
    """From 64 KB to 256 MB and back to 100 bytes: each step is small, and what it makes is not."""
    entries, size = [entry(1, b"x" * 0x10000)], 0x10000
    for new in [0x10000 << 3 * step for step in range(1, 5)] + [0x10000 << 12] * 10 + [100]:
        copies = b"\xb0\0\0" * (new >> 16) if new > 100 else b"\x90\x64"  # each of 64 KB
        entries.append(entry(6, number(size) + number(new) + copies, back(len(entries[-1]))))
        size = new
    forge.head("ab" * 20)
    forge.pack(entries, "ab" * 20)


def pack_whose_object_is_a_difference_to_itself(forge: Forge) -> None:
    forge.head("ab" * 20)
    delta = number(100) * 2 + b"\x90\x64"
    forge.pack([entry(1, b"x"), entry(7, delta, b"\xab" * 20)], "ab" * 20)


def pack_that_claims_a_billion_objects(forge: Forge) -> None:
    chain_of(forge, 1, number(100) * 2 + b"\x90\x64", b"x" * 100)
    path = forge.git / "objects/pack/pack-1.idx"
    path.write_bytes(path.read_bytes()[:8] + b"\x3f\xff\xff\xff" * 256 + path.read_bytes()[1032:])


ABSURD = [
    mode_of_60_digits, mode_below_zero, mode_of_a_folder_for_a_file, time_of_5000_digits,
    time_after_the_end_of_64_bits, tree_named_by_a_megabyte, folders_1000_deep, folders_of_long_names,
    wide_folders, moved_files_of_one_content, index_nested_90000_deep, index_of_many_long_folders,
    index_of_long_numbers, index_of_empty_extensions, index_with_an_offset_without_end,
    index_of_a_million_files, index_of_as_many_files_as_are_read, refs_that_lead_to_each_other, pack_of_a_long_chain, pack_of_large_differences,
    pack_of_small_differences_between_large_objects, pack_whose_object_is_a_difference_to_itself, pack_that_claims_a_billion_objects,
]  # fmt: skip


def searches(house: House, *words: str) -> subprocess.CompletedProcess[str]:
    """A search in the project's folder, as a person starts it; it empties the spool first."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(house.project.parent)}
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, "search", *words],
        env={**environment, "BACKSTORY_HOME": str(house.home.root)},
        cwd=house.project, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert "Traceback" not in done.stderr
    peak = int(done.stderr.rpartition("peak ")[2])
    assert peak < MOST_MEGABYTES, f"{peak} MB"
    return done


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells how much memory a process itself took")
@pytest.mark.parametrize("absurd", ABSURD, ids=lambda absurd: absurd.__name__)
def test_what_git_says_of_a_folder_costs_no_event_and_no_search(
    house: House, absurd: Callable[[Forge], None]
) -> None:
    absurd(Forge(house.project))
    story = house.session()
    story.starts().prompts("We decided to keep the tokens in auth.py because of the audit.")
    (house.project / "auth.py").write_text("x = 2\n")
    story.edits("auth.py").stops("The tokens of auth.py are kept.").ends()
    assert searches(house, "tokens").returncode == 0
    assert searches(house, "zeppelin", "--file", "auth.py").returncode in (0, 1)
    assert quarantine.quarantined_files(house.home) == []
    kinds = [event.kind for event in house.events(story)]
    assert kinds.count(Kind.TURN_ENDED) == kinds.count(Kind.SESSION_ENDED) == 1
