"""What a project knows about a prompt, an error or a command, or nothing if nothing is sure enough.

Passages are looked up as search does it: words find them by BM25, meaning by the cosine of their vectors; the
sum ranks them (`search/marks.py`). For a prompt the episode that it is about comes first (`episodes.py`), a
short session as a whole, and before it what was said of the same matter later: that is what holds. Nothing
else is said if it has too little to do with the question (`search/evidence.py`), and each row tells something
(`informative.py`). Hooks run this on a connection of their own, so it imports little; numpy and the model
only where there are vectors.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from backstory.attribution import by_agent
from backstory.embed import MINILM
from backstory.error_lines import error_lines
from backstory.hook.remote_code import runs_remote_code
from backstory.hook.work_notes import ROW
from backstory.recall.episodes import NEAR, Episode, Fit, by_session, episode_of, fitness, nearness
from backstory.recall.informative import informative
from backstory.recall.note_worth import FLOOR, note_worth
from backstory.search.evidence import LOOKED_AT, enough, enough_alone, shares_enough
from backstory.search.marks import FORMS, KINDS, marks
from backstory.search.names import bare, stands_in, unknown
from backstory.search.question_words import MOST, phrases_of, words_of
from backstory.store.full_text_index import FullTextIndex
from backstory.store.passage_reader import (
    Told,
    places_of,
    prompt_of,
    reading,
    rejected,
    texts_of,
    told_passages,
)
from backstory.store.vectors import Vectors
from backstory.typed_words import typed_words

if TYPE_CHECKING:
    from sqlite3 import Connection

    from backstory.embed.vector_codes import Floats

__all__ = ["Found", "Lookup", "reading"]

#: So much of a prompt is looked up: what the model reads of it.
ASKED_CHARS = 600
_POOL, _READ = 300, 60
# A passage is told if it is as near as this, whatever else speaks for it.
_COSINE = 0.3
# How much surer than a search a note must be: nobody has asked for it; of a message or command alone.
_SURER, _ALONE_SURER = 0.04, 0.14
# What a row takes beside its text behind another one of its session; any other row takes `ROW`.
_NEXT_ROW = 6
# A second episode is told, too, if it fits nearly as well as the first, which then leaves it some room.
_ALSO, _SHARE = 0.85, 0.7
# A later word on an episode's matter: how much it has of its words and how near it is, in the mean; so many
# of the episode's words are looked for, and among so many passages; so many such turns are told, with so much
# room, and whole if they have so few passages.
_SAME_MATTER, _MATTER_WORDS, _MATTER_POOL = 0.385, 80, 100
_LATER, _LATER_ROOM, _SHORT_TURN = 2, 500, 4
# So many memories that are sure by themselves stand before an episode; so many rows of no episode behind it.
_HELD, _OTHERS = 2, 3
# Two rows that share so many of their words say the same.
_SAME = 0.6
_ERROR_LINES = 3
_COMMAND_CHARS = 200
_HEREDOC = re.compile(r"[\"']?\$\(cat <<|<<-?\s*[\"']?\w")
_QUOTED = re.compile(r"`([^`]{1,500})`")
_LONG_TEXT = re.compile(r"\"[^\"]{25,}\"|'[^']{25,}'")
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+")
_WORD = re.compile(r"[^\W\d_][\w'-]{2,}")
_STANDS = ("", "candidate", "confirmed")


class Found(NamedTuple):
    """A row to tell."""

    id: str
    text: str
    at: int
    agent: str
    session: str
    said_by: str


class _Looked(NamedTuple):
    """What was found, best first: among how many by meaning, for which words, of which so many are known."""

    fits: list[Fit]
    among: int
    words: list[str]
    known: float


class Lookup:
    """Looks up in one project's passages; `own` is the session that is told, `known` the ids it knows.

    Of memories only `memories` are told: who says so has the words for whose they are.
    """

    def __init__(
        self,
        connection: "Connection",
        project_id: str,
        own: str = "",
        known: Iterable[str] = (),
        memories: Collection[str] = (),
        *,
        by_meaning: bool = True,
    ) -> None:
        self._db = connection
        self._project = project_id
        self._own = own
        self._known = known if isinstance(known, set) else set(known)
        self._memories = memories
        self._by_meaning = by_meaning and Vectors(connection).model() == MINILM
        self._typed: dict[str, str] = {}
        self._rejected: list[set[str]] | None = None
        self._vector: Floats  # of what was looked for last

    def on_prompt(self, prompt: str, most: int, room: int) -> list[Found]:
        """What the project knows about a prompt: first the episode that it is about, and what came of it."""
        looked = self._look(prompt)
        named = {each.told.row for each in looked.fits if _names_any(looked.words, each.told.text)}
        episodes = self._episodes(looked)
        if not episodes:
            alone = [each for each in looked.fits if each.told.row in named or self._is_sure(each, looked)]
            held = [each for each in looked.fits if not each.told.form]
            rows = alone + held if self._sure(looked._replace(fits=held)) else alone
            return self._chosen(rows, most, room, named)
        held = [each for each in looked.fits if not each.told.form and self._is_sure(each, looked)]
        found = self._chosen(held, min(most, _HELD), _LATER_ROOM, named)
        for said, whole in episodes:
            share = room if said is episodes[-1][0] else int(room * _SHARE)
            for later in self._later(said) if said is episodes[0][0] else []:
                found += self._also(found, later, most, min(share, _LATER_ROOM), named, whole=True)
            found += self._also(found, said, most, share, named, whole=whole)
        inside = {each.told.row for said, _ in episodes for each in said}
        others = [each for each in looked.fits if each.told.row not in inside]
        return found + self._also(found, others, min(most, len(found) + _OTHERS), room, named)

    def _also(
        self,
        found: Sequence[Found],
        fitting: Sequence[Fit],
        most: int,
        room: int,
        named: Collection[int],
        *,
        whole: bool = False,
    ) -> list[Found]:
        """What of these is told beside what was found before; an episode in its order."""
        room -= sum(len(each.text) + _NEXT_ROW for each in found)
        said = [_words(each.text) for each in found]
        rows = self._chosen(fitting, most - len(found), room, named, said, whole=whole)
        order = {each.told.id: number for number, each in enumerate(fitting)}
        return sorted(rows, key=lambda row: order[row.id])

    def _episodes(self, looked: _Looked) -> list[tuple[list[Fit], bool]]:
        """The one or two episodes that a question is about: what was said, and if so a whole session."""
        if not self._by_meaning and not self._sure(looked):
            return []
        weighed: list[tuple[float, Episode, dict[int, float]]] = []
        for session, fits in by_session(looked.fits).items():
            episode = episode_of(session, fits, places_of(self._db, session))
            cosines = self._cosines(episode.rows)
            weighed.append((fitness(episode, cosines.values()), episode, cosines))
        weighed.sort(key=lambda each: -each[0])
        return [
            (self._said_in(episode, cosines), episode.is_whole)
            for number, (fits_so, episode, cosines) in enumerate(weighed[:2])
            if not cosines or nearness(weighed[0][2].values()) >= NEAR
            if not number or (fits_so >= _ALSO * weighed[0][0] and nearness(cosines.values()) >= NEAR)
        ]

    def _said_in(self, episode: Episode, cosines: Mapping[int, float]) -> list[Fit]:
        """All that was said in an episode, in its order."""
        place = {row: number for number, row in enumerate(episode.rows)}
        said = sorted(told_passages(self._db, episode.rows, self._own), key=lambda each: place[each.row])
        fits = {each.told.row: each for each in episode.fits}
        return [
            fits.get(each.row) or Fit(cosines.get(each.row, 0.0) + _prior(each), cosines.get(each.row), each)
            for each in said
            if each.form != "step"
        ]

    def _later(self, episode: Sequence[Fit]) -> list[list[Fit]]:
        """What was said of an episode's matter in later sessions, the newest first, each with its turn."""
        if not self._by_meaning or not episode:
            return []
        from backstory.search import meaning

        own, ended = [each.told.row for each in episode], max(each.told.at for each in episode)
        best = sorted(episode, key=lambda each: -_worth(each, whole=True))
        words, _ = words_of(" ".join(each.told.text for each in best))
        found = FullTextIndex(self._db).matches(
            phrases_of(words[:_MATTER_WORDS]), self._project, _MATTER_POOL
        )
        shared = {each.row: each.own for each in found.ranks}
        most = min(shared.values(), default=0.0)
        likeness = meaning.nearest_of(
            Vectors(self._db), MINILM, [row for row in shared if row not in own], own
        )
        said: dict[tuple[str, int], list[Told]] = {}
        sames: dict[tuple[str, int], float] = {}
        for each in told_passages(self._db, list(likeness), self._own):
            same, turn = (shared[each.row] / most + likeness[each.row]) / 2, (each.session_id, each.turn)
            if each.at > ended and each.form not in ("", "step") and same >= _SAME_MATTER:
                said.setdefault(turn, []).append(each)
                sames[turn] = max(same, sames.get(turn, 0.0))
        closest = sorted(said, key=lambda turn: -sames[turn])[:_LATER]
        return [self._turn_of(said[turn]) for turn in sorted(closest, key=lambda turn: -said[turn][0].at)]

    def _turn_of(self, passages: Sequence[Told]) -> list[Fit]:
        """Passages of a turn with all of it, if that is no more than a few words."""
        session, turn = passages[0].session_id, passages[0].turn
        rows = [each.row for each in places_of(self._db, session) if each.turn == turn]
        if len(rows) > _SHORT_TURN:
            rows = [row for row in rows if row in {each.row for each in passages}]
        place = {row: number for number, row in enumerate(rows)}
        said = sorted(told_passages(self._db, rows, self._own), key=lambda each: place[each.row])
        return [Fit(0.0, None, each) for each in said if each.form != "step"]

    def on_failure(self, command: str, error: str, most: int, room: int) -> list[Found]:
        """What the project knows about a command that failed so; nothing where the error says nothing."""
        question = failure_question(command, error)
        return self.about(question, most, room) if question else []

    def about(self, text: str, most: int, room: int) -> list[Found]:
        """What the project knows about a command or an error; that it failed before, too, is no knowledge."""
        looked = self._look(text)
        if not self._by_meaning and not self._sure(looked):
            return []
        heard = {each.partition(".")[0] for each in self._known}  # a call brings what is new from elsewhere
        fits = [each for each in looked.fits if not _only_failed(each.told) and each.told.owner not in heard]
        return self._chosen(fits, most, room)

    def candidates(self, text: str) -> list[tuple[Told, float, float]]:
        """The passages that fit a text best, with score and cosine: what weights are fitted on."""
        return [(each.told, each.score, each.cosine or 0.0) for each in self._look(text).fits]

    def _look(self, text: str) -> _Looked:
        """The passages that fit a text best, best first."""
        telling, spare = words_of(text[:ASKED_CHARS])
        words = (telling or spare)[:MOST]
        if not words:
            return _Looked([], 0, [], 0.0)
        matches = FullTextIndex(self._db).matches(phrases_of(words), self._project, _POOL)
        near, among = self._nearest(text[:ASKED_CHARS])
        cosines = near | self._cosines([each.row for each in matches.ranks if each.row not in near])
        marked = marks(matches.ranks, cosines)
        found = [
            Fit(sum(marked.shares[each.row].values()) + _prior(each), cosines.get(each.row), each)
            for each in told_passages(self._db, marked.best(_READ), self._own)
            if each.status in _STANDS and (each.form or each.owner in self._memories)
        ]
        found.sort(key=lambda each: (-each.score, -each.told.at))
        known = 1 - len(unknown(words, matches.absent)) / len(words)
        return _Looked(found, among, [word.text for word in telling[:MOST]], known)

    def _nearest(self, text: str) -> tuple[dict[int, float], int]:
        """The passages that are nearest in meaning, with their cosines, and among how many they are."""
        if not self._by_meaning:
            return {}, 0
        from backstory.embed.minilm import minilm
        from backstory.search import meaning

        self._vector = meaning.vector_of(minilm(), text)
        return meaning.nearest(Vectors(self._db), MINILM, self._vector, self._project, _POOL)

    def _cosines(self, rows: Sequence[int]) -> dict[int, float]:
        """How near these passages are to what was looked for last."""
        if not self._by_meaning:
            return {}
        from backstory.search import meaning

        return meaning.cosines(Vectors(self._db), MINILM, self._vector, rows)

    def _sure(self, looked: _Looked) -> bool:
        """Whether the best passages together have to do with what was looked for."""
        best = looked.fits[:LOOKED_AT]
        if not best or not looked.words:
            return False
        texts = [each.told.text for each in best]
        if not self._by_meaning:
            return any(shares_enough(looked.words, each) for each in texts)
        cosines = [each.cosine or 0.0 for each in best]
        return enough(cosines, texts, looked.words, looked.among, looked.known, _SURER)

    def _is_sure(self, fit: Fit, looked: _Looked) -> bool:
        """Whether a passage has to do with what was looked for, though no other one of its episode has."""
        if fit.cosine is None:
            return not self._by_meaning and shares_enough(looked.words, fit.told.text)
        more = _ALONE_SURER
        return enough_alone(fit.cosine, fit.told.text, looked.words, looked.among, looked.known, more)

    def _chosen(
        self,
        fitting: Iterable[Fit],
        most: int,
        room: int,
        named: Collection[int] = (),
        also: Sequence[frozenset[str]] = (),
        *,
        whole: bool = False,
    ) -> list[Found]:
        """The best rows that tell something that is not told yet, as many as there is room for.

        What has a name that was spelled out (its row is in `named`) need not be near in meaning. `also` was
        told just now. Of a `whole` episode everything counts that tells something.
        """
        chosen: dict[frozenset[str], Found] = {}
        if most < 1:
            return []
        said = [*also, *(_words(text) for text in texts_of(self._db, self._known))]
        weighed = ((_worth(each, whole), each) for each in fitting)
        for worth, each in sorted(weighed, key=lambda pair: -pair[0]):
            one = each.told
            far = each.cosine is not None and each.cosine < _COSINE and one.row not in named
            if one.owner in self._known or one.id in self._known or (not whole and (far or worth < FLOOR)):
                continue
            if not one.form and any(row.id == one.id for row in chosen.values()):
                continue  # a memory is told whole, whichever of its passages was found
            text = self.says(one.owner, one.form, one.kind, one.text, whole=whole)
            words = _words(text)
            speaker = _speaker(one)
            if one.form and text and speaker == "agent":
                text = by_agent(text)
            if not words or any(_same(words, other) for other in said):
                continue
            twin = next((other for other in chosen if _same(words, other)), None)
            if twin is not None and (one.form or chosen[twin].id[:1] == "m"):
                continue
            cost = len(text) + (_NEXT_ROW if whole and chosen else ROW)
            if cost <= room + (len(chosen[twin].text) if twin else 0):
                row = Found(one.id, text, one.at, one.agent, one.session_id, speaker)
                if twin is not None:  # a memory says what came of it, too
                    room += len(chosen.pop(twin).text)
                chosen[words] = row
                room -= cost
            if len(chosen) == most:
                break
        return list(chosen.values())

    def says(self, owner: str, form: str, kind: str, text: str, *, whole: bool = False) -> str:
        """What of a passage may be told, in one line; "" if nothing.

        Of a prompt that is what its user typed: what it quotes is somebody else's. Not told is what a person
        rejected, whoever says it, and a command that runs what it fetches.
        """
        if form == "prompt":
            if owner not in self._typed:
                self._typed[owner] = typed_words(prompt_of(self._db, owner))
            text = typed_part(text, self._typed[owner])
        line = informative(form, kind, text, short=whole)
        if any(map(runs_remote_code, _QUOTED.findall(line))) or (form and self._is_rejected(line)):
            return ""
        return line

    def _is_rejected(self, line: str) -> bool:
        if self._rejected is None:
            found = (set(_WORD.findall(text.lower())) for text in rejected(self._db, self._project))
            self._rejected = [words for words in found if words]
        said = set(_WORD.findall(line.lower())) if self._rejected else set()
        return any(len(said & words) >= _SAME * len(words) for words in self._rejected)


