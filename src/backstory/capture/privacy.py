"""What must not be kept: secrets, private spans, ignored files, ignored projects.

Applied to every event before its first write outside the spool. The semantic key is made before, so that
the same thing stays the same thing when the rules change.
"""

import fnmatch
import json
import shlex
from collections.abc import Mapping
from dataclasses import replace

from backstory.hook.redact import Redactor
from backstory.model import Action, Event
from backstory.settings import Settings

IGNORED = "[content not kept: privacy.ignore_paths]"


class Privacy:
    """The user's rules, ready to be applied."""

    def __init__(self, settings: Settings) -> None:
        self._redactor = Redactor(off=tuple(settings.privacy_redact_off))
        self._paths = settings.privacy_ignore_paths
        self._projects = settings.privacy_ignore_projects

    def ignores_folder(self, cwd: str) -> bool:
        """Whether nothing that happens in this folder may be kept."""
        return any(
            fnmatch.fnmatch(cwd, glob) or fnmatch.fnmatch(cwd, glob.rstrip("/") + "/*") for glob in self._projects
        )

    def cleaned(self, event: Event, payload: Mapping[str, object], raw: str) -> Event:
        """The event as it may be stored, with the whole payload as its body."""
        if self._touches_ignored(event):
            return replace(event, text=IGNORED, target=self.text(event.target), body="")
        if not self._redactor.suspicious(raw):
            return replace(event, body=raw)
        body = json.dumps(self._redactor.redact_json(payload), ensure_ascii=False)
        return replace(event, text=self.text(event.text), target=self.text(event.target), body=body)

    def cleaned_text(self, event: Event) -> Event:
        """An event without a payload of its own (from a transcript), as it may be stored."""
        if self._touches_ignored(event):
            return replace(event, text=IGNORED, target=self.text(event.target))
        text, target = self.text(event.text), self.text(event.target)
        return event if text is event.text and target is event.target else replace(event, text=text, target=target)

    def text(self, text: str) -> str:
        """Text with its secrets replaced."""
        return self._redactor.redact(text)

    def raw(self, data: bytes) -> bytes:
        """Unparsable bytes with their secrets replaced."""
        return self._redactor.redact_bytes(data)

    def _touches_ignored(self, event: Event) -> bool:
        if event.action in (Action.READ, Action.WRITE, Action.EDIT):
            return self._ignores_path(event.target)
        if event.action is Action.RUN:
            return any(self._ignores_path(word) for word in _words(event.target))
        return False

    def _ignores_path(self, path: str) -> bool:
        name = path.replace("\\", "/").rsplit("/", 1)[-1]
        return any(fnmatch.fnmatch(name, glob) or fnmatch.fnmatch(path, glob) for glob in self._paths)


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command, comments=False)
    except ValueError:
        return command.split()
