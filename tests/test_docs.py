"""The pages that people read: every link leads somewhere, every page is found from the index."""

import itertools
import re
import sys
from functools import cache
from pathlib import Path
from urllib.parse import unquote

import pytest
from markdown_it import MarkdownIt

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
INDEX = DOCS / "README.md"
VAULT = DOCS / "example-vault"  # a wiki with links of its own; tests/knowledge/test_example.py checks them
PAGES = sorted(
    path
    for place in ("*.md", "docs/**/*.md", "plugins/**/*.md", "bench/**/README.md", ".github/**/*.md")
    for path in ROOT.glob(place)
    if VAULT not in path.parents
)
_ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)


@cache
def targets(page: Path) -> list[str]:
    """Where the links and pictures of a page lead, as they are written; code is no link."""
    parts = [
        part
        for token in MarkdownIt().enable("table").parse(page.read_text("utf-8"))
        for part in token.children or ()
    ]
    found = [
        part.attrGet("href") or part.attrGet("src") for part in parts if part.type in ("link_open", "image")
    ]
    return [str(target) for target in found]


@cache
def anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives to the headings of a page."""
    tokens = MarkdownIt().parse(page.read_text("utf-8"))
    found: set[str] = set()
    for token, text in itertools.pairwise(tokens):
        if token.type == "heading_open":
            words = "".join(part.content for part in text.children or ())
            name = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
            number = sum(1 for each in found if re.fullmatch(rf"{re.escape(name)}(-\d+)?", each))
            found.add(f"{name}-{number}" if number else name)
    return found


def broken(page: Path, top: Path = ROOT) -> list[str]:
    """The links of a page that lead nowhere, or out of the repository."""
    wrong = []
    for target in targets(page):
        if _ELSEWHERE.match(target):
            continue
        path, _, anchor = unquote(target).partition("#")
        place = (page.parent / path).resolve() if path else page
        inside = place.is_relative_to(top)
        if not (inside and place.exists()) or (anchor and anchor not in anchors(place)):
            wrong.append(target)
    return wrong


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_every_relative_link_and_anchor_of_a_page_leads_somewhere(page: Path) -> None:
    assert broken(page) == []


def test_a_link_that_leads_nowhere_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# A page\n\n[no file](gone.md), [no anchor](#gone), `[code](gone.md)`, [here](#a-page), [there](page.md)\n"
        "\n[outside](../../x), ![no picture](gone.png), [web](https://example.com)\n",
        "utf-8",
    )
    assert broken(page, tmp_path) == ["gone.md", "#gone", "../../x", "gone.png"]


def test_every_page_is_found_from_the_index() -> None:
    listed = {(DOCS / target.partition("#")[0]).resolve() for target in targets(INDEX)}
    pages = {*DOCS.glob("*.md"), *DOCS.glob("lab/*.md")} - {INDEX}
    assert {path.name for path in pages - listed} == set()


def test_each_attack_names_a_test_that_exists() -> None:
    rows = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", (DOCS / "lab/attacks.md").read_text("utf-8"))
    assert len(rows) > 50
    assert [row for row in rows if f"def {row[1]}(" not in (ROOT / row[0]).read_text("utf-8")] == []


def test_the_readme_leads_to_the_index() -> None:
    assert "docs/README.md" in targets(ROOT / "README.md")


def test_the_site_keeps_links_among_pages_and_turns_others_into_words(tmp_path: Path) -> None:
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        import site_builder
    finally:
        sys.path.pop(0)
    target = tmp_path / "pages"
    site_builder.pages(target)
    index = (target / "README.md").read_text("utf-8")
    assert "[how to report a fault](SECURITY.md)" in index
    broken = [
        (page.relative_to(target), found[3])
        for page in target.rglob("*.md")
        for found in site_builder.LINK.finditer(page.read_text("utf-8"))
        if "://" not in found[3] and not found[3].startswith("mailto:")
        if not (page.parent / found[3]).exists()
    ]
    assert broken == []
    source = ROOT / "docs" / "x.md"
    said = site_builder.with_links("[the code](../src/backstory/model.py)", source, target / "x.md", target)
    assert said == "the code"
