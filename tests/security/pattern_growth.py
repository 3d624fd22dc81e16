"""How the time of a pattern grows with its text: what `test_patterns_are_linear.py` runs in a process of its own.

A pattern is attacked with texts made from its own parse tree. For every repeat there is a text that reaches it
(the prefix), that the repeated part accepts many times (the pump), and that fails at the end; the same with the
prefix inside the pump, so that a search starts anew everywhere; and all pairs of characters that the pattern
names. The time is the processor's, not the clock's, so a busy machine changes nothing.

    python -m tests.security.pattern_growth PART PARTS

prints a line for each pattern of a part of all that grows faster than its text, or takes too long. To find the
patterns and how they are used takes longer than to try most of them: so there are few parts.
"""

import ast
import functools
import importlib
import inspect
import itertools
import operator
import pkgutil
import re
import signal
import sys
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from re import _constants as op
from re import _parser as parser
from types import ModuleType
from typing import Any, TypeGuard

import backstory

Pattern = re.Pattern[Any]

LIMIT = 0.2  # seconds of processor time for the longer of the first two texts
LOOKED_AT, CONFIRMED_AT = (500, 2_000), (6_000, 24_000)  # characters
LONGEST = 1_600_000  # what is still done in no time at this length harms nobody
LINEAR = 6.0  # four times the text may take up to six times the time
SUSPECT_FROM = 0.0001  # below, a ratio is noise
UNSURE = 0.005  # seconds by which a measured time may be too short
MEASURED = 0.1  # what takes so long and did not grow, is linear
ROUNDS, TOO_LONG = 3, 0.5  # how often a suspect's times are taken, and the seconds at which that ends
MANY = 30  # a repeat up to this many times is a constant
USUAL = " \na0.,\"'`[(\\-_/:<é中"
END = "\x00"
METHODS = frozenset(
    {"compile", "search", "match", "fullmatch", "split", "sub", "subn", "finditer", "findall"}
)


# --- which patterns there are ------------------------------------------------------------------------


@functools.cache
def modules() -> tuple[str, ...]:
    """The names of all modules of the package."""
    return tuple(
        sorted(
            each.name
            for each in pkgutil.walk_packages(backstory.__path__, "backstory.")
            if not each.name.endswith("__main__")
        )
    )


@functools.cache
def _nodes(module: str) -> list[ast.AST]:
    """A module's syntax tree, each node once."""
    return list(ast.walk(ast.parse(inspect.getsource(importlib.import_module(module)))))


def written(module: str) -> Iterator[tuple[str, ast.Call]]:
    """Each call of `re` inside of a function, with the function's name: no table of the module holds it."""
    for function in _nodes(module):
        if isinstance(function, ast.FunctionDef):
            yield from ((function.name, each) for each in ast.walk(function) if _calls_re(each))


def _calls_re(node: ast.AST) -> TypeGuard[ast.Call]:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "re"
        and node.func.attr in METHODS
    )


def literal(call: ast.Call) -> Pattern | None:
    """The pattern of a call that writes it out, with its flags; None where it is put together."""
    if not isinstance(call.args[0], ast.Constant):
        return None
    flags = [
        getattr(re, each.attr)
        for argument in [*call.args[1:], *(keyword.value for keyword in call.keywords)]
        for each in ast.walk(argument)
        if isinstance(each, ast.Attribute) and isinstance(getattr(re, each.attr, None), re.RegexFlag)
    ]
    return re.compile(call.args[0].value, functools.reduce(operator.or_, flags, re.RegexFlag(0)))


def patterns_of(module: ModuleType) -> Iterator[tuple[str, Pattern]]:
    """Each compiled pattern that a module holds, by name, also inside its tables and objects."""
    seen: set[int] = set()
    for name, value in sorted(vars(module).items()):
        yield from ((f"{module.__name__}:{where}", each) for where, each in _inside(name, value, seen))
    # Rows of tables are compiled when they are needed; an alternation of linear rows is linear.
    if module.__name__ == "backstory.hook.patterns":
        for row in module.ROWS:
            yield f"{module.__name__}:{row.name}", re.compile(row.pattern, re.ASCII)
    if module.__name__ == "backstory.distil.phrases":
        for language, tables in module.LANGUAGES.items():
            for table, rows in tables.TABLES.items():
                yield from ((f"{language}:{table}", re.compile(row.pattern)) for row in rows)


def _inside(name: str, value: object, seen: set[int]) -> Iterator[tuple[str, Pattern]]:
    if isinstance(value, re.Pattern):
        yield name, value
        return
    if id(value) in seen or isinstance(value, str | bytes | int | float | ModuleType | type):
        return
    seen.add(id(value))
    for key, each in _parts(value):
        yield from _inside(f"{name}.{key}", each, seen)


def _parts(value: object) -> Iterable[tuple[object, object]]:
    if isinstance(value, dict):
        return list(value.items())
    if isinstance(value, list | tuple | set | frozenset):
        return list(enumerate(value))
    if type(value).__module__.startswith("backstory"):
        names = [*getattr(value, "__dict__", ()), *getattr(type(value), "__slots__", ())]
        return [(key, getattr(value, key)) for key in names if hasattr(value, key)]
    return ()


