"""Telling our own words from the agent's, so that a memory never remembers itself.

Three roads lead our text back in: the block that a brief is injected as, our MCP tools, and shell commands
that run `backstory`. The block is cut out of what was said; the others mark the whole event as recalled.
Every test is one substring search unless our name is there at all.
"""

import re
import shlex
from collections.abc import Iterable, Iterator

NOTES_OPEN = "<backstory-notes"
NOTES_CLOSE = "</backstory-notes>"
TOOLS = ("mcp__backstory__*", "mcp__plugin_backstory_*")

_TOOL_PREFIXES = tuple(glob.rstrip("*") for glob in TOOLS)
_NOTES = re.compile(re.escape(NOTES_OPEN) + r"(?:.*?" + re.escape(NOTES_CLOSE) + r"|.*)", re.DOTALL)
_SUBSTITUTED = re.compile(r"(?:\$\(|`)\s*(?:[\w./~-]*/)?backstory(?:\.exe)?(?=[\s)`]|$)")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_PYTHON = re.compile(r"(?:python|pypy)[\d.]*|py")
_HERE_DOCUMENT = re.compile(
    r"<<-?\s{0,9}(['\"]?)(\w{1,200})\1([^\n]{0,1000})\n.*?(?:\n[ \t]*+\2\b|\Z)", re.DOTALL
)
_WINDOWS_PATH = re.compile(r"\b[A-Za-z]:\\")
_COMMAND_LIMIT = 20_000
_SEPARATORS = frozenset("();<>|&\n")

# What may stand before the command word, with the number of plain words it takes for itself.
_PREFIXES = {
    "sudo": 0, "doas": 0, "env": 0, "time": 0, "nohup": 0, "command": 0, "exec": 0, "builtin": 0,
    "nice": 0, "stdbuf": 0, "setsid": 0, "xargs": 0, "timeout": 1, "uvx": 0, "npx": 0,
    "if": 0, "then": 0, "elif": 0, "else": 0, "while": 0, "until": 0, "do": 0, "!": 0, "{": 0,
}  # fmt: skip
_RUNNERS = {"uv", "poetry", "pipx", "pdm", "hatch", "rye"}
_SHELLS = {"sh", "bash", "dash", "zsh", "ksh", "fish"}


def is_our_tool(name: str) -> bool:
    return name.startswith(_TOOL_PREFIXES)


def without_notes(text: str) -> str:
    """The text without the blocks that we injected."""
    if NOTES_OPEN not in text:
        return text
    return _NOTES.sub("", text).strip()


def runs_backstory(command: str) -> bool:
    """Whether a shell command runs us; naming us as an argument, a folder or a pattern does not count."""
    if "backstory" not in command:
        return False
    return _runs(command[:_COMMAND_LIMIT], depth=0)


def _runs(command: str, depth: int) -> bool:
    if _SUBSTITUTED.search(command):
        return True
    return any(_segment_runs(words, depth) for words in _segments(command))


def _segments(command: str) -> Iterator[list[str]]:
    """The simple commands of a pipeline or sequence, as words without their quotes."""
    command = _HERE_DOCUMENT.sub(r"\3", command.replace("\\\n", " "))
    lexer = shlex.shlex(command, posix=True, punctuation_chars="();<>|&\n")
    lexer.whitespace = " \t\r"
    lexer.whitespace_split = True
    lexer.commenters = ""
    if _WINDOWS_PATH.search(command):
        lexer.escape = ""
    words: list[str] = []
    try:
        for token in lexer:
            if token and _SEPARATORS.issuperset(token):
                if "<" not in token and ">" not in token:
                    yield words
                    words = []
            else:
                words.append(token)
    except ValueError:
        pass  # an open quote (a here-document, say): judge by what came before it
    yield words


def _segment_runs(words: Iterable[str], depth: int) -> bool:
    rest = iter(words)
    for word in rest:
        if word.startswith("-") or _ASSIGNMENT.match(word):
            continue
        name = word.replace("\\", "/").rpartition("/")[2].removesuffix(".exe")
        if name in _PREFIXES:
            for _ in range(_PREFIXES[name]):
                next(rest, None)
            continue
        if name == "backstory":
            return True
        if name in _RUNNERS:
            return next(rest, "") in ("run", "exec", "x") and _segment_runs(rest, depth)
        if _PYTHON.fullmatch(name):
            return any(flag == "-m" and next(rest, "").partition(".")[0] == "backstory" for flag in rest)
        if name in _SHELLS and depth < 3:
            return any(
                flag.startswith("-") and flag.endswith("c") and _runs(next(rest, ""), depth + 1)
                for flag in rest
            )
        return False
    return False
