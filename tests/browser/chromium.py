"""The browser that is here, or Debian's, or none: then tests are skipped loudly, and fail in CI."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# As root, without a network, and with fonts that look the same everywhere.
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--font-render-hinting=none",
)
CACHE = Path(__file__).parents[2] / ".cache"
AXE = "axe-core@4.10.3"


class Unavailable(Exception):
    """This machine cannot have it; the text says why and what would help."""


@cache
def program() -> str:
    """Chromium's path; as root on Debian it is installed if it is missing."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None and hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get"):
        env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        wanted = ("chromium", "fonts-dejavu-core", "fonts-liberation")
        for words in (("update", "-qq"), ("install", "-y", "-qq", "--no-install-recommends", *wanted)):
            subprocess.run(["apt-get", *words], env=env, capture_output=True, timeout=900)
        found = shutil.which("chromium")
    if found is None:
        raise Unavailable(f"there is no browser: install one of {', '.join(NAMES)}")
    return found


@cache
def axe() -> str:
    """The source of axe-core, from npm, once."""
    folder = CACHE / AXE.replace("@", "-")
    script = folder / "node_modules" / "axe-core" / "axe.min.js"
    if not script.exists():
        npm = shutil.which("npm")
        if npm is None:
            raise Unavailable("npm is missing, so axe-core cannot be had: install Node with npm")
        folder.mkdir(parents=True, exist_ok=True)
        quiet = ["--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
        done = subprocess.run(
            [npm, "install", "--prefix", str(folder), *quiet, AXE],
            capture_output=True,
            text=True,
            timeout=300,
        )
        if done.returncode != 0:
            raise Unavailable(f"npm could not install {AXE}: {done.stderr.strip()}")
    return script.read_text("utf-8")


@contextmanager
def started() -> Iterator[Browser]:
    """A browser that runs for the block."""
    path = program()
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=path, args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()
