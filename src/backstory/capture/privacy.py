"""What must not be kept: secrets, private spans, ignored files, tools and projects.

Applied to every event before its first write outside the spool. The semantic key is made before, so that
the same thing stays the same thing when the rules change. Secrets go before a text is cut to its excerpt:
half of a private key is no longer recognised as one.
"""

import fnmatch
import json
import os
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from backstory.agents.payload_fields import cleaned, flatten
from backstory.capture.wildcard_overlap import letter_pairs, may_both_match
from backstory.hook.pending_events import patched
from backstory.hook.project_identity import session_id
from backstory.hook.redact import Redactor
from backstory.model import Action, Event, Where
from backstory.settings import Settings

IGNORED = "[content not kept: privacy.ignore_paths]"
PERSONAL = ("email", "ip", "ssn", "card", "phone")
_PLACES_KEPT = 1_000
_WILD = re.compile(r"[*?\[]")
_DEEPEST = 50
_TOUCHES = (Action.READ, Action.WRITE, Action.EDIT)
# Words of a command line; what is glued to a path (=, <, quotes) is cut off.
_WORD = re.compile(r"""[^\s'"`=<>|&;(),]+""")

_NESTED = 2  # JSON in JSON
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|([nrt\"\\/]))")
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}
# What names the file that a line of output is about: grep, diff, head and tail.
_FILE_LINE = re.compile(
    r"^(?:diff --git a/(\S+)|(?:---|\+\+\+) (?:[ab]/)?(\S+)|==> (\S+) <==|"
    r"File: (\S+)|([^\s:]+)(?::[0-9]*:?|\n[0-9]+[:-]))",
    re.MULTILINE,
)
# A command that names so many files, each in so many folders, is not looked through: it is left out.
_MOST_PLACES = 2_000
_COLOUR = re.compile(r"\x1b\[[0-9;]{0,20}m")
_QUOTING = dict.fromkeys(map(ord, "\"'\\"))  # what a shell takes out of a word
_WILD_WORDS = 1_000
_LONGEST_PATH, _PATHS_FOLLOWED = 1_000, 50  # inputs of a tool that are followed as links
_ANSWERS = ("tool_response", "tool_result", "toolResult")
_FOLDER_KEYS = frozenset(
    ("dir_path", "workdir", "cwd", "directory", "dir", "folder", "path", "root", "base_path", "basePath",
     "working_directory", "workingDirectory", "repo_path")
)  # fmt: skip
_CD = re.compile(r"(?:^|&&|;|\|\||\()\s*(?:cd|pushd)\s+(?:--\s+)?[\"']?([^\s\"'&|;()]+)")

Payload = Mapping[str, object]


