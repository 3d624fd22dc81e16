"""From a question to an answer: candidates by words and by meaning, ranked, repeats collapsed, or nothing."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo
from functools import partial
from typing import NamedTuple

from backstory import clock
from backstory.embed.embedder import Means
from backstory.errors import Failed
from backstory.search import floor as relevance
from backstory.search import hits as shown
from backstory.search import spelling
from backstory.search.answer import DEFAULT_LIMIT, Answer, Hit, ReadAs
from backstory.search.marks import marks
from backstory.search.names import unknown
from backstory.search.period_contents import Then, elsewhere, held, none_open, nothing, still_open
from backstory.search.question import CHARS, Question, question
from backstory.search.ranking import Here, Ranked, ranked
from backstory.store import Store
from backstory.store.full_text_index import Matches
from backstory.store.records import Filters, Found, PayloadMatches

BY_WORDS = Means(why="by words only", off=True)
BY_BOTH = "by words and meaning"
_BY_TIME = "by time"
_OPEN_STEPS = "open steps"
_UNSHELVED = "not all older words yet: the worker indexes them anew"
# Candidates by words and as many by meaning, and of how many of these the texts are read.
_POOL, _READ = 500, 150
# So few words are looked up where nothing is found.
_LOOKED_UP = 2
# How long what the index leaves out is looked through for a name that it does not know.
_DEEP_SECONDS = 0.5


def search(
    store: Store,
    text: str,
    project_id: str | None,
    limit: int = DEFAULT_LIMIT,
    floor: bool = True,
    *,
    means: Means = BY_WORDS,
    filters: Filters | None = None,
    here: Here | None = None,
    explain: bool = False,
    neighbours: int = 0,
    zone: tzinfo | None = None,
    but: Collection[str] = (),
) -> Answer:
    """The best hits for a question, in one project or in all; `but` are the ids of what is no answer."""
    now = clock.now_ms()
    asked = question(text, now, zone)
    if not asked.words or limit < 1:
        return Answer((), abstained=False, mode=means.why)
    looks = _Search(
        store, project_id, limit, floor, means, filters, here or Here(), explain, neighbours, zone, but, now
    )
    answer = looks.by_time(asked) if asked.whole else looks.by_matter(text, asked)
    return replace(answer, cut=len(text) > CHARS)


class _Meant(NamedTuple):
    """How it was searched by meaning: the nearest passages with their cosines, and among how many they are.

    `others` tells the cosines of the rest.
    """

    mode: str
    near: dict[int, float] = {}  # noqa: RUF012 - nobody writes to it
    among: int = 0
    others: Callable[[Sequence[int]], dict[int, float]] = lambda rows: {}


@dataclass(frozen=True, slots=True)
class _Search:
    """One search: where it looks, by what means, and what it is to show."""

    store: Store
    project_id: str | None
    limit: int
    floor: bool
    means: Means
    filters: Filters | None
    here: Here
    explain: bool
    neighbours: int
    zone: tzinfo | None
    but: Collection[str]
    now: int

    def by_time(self, asked: Question) -> Answer:
        """What the time holds that is asked for, or what is open."""
        then, mode = self._then(asked), _OPEN_STEPS if asked.open else _BY_TIME
        if asked.wish is not None:
            found, note, only_once = held(then, asked.wish, 4 * self.limit)
        else:
            found, note, only_once = still_open(then, 4 * self.limit)
        found = [(each, score) for each, score in found if each.owner not in self.but]
        if not found:
            note = none_open(then) if asked.open else nothing(then)
            return Answer((), True, mode, time_note=note)
        hits = [shown.of_time(each, score, self.explain) for each, score in found]
        if only_once:
            more = f"{self.limit} of {len(hits)} are shown." if len(hits) > self.limit else ""
            hits, note = hits[: self.limit], _sentences(note, more)
        else:
            hits = shown.each_once(hits, (each for each, _ in found), self.limit)
        hits = self._with_neighbours(hits, {each.owner: each for each, _ in found})
        return Answer(tuple(hits), False, mode, time_note=note)

    def by_matter(self, text: str, said: Question) -> Answer:
        """What has to do with what the question names."""
        asked, matches, read = self._by_words(text, said)
        meant = self._by_meaning(asked)
        best = self._ranked(asked, matches, meant)
        found = {one.found.owner: one.found for one in best}
        sure = partial(relevance.strength, question=asked)
        fitting = best
        if self.floor:
            fits = relevance.answered(best, asked, meant.among)
            fitting = [one for one in best if fits and sure(one) >= relevance.FLOOR]
        hits = shown.each_once(
            (shown.of_ranked(one, sure if self.explain else None) for one in fitting),
            found.values(),
            self.limit,
        )
        deep = self._deep(asked, matches, hits)
        found |= {each.owner: each for each in deep.found}
        inside = [shown.of_depth(each, self.explain) for each in deep.found]
        hits = self._with_neighbours([*shown.first_of(inside, hits, self.limit)], found)
        mode, lacking = self._mode(meant)
        note = self._of_other_times(said, hits, found)
        return Answer(
            tuple(hits),
            not hits,
            mode,
            lacking,
            note,
            tuple(read),
            tuple(name for name in asked.unknown if name not in deep.known),
            not deep.whole,
            narrowed=bool(self.filters),
            withheld=bool(best) and not hits,
        )

    def _deep(self, asked: Question, matches: Matches, hits: Sequence[Hit]) -> PayloadMatches:
        """Names that the index does not know, or the word or two asked for, in what it leaves out.

        Where it knows one of the two, an output that has only the other one is no answer.
        """
        names, absent = asked.unknown, set(matches.absent)
        if not hits and len(asked.words) <= _LOOKED_UP and absent.issuperset(asked.phrases):
            names = tuple(word.text for word in asked.words)
        if not names:
            return PayloadMatches([], set(), whole=True)
        found = self.store.payload_scan.find(names, self.project_id, self.limit, _DEEP_SECONDS, self.filters)
        return found._replace(found=[each for each in found.found if each.owner not in self.but])

    def _then(self, asked: Question) -> Then:
        return Then(self.store, self.project_id, self.filters, asked.since, asked.until, self.now, self.zone)

    def _by_words(self, text: str, asked: Question) -> tuple[Question, Matches, list[ReadAs]]:
        """What has the question's words; and the question as it was read, if some were mistyped."""
        matches = self._matches(asked)
        read = spelling.read_as(self.store, spelling.mistyped(asked.words, matches.absent), self.project_id)
        if read:
            mended = question(spelling.mended(text, read), self.now, self.zone)
            asked = replace(mended, since=asked.since, until=asked.until)
            matches = self._matches(asked)
        return replace(asked, unknown=unknown(asked.words, matches.absent)), matches, read

    def _matches(self, asked: Question) -> Matches:
        """What has the question's words."""
        return self.store.passages.matches(asked.phrases, self.project_id, self._pool, self.filters)

    @property
    def _pool(self) -> int:
        return max(_POOL, 4 * self.limit)

    def _by_meaning(self, asked: Question) -> _Meant:
        """The passages that are nearest in meaning, and how it was searched."""
        embedder = self.means.embedder
        if embedder is None:
            return _Meant(self.means.why)
        model = self.store.vectors.model()
        if model != embedder.model:
            why = f"vectors are of {model}, to be made anew" if model else "no vectors yet"
            return _Meant(f"by words; {why}: the next worker makes those of {embedder.model}")
        from backstory.search import meaning

        try:
            vector = meaning.vector_of(embedder, asked.text)
        except Failed as error:
            return _Meant(f"by words; {error}")
        if self.store.vectors.dimensions() not in (0, len(vector)):
            return _Meant(
                f"by words; {model} gives other vectors than before: the next worker makes them anew"
            )
        vectors, filters = self.store.vectors, self.filters
        through = (lambda rows: self.store.passages.passing(rows, filters)) if filters else None
        near, among = meaning.nearest(vectors, model, vector, self.project_id, self._pool, through)
        others = partial(meaning.cosines, vectors, model, vector)
        return _Meant(f"{BY_BOTH} ({model})", near, among, others)

    def _ranked(self, asked: Question, matches: Matches, meant: _Meant) -> list[Ranked]:
        """The passages that were found, best first."""
        near = meant.near | meant.others([each.row for each in matches.ranks if each.row not in meant.near])
        marked = marks(matches.ranks, near)
        rows = marked.best(max(_READ, 4 * self.limit))
        candidates = [
            each for each in self.store.passages.by_row(rows, self.filters) if each.owner not in self.but
        ]
        return ranked(asked, candidates, marked, self.here, self.now)

    def _mode(self, meant: _Meant) -> tuple[str, str]:
        """How it was searched, and why not better, if it should have been."""
        mode = meant.mode
        lacking = "" if self.means.off or meant.near or mode.startswith(BY_BOTH) else mode
        if self.store.passages.words_unindexed():
            mode = lacking = f"{mode}; {_UNSHELVED}"
        return mode, lacking

    def _of_other_times(self, said: Question, hits: Sequence[Hit], found: dict[str, Found]) -> str:
        """That nothing is of the time that the question names, if so."""
        times = (found[each].at for hit in hits for each in (hit.id, *hit.also))
        if not said.until or any(said.since <= at < said.until for at in times):
            return ""
        return elsewhere(self._then(said), bool(hits))

    def _with_neighbours(self, hits: list[Hit], found: dict[str, Found]) -> list[Hit]:
        if not self.neighbours:
            return hits
        return [shown.with_neighbours(self.store, hit, found[hit.id], self.neighbours) for hit in hits]


def _sentences(*each: str) -> str:
    return " ".join(filter(None, each))