def typed_part(passage: str, typed: str) -> str:
    """What of a passage of a prompt stands in what its user typed."""
    letters, words = _letters(passage), _letters(typed)
    heading, _, rest = passage.partition(": ")
    if letters in words or (_letters(heading) in words and rest and _letters(rest) in words):
        return passage
    bits = [bit for line in typed.split("\n") for bit in _SENTENCE_END.split(line.strip())]
    return " ".join(bit for bit in bits if (spelled := _letters(bit)) and spelled in letters)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.lower()))


def failure_question(command: str, error: str) -> str:
    """What is looked up when a command failed; "" where the error says nothing."""
    lines = error_lines(error, _ERROR_LINES)
    return f"{without_texts(command)}\n{lines}" if lines else ""


def without_texts(command: str) -> str:
    """A command without the texts that it is given: what they say is no part of what it does."""
    text = _HEREDOC.split(command, maxsplit=1)[0]
    return " ".join(_LONG_TEXT.sub("", text).split())[:_COMMAND_CHARS]


def _names_any(words: Sequence[str], text: str) -> bool:
    """Whether a text has a name that is spelled out among the words, or a folder of a path among them."""
    told = bare(text)
    folders = {word[: at + 1] for word in words for at, sign in enumerate(word) if sign == "/" and at > 1}
    return any(stands_in(word, told) for word in words) or any(folder in told for folder in folders)


def _worth(fits: Fit, whole: bool) -> float:
    """What telling it is worth; a memory has been found worth keeping already."""
    form, cosine = fits.told.form, fits.score if fits.cosine is None else fits.cosine
    text = informative(form, fits.told.kind, fits.told.text, short=whole)
    found = note_worth(form, text, fits.score, cosine) if text else 0.0
    return found if form else max(found, FLOOR)


def _only_failed(passage: Told) -> bool:
    """Whether a passage is a command and its error, and nothing that explains them."""
    return passage.form == "step" and informative(passage.form, passage.kind, passage.text).startswith("`")


def _prior(passage: Told) -> float:
    return FORMS.get(passage.form, 0.0) if passage.form else KINDS.get(passage.kind, 0.0)


def _speaker(passage: Told) -> str:
    """Whose words a passage has: only what the user said may be told as theirs."""
    if passage.said_by:
        return passage.said_by
    # an answer stands behind the agent's question
    return "user" if passage.form in ("prompt", "refusal") else "agent"


def _words(text: str) -> frozenset[str]:
    return frozenset(word for word in text.lower().split() if len(word) > 1)


def _same(words: frozenset[str], others: frozenset[str]) -> bool:
    return len(words & others) >= _SAME * min(len(words), len(others) or 1)
