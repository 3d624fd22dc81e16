"""Documentation is made searchable, and is never taken for anybody's words."""

import os
from pathlib import Path

import pytest

from backstory.capture import project_docs
from backstory.capture.importer import ImportLine, ImportTally
from backstory.capture.privacy import Privacy
from backstory.capture.project_docs import Documents, document_sections
from backstory.capture.project_lookup import ProjectLookup
from backstory.errors import UsageError
from backstory.settings import Settings
from tests.story import House


class Shelf:
    """A folder of documents beside a house."""

    def __init__(self, house: House, folder: Path) -> None:
        self.house = house
        self.folder = folder
        self.lines: list[ImportLine] = []

    def __call__(self, dry: bool = False, again: bool = False, path: Path | None = None) -> ImportTally:
        self.lines = []
        store = self.house.store
        project = ProjectLookup(store, {}, ()).project(str(self.folder), 1)
        found = Documents(store, Privacy(Settings()), path or self.folder, project, "ada", again)
        return found.bring(dry, self.lines.append, lambda done, of: None)

    def found(self, word: str) -> list[str]:
        self.house.works()
        hits = self.house.store.passages.search([f'"{word}"'], None, 20)
        return sorted(f"{hit.kind}: {hit.text.splitlines()[0]}" for hit in hits)


@pytest.fixture
def shelf(house: House) -> Shelf:
    folder = house.project / "docs"
    folder.mkdir()
    (folder / "setup.md").write_text("# Setup\n\nRun the zebra first.\n\n## Next\n\nThen the walrus.\n")
    return Shelf(house, folder)


# MP-34
def test_mp_34_documents_are_imported_and_source_code_is_not(shelf: Shelf) -> None:
    (shelf.folder / "notes.txt").write_text("a giraffe\n")
    (shelf.folder / "guide.rst").write_text("Guide\n=====\n\nAsk the ocelot.\n")
    for name in ("code.py", "app.js", "data.json", "requirements.txt", "CMakeLists.txt", "page.html"):
        (shelf.folder / name).write_text("tapir = 1\n")
    for hidden in ("node_modules/pkg", ".venv/lib", ".git"):
        (shelf.folder / hidden).mkdir(parents=True)
        (shelf.folder / hidden / "README.md").write_text("a tapir")
    tally = shelf()
    assert (tally.new, tally.errors) == (3, 0)
    assert shelf.found("tapir") == []
    assert shelf.found("giraffe") == ["document: notes.txt"]
    assert shelf.found("ocelot") == ["document: guide.rst"]
    assert shelf.found("walrus") == ["document: setup.md"]


@pytest.mark.parametrize("name", ["code.py", "requirements.txt", "README"])
def test_mp_34_a_file_that_is_named_passes_the_same_gate_as_one_in_a_folder(shelf: Shelf, name: str) -> None:
    file = shelf.folder / name
    file.write_text("tapir = 1\n")
    with pytest.raises(UsageError, match="is no document: name Markdown"):
        shelf(path=file)
    file.rename(shelf.folder / "tapir.MD")
    assert shelf(path=shelf.folder / "tapir.MD").new == 1


def test_a_named_document_that_is_too_large_is_refused(shelf: Shelf) -> None:
    file = shelf.folder / "log.txt"
    file.write_text("x" * 1_000_001)
    with pytest.raises(UsageError, match="too large"):
        shelf(path=file)


def test_mp_34_what_is_binary_is_skipped_counted_and_no_longer_found(shelf: Shelf) -> None:
    file = shelf.folder / "bin.md"
    file.write_bytes(b"# a tapir\n\0\x01\x02")
    tally = shelf()
    assert (tally.new, tally.skipped) == (1, 1)
    assert [line.why for line in shelf.lines if line.path == file] == ["binary"]
    assert shelf.found("tapir") == []
    (shelf.folder / "setup.md").write_bytes(b"walrus\0")
    assert shelf().skipped == 2
    assert shelf.found("walrus") == []


