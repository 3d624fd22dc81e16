"""Knowledge: the wiki that is made of sessions, with links that work, backlinks, and the log by calendar.

The files are read as they lie in the home. No path leaves it: a page is one that the folder lists.
"""

import calendar
import functools
import os
import re
import stat
from collections import defaultdict
from datetime import date
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from backstory.app import App
from backstory.errors import SourceMissing
from backstory.file_reader import open_file
from backstory.front_matter import text_fields
from backstory.web import wiki_html
from backstory.web.markup import Html, h, join
from backstory.web.pages import components
from backstory.web.pages.layout import heading
from backstory.web.request import Page, PageRequest

_MOST_PAGES = 5_000
_LARGEST = 2_000_000
_DAY = re.compile(r"(?:.*/)?daily/(\d{4})-(\d{2})-(\d{2})")
_FOLDERS = ("concepts", "connections", "qa", "facts", "weekly", "daily")


def vault_folders(app: App) -> dict[str, Path]:
    """The wikis of this home, by the name of their folder, the latest changed first."""
    if not app.home.knowledge.is_dir():
        return {}
    found = [each for each in app.home.knowledge.iterdir() if each.is_dir() and not each.is_symlink()]
    found.sort(key=lambda folder: (-folder.stat().st_mtime, folder.name))
    return {folder.name: folder for folder in found}


class File(NamedTuple):
    """A page as it lies there; as long as time and size are the same, so is what it says."""

    path: str
    stamp: int
    size: int


class PageSummary(NamedTuple):
    """What other pages need to know of one: its title, and whom it links to."""

    title: str
    links: tuple[str, ...]


def pages_of(vault: Path) -> dict[str, File]:
    """The pages of a wiki by their name: the path without `.md`."""
    root = str(vault.resolve())
    found: dict[str, File] = {}
    for folder, folders, names in os.walk(root):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(folder, name)  # noqa: PTH118 - thousands of them: pathlib takes ten times as long
            if name.endswith(".md") and len(found) < _MOST_PAGES and (about := _inside(path, root)):
                found[path[len(root) + 1 : -3].replace(os.sep, "/")] = File(path, *about)
    return found


def _inside(path: str, root: str) -> tuple[int, int] | None:
    """The time and the size of a file; None if it is none, or a link that leads out of the wiki."""
    try:
        about = os.lstat(path)
        if stat.S_ISLNK(about.st_mode):
            if not Path(path).resolve().is_relative_to(root):
                return None
            about = os.stat(path)  # noqa: PTH116 - as above
    except OSError:
        return None
    return (about.st_mtime_ns, about.st_size) if stat.S_ISREG(about.st_mode) else None


@functools.lru_cache(maxsize=2 * _MOST_PAGES)
def _said(file: File) -> PageSummary:
    text = read_page(file)
    title = text_fields(text)[0].get("title", "")
    return PageSummary(title, tuple(wiki_html.wikilink_targets(text)))


def read_page(file: File) -> str:
    """The text of a page; what is no UTF-8 is marked, not refused."""
    with open_file(Path(file.path)) as opened:
        return opened.read(_LARGEST).decode("utf-8", "replace")


def page(app: App, asked: PageRequest) -> Page:
    """A wiki's front: its index, its folders, its log by calendar; or a page of it."""
    known = vault_folders(app)
    if not known:
        body = join(
            heading("Knowledge", "A wiki made of your sessions, in plain Markdown."),
            components.empty_page(
                "No page yet",
                "Pages are written from what was learned: ",
                h("code", "backstory compile"),
                " makes them now.",
            ),
        )
        return Page("Knowledge", body, "/knowledge")
    name = asked.parts.get("vault") or asked.get("vault") or next(iter(known))
    if name not in known:
        raise SourceMissing(f"there is no wiki {name!r}")
    found = pages_of(known[name])
    wanted = asked.parts.get("page", "").removesuffix(".md")
    if wanted:
        return _one(name, found, wanted)
    return _front(asked, known, name, found)


def _link(vault: str, name: str) -> str:
    return f"/knowledge/{quote(vault, safe='')}/{quote(name)}"


def _resolver(vault: str, found: dict[str, File], here: str = "") -> wiki_html.Resolve:
    by_last = {name.rpartition("/")[2].lower(): name for name in reversed(list(found))}
    by_name = {name.lower(): name for name in found}

    def resolve(target: str) -> str | None:
        plain = target.partition("#")[0].removesuffix(".md").strip().lower()
        beside = f"{here.rpartition('/')[0]}/{plain}".lstrip("/").lower()
        name = by_name.get(plain) or by_name.get(beside) or by_last.get(plain.rpartition("/")[2])
        return _link(vault, name) if name else None

    return resolve


