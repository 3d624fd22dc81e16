"""Logs to wiki: which logs are stale, what of them is new, and the articles that this makes or changes.

A log is compiled when its content differs from what was compiled last, or when a memory that it tells was
rejected or worded anew; if what was compiled is its exact beginning, only the rest is read. All pages of a
compilation are written together, with the state that says what was compiled.
"""

import json
import time
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from backstory.errors import UsageError
from backstory.file_reader import read_bytes
from backstory.front_matter import front_matter, split_front_matter
from backstory.knowledge import articles as making
from backstory.knowledge import rollup
from backstory.knowledge.articles import Article, ArticleIndex
from backstory.knowledge.index_page import article_links, put_index, put_log
from backstory.knowledge.log_notes import (
    Note,
    Standing,
    is_note,
    load_standing,
    note_from,
    note_gist,
    notes_in,
    passed_over,
)
from backstory.knowledge.markdown_page import (
    code_span,
    harmless_line,
    links_in,
    wikilink,
    with_block,
    words_of,
)
from backstory.knowledge.model_prose import leave_word
from backstory.knowledge.page_transaction import Changes, take_back
from backstory.knowledge.skipped_work import record_skip, take_skips
from backstory.knowledge.topics import Topic, files_of, module_of, topics_of
from backstory.knowledge.vault import Vault
from backstory.store import Store

_STRONG = ("decision", "wish", "lesson", "attempt", "line")
_ENOUGH_SESSIONS = 2
_ENOUGH_MENTIONS = 2
_MOST_CONNECTIONS = 12


