"""The clients under test: which, which version, and how they come into the cache.

Each is one npm package at one version. Some have a native program in it; the others are scripts, run by a Node
that is pinned and comes from npm too, because the machine's own may be too old for them. The cache
(`.cache/clients/<name>-<version>/` in the repository) is filled when a test asks for a client, once, under a
lock, by renaming a finished folder into place; two test workers at once, or a download that was killed, leave
nothing half done. `python -m tests.agents.clients` fetches all of them at once and says how far it is; what
cannot be had is named, and in CI that is a failure.
"""

from __future__ import annotations

import fcntl
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

CACHE = Path(__file__).parents[2] / ".cache" / "clients"


@dataclass(frozen=True)
class Client:
    """A pinned client; in its texts {platform}, {triple} and {version} are filled in.

    `program` is the path inside the package. `scripted`: it is a script, and our Node runs it. `published` is
    the package that npm is asked for, if it has another name there.
    """

    name: str
    version: str
    package: str
    program: str
    scripted: bool = False
    published: str = "{package}@{version}"


NODE = Client("node", "24.21.0", "node-{platform}", "bin/node")

CLIENTS = {
    client.name: client
    for client in [
        Client("claude-code", "2.1.325", "@anthropic-ai/claude-code-{platform}", "claude"),
        Client(
            "codex",
            "0.166.0",
            "@openai/codex-{platform}",
            "vendor/{triple}/bin/codex",
            published="{package}@npm:@openai/codex@{version}-{platform}",
        ),
        Client("opencode", "1.18.33", "opencode-{platform}", "bin/opencode"),
        Client("gemini-cli", "0.61.0", "@google/gemini-cli", "bundle/gemini.js", scripted=True),
        Client("copilot", "1.0.102", "@github/copilot-{platform}", "copilot"),
        Client("pi", "0.87.1", "@earendil-works/pi-coding-agent", "dist/bundle/cli.js", scripted=True),
        Client("qwen-code", "0.24.4", "@qwen-code/qwen-code", "cli-entry.js", scripted=True),
    ]
}

_MACHINES = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}
_TRIPLES = {
    "linux-x64": "x86_64-unknown-linux-musl",
    "linux-arm64": "aarch64-unknown-linux-musl",
    "darwin-x64": "x86_64-apple-darwin",
    "darwin-arm64": "aarch64-apple-darwin",
}
_LAUNCHER = """#!/bin/sh
export NODE_COMPILE_CACHE="{compiled}"
exec "{node}" "{script}" "$@"
"""


class Unavailable(Exception):
    """This machine cannot have the client; the text says why and what would help."""


def client(name: str) -> Path:
    """The path of the client's program, after installing it if it is not there yet."""
    wanted = CLIENTS[name]
    node = _fetched(NODE) if wanted.scripted else None
    return _fetched(wanted, node)


def _fetched(wanted: Client, node: Path | None = None) -> Path:
    folder = CACHE / f"{wanted.name}-{wanted.version}"
    here = {"platform": _platform(), "triple": _TRIPLES.get(_platform(), ""), "version": wanted.version}
    package = wanted.package.format(**here)
    program = folder / "node_modules" / package / wanted.program.format(**here)
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / f"{wanted.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not program.exists():
            _install(wanted.published.format(package=package, **here), folder, node)
        if node:
            program = _launcher(folder / wanted.name, node, program)
    try:
        said = version(program)
    except (OSError, subprocess.SubprocessError) as broken:
        raise Unavailable(f"{program} does not run ({broken}); delete {folder} to fetch it again") from broken
    if wanted.version not in said:
        raise Unavailable(
            f"{program} says it is {said!r}, not {wanted.version}; delete {folder} to fetch it again"
        )
    return program


def _launcher(file: Path, node: Path, script: Path) -> Path:
    """A program of one path, like those of the other clients."""
    wanted = _LAUNCHER.format(node=node, script=script, compiled=file.with_name("compiled"))
    if not file.exists() or file.read_text() != wanted:
        file.write_text(wanted)
        file.chmod(0o755)
    return file


def _platform() -> str:
    system, machine = platform.system().lower(), _MACHINES.get(platform.machine().lower())
    if system not in ("linux", "darwin") or machine is None:
        raise Unavailable(f"no client is published for {platform.system()} on {platform.machine()}")
    musl = "-musl" if system == "linux" and platform.libc_ver()[0] != "glibc" else ""
    return f"{system}-{machine}{musl}"


def _install(package: str, folder: Path, node: Path | None) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise Unavailable(f"npm is missing, so {package} cannot be downloaded; install Node with npm")
    print(f"downloading {package} …", file=sys.stderr, flush=True)
    for abandoned in folder.parent.glob(f".new-{folder.name}-*"):  # by a download that was killed
        shutil.rmtree(abandoned, ignore_errors=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".new-{folder.name}-") as fresh:
        quiet = ["--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
        search = os.environ.get("PATH", os.defpath)
        if node:  # npm passes over releases that are too new for the Node that runs it
            search = f"{node.parent}{os.pathsep}{search}"
        got = subprocess.run(
            [npm, "install", "--prefix", fresh, *quiet, package],
            cwd=fresh, env={**os.environ, "PATH": search}, capture_output=True, text=True, timeout=600,
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


def fetch() -> int:
    """All clients at once, each named when it is there; how many are missing."""
    missing = 0
    with ThreadPoolExecutor(len(CLIENTS)) as pool:
        coming = {pool.submit(client, name): name for name in CLIENTS}
        for number, done in enumerate(as_completed(coming), 1):
            name = coming[done]
            try:
                done.result()
                words = f"{name} {CLIENTS[name].version}"
            except Unavailable as reason:
                words = f"!!! no {name}: {reason}"
                missing += 1
            print(f"client {number} of {len(CLIENTS)}: {words}", flush=True)
    return missing


if __name__ == "__main__":
    sys.exit(1 if fetch() and os.environ.get("CI") == "true" else 0)
