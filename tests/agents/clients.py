"""The clients under test: which, which version, and how they come into the cache.

Each is one npm package with a native program in it, so npm is needed once, to download, and Node never. The
cache (`.cache/clients/<name>-<version>/` in the repository) is filled once under a lock, by renaming a
finished folder into place; two test workers at once, or a download that was killed, leave nothing half done.
"""

from __future__ import annotations

import fcntl
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

CACHE = Path(__file__).parents[2] / ".cache" / "clients"


@dataclass(frozen=True)
class Client:
    """A pinned client: `package` has {platform} in it, `program` is the path inside the package."""

    name: str
    version: str
    package: str
    program: str


CLIENTS = {
    client.name: client
    for client in [
        Client("claude-code", "2.1.325", "@anthropic-ai/claude-code-{platform}", "claude"),
    ]
}

_MACHINES = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}


class Unavailable(Exception):
    """This machine cannot have the client; the text says why and what would help."""


def client(name: str) -> Path:
    """The path of the client's program, after installing it if it is not there yet."""
    wanted = CLIENTS[name]
    folder = CACHE / f"{name}-{wanted.version}"
    package = wanted.package.format(platform=_platform())
    program = folder / "node_modules" / package / wanted.program
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not program.exists():
            _install(f"{package}@{wanted.version}", folder)
    if wanted.version not in (said := version(program)):
        raise Unavailable(
            f"{program} says it is {said!r}, not {wanted.version}; delete {folder} to fetch it again"
        )
    return program


def _platform() -> str:
    system, machine = platform.system().lower(), _MACHINES.get(platform.machine().lower())
    if system not in ("linux", "darwin") or machine is None:
        raise Unavailable(f"no client is published for {platform.system()} on {platform.machine()}")
    musl = "-musl" if system == "linux" and platform.libc_ver()[0] != "glibc" else ""
    return f"{system}-{machine}{musl}"


def _install(package: str, folder: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise Unavailable(f"npm is missing, so {package} cannot be downloaded; install Node with npm")
    print(f"downloading {package} …", file=sys.stderr, flush=True)
    for abandoned in folder.parent.glob(f".new-{folder.name}-*"):  # by a download that was killed
        shutil.rmtree(abandoned, ignore_errors=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".new-{folder.name}-") as fresh:
        quiet = ["--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
        got = subprocess.run(
            [npm, "install", "--prefix", fresh, *quiet, package],
            cwd=fresh, capture_output=True, text=True, timeout=600,
        )  # fmt: skip
        if got.returncode != 0:
            raise Unavailable(f"npm could not install {package}:\n{got.stderr.strip()}")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        Path(fresh, "node_modules").rename(folder / "node_modules")


def version(program: Path) -> str:
    """What the program itself says, run with nothing of the user's around it."""
    with tempfile.TemporaryDirectory() as home:
        said = subprocess.run(
            [program, "--version"], env={"HOME": home, "PATH": os.defpath},
            capture_output=True, text=True, timeout=60, check=True,
        )  # fmt: skip
    return said.stdout.strip()


if __name__ == "__main__":
    for name in CLIENTS:
        program = client(name)
        print(f"{name}: {version(program)} at {program}")