@dataclass(frozen=True, slots=True)
class Stale:
    """A log that is to be compiled: new, grown (only its tail is read), changed or judged (both read anew).

    A damaged one is compiled only if somebody says so: what is known of it cannot be read.
    """

    day: str
    how: str


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one compilation takes on."""

    logs: int = 60
    seconds: float = 120.0


@dataclass(frozen=True, slots=True)
class Compiled:
    """What a compilation did, or would do.

    `left` waits for the next; `taken_back` was a killed one's; `damaged` waits for a person's word.
    """

    days: tuple[Stale, ...] = ()
    created: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    taken_back: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    damaged: tuple[str, ...] = ()


def stale_logs(
    vault: Vault, everything: bool = False, only: str = "", now: Standing | None = None
) -> list[Stale]:
    """The logs that are to be compiled, past days first."""
    days = vault.days()
    if only:
        day = only.rpartition("/")[2].removesuffix(".md")
        if day not in days:
            raise UsageError(f"there is no daily log {only!r} in {vault.root / 'daily'}")
        days = [day]
    found = []
    for day in days:
        data = read_bytes(vault.page(f"daily/{day}"))
        known = _known(vault, day)
        if everything or only:
            found.append(Stale(day, "new" if known == {} else "changed"))
        elif known is None:
            found.append(Stale(day, "damaged"))
        elif not known:
            found.append(Stale(day, "new"))
        elif now is not None and now.differs(map(note_from, known["notes"]), known.get("passed", ())):
            found.append(Stale(day, "judged"))
        elif known["hash"] != content_digest(data):
            whole = content_digest(data[: known["size"]]) == known["hash"]
            found.append(Stale(day, "grown" if whole else "changed"))
    return found


def _known(vault: Vault, day: str) -> dict[str, Any] | None:
    """What was compiled of a day: empty if nothing was, None if that cannot be read."""
    return vault.glance(f"days/{day}", is_day)


def is_day(state: dict[str, Any]) -> bool:
    """Whether this is what a compilation writes of a day."""
    notes, passed = state.get("notes"), state.get("passed", [])
    whole = isinstance(state.get("hash"), str) and isinstance(state.get("size"), int)
    return whole and isinstance(notes, list) and all(map(is_note, notes)) and isinstance(passed, list)


def content_digest(data: bytes) -> str:
    """What tells one content of a log from another."""
    return blake2b(data, digest_size=16).hexdigest()


def compile_vault(
    vault: Vault,
    store: Store | None,
    project_id: str,
    stamp: str,
    limits: Limits,
    everything: bool = False,
    only: str = "",
    dry: bool = False,
    prose: bool = False,
) -> Compiled:
    """Bring the wiki up to date with the logs, or only tell what that would do.

    `stamp` is the local time, "YYYY-MM-DD HH:MM". With `prose` word is left that a model shall write about
    what is new. A failure writes nothing.
    """
    with vault.held():
        taken_back = () if dry else tuple(take_back(vault))
        earlier = () if dry else tuple(take_skips(vault))
        now = load_standing(store, project_id)
        every = stale_logs(vault, everything, only, now)
        found = [each for each in every if each.how != "damaged"]
        work = _Compilation(vault, store, stamp[:10], now)
        deadline = time.monotonic() + limits.seconds
        done: list[Stale] = []
        for each in found:
            if len(done) >= limits.logs or (done and time.monotonic() > deadline):
                break
            work.read(each)
            done.append(each)
        left = tuple(each.day for each in found[len(done) :])
        if done:
            work.write_articles()
            work.put(stamp, project_id)
            if prose:
                leave_word(work.changes, work.articles(), work.fresh)
        result = Compiled(
            tuple(done),
            tuple(work.created),
            tuple(work.updated),
            tuple(work.removed),
            left,
            taken_back,
            earlier,
            tuple(each.day for each in every if each.how == "damaged"),
        )
        if not dry:
            for each in done:
                if _known(vault, each.day) is None:
                    vault.state(f"days/{each.day}", is_day)  # moves aside what cannot be read
            work.changes.write()
            if left:
                record_skip(vault, "compile", f"{len(left)} logs left at the limit: {', '.join(left[:5])}")
    return result


class _Compilation:
    """One compilation under way."""

    def __init__(self, vault: Vault, store: Store | None, today: str, now: Standing) -> None:
        self.changes = Changes(vault)
        self.fresh: list[Note] = []
        self.created: list[str] = []
        self.updated: list[str] = []
        self.removed: list[str] = []
        self._vault = vault
        self._store = store
        self._today = today
        self._now = now
        self._notes: dict[str, list[Note]] = {}
        for day in vault.days():
            known = _known(vault, day)
            if known is None:
                self._notes[day] = notes_in(vault.read(f"daily/{day}"), day, store, now)
            elif known:
                self._notes[day] = [note_from(value) for value in known["notes"]]
        self._articles = ArticleIndex(
            making.article_from(address, self.changes.read(f"{address}.md") or "")
            for address in vault.links("concepts")
        )
        self._before = {article.link: article.text() for article in self._articles.articles.values()}
        self._pairs: dict[tuple[str, str], list[Note]] = {}

    def read(self, each: Stale) -> None:
        """Take in a log, or its tail."""
        data = read_bytes(self._vault.page(f"daily/{each.day}"))
        before: list[Note] = []
        start = 0
        if each.how == "grown":
            start, before = int((_known(self._vault, each.day) or {})["size"]), self._notes[each.day]
        elif each.how != "new":
            for article in self._articles.articles.values():
                if f"daily/{each.day}" in article.sources:
                    making.drop_day(article, each.day)
        text = data.decode("utf-8", "replace")
        new = notes_in(data[start:].decode("utf-8", "replace"), each.day, self._store, self._now)
        self.fresh += new
        self._notes[each.day] = [*before, *new]
        state: dict[str, Any] = {
            "hash": content_digest(data),
            "size": len(data),
            "notes": [note.as_json() for note in self._notes[each.day]],
            "passed": passed_over(text, self._now),
        }
        self.changes.put(f".backstory/days/{each.day}.json", json.dumps(state, ensure_ascii=False))

    def articles(self) -> list[Article]:
        """All concepts, as they will be."""
        return list(self._articles.articles.values())

    def write_articles(self) -> None:
        """Make and change articles, in memory."""
        every = [note for notes in self._notes.values() for note in notes]
        homes: dict[Topic, list[Note]] = defaultdict(list)
        mentions: dict[Topic, list[Note]] = defaultdict(list)
        for note in every:
            about = topics_of(note)
            for number, topic in enumerate(about):
                (homes if number == 0 else mentions)[topic].append(note)
        fresh = set(self.fresh)
        wanted = dict.fromkeys(topic for note in self.fresh for topic in topics_of(note))
        new: set[Topic] = set()
        for topic in wanted:
            if self._articles.about(topic) is None and _qualifies(homes[topic], mentions[topic]):
                self._articles.new(topic, self._today)
                new.add(topic)
        for topic in wanted:
            article = self._articles.about(topic)
            if article is None:
                continue
            told = [note for note in homes[topic] if topic in new or note in fresh]
            pointed: dict[str, list[tuple[Note, str]]] = defaultdict(list)
            for note in mentions[topic]:
                home = self._home(note)
                if home is not None and home is not article:
                    making.link_articles(article, home)
                    making.link_articles(home, article)
                if topic not in new and note not in fresh:
                    continue
                if home is article:
                    told.append(note)
                elif home is not None:
                    pointed[home.link].append((note, home.title))
            told.sort(key=lambda note: (note.day, note.time))
            making.add_notes(article, told, pointed)
        self._modules(wanted)
        for article in list(self._articles.articles.values()):
            if article.text() == self._before.get(article.link):
                continue
            if article.link in self._before and making.is_empty(article):
                self._remove(article.link)
                continue
            making.write_introduction(article)
            article.updated = self._today
        self._pairs = self._paired(every)

    def _home(self, note: Note) -> Article | None:
        """The article that tells a note: of the first of its topics that has one."""
        found = (self._articles.about(topic) for topic in topics_of(note))
        return next((article for article in found if article is not None), None)

    def _modules(self, wanted: Iterable[Topic]) -> None:
        """An article for a folder in which several files have theirs."""
        inside: dict[str, list[Article]] = defaultdict(list)
        for article in self._articles.articles.values():
            names = [name for name in (article.title, *article.aliases) if "file" in article.tags]
            path = max(names, key=len, default="")
            if module := module_of(path):
                inside[module].append(article)
        touched = {module_of(topic.name) for topic in wanted if topic.kind == "file"}
        for module in touched & set(inside):
            if len(inside[module]) < _ENOUGH_MENTIONS:
                continue
            topic = Topic("module", f"{module}/")
            article = self._articles.about(topic) or self._articles.new(topic, self._today)
            for file in inside[module]:
                others = [row for row in article.rows[making.POINTS] if file.link not in links_in(row)[:1]]
                article.rows[making.POINTS] = [*others, making.told_of(file)]
                making.link_articles(article, file)
                making.link_articles(file, article)
                article.sources = sorted({*article.sources, *file.sources})
            article.rows[making.SOURCES] = [f"- {wikilink(source)}" for source in article.sources]

    def _remove(self, address: str) -> None:
        del self._articles.articles[address]
        self.removed.append(address)
        for other in self._articles.articles.values():
            self._articles.articles[other.link] = making.without_links_to(other, address)

    def _paired(self, every: Iterable[Note]) -> dict[tuple[str, str], list[Note]]:
        """Pairs of concepts that notes name together, often enough to say so."""
        pairs: dict[tuple[str, str], list[Note]] = defaultdict(list)
        known: dict[Topic, Article | None] = {}
        for note in every:
            about = topics_of(note)
            for topic in about:
                if topic not in known:
                    known[topic] = self._articles.about(topic)
            found = list(dict.fromkeys(a.link for topic in about if (a := known[topic]) is not None))
            for other in found[1:]:
                first, second = sorted((found[0], other))
                pairs[first, second].append(note)
        often = [(pair, notes) for pair, notes in pairs.items() if len(notes) >= _ENOUGH_MENTIONS]
        often.sort(key=lambda found: (-len(found[1]), found[0]))
        fresh = {note.handle or note.text for note in self.fresh}
        return {
            pair: notes
            for pair, notes in often[: 10 * _MOST_CONNECTIONS]
            if any((note.handle or note.text) in fresh for note in notes)
        }

    def put(self, stamp: str, project_id: str) -> None:
        """Plan every page, and the state."""
        self._put_connections()
        for article in self._articles.articles.values():
            if article.text() != self._before.get(article.link):
                (self.updated if article.link in self._before else self.created).append(article.link)
                self.changes.put(f"{article.link}.md", article.text())
        for address in self.removed:
            self.changes.remove(f"{address}.md")
        for week in sorted({rollup.week_of(note.day) for note in self.fresh}):
            days = [day for day in sorted(self._notes) if rollup.week_of(day) == week]
            rollup.put_week(self.changes, week, [note for day in days for note in self._notes[day]])
        rollup.put_highlights(self.changes)
        if self._store is not None and project_id:
            rollup.put_runbook(self.changes, self._store, project_id)
        put_log(self.changes, stamp, "compile", self.created, self.updated)
        put_index(self.changes)

    def _put_connections(self) -> None:
        added = 0
        for (first, second), notes in self._pairs.items():
            address = f"connections/{first.partition('/')[2]}-and-{second.partition('/')[2]}"
            known = self.changes.read(f"{address}.md")
            if known is None and added >= _MOST_CONNECTIONS:
                continue
            added += known is None
            one, other = (self._articles.articles[each] for each in (first, second))
            for concept in (one, other):
                making.link_articles(concept, address)
            text = _connection(one, other, notes, self._today, known or "")
            if text != known:
                self.changes.put(f"{address}.md", text)
                (self.created if known is None else self.updated).append(address)
        for address in article_links(self.changes, "connections"):
            fields, _ = split_front_matter(self.changes.read(f"{address}.md") or "")
            if any(one in self.removed for one in words_of(fields.get("connects"))):
                self.changes.remove(f"{address}.md")
                self.removed.append(address)
                for article in self._articles.articles.values():
                    self._articles.articles[article.link] = making.without_links_to(article, address)


def _qualifies(told: list[Note], mentioned: list[Note]) -> bool:
    """Whether there is enough to say for an article."""
    if any(note.kind in _STRONG for note in told):
        return True
    if told and any(note.kind in _STRONG for note in mentioned):
        return True
    sessions = {note.session for note in (*told, *mentioned)}
    return len(sessions) >= _ENOUGH_SESSIONS or len(mentioned) >= _ENOUGH_MENTIONS


def _connection(one: Article, other: Article, notes: list[Note], today: str, old: str) -> str:
    """The page that says how two concepts belong together."""
    fields, body = split_front_matter(old)
    days = sorted({note.day for note in notes})
    rows = [
        f"- {_WHAT.get(note.kind, 'A note')}: {harmless_line(note_gist(note))} {making.citation(note)}"
        for note in notes[-12:]
    ]
    files = sorted({name for note in notes for name in files_of(note)})[:6]
    made = (
        f"{wikilink(one.link, one.title)} and {wikilink(other.link, other.title)} come up together in "
        f"{len(notes)} note{'' if len(notes) == 1 else 's'}"
        + (f", about {', '.join(code_span(name) for name in files)}" if files else "")
        + ".\n\n## Connection\n\n"
        + "\n".join(rows)
        + "\n\n## Sources\n\n"
        + "\n".join(f"- {wikilink(f'daily/{day}')}" for day in days)
    )
    head = {
        "title": f"{one.title} and {other.title}",
        "connects": [one.link, other.link],
        "tags": ["connection"],
        "sources": [f"daily/{day}" for day in days],
        "created": str(fields.get("created") or today),
    }
    page = with_block(body.strip(), f"# {one.title} and {other.title}\n", made).lstrip("\n")
    same = front_matter({**head, "updated": str(fields.get("updated") or today)}) + "\n" + page
    return same if same == old else front_matter({**head, "updated": today}) + "\n" + page


_WHAT = {
    "decision": "A decision",
    "wish": "A wish",
    "lesson": "A lesson",
    "attempt": "An abandoned attempt",
    "line": "A line of the log",
    "turn": "A turn",
    "outcome": "What came of a session",
}
