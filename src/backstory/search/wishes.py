"""What a question asks for beside its time: a sort of thing ("which files"), what was done ("what we built").

Such a question names no matter that texts could be compared with. It is told by what is left of it: once its
time, its small words, words for sorts of things and words that only ask are gone, there may be verbs, told by
where they stand ("what did we …", "what was …"), and nothing else. Any other word is a matter to search for.
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
    _asked(
        "decision",
        r"decid\w+|decisions?|agree[ds]?|agreements?|choose[sn]?|chosen?|choices?|entschieden|entscheidung\w*"
        r"|beschlossen|decidimos|décid\w+|décision\w*",
        Sort((MemoryKind.DECISION,)),
    ),
    _asked("lesson", r"learn(?:s|ed|t|ing)?|lessons?|gelernt|aprend\w+|appris", Sort((MemoryKind.LESSON,))),
    _asked("attempt", r"tr(?:y|ies|ied|ying)|attempt(?:s|ed)?|versucht", Sort((MemoryKind.ATTEMPT,))),
    _asked(
        "open step", r"open|unfinished|pending|todos?|outstanding|offen\w*", Sort((MemoryKind.NEXT_STEP,))
    ),
    _asked(
        "prompt",
        r"prompt(?:s|ed)?|ask(?:s|ed|ing)?|questions?|requests?|gefragt|fragen?",
        Sort((Kind.PROMPT,)),
    ),
    _asked(
        "failure",
        r"fail(?:s|ed|ing|ures?)?|errors?|exceptions?|crash(?:es|ed)?|br(?:eak|oke|oken|eaks)|problems?|issues?"
        r"|bugs?|wrong|trouble|fehler|fehlgeschlagen|errores|erreurs?",
        Sort((MemoryKind.LESSON, MemoryKind.ATTEMPT, Kind.TOOL), failed=True),
        exact=True,
    ),
    _asked(
        "changed file",
        r"files?|datei(?:en)?|archivos?|fichiers?",
        Sort((Kind.TOOL,), (Action.EDIT, Action.WRITE)),
        each="target",
    ),
    _asked(
        "command", r"commands?|r[ua]n|running|execut\w+|befehle?|comandos?|commandes?", _RUN, each="target"
    ),
    _asked("session", r"sessions?|conversations?|chats?|sitzung(?:en)?", _ANY, each="session_id"),
    _asked("branch", r"branch(?:es)?", _ANY, each="branch"),
    _asked("project", r"projects?|repos?|repositor(?:y|ies)|projekte?", _ANY, each="project_id"),
    _asked("agent", r"agents?|assistants?", _ANY, each="agent"),
)
_PLACES = ("session", "branch", "project", "agent")
_READ_FILES = _asked("read file", "", Sort((Kind.TOOL,), (Action.READ,)), each="target")
_READING = _set("read reading look looked view viewed gelesen")
# Words that ask, or that say that something was, and nothing of what.
_EMPTY = re.compile(
    r"(?:happen|work|accomplish|achiev|complet|finish|discuss|talk|chatt|start|summari[sz]|recap|updat|chang"
    r"|remember|show|list|look)(?:e|s|es|ed|ing)?"
    r"|went|gone|give|tell|catch|caught|leave|left|busy|new|news|progress|stuff|history|log|summary|overview"
    r"|activit(?:y|ies)|(?:any|every|some)thing|standup|kinds?|sorts?|names?|team|time|first|last|latest|stop(?:ped)?|end(?:ed)?"
)
_ADVERBS = _set("""
    actually already basically directly exactly immediately just mainly mostly really right roughly shortly
    """)
# Small words of other languages, and what they ask with.
_FOREIGN = _set("""
    alles am an auf bei das dass der die dem den denn eigentlich es gab gearbeitet gemacht geschafft geschah
    geschehen getan habe haben hatten hast hat ich ihr im in ist los mir passiert passierte sind uns und waren
    was welche welchen welcher welches wir woran wurde wurden zeig zeige
    en hemos hice hicimos hizo ha pasado pasó que qué se trabajamos trabajé yo
    a-t-on ai ai-je avons avons-nous est-il fait j'ai nous on passé qu'avons-nous qu'ai-je quoi s'est-il s'est
    travaillé qu s j quel quels quelle quelles
    """)
_UNSPACED = re.compile(
    "我们|我|做|了|什么|干|发生|过|的|事|吗|呢|怎么|工作|哪些|些|都|在|有|是|"
    "何|を|し|た|やった|ました|私|たち|は|が|あった|の|で|に|무엇을|뭐|했|나|우리|어|지|요"
)
_WHAT = _set("""
    what which whatever anything everything something all was welche welcher welches woran que qué quoi qu
    quel quels quelle quelles
    """)
_SUBJECTS = _set("we i you wir ich ihr nous yo nosotros")
_HELPING = _set("""
    ve d re m ll s have had has been be being did do does was were is are am get gets got getting going
    could would should will can just also even wurde wurden ist sind haben habe hat hatten avons ai
    """)
_BEING = _HELPING - _set("did do does going could would should will can ll m")
_PARTICIPLE = re.compile(r"\w+(?:ed|en|wn|lt|ght|pt|und|ent|un|ut)|ge\w+t")
_JOINING = _set("and or und y et")
_BEFORE_TO = _set("going have had has got get")
_HOW_MUCH = re.compile(
    r"\b(?:how (?:many|much|long|often|soon|far)|wie (?:viele?|lange|oft))\b", re.IGNORECASE
)
# Ways to say "open" of what is to be done.
_TASKS = r"(?:tasks?|steps?|items?|points?|ends?|work|jobs?|threads?|todos?|to-dos?|things|stuff)"
_UNDONE = r"(?:open|pending|unfinished|undone|outstanding|remaining)"
_OPEN = re.compile(
    rf"\b(?:(?:still )?{_UNDONE} {_TASKS}|(?:next|loose) {_TASKS}"
    rf"|{_TASKS} (?:that )?(?:are|is) (?:still )?(?:{_UNDONE}|left)(?: to do)?"
    rf"|still (?:{_UNDONE}|left)(?: to do)?|(?:left|remain(?:s|ing)?|still)(?: for (?:us|me|you))?"
    r" to (?:do|be done|finish|complete)|to-?do (?:list|items?)|do next"
    r"|have(?:n['’]t| not) (?:we|i|you) (?:yet )?(?:done|finished)(?: yet)?"
    r"|not (?:yet )?(?:done|finished)(?: yet)?"
    r"|noch offen|noch zu tun|offene[nrs]? (?:punkte?|aufgaben?|schritte?)"
    r"|(?:(?<=what['’]s )|(?<=what is ))(?:next|left)(?=\W*$))(?!\w)",
    re.IGNORECASE,
)
_ABOUT_DOING = _set("how why when where who did do does to")
_WORD = re.compile(r"[^\s\"'’`()\[\]{}<>,;!?]+")


def asks_how_much(text: str) -> bool:
    """Whether somebody asks for a number or a length, which is not asking for all that lies between."""
    return _HOW_MUCH.search(text) is not None


def says_nothing(word: str) -> bool:
    """Whether a word says nothing of a matter: it asks, or names a sort of thing."""
    return _is_empty(word) or _sort_of(word) is not None


def asks_what_is_open(text: str) -> bool:
    """Whether a text without a time asks what is still to be done, and of no matter: "what is left to do"."""
    put = _OPEN.sub("open", text)
    words = _words(put)
    wish = wish_of(text)
    if wish is None or wish.verbs or [each.name for each in wish.asked] != ["open step"]:
        return False
    return put != text or bool(
        _WHAT & set(words)
        and not _ABOUT_DOING & set(words)
        and not any(_sort_of(word) and _is_done_by_us(words, n) for n, word in enumerate(words))
    )


def _words(text: str) -> list[str]:
    return [bare for word in _WORD.findall(text) if (bare := word.strip(".:*-_/?？。").lower())]


def wish_of(text: str, how_much: bool = False) -> Wish | None:
    """What a text without its time asks for, if it names no matter; `how_much`: it asks for a number."""
    words = _words(_OPEN.sub("open", text))
    asked: dict[int, Asked] = {}
    verbs: list[int] = []
    for n, word in enumerate(words):
        sort = _sort_of(word)
        if sort is not None:
            asked |= {} if _is_place(words, n, sort) else {n: sort}
        elif not _is_empty(word):
            if not _is_verb(words, n):
                return None
            verbs.append(n)
    if verbs and not asked and not _WHAT & set(words):  # "did we deploy": not all of that day is an answer
        return None
    # "problems that we ran into" are problems
    things = [each for n, each in asked.items() if not _is_done_by_us(words, n)]
    if how_much and not any(each.exact for each in things):
        return None
    return Wish(_settled(things or list(asked.values()), words), tuple(words[n] for n in verbs))


def _settled(asked: Sequence[Asked], words: Sequence[str]) -> tuple[Asked, ...]:
    """One exact sort, or all the others: "which commands failed" asks for commands."""
    exact = {each.name: each for each in asked if each.exact}
    if not exact:
        return tuple(dict.fromkeys(asked))
    if "changed file" in exact and _READING & set(words):
        return (_READ_FILES,)
    if {"command", "failure"} <= exact.keys():
        return (replace(exact["command"], name="failed command", sort=_RUN._replace(failed=True)),)
    return (next((each for each in exact.values() if each.each), next(iter(exact.values()))),)


def _sort_of(word: str) -> Asked | None:
    return next((each for each in _SORTS if each.words.fullmatch(word)), None)


def _is_empty(word: str) -> bool:
    if word in SMALL or word in _FOREIGN or word in _ADVERBS or _EMPTY.fullmatch(word):
        return True
    return not word.isascii() and not _UNSPACED.sub("", word)


def _is_place(words: Sequence[str], n: int, sort: Asked) -> bool:
    """Whether it only says where: "in this project", not "which project" nor "projects"."""
    asked_for = words[n].endswith(("s", "en", "ies")) or (n > 0 and words[n - 1] in _WHAT)
    return sort.name in _PLACES and not asked_for


def _is_verb(words: Sequence[str], n: int) -> bool:
    """Whether a word is a verb by where it stands: behind "we", behind "what was", behind another verb."""
    if _is_done_by_us(words, n):
        return True
    place = _before(words, n)
    between = words[place + 1 : n]
    if place < 0:
        return between[:1] == ["was"] and len(between) > 1 and _PARTICIPLE.fullmatch(words[n]) is not None
    if _JOINING & set(between) or "to" in between:
        return words[place] not in SMALL and _is_verb(words, place)
    if words[place] not in _WHAT and not (words[place].endswith("s") and _sort_of(words[place])):
        return False
    return set(between) <= _BEING and _PARTICIPLE.fullmatch(words[n]) is not None and _ends(words[n + 1 :])


def _is_done_by_us(words: Sequence[str], n: int) -> bool:
    place = _before(words, n)
    return place >= 0 and (words[place] in _SUBJECTS or words[place].endswith(("-nous", "-je", "-on")))


def _before(words: Sequence[str], n: int) -> int:
    """Where the word stands that a word follows, helping words between them left out; -1: nowhere."""
    place = n - 1
    while place >= 0 and (words[place] in _HELPING | _JOINING | _ADVERBS or _is_leading_to(words, place)):
        place -= 1
    return place


def _is_leading_to(words: Sequence[str], n: int) -> bool:
    """Whether it is the "to" of "going to fix" or "tried to fix", not of "moved to Postgres"."""
    before = words[n - 1] if n else ""
    return words[n] == "to" and (before in _BEFORE_TO or _sort_of(before) is not None)


def _ends(words: Sequence[str]) -> bool:
    """Whether nothing follows a verb but small words: who is doing something has one behind him."""
    return not words or (words[0] in SMALL and not words[0].endswith("ing") and not _SUBJECTS & set(words))
