"""Whether a tool call, its output or a transcript's row is about a file that `privacy.ignore_paths` names.

One set of rules for a hook's payload, for an event of a history and for the rows of a kept transcript. A path
is looked for in what a tool was given (a command is read as a shell would: folders that it changes to, the
home folder, braces, quotes, wildcards, `@file`, `revision:path`) and at the places in output where programs
name the file of a line.
"""

import fnmatch
import json
import os
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import unquote

from backstory.agents.payload_fields import flatten_text
from backstory.capture.wildcard_overlap import letter_pairs, may_both_match
from backstory.hook.ignore_globs import expand_braces
from backstory.hook.pending_events import patched_files
from backstory.model import Action, Event

Payload = Mapping[str, object]

_WILD = re.compile(r"[*?\[]")
_DEEPEST = 50
TOUCHES = (Action.READ, Action.WRITE, Action.EDIT)
_SHELL = (Action.RUN, Action.FIND)
# Words of a command line; what is glued to a path (=, <, quotes) is cut off.
_WORD = re.compile(r"""[^\s'"`=<>|&;(),]+""")
_QUOTING = dict.fromkeys(map(ord, "\"'\\"))  # what a shell takes out of a word
_BETWEEN_WORDS = re.compile(r"[\s'\"|&;()<>]")
_HOME = re.compile(
    r"(?<![\w./~-])~(?=[/\\\s'\"&|;)]|$)|\$HOME\b|\$\{HOME\}|%USERPROFILE%|\$env:USERPROFILE\b", re.IGNORECASE
)
_HERE = re.compile(r"\$PWD\b|\$\{PWD\}|\$\(pwd\)|`pwd`")
_CD = re.compile(
    r"(?:^|&&|;|\|\||\(|\n)[ \t]{0,20}(?:cd|pushd)"
    r"(?:[ \t]{1,8}(?:--[ \t]{1,8})?[\"']?([^\s\"'&|;()]+)|[ \t]{0,8}(?=[&;\n]|$))"
)
# A command that names so many files, each in so many folders, is not looked through: it is left out.
_MOST_PLACES = 2_000
_WILD_WORDS, _BRACES = 1_000, 50
_LONGEST_PATH, _PATHS_FOLLOWED = 1_000, 50  # inputs of a tool that are followed as links
_LINKS_FOLLOWED = 20  # words of a command that names nothing ignored
_LONGEST_LINE = 2_000

_ANSWERS = ("tool_response", "tool_result", "toolResult")
_GIVEN = ("tool_input", "toolArgs")
# Under which keys the rows of transcripts carry what a tool was given.
_ROW_GIVEN = (*_GIVEN, "input", "arguments", "args", "parameters", "rawInput")
_COMMAND_KEYS = frozenset(("command", "cmd", "script", "code"))
_FOLDER_KEYS = frozenset(
    ("dir_path", "workdir", "cwd", "directory", "dir", "folder", "path", "root", "base_path", "basePath",
     "working_directory", "workingDirectory", "repo_path")
)  # fmt: skip

_COLOUR = re.compile(r"\x1b\[[0-9;]{0,20}m")
# What names the file that a line of output is about: diff, head and tail, more, bat, rg --json.
_HEADS = (
    re.compile(r"diff --(?:git|cc|combined) (.+)"),
    re.compile(r"(?:---|\+\+\+|\*\*\*) ([^\t]+)"),
    re.compile(r"==> (.+)"),
    re.compile(r"[ \t│|]{0,40}File: (.+)"),
    re.compile(r"Binary file (.+)"),
    re.compile(r'.{0,60}"path":\s?\{"text":\s?"([^"]+)"'),
)
_ENDS = (" ----", " ---", " <==", "<EMPTY>", " matches")  # of such a line, after the name
# grep: `x:12:`, `x-12-`, `x=12=` (git), `HEAD:x:12:`, `x:`; a name with blanks counts before a number only.
_NUMBERED = re.compile(r"(.{1,400}?)([:=-])[0-9]{1,9}\2")
_COLON = re.compile(r"([^\s:]{1,400}):|((?:\.|/|[A-Za-z]:)[/\\][^:]{1,400}):")
_NUMBER = re.compile(r"[0-9]{1,9}[:-]")


