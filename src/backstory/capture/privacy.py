"""What must not be kept: secrets, private spans, ignored files, tools and projects.

Applied to every event before its first write outside the spool. The semantic key is made before, so that
the same thing stays the same thing when the rules change. Secrets go before a text is cut to its excerpt:
half of a private key is no longer recognised as one.
"""

import fnmatch
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from backstory.agents.fields import cleaned
from backstory.hook.identity import session_id
from backstory.hook.redact import Redactor
from backstory.model import Action, Event, Where
from backstory.settings import Settings

IGNORED = "[content not kept: privacy.ignore_paths]"
PERSONAL = ("email", "ip", "ssn", "card", "phone")
_PLACES_KEPT = 1_000
_DEEPEST = 50
_TOUCHES = (Action.READ, Action.WRITE, Action.EDIT)
# Words of a command line; what is glued to a path (=, <, quotes) is cut off.
_WORD = re.compile(r"""[^\s'"`=<>|&;(),]+""")

Payload = Mapping[str, object]


class Privacy:
    """The user's rules, ready to be applied."""

    def __init__(self, settings: Settings) -> None:
        self._redactor = Redactor(off=tuple(settings.privacy_redact_off))
        self._secrets = Redactor(off=(*settings.privacy_redact_off, *PERSONAL))
        self._paths = _globs(settings.privacy_ignore_paths)
        self._hint = _any_of(settings.privacy_ignore_paths)
        folders = [str(Path(glob).expanduser()) for glob in settings.privacy_ignore_projects]
        self._folders = _globs([*folders, *(glob.rstrip("/") + "/*" for glob in folders)])
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
            clean = self._redactor.redact_json(payload)
            if clean is not payload:
                events = self.excerpts(events, _attempt(read, clean))
            if clean is not payload or not raw:
                body = json.dumps(clean, ensure_ascii=False)
        if any(touched):
            body = ""
            events = [
                replace(event, text=IGNORED, target=self.text(event.target)) if hidden else event
                for event, hidden in zip(events, touched, strict=True)
            ]
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
        clean = self._secrets.redact(path)
        return path if clean is path else f"{clean}~{session_id('', path)[-8:]}"

    def hidden(self, event: Event) -> Event:
        """An event without a payload of its own, its text left out if it shows an ignored file."""
        return replace(event, text=IGNORED) if self._touches_ignored(event, {}) else event

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
        """A JSON value with the secrets in its strings replaced; the same object if it has none."""
        return self._redactor.redact_json(value)

    def line(self, data: bytes) -> bytes:
        """A line of JSON with the secrets in its strings replaced; the same object if it has none."""
        try:
            text = data.decode()
            if not self._redactor.suspicious(text):
                return data
            value = json.loads(text)
            clean = self._redactor.redact_json(value)
        except (ValueError, RecursionError):
            return data  # its reader will not make an event of it either
        return data if clean is value else json.dumps(clean, ensure_ascii=False).encode() + b"\n"

    def body(self, text: str) -> str:
        """A stored payload with the secrets in its strings replaced."""
        return self.line(text.encode()).decode().rstrip("\n")

    def raw(self, data: bytes) -> bytes:
        """Unparsable bytes with their secrets replaced."""
        return self._redactor.redact_bytes(data)

    def _touches_ignored(self, event: Event, payload: Payload) -> bool:
        if self._paths is None:
            return False
        if event.action in _TOUCHES:
            return self._ignores(event.target)
        if event.action is Action.RUN:
            return self._hint(event.target) and any(map(self._ignores, _WORD.findall(event.target)))
        if event.action is Action.FIND:
            given = payload.get("tool_input")
            values = given.values() if isinstance(given, dict) else ()
            return any(self._ignores(value) for value in values if isinstance(value, str)) or any(
                self._ignores(line.partition(":")[0]) for line in event.text.splitlines()
            )
        return False

    def _ignores(self, path: str) -> bool:
        assert self._paths is not None
        return self._paths(path.replace("\\", "/").rpartition("/")[2]) or self._paths(path)


def _globs(globs: Iterable[str]) -> Callable[[str], bool] | None:
    """One test for all globs; None if there are none."""
    pattern = "|".join(fnmatch.translate(glob) for glob in globs)
    if not pattern:
        return None
    match = re.compile(pattern).match
    return lambda text: match(text) is not None


def _any_of(globs: Iterable[str]) -> Callable[[str], bool]:
    """A quick look: where none of the globs' longest parts without wildcards stands, no glob matches."""
    parts = ["" if "[" in glob else max(glob.replace("?", "*").split("*"), key=len) for glob in globs]
    search = re.compile("|".join(map(re.escape, parts))).search
    return lambda text: search(text) is not None


def _attempt(read: Callable[[Payload], list[Event]], clean: object) -> list[Event]:
    try:
        return read(clean) if isinstance(clean, dict) else []
    except Exception:  # it could be read before: redaction took something that its reader needs
        return []
