"""One normal form for words that are looked for and for texts that may hold them.

The same words are stored in many spellings: wrapped over lines, composed or decomposed, with characters that
nobody sees, coloured by a terminal, escaped as JSON inside JSON, with the marks of Markdown, HTML, patches,
comments, tables and quotes around them. Forgetting must find all of them, and no list of marks is complete.
So both sides are compared as the sequence of their words: whatever is neither letter nor digit only parts
words. A wrapped line may have something in front of it (a number, `a.txt:12:`, a time, `REM`). Needles that
are too short for that, or whose signs are most of what they say (`C++`, `2 * 3`), are compared as they are
written: NFKC, case-folded, without hidden characters, every run of white space one space.

Letters may be written as the bytes of UTF-8: `%C3%9F` in an address, `\\303\\237` as git prints a path,
`\\xc3\\x9f` in a program, `=C3=9F` in a mail, or as entities. A text that has such runs
is looked at decoded, too.
"""

import html
import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from urllib.parse import unquote

from backstory.hook.sanitize import HIDDEN, without_escapes

_CONTROL_BYTES = bytes((*range(0x09), *range(0x0E, 0x1C), 0x7F))
_VARIANTS = (*range(0x180B, 0x1810), *range(0xFE00, 0xFE10))
# apart, because a set of characters is only looked up at once while all of them have 16 bits
_UNSEEN = re.compile("[" + "".join(re.escape(chr(c)) for c in (*HIDDEN, *_VARIANTS) if c <= 0xFFFF) + "]+")
_UNSEEN_BEYOND = re.compile("[\U000e0000-\U000e01ff]+")
#: What quoting writes (`hook/sanitize.py`, `knowledge/markdown_page.py`) → what stood there.
_QUOTED = (("‹", "<"), ("›", ">"), ("'''", "```"), ("[ [", "[["), ("] ]", "]]"), ("] (", "]("), ("% %", "%%"))
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_NUMBERED = re.compile(r"(?<!\\)\\++u([0-9a-fA-F]{4})")
_ESCAPED_SPACES = {**dict.fromkeys("rtbfv", " "), "n": "\n"}
_DEEPEST = 4  # JSON in JSON in JSON: a tool's input inside a transcript's line inside a payload
_PLAIN_RUN = re.compile(r"[a-z0-9]+")
_WORD = re.compile(r"[^\W_]+")
_TAG = re.compile(r"</?[a-zA-Z!][^<>\n]{0,200}>")
_LINK_TARGET = re.compile(r"\]\([^()\s]{0,300}\)")
_PARTED = re.compile(r"\w[-\u00ad\u2010](?:\\+r|\r)?(?:\\+n|\n)")
#: Bytes written as text, each way with its base; a run of them is read as UTF-8.
_BYTES = (
    ("%", 16, re.compile(r"(?:%[0-9A-Fa-f]{2})+")),
    ("\\x", 16, re.compile(r"(?:(?<!\\)\\++x[0-9A-Fa-f]{2})(?:\\++x[0-9A-Fa-f]{2})*")),
    ("\\", 8, re.compile(r"(?:(?<!\\)\\++[0-3][0-7]{2})(?:\\++[0-3][0-7]{2})*")),
    ("=", 16, re.compile(r"(?:=[0-9A-F]{2})+")),
)
_SOFT_BREAK = re.compile(r"=(?:\r?\n|(?:\\+r)?\\+n)")
_FOLDS = 3  # an address in an address in an address
_HYPHENS = ("-", "\u00ad", "\u2010")
_LEAD = 120  # characters in front of a wrapped line
_EDGE = 4  # letters of a needle's outer word that may be a part of a longer word
_ENOUGH = 8  # letters of a needle whose signs do not matter
_UNMISTAKABLE = 12  # letters that are found without any space between them

Matches = Callable[[str], bool]


def normal_text(text: str) -> str:
    """A text in its normal form, in the case that it has."""
    if "\x1b" in text or "\x9b" in text:
        text = without_escapes(text)
    if not text.isascii():
        text = unicodedata.normalize("NFKC", _UNSEEN_BEYOND.sub("", _UNSEEN.sub("", text)))
    else:
        text = text.encode().translate(None, _CONTROL_BYTES).decode()
    text = " ".join(text.split())
    for quoted, was in _QUOTED:
        if quoted in text:
            text = text.replace(quoted, was)
    return text


def folded_text(text: str) -> str:
    """A text in its normal form, whatever case it has."""
    text = normal_text(text)
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text.casefold())


