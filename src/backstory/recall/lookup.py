"""What a project knows about a prompt, an error or a command: passages, looked up as search does.

Words find passages by BM25, meaning by the cosine of their vectors; the sum ranks them (`search/marks.py`).
For a prompt the episode that fits best comes first, as a whole: an answer rarely stands alone. Nothing is
said if it has too little to do with the question (`search/evidence.py`), and each row tells something
(`informative.py`). Hooks run this on a connection of their own, so it imports little; numpy and the model
only where there are vectors to compare with.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from backstory.attribution import by_agent
from backstory.embed import MINILM
from backstory.error_lines import error_lines
from backstory.hook.remote_code import runs_remote_code
from backstory.recall.informative import informative
from backstory.recall.note_worth import EPISODE_FLOOR, FLOOR, note_worth
from backstory.search.evidence import LOOKED_AT, enough, shares_enough
from backstory.search.marks import FORMS, KINDS, marks
from backstory.search.names import bare, stands_in, unknown
from backstory.search.question_words import MOST, phrases_of, words_of
from backstory.store.full_text_index import FullTextIndex
from backstory.store.passage_reader import (
    Told,
    prompt_of,
    reading,
    rejected,
    rows_of,
    texts_of,
    told,
    turns_of,
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
# How much surer than a search a note must be: nobody has asked for it.
_SURER = 0.04
# An episode is known by its best passages, so many; a session of so few turns is one; its part of the room.
_OF_SESSION, _SHORT, _OF_ROOM = 4, 10, 0.9
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


class _Fits(NamedTuple):
    """A passage, how well it fits, and its cosine, if there is one."""

    score: float
    cosine: float | None
    told: Told


class _Looked(NamedTuple):
    """What was found, best first: among how many by meaning, for which words, of which so many are known."""

    fits: list[_Fits]
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
        """What the project knows about a prompt: first the episode in which most was said of it."""
        looked = self._look(prompt)
        named = {each.told.row for each in looked.fits if _names_any(looked.words, each.told.text)}
        if not self._sure(looked):
            return self._chosen([each for each in looked.fits if each.told.row in named], most, room, named)
        episode = self._episode(looked.fits)
        whole = {each.told.row for each in episode}
        others = [each for each in looked.fits if each.told.row not in whole]
        found = self._chosen(episode, most, int(room * _OF_ROOM), named, whole=True)
        room -= sum(len(each.text) for each in found)
        said = [_words(each.text) for each in found]
        return found + self._chosen(others, most - len(found), room, named, said)

    def _episode(self, fits: Sequence[_Fits]) -> list[_Fits]:
        """All that was said in the episode that fits best: a turn, or the whole of a short session."""
        turns = turns_of(self._db, list({each.told.session_id for each in fits}))
        sums: dict[tuple[str, int], list[float]] = {}
        for each in fits:
            session, turn = each.told.session_id, each.told.turn
            if turn:
                sums.setdefault((session, 0 if turns[session] <= _SHORT else turn), []).append(each.score)
        if not sums:
            return []
        best = max(sums, key=lambda key: sum(sorted(sums[key], reverse=True)[:_OF_SESSION]))
        scores = {each.told.row: each for each in fits}
        rows = rows_of(self._db, *best)
        near = self._cosines([row for row in rows if row not in scores])
        return [
            scores.get(each.row) or _Fits(near.get(each.row, 0.0) + _prior(each), near.get(each.row), each)
            for each in told(self._db, rows, self._own)
            if each.form and each.form != "step"
        ]

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
            _Fits(sum(marked.shares[each.row].values()) + _prior(each), cosines.get(each.row), each)
            for each in told(self._db, marked.best(_READ), self._own)
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
        """Whether the best passages have to do with what was looked for."""
        best = looked.fits[:LOOKED_AT]
        if not best or not looked.words:
            return False
        texts = [each.told.text for each in best]
        if not self._by_meaning:
            return any(shares_enough(looked.words, each) for each in texts)
        cosines = [each.cosine or 0.0 for each in best]
        return enough(cosines, texts, looked.words, looked.among, looked.known, _SURER)

    def _chosen(
        self,
        fitting: Iterable[_Fits],
        most: int,
        room: int,
        named: Collection[int] = (),
        also: Sequence[frozenset[str]] = (),
        *,
        whole: bool = False,
    ) -> list[Found]:
        """The best rows that tell something that is not told yet, as many as there is room for.

        What has a name that was spelled out (its row is in `named`) need not be near in meaning. `also` was
        told just now. Of a `whole` episode short rows count, too.
        """
        chosen: dict[frozenset[str], Found] = {}
        if most < 1:
            return []
        said = [*also, *(_words(text) for text in texts_of(self._db, self._known))]
        weighed = ((_worth(each, whole), each) for each in fitting)
        for worth, each in sorted(weighed, key=lambda pair: -pair[0]):
            one = each.told
            least = _COSINE / 2 if whole else _COSINE
            far = each.cosine is not None and each.cosine < least and one.row not in named
            known = one.owner in self._known or one.id in self._known
            if known or far or worth < (EPISODE_FLOOR if whole else FLOOR):
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
            if len(text) <= room + (len(chosen[twin].text) if twin else 0):
                row = Found(one.id, text, one.at, one.agent, one.session_id, speaker)
                if twin is not None:  # a memory says what came of it, too
                    room += len(chosen.pop(twin).text)
                chosen[words] = row
                room -= len(text)
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


def _worth(fits: _Fits, whole: bool) -> float:
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
