"""A decision taken apart: on which matter, what is chosen, what is given up for it, and where it holds.

A sentence is cut into clauses, each read by the first form that fits it. What fits no form stays empty, and
so does what only asks, supposes, plans or quotes: of an empty part nothing follows.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from backstory.distil.alternatives import everyday, is_known, kinds
from backstory.distil.forms import (
    ADDS,
    AND_FOR,
    AWAY,
    BLAMED,
    BREAK,
    CHOICES,
    DENIED,
    DOING,
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
#: Another name of what stands before it: "EdDSA (Ed25519)".
_ALSO_CALLED = re.compile(
    r"(?:(?<!\s)\s++)?\((?:[A-Z][\w.+#-]{0,60}|\w{0,60}\d[\w.]{0,60})(?: (?:[A-Z]|\d)[\w.+#-]{0,60})?\)"
)
#: Verbs that say only that something has its place there.
_PLACING = frozenset({"hold", "run", "go", "come"})
_NO_SWAP: tuple[tuple[str, ...], frozenset[str]] = ((), frozenset())


@dataclass(frozen=True, slots=True)
class Matter:
    """What one decision says; whatever is empty was not said, or not understood.

    `frame` is how the choice serves the matter ("use", "hold in", "sign with"); `on` is what it is about
    together with what is done, however both are said ("for signing tokens"); `where` narrows it; `gone` are
    the things given up, by name; `blamed` is one that was spoken ill of; `back` is what it returns to;
    `undoes` is a decision that it takes back; `swap` is what a sentence says that no form fits, and what it
    says instead of which; `fact` is the one value that it gives to something.
    """

    words: tuple[str, ...] = ()
    firm: bool = False
    denied: bool = False
    adds: bool = False
    several: bool = False
    frame: str = ""
    about: frozenset[str] = frozenset()
    on: frozenset[str] = frozenset()
    head: str = ""
    choice: frozenset[str] = frozenset()
    proper: bool = False
    where: frozenset[str] = frozenset()
    gone: tuple[frozenset[str], ...] = ()
    blamed: frozenset[str] = frozenset()
    back: frozenset[str] = frozenset()
    undoes: frozenset[str] = frozenset()
    swap: tuple[tuple[str, ...], frozenset[str]] = _NO_SWAP
    fact: Valued | None = None


def read_matter(text: str) -> Matter:
    """Take a decision apart; its reason tells nothing of the matter."""
    said = _ALSO_CALLED.sub("", REASON.split(text, maxsplit=1)[0][:_LONGEST]).strip()
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
    return _folded(bare, [_clause(part) for part in clauses(said)])


def given_up(text: str) -> str:
    """The clauses of a text that only give something up, or speak ill of it."""
    parts = ((part, _clause(part)) for part in clauses(text[:_LONGEST]) if not NOT_THIS.match(part))
    return ", ".join(
        part for part, read_as in parts if (read_as.gone or read_as.blamed) and not read_as.choice
    )


def clauses(said: str) -> list[str]:
    """The clauses of a text, without what dates them and what comes before they say anything."""
    return [part for each in BREAK.split(LATELY.sub(_undated, said)) if (part := _bare(each))]


def _undated(since: re.Match[str]) -> str:
    """What a word of time leaves behind: the comma that ends its clause."""
    return ", " if since.group().endswith(",") else " "


def _bare(clause: str) -> str:
    """A clause without what comes before it says anything."""
    return LEAD.sub("", " ".join(clause.split())).strip(" .!")


def _folded(bare: Matter, parts: list[Matter]) -> Matter:
    """The clauses as one: the first choice counts; of two choices the decision is not one but several."""
    parts = [part for at, part in enumerate(parts) if not _comments(part, parts[:at])]
    chosen = [part for part in parts if part.choice]
    first = chosen[0] if chosen else next((part for part in parts if part.gone), Matter())
    spoken = first if first.about else next((part for part in parts if part.gone and part.about), first)
    gone = [phrase for part in parts for phrase in part.gone]
    gone += [part.blamed for part in parts if kinds(part.blamed) & kinds(first.choice)]
    return replace(
        bare,
        several=len(chosen) > 1 or first.several,
        frame=first.frame,
        about=spoken.about,
        on=spoken.on,
        head=spoken.head,
        choice=first.choice,
        proper=first.proper,
        where=frozenset().union(*(part.where for part in parts)),
        gone=tuple(dict.fromkeys(gone)),
        back=next((part.back for part in parts if part.back), frozenset()),
        undoes=next((part.undoes for part in parts if part.undoes), frozenset()),
        swap=parts[0].swap if len(parts) == 1 else _NO_SWAP,
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
        lost = _phrases(ranked["gone"])
        if not inner.choice:
            return Matter(swap=(telling(rest), lost[0])) if lost else Matter()
        return replace(inner, gone=(*inner.gone, *lost))
    if blamed := BLAMED.match(text):
        return Matter(blamed=frozenset(telling(blamed["gone"])))
    away = next(filter(None, (form.match(text) for form in AWAY)), None)
    return _turned(away.groupdict()) if away else _chosen(text)


def _ended(then: str, *, first: bool) -> Matter:
    """What held until now, and does no longer; `first` if nothing was said before "no longer"."""
    if unused := UNUSED.match(then):
        return Matter(gone=_phrases(unused["gone"]))
    still = _chosen(then)
    if still.choice:
        return replace(still, choice=frozenset(), gone=(still.choice,))
    named = first and _is_proper(then) and not everyday(frozenset(telling(then)))
    return Matter(gone=_phrases(then) if named else ())


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
        several=several, frame=frame, about=frozenset(words), on=_on(frame, about),
        head=words[-1] if words else "", choice=chosen, proper=_is_proper(choice),
        where=frozenset(telling(where)),
    )  # fmt: skip


def _on(frame: str, about: str) -> frozenset[str]:
    """What a decision is about, and what is done with it."""
    doing = [DOING.get(word.lower(), word) for word in about.split()]
    doing.append(frame.split()[0] if " " in frame and not frame.startswith(("use ", "be ", "set ")) else "")
    return frozenset(telling(" ".join(word for word in doing if word not in _PLACING)))


def _phrases(text: str) -> tuple[frozenset[str], ...]:
    phrase = frozenset(telling(text))
    return (phrase,) if 0 < len(phrase) <= _MOST_CHOSEN and not SENTENCE.search(text) else ()


def _is_proper(text: str) -> bool:
    """Whether something is called by its name rather than described; letters that stand for words are not."""
    return _NAME.search(text) is not None or bool(kinds(frozenset(telling(text))))
