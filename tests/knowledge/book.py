"""A project's knowledge to look at: sessions happen, the worker writes down, somebody reads."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from click.testing import CliRunner, Result

from backstory import settings
from backstory.app import App
from backstory.atomic import lock
from backstory.cli import cli
from backstory.knowledge import daily_log
from backstory.knowledge.compiler import Compiled, Limits, compile_vault
from backstory.knowledge.markdown_page import links_in
from backstory.knowledge.vault import Vault, vault_of
from backstory.knowledge_base import KnowledgeBase
from backstory.model import Project
from backstory.pipeline import Pipeline
from tests.story import House, Story

STAMP = "2026-11-16 18:00"


@dataclass
class Book:
    """A house, and what is written down of its project."""

    house: House

    @property
    def project(self) -> Project:
        with App(self.house.home) as app:
            return app.project_at(self.house.project)

    @property
    def vault(self) -> Vault:
        return vault_of(self.house.home, self.project)

    def writes_down(self) -> None:
        """A whole shift of the worker: a round, then what it does when nothing is left to do."""
        with lock(self.house.home.worker_lock, wait=10) as held:
            assert held
            work = Pipeline(self.house.home, settings.load_settings(self.house.home)[0], self.house.store)
            work.round()
            work.write_down()

    def library(self, app: App) -> KnowledgeBase:
        return KnowledgeBase(app)

    def says(self, day: str, *lines: str, at: str = "09:00", source: str = "anna") -> None:
        """Lines in the log of a day."""
        with self.vault.held():
            daily_log.append_lines(self.vault, day, at, source, lines)

    def compiles(self, **wish: object) -> Compiled:
        """A compilation, of the logs alone."""
        limits = wish.pop("limits", Limits())
        return compile_vault(self.vault, self.house.store, self.project.id, STAMP, limits, **wish)  # type: ignore[arg-type]

    def page(self, link: str) -> str:
        return self.vault.read(link)

    def pages(self) -> dict[str, str]:
        """Every page that a reader of the vault sees."""
        return {
            path.relative_to(self.vault.root).as_posix()[:-3]: path.read_text()
            for path in sorted(self.vault.root.rglob("*.md"))
            if not path.relative_to(self.vault.root).parts[0].startswith(".")
        }

    def broken(self) -> list[tuple[str, str]]:
        """Links that lead nowhere."""
        pages = self.pages()
        return [
            (page, target) for page, text in pages.items() for target in links_in(text) if target not in pages
        ]

    def snapshot(self) -> dict[str, bytes]:
        """Every file of the vault that matters, ours too."""
        return dict(self._files())

    def _files(self) -> Iterator[tuple[str, bytes]]:
        for path in sorted(self.vault.root.rglob("*")):
            name = path.relative_to(self.vault.root).as_posix()
            if path.is_file() and name != ".backstory/lock":
                yield name, path.read_bytes()


def logged_in(story: Story, told: str = "") -> Story:
    """A session with a decision, a failure that is fixed, a wish and a step that is left."""
    story.starts().prompts(
        told or "The login test fails. Let's use RS256 for the tokens because Safari rejects HS256."
    )
    story.runs("pytest tests/test_login.py", fails="E  jwt.InvalidAlgorithmError: HS256")
    story.edits("src/auth/tokens.py").runs("pytest tests/test_login.py", "1 passed")
    story.stops("The tokens are signed with RS256 now.")
    story.prompts("Always run ruff before you commit.").runs("ruff check .", "All checks passed!")
    return story.stops("Understood, ruff runs before every commit. TODO: publish the public key.")


def headings(text: str) -> list[str]:
    """The bold sections of a log, in their order."""
    return re.findall(r"^\*\*([A-Z][\w ]+):\*\*", text, re.MULTILINE)


def file_modes(root: Path) -> set[int]:
    return {path.stat().st_mode & 0o777 for path in root.rglob("*") if path.is_file()}


def run(house: House, *words: str, stdin: str = "") -> Result:
    """A command, in this process."""
    environment = {
        "HOME": str(house.home.root.parent),
        "BACKSTORY_HOME": str(house.home.root),
        "BACKSTORY_TZ": "UTC",
    }
    was = Path.cwd()
    os.chdir(house.project)
    try:
        done = CliRunner().invoke(cli, list(words), input=stdin, env=environment)
    finally:
        os.chdir(was)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    assert "Traceback" not in done.stderr, done.stderr
    return done
