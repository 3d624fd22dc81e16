"""Nobody opens a file but through the one reader, so that no pipe, device or endless line can stop anybody.

The source is walked: whoever calls something that opens a file stands in the list below, with the reason; the
store may, as the database is its own.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import backstory

from .tables import walks

ROOT = Path(backstory.__file__).parent

# What opens a file, called as a function of one of these modules …
MODULES = {
    "os": {"open"},
    "io": {"open", "open_code", "FileIO"},
    "gzip": {"open", "GzipFile"},
    "bz2": {"open", "BZ2File"},
    "lzma": {"open", "LZMAFile"},
    "zipfile": {"ZipFile"},
    "tarfile": {"open", "TarFile"},
    "codecs": {"open"},
    "shutil": {"copy", "copy2", "copyfile", "copytree", "move"},
    "sqlite3": {"connect"},
    "numpy": {"load", "fromfile", "memmap", "loadtxt", "genfromtxt"},
    "mmap": {"mmap"},
    "linecache": {"getline", "getlines"},
    "fileinput": {"input", "FileInput"},
    "configparser": {"read"},
}
# … by its bare name, or as a method of a path.
FUNCTIONS = {"open", "open_code"}
METHODS = {"open", "read_text", "read_bytes"}

WRITES = "writes, or locks, files of its own"
PACKAGE = "reads what is part of the package"
FOREIGN = "another program's database, after `require_database`"
KERNEL = "reads what the kernel tells of this process or its sockets"
ALLOWED = {
    "hook/regular_file.py": "what the reader opens files with",
    "atomic.py": WRITES,
    "worker_loop.py": WRITES,
    "worker.py": WRITES,
    "cli/log_file.py": WRITES,
    "cli/main.py": "the null device, for what is printed",
    "capture/transcript_archive.py": "writes its own copies; unpacks what the reader has opened",
    "capture/hook_bundle.py": PACKAGE,
    "capture/note_payload.py": "syncs what it has just written",
    "hook/__main__.py": WRITES,
    "hook/deferred_brief.py": WRITES,
    "hook/spool.py": WRITES,
    "hook/work_notes.py": WRITES,
    "recall/notes.py": WRITES,
    "recall/ready_answers.py": WRITES,
    "upkeep/event_archive.py": "writes its own archives; unpacks what the reader has opened",
    "upkeep/backups.py": "copies of the database, which are its own",
    "capture/ownership.py": KERNEL,
    "job_limits.py": "its own log; what the kernel tells of this process",
    "peers.py": KERNEL,
    "agents/plugin_events.py": PACKAGE,
    "embed/bert_tokenizer.py": PACKAGE,
    "embed/minilm.py": PACKAGE,
    "embed/onnx_weights.py": PACKAGE,
    "embed/word_rarity.py": PACKAGE,
    "web/routes.py": PACKAGE,
    "team/embedded_postgres.py": WRITES,
    "team/grave_journal.py": WRITES,
    "team/migrator.py": PACKAGE,
    "foreign_database.py": FOREIGN,
}
# Methods that are called so and open no file.
NO_FILES = {"self._store.ledger.open"}


def opening(source: str) -> Iterator[str]:
    """The calls in a module that open a file, as they are written."""
    tree = ast.parse(source)
    modules: dict[str, str] = {}
    functions: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules |= {alias.asname or alias.name: alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                name = alias.asname or alias.name
                if alias.name in MODULES.get(node.module or "", ()):
                    functions[name] = f"{node.module}.{alias.name}"
                elif (node.module or "").startswith("backstory"):
                    modules[name] = ""  # our own module, or something that is no path
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _opens(node.func, modules, functions):
            yield ast.unparse(node.func)


def _opens(called: ast.expr, modules: dict[str, str], functions: dict[str, str]) -> bool:
    if isinstance(called, ast.Name):
        return called.id in functions or (called.id in FUNCTIONS and called.id not in modules)
    if not isinstance(called, ast.Attribute) or ast.unparse(called) in NO_FILES:
        return False
    if isinstance(called.value, ast.Name) and called.value.id in modules:
        return called.attr in MODULES.get(modules[called.value.id], ())
    return called.attr in METHODS


def modules() -> list[Path]:
    return sorted(ROOT.rglob("*.py"))


@walks("path", modules())
def test_only_the_reader_opens_files_that_others_may_have_made(path: Path) -> None:
    if path.parent.name != "store" and path.relative_to(ROOT).as_posix() not in ALLOWED:
        found = list(opening(path.read_text("utf-8")))
        assert not found, "read it with backstory.file_reader"


def test_everybody_in_the_list_still_opens_files() -> None:
    idle = [name for name in ALLOWED if not list(opening((ROOT / name).read_text("utf-8")))]
    assert idle == []


def test_other_programs_databases_are_looked_at_before_sqlite_opens_them() -> None:
    for name, why in ALLOWED.items():
        if why == FOREIGN:
            assert "require_database(" in (ROOT / name).read_text("utf-8"), name


@pytest.mark.parametrize(
    "source",
    [
        "open('x')",
        "path.read_text()",
        "Path(x).read_bytes()",
        "(folder / 'a').open('rb')",
        "import os\nos.open(p, 0)",
        "import gzip as g\ng.open(p)",
        "from gzip import open\nopen(p)",
        "from io import open as o\no(p)",
        "import sqlite3\nsqlite3.connect(p)",
        "from shutil import copyfile\ncopyfile(a, b)",
    ],
)
def test_walking_the_source_sees_every_way_to_open_a_file(source: str) -> None:
    assert list(opening(source))


def test_walking_the_source_lets_the_reader_pass() -> None:
    source = "from backstory import file_reader\nfrom backstory.capture import written_files\n"
    assert not list(opening(source + "file_reader.read_text(p)\nwritten_files.read_text(p)\nread_bytes(p)"))
