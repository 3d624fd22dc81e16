"""Prose out of Markdown: sentences with the heading and the bullet they stand under.

Code blocks, quotations, tables and pasted logs are not anybody's words and are left out; the tags
with which agents wrap their own machinery are no prompt at all.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from backstory.error_lines import ANSI
from backstory.model import Draft

BLOCK_TAGS = re.compile(
    r"<(system-reminder|command-(?:name|message|args|contents)|local-command-\w+|task-notification|"
    r"bash-(?:input|stdout|stderr)"
    r"|user-prompt-submit-hook|ide_\w+|think|thinking)>.*?(?:</\1>|\Z)",
    re.DOTALL,
)
NO_PROMPT = re.compile(
    r"\s*(?:\[Request interrupted|Caveat: The messages below|"
    r"This session is being continued from a previous"
    r"|\[Image|API Error|No response requested)",
)
INTERRUPTED = re.compile(r"\s*\[Request interrupted")

_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(.*)")
_BOLD_LINE = re.compile(r"\s*+(?:\*\*|__)(.{2,70}?)(?:\*\*|__)\s*+:?\s*+$")
_LABEL_LINE = re.compile(r"\s*+(?:\*\*|__)?([^\s.`|][^.`|]{2,60}?)(?:\*\*|__)?\s*+[:：]\s*+(?:\*\*|__)?\s*+$")
_BULLET = re.compile(r"(\s*)(?:[-*•‣–]|\d{1,2}[.)]|[a-zA-Z][.)])\s+(?:\[([ xX~>-])\]\s*)?(.*)")
_BULLET_HEADS = frozenset("-*•‣–0123456789")
_AFTER_NUMBER = frozenset(".)")
_NOT_PROSE = re.compile(
    r"\s*(?:\||>|\$ |❯|at \S+ \(|File \"|\d{4}-\d\d-\d\d[T ]\d\d:|\[\d\d[/:]|[+-]{3} |@@ |diff --git|"
    r"\d+→|[-=─━═*_]{4,}|[│┃╭╰┌└├]|\S+:\d+:\d+|npm ERR|Traceback|\{|\}|</?\w)"
)
_SPLIT = re.compile(
    r"(?<=[.!?…])[)\"'*_]*\s+(?=[\"'(*_`]*[^\W\d_a-zß-öø-ÿ]|[¿¡]|[\"'(*_`]*\d|i\b)|(?<=[。！？])"
)
_LOWER_SPLIT = re.compile(r"(?<=[a-z)`]{2}[.!?])\s+(?=[a-z`])")
_LONG_QUOTE = re.compile(r"[\"“„«]([^\"“”„«»\n]{30,}?)[\"”“»]")
_QUOTES = re.compile(r"[\"“„«]")
_WORD = re.compile(r"[^\W_]{3,}|[\u3040-\u30ff\u4e00-\u9fff]")
_SMALL_WORDS = "the and for with use used using went let yes rather than instead not will that this should"
_COMMON = frozenset(_SMALL_WORDS.split())
_NAME = re.compile(r"[^\W\d_][\w-]{3,}|\b[A-Z][A-Za-z0-9]{1,2}\b")
_EMPTY_WORDS = """
    then than what when where which with without have has had does done doing just also only even
    here there they them their your yours ours from into onto about over under like want wants need
    needs make made makes keep good fine okay sure yeah nope maybe please thanks thank would could
    can't don't doesn't didn't isn't aren't won't it's that's i'll we'll you'll let's because since
    some more most much many very still next first last back else been being were work works working
    thing things code file files line lines change changes changed nicht noch dann auch oder wenn
    aber doch eine einen einer sind wird mehr mal bitte the and for not now das der die den dem des
    und ist ein er sie es wir ich du so ok it we no if he she is in on at to do my me us or an as be
    by i go yes but out off all any one two new get got see how why who its our are was you
