"""A decision taken apart: on which matter, what is chosen, what is given up for it, and where it holds.

A sentence is cut into clauses, each read by the first form that fits it. What fits no form stays empty, and
so does what only asks, supposes, plans or quotes: of an empty part nothing follows.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from backstory.distil.alternatives import is_known, kinds
from backstory.distil.forms import (
    ADDS,
    AND_FOR,
    AWAY,
    BREAK,
    CHOICES,
    DENIED,
    ENDED,
    INSTEAD,
    LATELY,
    LEAD,
    LIMIT,
    NOT_THIS,
    PREPOSITION_OF,
    REASON,
    SCOPE_AHEAD,
    SENTENCE,
    UNDOES,
    UNSURE,
    UNUSED,
    VERB_OF,
    WITHOUT_VERB,
)
from backstory.distil.terms import telling
from backstory.distil.values import Valued, valued

_LONGEST = 300  # characters that are read
_MOST_CHOSEN, _MOST_ABOUT = 4, 6  # telling words of a choice and of a matter that is still one
_NAME = re.compile(r"\b[A-Z][a-z]+\w*")


@dataclass(frozen=True, slots=True)
class Matter:
    """What one decision says; whatever is empty was not said, or not understood.

    `frame` is how the choice serves the matter ("use", "hold in", "sign with"); `where` narrows it; `gone`
    are the things given up, by name; `back` is what it returns to; `undoes` is a decision that it takes back;
    `fact` is the one value that it gives to something.
    """

    words: tuple[str, ...] = ()
    firm: bool = False
    denied: bool = False
    adds: bool = False
    several: bool = False
    frame: str = ""
    about: frozenset[str] = frozenset()
    head: str = ""
    choice: frozenset[str] = frozenset()
    proper: bool = False
    where: frozenset[str] = frozenset()
    gone: tuple[frozenset[str], ...] = ()
    back: frozenset[str] = frozenset()
    undoes: frozenset[str] = frozenset()
    fact: Valued | None = None


def read(text: str) -> Matter:
    """Take a decision apart; its reason tells nothing of the matter."""
    said = REASON.split(text, maxsplit=1)[0][:_LONGEST].strip()
    words = telling(said)
    if UNSURE.search(said) or "?" in text[len(said) :]:
        return Matter(words)
    bare = Matter(
        words,
        firm=True,
        denied=DENIED.search(said) is not None,
        adds=ADDS.search(said) is not None,
        fact=valued(LATELY.sub(" ", said).strip()),
    )
    return _folded(bare, [_clause(part) for part in _clauses(said)])


def _clauses(said: str) -> list[str]:
    return [part for each in BREAK.split(LATELY.sub(" ", said)) if (part := _bare(each))]


def _bare(clause: str) -> str:
    """A clause without what comes before it says anything."""
    return LEAD.sub("", " ".join(clause.split())).strip(" .!")


def _folded(bare: Matter, parts: list[Matter]) -> Matter:
    """The clauses as one: the first choice counts; of two choices the decision is not one but several."""
    parts = [part for at, part in enumerate(parts) if not _comments(part, parts[:at])]
    chosen = [part for part in parts if part.choice]
    first = chosen[0] if chosen else next((part for part in parts if part.gone), Matter())
    spoken = first if first.about else next((part for part in parts if part.gone and part.about), first)
    return replace(
        bare,
        several=len(chosen) > 1 or first.several,
        frame=first.frame,
        about=spoken.about,
        head=spoken.head,
        choice=first.choice,
        proper=first.proper,
        where=frozenset().union(*(part.where for part in parts)),
        gone=tuple(dict.fromkeys(phrase for part in parts for phrase in part.gone)),
        back=next((part.back for part in parts if part.back), frozenset()),
        undoes=next((part.undoes for part in parts if part.undoes), frozenset()),
    )


def _comments(part: Matter, before: list[Matter]) -> bool:
    """Whether a clause only says something of a choice before it: "…, it is simpler to operate"."""
    described = part.frame.startswith("be") or not part.about
    return bool(part.choice) and described and any(each.choice for each in before)


def _clause(text: str) -> Matter:
    """One clause, by the first form that fits."""
    if undone := UNDOES.match(text):
        return Matter(undoes=frozenset(telling(undone["rest"])))
    if not_this := NOT_THIS.match(text):
        return Matter(gone=_phrases(not_this["gone"]))
    if ended := ENDED.search(text):
        return _ended(_bare(f"{text[: ended.start()]} {ended['rest'] or ''}"), first=ended.start() == 0)
    if DENIED.search(text):
        return Matter(where=frozenset(telling(text)))
    if ranked := INSTEAD.search(text):
        rest = _bare(f"{text[: ranked.start()]} {text[ranked.end() :]}")
        inner = _clause(rest)
        if not inner.choice and is_known(frozenset(telling(rest))):
            inner = _part("use", "", rest, "")
        return replace(inner, gone=(*inner.gone, *_phrases(ranked["gone"]))) if inner.choice else Matter()
    away = next(filter(None, (form.match(text) for form in AWAY)), None)
    return _turned(away.groupdict()) if away else _chosen(text)


def _ended(then: str, *, first: bool) -> Matter:
    """What held until now, and does no longer; `first` if nothing was said before "no longer"."""
    if unused := UNUSED.match(then):
        return Matter(gone=_phrases(unused["gone"]))
    still = _chosen(then)
    if still.choice:
        return replace(still, choice=frozenset(), gone=(still.choice,))
    return Matter(gone=_phrases(then) if first and _is_proper(then) else ())


def _turned(found: Mapping[str, str | None]) -> Matter:
    """Away from something: to what, and in which matter."""
    if any(phrase and SENTENCE.search(phrase) for phrase in found.values()):
        return Matter()
    choice, about = found.get("choice") or "", found.get("about") or found.get("purpose") or ""
    towards = found.get("towards") or ""  # "drop X for Y": what for, or for what
    if towards and _is_proper(towards):
        choice = towards
    elif towards:
        about = towards
    read_as = _part("use", about, choice, found.get("where") or "")
    back = read_as.choice if found.get("back") else frozenset[str]()
    return replace(read_as, gone=_phrases(found.get("gone") or ""), back=back)


def _chosen(text: str) -> Matter:
    """What a clause chooses."""
    if limit := LIMIT.match(text):
        return Matter(where=frozenset(telling(limit["where"])))
    if ahead := SCOPE_AHEAD.match(text):
        inner = _chosen(_bare(ahead["rest"]))
        return replace(inner, where=inner.where | frozenset(telling(ahead["where"] or ahead["adverb"])))
    for frame, form in CHOICES:
        if fits := form.match(text):
            found = fits.groupdict()
            about = " ".join(filter(None, (found.get("about"), found.get("purpose"))))
            return _part(frame or _frame(found), about, found["choice"], found.get("where") or "")
    if (short := WITHOUT_VERB.match(text)) and _is_proper(short["choice"].split()[0]):
        return _part("use", short["about"], short["choice"], short["where"] or "")
    return Matter()


def _frame(found: Mapping[str, str]) -> str:
    return f"{VERB_OF[found['verb'].lower()]} {PREPOSITION_OF[found['preposition'].lower()]}"


def _part(frame: str, about: str, choice: str, where: str) -> Matter:
    chosen, words = frozenset(telling(choice)), telling(about)
    if len(chosen) > _MOST_CHOSEN or len(words) > _MOST_ABOUT or SENTENCE.search(f"{about} {choice}"):
        return Matter()
    several = AND_FOR.search(f"{about} {where}") is not None
    return Matter(
        several=several, frame=frame, about=frozenset(words), head=words[-1] if words else "", choice=chosen,
        proper=_is_proper(choice), where=frozenset(telling(where)),
    )  # fmt: skip


def _phrases(text: str) -> tuple[frozenset[str], ...]:
    phrase = frozenset(telling(text))
    return (phrase,) if 0 < len(phrase) <= _MOST_CHOSEN and not SENTENCE.search(text) else ()


def _is_proper(text: str) -> bool:
    """Whether something is called by its name rather than described; letters that stand for words are not."""
    return _NAME.search(text) is not None or bool(kinds(frozenset(telling(text))))
