"""Which lines of a prompt are plain prose, and which its user did not write with their own hands.

The rule is what typing looks like, not what a quotation looks like: paragraphs of words and sentences, and
lists with plain bullets. A paragraph that a machine, an editor or a mail program has shaped (a sign or a
number before its lines, a hash, a time, a ruled line, a greeting with a name, comment marks, keys and values)
is pasted as a whole, and so is what follows it, until a paragraph speaks to the agent. Of a line in prose,
spans in quotation marks are left out, and what stands behind "apparently", "according to" or "Bob thinks".
"""

import re
from collections.abc import Iterator, Sequence

_FENCES = ("```", "~~~")
_TIME = r"\d{1,2}:\d\d(?::\d\d)?(?: ?[AP]M)?"
#: A line that nobody types as prose.
_SHAPED = re.compile(
    # a sign that is no bullet, bracket of a remark, name, number of an issue or command of the agent
    r"[ \t]{0,20}(?:"
    r"//|/\*|\*/|<!|--(?=\s|$)|\\\w|\.\. |[|+$%&={}❯➜λ»⏺●⎿•✓✔✗✘]|#(?!\d)|::|;;|@@|(?:>>>|\.\.\.) |"
    r"\[(?![ xX]?\])|-(?=[^\s\-\d>])|-{2,}[- ]|"
    r"\"[\w-]{1,40}\" {0,2}:|"
    r"PS [A-Za-z]:\\|[A-Za-z]:\\[^>\n]{0,200}>|"
    r"\d{1,6}(?:[:|]|\t| {2,})|\d{1,6}:\d{1,6}\b|"  # a column of numbers
    r"[\w./\\-]{1,200}:\d{1,6}:|"  # where a line was found
    r"\^?(?=[0-9a-f]{0,40}\d)(?=[0-9a-f]{0,40}[a-f])[0-9a-f]{7,40}\b|"  # a hash
    r"(?:commit|index|merge:) [0-9a-f.]{7,90}\b|diff --|"
    r"\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|"
    r"E {2,}\S|[A-Za-z]{2,10} (?:ERR|WARN)\b|(?:In|Out) ?\[\d{1,6}\]|"
    r"(?:usage|copyright|author|fwd?|forwarded)\b[^\n]{0,3}[:(]|"
    r"(?:fwd?|forwarded) [^\n:]{1,60}:[ \t]*+$|"
    r"(?:hi|hello|hey|dear|hallo|liebe[rs]?|bonjour|hola) [^\W\d][\w .'-]{0,30},[ \t]*+$|"
    r"(?:(?:best|kind|warm) )?regards,?[ \t]*+$|(?:cheers|sincerely|viele grüße|mfg|cordialement|saludos),?[ \t]*+$|"  # noqa: E501
    r"[-=*_~#+]{3,60}[ \t]*+$|\d<[-<]|[-=*_~]{3,60} ?\S"
    r")|"
    rf"[^\n.!?]{{1,60}}\b{_TIME}[ \t]*+$|"  # who spoke when
    r"[^\n]{0,300}(?:/\*|\*/|<!--|-->)|"
    r"[^\n]{0,300}\((?:source|via|from|quelle|see):? {0,2}https?://|"
    r"(?!(?:i|we|you|it|this|that|they)\b)@?[\w.-]{1,30}(?: [\w.-]{1,30})? (?:left (?:a|some)|commented|replied|answered|"  # noqa: E501
    r"posted|reviewed|requested changes|approved)\b[^\n.!?]{0,60}$",
    re.IGNORECASE,
)
_LABELS = re.compile(r"[ \t]{0,20}(\S{1,20} ?\S{0,20}[:|\]>])\s")
_ITEM = re.compile(r"[ \t]*(?:[-*]|\d{1,2}[.)]|\[[ xX]?\])[ \t]")
_DEEP = re.compile(r"(?: {3,}|\t)\S")
_ADDRESSES = re.compile(
    r"(?:^|[^\w.])(?:i|i'[a-z]+|me|my|let'?s|please|pls|can you|could you|you|your|ich|mir|mein\w*|bitte|je|mon|yo|"  # noqa: E501
    r"por favor)(?=[\s,.!?]|$)|[?？]\s*$",
    re.IGNORECASE | re.MULTILINE,
)
#: A span of several words between two marks of quotation.
_QUOTED = re.compile(
    r"“[^“”\n]{12,600}”|„[^„“”\n]{12,600}[“”]|«[^«»\n]{12,600}»|»[^«»\n]{12,600}«|「[^「」\n]{4,600}」|"
    r"『[^『』\n]{4,600}』|‘[^‘’\n]{12,600}’(?!\w)|(?<!\w)\"[^\"\n]{12,600}\"|(?<![\w'])'(?:[^'\n]|(?<=\w)'(?=\w)){12,600}'(?!\w)"
)
_WORDS = 4  # fewer in quotation marks are a name
#: Where somebody else begins to speak, or where it is hearsay.
_HEARSAY = re.compile(
    r"\b(?:apparently|allegedly|supposedly|reportedly|according to|rumou?r has it|angeblich|laut|selon|según)\b|"  # noqa: E501
    r"\b(?:it|they|he|she|everybody|someone|somebody|people) (?:says?|said|thinks?|claims?|told|believes?|recommends?)\b|"  # noqa: E501
    r"(?:^|(?<=[.!?:] ))(?!(?:i|we|you|it|this|that|these|which|who)\b)"
    r"(?:(?:my|the|our|a) )?[@\w.'-]{1,30}(?: [\w.'-]{1,20})? (?:thinks|believes|claims|argues|insists|suggests|"  # noqa: E501
    r"recommends|meint|glaubt|pense|cree)\b",
    re.IGNORECASE | re.MULTILINE,
)


