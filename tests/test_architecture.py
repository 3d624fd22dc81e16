"""Arrows point one way. The imports of every module are walked, as they stand in the source."""

import ast
import re
from collections import Counter
from pathlib import Path

import backstory

from .tables import walks

ROOT = Path(backstory.__file__).parent

# A module may import from its own layer and from the layers below it; from above, never.
LAYERS = (
    ("cli", "web", "mcp", "team", "worker", "worker_loop", "library", "__main__"),
    ("present",),  # what several surfaces print
    ("doctor",),  # looks at everything, for the surfaces
    (
        "app",
        "knowledge_base",
        "user_notes",
        "supersession",
        "revision",
        "pipeline",
        "session_distillation",
        "delegated_prompts",
        "passage_indexing",
        "model_pass",
    ),
    (
        "recall",
        "search",
        "distil",
        "statements",
        "failure_history",
        "project_checks",
        "knowledge",
        "registry",
        "capture",
        "upkeep",
        "share",
    ),
    ("store", "embed", "llm", "agents", "importers", "git", "hook", "error_lines", "typed_words"),
    ("settings",),
    (
        "model",
        "paths",
        "errors",
        "atomic",
        "file_reader",
        "foreign_database",
        "program_lookup",
        "peers",
        "gzip_pieces",
        "clock",
        "jsonc",
        "failpoints",
        "job_limits",
        "vocabulary",
        "file_mentions",
        "front_matter",
        "plain_prose",
        "attribution",
        "team_wire",
        "orderly_server",
        "team_membership",
        "__init__",
    ),
)
LEVEL = {name: level for level, names in enumerate(reversed(LAYERS)) for name in names}
# What may look upwards, and why.
EXCEPTIONS = {
    ("file_reader", "hook"): "the product opens files as the hook does",
    (
        "__init__",
        "library",
    ): "the package's one function for programs, which loads nothing until it is called",
    ("settings", "hook"): "the sources of a session's start are the hook's own table",
}
SQL = re.compile(
    r"\b(?:SELECT\s+\S+\s+FROM|INSERT\s+(?:OR\s+\w+\s+)?INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM)\b"
)


# What reads other programs' databases, read-only, and so has SQL that is not ours.
FOREIGN_SQL = (
    "agents/opencode_database.py",
    "foreign_database.py",
    "importers/sqlite_tables.py",
    "registry/host_session.py",
)

# The team's server has a database of its own, PostgreSQL, and these are its store.
TEAM_SQL = (
    "team/admission.py",
    "team/burial.py",
    "team/database.py",
    "team/disk_erasure.py",
    "team/embedded_postgres.py",
    "team/migrator.py",
    "team/project_access.py",
    "team/row_pull.py",
    "team/row_purge.py",
    "team/row_push.py",
    "team/row_search.py",
)


def modules() -> list[Path]:
    return sorted(ROOT.rglob("*.py"))


def part(path: Path) -> str:
    """The layer's word for a module: its top folder, or its own name."""
    relative = path.relative_to(ROOT)
    return relative.parts[0] if len(relative.parts) > 1 else relative.stem