class IgnoredFiles:
    """The patterns of `privacy.ignore_paths`, ready to be looked for; false if there are none."""

    def __init__(self, globs: Iterable[str]) -> None:
        # A pattern without a root is meant anywhere, in any case: .ENV is the same file on some systems.
        globs = [_expanded(each) for glob in globs for each in expand_braces(glob)]
        forms = [form for glob in globs for form in _forms(glob)]
        self._match = compile_globs(forms, re.IGNORECASE)
        self.hint = _any_of(globs)
        overlapping = [form for form in forms if not _below_wildcard(form)]
        self._forms = [(form.lower(), letter_pairs(form)) for form in overlapping]
        self._home = str(Path("~").expanduser())
        self._background: set[str] = set()

    def __bool__(self) -> bool:
        return self._match is not None

    # --- events -------------------------------------------------------------------------------------------

    def hide(self, event: Event, payload: Payload) -> bool:
        """Whether an event's text shows, or may show, what is in an ignored file."""
        if self._match is None:
            return False
        if event.action in TOUCHES:
            return self._ignores(event.target, event.where.cwd)
        hidden = (
            self.named_by(event, payload)
            or (event.action in _SHELL and self._shown_by(event, payload))
            or self._from_background(event, payload)
        )
        if hidden and event.action is Action.RUN:
            self._note_background(event, payload)
        return hidden

    def named_by(self, event: Event, payload: Payload) -> bool:
        """Whether a command, or what any other tool was given, names an ignored file."""
        if self._match is None or not (event.tool or event.action in _SHELL):
            return False
        given = _given(payload)
        commands = [event.target] if event.action is Action.RUN else []
        said = [event.target, *_strings(given)]
        return self._call(commands, given, said, event.where.cwd, event.action in _SHELL)

    def patched_by(self, payload: Payload) -> bool:
        """Whether a patch among the inputs touches an ignored file, next to files that are not."""
        if self._match is None:
            return False
        return any(
            self._matches(path, "") for text in _strings(_given(payload)) for path in patched_files(text)
        )

    def _shown_by(self, event: Event, payload: Payload) -> bool:
        shown = "\n".join(filter(None, (event.text, *(flatten_text(payload.get(key)) for key in _ANSWERS))))
        return self.shown_in(shown, self._folders([event.target], event.where.cwd))

    def _note_background(self, event: Event, payload: Payload) -> None:
        """Remember where a hidden command that goes on in the background will be heard of again."""
        given = _given(payload)
        command = event.target.rstrip()
        told = isinstance(given, dict) and given.get("run_in_background") is True
        if told or (command.endswith("&") and not command.endswith("&&")) or "nohup" in command:
            if len(self._background) > _MOST_PLACES:
                self._background.clear()
            self._background.add(event.session)

    def _from_background(self, event: Event, payload: Payload) -> bool:
        """Whether a tool tells what a command, which it does not run itself, has put out since."""
        answers = [payload.get(key) for key in _ANSWERS]
        ran = [command for answer in answers for command in _commands(answer)]
        if ran:
            return self._call(ran, None, ran, event.where.cwd, True)
        reads = event.tool.replace("_", "").lower() in _BACKGROUND_TOOLS
        return reads and event.session in self._background

    # --- rows of a transcript -----------------------------------------------------------------------------

    def told_in(self, value: object, cwd: str, depth: int = 0) -> bool:
        """Whether a transcript's row is about an ignored file: by any word, by a call in it, by output."""
        if self._match is None or depth > _DEEPEST:
            return self._match is not None
        if isinstance(value, str):
            if not self.hint(value):
                return False
            words = dict.fromkeys(_WORD.findall(value))
            return any(self._ignores(word) for word in words if self._may_lead(word)) or self.shown_in(
                value, [cwd]
            )
        if isinstance(value, list):
            return any(self.told_in(item, cwd, depth + 1) for item in value)
        if not isinstance(value, dict):
            return False
        given = [_loaded(value[key]) for key in _ROW_GIVEN if key in value]
        if any(self._call([], each, list(_strings(each)), cwd, True) for each in given):
            return True
        return any(self.told_in(item, cwd, depth + 1) for item in value.values())

    # --- what a tool was given ----------------------------------------------------------------------------

    def _call(self, commands: list[str], given: object, said: list[str], cwd: str, shell: bool) -> bool:
        """Whether a call names an ignored file, or one relative to a folder in which it works."""
        commands = [self._as_shell(command, cwd) for command in dict.fromkeys((*commands, *_commands(given)))]
        inner = [posixpath.join(cwd, self._as_shell(folder, cwd)) for folder in _named_folders(given)]
        folders = [each for base in (cwd, *inner) for each in self._folders(commands, base)]
        folders = list(dict.fromkeys(folders))
        if any(map(self._below, folders if shell or commands else inner)):
            return True
        if any(self._runs_over(command, folders) for command in commands):
            return True
        # An MCP server's reading of a file carries the path in its inputs.
        inputs = [each for each in said if len(each) < _LONGEST_PATH and "\n" not in each]
        if not commands and any(self._ignores(each, cwd) for each in inputs[:_PATHS_FOLLOWED]):
            return True
        return any(self._says(self._as_shell(text, cwd), folders) for text in dict.fromkeys(said))

    def _as_shell(self, text: str, cwd: str) -> str:
        """A text with the home folder and the current one in the place of their names, and braces opened."""
        if "~" in text or "$" in text or "%" in text:
            text = _HOME.sub(lambda found: self._home, text)
            text = _HERE.sub(lambda found: cwd, text)
        if "%" in text:
            text = f"{text} {unquote(text)}"
        if "{" in text and "," in text:
            words = _BETWEEN_WORDS.split(text)
            braced = [word for word in words if "{" in word and len(word) < _LONGEST_PATH][:_BRACES]
            text = " ".join((text, *(" ".join(expand_braces(word)) for word in braced)))
        return text

    def _folders(self, commands: Iterable[str], cwd: str) -> list[str]:
        """The folder of a call and those that its commands change to, one after the other."""
        folders = [cwd]
        for command in commands:
            at = cwd
            for folder in _CD.findall(self._as_shell(command, cwd)):
                at = posixpath.normpath(posixpath.join(at, folder or self._home))
                folders += [at, posixpath.join(cwd, folder or self._home)]
        return list(dict.fromkeys(folders))

    def _runs_over(self, command: str, folders: Sequence[str]) -> bool:
        """Whether a command names an ignored file or folder; links are followed."""
        words = dict.fromkeys(_WORD.findall(command))
        if not self.hint(command) and len(folders) == 1:  # only a link could lead there
            named = [word for word in words if word[0] != "-" and len(word) < _LONGEST_PATH][:_LINKS_FOLLOWED]
            return any(_is_link(folders[0], word) and self._ignores(word, folders[0]) for word in named)
        if any(map(self._below, words)) or any(map(self._ignores, words)):
            return True
        if len(folders) * len(words) > _MOST_PLACES:
            return True  # too many to look at: nobody writes such a command to be remembered
        return any(self._ignores(word, folder) for word in words for folder in folders)

    def _says(self, text: str, folders: Sequence[str]) -> bool:
        """Whether a word of a text names an ignored path, as a path, as `revision:path` or by wildcards.

        By its letters alone: links are not followed here, because there may be many words.
        """
        plain = text.translate(_QUOTING)
        words = dict.fromkeys((*_WORD.findall(text), *_WORD.findall(plain)))
        for word in [each for each in words if _WILD.search(each)][:_WILD_WORDS]:
            if any(may_both_match(word.lower(), *form) for form in self._forms):
                return True
        if not self.hint(plain) and len(folders) == 1:
            return False
        names = dict.fromkeys(name for word in words for name in _names(word))
        if len(folders) * len(names) > 10 * _MOST_PLACES:
            return True
        return any(self._matches(name, folder) for name in names for folder in folders)

    # --- output -------------------------------------------------------------------------------------------

    def shown_in(self, output: str, folders: Sequence[str]) -> bool:
        """Whether output names an ignored file before what it shows of it."""
        if not self.hint(output):
            return False
        lines = _COLOUR.sub("", output).splitlines()
        for number, line in enumerate(lines):
            if self.hint(line):
                after = lines[number + 1] if number + 1 < len(lines) else ""
                names = _named_in_line(line[:_LONGEST_LINE], after)
                if any(self._ignores(name, folder) for name in names for folder in folders):
                    return True
        return False

    # --- paths --------------------------------------------------------------------------------------------

    def _below(self, folder: str) -> bool:
        """Whether all that lies in a folder is ignored."""
        assert self._match is not None
        return bool(folder) and self._match(folder.rstrip("/") + "/\x01")

    def _matches(self, path: str, folder: str) -> bool:
        assert self._match is not None
        path = path.replace("\\", "/")
        whole = posixpath.normpath(posixpath.join(folder, path))
        return any(map(self._match, (path, path.rpartition("/")[2], whole, whole.rpartition("/")[2])))

    def _may_lead(self, word: str) -> bool:
        """A quick look at a word of a long text: where it is False, `_ignores` is False without a folder."""
        odd = word[0] == "~" or "%" in word or word[:5].lower() == "file:"
        return odd or self.hint(word) or os.path.isabs(word)  # noqa: PTH117 - for each word

    def _ignores(self, path: str, cwd: str = "") -> bool:
        """Whether a path, as it is written or where it leads, is ignored."""
        if not path:
            return False
        if path.startswith("~"):
            path = _HOME.sub(lambda found: self._home, path)
        if path.lower().startswith("file:"):
            path = unquote(path[5:]).replace("//localhost/", "/").replace("//", "/")
        if self._matches(path, cwd) or ("%" in path and self._matches(unquote(path), cwd)):
            return True
        real = _real(path, cwd)
        return bool(real) and self._matches(real, "")


