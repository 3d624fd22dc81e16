"""Names for which a note is told though the prompt has no other of its words.

A decision is reached by the name of what it chose or gave up, a rule by what it forbids, or by a path below
the folder that it protects. Only names that few notes have, and that are not in every other prompt of the
trade, are strong enough for that.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from backstory.hook import wording
from backstory.model import Memory, MemoryKind
from backstory.trade import EVERYDAY, SORTS


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_RULES = (MemoryKind.DECISION, MemoryKind.PREFERENCE, MemoryKind.FACT)
_SHORTEST_FOLDER = 3  # with its slash: "w/" is none
_FEW = 2  # notes that may have a name which still tells one from the other
_AVOIDED = (
    r"instead of|rather than|in place of|over|replac\w+|drop\w*|ditch\w*|abandon\w*|away from|\w+ed from|"
    r"\w+ing from|(?:switch|move|migrate) from|no longer(?: us\w+)?|not|never(?: use)?|no|avoid\w*|without|"
    r"(?:don't|do not|stop) us\w+"
)
_PREFERRED = r"instead of|rather than|in place of|over|replac\w+|away from|(?:switch|move|migrate)\w* from"
_GIVEN_UP = re.compile(rf"\b(?:{_AVOIDED})\s+(?:the |an? |our |any )?([\w.+#-]*\w)", re.IGNORECASE)
# Of what is not known as a tool, a name that another was preferred to, and the one that was.
_OUTDONE = re.compile(rf"\b(?:{_PREFERRED})\s+(?:the |our )?([A-Z][\w.+#-]*\w)", re.IGNORECASE)
_WINNER = re.compile(rf"\b[Uu]s(?:e|es|ing)\s+([A-Z][\w.+#-]*\w)\s+(?:{_PREFERRED})\b")
_SPELLED = re.compile(r"[A-Z][a-z]+(?:[A-Z]\w*)?\Z|[A-Z]{1,2}[a-z]+[A-Z]\w*\Z")
_WORD = re.compile(r"[\w.+#-]*\w")
_FOLDER = re.compile(r"(?<![\w/.])\.?/?((?:[\w.-]+/)+)(?:\*{1,2})?(?![\w*])")
_FORBIDS = re.compile(
    r"\b(?:never|must not|mustn't)\b|(?:^|[.!;:]\s+)(?:don't|do not|avoid)\b", re.IGNORECASE
)
_LIGHT = _words(
    """the and for with from into onto this that these those any all our your their its use using used uses
    make makes add put have get set let keep ever again please directly just only also them without when
    should must may can will there here more than then but not you we it is are be to in on of at by or a an
    as if do so anything something everything nothing touch need want think know note see"""
)
_GENERIC = _words(
    """edit file change code test write run function class method line name new create fix update delete
    remove check work thing way data project folder module"""
)

# Names of tools that are plain words, too: they count with a capital only, within a sentence.
_WORDS = EVERYDAY | {"stripe", "poetry", "flask", "locust", "jasmine"}
_DAYS = _words(
    """monday tuesday wednesday thursday friday saturday sunday january february march april may june july
    august september october november december english german french"""
)
_TOOLS = {name for sort in SORTS.values() for name in sort.names if " " not in name}
# Names that prompts of every project have; whoever gave one of them up may still want to hear of it.
_FORMATS = {name for sort in ("language", "format", "picture", "compression") for name in SORTS[sort].names}
_EVERYWHERE = _FORMATS | _words(
    """postgres postgresql mysql sqlite docker react vue npm yarn pip pytest jest aws nginx django flask
    github gitlab git linux windows eslint prettier ruff mypy kubernetes node fetch rest graphql sql html
    bash http https utc"""
)


def strong(memories: Sequence[Memory]) -> dict[str, list[str]]:
    """Terms that reach a note alone, with the notes that they reach."""
    found: dict[str, set[str]] = defaultdict(set)
    notes_with: dict[str, set[str]] = defaultdict(set)
    for memory in memories:
        text = f"{memory.text} {memory.reason}"
        for word in set(map(str.lower, _WORD.findall(text))):
            notes_with[word].add(memory.id)
        if memory.kind is MemoryKind.DECISION:
            for term in _names(text):
                found[term].add(memory.id)
        if memory.kind in _RULES:
            for term in (*_forbidden(text), *_folders(text)):
                found[term].add(memory.id)
    return {
        term: sorted(ids)
        for term, ids in found.items()
        if max(len(ids), len(notes_with.get(term.lower(), ()))) <= _FEW
    }


def _names(text: str) -> Iterator[str]:
    """Names of tools; of what is not known as one, what is spelled as a name where a choice names it."""
    words = {word.lower(): word for word in _WORD.findall(text)}
    given_up = {word.lower() for word in _GIVEN_UP.findall(text)}
    chosen = {word.lower() for word in (*_OUTDONE.findall(text), *_WINNER.findall(text))}
    for lower, word in words.items():
        known = lower in _TOOLS
        common = lower in (_FORMATS if known and lower in given_up else _EVERYWHERE)
        if (
            common
            or lower in _DAYS
            or len(word) < 3
            or not (known or (lower in chosen and _SPELLED.match(word)))
        ):
            continue
        if lower not in _WORDS:
            yield lower
        elif word != lower:
            yield word


def _forbidden(text: str) -> Iterator[str]:
    """What a rule forbids, by the first two words that tell it: "never push to main" is `push main`."""
    for denial in _FORBIDS.finditer(text):
        clause = re.split(r"[,;:.!?()]\s|[,;:.!?()]$", text[denial.end() :], maxsplit=1)[0]
        words = [word for word in clause.lower().split() if word not in _LIGHT and len(word) > 2]
        plain = len(words) > 1 and all(map(str.isalpha, words[:2]))
        if plain and not _GENERIC.issuperset(word.rstrip("s") for word in words[:2]):
            yield " ".join(map(wording.stem, words[:2]))


def _folders(text: str) -> Iterator[str]:
    """The folders that a rule protects."""
    if _FORBIDS.search(text):
        yield from (folder.lower() for folder in _FOLDER.findall(text) if len(folder) > _SHORTEST_FOLDER)
