"""What kind of thing a question about a time asks for: files, commands, failures, decisions, or all there is.

Only small words, words for kinds of things, words that merely ask ("happened") and a verb behind "we" or "I"
may be left of such a question when its time is taken out. Any other word is a subject to search for.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from backstory.model import Action, Kind, MemoryKind
from backstory.search.smallwords import SMALL
from backstory.store.records import Sort


@dataclass(frozen=True, slots=True)
class Asked:
    """A sort of thing that one can ask for.

    `exact`: all there is of it is known, so nothing else is an answer. `each`: which of a hit's values it is
    one of, so that each is shown once.
    """

    name: str
    words: re.Pattern[str]
    sort: Sort
    exact: bool = False
    each: str = ""


@dataclass(frozen=True, slots=True)
class Wish:
    """What is asked for first, and words for doing things: what has them comes first, too."""

    asked: tuple[Asked, ...] = ()
    verbs: tuple[str, ...] = ()


def _asked(name: str, words: str, sort: Sort, exact: bool = False, each: str = "") -> Asked:
    return Asked(name, re.compile(words), sort, exact or bool(each), each)


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_ANY = Sort((*MemoryKind, *Kind))
_RUN = Sort((Kind.TOOL,), (Action.RUN,))
_SORTS = (
    _asked("decision", r"decid\w+|decisions?|agree[ds]?|cho(?:ose|sen?)", Sort((MemoryKind.DECISION,))),
    _asked("lesson", r"learn(?:ed|t)?|lessons?", Sort((MemoryKind.LESSON,))),
    _asked("attempt", r"tr(?:y|ied)|attempt(?:s|ed)?", Sort((MemoryKind.ATTEMPT,))),
    _asked("open step", r"open|unfinished|pending|todos?", Sort((MemoryKind.NEXT_STEP,))),
    _asked("prompt", r"prompts?|ask(?:ed)?|questions?|requests?", Sort((Kind.PROMPT,))),
    _asked(
        "failure",
        r"fail(?:s|ed|ing|ures?)?|errors?|exceptions?|crash(?:es|ed)?|br(?:oke|oken)|problems?|issues?|bugs?|wrong",
        Sort((MemoryKind.LESSON, MemoryKind.ATTEMPT, Kind.TOOL), failed=True),
        exact=True,
    ),
    _asked("changed file", r"files?", Sort((Kind.TOOL,), (Action.EDIT, Action.WRITE)), each="target"),
    _asked("command", r"commands?", _RUN, each="target"),
    _asked("session", r"sessions|conversations|chats", _ANY, each="session_id"),
    _asked("branch", r"branches", _ANY, each="branch"),
    _asked("project", r"projects|repos(?:itories)?", _ANY, each="project_id"),
    _asked("agent", r"agents", _ANY, each="agent"),
)
# Words that ask, or that say that something was, and nothing of what.
_EMPTY = re.compile(
    r"(?:happen|work|accomplish|achiev|complet|finish|discuss|talk|start|summari[sz]|recap|updat|chang|remember"
    r"|show|list|look|edit|touch|run)(?:e|s|es|ed|ing)?|went|ran|tell|catch|leave|left|new|progress|stuff|summary|overview"
    r"|(?:any|every|some)thing|first|last|latest|project|session|branch"
)
_SUBJECTS = _set("we i you")
_HELPING = _set("ve d have had been were was are did just also")
_HOW_MUCH = re.compile(r"\bhow (?:many|much|long|often|soon|far)\b", re.IGNORECASE)
_TASKS = r"(?:tasks?|steps?|items?|points?|work|threads?|todos?|things)"
_UNDONE = r"(?:open|pending|unfinished|outstanding|remaining)"
_OPEN_STEPS = re.compile(
    rf"(?:(?:what|which) (?:are|is) |show me |list |any |all )?(?:the |my |our )?"
    rf"(?:(?:still )?{_UNDONE} {_TASKS}|next steps|loose ends|to-?do list|(?:still )?left to do|still open)"
    rf"|what(?:['’]s| is) (?:next|left|pending|still {_UNDONE}|(?:still )?left to do)"
    rf"|(?:what|which) {_TASKS} (?:are|is) (?:still )?(?:{_UNDONE}|left)"
    r"|what remains to (?:do|be done)|what should (?:i|we) do next|is anything pending"
)
_WORD = re.compile(r"[^\s\"'’`()\[\]{}<>,;!?]+")


def asks_how_much(text: str) -> bool:
    """Whether somebody asks for a number or a length, which is not asking for all that lies between."""
    return _HOW_MUCH.search(text) is not None


def asks_what_is_open(text: str) -> bool:
    """Whether a text asks what is still to be done, and nothing else: "what is left to do"."""
    return _OPEN_STEPS.fullmatch(" ".join(text.lower().split()).rstrip(" ?.!")) is not None


def wish_of(text: str, how_much: bool = False) -> Wish | None:
    """What a text without its time asks for, if it names no subject; `how_much`: it asks for a number."""
    words = [bare for word in _WORD.findall(text) if (bare := word.strip(".:*-_/?").lower())]
    asked: list[Asked] = []
    verbs: list[str] = []
    for n, word in enumerate(words):
        if sort := next((each for each in _SORTS if each.words.fullmatch(word)), None):
            asked.append(sort)
        elif word not in SMALL and not _EMPTY.fullmatch(word):
            if not _is_done_by_us(words, n):
                return None
            verbs.append(word)
    if verbs and "what" not in words and not asked:  # "did we deploy": not all of that day is an answer
        return None
    exact = {each.name: each for each in asked if each.exact}
    if how_much and not exact:
        return None
    if {"command", "failure"} <= exact.keys():
        return Wish((replace(exact["command"], name="failed command", sort=_RUN._replace(failed=True)),))
    chosen = next((each for each in exact.values() if each.each), next(iter(exact.values()), None))
    return Wish((chosen,) if chosen else tuple(dict.fromkeys(asked)), tuple(verbs))


def _is_done_by_us(words: Sequence[str], n: int) -> bool:
    """Whether a word is a verb behind "we", "I" or "you", helping words between them left out."""
    before = next((word for word in reversed(words[:n]) if word not in _HELPING), "")
    return before in _SUBJECTS