_BACKGROUND_TOOLS = frozenset(
    ("bashoutput", "taskoutput", "readbash", "readpowershell", "agentoutput", "writestdin", "processoutput")
)


def compile_globs(globs: Iterable[str], flags: int = 0) -> Callable[[str], bool] | None:
    """One test for all globs; None if there are none."""
    pattern = "|".join(fnmatch.translate(glob) for glob in globs)
    if not pattern:
        return None
    match = re.compile(pattern, flags).match
    return lambda text: match(text) is not None


def _expanded(glob: str) -> str:
    """A pattern with the home folder in the place of its name."""
    for home in ("~/", "$HOME/", "${HOME}/"):
        if glob.startswith(home):
            return str(Path("~").expanduser()) + glob[len(home) - 1 :]
    return str(Path(glob).expanduser()) if glob.startswith("~") else glob


def _forms(glob: str) -> list[str]:
    """The ways in which a path may be what a pattern names; one that names a folder names what is in it."""
    glob = glob.removeprefix("./").rstrip("/") or "/"
    wide = glob.rstrip("*").rstrip("/") if glob.endswith("/**") else glob
    forms = [wide, wide.rstrip("/") + "/*"]
    if "/*" in glob[-3:]:
        forms = [glob]
    if wide.startswith("**/"):
        forms += [form.removeprefix("**/") for form in forms]
    rooted = wide.startswith(("/", "*"))
    return [*forms, *(f"*/{form}" for form in forms if not rooted and "/" in form)]


