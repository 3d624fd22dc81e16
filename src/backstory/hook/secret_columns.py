"""Secrets whose column or document tells what they are: tables, CSV, statements of SQL, Kubernetes Secrets.

A finder sees a match of a row's pattern and gives the spans of the cells. Lines may be joined by `\\n`, as
nested JSON has it.
"""

from backstory.hook.placeholders import looks_secret, placeholder, template
from backstory.hook.plaintext_passwords import NO_PASSWORDS, wordy

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

    Cell = tuple[int, int]

MOST_LINES = 500
LONGEST_LINE = 1000
TITLES = ("passw", "secret", "token", "key")  # a cell that is one begins another table
TYPES = (
    "varchar",
    "text",
    "string",
    "str",
    "char",
    "int",
    "integer",
    "bool",
    "boolean",
    "bytes",
    "bytea",
    "uuid",
)
HEAD = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-#./ äöüßéèñç'"  # of words in a head
WORD = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"  # before the telling part of a title


def column(match: "re.Match[str]") -> "Iterator[Cell]":
    """The cells below a column's title and after a row's, and what SQL and PHP give to the name."""
    text, start = match.string, match.start()
    after = text[match.end() : match.end() + 1]
    if match[0].endswith("(") or (after == "," and _defines(text[max(0, start - 50) : start])):
        yield from literal(text, start, match.end() + (not match[0].endswith("(")))
        return
    if after and after in ",)":
        yield from inserted(match)
    sign = _separator(text, start, match.end())
    if not sign:
        return
    first, last = _line(text, start)
    if last - first > LONGEST_LINE:
        return
    cells = _cells(text, first, last, sign)
    place = next((n for n, (left, right) in enumerate(cells) if left <= start < right), -1)
    if place < 0:
        return
    human = "pass" in match[0].lower()
    if sign == "|" and len(cells) <= 5 and place + 1 < len(cells):
        left, right = cells[place + 1]
        if _secret(text[left:right], human, alone=False):
            yield left, right
    if _heads_table(text, first, cells, sign):
        yield from _below(text, _after(text, last), sign, (len(cells), place), human)


def _below(text: str, at: int, sign: str, shape: tuple[int, int], human: bool) -> "Iterator[Cell]":
    """The secrets in one column of the rows from here on; a row of another width ends the table."""
    width, place = shape
    for _ in range(MOST_LINES):
        if at >= len(text):
            return
        end = _line(text, at)[1]
        row = _cells(text, at, end, sign) if end - at <= LONGEST_LINE else []
        if len(row) != width and not _rule(text[at:end]):
            return
        cell = text[row[place][0] : row[place][1]] if len(row) == width else ""
        if any(title in cell.lower() for title in TITLES):
            return
        if _secret(cell, human, alone=True):
            yield row[place]
        at = _after(text, end)


def _heads_table(text: str, first: int, cells: "list[Cell]", sign: str) -> bool:
    """Whether a line is the head of a table: its cells are words, and the line before is none of its rows.

    Lists of arguments and of imports end a line with the sign, or hold brackets; rows of a table that
    describes columns have the table's own head before them.
    """
    words = [text[left:right] for left, right in cells]
    if sign == "|":
        words = words[not words[0] : len(words) - (not words[-1])]
    elif text[first : first + 1] in (" ", "\t") and sign != "\t":
        return False
    if len(words) < 2 or not all(word and not word.strip(HEAD) for word in words):
        return False
    if any(word.lower() in TYPES for word in words):
        return False
    back = first - (2 if text[first - 2 : first] == "\\n" else 1)
    if back <= 0:
        return True
    start = _line(text, back)[0]
    before = text[start:back]
    ruled = _rule(before) and "+" in before  # mysql draws a line above its heads
    return ruled or (not _rule(before) and len(_cells(text, start, back, sign)) != len(cells))


def _separator(text: str, start: int, end: int) -> str:
    """What separates this cell from its neighbours; "" if it is no cell."""
    at = start - 1
    while at >= 0 and (text[at] in ' "`*' or (start - at < 24 and text[at] in WORD)):
        at -= 1
    before = text[at] if at >= 0 else "\n"
    after = text[end : end + 1] or "\n"
    if text[end : end + 2] in ("\\n", "\\r") or after in "\r\n":
        after = "\n"
    elif text[end : end + 2] == "\\t":
        after = "\t"
    if before in "nt" and text[at - 1 : at] == "\\":
        before = "\n" if before == "n" else "\t"
    signs = {before, after} & {"|", ",", ";", "\t"}
    if len(signs) != 1 or not {before, after} <= {"|", ",", ";", "\t", "\n"}:
        return ""
    return signs.pop()


def _line(text: str, at: int) -> tuple[int, int]:
    """The line around a place, as far as a line may reach."""
    low, high = max(0, at - LONGEST_LINE), at + LONGEST_LINE
    first = max(
        text.rfind("\n", low, at) + 1, text.rfind("\\n", low, at) + 2 if "\\n" in text[low:at] else 0, low
    )
    ends = [place for place in (text.find("\n", at, high), text.find("\\n", at, high)) if place >= 0]
    return first, min(ends, default=min(len(text), high))


