"""What the hooks run, kept in the home: the script, the compiled fenced package, the settings it needs.

Hooks must work while Backstory itself is being upgraded, from any folder and without a PATH, so nothing of
the installed package is used at hook time: `hook.sh` names the home, the interpreter and the like of `cat`
absolutely, `hook.pyc` holds all the code. A stamp of what they were made from says when to make them again:
install and every worker ask, so an upgraded Backstory or interpreter is taken over by itself.
"""

import _sre  # type: ignore[import-not-found]
import array
import contextlib
import hashlib
import importlib.util
import json
import marshal
import os
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from backstory.agents import AGENTS
from backstory.atomic import make_private_dir, write_own
from backstory.embed import WEIGHTS
from backstory.file_reader import read_bytes
from backstory.hook import agent_facts
from backstory.hook.hook_command import quote_sh
from backstory.hook.pending_events import TELLS_NOTHING
from backstory.hook.redact import PATTERNS
from backstory.hook.spool import RECEIPT

_PACKAGE = Path(__file__).resolve().parent.parent
_LAUNCHER = "backstory.hook.bundle_loader"
_AUTOMATA = "backstory.hook.precompiled_patterns"
# where systems keep `cat`, `grep` and the like; the last two: NixOS, Termux
_TOOLS = ("/bin", "/usr/bin", "/run/current-system/sw/bin", "/data/data/com.termux/files/usr/bin")
_FACTS = "backstory.hook.agent_facts"
_INSTALLED = "backstory.hook.installed"
#: What agents start as the MCP server: it finds the package where it lay, else where the interpreter says.
MCP_SCRIPT = "backstory_mcp.py"
_MCP = """\
import sys

sys.path[:0] = [{folder}]
try:
    from backstory.mcp.handshake import main
except ImportError:
    del sys.path[0]
    import site

    site.main()
    from backstory.mcp.handshake import main
sys.exit(main())
"""
_UNCHECKED_HASH = (1).to_bytes(4, "little") + bytes(8)  # a .pyc that never looks for its source


def hook_files_current(home: Path, python: str = sys.executable) -> bool:
    """Whether `home/hook` is what this Backstory would write for that interpreter."""
    folder = home / "hook"
    script = _script(home, python)
    made_from = _stamp(_sources(), script)
    same = _read(folder / "stamp") == made_from and _read(folder / "hook.sh") == script
    return same and _read(folder / MCP_SCRIPT) == _mcp_script() and (folder / "hook.pyc").exists()


def write_hook_files(home: Path, python: str = sys.executable) -> bool:
    """Bring `home/hook` up to date; True if anything was written. `python` is of this process's version."""
    _keep_spare(home / "hook")
    if hook_files_current(home, python):
        return False
    folder = home / "hook"
    sources = _sources()
    script = _script(home, python)
    for private in (home, folder, home / "spool", home / "logs", home / "briefs"):
        make_private_dir(private)
    write_own(folder / "hook.pyc", _bundle(sources))
    write_own(folder / "hook.sh", script, 0o700)
    write_own(folder / MCP_SCRIPT, _mcp_script())
    _keep_spare(folder)
    write_own(folder / "stamp", _stamp(sources, script))  # last: what is not finished is made again
    return True