def _below_wildcard(form: str) -> bool:
    """Whether a form is of what lies in `*.pem`: any `src/*.py` could be meant to read x.pem/y.py."""
    return form.endswith("/*") and _WILD.search(form[:-2].removeprefix("*/")) is not None


def _any_of(globs: Sequence[str]) -> Callable[[str], bool]:
    """A quick look: where none of the globs' telling parts stands, no glob matches."""
    search = re.compile("|".join(map(re.escape, map(_telling_part, globs))), re.IGNORECASE).search
    return lambda text: search(text) is not None


def _telling_part(glob: str) -> str:
    """The longest part without wildcards of the last name in a pattern that has one.

    The folders before it may be the current one, which a relative path does not name.
    """
    for name in reversed(glob.split("/")):
        if "[" in name:
            return ""
        if part := max(name.replace("?", "*").split("*"), key=len):
            return part
    return ""


def _named_in_line(line: str, after: str) -> Iterator[str]:
    """The files that a line of output may be about, with and without the revision before them."""
    for head in _HEADS:
        if found := head.match(line):
            told = found[1].rstrip()
            for end in _ENDS:
                told = told.removesuffix(end).rstrip()
            names = told.split() if head is _HEADS[0] else [told]
            for name in (*names, told.partition(" b/")[0]):
                name = name.strip("\"' ")
                yield from (name, name.partition("/")[2])
    for found in (_NUMBERED.match(line), _COLON.match(line)):
        if found:
            name = found[1] or found[2]
            yield from (name, name.rpartition(":")[2])
    if _NUMBER.match(after):  # rg --heading: the name alone, then numbered lines
        yield line.strip()


