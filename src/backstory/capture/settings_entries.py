"""Our entries in an agent's settings: text in, text out, everybody else's entries untouched.

    {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "… hook.sh …", "timeout": 10}]}]}}

The command itself is the mark: whatever names the agent for our script is ours, also from another home or
an older Backstory. A group without a matcher fires for every source and every tool; one that has some does
not start for the others at all.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from backstory import jsonc
from backstory.agents.agent import Grouped
from backstory.jsonc import InvalidJson

_SCRIPT = "/hook/hook.sh"
_MARK = re.compile(r"\bBACKSTORY_AGENT=")
_BYTECODE = re.compile(r"[/\\]hook[/\\]hook\.pyc\"? capture ")


@dataclass(frozen=True, slots=True)
class WantedHook:
    """The hook that an event should have; `timeout` in the agent's own unit, `extra` keys that it wants.

    `matcher` names the tools that it is for, if not for all.
    """

    command: str
    timeout: int
    extra: Mapping[str, str] = field(default_factory=dict)
    matcher: str = ""

    @property
    def handler(self) -> dict[str, Any]:
        """The entry as it is written."""
        return {"type": "command", **self.extra, "command": self.command, "timeout": self.timeout}

    @property
    def group(self) -> dict[str, Any]:
        """The entry in a group of its own."""
        return (
            {"matcher": self.matcher, "hooks": [self.handler]} if self.matcher else {"hooks": [self.handler]}
        )


@dataclass(frozen=True, slots=True)
class Entry:
    """One of ours, where it stands."""

    event: str
    group: int
    index: int
    handler: Mapping[str, Any]

    @property
    def path(self) -> jsonc.Path:
        """Where its handler is."""
        return ("hooks", self.event, self.group, "hooks", self.index)

    def is_as(self, wanted: WantedHook) -> bool:
        """Whether it does what it should; a timeout that somebody has chosen is theirs."""
        return self.handler["command"] == wanted.command and self.handler.keys() >= wanted.handler.keys()


def is_empty(text: str) -> bool:
    """Whether a settings file says nothing yet; agents take that for `{}`."""
    return not text.strip("\ufeff \t\r\n")


def parse_settings(text: str) -> dict[str, Any]:
    """The settings; `InvalidJson` if they are not an object, or their hooks are not."""
    if is_empty(text):
        return {}
    root = jsonc.parse(text)
    if not isinstance(root.value, dict):
        raise InvalidJson(text, root.start, "settings must be an object, { … }")
    hooks = root.value.get("hooks", {})
    if not isinstance(hooks, dict):
        raise InvalidJson(text, jsonc.find(root, ("hooks",)).start, '"hooks" must be an object, { … }')
    return root.value


def switched_off(settings: Mapping[str, Any], hooks: Grouped) -> str:
    """The setting that stops all hooks of this agent, if it stands so, in words."""
    path, value = hooks.off
    found: Any = settings
    for key in path:
        found = found.get(key) if isinstance(found, Mapping) else None
    return f"{'.'.join(path)} is {json.dumps(value)}" if found is value else ""


def has_our_plugin(settings: Mapping[str, Any]) -> bool:
    """Whether the agent's own settings switch our plugin on; then its hooks do what entries would."""
    enabled = settings.get("enabledPlugins")
    return isinstance(enabled, dict) and any(
        on is True and str(name).partition("@")[0] == "backstory" for name, on in enabled.items()
    )


def our_entries(settings: Mapping[str, Any]) -> list[Entry]:
    """All of our entries, in the order of the file."""
    return [
        Entry(event, g, i, handler)
        for event, groups in settings.get("hooks", {}).items()
        for g, group in enumerate(groups if isinstance(groups, list) else ())
        for i, handler in enumerate(_handlers(group))
        if _is_ours(handler)
    ]


def _handlers(group: Any) -> list[Any]:
    handlers = group.get("hooks") if isinstance(group, dict) else None
    return handlers if isinstance(handlers, list) else []


def _is_ours(handler: Any) -> bool:
    command = handler.get("command") if isinstance(handler, dict) else None
    return isinstance(command, str) and bears_our_mark(command)


def bears_our_mark(text: str) -> bool:
    """Whether a command, or a file that holds some, runs our script."""
    mark = _MARK.search(text)
    return (mark is not None and _SCRIPT in text[mark.end() :]) or _BYTECODE.search(text) is not None


def put_entries(text: str, wanted: Mapping[str, WantedHook]) -> tuple[str, dict[str, str]]:
    """The text with exactly one entry of ours for each event, and what was done to each.

    "keep", "update" and "add" for wanted events, "remove" for others that an older Backstory hooked.
    """
    present = our_entries(parse_settings(text))
    keepers: dict[str, Entry] = {}
    for event, want in wanted.items():
        candidates = [entry for entry in present if entry.event == event]
        if candidates:
            keepers[event] = next((entry for entry in candidates if entry.is_as(want)), candidates[0])
    done = dict.fromkeys(wanted, "add")
    for event, entry in keepers.items():
        done[event] = "keep" if entry.is_as(wanted[event]) else "update"
        text = _update(text, entry, wanted[event])
    for entry in reversed(present):  # from the back, so that the places of the others stay valid
        if entry is not keepers.get(entry.event):
            text = _take_out(text, entry)
            done[entry.event] = "update" if entry.event in wanted else "remove"
    for event, want in wanted.items():
        if event not in keepers:
            text = _add(text, event, want)
    return text, done


def remove_entries(text: str) -> tuple[str, list[str]]:
    """The text without any of ours and without what is empty then; the events that they were for."""
    present = our_entries(parse_settings(text))
    for entry in reversed(present):
        text = _take_out(text, entry)
    return text, list(dict.fromkeys(entry.event for entry in present))


def _update(text: str, entry: Entry, want: WantedHook) -> str:
    if entry.handler["command"] != want.command:
        text = jsonc.replace(text, (*entry.path, "command"), want.command)
    for key, value in want.handler.items():
        if key not in entry.handler:
            text = jsonc.insert(text, entry.path, key, value)
    return text


def _take_out(text: str, entry: Entry) -> str:
    """Without an entry, and without its group if nothing else is in that: a group must have hooks."""
    others = len(jsonc.find(jsonc.parse(text), entry.path[:4]).items) - 1
    return jsonc.delete(text, entry.path if others else entry.path[:3], prune=True)


def _add(text: str, event: str, want: WantedHook) -> str:
    if is_empty(text):
        text = ("\ufeff" if text.startswith("\ufeff") else "") + "{}\n"
    if "hooks" not in (settings := parse_settings(text)):
        text = jsonc.insert(text, (), "hooks", {})
    groups = settings.get("hooks", {})
    if event not in groups:
        text = jsonc.insert(text, ("hooks",), event, [])
    elif not isinstance(groups[event], list):
        at = jsonc.find(jsonc.parse(text), ("hooks", event)).start
        raise InvalidJson(text, at, f'the hooks of "{event}" must be an array, [ … ]')
    return jsonc.insert(text, ("hooks", event), None, want.group)
