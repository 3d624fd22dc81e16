"""What a prompt, a command, an error and an edit are recognised by when they come again.

The worker computes these keys when it prepares a project's notes, the hook when something happens: one
spelling for both. Only string methods, because `re` costs more than all of this.
"""

PROMPT_CHARS = 8_000
_ERROR_ENDS = 6_000  # of a long output the beginning and the end say what went wrong
_EDIT_HEAD = 150
_TELLING_WORDS = 2
_ERROR_CHARS = 18

_CUT = {ord(char): " " for char in "\"'`()[]{}<>,;!?|&=*+~^%#@$\\“”‘’«»…→·"}
_INSIDE = "_./-:"
_APART = {ord(char): " " for char in _INSIDE}
_LETTERS = {code: " " for code in range(128) if not chr(code).isalpha()}
_ENDINGS = (
    *("ations", "ation", "ating", "ated", "ates", "ate", "ions", "ion", "ments", "ment"),
    *("ings", "ing", "ied", "ies", "ers", "ed", "er", "es", "s"),
)
_SHORTEST_STEM = 4
_TRIMMED = (" 2>&1", " 2>/dev/null")
_CUTTERS = ("| tail", "| head", "|tail", "|head")
_STEPS = ("&&", "||", ";", "\n")
_UNSPACED = (("\u3040", "\u30ff"), ("\u3400", "\u9fff"), ("\uac00", "\ud7af"), ("\uf900", "\ufaff"))
# What every failure says.
_SAYS_NOTHING = (
    *("error", "failed", "failure", "exit", "code", "command", "process", "with", "the", "test", "tests"),
    *("assertionerror", "assert", "completed", "returned", "status", "non", "zero"),
)


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


def _unspaced(char: str) -> bool:
    return any(first <= char <= last for first, last in _UNSPACED)


def _pairs(word: str) -> list[str]:
    """Every two neighbours in scripts without spaces."""
    return [
        word[at : at + 2] for at in range(len(word) - 1) if _unspaced(word[at]) and _unspaced(word[at + 1])
    ]


def command_key(command: str) -> str:
    """A command without what does not change it: spaces, a folder it goes to first, what cuts its output."""
    text = " ".join(command.split()).replace(" ./", " ")
    while text.startswith("cd ") and (at := text.find("&&")) > 0:
        text = text[at + 2 :].strip()
    for cutter in _CUTTERS:
        at = text.find(cutter)
        if at > 0 and "&&" not in text[at:] and ";" not in text[at:]:
            text = text[:at].strip()
    for trimmed in _TRIMMED:
        text = text.removesuffix(trimmed)
    return text


def command_keys(command: str) -> list[str]:
    """The keys of a command that is about to run: of the whole and of each of its steps."""
    keys = {command_key(command): None}
    parts = [command]
    for sign in _STEPS:
        parts = [piece for part in parts for piece in part.split(sign)]
    if len(parts) > 1:
        keys.update((command_key(part), None) for part in parts)
    return [key for key in keys if key]


def error_words(text: str) -> str:
    """The words of an error or of an output, without numbers, paths' signs and quotes, between spaces."""
    if len(text) > 2 * _ERROR_ENDS:
        text = text[:_ERROR_ENDS] + " " + text[-_ERROR_ENDS:]
    words = text.lower().translate(_LETTERS).split()
    return f" {' '.join(word for word in words if len(word) > 1)} "


def error_key(line: str) -> str:
    """What a line of an error is recognised by in another output; "" if too many errors say the same.

    It may begin within a word: whoever quoted the line may have cut it there.
    """
    cut = line.endswith(("…", "..."))
    words = error_words(line).split()
    if cut:
        words = words[:-1]
    telling = sum(word not in _SAYS_NOTHING for word in words)
    key = f"{' '.join(words)} "
    return (
        key if telling >= _TELLING_WORDS and len(words) > _TELLING_WORDS and len(key) >= _ERROR_CHARS else ""
    )


def edit_key(file: str, new: str, root: str) -> str:
    """What an edit is recognised by: the file within its project, and how the new text begins."""
    path = file[len(root) + 1 :] if root and file.startswith(root + "/") else file
    words = " ".join(new.split())[:_EDIT_HEAD]
    return f"{path}\n{words}" if words else ""
