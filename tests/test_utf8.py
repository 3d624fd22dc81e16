"""Texts are UTF-8 wherever they are read or written, whatever the machine's own encoding is."""

import ast
from pathlib import Path

import backstory

from .tables import walks

ROOT = Path(backstory.__file__).parent
_TEXT_CALLS = {"read_text", "write_text"}


def unsaid(source: str) -> list[int]:
    """The lines where a text file is opened, read or written without saying how it is encoded."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        keywords = {keyword.arg for keyword in node.keywords}
        if name in _TEXT_CALLS:
            said = "encoding" in keywords or len(node.args) > (1 if name == "write_text" else 0)
        elif name == "open":
            mode = _mode(node)
            said = "encoding" in keywords or mode is None or "b" in mode
        else:
            continue
        if not said:
            found.append(node.lineno)
    return found


def _mode(node: ast.Call) -> str | None:
    """The mode in which `open(path)` or `path.open()` opens; None for an `open` of something else."""
    given = [arg.value if isinstance(arg, ast.Constant) else None for arg in node.args]
    if isinstance(node.func, ast.Attribute):
        return (str(given[0]) if isinstance(given[0], str) else None) if given else "r"
    return str(given[1]) if len(given) > 1 else "r"


@walks("path", sorted(ROOT.rglob("*.py")))
def test_every_text_file_is_utf8_explicitly(path: Path) -> None:
    """CCE-78"""
    assert unsaid(path.read_text("utf-8")) == []


def test_the_walk_can_fail() -> None:
    """CCE-78: what says nothing about its encoding is found."""
    assert unsaid("Path('x').read_text()\nopen('x')\nPath('x').write_text('y')") == [1, 2, 3]
    assert unsaid("Path('x').read_text('utf-8')\nopen('x', 'rb')\nPath('x').open(encoding='utf-8')") == []