def contains_words(words: Iterable[str]) -> Matches:
    """Whether a text holds one of the words, in any spelling that has the same normal form."""
    needles = [_Needle(folded) for folded in map(folded_text, words) if folded]

    def matches(text: str) -> bool:
        forms = (text,) if (decoded := _decoded(text)) == text else (text, decoded)
        return any(
            _may_hold(form, needle.plain) and _holds(form, needle) for form in forms for needle in needles
        )

    return matches


def finds_pattern(pattern: re.Pattern[str]) -> Matches:
    """Whether a pattern finds something in a text, as it is or in its normal form."""

    def matches(text: str) -> bool:
        return any(pattern.search(form) for form in dict.fromkeys((text, normal_text(text))))

    return matches


class _Needle:
    """What is looked for: as it is written, and as a sequence of words."""

    def __init__(self, folded: str) -> None:
        self._written = _as_written(folded)
        # what a text is first looked through for, the rarest first: the longest
        self.plain = sorted(_PLAIN_RUN.findall(folded), key=len, reverse=True)
        words = _WORD.findall(folded)
        # a sign of an ideographic script says as much as some letters
        letters = sum(3 if char >= "\u2e80" else 1 for word in words for char in word)
        by_words = (len(words) > 1 and letters >= _ENOUGH) or "".join(words) == "".join(folded.split())
        self.words = words if by_words else []
        self.run_together = "".join(words) if by_words and letters >= _UNMISTAKABLE else ""

    def stands_in(self, text: str) -> bool:
        if self._written.search(folded_text(text)):
            return True
        if not self.words:
            return False
        lines = [normal_text(line) for line in text.splitlines()]
        if self.run_together and self.run_together in "".join(_WORD.findall(folded_text(" ".join(lines)))):
            return True
        return _in_sequence(self.words, _tokens(text.splitlines(), lines))


def _as_written(folded: str) -> re.Pattern[str]:
    """The needle letter by letter; a short word at its edge is no part of another word."""
    before = r"(?<![^\W_])" if re.match(rf"[a-z0-9]{{1,{_EDGE - 1}}}(?![^\W_])", folded) else ""
    behind = r"(?![^\W_])" if re.search(rf"(?<![^\W_])[a-z0-9]{{1,{_EDGE - 1}}}$", folded) else ""
    return re.compile(before + re.escape(folded) + behind)


@dataclass(frozen=True, slots=True)
class _Token:
    """A word of a text; `after` are the words that may follow it in a sequence, by their numbers."""

    word: str
    after: range
    parted: bool  # the line ends with it and a hyphen


_Line = tuple[list[re.Match[str]], str, str]  # its words, itself in normal form, and as it came


def _tokens(raw: list[str], lines: list[str]) -> list[_Token]:
    """The words of a text. Behind the last of a line come the first of the next, and those with a lead."""
    found = [(list(_WORD.finditer(line)), line, old) for line, old in zip(lines, raw, strict=True)]
    found = [each for each in found if each[0]]
    tokens: list[_Token] = []
    for number, (words, _, old) in enumerate(found):
        first = len(tokens) + len(words)
        leads = _leads(found[number + 1 : number + 4])
        parted = old.rstrip().endswith(_HYPHENS)
        for at, word in enumerate(words):
            last = at == len(words) - 1
            mine = len(tokens) + 1
            after = range(first, first + leads) if last else range(mine, mine + 1)
            tokens.append(_Token(folded_text(word[0]), after, last and parted))
    return tokens


def _leads(following: list[_Line]) -> int:
    """How many of the next words may be the first of what their line says: what stands before is no prose."""
    count = 0
    for words, line, _ in following:
        for word in words:
            before = line[: word.start()]
            if len(before) > _LEAD or not all(map(_is_lead, before.split())):
                return count
            count += 1
        if not all(map(_is_lead, line.split())):
            return count
    return count


def _is_lead(chunk: str) -> bool:
    """`12`, `a.txt:12:`, `[10:32]`, `(Eve`, `eve:`, `|`, `REM`, `INFO`."""
    shouted = chunk.isupper() and 3 <= len(chunk) <= 5
    sign = not (chunk[0].isalnum() and chunk[-1].isalnum())
    return shouted or sign or any(char.isdigit() for char in chunk)


