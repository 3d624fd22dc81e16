"""Names for which a note is told though the prompt has no other of its words.

A decision is reached by the name of what it chose or gave up, a rule by what it forbids, or by a path below
the folder that it protects. Only names that few notes have, and that are not in every other prompt of the
trade, are strong enough for that. A decision that says where or for what it holds ("in the unit tests") is
reached by a name only together with a word of that place.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from backstory.hook import normalize
from backstory.hook.work_notes import singular
from backstory.model import Memory, MemoryKind
from backstory.vocabulary import EVERYDAY, SORTS


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
_WORD = re.compile(r"(?<![.+#-])[.+#-]*+\w(?:[\w.+#-]*\w)?")
_FOLDER = re.compile(r"(?<![\w/.])\.?/?((?:[\w.-]{1,99}/)+)(?:\*{1,2})?(?![\w*])")
_CALLED_FOLDER = re.compile(
    r"\b(?:the|our|any) [`'\"]?([\w./-]*\w)[`'\"]? (?:folder|directory|dir)\b", re.IGNORECASE
)
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

_NO_FOLDERS = _words(
    """same whole root home current working project new old other parent temporary wrong right top entire
    source shared local own first last output target"""
)

# Names of tools that are plain words, too: they count with a capital only, within a sentence.
_WORDS = EVERYDAY | {"stripe", "poetry", "flask", "locust", "jasmine"}
_DAYS = _words(
    """monday tuesday wednesday thursday friday saturday sunday january february march april may june july
    august september october november december english german french"""
)
_TOOLS = {name for sort in SORTS.values() for name in sort.names if " " not in name}
# Names that prompts of every project have; one that was given up somewhere counts there.
_FORMATS = {name for sort in ("language", "format", "picture", "compression") for name in SORTS[sort].names}
_EVERYWHERE = _FORMATS | _words(
    """postgres postgresql mysql sqlite docker react vue npm yarn pip pytest jest aws nginx django flask
    github gitlab git linux windows eslint prettier ruff mypy kubernetes node fetch rest graphql sql html
    bash http https utc"""
)


_OPENS = _words("in on within inside under at during for")
_ENDS = _words(
    """instead rather over not no never until to with without from by via through we you they i is are was
    were be has have it that which who than but if so as while unless use uses using only"""
)
_CLAUSES = re.compile(r"[,;:.!?()](?:\s+|$)")
_REASON = re.compile(r"\b(?:because|since|so that|as it)\b", re.IGNORECASE)
_AFTERTHOUGHT = re.compile(
    r"(?:(?:but|only|just|at least|and)\s+)*(?:in|on|within|inside|at|for)\b", re.IGNORECASE
)
_DETERMINERS = _words("the our this that these those its their a an each every all any")
# "in favour of", "for now", "for performance reasons": no place, and nothing that it is for.
_PHRASES = _words(
    """favor favour order place general future addition practice fact particular short total example instance
    now good free sure purpose top board average demand least most all first once"""
)
_WHY = _words("reason reasons better easier faster simpler sake time being")
_SURROUNDINGS = _words("staging production prod dev development test tests testing ci mobile web desktop")
# Of which there are many in any project.
_SORTS = _GENERIC | _words("service server page app job script build plan table user main default")
# A decision of a project holds there anyway.
_WIDE = _words(
    """project projects repo repository codebase code app application product company team everything
    everywhere everyone new whole entire now on here there case cases"""
)


class Strong(NamedTuple):
    """Terms that reach a note alone, with these notes; and with a word of a place, with the places' words."""

    alone: dict[str, list[str]]
    within: dict[str, dict[str, list[str]]]


def strong(memories: Sequence[Memory]) -> Strong:
    """The terms that reach notes, and which of them need a word more."""
    alone: dict[str, set[str]] = defaultdict(set)
    within: dict[str, dict[str, list[str]]] = defaultdict(dict)
    notes_with: dict[str, set[str]] = defaultdict(set)
    for memory in memories:
        text = f"{memory.text} {memory.reason}"
        for word in set(map(str.lower, _WORD.findall(text))):
            notes_with[word].add(memory.id)
        if memory.kind is MemoryKind.DECISION:
            for term, place in _names(memory.text, memory.reason):
                if place:
                    within[term][memory.id] = sorted(place)
                else:
                    alone[term].add(memory.id)
        if memory.kind in _RULES:
            for term in (*_forbidden(text), *_folders(text)):
                alone[term].add(memory.id)
    few = {
        term
        for term in alone.keys() | within.keys()
        if max(len({*alone.get(term, ()), *within.get(term, ())}), len(notes_with.get(term.lower(), ())))
        <= _FEW
    }
    return Strong(
        {term: sorted(ids) for term, ids in alone.items() if term in few},
        {term: places for term, places in within.items() if term in few},
    )