class Privacy:
    """The user's rules, ready to be applied."""

    def __init__(self, settings: Settings) -> None:
        self._redactor = Redactor(off=tuple(settings.privacy_redact_off))
        self._secrets = Redactor(off=(*settings.privacy_redact_off, *PERSONAL))
        self._shown: dict[str, str] = {}
        paths = settings.privacy_ignore_paths
        # A pattern without a root is meant anywhere, in any case: .ENV is the same file on some systems.
        self._paths = _globs([form for glob in paths for form in _forms(glob)], re.IGNORECASE)
        self._hint = _any_of(paths)
        self._forms = [(form.lower(), letter_pairs(form)) for glob in paths for form in _forms(glob)]
        self._folders = _folders(settings.privacy_ignore_projects)
        self._tools = _globs(settings.capture_skip_tools)
        self._wheres: dict[Where, Where] = {}

    def refuses(self, event: Event, our_tools: Sequence[str] = ()) -> str:
        """Why nothing of this event may be kept: "ignored" (its folder), "skipped" (its tool), or ""."""
        if self._folders and self._folders(event.where.cwd):
            return "ignored"
        if event.tool and (
            any(fnmatch.fnmatchcase(event.tool, glob) for glob in our_tools)
            or (self._tools and self._tools(event.tool))
        ):
            return "skipped"
        return ""

    def cleaned(
        self, events: Sequence[Event], payload: Payload, raw: str, read: Callable[[Payload], list[Event]]
    ) -> tuple[list[Event], str]:
        """A payload's events as they may be stored, and what may be kept of the payload as a whole.

        `raw` is the payload's text, "" if there is none to trust; `read` makes events of a cleaned payload.
        """
        touched = [self._touches_ignored(event, payload) for event in events]
        body = raw
        if not raw or self._redactor.suspicious(raw):
            clean = self.value(payload)
            if clean is not payload:
                events = self.excerpts(events, _attempt(read, clean))
            if clean is not payload or not raw:
                body = json.dumps(clean, ensure_ascii=False)
        if any(touched):
            body = ""
            events = [
                self._withheld(event, self.text(event.target), payload) if hidden else event
                for event, hidden in zip(events, touched, strict=True)
            ]
        if self._patches_ignored(payload):
            body = ""
        return list(events), body

    def excerpts(self, events: Sequence[Event], again: Sequence[Event]) -> list[Event]:
        """The events with the texts of `again`, the same events read from what was redacted whole."""
        if [event.kind for event in events] != [event.kind for event in again]:
            again = events  # a redacted field made a difference: the excerpts themselves must do
        return [self._excerpt(event, clean) for event, clean in zip(events, again, strict=True)]

    def _excerpt(self, event: Event, clean: Event) -> Event:
        text, target, reason = self.text(clean.text), self.text(clean.target), self.text(clean.reason)
        if text is not event.text or target is not event.target or reason is not event.reason:
            event = replace(event, text=text, target=target, reason=reason)
        return self._named(event)

    def _named(self, event: Event) -> Event:
        """The event with no secret in a name. What cannot be opened without it is not named at all."""
        names = event.tool, event.native_id, event.subagent_type
        transcript = event.transcript if self.place(event.transcript) is event.transcript else ""
        tool, native_id, subagent_type = clean = tuple(map(self.text, names))
        if clean == names and transcript is event.transcript:
            return event
        return replace(
            event, tool=tool, native_id=native_id, subagent_type=subagent_type, transcript=transcript
        )

    def told(self, event: Event, where: Where) -> Event:
        """An event of an agent's own history as it may be stored, at its place."""
        text = cleaned(event.text, self) if event.text else ""
        target = cleaned(event.target, self) if event.target else ""
        reason = cleaned(event.reason, self) if event.reason else ""
        where = self._where(where)
        if (
            text is not event.text
            or target is not event.target
            or reason is not event.reason
            or where is not event.where
        ):
            event = replace(event, text=text, target=target, reason=reason, where=where)
        return self.hidden(self._named(event))

    def _where(self, where: Where) -> Where:
        """The same place without secrets; a history names one or two, again and again."""
        clean = self._wheres.get(where)
        if clean is None:
            cwd, branch, worktree = map(self.place, (where.cwd, where.branch, where.worktree))
            clean = replace(where, cwd=cwd, branch=branch, worktree=worktree)
            if len(self._wheres) < _PLACES_KEPT:
                self._wheres[where] = clean
        return where if clean == where else clean

    def native(self, event: Event) -> str:
        """What may be stored of the ids of an event's session and sub-agent; "" if all of both may be."""
        natives = event.session, event.subagent
        shown = [self._native(event.agent, native) for native in natives]
        return "" if (*shown,) == natives else "/".join(filter(None, shown))

    def _native(self, agent: str, native: str) -> str:
        clean = self._redactor.redact(native)
        return native if clean is native else f"{clean}~{session_id(agent, native)[-8:]}"

    def place(self, path: str) -> str:
        """A path or another name of a place without secrets; it stays distinct.

        Personal data stays: an e-mail address in a path is the name of a folder, which would not be found.
        """
        known = self._shown.get(path)
        if known is None:
            clean = self._secrets.redact(path)
            known = path if clean is path else f"{clean}~{session_id('', path)[-8:]}"
            if len(self._shown) < _PLACES_KEPT:
                self._shown[path] = known
        return path if known == path else known

    def hidden(self, event: Event) -> Event:
        """An event without a payload of its own, its text left out if it shows an ignored file."""
        return self._withheld(event, event.target, {}) if self._touches_ignored(event, {}) else event

    def _withheld(self, event: Event, target: str, payload: Payload) -> Event:
        """The event without its text, and without a command that names the file: it may hold the content."""
        kept = event.action in _TOUCHES or not self._names_ignored(event, payload)
        return replace(event, text=IGNORED, target=target if kept else "")

    def may_touch_ignored(self, text: str) -> bool:
        """A quick look at raw JSON: False if nothing in it is about what is not to be kept."""
        return bool(self._folders or self._tools) or (self._paths is not None and self._hint(text))

    def touches_ignored(self, value: object, depth: int = 0) -> bool:
        """Whether a JSON value is about an ignored file, a skipped tool or an ignored folder."""
        if isinstance(value, str):
            words = _WORD.findall(value) if self._paths and self._hint(value) else ()
            return any(map(self._ignores, words))
        if isinstance(value, list):
            return any(self.touches_ignored(item, depth + 1) for item in value) if depth < _DEEPEST else True
        if not isinstance(value, dict):
            return False
        folder, tool = value.get("cwd"), value.get("name") or value.get("tool_name")
        return (
            depth > _DEEPEST
            or bool(self._folders and isinstance(folder, str) and self._folders(folder))
            or bool(self._tools and isinstance(tool, str) and self._tools(tool))
            or any(self.touches_ignored(item, depth + 1) for item in value.values())
        )

    def text(self, text: str) -> str:
        """Text with its secrets replaced."""
        return self._redactor.redact(text if type(text) is str else str(text))

    def value(self, value: object) -> object:
        """A JSON value with the secrets in its strings replaced; the same object if it has none.

        A string that is JSON itself, such as the arguments of a call, is read and treated alike.
        """
        return self._redactor.redact_json(self._unpacked(value, 0))

    def _unpacked(self, value: object, depth: int) -> object:
        """The value without the secrets in JSON that its strings hold; the same object if there are none."""
        if isinstance(value, str):
            return self._packed(value, depth)
        if depth > _DEEPEST or not isinstance(value, dict | list):
            return value
        pairs = list(value.items() if isinstance(value, dict) else enumerate(value))
        new = [(key, self._unpacked(item, depth + 1)) for key, item in pairs]
        if all(clean is item for (_, clean), (_, item) in zip(new, pairs, strict=True)):
            return value
        return dict(new) if isinstance(value, dict) else [item for _, item in new]

    def _packed(self, text: str, depth: int) -> str:
        if text[:1] not in ("{", "[") or '"' not in text or not self._redactor.suspicious(text):
            return text
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return text
        clean = self._redactor.redact_json(self._unpacked(value, depth + 1))
        return text if clean is value else json.dumps(clean, ensure_ascii=False)

    def line(self, data: bytes) -> bytes:
        """A line of JSON with the secrets in its strings replaced; the same object if it has none."""
        try:
            text = data.decode()
            if not self._redactor.suspicious(text):
                return data
            value = json.loads(text)
            clean = self.value(value)
        except (ValueError, RecursionError):
            return data  # its reader will not make an event of it either
        return data if clean is value else json.dumps(clean, ensure_ascii=False).encode() + b"\n"

    def body(self, text: str) -> str:
        """A stored payload with the secrets in its strings replaced."""
        return self.line(text.encode()).decode().rstrip("\n")

    def raw(self, data: bytes) -> bytes:
        """Unparsable bytes with their secrets replaced, also those that only escapes of JSON hide."""
        clean = self._redactor.redact_bytes(data)
        if b"\\" not in clean:
            return clean
        plain = clean.decode("utf-8", "surrogateescape")
        for _ in range(_NESTED):
            plain = _ESCAPE.sub(_unescaped, plain)
            shown = self._redactor.redact(plain)
            if shown is not plain:
                clean = shown.encode("utf-8", "surrogateescape")
                plain = shown
        return clean

    def _touches_ignored(self, event: Event, payload: Payload) -> bool:
        if self._paths is None:
            return False
        cwd = event.where.cwd
        if event.action in _TOUCHES:
            return self._ignores(event.target, cwd)
        return self._names_ignored(event, payload) or (
            event.action in (Action.RUN, Action.FIND) and self._shows_ignored(event, payload)
        )

    def _names_ignored(self, event: Event, payload: Payload) -> bool:
        """Whether a command, or what any other tool was given, names an ignored file."""
        if self._paths is None or not (event.tool or event.action in (Action.RUN, Action.FIND)):
            return False
        cwd, given = event.where.cwd, _given(payload)
        if event.action is Action.RUN and self._runs_over_ignored(event.target, cwd):
            return True
        # An MCP server's reading of a file carries the path in its inputs.
        inputs = list(_strings(given))
        paths = [each for each in inputs if len(each) < _LONGEST_PATH and "\n" not in each]
        if event.action is not Action.RUN and any(
            self._ignores(each, cwd) for each in paths[:_PATHS_FOLLOWED]
        ):
            return True
        said = [event.target, *inputs]
        inner = [posixpath.join(cwd, folder) for folder in _named_folders(given)]
        if any(map(self._ignores_below, inner)):
            return True
        return any(self._says_ignored(text, [cwd, *inner]) for text in said)

    def _says_ignored(self, text: str, folders: Sequence[str]) -> bool:
        """Whether a word of a text names an ignored path, as a path, as `revision:path` or by wildcards.

        By its letters alone: links are not followed here, because there may be many words.
        """
        assert self._paths is not None
        words = dict.fromkeys((*_words(text), *_words(text.translate(_QUOTING))))
        for word in [each for each in words if _WILD.search(each)][:_WILD_WORDS]:
            if any(may_both_match(word.lower(), *form) for form in self._forms):
                return True
        if not self._hint(text.translate(_QUOTING)) and len(folders) == 1:
            return False
        parts = (word.rpartition(":")[2] for word in words if ":" in word)
        return any(self._matches(word, folder) for word in (*words, *parts) for folder in folders)

    def _matches(self, path: str, folder: str) -> bool:
        assert self._paths is not None
        path = path.replace("\\", "/")
        whole = posixpath.normpath(posixpath.join(folder, path))
        return any(map(self._paths, (path, path.rpartition("/")[2], whole, whole.rpartition("/")[2])))

    def _patches_ignored(self, payload: Payload) -> bool:
        """Whether a patch among the inputs touches an ignored file, next to files that are not."""
        if self._paths is None:
            return False
        return any(self._matches(path, "") for text in _strings(_given(payload)) for path in patched(text))

    def _runs_over_ignored(self, command: str, cwd: str) -> bool:
        """Whether a command names an ignored file, or one relative to the folder that it changes to."""
        there = (posixpath.join(cwd, folder) for folder in _CD.findall(command))
        folders = list(dict.fromkeys((cwd, *there)))
        if any(map(self._ignores_below, folders)):
            return True
        words = dict.fromkeys(_words(command)) if self._hint(command) or len(folders) > 1 else {}
        if any(map(self._ignores_below, words)) or any(map(self._ignores, words)):
            return True
        if len(folders) * len(words) > _MOST_PLACES:
            return True  # too many to look at: nobody writes such a command to be remembered
        return any(self._ignores(word, folder) for word in words for folder in folders)

    def _ignores_below(self, folder: str) -> bool:
        """Whether all that lies in a folder is ignored."""
        return bool(folder) and self._paths is not None and self._paths(folder.rstrip("/") + "/\x01")

    def _shows_ignored(self, event: Event, payload: Payload) -> bool:
        """Whether the output names an ignored file before what it shows of it."""
        shown = "\n".join(filter(None, (event.text, *(flatten(payload.get(key)) for key in _ANSWERS))))
        if not self._hint(shown):
            return False
        shown = _COLOUR.sub("", shown)
        return any(self._ignores(next(filter(None, found), "")) for found in _FILE_LINE.findall(shown))

    def _ignores(self, path: str, cwd: str = "") -> bool:
        assert self._paths is not None
        if not path:
            return False
        paths = {path, path.replace("\\", "/")}
        paths |= {posixpath.normpath(posixpath.join(cwd, each)) for each in paths} if cwd else set()
        if any(self._paths(each.rpartition("/")[2]) or self._paths(each) for each in paths):
            return True
        real = self._real(path, cwd)
        return bool(real) and (self._paths(real.rpartition("/")[2]) or self._paths(real))

    def _real(self, path: str, cwd: str) -> str:
        """Where a link leads; "" for what is none, or is not there."""
        try:
            whole = Path(cwd, path).expanduser()
            if not whole.is_absolute() or not whole.exists():  # one call; to follow each link takes many
                return ""
            real = os.path.realpath(whole)
        except (OSError, RuntimeError, ValueError):
            return ""
        return "" if real == str(whole) else real


