"""What was forgotten leaves every page: rows that tell it, its sessions' entries, articles made of it alone.

This and taking out secrets are the only times that a log is rewritten. Articles that nothing is left of go,
with every link to them; the compiled state of a log that changed goes too, so that it is compiled anew.
"""

import os
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from backstory.atomic import write_atomic
from backstory.file_reader import LARGEST_HISTORY, read_bytes, regular_file
from backstory.front_matter import split_front_matter
from backstory.hook.brief_text import HANDLE
from backstory.knowledge import facts, model_prose
from backstory.knowledge.articles import article_from, is_empty
from backstory.knowledge.index_page import put_index
from backstory.knowledge.log_entry import CONTEXT, told_title
from backstory.knowledge.markdown_page import links_in, page_sections
from backstory.knowledge.page_transaction import Changes, take_back
from backstory.knowledge.vault import ARTICLES, Vault
from backstory.knowledge.vault_export import exported_pages
from backstory.paths import Home

_HANDLE = re.compile(r"\b([ms][0-9a-f]{8})[0-9a-f]*\b")
_LISTED = re.compile(r"^(- (?:created|updated): )(`.*`)$", re.MULTILINE)
_LOG, _REPORTS = "log.md", "reports/"
_CONTEXT = f"**{CONTEXT}:**"
_ENTRY = re.compile(r"### \d\d:\d\d · \S+ · (s[0-9a-f]{8})")


class Unwanted:
    """What must not stand on any page: words, and the handles of memories and sessions.

    `repeats` knows what they said. `titles` are those that the sessions which lose something are left with.
    """

    def __init__(
        self,
        ids: Iterable[str],
        matches: Callable[[str], bool] | None,
        repeats: Callable[[str], bool],
        titles: Mapping[str, str],
    ) -> None:
        self._handles = {one[:HANDLE] for one in ids}
        self._matches = matches
        self._titles = {sid[:HANDLE]: title for sid, title in titles.items()}
        self.repeats = repeats

    @property
    def by_words(self) -> bool:
        """Whether words are meant wherever they stand, also where no memory or session is told of."""
        return self._matches is not None

    def session(self, handle: str) -> bool:
        """Whether this is a session that is forgotten."""
        return handle in self._handles

    def untitles(self, handle: str, row: str) -> bool:
        """Whether a row of a session's entry says what it was about, and it is not called so any more."""
        if self._matches is not None or handle not in self._titles or not row.startswith(_CONTEXT):
            return False
        title = told_title(self._titles[handle])
        return not title or not row.startswith(f"{_CONTEXT} {title} (")

    def may_stand_in(self, text: str) -> bool:
        """Whether a text has to be looked through row by row."""
        return self._matches is not None or any(handle in text for handle in {*self._handles, *self._titles})

    def tells(self, row: str) -> bool:
        """Whether a row tells of it."""
        return self.has_words(row) or any(handle in self._handles for handle in _HANDLE.findall(row))

    def has_words(self, text: str) -> bool:
        """Whether a text has the words that are to be forgotten."""
        return self._matches is not None and self._matches(text)

    def names(self, address: str) -> bool:
        """Whether a page is called by the words; its address has hyphens between them."""
        return self.has_words(address) or self.tells(address.rpartition("/")[2].replace("-", " "))


def home_vaults(home: Home) -> Iterator[Vault]:
    """Every vault of a home."""
    for root in sorted(home.knowledge.iterdir()) if home.knowledge.is_dir() else ():
        if root.is_dir() and not root.is_symlink():
            yield Vault(root, root.name)


def pages_with(home: Home, unwanted: Unwanted) -> list[Path]:
    """The pages, and what was compiled of them, that would be changed or removed."""
    inside = [
        path
        for vault in home_vaults(home)
        for relative in _planned(vault, unwanted).pages
        if (path := vault.file(relative)).exists()
    ]
    return inside + [path for path, text in _loose(home) if _cleaned(path.name, text, unwanted) != text]


def others_with(home: Home, unwanted: Unwanted, has: Callable[[Path], bool]) -> list[Path]:
    """Files among the pages that are neither Markdown nor ours, and tell of it; pages that are called by it.

    Boards, drawings, an editor's own state: whoever edits them must know their format. They stay.
    """
    found = []
    for vault in (Vault(home.knowledge, ""), *home_vaults(home)):
        for relative in _files(vault, deep=vault.root != home.knowledge):
            path = vault.root / relative
            page = _is_page(relative)
            if unwanted.names(relative.rpartition(".")[0] or relative):
                if not page or relative.partition("/")[0] not in (*ARTICLES, "facts"):
                    found.append(path)
            elif not page and has(path):
                found.append(path)
    return found


def exported_with(
    vault: Vault, base: Path, pages: Iterable[Path], unwanted: Unwanted
) -> tuple[list[Path], list[Path]]:
    """Of a vault's copy in a repository: our pages that would be changed, and what others made of ours."""
    changed = {path.relative_to(vault.root).as_posix() for path in pages if vault.root in path.parents}
    ours: list[Path] = []
    others: list[Path] = []
    for name, text, mine in exported_pages(base):
        if _cleaned(name, text, unwanted) != text or (mine and name in changed):
            (ours if mine else others).append(base / name)
    return ours, others


def erase_pages(home: Home, unwanted: Unwanted) -> None:
    """Take it out of every page of every vault."""
    for path, text in _loose(home):
        if (clean := _cleaned(path.name, text, unwanted)) != text:
            write_atomic(path, clean.encode("utf-8", "replace"))
    for vault in home_vaults(home):
        with vault.held():
            take_back(vault)
            _planned(vault, unwanted).write()


