"""The vault in the repository: only where the user says, and only files of its own."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from backstory.knowledge.lint_checks import lint_vault
from backstory.knowledge.vault import Vault
from backstory.knowledge.vault_export import LIST
from tests.story import House

from .book import Book, logged_in, run


@pytest.fixture
def known(house: House, book: Book) -> Book:
    logged_in(house.told()).ends()
    book.writes_down()
    run(house, "remember", "--type", "user", "Ada prefers short answers")
    run(house, "remember", "--type", "project", "Releases are cut from main every Tuesday")
    return book


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".git" not in path.parts and "docs/knowledge" not in path.as_posix()
    }


def test_nothing_is_exported_unless_the_user_says_so(house: House, known: Book) -> None:
    before = files(house.project)
    run(house, "compile")
    assert files(house.project) == before
    assert not (house.project / "docs" / "knowledge").exists()


def test_the_copy_is_a_whole_vault_without_what_is_personal(house: House, known: Book) -> None:
    before = files(house.project)
    done = run(house, "compile", "--export", "docs/knowledge", "--json")
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["exported"]["left"] == []
    copy = Vault(house.project / "docs" / "knowledge", "shop")
    assert set(copy.articles()) == set(known.vault.articles())
    assert copy.days() == known.vault.days()
    assert [link for link in copy.links("facts") if "user-" in link] == []
    assert "Ada prefers" not in "".join(path.read_text() for path in copy.root.rglob("*.md"))
    assert [issue for issue in lint_vault(copy) if issue.check == "broken-link"] == []
    assert files(house.project) == before, "no other file of the repository was touched"
    assert (copy.root / "index.md").stat().st_mode & 0o044, "others who clone it may read it"
    assert run(house, "compile", "--export", "docs/knowledge").stderr.count("0 written, 0 removed") == 1


def test_the_worker_keeps_the_copy_up_to_date_where_the_setting_says(
    house: House, known: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BACKSTORY_COMPILE_INTERVAL_MIN", "0")
    house.sets("knowledge.export", f"nobody=elsewhere, {known.project.name}=docs/knowledge")
    house.told().starts().prompts("Let's use mail.py for mails because it is short.").stops("Good.").ends()
    known.writes_down()
    copy = house.project / "docs" / "knowledge"
    assert any("mail" in path.name for path in (copy / "concepts").iterdir())
    known.vault.page("concepts/working-agreements").unlink()
    known.says("2026-11-02", "we moved part.py")
    run(house, "compile")
    assert not (copy / "concepts" / "working-agreements.md").exists(), "what is gone leaves the copy"
    assert not (house.project / "elsewhere").exists()


def test_what_is_not_ours_or_was_changed_is_left_and_said(house: House, known: Book, tmp_path: Path) -> None:
    copy = house.project / "docs" / "knowledge"
    (copy / "concepts").mkdir(parents=True)
    (copy / "index.md").write_text("my own index\n")
    (copy / "README.md").write_text("mine\n")
    outside = tmp_path / "outside.md"
    outside.write_text("outside\n")
    (copy / "log.md").symlink_to(outside)
    (tmp_path / "weeks").mkdir()
    (copy / "weekly").symlink_to(tmp_path / "weeks")
    done = run(house, "compile", "--export", "docs/knowledge")
    assert done.exit_code == 0, done.stderr
    assert "Left as it is, it is not ours or was changed: index.md" in done.stderr
    assert "log.md" in done.stderr
    assert (copy / "index.md").read_text() == "my own index\n"
    assert (copy / "README.md").read_text() == "mine\n"
    assert outside.read_text() == "outside\n"
    assert list((tmp_path / "weeks").iterdir()) == []
    page = copy / "concepts" / "working-agreements.md"
    page.write_text(page.read_text() + "\nWe agreed on more.\n")
    known.says("2026-11-02", "we moved part.py")
    done = run(house, "compile", "--export", "docs/knowledge")
    assert "We agreed on more." in page.read_text()
    assert "concepts/working-agreements.md" in done.stderr


def test_a_folder_that_leads_elsewhere_is_refused(house: House, known: Book, tmp_path: Path) -> None:
    (house.project / "way").symlink_to(tmp_path)
    (house.project / "file").write_text("x")
    for folder, code in (
        ("..", 1), ("../x", 1), ("docs/../../x", 1), (str(tmp_path / "x"), 1), (".git/x", 1), (".", 1), ("~/x", 1),
        ("way/x", 4), ("way", 4), ("file", 4),
    ):  # fmt: skip
        done = run(house, "compile", "--export", folder)
        assert done.exit_code == code, (folder, done.stderr)
    assert not (tmp_path / "x").exists()
    assert not (house.project / ".git" / "x").exists()


def test_a_list_that_names_files_of_others_is_not_believed(house: House, known: Book) -> None:
    """Whoever writes into the repository can write the list, too."""
    run(house, "compile", "--export", "docs/knowledge")
    victim = house.project / "README.md"
    victim.write_text("keep me\n")
    path = house.project / "docs" / "knowledge" / LIST
    listed = json.loads(path.read_text())
    digest = next(iter(listed.values()))
    path.write_text(
        json.dumps({**listed, "../../README.md": digest, "/etc/hosts.md": digest, "x/../../a.md": digest})
    )
    assert run(house, "compile", "--export", "docs/knowledge").exit_code == 0
    assert victim.read_text() == "keep me\n"


@pytest.mark.faults
def test_a_copy_that_was_killed_is_finished_by_the_next(house: House, known: Book) -> None:
    command = [sys.executable, "-m", "backstory", "compile", "--export", "docs/knowledge"]
    environment = {**os.environ, "BACKSTORY_HOME": str(house.home.root), "BACKSTORY_TZ": "UTC"}
    struck = subprocess.run(
        command, env={**environment, "BACKSTORY_STRIKE": "vault.copied=KILL@3"}, cwd=house.project, timeout=60
    )
    assert struck.returncode == -signal.SIGKILL
    known.says("2026-11-02", "we moved part.py")
    done = run(house, "compile", "--export", "docs/knowledge")
    assert "Left as it is" not in done.stderr
    copy = Vault(house.project / "docs" / "knowledge", "shop")
    assert set(copy.articles()) == set(known.vault.articles())
