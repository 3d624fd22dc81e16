"""What a prompt, a command and an edit are recognised by when they come again.

The worker computes these keys when it prepares a project's notes, the hook when something happens: one
spelling for both. Only string methods, because `re` costs more than all of this.
"""

from _blake2 import blake2b

PROMPT_CHARS = 8_000
_EDIT_SIDE, _WRITTEN, _GAP = 400, 1_500, " … "  # what capture keeps of an edit's sides and of a file
_LONG_ENOUGH = 40  # characters that are not put into a file twice by chance

_CUT = {ord(char): " " for char in "\"'`()[]{}<>,;!?|&=*+~^%#@$\\“”‘’«»…→·"}
_INSIDE = "_./-:"
_APART = {ord(char): " " for char in _INSIDE}
_ENDINGS = (
    *("ations", "ation", "ating", "ated", "ates", "ate", "ions", "ion", "ments", "ment"),
    *("ings", "ing", "ied", "ies", "ers", "ed", "er", "es", "s"),
)
_SHORTEST_STEM = 4
_CLOSE = 2  # words back that still belong together
_FOLDERS = 16  # of a path: deeper ones are not told apart
_TRIMMED = (" 2>&1", " 2>/dev/null")
_CUTTERS = ("| tail", "| head", "|tail", "|head")
_STEPS = ("&&", "||", ";", "\n")
_UNSPACED = (("\u3040", "\u30ff"), ("\u3400", "\u9fff"), ("\uac00", "\ud7af"), ("\uf900", "\ufaff"))


def terms(text: str) -> dict[str, str]:
    """The words of a text as they are compared, each with its own spelling; names also as a whole."""
    found: dict[str, str] = {}
    for word in text[:PROMPT_CHARS].translate(_CUT).split():
        word = word.strip(_INSIDE)
        if not word.isascii():
            for pair in _pairs(word):
                found.setdefault(pair, pair)
        if is_name(word) and any(char.isalpha() for char in word):
            found.setdefault(word.lower(), word)
        for part in word.translate(_APART).split():
            _plain(part, found)
    return found


def _plain(word: str, found: dict[str, str]) -> None:
    if len(word) > 2 and any(char.isalpha() for char in word) and not _unspaced(word[0]):
        found.setdefault(stem(word.lower()), word)