def _after(text: str, end: int) -> int:
    return end + (2 if text[end : end + 2] == "\\n" else 1)


def _cells(text: str, first: int, last: int, sign: str) -> "list[Cell]":
    """The cells of a line, each without the blanks and quotes around it."""
    found, at = [], first
    mark = "\\t" if sign == "\t" and "\t" not in text[first:last] else sign
    while True:
        end = text.find(mark, at, last)
        right = last if end < 0 else end
        left = at
        while left < right and text[left] in ' \t\r"`*':
            left += 1
        stop = right
        while stop > left and text[stop - 1] in ' \t\r"`*':
            stop -= 1
        found.append((left, stop))
        if end < 0:
            return found
        at = end + len(mark)


def _rule(line: str) -> bool:
    """Whether a line only separates a table's head from its rows."""
    return bool(line.strip()) and not line.strip("-+|: \t\r")


def _secret(cell: str, human: bool, alone: bool) -> bool:
    if len(cell) < 6 or " " in cell or cell.lower() in NO_PASSWORDS or template(cell) or placeholder(cell):
        return False
    if looks_secret(cell, human, quoted=False):
        return not cell.startswith(("--", "`"))
    # A name of a column, a function or a type is no password.
    return alone and human and "_" not in cell and wordy(cell, code=False) and not cell.isupper()


def _defines(before: str) -> bool:
    """Whether a call before a name gives it the next argument, be it as a default."""
    return "define(" in before or "getenv(" in before or "environ.get(" in before


def literal(text: str, name: int, at: int) -> "Iterator[Cell]":
    """The literal that a setter or a constant gets: `setPassword("…")`, `define('DB_PASSWORD', '…')`."""
    before = text[max(0, name - 50) : name].lower()
    if not before.rstrip("_").endswith(("set", "with")) and not _defines(before):
        return
    while text[at : at + 1] in (" ", "\\"):
        at += 1
    quote = text[at : at + 1]
    end = text.find(quote, at + 1, at + 130) if quote in ('"', "'") else -1
    given = text[at + 1 : end].rstrip("\\") if end > 0 else ""
    if not given or placeholder(given) or template(given):
        return
    named = "pass" in text[name : name + 4].lower()
    if looks_secret(given, True, quoted=True) or (named and wordy(given, code=False)):
        yield at + 1, at + 1 + len(given)


def inserted(match: "re.Match[str]") -> "Iterator[Cell]":
    """The value of a secret column in `insert into … (…, password) values (…)`."""
    text, start = match.string, match.start()
    first = text.rfind("(", max(0, start - LONGEST_LINE), start)
    said = text[max(0, first - 200) : first].lower() if first >= 0 else ""
    close = text.find(")", start, start + LONGEST_LINE)
    values = text.find("(", close, close + 60) if close >= 0 else -1
    if "insert into " not in said or values < 0 or "values" not in text[close:values].lower():
        return
    place = text.count(",", first, start)
    cells = _values(text, values + 1)
    if place < len(cells):
        left, right = cells[place]
        given = text[left:right].strip("'\"\\")
        quoted = right - left > len(given) > 3
        if quoted and not template(given) and not placeholder(given) and given.lower() not in NO_PASSWORDS:
            begin = text.index(given, left)
            yield begin, begin + len(given)


def _values(text: str, at: int) -> "list[Cell]":
    """The values of a list in SQL, up to its closing parenthesis."""
    found, start, quote = [], at, ""
    for place in range(at, min(len(text), at + LONGEST_LINE)):
        sign = text[place]
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "'\"":
            quote = sign
        elif sign in ",)":
            left, right = start, place
            while left < right and text[left] in " \t\r\n":
                left += 1
            while right > left and text[right - 1] in " \t\r\n":
                right -= 1
            found.append((left, right))
            start = place + 1
            if sign == ")":
                break
    return found


def kubernetes_secret(match: "re.Match[str]") -> "Iterator[Cell]":
    """The values below `data:` and `stringData:` of the document that is a Secret."""
    text = match.string
    low, high = max(0, match.start() - 20_000), match.end() + 20_000
    first = max(low, text.rfind("\n---", low, match.start()) + 1)
    last = text.find("\n---", match.end(), high)
    if text.find("kind: Secret", first, match.start()) >= 0:
        return  # the first one of a document has seen to it
    at, last, inside = first, last if last >= 0 else min(len(text), high), False
    while at < last:
        end = _line(text, at)[1]
        line = text[at:end]
        bare = line.lstrip(" +-")
        if bare.startswith(("data:", "stringData:")):
            inside = True
        elif bare and line[:1] not in (" ", "+", "-") and not line.startswith("  "):
            inside = False
        elif inside:
            name, colon, given = line.partition(": ")
            shown = given.strip(" \"'\r")
            if colon and len(shown) >= 4 and not template(shown) and not shown.startswith(("|", ">")):
                left = at + len(name) + 2 + given.index(shown)
                yield left, left + len(shown)
        at = _after(text, end)