def _planned(vault: Vault, unwanted: Unwanted) -> Changes:
    changes = Changes(vault)
    for relative, text in _texts(vault):
        clean = _cleaned(relative, text, unwanted)
        if clean == text:
            continue
        changes.put(relative, clean)
        if relative.startswith("daily/"):
            state = f".backstory/days/{relative[6:-3]}.json"
            if vault.file(state).exists():
                changes.remove(state)
    gone = frozenset(
        address for address in vault.articles() + vault.links("facts") if _is_gone(address, changes, unwanted)
    )
    for address in gone:
        changes.remove(f"{address}.md")
    for relative, _ in _texts(vault):
        now = changes.read(relative)
        if gone and now is not None:
            changes.put(relative, _unnamed(relative, now, gone))
    if changes.pages:
        if changes.read("index.md") is not None:
            put_index(changes)
        facts.put_index(changes)
    model_prose.forget_prose(changes, lambda page: page in gone or unwanted.names(page), unwanted.session)
    for relative, text in _states(vault):
        compiled = relative.startswith(".backstory/days/")
        if unwanted.tells(text) if compiled else unwanted.has_words(text):
            changes.remove(relative)
    return changes


def _states(vault: Vault) -> Iterator[tuple[str, str]]:
    """Our own files of a vault, also those that were moved aside, but for two that hold no text."""
    for path in sorted(vault.own.rglob("*")) if vault.own.is_dir() else ():
        relative = path.relative_to(vault.root).as_posix()
        needed = relative in (".backstory/format.json", ".backstory/lock", model_prose.STATE_FILE)
        if not needed and regular_file(path) and not path.is_symlink():
            yield relative, _text(path)


def _text(path: Path | str) -> str:
    return read_bytes(path, LARGEST_HISTORY).decode("utf-8", "replace")


def _texts(vault: Vault) -> Iterator[tuple[str, str]]:
    """The pages of a vault, whoever wrote them, also those in the folders that an editor hides."""
    for relative in filter(_is_page, _files(vault)):
        yield relative, _text(vault.root / relative)


def _loose(home: Home) -> Iterator[tuple[Path, str]]:
    """Pages that lie beside the vaults."""
    for name in filter(_is_page, _files(Vault(home.knowledge, ""), deep=False)):
        yield home.knowledge / name, _text(home.knowledge / name)


def _is_page(relative: str) -> bool:
    return relative.lower().endswith(".md")


def _files(vault: Vault, deep: bool = True) -> Iterator[str]:
    """The regular files of a vault, but for those that are ours and not for reading."""
    root = str(vault.root)
    for folder, folders, names in os.walk(root):  # there may be thousands, and pathlib takes its time
        folders[:] = (
            sorted(name for name in folders if folder != root or name != vault.own.name) if deep else []
        )
        for name in sorted(names):
            path = os.path.join(folder, name)  # noqa: PTH118
            if not os.path.islink(path) and regular_file(path) is not None:  # noqa: PTH114
                yield path[len(root) + 1 :].replace(os.sep, "/")


def _cleaned(relative: str, text: str, unwanted: Unwanted) -> str:
    """A page without the rows that tell of it, and without the entries of forgotten sessions."""
    of_pages = relative == _LOG or relative.startswith(_REPORTS)
    if not of_pages and not unwanted.may_stand_in(text):
        return text
    kept: list[str] = []
    session = ""
    for row in text.splitlines(keepends=True):
        if row.startswith("### "):
            found = _ENTRY.match(row)
            session = found[1] if found else ""
        elif re.match(r"#{1,2} |- \d\d:\d\d \[", row):
            session = ""
        told = unwanted.session(session) or unwanted.untitles(session, row) or unwanted.tells(row)
        if not told and not (of_pages and row.startswith("- ") and unwanted.repeats(row)):
            kept.append(row)
    return "".join(_unwrapped(kept, unwanted))


def _unwrapped(rows: list[str], unwanted: Unwanted) -> list[str]:
    """The rows without those over which the words are wrapped, a line break between them."""

    def until(last: int) -> bool:
        return unwanted.has_words("".join(rows[: last + 1]))

    while rows and until(len(rows)):
        last = bisect_left(range(len(rows)), True, key=until)
        end = last + 1
        late = bisect_left(range(end), True, key=lambda at: not unwanted.has_words("".join(rows[at:end])))
        del rows[late - 1 : end]
    return rows


def _unnamed(relative: str, text: str, gone: frozenset[str]) -> str:
    """A page that neither links to what is gone nor, if it is a log or a report of pages, names it."""
    rows = [row for row in text.splitlines(keepends=True) if gone.isdisjoint(links_in(row))]
    if relative == _LOG:
        rows = [_LISTED.sub(lambda found: _without(found, gone), row) for row in rows]
    elif relative.startswith(_REPORTS):
        rows = [row for row in rows if not any(f"`{address}`" in row for address in gone)]
    return "".join(rows)


def _without(found: re.Match[str], gone: frozenset[str]) -> str:
    left = [page for page in found[2].split(", ") if page.strip("`") not in gone]
    return f"{found[1]}{', '.join(left) or 'none'}"


def _is_gone(address: str, changes: Changes, unwanted: Unwanted) -> bool:
    """Whether an article was made of it alone, or is called by it."""
    if address == facts.INDEX:
        return False
    text = changes.read(f"{address}.md")
    if text is None or unwanted.names(address):
        return True
    if f"{address}.md" not in changes.pages:
        return False
    fields, body = split_front_matter(text)
    match address.partition("/")[0]:
        case "facts":
            return True
        case "concepts":
            return is_empty(article_from(address, text))
        case "connections":
            return not page_sections(body).get("Connection", "").strip()
        case _:
            return not fields.get("title") or not page_sections(body).get("Answer", "").strip()