def patterns() -> Iterator[tuple[str, Pattern, str]]:
    """All patterns, each once for each way in which it is used, with the name of the method."""
    seen = set()
    for name in modules():
        module = importlib.import_module(name)
        for where, each in patterns_of(module):
            method = _method(module, where.partition(":")[2])
            if (key := (each.pattern, each.flags, method)) not in seen:
                seen.add(key)
                yield where, each, method
        for function, call in written(name):
            if (own := literal(call)) is not None:
                used = call.func.attr if isinstance(call.func, ast.Attribute) else ""
                yield f"{name}:{function}", own, used if used in ("match", "fullmatch") else "finditer"


def _method(module: ModuleType, name: str) -> str:
    """How a pattern is run: where every use begins at a given place, a search would only start in vain."""
    methods = _uses(module.__name__).get(name, set()) if name.startswith("_") else _used_anywhere()[name]
    return next(iter(methods)) if len(methods) == 1 and methods <= {"match", "fullmatch"} else "finditer"


@functools.cache
def _used_anywhere() -> Mapping[str, set[str]]:
    found = defaultdict[str, set[str]](set)
    for module in modules():
        for name, methods in _uses(module).items():
            found[name] |= methods
    return found


@functools.cache
def _uses(module: str) -> Mapping[str, set[str]]:
    """The attributes of each plain name in a module; of a name that stands alone also the empty one."""
    found = defaultdict[str, set[str]](set)
    heads = set()
    for each in _nodes(module):  # from the root down: an attribute comes before the name that it is of
        if isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name):
            found[each.value.id].add(each.attr)
            heads.add(each.value)
        elif isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load) and each not in heads:
            found[each.id].add("")
    return found


# --- texts that a pattern may be slow on -----------------------------------------------------------------


def texts(pattern: Pattern) -> Iterator[tuple[str, str, str]]:
    """Prefix, pump and end of each text to try."""
    source = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    tree = parser.parse(source, pattern.flags & ~re.UNICODE & ~re.LOCALE)
    letters = _alphabet(tree)
    made = dict.fromkeys(itertools.chain.from_iterable(_repeats(tree, [""], letters)))
    pairs = [*letters, *map("".join, itertools.permutations(letters, 2))]
    yield from (
        (before, pump, END) for before, pump in dict.fromkeys([*made, *(("", each) for each in pairs)])
    )
    yield from ((before, pump, "") for before, pump in made)


def _alphabet(tree: Any) -> list[str]:
    """Some characters that the pattern tells apart: those that it names, then usual ones."""
    named = [each for each in _literals(tree) if not each.isalnum()]
    named += [each for each in _literals(tree) if each.isalnum()][:3]
    return list(dict.fromkeys([" ", "\n", "a", *named, "0"]))[:9]


def _literals(tree: Any) -> list[str]:
    found: list[str] = []
    todo = [tree]
    while todo:
        each = todo.pop(0)
        if isinstance(each, tuple) and len(each) == 2 and each[0] in (op.LITERAL, op.NOT_LITERAL):
            found.append(chr(each[1]))
        elif isinstance(each, tuple | list | parser.SubPattern):
            todo.extend(each)
    return list(dict.fromkeys(found))


def _repeats(tree: Any, before: list[str], letters: list[str]) -> Iterator[list[tuple[str, str]]]:
    """For each repeat: the texts before it and what to repeat."""
    for code, value in tree:
        if code in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
            _, most, body = value
            if most > MANY:
                yield list(_pumps(before, _members(body, letters)))
            yield from _repeats(body, before, letters)
        elif code is op.BRANCH:
            for each in value[1]:
                yield from _repeats(each, before, letters)
        elif code in (op.SUBPATTERN, op.ATOMIC_GROUP, op.ASSERT, op.ASSERT_NOT):
            yield from _repeats(value if code is op.ATOMIC_GROUP else value[-1], before, letters)
        before = _joined(before, _item(code, value, letters), 2)


def _pumps(before: list[str], members: list[str]) -> Iterator[tuple[str, str]]:
    for prefix in before:
        for member in members:
            yield prefix, member
            if prefix:
                yield "", prefix + member
    for one, other in itertools.permutations(members[:4], 2):
        yield before[0], one + other


def _members(tree: Any, letters: list[str], most: int = 5) -> list[str]:
    """Some texts that a part of a pattern accepts, the empty one left out."""
    found = [""]
    for code, value in tree:
        found = _joined(found, _item(code, value, letters), most)
    return [each for each in found if each] or [letters[0]]


def _joined(heads: list[str], tails: list[str], most: int) -> list[str]:
    if len(heads) == 1:
        return [heads[0] + tail for tail in tails[:most]] or heads
    if len(tails) <= 1:
        return [head + tail for head in heads for tail in tails] or heads
    made = [heads[i % len(heads)] + tails[i % len(tails)] for i in range(max(len(heads), len(tails)))]
    return made[:most]


