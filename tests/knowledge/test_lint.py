"""Whether the wiki is sound: what is reported, as what, and what is mended."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

from backstory.app import App
from backstory.front_matter import front_matter
from backstory.knowledge import facts
from backstory.knowledge.lint_checks import Issue, lint_vault
from backstory.knowledge.markdown_page import links_in
from backstory.knowledge.page_transaction import Changes
from backstory.knowledge_base import KnowledgeBase
from tests.story import House

from .book import Book, logged_in, run

LONG = "word " * 250
T = TypeVar("T")


class Model:
    """A model that answers as told, and remembers what it was asked."""

    def __init__(self, answer: str | Exception) -> None:
        self.answer = answer
        self.asked: list[tuple[str, str]] = []

    def write(self, purpose: str, prompt: str) -> str:
        self.asked.append((purpose, prompt))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def fill(
        self, purpose: str, prompt: str, schema: dict[str, Any], read: Callable[[dict[str, Any]], T]
    ) -> T:
        return read(json.loads(self.write(purpose, prompt)))


@pytest.fixture
def wiki(book: Book) -> Book:
    """Two articles that link to each other, long enough, in the index."""
    book.says("2026-11-14", "we moved auth.py")
    put(book, "concepts/one", "Two is [[concepts/two]].\n\n## Key Points\n\n- The port is 80.")
    put(book, "concepts/two", "One is [[concepts/one]].\n\n## Key Points\n\n- The port is 81.")
    book.vault.page("daily/2026-11-14").write_text("# Daily log 2026-11-14\n")
    book.compiles()
    assert found(book) == set()
    return book


def put(book: Book, link: str, text: str, words: str = LONG) -> None:
    path = book.vault.page(link)
    path.parent.mkdir(exist_ok=True)
    path.write_text(
        front_matter({"title": link, "sources": ["daily/2026-11-14"]})
        + f"\n# {link}\n\n{text}\n\n## More\n\n{words}\n"
    )


def found(book: Book, model: Model | None = None) -> set[tuple[str, str, str]]:
    return {(issue.check, issue.severity, issue.page) for issue in lint_vault(book.vault, model)}


def test_a_broken_link_is_an_error_unless_it_names_a_daily_log(wiki: Book) -> None:
    """CM-31: a log may have gone."""
    put(
        wiki, "concepts/one", "[[concepts/two]] and [[concepts/gone]] and [[daily/2020-01-01]] and `[[code]]`"
    )
    assert found(wiki) == {("broken-link", "error", "concepts/one")}
    assert [issue.text for issue in lint_vault(wiki.vault)] == ["links to concepts/gone, which is not there"]
    put(wiki, "concepts/one", "[[concepts/two]] and [[../../../etc/passwd]]")
    assert found(wiki) == {("broken-link", "error", "concepts/one")}


def test_an_article_that_no_other_links_to_is_a_warning(wiki: Book) -> None:
    """CM-32: the index does not count, and neither does a link to itself."""
    put(wiki, "concepts/three", "[[concepts/three]]")
    run(wiki.house, "lint", "--fix")
    assert found(wiki) == {("orphan", "warning", "concepts/three")}


def test_a_log_that_was_never_compiled_and_one_that_changed_are_warnings(wiki: Book) -> None:
    """CM-33, CM-34: each by its name."""
    wiki.says("2026-11-15", "something new")
    assert found(wiki) == {("never-compiled", "warning", "daily/2026-11-15")}
    wiki.says("2026-11-14", "something more")
    assert found(wiki) == {
        ("never-compiled", "warning", "daily/2026-11-15"),
        ("changed-since", "warning", "daily/2026-11-14"),
    }


def test_a_one_way_link_is_a_suggestion_that_can_be_mended(wiki: Book) -> None:
    """CM-35: and after mending there is none."""
    put(wiki, "concepts/two", "No link back.")
    [issue] = [one for one in lint_vault(wiki.vault) if one.check == "one-way-link"]
    assert issue == Issue(
        "one-way-link", "suggestion", "concepts/one", "concepts/two does not link back", True
    )
    run(wiki.house, "lint", "--fix")
    assert "concepts/one" in links_in(wiki.page("concepts/two"))
    assert not [one for one in lint_vault(wiki.vault) if one.check == "one-way-link"]


def test_a_question_asks_no_link_back_of_the_articles_that_it_consulted(wiki: Book) -> None:
    """MEMORIA-8: between concepts it is still reported."""
    put(wiki, "qa/which-port", "See [[concepts/one]].")
    assert not [issue for issue in found(wiki) if issue[0] == "one-way-link"]
    put(wiki, "concepts/three", "See [[concepts/one]], [[qa/which-port]].")
    assert ("one-way-link", "suggestion", "concepts/three") in found(wiki)
    run(wiki.house, "lint", "--fix")
    assert "[[qa/which-port]]" not in wiki.page("concepts/one")
    assert "[[concepts/three]]" in wiki.page("concepts/one")


def test_a_link_with_words_of_its_own_is_a_link_to_its_target(wiki: Book) -> None:
    """MEMORIA-6, MEMORIA-7: `[[target|display]]` is not broken, reaches its page and counts as a backlink."""
    assert links_in("[[concepts/one|the first]] and [[concepts/two#Details|the second]]") == [
        "concepts/one",
        "concepts/two",
    ]
    put(wiki, "concepts/one", "Two is [[concepts/two|the other one]].")
    put(wiki, "concepts/two", "One is [[concepts/one|this one]].")
    assert found(wiki) == set(), "neither broken, nor one-way, nor orphans"


def test_a_link_that_leads_nowhere_or_out_of_the_vault_resolves_to_nothing(
    wiki: Book, tmp_path: Path
) -> None:
    """MEMORIA-9: empty, absolute, with a null byte, by dots or by a symlink."""
    outside = tmp_path / "secret.md"
    outside.write_text("secret")
    (wiki.vault.root / "concepts" / "sly.md").symlink_to(outside)
    (wiki.vault.root / "door").symlink_to(tmp_path)
    assert wiki.vault.find("concepts/one") == wiki.vault.root / "concepts/one.md"
    up = "../" * len(wiki.vault.root.parts)
    for link in (
        "",
        "  ",
        str(outside)[:-3],
        "concepts/o\0ne",
        f"{up}{outside}"[:-3],
        "concepts/sly",
        "door/secret",
    ):
        assert wiki.vault.find(link) is None, link
        assert wiki.vault.read(link) == "", link


def test_an_article_under_two_hundred_words_is_a_suggestion(wiki: Book) -> None:
    """CM-36: its front matter does not count."""
    put(wiki, "concepts/two", "[[concepts/one]]", "word " * 190)
    assert found(wiki) == {("thin", "suggestion", "concepts/two")}
    put(wiki, "concepts/two", "[[concepts/one]]", "word " * 200)
    assert found(wiki) == set()


def test_contradictions_are_found_by_a_model_only_and_structural_only_asks_none(wiki: Book) -> None:
    """CM-37: what it says must name two articles that exist."""
    model = Model(
        "- [[concepts/one]] says port 80, [[concepts/two]] says 81\n- and I feel fine\n[[concepts/gone]] [[concepts/two]]"
    )
    assert found(wiki, model) == {("contradiction", "warning", "concepts/one")}
    [(purpose, prompt)] = model.asked
    assert purpose == "lint"
    assert "The port is 80" in prompt
    with App(wiki.house.home) as app:
        for words in ({"structural": True}, {"mend": True}):
            KnowledgeBase(app, model).lint(app.project_at(wiki.house.project), **words)
        assert len(model.asked) == 1
        KnowledgeBase(app, model).lint(app.project_at(wiki.house.project))
    assert len(model.asked) == 2
    assert found(wiki, Model("NOTHING_TO_SAVE\n")) == set()


def test_rows_are_compared_whole_and_what_does_not_fit_hides_no_other(wiki: Book) -> None:
    long = (
        "The port is 80, " + "as the load balancer of the old rack expects it, " * 9 + "but only until May."
    )
    endless = "It goes on " * 2_000
    put(wiki, "concepts/one", f"Two is [[concepts/two]].\n\n## Key Points\n\n- {endless}\n- {long}")
    model = Model("NOTHING_TO_SAVE")
    found(wiki, model)
    [(_, prompt)] = model.asked
    assert long in prompt
    assert "The port is 81." in prompt
    assert "It goes on" not in prompt


def test_a_model_that_fails_becomes_an_issue_and_no_crash(wiki: Book) -> None:
    """CM-38: whatever it raises."""
    for error in (TimeoutError("no answer within 30 s"), ValueError("<b>not JSON</b>")):
        [issue] = lint_vault(wiki.vault, Model(error))
        assert (issue.check, issue.severity) == ("contradiction", "warning")
        assert "did not work" in issue.text


def test_lint_writes_a_dated_report_and_exits_1_if_and_only_if_there_is_an_error(wiki: Book) -> None:
    """CM-39: warnings and suggestions are no errors."""
    put(wiki, "concepts/three", "alone", "few words")
    done = run(wiki.house, "lint")
    assert done.exit_code == 0
    assert "concepts/three" in done.stdout
    [report] = wiki.vault.links("reports")
    assert re.fullmatch(r"reports/lint-\d{4}-\d\d-\d\d", report)
    assert "## Errors: 0" in wiki.page(report)
    assert "`concepts/three`" in wiki.page(report)
    put(wiki, "concepts/three", "[[concepts/gone]]")
    done = run(wiki.house, "lint", "--json")
    assert done.exit_code == 1
    assert any(issue["severity"] == "error" for issue in json.loads(done.stdout)["issues"])
    assert "## Errors: 1" in wiki.page(report)
    assert run(wiki.house, "lint", "--mend").exit_code == 2, "a mistyped call has found no error"
    assert run(wiki.house, "lint", "--project", "nobody").exit_code == 2


def test_fix_mends_backlinks_rows_and_source_cells_twice_as_once(wiki: Book) -> None:
    """CM-61: and asks no model."""
    put(wiki, "concepts/two", "No link back.")
    put(wiki, "concepts/three", "[[concepts/one]]")
    index = wiki.vault.page("index")
    index.write_text(
        index.read_text().replace("| [[concepts/two", "| [[concepts/twice")
        + "\n| [[concepts/one]] | x | "
        + ", ".join(f"[[daily/2026-11-{day:02}]]" for day in range(1, 9))
        + " | x |\n"
    )
    checks = {issue.check for issue in lint_vault(wiki.vault)}
    assert {"index", "one-way-link", "broken-link"} <= checks
    model = Model("must not be asked")
    with App(wiki.house.home) as app:
        assert KnowledgeBase(app, model).lint(app.project_at(wiki.house.project), mend=True).fixed > 0
        after = wiki.snapshot()
        assert KnowledgeBase(app, model).lint(app.project_at(wiki.house.project), mend=True).fixed == 0
    assert model.asked == []
    changed = {name for name, data in wiki.snapshot().items() if after.get(name) != data}
    assert changed <= {"log.md"} | {name for name in after if name.startswith("reports/")}


def test_an_index_row_that_is_missing_is_put_back(wiki: Book) -> None:
    """CM-61: whatever people did to the index."""
    wiki.vault.page("index").write_text("# Mine\n\nMy words.\n")
    assert ("index", "warning", "index") in found(wiki)
    run(wiki.house, "lint", "--fix")
    assert found(wiki) == set()
    assert "My words." in wiki.page("index")


def test_every_fact_has_one_entry_and_every_entry_leads_somewhere(wiki: Book) -> None:
    """NC-35: both are errors, and mended."""
    run(wiki.house, "remember", "--type", "user", "Anna likes tea")
    run(wiki.house, "remember", "--type", "user", "Ben likes mate")
    assert found(wiki) == set()
    index = wiki.vault.page(facts.INDEX)
    lines = index.read_text().splitlines()
    index.write_text(f"{lines[0]}\n{lines[0]}\n- [[facts/user-gone]] x\n")
    texts = [issue.text for issue in lint_vault(wiki.vault) if issue.check == "facts"]
    assert any("has 2 entries" in text for text in texts)
    assert any("has 0 entries" in text for text in texts)
    assert any("facts/user-gone" in text for text in texts)
    assert run(wiki.house, "lint").exit_code == 1
    run(wiki.house, "lint", "--fix")
    assert index.read_text().splitlines() == lines


def test_an_index_of_facts_that_overflows_is_reported_and_nothing_is_cut(wiki: Book) -> None:
    """NC-36: 200 lines of 150 characters."""
    with wiki.vault.held():
        changes = Changes(wiki.vault)
        for number in range(201):
            text = front_matter(
                {"name": f"n{number}", "description": f"d{number} " + "x" * (200 if number == 7 else 1)}
            )
            changes.put(f"facts/user-n{number}.md", text)
        facts.put_index(changes)
        changes.write()
    assert len(wiki.page(facts.INDEX).splitlines()) == 201
    texts = [issue.text for issue in lint_vault(wiki.vault) if issue.check == "facts"]
    assert any("201 lines, more than 200" in text for text in texts)
    assert any("more than 150" in text for text in texts)
    assert run(wiki.house, "lint").exit_code == 0, "a warning is no error"
    done = run(wiki.house, "remember", "--type", "user", "Anna " + "likes tea very much " * 20)
    assert "202 lines" in done.stderr
    assert all(len(line) <= 150 for line in wiki.page(facts.INDEX).splitlines() if "anna" in line)


def test_what_a_day_of_sessions_makes_is_sound(house: House, book: Book) -> None:
    logged_in(house.told()).ends()
    book.writes_down()
    assert run(house, "lint").exit_code == 0
    run(house, "lint", "--fix")
    assert not [issue for issue in lint_vault(book.vault) if issue.fixable]