def _forms(glob: str) -> list[str]:
    """The ways in which a path may be what a pattern names."""
    glob = _expanded(glob)
    glob = glob + "*" if glob.endswith("/") else glob
    return (
        [glob] if glob.startswith(("/", "*")) or "/" not in glob else [glob, "*/" + glob.removeprefix("./")]
    )


def _expanded(glob: str) -> str:
    return (
        str(Path(glob).expanduser()) + ("/" if glob.endswith("/") else "") if glob.startswith("~") else glob
    )


def _folders(globs: Iterable[str]) -> Callable[[str], bool] | None:
    """A test for ignored folders and those below them, however written: links, `..`, case."""
    wanted = [_expanded(glob).rstrip("/") or "/" for glob in globs]
    wanted += [os.path.realpath(glob) for glob in wanted if not _WILD.search(glob)]
    match = _globs([*wanted, *(glob.rstrip("/") + "/*" for glob in wanted)])
    if match is None:
        return None
    same = [glob for glob in wanted if not _WILD.search(glob)]

    @lru_cache(_PLACES_KEPT)
    def ignored(folder: str) -> bool:
        if not folder or "\0" in folder:
            return False
        if any(map(match, (folder, os.path.normpath(folder), os.path.realpath(folder)))):
            return True
        parents = [Path(os.path.realpath(folder)), *Path(os.path.realpath(folder)).parents]
        return any(_same(parent, other) for other in same for parent in parents)

    return ignored