def test_again_reads_what_looks_unchanged_and_brings_back_nothing_that_was_forgotten(shelf: Shelf) -> None:
    shelf()
    file = shelf.folder / "setup.md"
    before = file.stat()
    file.write_text(file.read_text().replace("zebra", "tapir"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (shelf().skipped, shelf.found("tapir")) == (1, [])
    assert shelf(again=True).grown == 1
    assert (shelf.found("tapir"), shelf.found("zebra")) == (["document: setup.md"], [])
    assert shelf.found("walrus"), "what stayed the same stays"
    assert shelf(again=True).skipped == 1
    store = shelf.house.store
    sid = next(iter(store.transcript_marks.all().values())).session_id
    gone = [each.id for each in store.events.of_session(sid) if "walrus" in each.event.text]
    with store.transaction():
        store.tombstones.add("event", gone, "forgotten", 1)
    assert shelf(again=True).skipped == 1
    assert shelf.found("walrus") == []


def test_nothing_is_distilled_from_a_document_and_no_session_is_made_up(shelf: Shelf) -> None:
    (shelf.folder / "rules.md").write_text(
        "We decided to use tabs because they are wide. Always use tabs!\n" * 9
    )
    shelf()
    shelf.house.works()
    shelf.house.rebuilds()
    counts = shelf.house.store.listings.table_counts()
    assert (counts["memories"], counts["sessions"]) == (0, 0)
    assert shelf.house.store.events.sessions() == []
    assert shelf.house.store.events.latest(None, 0, 10) == []
    assert "tabs" not in shelf.house.brief().text
    assert shelf.found("tabs"), "after a rebuild it is still found"


def test_a_document_that_changed_or_went_replaces_what_it_said(shelf: Shelf) -> None:
    assert shelf().new == 1
    assert shelf().skipped == 1
    path = shelf.folder / "setup.md"
    path.write_text("# Setup\n\nRun the badger first.\n")
    tally = shelf()
    assert (tally.new, tally.grown) == (0, 1)
    assert shelf.found("zebra") == []
    assert shelf.found("badger") == ["document: setup.md"]
    path.write_text("# Setup\n\nRun the zebra first.\n")
    shelf()
    assert shelf.found("zebra") == ["document: setup.md"], "also when it says again what it said before"
    assert shelf.found("badger") == []
    path.unlink()
    shelf()
    assert shelf.found("zebra") == []


def test_a_touch_is_no_change(shelf: Shelf) -> None:
    shelf()
    os.utime(shelf.folder / "setup.md", (1, 1))
    assert (shelf().grown, shelf().skipped) == (0, 1)


def test_a_dry_run_of_documents_changes_nothing(shelf: Shelf) -> None:
    assert shelf(dry=True).new == 1
    assert shelf.found("zebra") == []


def test_secrets_in_documents_are_redacted_and_ignored_files_left_out(shelf: Shelf) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    (shelf.folder / "deploy.md").write_text(f"Use the lemur with {token}.\n")
    shelf()
    assert shelf.found("lemur") == ["document: deploy.md"]
    assert shelf.house.found_in_home(token) == []


def test_sections_follow_headings_and_lose_nothing() -> None:
    text = "intro\n\n# One\n\na\n\n## Two\n\nb\n\nThree\n-----\n\nc\n"
    assert list(document_sections(text)) == ["intro", "# One\n\na", "## Two\n\nb", "Three\n-----\n\nc"]
    long = "\n\n".join(f"paragraph {n} " + "x" * 300 for n in range(40))
    parts = list(document_sections(long))
    assert max(map(len, parts)) <= 4_000
    assert "\n\n".join(parts) == long


def test_links_below_the_named_folder_are_not_followed(shelf: Shelf, tmp_path: Path) -> None:
    diary = tmp_path / "private" / "diary.md"
    diary.parent.mkdir()
    diary.write_text("a secret axolotl")
    (shelf.folder / ".env").write_text("a hidden axolotl")
    (shelf.folder / "NOTES.md").symlink_to(diary)
    (shelf.folder / "chain.md").symlink_to("NOTES.md")
    (shelf.folder / "hidden.md").symlink_to(".env")
    (shelf.folder / "more").symlink_to(diary.parent)
    assert shelf().new == 1
    assert shelf.found("axolotl") == []
    assert shelf.found("walrus") == ["document: setup.md"]


def test_a_folder_or_document_that_is_named_may_be_a_link(shelf: Shelf, tmp_path: Path) -> None:
    (tmp_path / "here").symlink_to(shelf.folder)
    (tmp_path / "one.md").symlink_to(shelf.folder / "setup.md")
    assert shelf(path=tmp_path / "here").new == 1
    assert shelf(path=tmp_path / "one.md", again=True).errors == 0


def test_a_document_that_becomes_a_link_before_it_is_read_is_not_read(
    shelf: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    diary = tmp_path / "diary.md"
    diary.write_text("a secret axolotl")
    found = list(project_docs.document_files(shelf.folder))
    (shelf.folder / "setup.md").unlink()
    (shelf.folder / "setup.md").symlink_to(diary)
    monkeypatch.setattr(project_docs, "document_files", lambda folder: iter(found))
    assert shelf().errors == 1
    assert shelf.found("axolotl") == []