def _front(asked: PageRequest, known: dict[str, Path], name: str, found: dict[str, File]) -> Page:
    choice = h(
        "form",
        components.select_list(
            "vault", "Project", name, [(each, each.rpartition("-")[0] or each) for each in known]
        ),
        h("button", "Show", type="submit"),
        class_="filters",
        action="/knowledge",
    )
    groups: dict[str, list[str]] = defaultdict(list)
    for each in found:
        groups[each.partition("/")[0] if "/" in each else ""].append(each)
    order = [
        *(f for f in _FOLDERS if f in groups and f != "daily"),
        *(g for g in groups if g not in _FOLDERS and g),
    ]
    sections = [
        h(
            "section",
            h("h2", group.capitalize()),
            h(
                "ul",
                [
                    h("li", h("a", _title(each, found[each]), href=_link(name, each)), data_row=True)
                    for each in groups[group][:200]
                ],
            ),
            class_="card",
        )
        for group in order
    ]
    index = found.get("index")
    text = (
        wiki_html.render_wiki(text_fields(read_page(index))[1], _resolver(name, found, "index"))
        if index
        else None
    )
    body = join(
        heading("Knowledge", "A wiki made of your sessions, in plain Markdown."),
        choice if len(known) > 1 else None,
        h(
            "div",
            h("article", text, class_="wide prose") if text else None,
            h(
                "aside",
                _calendar(asked, name, groups.get("daily", [])),
                class_="narrow",
                aria_label="Daily log",
            ),
            class_="columns",
        ),
        h("div", sections, class_="cards"),
    )
    return Page("Knowledge", body, "/knowledge")


def _title(name: str, file: File) -> str:
    return _said(file).title or name.rpartition("/")[2].replace("-", " ")


def _calendar(asked: PageRequest, vault: str, days: list[str]) -> Html | None:
    written = {}
    for name in days:
        if found := _DAY.fullmatch(name):
            written[found[0][-10:]] = name
    if not written:
        return None
    newest = max(written)
    year, month = int(newest[:4]), int(newest[5:7])
    if re.fullmatch(r"\d{4}-\d{2}", asked.get("month")):
        year, month = int(asked.get("month")[:4]), min(12, max(1, int(asked.get("month")[5:])))
    year = min(max(year, 1971), 9000)
    months = sorted({day[:7] for day in written})
    now = f"{year:04}-{month:02}"
    before = max((each for each in months if each < now), default="")
    after = min((each for each in months if each > now), default="")
    weeks = calendar.Calendar().monthdatescalendar(year, month)
    rows = [h("tr", [_day(vault, each, month, written) for each in week]) for week in weeks]
    return h(
        "section",
        h("h2", "Daily log"),
        h(
            "nav",
            h("a", "←", href=f"/knowledge?vault={quote(vault)}&month={before}", aria_label="Earlier month")
            if before
            else None,
            h("strong", date(year, month, 1).strftime("%B %Y")),
            h("a", "→", href=f"/knowledge?vault={quote(vault)}&month={after}", aria_label="Later month")
            if after
            else None,
            class_="months",
            aria_label="Months",
        ),
        h(
            "table",
            h(
                "thead",
                h("tr", [h("th", day, scope="col") for day in ("Mo", "Tu", "We", "Th", "Fr", "Sa", "Su")]),
            ),
            h("tbody", rows),
            class_="month",
        ),
    )


def _day(vault: str, each: date, month: int, written: dict[str, str]) -> Html:
    if each.month != month:
        return h("td")
    name = written.get(each.isoformat())
    return h("td", h("a", each.day, href=_link(vault, name), title=each.isoformat()) if name else each.day)


def _one(vault: str, found: dict[str, File], wanted: str) -> Page:
    if wanted not in found:
        raise SourceMissing(f"there is no page {wanted!r} in this wiki")
    resolve = _resolver(vault, found, wanted)
    fields, text = text_fields(read_page(found[wanted]))
    own = _link(vault, wanted)
    last = wanted.rpartition("/")[2].lower()
    back = [
        name
        for name, file in found.items()
        if name != wanted and any(last in link.lower() and resolve(link) == own for link in _said(file).links)
    ]
    rows = [
        h("div", h("dt", key), h("dd", value)) for key, value in fields.items() if value and key != "title"
    ]
    title = _title(wanted, found[wanted])
    body = join(
        h("p", h("a", "Knowledge", href=f"/knowledge?vault={quote(vault)}"), " / ", wanted, class_="crumb"),
        h(
            "div",
            h(
                "article",
                None if text.lstrip().startswith("# ") else h("h1", title),
                wiki_html.render_wiki(text, resolve),
                class_="wide prose",
            ),
            h(
                "aside",
                h(
                    "section",
                    h("h2", "Linked from"),
                    h(
                        "ul",
                        [
                            h("li", h("a", _title(name, found[name]), href=_link(vault, name)), data_row=True)
                            for name in back
                        ],
                    ),
                )
                if back
                else None,
                h("section", h("h2", "About"), h("dl", rows, class_="sheet")) if rows else None,
                class_="narrow",
                aria_label="About this page",
            ),
            class_="columns",
        ),
    )
    return Page(title, body, "/knowledge")
