"""One normal form for words that are looked for and for texts that may hold them.

The same words are stored in many spellings: wrapped over lines, composed or decomposed, with characters that
nobody sees, coloured by a terminal, escaped as JSON inside JSON, or with the brackets that our own quoting
puts in place of a tag's. Forgetting must find all of them, so both sides are compared in this form: NFKC,
case-folded, without hidden characters, every run of white space one space, our own quoting taken back.
A text is also read without the marks around its words (Markdown, HTML, quotes, patches, addresses); what is
looked for is not, so a text is only found by words that it has.
"""

import html
import re
import unicodedata
from collections.abc import Callable, Iterable
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
# Marks at the start of a line: quotes, comments, headings, lists, patches. Within a line only such as stand
# at the edge of a word: what stands between letters, as in a*b, may mean something.
_LINE_MARKS = re.compile(r"^[ \t]{0,40}(?:(?:>|#{1,6}|//|[*+-])[ \t]{1,40}){1,9}", re.MULTILINE)
_WORD_MARKS = re.compile(
    r"(?<!\w)(?:\*{1,3}|`{1,3}|<[a-zA-Z]\w{0,9}>)(?=\S)|(?<=\S)(?:\*{1,3}|`{1,3}|</[a-zA-Z]\w{0,9}>)(?!\w)"
)
_HYPHENATED = re.compile(r"(?<=\w)-\r?\n[ \t]{0,40}(?=\w)")
_MAYBE_HYPHENATED = re.compile(r"-[\\rn]{0,20}\n?[ \t]{0,40}(?:(?:>|#{1,6}|//|[*+-])[ \t]{1,40}){0,9}")

Matches = Callable[[str], bool]


def normal(text: str) -> str:
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


def fold(text: str) -> str:
    """A text in its normal form, whatever case it has."""
    text = normal(text)
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text.casefold())


def containing(words: Iterable[str]) -> Matches:
    """Whether a text holds one of the words, in any spelling that has the same normal form."""
    needles = {needle: _plain_words(needle) for needle in map(fold, words) if needle}

    def matches(text: str) -> bool:
        return any(_may_hold(text, parts) and _holds(text, needle) for needle, parts in needles.items())

    return matches


def searching(pattern: re.Pattern[str]) -> Matches:
    """Whether a pattern finds something in a text, as it is or in its normal form."""

    def matches(text: str) -> bool:
        return any(pattern.search(form) for form in dict.fromkeys((text, normal(text))))

    return matches


def _plain_words(needle: str) -> list[str]:
    """The words of the needle that a text is first looked through for, the rarest first: the longest."""
    return sorted(_PLAIN_RUN.findall(needle), key=len, reverse=True)


def _may_hold(text: str, words: list[str]) -> bool:
    """Whether it is worth the normal form: the words are there, or could be there in another spelling."""
    plain = text.isascii()
    low = text.lower() if plain else text.casefold()
    if words and all(word in low for word in words):
        return True
    if ("-\n" in low or "-\\" in low) and all(word in _MAYBE_HYPHENATED.sub("", low) for word in words):
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
    near = "".join(c for c in found if _PLAIN_RUN.search(fold(c)))
    return re.compile(f"[{near}]|[\U0001d400-\U0001d7ff\U0001f100-\U0001f1ff]")


def _holds(text: str, needle: str) -> bool:
    """Whether the needle stands in a text, also behind the escapes of JSON or Markdown."""
    for _ in range(_DEEPEST):
        if needle in fold(text) or any(needle in fold(form) for form in _unmarked(text)):
            return True
        if "\\" not in text:
            return False
        text = _unescaped(text)
    return False


def _unmarked(text: str) -> set[str]:
    """A text without the marks around its words; a word that is parted at a line's end in both readings."""
    plain = _LINE_MARKS.sub("", text)
    plain = html.unescape(plain) if "&" in plain else plain
    plain = unquote(plain) if "%" in plain else plain
    plain = _WORD_MARKS.sub("", _WORD_MARKS.sub("", plain))
    return {_HYPHENATED.sub(between, plain) for between in ("", "-")} - {text}


def _unescaped(text: str) -> str:
    def char(found: re.Match[str]) -> str:
        if found[1]:
            return chr(int(found[1], 16))
        return _ESCAPED_SPACES.get(found[2], found[2])

    plain = _ESCAPE.sub(char, text)
    # two halves of a character that JSON wrote apart
    return plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if "\\u" in text else plain