def _keep_spare(folder: Path) -> None:
    """An empty file that a hook renames to its mark where no inode is left for a new one."""
    with contextlib.suppress(OSError):
        os.close(os.open(folder / "spare", os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def write_hook_settings(home: Path, settings: Mapping[str, Any]) -> bool:
    """Hand the answering hook its settings; True if they changed."""
    data = json.dumps(settings, ensure_ascii=False, sort_keys=True).encode()
    path = home / "hook" / "settings.json"
    if _read(path) == data:
        return False
    make_private_dir(path.parent)
    write_own(path, data)
    return True


def _package_folders() -> list[str]:
    """Where this package lies, and what search by meaning needs; a hook starts without site-packages."""
    found = {str(_PACKAGE.parent): None}
    for name in ("numpy", WEIGHTS):
        spec = importlib.util.find_spec(name)
        for folder in (spec.submodule_search_locations or ()) if spec else ():
            found[str(Path(folder).parent)] = None
    return list(found)


def _read(path: Path) -> bytes:
    try:
        return read_bytes(path)
    except OSError:
        return b""


def _sources() -> dict[str, bytes]:
    """The fenced modules by name."""
    found = {"backstory": (_PACKAGE / "__init__.py").read_bytes()}
    for path in sorted((_PACKAGE / "hook").glob("*.py")):
        name = "backstory.hook" if path.stem == "__init__" else f"backstory.hook.{path.stem}"
        found[name] = path.read_bytes()
    return found


def _stamp(sources: Mapping[str, bytes], script: bytes) -> bytes:
    made_from = hashlib.blake2b(importlib.util.MAGIC_NUMBER + script, digest_size=16)
    made_from.update(repr((agent_facts.FACTS, _package_folders())).encode())
    for name, source in sources.items():
        made_from.update(b"\0" + name.encode() + b"\0" + source)
    return made_from.hexdigest().encode() + b"\n"


def _bundle(sources: Mapping[str, bytes]) -> bytes:
    """The launcher with all other modules inside, as one .pyc; docstrings stay behind."""
    sources = {
        **sources,
        _AUTOMATA: _with_automata(sources[_AUTOMATA]),
        _FACTS: _with_facts(sources[_FACTS]),
        _INSTALLED: _with_folders(sources[_INSTALLED]),
    }
    modules = {
        name: marshal.dumps(_compile(source, name)) for name, source in sources.items() if name != _LAUNCHER
    }
    filled = sources[_LAUNCHER].decode().replace("MODULES: dict[str, bytes] = {}", f"MODULES = {modules!r}")
    code = _compile(filled.encode(), _LAUNCHER)
    return importlib.util.MAGIC_NUMBER + _UNCHECKED_HASH + marshal.dumps(code)


def _with_facts(source: bytes) -> bytes:
    """The module with what the agents' table says."""
    empty = 'FACTS: "dict[str, Facts]" = {}'
    return source.decode().replace(empty, f"FACTS = {agent_facts.FACTS!r}").encode()


def _with_folders(source: bytes) -> bytes:
    """The module with where the installed package and its libraries lie."""
    return source.decode().replace("FOLDERS: list[str] = []", f"FOLDERS = {_package_folders()!r}").encode()


def _with_automata(source: bytes) -> bytes:
    """The module with what `re` makes of our patterns; as it is where `re` does not tell."""
    try:
        codes = {
            pattern: (made.flags, made.groups, _codes(pattern, made.flags))
            for pattern in PATTERNS
            for made in (re.compile(pattern, re.ASCII),)
        }
    except (AttributeError, TypeError):
        return source
    text = source.decode().replace("MADE_FOR = (0, 0)", f"MADE_FOR = {(_sre.MAGIC, _sre.CODESIZE)!r}")
    text = text.replace("CODES: dict[str, tuple[int, int, bytes]] = {}", f"CODES = {codes!r}")
    return text.encode()


def _codes(pattern: str, flags: int) -> bytes:
    parser, compiler = re._parser, re._compiler  # type: ignore[attr-defined]
    return array.array("I", compiler._code(parser.parse(pattern, flags), flags)).tobytes()


def _compile(source: bytes, name: str) -> Any:
    return compile(source, f"<{name}>", "exec", dont_inherit=True, optimize=2)


def _script(home: Path, python: str) -> bytes:
    """The hook script with this machine's paths in it."""
    values = {
        "@HOME@": str(home.absolute()),
        "@PYTHON@": python,
        "@CAT@": _tool("cat"),
        "@GREP@": _tool("grep"),
        "@MKDIR@": _tool("mkdir"),
        "@LN@": _tool("ln"),
        "@MV@": _tool("mv"),
    }
    hooks = [hook for agent in AGENTS.values() for hook in agent.hooks]
    text = (_PACKAGE / "hook" / "hook.sh").read_text("utf-8")
    text = text.replace("@ANSWERING@", _alternatives(hook.name for hook in hooks if hook.answers))
    text = text.replace(
        "@WAKING@", _alternatives(hook.name for hook in hooks if hook.wakes and not hook.answers)
    )
    text = text.replace("@DELIVERING@", _alternatives(hook.name for hook in hooks if hook.delivers))
    text = text.replace("@SILENT@", _alternatives(f"*.{name}.*" for name in TELLS_NOTHING))
    text = text.replace("@RECEIPT@", RECEIPT)
    for note in ("prompt", "before", "after"):
        named = (f"{a.name}.{hook.name}" for a in AGENTS.values() for hook in a.hooks if hook.note == note)
        text = text.replace(f"@{note.upper()}@", _alternatives(named))
    for placeholder, value in values.items():
        text = text.replace(placeholder, quote_sh(value))
    return os.fsencode(text)


def _mcp_script() -> bytes:
    return _MCP.format(folder=ascii(str(_PACKAGE.parent))).encode()


def _alternatives(names: Iterable[str]) -> str:
    """The pattern of a shell's `case` that stands for these event names."""
    return " | ".join(sorted(set(names)))


def _tool(name: str) -> str:
    """A command's absolute path where systems keep it: whatever the PATH is now, all later hooks run it."""
    for folder in _TOOLS:
        if os.access(f"{folder}/{name}", os.X_OK):
            return f"{folder}/{name}"
    return f"/bin/{name}"