def plain_prose(source: str, text: str) -> str:
    """Of a text, line by line that of a prompt (`source`) as far as it goes, what is prose there."""
    pasted = set(_pasted(source.split("\n")))
    lines = ["" if number in pasted else line for number, line in enumerate(text.split("\n"))]
    hearsay = False
    for number, line in enumerate(lines):
        if not line.strip():
            hearsay = False
            continue
        line = _QUOTED.sub(
            lambda span: "" if len(span[0].split()) >= _WORDS or span[0][0] in "「『" else span[0], line
        )
        found = _HEARSAY.search(line)
        lines[number] = "" if hearsay else line[: found.start()] if found else line
        hearsay = hearsay or found is not None
    return "\n".join(lines)


def _pasted(lines: Sequence[str]) -> Iterator[int]:
    """The lines of the paragraphs that are no prose, and of those that hang on them."""
    hangs = False
    for paragraph in _paragraphs(lines):
        own = [lines[number] for number in paragraph]
        if _is_shaped(own):
            hangs = True
        elif hangs and _ADDRESSES.search("\n".join(own)):
            hangs = False
        if hangs:
            yield from paragraph


def _is_shaped(lines: Sequence[str]) -> bool:
    if any(_SHAPED.match(line) for line in lines):
        return True
    if _DEEP.match(lines[0]) and not _ITEM.match(lines[0]):
        return True
    labels = [found[1] for line in lines if not _ITEM.match(line) and (found := _LABELS.match(line))]
    return any(labels.count(label) > 2 for label in set(labels))


def _paragraphs(lines: Sequence[str]) -> Iterator[list[int]]:
    """The lines between empty ones, without what is fenced or quoted by `>`: others see to that."""
    found: list[int] = []
    fence = ""
    for number, line in enumerate(lines):
        words = line.strip()
        if fence or words.startswith(_FENCES):
            mark = words[:3]
            fence = ("" if mark == fence else fence) if fence else mark
            words = ""
        if words and not words.startswith(">"):
            found.append(number)
        elif found and not words:
            yield found
            found = []
    if found:
        yield found
