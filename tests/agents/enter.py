"""Run one command where the test wants it: `enter.py WORD… -- COMMAND…`

    net=PID          in the network namespace that process PID holds
    readonly=DIR     with DIR mounted read-only, for this command only
    missing=FILE     with FILE gone, as far as running it goes
    full=DIR         with DIR on a small tmpfs that holds what DIR held and not one byte more

Mounts live in a private namespace and end with the command; outside nobody sees them. Standard library only
and no imports of ours, because it runs under `-I -S`.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import sys
import tempfile

CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWNET = 0x00020000, 0x10000000, 0x40000000
MS_RDONLY, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 0x1, 0x20, 0x1000, 0x4000, 0x40000

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int, doing: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        sys.exit(f"enter: {doing}: {os.strerror(number)}")


def _join(pid: str) -> None:
    kinds = [("net", CLONE_NEWNET)] if os.getuid() == 0 else [("user", CLONE_NEWUSER), ("net", CLONE_NEWNET)]
    for name, kind in kinds:
        namespace = os.open(f"/proc/{pid}/ns/{name}", os.O_RDONLY)
        _check(_libc.setns(namespace, kind), f"join the {name} namespace of {pid}")
        os.close(namespace)


def _mount(source: str, target: str, kind: str, flags: int, data: str = "") -> None:
    words = [word.encode() or None for word in (source, target, kind)]
    _check(_libc.mount(*words, flags, data.encode() or None), f"mount {target}")


def _private_mounts() -> None:
    _check(_libc.unshare(CLONE_NEWNS), "private mounts")
    _mount("none", "/", "", MS_REC | MS_PRIVATE)


def _make_readonly(folder: str) -> None:
    _mount(folder, folder, "", MS_BIND | MS_REC)
    _mount("none", folder, "", MS_REMOUNT | MS_BIND | MS_RDONLY)


def _hide(file: str) -> None:
    _mount("/dev/null", os.path.realpath(file), "", MS_BIND)


def _fill(folder: str) -> None:
    """A disk that has just become full: what was there still is, nothing more fits."""
    with tempfile.TemporaryDirectory() as aside:
        kept = os.path.join(aside, "kept")
        shutil.copytree(folder, kept, symlinks=True)
        _mount("tmpfs", folder, "tmpfs", 0, "size=16m,mode=0700")
        shutil.copytree(kept, folder, symlinks=True, dirs_exist_ok=True)
    filler = os.open(os.path.join(folder, "filler"), os.O_WRONLY | os.O_CREAT)
    try:
        while os.write(filler, b"x" * 65536):
            pass
    except OSError:
        os.close(filler)


def main(words: list[str]) -> None:
    split = words.index("--")
    wishes = [word.partition("=")[::2] for word in words[:split]]
    for name, value in wishes:
        if name == "net":
            _join(value)
    faults = [(name, value) for name, value in wishes if name != "net"]
    if faults:
        _private_mounts()
    for name, folder in faults:
        {"readonly": _make_readonly, "missing": _hide, "full": _fill}[name](folder)
    os.execvp(words[split + 1], words[split + 1 :])


if __name__ == "__main__":
    main(sys.argv[1:])
