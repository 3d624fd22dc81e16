"""From a question to ranked hits, by words.

The question's words, stop words out, are OR-ed; a word with punctuation inside (`foo_bar.py:42`,
`--no-verify`) is a phrase of its parts and so finds itself. Memories count a little more than raw events.
A hit that shares too few of the question's words is no answer: better nothing than something irrelevant.
"""

import re
import unicodedata
from dataclasses import dataclass

from backstory.store import Store
from backstory.store.protocol import Found

DEFAULT_LIMIT = 7
_POOL = 10
_QUESTION_CHARS = 2_000
_TERMS = 40
_WORD = re.compile(r"[^\s\"'`()\[\]{}<>,;!?]+")
_PART = re.compile(r"\w+")
# Words that say nothing about what is sought.
_STOP = frozenset(
    {
        "a", "about", "after", "all", "also", "an", "and", "any", "are", "as", "at", "be", "been",
        "before", "but", "by", "can", "could", "did", "do", "does", "for", "from", "had", "has",
        "have", "how", "i", "if", "in", "into", "is", "it", "its", "me", "my", "no", "not", "of",
        "on", "or", "our", "out", "over", "please", "should", "so", "some", "than", "that", "the",
        "their", "them", "then", "there", "these", "they", "this", "to", "up", "us", "use", "used",
        "was", "we", "were", "what", "when", "where", "which", "who", "why", "will", "with",
        "would", "you", "your",
    }
)  # fmt: skip
_MEMORY_BONUS = 1.15


@dataclass(frozen=True, slots=True)
class Hit:
    """Something that answers a question: where it is from, and a handle that `show` takes."""

    id: str
    kind: str
    text: str
    score: float
    session: str
    agent: str
    project: str
    when: int


@dataclass(frozen=True, slots=True)
class Answer:
    """What a search found; `abstained` if there was something, but nothing relevant enough."""

    hits: tuple[Hit, ...]
    abstained: bool


def search(
    store: Store, question: str, project_id: str | None, limit: int = DEFAULT_LIMIT, floor: bool = True
) -> Answer:
    """The best hits for a question, in one project or in all."""
    terms = _terms(question)
    if not terms or limit < 1:
        return Answer((), abstained=False)
    found = store.passages.search([term.quoted for term in terms], project_id, limit * _POOL)
    best: dict[str, Hit] = {}
    silenced = False
    for passage in found:
        if floor and not _relevant(passage, terms):
            silenced = True
            continue
        hit = _hit(passage)
        if hit.id not in best or best[hit.id].score < hit.score:
            best[hit.id] = hit
    hits = _without_repeats(sorted(best.values(), key=lambda hit: (-hit.score, -hit.when)))[:limit]
    return Answer(tuple(hits), abstained=silenced and not hits)


@dataclass(frozen=True, slots=True)
class _Term:
    quoted: str
    stem: str


def _terms(question: str) -> list[_Term]:
    words = _WORD.findall(question.replace("\0", " ")[:_QUESTION_CHARS])
    found: dict[str, _Term] = {}
    spare: dict[str, _Term] = {}
    for word in words[: 4 * _TERMS]:
        parts = _PART.findall(word.lower())
        if not parts:
            continue
        phrase = " ".join(parts)
        target = spare if len(parts) == 1 and phrase in _STOP else found
        target.setdefault(phrase, _Term(f'"{phrase}"', _stem(_bare(max(parts, key=len)))))
    return list((found or spare).values())[:_TERMS]


def _bare(text: str) -> str:
    """Small letters without their accents, as the index has them."""
    low = text.lower()
    if low.isascii():
        return low
    return "".join(c for c in unicodedata.normalize("NFD", low) if not unicodedata.combining(c))


def _stem(word: str) -> str:
    """Enough of a word to recognise its other forms."""
    return word if len(word) <= 4 else word[: max(4, len(word) - 3)]


def _relevant(passage: Found, terms: list[_Term]) -> bool:
    """Whether enough of the question's words are there: one of up to three, else a third of them."""
    text = _bare(passage.text)
    shared = sum(term.stem in text for term in terms)
    return shared >= (1 if len(terms) <= 3 else -(-len(terms) // 3))


def _hit(passage: Found) -> Hit:
    bonus = _MEMORY_BONUS if passage.owner.startswith("m") else 1.0
    return Hit(
        id=passage.owner,
        kind=passage.kind,
        text=passage.text,
        score=round(-passage.rank * bonus, 4),
        session=passage.session_id,
        agent=passage.agent,
        project=passage.project,
        when=passage.at,
    )


def _without_repeats(hits: list[Hit]) -> list[Hit]:
    seen: set[str] = set()
    kept = []
    for hit in hits:
        words = " ".join(hit.text.lower().split())
        if words not in seen:
            seen.add(words)
            kept.append(hit)
    return kept
