"""What a command and an edit are recognised by when they come again.

The worker computes these keys when it prepares a project's notes, the hook when something happens: one
spelling for both. Only string methods, because `re` costs more than all of this.
"""

from _blake2 import blake2b

#: So much of what somebody typed, said or gave to a tool is kept beside its payload.
INPUT_LIMIT = 4_000
_EDIT_SIDE, _WRITTEN, _GAP = 400, 1_500, " … "  # what capture keeps of an edit's sides and of a file
_LONG_ENOUGH = 40  # characters that are not put into a file twice by chance

_TRIMMED = (" 2>&1", " 2>/dev/null")
_CUTTERS = ("| tail", "| head", "|tail", "|head")
_STEPS = ("&&", "||", ";", "\n")
_MOST_STEPS = 20
_BEFORE_PROGRAMS = ("sudo", "env", "time", "nice", "exec", "command", "nohup")
_RUNS = ("run", "exec", "x")
#: Programs that are nothing without the script, or the module behind -m, that they are to run.
INTERPRETERS = ("python", "python3", "node", "bash", "sh", "zsh", "ruby", "perl", "php", "deno", "bun")


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


def command_stems(command: str) -> list[str]:
    """What the steps of a command have in common with their like: the program and its verbs, each once.

    `git commit -m "…"` is `git commit`; what `run` and `exec` are told to run belongs to it.
    """
    text = command.partition("<<")[0]  # what is typed into it are no steps
    parts = [text]
    for sign in (*_STEPS, "|"):
        parts = [piece for part in parts for piece in part.split(sign)]
    return list(dict.fromkeys(filter(None, map(_stem_of, parts[:_MOST_STEPS]))))


def names_command(text: str, stem: str) -> bool:
    """Whether a text names commands with this stem, as `git commit` in "why does git commit fail?".

    A stem of one word (`make`) may be a word of the language: it counts only between backticks.
    """
    low = text.lower()
    if " " not in stem:
        return f"`{stem.lower()}`" in low
    plain = "".join(sign if sign.isalnum() or sign in "-_./:" else " " for sign in low)
    words = [word.strip(".:") for word in plain.split()]
    return f" {stem.lower()} " in f" {' '.join(words)} "


def _stem_of(step: str) -> str:
    words = command_key(step).split()
    while words and ("=" in words[0] or words[0] in _BEFORE_PROGRAMS):
        del words[0]
    if not words or words[0] == "cd":
        return ""
    found = [words[0].rpartition("/")[2]]
    if found[0] in INTERPRETERS and (script := _script(words[1:])):
        return f"{found[0]} {script}"
    for word in words[1:4]:
        if not word.replace("-", "a").replace("_", "a").replace(":", "a").isalnum() or word[0] == "-":
            break
        if len(found) > 1 and found[1] not in _RUNS:
            break
        found.append(word)
    return " ".join(found)


def _script(words: list[str]) -> str:
    """The script or module that an interpreter is to run; "" if it is told otherwise what to do."""
    for at, word in enumerate(words):
        if word == "-m":
            return " ".join(words[at : at + 2])
        if word[0] != "-":
            return word.rpartition("/")[2] if "." in word or "/" in word else ""
    return ""


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
    head = _head(limit)
    return text[:head] + _GAP + text[len(text) - (limit - len(_GAP) - head) :]


def before_cut(text: str, limit: int) -> str:
    """The head alone of a text that `ends` has cut; any other as it is."""
    head = _head(limit)
    return text[:head] if len(text) == limit and text.startswith(_GAP, head) else text


def _head(limit: int) -> int:
    return (limit - len(_GAP) + 1) // 2


def edit_sides(text: str) -> list[tuple[str, str]]:
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
    for old, new in edit_sides(text):
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
