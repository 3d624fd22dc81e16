"""What must not be kept: secrets, private spans, ignored files, tools and projects.

Applied to every event before its first write outside the spool. The semantic key is made before, so that
the same thing stays the same thing when the rules change. Secrets go before a text is cut to its excerpt:
half of a private key is no longer recognised as one.
"""

import fnmatch
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from backstory.agents.payload_fields import redacted_text
from backstory.capture.ignored_files import TOUCHES, IgnoredFiles, compile_globs
from backstory.hook.project_identity import branch_name, session_id
from backstory.hook.redact import Redactor
from backstory.model import NOT_KEPT, Action, Event, Where
from backstory.settings import Settings

IGNORED = f"{NOT_KEPT}privacy.ignore_paths]"
SECRET_PRINTED = f"{NOT_KEPT}the command prints a secret]"
PERSONAL = ("email", "ip", "ssn", "card", "phone")
_PLACES_KEPT = 1_000
_WILD = re.compile(r"[*?\[]")
_DEEPEST = 50
_NESTED = 2  # JSON in JSON
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|([nrt\"\\/]))")
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}

Payload = Mapping[str, object]


class Privacy:
    """The user's rules, ready to be applied."""

    def __init__(self, settings: Settings) -> None:
        self._redactor = Redactor(off=tuple(settings.privacy_redact_off))
        self._secrets = Redactor(off=(*settings.privacy_redact_off, *PERSONAL))
        self._shown: dict[str, str] = {}
        self._files = IgnoredFiles(settings.privacy_ignore_paths)
        self._folders = _folders(settings.privacy_ignore_projects)
        self._tools = compile_globs(settings.capture_skip_tools)
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
        touched = [self._files.hide(event, payload) or _prints_secret(event) for event in events]
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
        if self._files.patched_by(payload):
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
        text = redacted_text(event.text, self) if event.text else ""
        target = redacted_text(event.target, self) if event.target else ""
        reason = redacted_text(event.reason, self) if event.reason else ""
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
            cwd, branch, worktree = map(self.place, (where.cwd, branch_name(where.branch), where.worktree))
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
        hidden = self._files.hide(event, {}) or _prints_secret(event)
        return self._withheld(event, event.target, {}) if hidden else event

    def _withheld(self, event: Event, target: str, payload: Payload) -> Event:
        """The event without its text, and without a command that names the file: it may hold the content."""
        if _prints_secret(event):
            return replace(event, text=SECRET_PRINTED, target=target)
        kept = event.action in TOUCHES or not self._files.named_by(event, payload)
        return replace(event, text=IGNORED, target=target if kept else "")

    def tells_ignored(self, row: object, cwd: str) -> bool:
        """Whether a transcript's row is about an ignored file, a skipped tool or an ignored folder."""
        return self._of_no_interest(row) or self._files.told_in(row, cwd)

    def _of_no_interest(self, value: object, depth: int = 0) -> bool:
        if not (self._folders or self._tools) or not isinstance(value, dict | list):
            return False
        if isinstance(value, list):
            return any(self._of_no_interest(item, depth + 1) for item in value) if depth < _DEEPEST else True
        folder, tool = value.get("cwd"), value.get("name") or value.get("tool_name")
        return (
            depth > _DEEPEST
            or bool(self._folders and isinstance(folder, str) and self._folders(folder))
            or bool(self._tools and isinstance(tool, str) and self._tools(tool))
            or any(self._of_no_interest(item, depth + 1) for item in value.values())
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


def _expanded(glob: str) -> str:
    return (
        str(Path(glob).expanduser()) + ("/" if glob.endswith("/") else "") if glob.startswith("~") else glob
    )


def _folders(globs: Iterable[str]) -> Callable[[str], bool] | None:
    """A test for ignored folders and those below them, however written: links, `..`, case."""
    wanted = [_expanded(glob).rstrip("/") or "/" for glob in globs]
    wanted += [os.path.realpath(glob) for glob in wanted if not _WILD.search(glob)]
    match = compile_globs([*wanted, *(glob.rstrip("/") + "/*" for glob in wanted)])
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


# Password managers and clouds, asked for one value: their output is the secret, and nothing in it says so.
_PRINTS = re.compile(
    r"(?:^|[\s;&|(`])(?:(?:go)?pass(?: show| otp)? (?!-)\S{0,200}/|op (?:read|item get)\b"
    r"|bw get (?:password|totp|item)\b|vault (?:kv get|read) (?:[^\n|;&]{0,80} )?-field"
    r"|lpass show [^\n|;&]{0,80}--password|secret-tool lookup\b|gh auth token\b|heroku auth:token\b"
    r"|security find-(?:generic|internet)-password [^\n|;&]{0,120}-w"
    r"|gcloud (?:auth (?:application-default )?print-(?:access|identity)-token|secrets versions access)\b"
    r"|aws secretsmanager get-secret-value\b|aws ssm get-parameters? [^\n|;&]{0,200}--with-decryption"
    r"|az (?:keyvault secret show|account get-access-token)\b|doppler secrets get\b|kubectl create token\b"
    r"|kubectl [^\n;&]{0,40}get secrets? [^\n;]{0,300}base64 (?:-d|-D|--decode)|keyring get\b|chamber read\b)"
)


def _prints_secret(event: Event) -> bool:
    return event.action is Action.RUN and _PRINTS.search(event.target) is not None


def _unescaped(escape: re.Match[str]) -> str:
    return chr(int(escape[1], 16)) if escape[1] else _ESCAPED.get(escape[2], escape[2])


def _attempt(read: Callable[[Payload], list[Event]], clean: object) -> list[Event]:
    try:
        return read(clean) if isinstance(clean, dict) else []
    except Exception:  # it could be read before: redaction took something that its reader needs
        return []