def stem(word: str) -> str:
    """Enough of a word to recognise its other forms."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            word = word[: -len(ending)]
            break
    return word[:-1] if len(word) > _SHORTEST_STEM and word[-1] in "ey" else word


def is_name(term: str) -> bool:
    """Whether a term is spelled as no plain word is: a file, a path, an option, an identifier."""
    return any(char in term for char in _INSIDE)


def strong_terms(text: str) -> list[str]:
    """What may reach a note alone: words as they are spelled, two close to each other, folders of paths.

    A word with a capital is given with it, too, unless a sentence begins with it.
    """
    found: dict[str, None] = {}
    before: list[str] = []
    begins = True
    for token in text.translate(_CUT).split():
        word = token.strip(_INSIDE)
        lower = word.lower()
        found[lower] = None
        if word != lower and not begins:
            found[word] = None
        begins = token[-1] in ".:"
        if len(word) > 2 and not is_name(word):
            stemmed = stem(lower)
            found.update((f"{each} {stemmed}", None) for each in before[-_CLOSE:])
            before.append(stemmed)
        parts = lower.split("/", _FOLDERS)[:_FOLDERS] if "/" in token else []
        if parts and token.endswith("/"):
            parts.append("")
        for first in range(len(parts) - 1):
            for last in range(first + 1, len(parts)):
                found["/".join(parts[first:last]) + "/"] = None
    return list(found)


def _unspaced(char: str) -> bool:
    return any(first <= char <= last for first, last in _UNSPACED)


def _pairs(word: str) -> list[str]:
    """Every two neighbours in scripts without spaces."""
    return [
        word[at : at + 2] for at in range(len(word) - 1) if _unspaced(word[at]) and _unspaced(word[at + 1])
    ]


def command_key(command: str) -> str:
    """A command without what does not change it: spaces, a folder it goes to first, where its output goes.

    What may be just what helps is left: variables, `poetry run`, `python3` for `python`.
    """
    text = " ".join(command.split()).replace(" ./", " ")
    while text.startswith("cd ") and (at := text.find("&&")) > 0:
        text = text[at + 2 :].strip()
    for cutter in _CUTTERS:
        at = text.find(cutter)
        if at > 0 and "&&" not in text[at:] and ";" not in text[at:]:
            text = text[:at].strip()
    for trimmed in _TRIMMED:
        text = text.removesuffix(trimmed)
    at = max(text.rfind(" > "), text.rfind(" >> "))
    if at > 0 and len(text[at:].split()) == 2:
        text = text[:at]
    words = text.split(" ", 2)
    if words[0] == "time" and len(words) > 1:
        text = text[5:]
    elif words[0] == "timeout" and len(words) == 3 and words[1].rstrip("smh").isdigit():
        text = words[2]
    return text


def command_keys(command: str) -> list[str]:
    """The keys of a command that is about to run: of the whole and of each of its steps."""
    keys = {as_typed(command): None, command_key(command): None}
    parts = [command]
    for sign in _STEPS:
        parts = [piece for part in parts for piece in part.split(sign)]
    if len(parts) > 1:
        keys.update((command_key(part), None) for part in parts)
    return [key for key in keys if key.strip()]


def as_typed(command: str) -> str:
    """A key that a command shares with no other spelling of it, not even in another folder."""
    return f" {' '.join(command.split())}"


def edit_text(old: str, new: str) -> str:
    """An edit as capture words it."""
    sides = (("- ", ends(old, _EDIT_SIDE)), ("+ ", ends(new, _EDIT_SIDE)))
    return "\n".join(f"{sign}{text}" for sign, text in sides if text)


def ends(text: str, limit: int) -> str:
    """The head and the tail of a text that is longer than the limit, as capture keeps them."""
    if len(text) <= limit:
        return text
    room = limit - len(_GAP)
    head = (room + 1) // 2
    return text[:head] + _GAP + text[len(text) - (room - head) :]


def sides(text: str) -> list[tuple[str, str]]:
    """What each of the edits in a text took out, and what it put in."""
    found: list[tuple[list[str], list[str]]] = []
    side: list[str] = []
    for line in text.split("\n"):
        sign = line[:2]
        if sign == "- " and (not found or found[-1][1]):
            found.append(([], []))
        if sign == "+ " and not found:
            found.append(([], []))
        if sign in ("- ", "+ "):
            side = found[-1][sign == "+ "]
            line = line[2:]
        side.append(line)
    return [("\n".join(old), "\n".join(new)) for old, new in found]


def edit_keys(file: str, text: str, root: str) -> list[str]:
    """What edits are recognised by: the file within its project, and the lines that differ.

    The lines around them are no part of it. What is put in is enough where it is long.
    """
    path = _within(file, root)
    keys: dict[str, None] = {}
    for old, new in sides(text):
        out, put = _differing(_lines(old), _lines(new))
        if out or put:
            keys[_key(path, "-", *out, "+", *put)] = None
        if sum(map(len, put)) >= _LONG_ENOUGH:
            keys[_key(path, "+", *put)] = None
    return list(keys)


def write_key(file: str, content: str, root: str) -> str:
    """What a file that is written as a whole is recognised by."""
    lines = _lines(ends(content, _WRITTEN))
    return _key(_within(file, root), "=", *lines) if lines else ""


def _within(file: str, root: str) -> str:
    return file[len(root) + 1 :] if root and file.startswith(root + "/") else file


def _lines(text: str) -> list[str]:
    return [words for line in text.split("\n") if (words := " ".join(line.split()))]


def _differing(old: list[str], new: list[str]) -> tuple[list[str], list[str]]:
    """Two texts without the lines at their beginning and end that both have."""
    same = 0
    while same < min(len(old), len(new)) and old[same] == new[same]:
        same += 1
    old, new = old[same:], new[same:]
    alike = 0
    while alike < min(len(old), len(new)) and old[-1 - alike] == new[-1 - alike]:
        alike += 1
    return old[: len(old) - alike], new[: len(new) - alike]


def _key(path: str, *lines: str) -> str:
    told = "\n".join(lines).encode("utf-8", "replace")
    return f"{path}\n{blake2b(told, digest_size=8).hexdigest()}"