"""
_EMPTY = frozenset(_EMPTY_WORDS.split())
_TOKEN = re.compile(r"[^\W_][\w.+#-]+")
_ENDING = re.compile(r"(?:ing|ed|es|en|er|s|e|n|ly)$")
_VAGUE_WORDS = """
    option options way ways one ones which either both use using take that's better best would i'd could
    should shall really think know now today time every each only never always nobody well same other another
    yep sounds agreed right nice great perfect cool start done run tests test add put set say says look
    il elle les des est pas une un la le el los las una que por para con como más ou et en de du je on sur
    im am zu mit von bei für auf aus ist's hier da dort mein dein ja nein nee
"""
_VAGUE = frozenset(_VAGUE_WORDS.split()) | _EMPTY | _COMMON
NAMED = 2  # words of a statement that only names something
_ENDS = frozenset(".!?…。！？")
_MARKS = re.compile(r"\*\*|__|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)")
_EMOJI = re.compile("[\U0001f300-\U0001faff\u2600-\u27bf\ufe0f\u200d]+\\s*")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence; `heading` is the nearest heading above it, `box` the mark of a task list."""

    text: str
    heading: str = ""
    bullet: bool = False
    box: str = ""
    first: bool = True
    depth: int = 0


def prompt_words(text: str) -> str:
    """What the person wrote, without the agent's own tags; "" when nothing of it is theirs."""
    if "</" in text or "<think" in text:
        text = BLOCK_TAGS.sub(" ", text)
    if NO_PROMPT.match(text):
        return ""
    if "\x1b" in text:
        text = ANSI.sub("", text)
    return text.strip().removesuffix("---").strip()


def plain(text: str) -> str:
    """A line without Markdown marks and emoji."""
    if "*" in text or "_" in text:
        text = _MARKS.sub("", text)
    if not text.isascii():
        text = _EMOJI.sub("", text)
    return " ".join(text.split())


def heading_of(line: str) -> str | None:
    """The words of a heading line, of a bold line, or of a line that ends in a colon."""
    stripped = line.strip()
    if stripped[:1] not in "#*_" and stripped[-1:] not in ":：*_":
        return None
    match = _HEADING.match(line) or _BOLD_LINE.match(line) or _LABEL_LINE.match(line)
    return plain(match.group(1)).strip(" :：") if match else None


@lru_cache(maxsize=512)
def sentences(text: str) -> tuple[Sentence, ...]:
    """The sentences of a text in order; several rules read the same text."""
    return tuple(_sentences(text))


def _sentences(text: str) -> Iterator[Sentence]:
    heading, fenced = "", False
    buffer, mark = "", ("", False, "", 0)
    lines = text.split("\n")
    for number, line in enumerate(lines):
        stripped = line.strip()
        if stripped.startswith(("```", "~~~")):
            fenced = not fenced
            continue
        if fenced:
            continue
        if not stripped:
            yield from _cut(buffer, mark)
            buffer = ""
            continue
        bullet = (
            _BULLET.match(line) if stripped[0] in _BULLET_HEADS or stripped[1:2] in _AFTER_NUMBER else None
        )
        title = None if bullet is not None else heading_of(line) or _heads_list(lines, number)
        if title is not None:
            yield from _cut(buffer, mark)
            buffer, heading = "", title
            continue
        if _NOT_PROSE.match(line):
            yield from _cut(buffer, mark)
            buffer = ""
            continue
        if bullet is not None:
            yield from _cut(buffer, mark)
            depth = len(bullet.group(1).expandtabs(4))
            buffer, mark = bullet.group(3), (heading, True, bullet.group(2) or "", depth)
        elif buffer and (line.lstrip()[:1].islower() or buffer.rstrip()[-1:] in ",;("):
            buffer = f"{buffer} {line.strip()}"
        else:
            yield from _cut(buffer, mark)
            buffer, mark = line, (heading, False, "", 0)
    yield from _cut(buffer, mark)