def _in_sequence(needle: list[str], tokens: list[_Token]) -> bool:
    """Whether the needle's words follow one another; its first and last may be parts of longer words."""
    final = len(needle) - 1
    seen = set()
    waiting = [(at, 0, needle[0]) for at in range(len(tokens))]
    while waiting:
        state = at, number, wanted = waiting.pop()
        if state in seen:
            continue
        seen.add(state)
        token = tokens[at]
        if token.word == wanted or _is_edge(token.word, wanted, number == 0, number == final):
            if number == final:
                return True
            waiting += [(follower, number + 1, needle[number + 1]) for follower in token.after]
        elif token.parted and wanted.startswith(token.word):
            waiting += [(follower, number, wanted[len(token.word) :]) for follower in token.after]
    return False


def _is_edge(word: str, wanted: str, first: bool, last: bool) -> bool:
    if len(wanted) < _EDGE:
        return False
    return (first and word.endswith(wanted)) or (last and word.startswith(wanted))


def _may_hold(text: str, words: list[str]) -> bool:
    """Whether it is worth the normal form: the words are there, or could be there in another spelling."""
    plain = text.isascii()
    low = text.lower() if plain else text.casefold()
    if words and all(word in low for word in words):
        return True
    if _PARTED.search(low) and all(word in low or word[0] in low for word in words):
        return True
    if "\x1b" in text or ("\\u" in text and _may_be_escaped(text, words)):
        return True
    if plain:
        data = text.encode()
        return len(data.translate(None, _CONTROL_BYTES)) != len(data)
    letters = text.encode("ascii", "ignore").lower()  # what hides between letters is no letter itself
    return all(word.encode() in letters for word in words) or _likenesses().search(text) is not None


def _may_be_escaped(text: str, words: list[str]) -> bool:
    """The same of what JSON wrote as numbers."""
    codes = {int(code, 16) for code in _NUMBERED.findall(text)}
    if any(code < ord(" ") or _likenesses().match(chr(code)) for code in codes):
        return True
    letters = _NUMBERED.sub("", text).lower()
    return all(word in letters for word in words)


@cache
def _likenesses() -> re.Pattern[str]:
    """Characters that the normal form turns into plain letters or digits: full width, ligatures."""
    found = (chr(code) for block in (range(0x80, 0xD800), range(0xF900, 0x10000)) for code in block)
    near = "".join(c for c in found if _PLAIN_RUN.search(folded_text(c)))
    return re.compile(f"[{near}]|[\U0001d400-\U0001d7ff\U0001f100-\U0001f1ff]")


def _holds(text: str, needle: _Needle) -> bool:
    """Whether the needle stands in a text, also behind the escapes of JSON or Markdown."""
    for _ in range(_DEEPEST):
        if needle.stands_in(text) or ((form := _unmarked(text)) != text and needle.stands_in(form)):
            return True
        if "\\" not in text:
            return False
        text = _unescaped(text)
    return False


def _decoded(text: str) -> str:
    """A text in which entities, and bytes written as text, are the letters that they stand for."""
    for _ in range(_FOLDS):
        before = text
        if "&" in text and ";" in text:
            text = html.unescape(text)
        for sign, base, run in _BYTES:
            if sign in text:
                text = run.sub(lambda found, base=base: _utf8(found[0], base), text)  # type: ignore[misc]
        if text == before:
            break
        if "=" in text:
            text = _SOFT_BREAK.sub("", text)
    return text


def _utf8(run: str, base: int) -> str:
    """What a run of bytes says in UTF-8; the run itself, if it is none, or ASCII outside an address."""
    digits = re.findall(r"[0-9A-Fa-f]+", run.replace("\\x", "\\"))
    data = bytes(int(number, base) for number in digits)
    if data.isascii() and run[0] != "%":
        return run
    try:
        return data.decode()
    except UnicodeDecodeError:
        return run


def _unmarked(text: str) -> str:
    """A text without what has letters in it and is no word: tags, entities, the targets of links."""
    plain = html.unescape(text) if "&" in text else text
    plain = unquote(plain) if "%" in plain else plain
    plain = _TAG.sub(" ", plain) if "<" in plain else plain
    return _LINK_TARGET.sub("] ", plain) if "](" in plain else plain


def _unescaped(text: str) -> str:
    def char(found: re.Match[str]) -> str:
        if found[1]:
            return chr(int(found[1], 16))
        return _ESCAPED_SPACES.get(found[2], found[2])

    plain = _ESCAPE.sub(char, text)
    # two halves of a character that JSON wrote apart
    return plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if "\\u" in text else plain
