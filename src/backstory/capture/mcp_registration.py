"""Our MCP server in an agent's list of servers, put in and taken out (`Agent.servers` says where it is).

An entry is known as ours by what it starts, not by its name: a server called "backstory" that is something
else stays. Command and home are kept right; whatever else somebody has set on the entry is theirs.
"""

import importlib.util
import json
import os
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import tomlkit
import tomlkit.exceptions
from tomlkit.items import Table

from backstory import jsonc
from backstory.agents.mcp_lists import Launch
from backstory.capture.hook_bundle import MCP_SCRIPT
from backstory.capture.settings_entries import is_empty
from backstory.jsonc import InvalidJson
from backstory.paths import Home

NAME = "backstory"
_MODULE = "backstory.mcp"  # what earlier versions told agents to start
# Without the home's script (the home was deleted) the server starts all the same: no agent is to complain.
_START = """\
import sys
try: code = open(sys.argv[1], "rb").read()
except OSError: code = "import runpy, site; site.main(); runpy.run_module('backstory.mcp', None, '__main__')"
exec(code)"""
_FIXED = ("command", "args", "env", "environment")


def is_there() -> bool:
    """Whether this Backstory has the server."""
    return importlib.util.find_spec(_MODULE) is not None


def server_launch(home: Home) -> Launch:
    """How agents start the server of this home."""
    root = str(home.root.absolute())
    script = str(home.root.absolute() / "hook" / MCP_SCRIPT)
    return Launch(sys.executable, ("-I", "-S", "-c", _START, script), {"BACKSTORY_HOME": root})


# --- text in, text out ------------------------------------------------------------------------------------


def put_server(text: str, keys: tuple[str, ...], entry: Mapping[str, Any], toml: bool) -> tuple[str, str]:
    """The text with our entry in the list at `keys`; "add", "update", "keep", or "taken" by another one."""
    return (_put_toml if toml else _put_json)(text, keys, entry)


def remove_servers(text: str, toml: bool) -> tuple[str, int]:
    """The text without our entries, wherever they are, and how many there were."""
    return (_remove_toml if toml else _remove_json)(text)


def _is_ours(entry: object) -> bool:
    if not isinstance(entry, Mapping):
        return False
    words = [entry.get("command"), entry.get("args")]
    flat = [word for part in words for word in (part if isinstance(part, list) else [part])]
    names = [os.path.basename(word.replace("\\", "/")) for word in flat if isinstance(word, str)]  # noqa: PTH119
    return _MODULE in flat or MCP_SCRIPT in names


def _wrong(entry: Mapping[str, Any], wanted: Mapping[str, Any]) -> Iterator[str]:
    """The keys of our entry that must be written anew."""
    for key in _FIXED:
        have, want = entry.get(key), wanted.get(key)
        if isinstance(want, Mapping) and isinstance(have, Mapping):
            have = {name: have.get(name) for name in want}  # other variables are somebody's own
        if want is not None and have != want:
            yield key


def _put_json(text: str, keys: tuple[str, ...], wanted: Mapping[str, Any]) -> tuple[str, str]:
    if is_empty(text):
        text = ("\ufeff" if text.startswith("\ufeff") else "") + "{}\n"
    found: Any = _value(text)
    for depth, key in enumerate((*keys, NAME)):
        if not isinstance(found, dict):
            what = f'"{".".join(keys[:depth])}"' if depth else "settings"
            at = jsonc.find(jsonc.parse(text), keys[:depth]).start
            raise InvalidJson(text, at, f"{what} must be an object, {{ … }}")
        if key not in found:
            missing = dict(wanted)
            for outer in reversed((*keys, NAME)[depth + 1 :]):
                missing = {outer: missing}
            return jsonc.insert(text, keys[:depth], key, missing), "add"
        found = found[key]
    if not _is_ours(found):
        return text, "taken"
    wrong = list(_wrong(found, wanted))
    for key in wrong:
        old = found.get(key)
        value = {**old, **wanted[key]} if isinstance(old, Mapping) else wanted[key]
        at_entry = (*keys, NAME)
        if key in found:
            text = jsonc.replace(text, (*at_entry, key), value)
        else:
            text = jsonc.insert(text, at_entry, key, value)
    return text, "update" if wrong else "keep"


def _value(text: str) -> Any:
    """What a text says. Claude Code's is large and plain JSON, which is read much faster than JSONC."""
    try:
        return json.loads(text)
    except ValueError:
        return jsonc.parse(text).value


def _remove_json(text: str) -> tuple[str, int]:
    places = [] if is_empty(text) else list(_places(_value(text), ()))
    for place in reversed(places):
        text = jsonc.delete(text, place, prune=True)
    return text, len(places)


def _places(value: object, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for key, inner in value.items() if isinstance(value, dict) else ():
        if key == NAME and _is_ours(inner):
            yield (*path, key)
        else:
            yield from _places(inner, (*path, key))


def _put_toml(text: str, keys: tuple[str, ...], wanted: Mapping[str, Any]) -> tuple[str, str]:
    (key,) = keys
    servers = tomlkit.parse(text).unwrap().get(key, {})
    if NAME not in servers:
        return _append_toml(text, key, wanted), "add"
    if not _is_ours(servers[NAME]):
        return text, "taken"
    wrong = list(_wrong(servers[NAME], wanted))
    document = tomlkit.parse(text)
    for name in wrong:
        document[key][NAME][name] = _table(wanted)[name]
    return (tomlkit.dumps(document), "update") if wrong else (text, "keep")


def _table(wanted: Mapping[str, Any]) -> Table:
    table = tomlkit.table()
    for key, value in wanted.items():
        if isinstance(value, Mapping):
            inline = tomlkit.inline_table()
            inline.update(value)
            table[key] = inline
        else:
            table[key] = value
    return table


def _append_toml(text: str, key: str, wanted: Mapping[str, Any]) -> str:
    """With our table at the end, as text: whatever stands there stays."""
    with_ours = text + _gap(text) + _block(text, key, _table(wanted))
    try:
        tomlkit.parse(with_ours)
    except tomlkit.exceptions.ParseError:  # the servers stand in an inline table, which is closed
        document = tomlkit.parse(text)
        inline = tomlkit.inline_table()
        inline.update(wanted)
        document[key][NAME] = inline
        return tomlkit.dumps(document)
    return with_ours


# A text that ends in a line end gets one after the block too, one that does not gets none: so that taking
# the block out again gives the text back.


def _gap(text: str) -> str:
    return "" if not text else "\n" if text.endswith("\n") else "\n\n"


def _block(text: str, key: str, table: Table) -> str:
    block = tomlkit.dumps({key: {NAME: table}}).strip("\n")
    return block + "\n" if not text or text.endswith("\n") else block


def _remove_toml(text: str) -> tuple[str, int]:
    document = tomlkit.parse(text)
    found = [
        key
        for key, servers in document.unwrap().items()
        if isinstance(servers, dict) and _is_ours(servers.get(NAME))
    ]
    for key in found:
        table = document[key][NAME]
        if isinstance(table, Table):
            for before in ("", "\n", "-"):
                ending = _gap(before) + _block(before, key, table)
                if text == ending or (before and text.endswith(ending)):
                    return text.removesuffix(ending), 1
        del document[key][NAME]
        if not document[key]:
            del document[key]
    return tomlkit.dumps(document) if found else text, len(found)
