"""The documentation as a site: `make site` builds it into .cache/site/html, every link checked.

The pages are those of docs/ and the ones beside README.md; a link that leads to a file which is no page
becomes its name. MkDocs with the Material theme comes into an environment of its own, apart from the wheel.
"""

import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / ".cache" / "site"
GENERATOR = "mkdocs-material==9.8.1"
BESIDE = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
LINK = re.compile(r"(!?)\[([^\[\]\n]{1,200})\]\(([^()\s#]{1,200})(#[^()\s]{1,100})?\)")


def pages(target: Path) -> None:
    """Copy the pages, with links that hold among them."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(ROOT / "docs", target)
    for name in BESIDE:
        shutil.copy(ROOT / name, target)
    for page in target.rglob("*.md"):
        beside = page.name in BESIDE and page.parent == target
        source = ROOT / page.name if beside else ROOT / "docs" / page.relative_to(target)
        page.write_text(with_links(page.read_text("utf-8"), source, page, target), "utf-8")


def with_links(text: str, source: Path, page: Path, target: Path) -> str:
    """The text of a page with its relative links as they are among the copies."""

    def link(found: re.Match[str]) -> str:
        mark, words, to, anchor = found[1], found[2], found[3], found[4] or ""
        if "://" in to or to.startswith("mailto:"):
            return found[0]
        real = (source.parent / to).resolve()
        copy = target / real.name if real.parent == ROOT else _copied(real, target)
        if real.is_dir():
            copy = copy / "README.md"
        if not copy.exists():
            return words
        up = "../" * len(page.relative_to(target).parents[:-1])
        return f"{mark}[{words}]({up}{copy.relative_to(target).as_posix()}{anchor})"

    return LINK.sub(link, text)


def _copied(real: Path, target: Path) -> Path:
    docs = ROOT / "docs"
    return target / real.relative_to(docs) if real.is_relative_to(docs) else target / "no such page"


def generator() -> Path:
    """The program that builds the site, installed if it is not there."""
    place = FOLDER / "environment"
    program = place / ("Scripts" if sys.platform == "win32" else "bin") / "mkdocs"
    ready = place / GENERATOR
    if not ready.exists():
        venv.create(place, with_pip=True, clear=True)
        subprocess.run([program.with_name("pip"), "install", "--quiet", GENERATOR], check=True)
        ready.touch()
    return program


def main() -> int:
    """Copy, build, say where."""
    pages(FOLDER / "pages")
    html = FOLDER / "html"
    command = [
        str(generator()),
        "build",
        "--strict",
        "--clean",
        "--config-file",
        str(ROOT / "mkdocs.yml"),
        "--site-dir",
        str(html),
    ]
    done = subprocess.run(command, cwd=ROOT)
    if done.returncode == 0:
        print(f"{html / 'index.html'}")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