def imported(path: Path) -> set[str]:
    """Every part of Backstory that a module imports, wherever in it the import stands."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute here"
            base = node.module or ""
            names = [f"{base}.{alias.name}" if base == "backstory" else base for alias in node.names]
        else:
            continue
        found |= {name.split(".")[1] for name in names if name.startswith("backstory.")}
    return found - {"__version__"}


def test_every_part_has_its_layer() -> None:
    assert {part(path) for path in modules()} <= set(LEVEL)


@walks("path", modules())
def test_arrows_point_one_way(path: Path) -> None:
    own = part(path)
    for other in imported(path) - {own}:
        assert LEVEL[other] <= LEVEL[own] or (own, other) in EXCEPTIONS, f"{own} must not import {other}"


def test_the_parts_below_the_waist_do_not_know_each_others_surfaces() -> None:
    """capture and distil are joined by work, never by each other; recall does not capture."""
    apart = {("distil", "capture"), ("capture", "distil"), ("distil", "store"), ("recall", "distil"),
             ("recall", "capture"), ("search", "capture"), ("search", "distil"), ("agents", "store"),
             ("hook", "agents"), ("store", "agents"), ("agents", "capture"), ("importers", "store"),
             ("store", "importers"), ("web", "cli"), ("mcp", "cli"), ("mcp", "web")}  # fmt: skip
    found = {(part(path), other) for path in modules() for other in imported(path)}
    assert found & apart == set()


@walks("path", modules())
def test_only_the_store_contains_sql(path: Path) -> None:
    if part(path) == "store":
        return
    source = path.read_text("utf-8")
    if path.relative_to(ROOT).as_posix() in TEAM_SQL:
        assert "sqlite3" not in source, "the laptop's memory is not opened there"
        return
    if path.relative_to(ROOT).as_posix() in FOREIGN_SQL:
        assert {found.split()[0] for found in SQL.findall(source)} <= {"SELECT"}
        assert ("import sqlite3" in source) == (path.name == "foreign_database.py"), "one way to open them"
        return
    assert "import sqlite3" not in source
    assert not SQL.search(source)


@walks("path", sorted((ROOT / "hook").glob("*.py")))
def test_the_hook_path_imports_nothing_of_the_product(path: Path) -> None:
    assert imported(path) <= {"hook"}


def test_whoever_asks_git_asks_through_its_boundary() -> None:
    """Who catches git's own error would catch that one alone, and not what nobody thought of."""
    users = [path for path in modules() if part(path) != "git" and "git" in imported(path)]
    assert len(users) >= 3
    for path in users:
        source = path.read_text("utf-8")
        assert "from backstory.git.boundary import ask" in source, path
        assert "Unavailable" not in source, path


def test_raw_payloads_stop_at_the_edge() -> None:
    """Past agents, other memory tools and capture nobody reads an agent's own keys."""
    keys = re.compile(
        r"[\"'](?:tool_input|tool_response|hook_event_name|last_assistant_message|tool_use_id)[\"']"
    )
    for path in modules():
        if part(path) not in (
            "agents",
            "importers",
            "capture",
            "hook",
            "doctor",
        ):  # the doctor plays an agent
            assert not keys.search(path.read_text("utf-8")), path


def test_walking_the_imports_can_fail() -> None:
    """The walk sees imports of both forms, also inside functions."""
    assert {"store", "capture", "recall"} <= imported(ROOT / "pipeline.py")
    assert "model_pass" in imported(ROOT / "worker_loop.py"), "inside a function"
    assert "pipeline" not in imported(ROOT / "app" / "context.py"), "commands leave the work to a worker"
    assert SQL.search((ROOT / "store" / "job_queue.py").read_text("utf-8"))


# Two files of one name are told apart by their folders only: whoever looks for one finds both.
REBUILT = "distil, recall and search are rebuilt, and named anew then"
SAME_NAME = {
    "__init__.py": "Python's own name",
    "__main__.py": "Python's own name",
    "brief.py": REBUILT,
    "excerpt.py": REBUILT,
    "fixes.py": REBUILT,
    "handoff.py": REBUILT,
    "session.py": REBUILT,
}


def test_no_file_name_exists_twice() -> None:
    counted = Counter(path.name for path in modules())
    twice = {name for name, count in counted.items() if count > 1}
    assert twice <= set(SAME_NAME), "choose a name that no other module has"
    assert set(SAME_NAME) <= twice, "take out of the list what is no longer needed"


@walks("path", modules())
def test_only_the_team_server_knows_postgresql(path: Path) -> None:
    """Without the extra nothing of it is imported, whatever else is."""
    source = path.read_text("utf-8")
    if part(path) == "team":
        return
    assert "import psycopg" not in source
    assert "from psycopg" not in source
    top = [node for node in ast.parse(source).body if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {getattr(node, "module", "") or "" for node in top}
    assert not {name for name in names if name.startswith("backstory.team.")}, (
        "it is loaded when it is served"
    )
