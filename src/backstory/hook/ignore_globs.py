"""The ignore globs of the settings, matched without `fnmatch`, which would load `re`.

`*` matches anything, `/` too; `?` one character; `[abc]`, `[a-z]`, `[!abc]` one of a set. What a pattern
means is what `fnmatch.fnmatchcase` says, held by a property test. `{a,b}` is opened before (`expand_braces`).
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


def ignores_folder(folder: str, globs: "Iterable[str]") -> bool:
    """Whether a folder, or one that it lies in, is ignored."""
    return any(glob_matches(folder, glob) or glob_matches(folder, glob.rstrip("/") + "/*") for glob in globs)


def ignores_any(paths: "Iterable[str]", globs: "Iterable[str]") -> bool:
    """Whether one of these files is ignored, by its name, its whole path or a folder that it lies in.

    There may be thousands, and most have nothing of any glob.
    """
    forms = [(glob, _literal(glob.rstrip("/"))) for each in globs for glob in expand_braces(each)]
    for path in paths:
        path = path.replace("\\", "/").removeprefix("@")
        name = path.rpartition("/")[2]
        for glob, literal in forms:
            if literal not in path:
                continue
            below = glob.rstrip("/") + "/*"
            if (
                glob_matches(name, glob)
                or glob_matches(path, glob)
                or glob_matches(path, below)
                or glob_matches(path, "*/" + below)
            ):
                return True
    return False


def _literal(glob: str) -> str:
    """The longest piece of a glob that stands for itself; a text without it cannot match."""
    pieces = glob.partition("[")[0].replace("?", "*").split("*")
    return max(pieces, key=len)


def expand_braces(word: str) -> list[str]:
    """What a shell makes of `a{b,c}d`: `abd` and `acd`; nested ones too, up to a limit."""
    done: list[str] = []
    todo = [word]
    while todo and len(done) + len(todo) < _MOST_BRACED:
        one = todo.pop()
        end = one.find("}")
        start = one.rfind("{", 0, end) if end > 0 else -1
        if start < 0 or "," not in one[start:end]:
            done.append(one)
        else:
            todo += [one[:start] + part + one[end + 1 :] for part in one[start + 1 : end].split(",")]
    return done + todo


_MOST_BRACED = 200


def glob_matches(text: str, glob: str) -> bool:
    """Whether the whole text is what the glob describes."""
    at = in_glob = 0
    star, resume = -1, 0
    while at < len(text):
        step = _step(text[at], glob, in_glob)
        if step:
            at += 1
            in_glob += step
        elif in_glob < len(glob) and glob[in_glob] == "*":
            star, resume = in_glob, at
            in_glob += 1
        elif star >= 0:  # let the last star take one character more
            resume += 1
            at, in_glob = resume, star + 1
        else:
            return False
    return not glob[in_glob:].strip("*")


def _step(char: str, glob: str, at: int) -> int:
    """How many characters of the glob this one character uses up, 0 if they do not match."""
    if at >= len(glob) or glob[at] == "*":
        return 0
    if glob[at] == "?":
        return 1
    if glob[at] == "[":
        end = glob.find("]", at + 3 if glob[at + 1 : at + 2] == "!" else at + 2)
        if end > 0:
            return end - at + 1 if _in_set(char, glob[at + 1 : end]) else 0
    return 1 if glob[at] == char else 0


def _in_set(char: str, body: str) -> bool:
    wanted = not body.startswith("!")
    body = body if wanted else body[1:]
    at = 0
    while at < len(body):
        if body[at + 1 : at + 2] == "-" and at + 2 < len(body):
            if body[at] <= char <= body[at + 2]:
                return wanted
            at += 3
        else:
            if body[at] == char:
                return wanted
            at += 1
    return not wanted