def _item(code: Any, value: Any, letters: list[str]) -> list[str]:
    """Some texts that one item of a parse tree accepts."""
    if code is op.LITERAL:
        return [chr(value)]
    if code in (op.ANY, op.NOT_LITERAL, op.IN, op.CATEGORY):
        usual = [each for each in dict.fromkeys([*letters, *USUAL]) if _accepts(code, value, each)]
        return usual[:6] or [_first(value) if code is op.IN else "a"]
    if code in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
        return [each * max(1, value[0]) for each in _members(value[2], letters)]
    if code is op.BRANCH:
        return [text for each in value[1] for text in _members(each, letters, 2)][:8]
    if code is op.SUBPATTERN:
        return _members(value[-1], letters)
    if code is op.ATOMIC_GROUP:
        return _members(value, letters)
    return [""]


def _accepts(code: Any, value: Any, letter: str) -> bool:
    """Whether an item that stands for one character stands for this one."""
    if code is op.ANY:
        return letter != "\n"
    if code in (op.LITERAL, op.NOT_LITERAL):
        return bool(ord(letter) == value) == (code is op.LITERAL)
    if code is op.RANGE:
        return ord(letter) in range(value[0], value[1] + 1)
    if code is op.CATEGORY:
        return _CATEGORIES[value].fullmatch(letter) is not None
    negated = value[0][0] is op.NEGATE
    return negated != any(_accepts(one, of, letter) for one, of in value if one is not op.NEGATE)


_CATEGORIES = {
    op.CATEGORY_DIGIT: re.compile(r"\d"),
    op.CATEGORY_NOT_DIGIT: re.compile(r"\D"),
    op.CATEGORY_SPACE: re.compile(r"\s"),
    op.CATEGORY_NOT_SPACE: re.compile(r"\S"),
    op.CATEGORY_WORD: re.compile(r"\w"),
    op.CATEGORY_NOT_WORD: re.compile(r"\W"),
}


def _first(value: Any) -> str:
    """A character of a class that no usual one belongs to."""
    numbers = [of if one is op.LITERAL else of[0] for one, of in value if one in (op.LITERAL, op.RANGE)]
    return chr(numbers[0]) if numbers else "a"


# --- how long it takes -----------------------------------------------------------------------------------


class TooLongError(Exception):
    """A text took more than the limit."""


def _stop(*_: object) -> None:
    raise TooLongError


def seconds(pattern: Pattern, method: str, text: str, limit: float) -> float:
    """Processor time to run a pattern over a text; infinite above the limit.

    The thread's time: while a timer runs, the kernel tells the process's in steps of some milliseconds.
    """
    subject: Any = text if isinstance(pattern.pattern, str) else text.encode()
    signal.signal(signal.SIGVTALRM, _stop)
    begun = time.thread_time()
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, limit)
        found = getattr(pattern, method)(subject)
        if method == "finditer":
            deque(found, 0)
    except TooLongError:
        return float("inf")
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return time.thread_time() - begun


def grown(pattern: Pattern, method: str = "finditer") -> str | None:
    """What makes a pattern grow faster than its text, or None."""
    for before, pump, end in texts(pattern):
        took = functools.partial(_best, pattern, method, before + pump, pump, end)
        large = took(LOOKED_AT[1], 1, LIMIT)
        if large < SUSPECT_FROM or large < LINEAR * (small := took(LOOKED_AT[0], 3, LIMIT)):
            continue
        large = took(LOOKED_AT[1], 3, LIMIT)
        what = f"{before!r} + {pump!r} * n + {end!r}"
        if large == float("inf"):
            return f"{what}: {LOOKED_AT[1]} characters take over {LIMIT} s"
        if large >= LINEAR * small and (sure := _growth(took)):
            return f"{what}: {sure}"
    return None


def _growth(took: Callable[[int, int, float], float]) -> str:
    """How a suspect's time grows, in words, or "" if it does not.

    What disturbs a measurement only ever adds to it, so the shortest times count. Growth must go on in ever
    longer texts until one takes too long: a repeat with a bound grows up to its bound and no further, and
    what is too quick to be measured in one length is not in the next, if it does grow.
    """
    size, longer, grown = *CONFIRMED_AT, ""
    while longer <= LONGEST:
        small = large = float("inf")
        for _ in range(ROUNDS):  # in turn, so that what disturbs for a while disturbs both
            small, large = min(small, took(size, 1, TOO_LONG)), min(large, took(longer, 1, TOO_LONG))
        grown = ""
        if large >= LINEAR * (small + UNSURE):
            grown = f"{size} characters {small:.4f} s, four times as many {large:.4f} s"
        elif large >= MEASURED:
            break
        if large == float("inf"):
            break  # for what a linear pattern does in milliseconds
        size, longer = size * 4, longer * 4
    return grown


def _best(
    pattern: Pattern, method: str, before: str, pump: str, end: str, size: int, runs: int, limit: float
) -> float:
    """The shortest time of some runs, infinite if all are over the limit."""
    text = before + pump * (size // len(pump)) + end
    return min(seconds(pattern, method, text, limit) for _ in range(runs))


def main(part: str, parts: str) -> None:
    for name, pattern, method in itertools.islice(patterns(), int(part), None, int(parts)):
        if fault := grown(pattern, method):
            print(name, fault, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