def _names(decided: str, reason: str) -> Iterator[tuple[str, frozenset[str]]]:
    """Names of tools; of what is not known as one, what is spelled as a name where a choice names it.

    Each with the words of the place that it was chosen or given up for, if the decision says one; who names
    both sides of the choice needs none of them.
    """
    text = f"{decided} {reason}"
    words = {word.lower(): word for word in _WORD.findall(text)}
    given_up = {word.lower() for word in _GIVEN_UP.findall(text)}
    chosen = {word.lower() for word in (*_OUTDONE.findall(text), *_WINNER.findall(text))}
    places, anywhere = _places(decided, chosen)
    sides = {word for word in words if word in _TOOLS or word in chosen} - _WORDS - _FORMATS
    for lower, word in words.items():
        known = lower in _TOOLS
        place = places.get(lower, anywhere)
        place |= {singular(side) for side in sides - {lower}} if place else set()
        common = lower in (_FORMATS if known and lower in given_up and place else _EVERYWHERE)
        if (
            common
            or lower in _DAYS
            or len(word) < 3
            or not (known or (lower in chosen and _SPELLED.match(word)))
        ):
            continue
        if lower not in _WORDS:
            yield lower, place
        elif word != lower:
            yield word, place


def _places(decided: str, chosen: set[str]) -> tuple[dict[str, frozenset[str]], frozenset[str]]:
    """The words of the places that a decision holds in, by the names beside them; and all of them."""
    clauses = [clause for clause in _CLAUSES.split(_REASON.split(decided, maxsplit=1)[0]) if clause.strip()]
    named = [
        [word for word in map(str.lower, _WORD.findall(clause)) if word in _TOOLS or word in chosen]
        for clause in clauses
    ]
    own = [_place(clause, names) for clause, names in zip(clauses, named, strict=True)]
    for at, clause in enumerate(clauses):  # "in the unit tests, use …", "use …, but only in the unit tests"
        if len(clauses) > 1 and _AFTERTHOUGHT.match(clause.strip()) and not _tools(named[at]):
            own[at - 1 if at else 1] |= own[at]
    found: dict[str, frozenset[str]] = {}
    for place, names in zip(own, named, strict=True):
        for name in names:
            found[name] = found.get(name, frozenset()) | place
    return found, frozenset().union(*own)


def _tools(names: Sequence[str]) -> list[str]:
    return [name for name in names if name not in _WORDS]


def _place(clause: str, names: Sequence[str]) -> frozenset[str]:
    """The words that tell where a clause holds, or for what, unless its tools are for that anyway."""
    found: set[str] = set()
    opener, phrase = "", list[str]()
    for word in [*_WORD.findall(clause), "for"]:
        lower = word.lower()
        if lower in _OPENS or lower in _ENDS:
            found |= _telling(opener, phrase, names)
            opener, phrase = (lower if lower in _OPENS else ""), []
        elif opener:
            phrase.append(word)
    return frozenset(found)


def _telling(opener: str, phrase: Sequence[str], names: Sequence[str]) -> set[str]:
    """The words of a phrase that tell a place from others of its sort: of the preview clusters, `preview`."""
    lower = [word.lower() for word in phrase]
    if not lower or not _WHY.isdisjoint(lower) or (lower[0] in _PHRASES and lower[1:2] in ([], ["of"])):
        return set()
    # "for events" says what a broker does; "for order events" and "for Safari", for which of them
    if opener == "for" and len(lower) == 1 and phrase[0] == lower[0] and lower[0] not in _SURROUNDINGS:
        return set()
    apart = _LIGHT | _WIDE | _DETERMINERS | _DAYS | (_TOOLS - _WORDS)
    told: set[str] = set()
    for part in re.split(r"\b(?:of|and|or)\b", " ".join(lower)):
        words = [word for word in part.split() if word not in apart and not word.isdigit()]
        if not words or _purpose(names).issuperset(map(singular, words)):
            continue
        sort, own = words[-1], [word for word in words[:-1] if singular(word) not in _SORTS]
        told.update(map(singular, own or [sort]))
    return told


def _purpose(names: Sequence[str]) -> set[str]:
    """What tools of these sorts are for: "browser tests" of Playwright."""
    sorts = [(key, *sort.called) for key, sort in SORTS.items() if not set(sort.names).isdisjoint(names)]
    return {singular(word) for called in sorts for word in " ".join(called).split()}


def _forbidden(text: str) -> Iterator[str]:
    """What a rule forbids, by the first two words that tell it: "never push to main" is `push main`."""
    for denial in _FORBIDS.finditer(text):
        clause = re.split(r"[,;:.!?()]\s|[,;:.!?()]$", text[denial.end() :], maxsplit=1)[0]
        words = [word for word in clause.lower().split() if word not in _LIGHT and len(word) > 2]
        plain = len(words) > 1 and all(map(str.isalpha, words[:2]))
        if plain and not _GENERIC.issuperset(word.rstrip("s") for word in words[:2]):
            yield " ".join(map(normalize.stem, words[:2]))


def _folders(text: str) -> Iterator[str]:
    """The folders that a rule protects: `vendor/`, or "the vendor folder"."""
    if _FORBIDS.search(text):
        called = [f"{name}/" for name in _CALLED_FOLDER.findall(text) if name.lower() not in _NO_FOLDERS]
        folders = [*_FOLDER.findall(text), *called]
        yield from (folder.lower() for folder in folders if len(folder) > _SHORTEST_FOLDER)
