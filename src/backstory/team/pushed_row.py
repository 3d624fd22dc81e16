"""A pushed row as it may be stored: well-formed, without what looks like a secret, its words made.

The laptop has redacted before it showed what would leave. The same code runs here once more, and a row that
it would change is refused: what is shared is what was shown, or nothing.
"""

import re
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from backstory.hook.redact import Redactor
from backstory.store.tokenizer import index_text
from backstory.team_wire import Refused, Row, canonical, mark, read_row

_WORD = re.compile(r"[^\W_]+")
_MOST_WORDS = 400
_LONGEST_WORD = 64
_DEEPEST = 20
_redactor = Redactor()


@dataclass(frozen=True, slots=True)
class CheckedRow:
    """A row and what is stored beside it."""

    row: Row
    hash: str
    mark: int
    body: str
    words: str


def check_row(value: object, project_word: str) -> CheckedRow:
    """A row that somebody sent, ready to be stored. Raises `Refused` with what is wrong with it."""
    row = read_row(value)
    texts = list(_strings(row.body, 0))
    body = canonical(row.body)
    if _redactor.suspicious(body) and _redactor.redact_json(row.body) != row.body:
        raise Refused("it holds what looks like a secret or personal data")
    # the hash of team_wire.Row, whose body is spelled already: kind and state need no spelling
    spelled = f'["{row.kind}","{row.state}",{row.at},{body}]'
    found = blake2b(spelled.encode(), digest_size=16).hexdigest()
    return CheckedRow(row, found, signed(mark(row.id, found)), body, lexemes(texts, project_word))


def signed(value: int) -> int:
    """64 bits as PostgreSQL's bigint holds them."""
    return value - 2**64 if value >= 2**63 else value


def lexemes(texts: list[str], project_word: str) -> str:
    """The words of these texts as a tsvector is written, and the project as one of them."""
    found: dict[str, None] = {project_word: None}
    found.update(dict.fromkeys(words_of(" ".join(texts))))
    return " ".join(f"'{word}'" for word in list(found)[:_MOST_WORDS])


def words_of(text: str) -> list[str]:
    """The words that a text is found by, in small letters."""
    words = _WORD.findall(f"{text} {index_text(text)}".lower())
    return [word[:_LONGEST_WORD] for word in words]


def _strings(value: Any, depth: int) -> "list[str]":
    """Every text in a body, keys too: redaction looks at both."""
    if depth > _DEEPEST:
        raise Refused("body is too deep")
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for key, each in value.items() for text in (key, *_strings(each, depth + 1))]
    if isinstance(value, list):
        return [text for each in value for text in _strings(each, depth + 1)]
    return []