def _same(one: Path, other: str) -> bool:
    """Whether two names are of one folder: on some systems SECRET and secret are."""
    if str(one).casefold() != other.casefold():
        return False
    try:
        return one.samefile(other)
    except OSError:
        return False


def _given(payload: Payload) -> object:
    """What a tool was given; Copilot tells it as JSON in a string."""
    given = payload.get("tool_input") or payload.get("toolArgs")
    if isinstance(given, str) and given.startswith("{"):
        try:
            return json.loads(given)
        except (ValueError, RecursionError):
            return given
    return given


def _named_folders(given: object) -> list[str]:
    """The folders in which a tool was told to work."""
    if not isinstance(given, dict):
        return []
    return [value for key, value in given.items() if key in _FOLDER_KEYS and isinstance(value, str) and value]


def _words(text: str) -> list[str]:
    return _WORD.findall(text)


def _strings(value: object, depth: int = 0) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list) and depth < _DEEPEST:
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item, depth + 1)


def _unescaped(escape: re.Match[str]) -> str:
    return chr(int(escape[1], 16)) if escape[1] else _ESCAPED.get(escape[2], escape[2])


def _globs(globs: Iterable[str], flags: int = 0) -> Callable[[str], bool] | None:
    """One test for all globs; None if there are none."""
    pattern = "|".join(fnmatch.translate(glob) for glob in globs)
    if not pattern:
        return None
    match = re.compile(pattern, flags).match
    return lambda text: match(text) is not None


def _any_of(globs: Iterable[str]) -> Callable[[str], bool]:
    """A quick look: where none of the globs' longest parts without wildcards stands, no glob matches."""
    parts = ["" if "[" in glob else _longest_part(glob) for glob in globs]
    search = re.compile("|".join(map(re.escape, parts)), re.IGNORECASE).search
    return lambda text: search(text) is not None


def _longest_part(glob: str) -> str:
    parts = glob.removeprefix("~").removeprefix("./").replace("?", "*").split("*")
    return max((part.strip("/") for part in parts), key=len)


def _attempt(read: Callable[[Payload], list[Event]], clean: object) -> list[Event]:
    try:
        return read(clean) if isinstance(clean, dict) else []
    except Exception:  # it could be read before: redaction took something that its reader needs
        return []
