"""What is forgotten leaves every page, and what is secret is taken out of them."""

import pytest

from backstory.knowledge.index_page import put_log
from backstory.knowledge.lint_checks import Issue, lint_report
from backstory.knowledge.page_transaction import Changes
from tests.story import House

from .book import STAMP, Book, logged_in, run


def test_forgotten_words_are_on_no_page_and_nothing_links_to_what_is_gone(house: House, book: Book) -> None:
    """CM-18 has this one exception: `forget` rewrites logs, and only what tells of it."""
    logged_in(
        house.told(), "The quokka job fails. Let's use Postgres for the quokka queue because SQLite locks."
    ).ends()
    house.told().starts().prompts("Count the whales in src/sea.py").edits("src/sea.py").stops(
        "Twelve."
    ).ends()
    book.writes_down()
    book.says("2026-11-02", "quokka.py is slow", "the whales are well")
    book.compiles()
    assert any("quokka" in text for text in book.pages().values())
    house.close()
    assert run(house, "forget", "--text", "quokka", "--yes").exit_code == 0
    assert [page for page, text in book.pages().items() if "quokka" in text.lower()] == []
    assert [page for page in book.pages() if "quokka" in page] == []
    assert house.found_in_home("quokka") == []
    assert book.broken() == []
    assert "the whales are well" in book.page("daily/2026-11-02")
    [today] = [day for day in book.vault.days() if day != "2026-11-02"]
    assert "Count the whales" in book.page(f"daily/{today}")
    book.compiles()
    assert house.found_in_home("quokka") == []
    assert run(house, "lint").exit_code == 0


def test_a_session_that_is_forgotten_takes_its_entry_along(house: House, book: Book) -> None:
    gone = logged_in(house.told()).ends()
    house.told().starts().prompts("Count the whales").stops("Twelve.").ends()
    book.writes_down()
    run(house, "log", "--append", "--line", "my own line stays")
    house.close()
    assert run(house, "forget", gone.id, "--yes").exit_code == 0
    [day] = book.vault.days()
    text = book.page(f"daily/{day}")
    assert gone.id[:9] not in text
    assert "RS256" not in text
    assert "Count the whales" in text
    assert "my own line stays" in text
    assert "concepts/invalidalgorithmerror" not in book.vault.articles()
    assert book.broken() == []


def test_a_forgotten_fact_leaves_no_page(house: House, book: Book) -> None:
    handle = run(house, "remember", "--type", "user", "Anna likes quokkas").stdout.strip()
    house.close()
    assert run(house, "forget", handle, "--yes").exit_code == 0
    assert house.found_in_home("quokkas") == []


@pytest.mark.parametrize("by", ["time", "memory", "session", "project"])
def test_no_heading_list_or_report_of_pages_has_it_afterwards(house: House, book: Book, by: str) -> None:
    """Rows without a handle: what an entry was about, which articles were made, what a check found."""
    first = house.told().starts().prompts("Count the quokkas of the western hill").stops("Nine.")
    logged_in(first, "QuokkaError: ears missing. Let's use Postgres for the quokka queue because it locks.")
    first.ends()
    book.writes_down()
    [decided, *_] = [m for m in house.store.memories.of_session(first.id) if "western" in m.text]
    house.told().starts().prompts("Count the whales").stops("Twelve.").ends()
    book.writes_down()
    book.compiles()
    changes = Changes(book.vault)
    put_log(changes, STAMP, "ask", [], [], "Who is to count the quokkas of the western hill?")
    found = [
        Issue("contradiction", "warning", "log", "asked: Count the quokkas of the western hill"),
        Issue("orphan", "warning", "concepts/whales", "nothing links to it"),
    ]
    changes.put("reports/lint-2026-11-16.md", lint_report(found, STAMP))
    changes.write()
    project = book.project.name
    house.close()
    wanted = {
        "time": ["--since", "1d"],
        "memory": [decided.id],
        "session": [first.id],
        "project": ["--project", project],
    }[by]
    done = run(house, "forget", *wanted, "--yes")
    assert done.exit_code == 0, done.output
    words = "western hill"
    assert [page for page, text in book.pages().items() if words in text] == []
    if by != "memory":
        assert [page for page, text in book.pages().items() if "quokka" in text.casefold()] == []
    assert "concepts/whales" in book.page("reports/lint-2026-11-16")
    if by in ("session", "memory"):
        [day] = book.vault.days()
        assert "**Context:** Count the whales (" in book.page(f"daily/{day}")


def test_secrets_of_an_older_rule_are_scrubbed_from_pages(house: House, book: Book) -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    book.says("2026-11-02", f"the token is {secret}")
    assert house.found_in_home(secret)
    house.works()
    house.close()
    assert run(house, "scrub", "--yes").exit_code == 0
    assert house.found_in_home(secret) == []


def test_every_file_among_the_pages_is_looked_into_and_what_is_no_page_is_named(
    house: House, book: Book
) -> None:
    logged_in(house.told()).ends()
    book.writes_down()
    root = book.vault.root
    pages = [
        root / ".trash" / "x.md",
        root / "NOTE.MD",
        root / ".obsidian" / "n.md",
        root.parent / "loose.md",
    ]
    others = [root / "board.canvas", root / ".obsidian" / "workspace.json", root / "Quokka facts.md"]
    for path in (*pages, *others):
        path.parent.mkdir(exist_ok=True)
        path.write_text('{"text": "a quokka"}\n' if path.suffix != ".md" else "a quokka\nwhales\n")
    pages[1].write_text("a quokka\nwhales\n")
    house.close()
    done = run(house, "forget", "--text", "quokka", "--yes")
    assert done.exit_code == 0, done.stderr
    assert [path.read_text() for path in pages] == ["whales\n"] * len(pages)
    for path in others:
        assert path.exists()
        assert f"Stays as it is, and has the words: {path}" in done.stderr.replace("\n", "")
    assert set(house.found_in_home("quokka")) == {
        path.relative_to(house.home.root).as_posix() for path in others[:2]
    }
    again = run(house, "forget", "--text", "quokka", "--yes")
    assert "board.canvas" in again.stderr
    assert "nothing of that kind" not in again.stderr


def test_what_is_forgotten_leaves_the_copy_in_the_repository(house: House, book: Book) -> None:
    logged_in(house.told()).ends()
    book.writes_down()
    house.sets("knowledge.export", f"{book.project.name}=docs/knowledge")
    book.says("2026-11-02", "the quokka is slow", "the whales are well")
    book.says("2026-11-03", "the quokka is quick")
    run(house, "compile")
    copy = house.project / "docs" / "knowledge"
    theirs = copy / "daily" / "2026-11-03.md"
    theirs.write_text(theirs.read_text() + "\nmine\n")
    (copy / "own.md").write_text("my quokka\n")
    house.close()
    shown = run(house, "forget", "--text", "quokka", "--dry-run")
    assert str(copy / "daily" / "2026-11-02.md") in shown.stdout.replace("\n", "")
    done = run(house, "forget", "--text", "quokka", "--yes")
    assert done.exit_code == 0, done.stderr
    having = [path for path in copy.rglob("*") if path.is_file() and "quokka" in path.read_text()]
    assert sorted(having) == [theirs, copy / "own.md"]
    assert "the whales are well" in (copy / "daily" / "2026-11-02.md").read_text()
    assert f"has the words: {theirs}" in done.stderr.replace("\n", "")