def _names(word: str) -> Iterator[str]:
    """What a word of a command may name: itself, or what is glued to an option, an @ or a revision."""
    yield word
    for sign in ":@":
        if sign in word:
            yield word.rpartition(sign)[2]
    if word[:1] == "-" and len(word) > 3:
        yield word[2:]


def _given(payload: Payload) -> object:
    """What a tool was given; Copilot tells it as JSON in a string."""
    return _loaded(payload.get("tool_input") or payload.get("toolArgs"))


def _loaded(given: object) -> object:
    if isinstance(given, str) and given.startswith("{"):
        try:
            return json.loads(given)
        except (ValueError, RecursionError):
            return given
    return given


def _commands(value: object) -> list[str]:
    """The commands in what a tool was given, or in what it says that it ran; Codex gives lists of words."""
    if not isinstance(value, dict):
        return []
    found = [each for key, each in value.items() if key in _COMMAND_KEYS]
    found += [each.get("command") for each in value.values() if isinstance(each, dict)]
    listed = [" ".join(filter(None, map(flatten_text, each))) for each in found if isinstance(each, list)]
    return [*(each for each in found if isinstance(each, str)), *listed]


def _named_folders(given: object) -> list[str]:
    """The folders in which a tool was told to work."""
    if not isinstance(given, dict):
        return []
    return [value for key, value in given.items() if key in _FOLDER_KEYS and isinstance(value, str) and value]


def _strings(value: object, depth: int = 0) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list) and depth < _DEEPEST:
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item, depth + 1)


def _is_link(folder: str, path: str) -> bool:
    try:
        return os.path.islink(posixpath.join(folder, path))  # noqa: PTH114 - for each word of a command
    except ValueError:
        return False


def _real(path: str, cwd: str) -> str:
    """Where a link leads; "" for what is none, or is not there."""
    try:
        if not os.path.isabs(os.path.join(cwd, path)):  # noqa: PTH117, PTH118 - for each word of a text
            return ""
        whole = Path(cwd, path)
        if not whole.exists():  # one call; to follow each link takes many
            return ""
        real = os.path.realpath(whole)
    except (OSError, RuntimeError, ValueError):
        return ""
    return "" if real == str(whole) else real