def _heads_list(lines: list[str], number: int) -> str | None:
    """A short line without an end mark, right above a list, is its heading."""
    if len(lines[number]) > 60:
        return None
    line = lines[number].strip()
    if line[-1:] in ".!?。！？,;)…" or number + 1 >= len(lines):
        return None
    below = lines[number + 1] if lines[number + 1].strip() or number + 2 >= len(lines) else lines[number + 2]
    return plain(line) if _BULLET.match(below) else None


def _cut(text: str, mark: tuple[str, bool, str, int]) -> Iterator[Sentence]:
    if not text:
        return
    heading, bullet, box, depth = mark
    first = True
    for part in _SPLIT.split(text):
        for piece in _LOWER_SPLIT.split(part):
            words = plain(_LONG_QUOTE.sub("“…”", piece) if _QUOTES.search(piece) else piece)
            if len(words) > 2:
                yield Sentence(words, heading, bullet, box, first, depth)
                first = False


def shorten(text: str, limit: int) -> str:
    """One line of at most `limit` characters, cut between words."""
    line = " ".join(text.split())
    if len(line) <= limit:
        return line
    cut = line[: limit - 1]
    space = cut.rfind(" ")
    return (cut[:space] if space > limit * 0.5 else cut).rstrip(" ,;:.") + "…"


def whole(text: str, limit: int) -> str:
    """A text from its beginning, in one line of at most `limit` characters, cut at the end of a sentence."""
    line = " ".join(text.split())
    if len(line) <= limit:
        return line
    ends = [match.start() for match in _SPLIT.finditer(line[:limit]) if match.start() > limit // 3]
    return f"{line[: ends[-1]]} …" if ends and ends[-1] + 2 <= limit else shorten(line, limit)


def in_a_row(parts: Iterable[str]) -> str:
    """Statements one after the other, with exactly one mark between two."""
    line = ""
    for part in parts:
        line += (" " if line[-1:] in _ENDS else ". ") + part if line else part
    return line


def gist(text: str, limit: int) -> str:
    """The first prose of a message, as one line."""
    parts: list[str] = []
    size = 0
    for sentence in sentences(text[: limit * 4]):
        parts.append(sentence.text)
        size += len(sentence.text) + 1
        if size >= limit:
            break
    return shorten(" ".join(parts) or text, limit)


def subject(text: str) -> str:
    """The words of a statement in order of the alphabet, so that saying it again is the same memory."""
    words = _WORD.findall(text.lower())
    return " ".join(sorted(dict.fromkeys(words))[:24])[:160] or text[:80]


@lru_cache(maxsize=2048)
def content_words(text: str) -> frozenset[str]:
    """The words that a text is about: long ones, and short ones that look like names."""
    found = _NAME.findall(text)
    return frozenset(word.lower() for word in found if word.lower() not in _EMPTY) - _COMMON


@lru_cache(maxsize=2048)
def names(text: str) -> frozenset[str]:
    """The words that a text names, also short ones, without endings: what answer and question share."""
    found = (word.lower().strip(".-") for word in _TOKEN.findall(text))
    return frozenset(_ENDING.sub("", word) if len(word) > 4 else word for word in found if word not in _VAGUE)


def once(drafts: list[Draft]) -> list[Draft]:
    """Each statement once per session: what mostly repeats the words of an earlier one is left out."""
    kept: list[tuple[frozenset[str], Draft]] = []
    for draft in drafts:
        words = frozenset(_WORD.findall(draft.text.lower()))
        words = words - _COMMON or words
        if not any(_repeats(words, other, draft.said_by == past.said_by) for other, past in kept[-60:]):
            kept.append((words, draft))
    return [draft for _, draft in kept]


def _repeats(words: frozenset[str], before: frozenset[str], same_voice: bool) -> bool:
    """Whether one says mostly what the other says; a name or two, said again among more, is something new."""
    shared, few = len(words & before), min(len(words), len(before))
    more = same_voice and len(before) <= NAMED and shared < 0.5 * len(words)
    return shared >= 0.75 * few > 0 and not more
