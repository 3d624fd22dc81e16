"""The fence: what the hook path may load while an agent waits."""

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import backstory
import backstory.hook
from backstory.hook.patterns import ROWS
from backstory.hook.redact import PATTERNS

from .stage import Agent

PACKAGE = Path(backstory.hook.__file__).parent
MODULES = sorted(path.stem for path in PACKAGE.glob("*.py"))

# `os` costs 1.5 ms with what it loads itself; all the others are built in or a fraction of a millisecond.
CHEAP = {
    "os",
    "sys",
    "time",
    "marshal",
    "_frozen_importlib",
    "_json",
    "_blake2",
    "_signal",
    "_sre",
    "__future__",
}
LOADED_BY_OS = {"stat", "_stat", "_collections_abc", "posixpath", "genericpath", "abc", "_abc"}
# Only when something asks for it: a secret's anchor, a Python without C parts, an odd path, Windows.
WHEN_NEEDED = {
    "redact": {"bisect"},
    "precompiled_patterns": {"re"},
    "payload": {"json", "json.encoder"},
    "windows_paths": {"re"},
    "windows_hook": {"subprocess"},
    "installed": {"backstory"},
}


def imports(module: str, at_once: bool) -> Iterator[str]:
    """The names that a module imports when it is loaded, or later inside its functions."""
    tree = ast.parse((PACKAGE / f"{module}.py").read_text("utf-8"))
    todo: list[tuple[ast.AST, bool]] = [(tree, False)]
    while todo:
        node, deferred = todo.pop()
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.Import) and deferred != at_once:
            yield from (alias.name for alias in node.names)
        if isinstance(node, ast.ImportFrom) and deferred != at_once:
            yield node.module or ""
        inner = isinstance(node, ast.FunctionDef | ast.ExceptHandler)
        todo += [(child, deferred or inner) for child in ast.iter_child_nodes(node)]


@pytest.mark.parametrize("module", MODULES)
def test_a_fenced_module_imports_only_what_is_cheap(module: str) -> None:
    at_once = {name for name in imports(module, True) if not name.startswith("backstory.hook")}
    assert at_once <= CHEAP
    later = {name for name in imports(module, False) if not name.startswith("backstory.hook")}
    assert later <= CHEAP | WHEN_NEEDED.get(module, set())


def test_the_package_itself_imports_nothing() -> None:
    """What `backstory.open` needs it loads when it is called; no hook does."""
    tree = ast.parse(Path(backstory.__file__).read_text("utf-8"))
    for_types = [n for n in tree.body if isinstance(n, ast.If) and ast.unparse(n.test) == "TYPE_CHECKING"]
    when_loaded = [n for n in tree.body if n not in for_types and not isinstance(n, ast.FunctionDef)]
    inside = (node for top in when_loaded for node in ast.walk(top))
    assert not [node for node in inside if isinstance(node, ast.Import | ast.ImportFrom)]


def loaded(*argv: str, data: bytes = b"") -> set[str]:
    """What a Python process imports, by its own account."""
    command = [sys.executable, "-X", "importtime", "-I", "-S", *argv]
    done = subprocess.run(command, input=data, capture_output=True, text=False, check=True)
    lines = done.stderr.decode().splitlines()
    return {line.rpartition("|")[2].strip() for line in lines if line.startswith("import time:")} - {
        "imported package"
    }


SECRETS = "\n".join(row.example for row in ROWS if row.name != "private-key")


@pytest.mark.parametrize("waiting", ["", "Fix the discount", f"Fix <private>it</private>\n{SECRETS}"])
def test_an_answer_loads_only_what_is_cheap(agent: Agent, project: Path, waiting: str) -> None:
    agent.prepare(project, ("decisions", "a decision"))
    if waiting:
        agent.leave("UserPromptSubmit", session_id="one", cwd=str(project), prompt=waiting)
    payload = json.dumps({"session_id": "x", "cwd": str(project)}).encode()
    bundle = str(agent.home / "hook" / "hook.pyc")
    extra = loaded(bundle, "answer", str(agent.home), "claude-code", "SessionStart", data=payload) - loaded(
        "-c", ""
    )
    ours = {name for name in extra if name.split(".")[0] == "backstory"}
    assert extra - ours <= CHEAP | LOADED_BY_OS
    assert ("backstory.hook.redact" in ours) == bool(waiting)
    assert ("backstory.hook.precompiled_patterns" in ours) == ("<private>" in waiting)
    assert "backstory.hook.windows_hook" not in ours
    assert agent.start(project)  # and it does answer


def test_the_bundles_automata_are_those_that_re_would_make(agent: Agent) -> None:
    code = (
        "import marshal, sys\n"
        "space = {'__name__': 'bundle'}\n"
        "exec(marshal.loads(open(sys.argv[1], 'rb').read()[16:]), space)\n"
        "sys.meta_path.insert(0, space['Bundle']())\n"
        "from backstory.hook.precompiled_patterns import automaton\n"
        "from backstory.hook.redact import PATTERNS\n"
        "made = [automaton(pattern) for pattern in PATTERNS]\n"
        "assert 're' not in sys.modules\n"
        "import re\n"
        "print(all(one == re.compile(one.pattern, re.ASCII) for one in made), len(made))"
    )
    argv = [sys.executable, "-I", "-S", "-c", code, str(agent.home / "hook" / "hook.pyc")]
    told = subprocess.run(argv, capture_output=True, text=True, check=True).stdout.split()
    assert told == ["True", str(len(PATTERNS))]


def test_the_bundle_holds_every_module_and_needs_no_installed_package(agent: Agent) -> None:
    code = (
        "import importlib, marshal, sys\n"
        "space = {'__name__': 'bundle'}\n"
        "exec(marshal.loads(open(sys.argv[1], 'rb').read()[16:]), space)\n"
        "sys.meta_path.insert(0, space['Bundle']())\n"
        "print(*[importlib.import_module(name).__name__ for name in space['MODULES']])"
    )
    argv = [sys.executable, "-I", "-S", "-c", code, str(agent.home / "hook" / "hook.pyc")]
    names = subprocess.run(argv, capture_output=True, text=True, check=True).stdout.split()
    wanted = {f"backstory.hook.{module}" for module in MODULES} - {
        "backstory.hook.__init__",
        "backstory.hook.bundle_loader",
    }
    assert set(names) == wanted | {"backstory", "backstory.hook"}
