"""What a note is about, without a model: the error it names, the tool, the file, the decision it is.

A note is told in one article, its home; the articles of its other topics link there. So nothing is said
twice, and whoever reads about a file finds the error that was fixed in it.
"""

import re
from typing import NamedTuple

from backstory.attribution import AN_AGENT
from backstory.knowledge.log_entry import BECAUSE
from backstory.knowledge.log_notes import Note
from backstory.knowledge.markdown_page import harmless_line, shorten_markdown

_ERROR = re.compile(
    r"\b([A-Z]\w*(?:Error|Exception|Warning|Failure|Panic))\b|\b((?:TS|CS|C|LNK|SC|E)\d{3,5})\b"
)
_FILE = re.compile(
    r"(?<![\w/.@-])((?:[\w.@-]+/)*[\w.@-]+\.(?:py|pyi|js|jsx|mjs|ts|tsx|go|rs|java|kt|rb|php|c|h|cc|cpp|hpp|cs|swift|"
    r"sh|sql|md|rst|toml|yaml|yml|json|ini|cfg|css|scss|html|tf|lua|pl|ex|exs|scala|vue|svelte|gradle))\b"
)
_COMMAND = re.compile(r"`([^`\n]+)`")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=\S*")
# Words in front of the tool that is meant.
_CARRIERS = frozenset(("sudo", "env", "time", "npx", "uvx", "exec", "nice", "command"))
_RUNNERS = {
    ("uv", "run"),
    ("poetry", "run"),
    ("pnpm", "exec"),
    ("bundle", "exec"),
    ("python", "-m"),
    ("python3", "-m"),
}
# What only looks or moves about is nobody's topic.
_PLAIN = frozenset(
    ("ls", "cat", "cd", "echo", "grep", "rg", "find", "head", "tail", "sed", "awk", "pwd", "wc", "rm", "mv",
     "cp", "mkdir", "touch", "which", "sh", "bash", "true", "false", "test", "sleep", "export", "set",
     "chmod", "ps", "kill")
)  # fmt: skip
_NAME = re.compile(r"[A-Za-z][\w.+-]{1,30}")
_DECIDED = re.compile(r"^(?:The user decided|The agent decided|Decided|The user wants): ")
_TALK = re.compile(
    r"^(?:ok(?:ay)?|good|yes|so|then|and|please|let's|let us|we(?:'ll| will| should)?)[,.]? ", re.IGNORECASE
)
_TITLE = 70
AGREEMENTS = "Working agreements"
NOTES, AGENTS_NOTES = "Notes by people", "Notes by agents"
LESSONS = "Lessons"


class Topic(NamedTuple):
    """Something that an article can be about."""

    kind: str
    name: str


def topics_of(note: Note) -> list[Topic]:
    """A note's topics; the first is its home. None for what belongs into the log alone."""
    if note.kind in ("fact", "step"):
        return []
    files = [Topic("file", name) for name in files_of(note)[:3]]
    errors = [Topic("error", name) for name in errors_in(note.text)[:2]]
    tools = [Topic("tool", name) for name in tools_in(note.text)[:2]]
    match note.kind:
        case "turn" | "outcome":
            return files
        case "decision":
            return [Topic("decision", decision_title(note.text)), *files, *errors]
        case "wish":
            return [Topic("practice", AGREEMENTS), *tools, *files]
        case "lesson" | "attempt":
            return [*errors, *tools, *files] or [Topic("practice", LESSONS)]
        case _:
            return [*files, *errors, *tools] or [
                Topic("practice", AGENTS_NOTES if note.source.partition(" ")[0] == AN_AGENT else NOTES)
            ]


def files_of(note: Note) -> list[str]:
    """The files of a note: those of its memory, else those that it mentions; none outside the project."""
    found = note.files or tuple(_FILE.findall(note.text))
    return [name for name in dict.fromkeys(found) if not name.startswith(("/", "~", ".."))]


def errors_in(text: str) -> list[str]:
    """Names of errors."""
    return list(dict.fromkeys(first or second for first, second in _ERROR.findall(text)))


def tools_in(text: str) -> list[str]:
    """The tools whose command lines stand in a text."""
    return list(dict.fromkeys(filter(None, map(_tool, _COMMAND.findall(text)))))


def _tool(command: str) -> str:
    words = [word for word in command.split() if not _ASSIGNMENT.fullmatch(word)]
    while len(words) > 1:
        if tuple(words[:2]) in _RUNNERS:
            words = words[2:]
        elif words[0] in _CARRIERS:
            words = words[1:]
        elif words[0] == "cd" and "&&" in words:
            words = words[words.index("&&") + 1 :]
        else:
            break
    if len(words) < 2:  # a word in backticks is mostly a name, not a command
        return ""
    name = words[0].rpartition("/")[2]
    return name if _NAME.fullmatch(name) and name not in _PLAIN else ""


def decision_title(text: str) -> str:
    """A decision as a title: what was decided, without who did and why."""
    said = _TALK.sub("", _DECIDED.sub("", text))
    said = re.split(rf"(?<=\w)(?:\.(?:\s|$)| \(|; |, (?:{BECAUSE})\b)", said, maxsplit=1)[0]
    title = shorten_markdown(harmless_line(said), _TITLE).rstrip(".") or "A decision"
    return title[0].upper() + title[1:]


def title_of(topic: Topic) -> str:
    """How an article about it is called."""
    if topic.kind == "file":
        return "/".join(topic.name.split("/")[-2:])
    return topic.name


def module_of(file: str) -> str:
    """The folder that a file belongs to; "" at the top."""
    return file.rpartition("/")[0]
