"""What holds for every tool that one can switch from; each is walked with a store that has everything in it."""

import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from backstory.app import App
from backstory.importers.importer_table import FOREIGN
from backstory.paths import Home
from tests.cli.memory import Memory

from .stores import ClaudeMem, Engine, Palace

SECRET = "ghp_" + "Z8xQ2vN5kLm3Rt7YpWc1Jh9GdFb4SaUe6Xo0"  # made up


def claude_mem(memory: Memory) -> Path:
    store = ClaudeMem(memory.user / ".claude-mem" / "claude-mem.db")
    store.filled()
    store.observes(f"The key is {SECRET}", 96)
    return store.path


def cce(memory: Memory) -> Path:
    store = Engine(memory.user / ".cce" / "projects" / "shop" / "memory.db")
    store.filled()
    store.decides(f"Use the key {SECRET}", "it works")
    return store.path


def mempalace(memory: Memory) -> Path:
    store = Palace(memory.user / ".mempalace" / "palace" / "chroma.sqlite3")
    store.filled()
    store.drawer(f"the key is {SECRET}")
    return store.path


def memoria(memory: Memory) -> Path:
    daily, concepts = memory.project / "daily", memory.project / "knowledge" / "concepts"
    daily.mkdir()
    concepts.mkdir(parents=True)
    (daily / "2026-01-05.md").write_text(
        f"# Daily Log: 2026-01-05\n\n## Sessions\n\n### Session (10:00)\n\nzebra walrus, key {SECRET}\n"
    )
    (concepts / "birds.md").write_text(
        "---\ntitle: Birds\nupdated: 2026-01-04\n---\n# Birds\n\nflamingo, pelican\n"
    )
    return memory.project


def memory_md(memory: Memory) -> Path:
    folder = memory.user / ".claude" / "projects" / "-nowhere-shop" / "memory"
    folder.mkdir(parents=True)
    (folder / "MEMORY.md").write_text(f"# Notes\n\n## Birds\n\n- flamingo, pelican\n- the key is {SECRET}\n")
    (folder / "user_role.md").write_text(
        "---\nname: role\ndescription: rides a zebra\ntype: user\n---\nAlso a walrus.\n"
    )
    return folder


MAKERS: dict[str, Callable[[Memory], Path]] = {
    "claude-mem": claude_mem,
    "cce": cce,
    "mempalace": mempalace,
    "memoria": memoria,
    "memory-md": memory_md,
}
WORDS = ("zebra", "walrus", "flamingo", "pelican")


def looks(place: Path) -> dict[str, tuple[int, str]]:
    """Every file of a store with its time and its bytes."""
    files = [place] if place.is_file() else sorted(p for p in place.rglob("*") if p.is_file())
    if place.is_file():
        files = sorted(place.parent.glob(f"{place.name}*"))
    return {str(f): (f.stat().st_mtime_ns, hashlib.sha256(f.read_bytes()).hexdigest()) for f in files}


def test_every_tool_is_walked() -> None:
    assert MAKERS.keys() == FOREIGN.keys()


@pytest.fixture(params=MAKERS)
def tool(request: pytest.FixtureRequest) -> str:
    return str(request.param)


# MP-14
def test_mp_14_everything_comes_over_is_found_and_comes_once(tool: str, memory: Memory) -> None:
    MAKERS[tool](memory)
    first = memory.json("import", tool)
    assert first["new"] > 0
    assert (first["errors"], first["corrupt"], first["unknown"]) == (0, 0, 0)
    for word in WORDS:
        hits = memory.json("search", word, "--all")["hits"]
        assert hits, word
        assert {hit["agent"] for hit in hits} == {tool}
    before = memory.json("status")
    again = memory.json("import", tool)
    assert (again["new"], again["grown"], again["events"]) == (0, 0, 0)
    thorough = memory.json("import", tool, "--again")
    assert (thorough["new"], thorough["grown"], thorough["events"]) == (0, 0, 0)
    after = memory.json("status")
    assert {k: after[k] for k in ("events", "memories")} == {k: before[k] for k in ("events", "memories")}


# MP-1
def test_mp_1_the_source_is_not_touched(tool: str, memory: Memory) -> None:
    place = MAKERS[tool](memory)
    before = looks(place)
    assert memory.ask("import", tool).exit_code == 0
    assert looks(place) == before


# MP-16, MP-18
def test_mp_16_mp_18_a_dry_run_tells_and_stores_nothing(tool: str, memory: Memory) -> None:
    MAKERS[tool](memory)
    dry = memory.json("import", tool, "--dry-run")
    assert not (memory.home / "backstory.db").exists()
    real = memory.json("import", tool)
    assert (dry["new"], dry["events"]) == (real["new"], real["events"])
    assert memory.json("import", tool, "--dry-run")["new"] == 0


def test_secrets_do_not_come_over(tool: str, memory: Memory) -> None:
    MAKERS[tool](memory)
    assert memory.ask("import", tool).exit_code == 0
    for path in memory.home.rglob("*"):
        if path.is_file():
            assert SECRET.encode() not in path.read_bytes(), path
    assert SECRET not in memory.ask("export").output


# MP-23
def test_mp_23_what_came_over_says_whence_and_who_brought_it(tool: str, memory: Memory) -> None:
    MAKERS[tool](memory)
    memory.json("import", tool, "--user", "ada")
    with closing(sqlite3.connect(memory.home / "backstory.db")) as db:
        assert db.execute("SELECT DISTINCT agent, imported_by FROM sessions").fetchall() == [(tool, "ada")]
        assert db.execute("SELECT DISTINCT origin FROM events").fetchall() == [("migrated",)]
        made = db.execute("SELECT DISTINCT agent, said_by, made_by, tier FROM memories").fetchall()
    assert made in ([(tool, tool, tool, "T0")], []), "nobody else has said or seen it"
    assert (made == []) == (tool == "mempalace"), "what lies in drawers is found, and no memory"


def test_a_rebuild_makes_the_same_memories(tool: str, memory: Memory) -> None:
    MAKERS[tool](memory)
    memory.json("import", tool)

    def memories() -> list[tuple[object, ...]]:
        with closing(sqlite3.connect(memory.home / "backstory.db")) as db:
            return db.execute("SELECT * FROM memories ORDER BY id").fetchall()

    before = memories()
    with App(Home(memory.home)) as app:
        app.rebuild()
    assert memories() == before
    assert memory.json("search", "flamingo", "--all")["hits"]


def test_the_user_is_never_said_to_have_said_it(tool: str, memory: Memory) -> None:
    MAKERS[tool](memory)
    memory.json("import", tool, "--project", str(memory.project))
    brief = memory.ask("brief").stdout
    assert "The user" not in brief
    assert "Told to remember" not in brief
    if tool != "mempalace":
        assert f"· {tool}]" in brief


# MP-24
def test_mp_24_it_can_be_put_into_one_project(tool: str, memory: Memory) -> None:
    MAKERS[tool](memory)
    memory.json("import", tool, "--project", "zoo")
    hits = memory.json("search", "flamingo", "--all")["hits"]
    assert {hit["project"] for hit in hits} == {"zoo"}


# MP-3
def test_mp_3_a_tool_that_is_not_here_ends_in_two(tool: str, memory: Memory) -> None:
    if tool == "memoria":
        assert "nothing" in memory.ask("import", tool).stderr
        return
    done = memory.ask("import", tool)
    assert done.exit_code == 2
    assert "--path" in done.stderr


def test_what_is_not_named_is_not_brought_in(tool: str, memory: Memory) -> None:
    MAKERS[tool](memory)
    assert memory.json("import")["new"] == 0


@pytest.mark.parametrize("tool", ["claude-mem", "cce", "mempalace"])
def test_a_name_that_several_projects_have_is_none_of_theirs(
    tool: str, memory: Memory, tmp_path: Path
) -> None:
    """These tools tell no more than a name; with one project of that name it would be that one."""
    for number in (1, 2):
        folder = tmp_path / f"place{number}" / "shop"
        folder.mkdir(parents=True)
        memory.hook("UserPromptSubmit", session=f"s{number}", prompt="hello", prompt_id="p", cwd=str(folder))
    memory.caught_up()
    MAKERS[tool](memory)
    memory.json("import", tool)
    with closing(sqlite3.connect(memory.home / "backstory.db")) as db:
        theirs = {row[0] for row in db.execute("SELECT project_id FROM sessions WHERE agent = ?", (tool,))}
        others = {row[0] for row in db.execute("SELECT project_id FROM sessions WHERE agent != ?", (tool,))}
    assert len(others) == 2
    assert theirs
    assert not theirs & others


WRITES = {
    "claude-mem": "INSERT INTO observations (memory_session_id, project, type, title, created_at, created_at_epoch)"
    " VALUES ('m-x', 'shop', 'change', 'a hummingbird', '', 1767607200000)",
    "cce": "INSERT INTO decisions (decision, reason, created_at_epoch, created_at) VALUES ('a hummingbird', '', 1, '')",
    "mempalace": "UPDATE embedding_metadata SET string_value = 'a hummingbird' WHERE key = 'chroma:document'",
}
WRITER = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute(sys.argv[2])
db.commit()
print(flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("index", [True, False], ids=["by a living writer", "and its index is gone"])
@pytest.mark.parametrize("tool", WRITES)
# MP-1
def test_mp_1_a_log_that_is_not_folded_in_is_read_and_left_alone(
    tool: str, index: bool, memory: Memory, tmp_path: Path
) -> None:
    path = MAKERS[tool](memory)
    words = [sys.executable, "-c", WRITER, str(path), WRITES[tool]]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        assert Path(f"{path}-wal").stat().st_size > 0
        if not index:
            for suffix in ("", "-wal"):
                shutil.copy2(f"{path}{suffix}", tmp_path / f"{path.name}{suffix}")
            path = tmp_path / path.name
        before = looks(path)
        assert len(before) == 2 + index
        memory.json("import", tool, "--path", str(path))
        assert looks(path) == before
        writer.communicate()
    assert memory.json("search", "hummingbird", "--all")["hits"]


def test_an_unknown_column_is_left_out_and_counted(memory: Memory, claude_mem: ClaudeMem) -> None:
    claude_mem.run("ALTER TABLE observations ADD COLUMN mood TEXT")
    claude_mem.session()
    claude_mem.observes("a tapir", mood="glad")
    claude_mem.observes("an okapi")
    found = memory.json("import", "claude-mem")
    assert (found["unknown"], found["corrupt"], found["new"]) == (1, 0, 1)
    assert "1 line had something" in memory.ask("import", "claude-mem", "--again").stderr


def test_a_database_that_cannot_be_read_is_named_and_the_rest_comes_over(
    memory: Memory, claude_mem: ClaudeMem
) -> None:
    claude_mem.filled()
    broken = claude_mem.path.parent / "older" / "claude-mem.db"
    broken.parent.mkdir()
    broken.write_bytes(b"this is no database at all")
    done = memory.ask("import", "claude-mem")
    assert done.exit_code == 4
    assert "no SQLite database" in done.stdout
    assert "1 new" in done.stdout


def test_a_damaged_database_is_named(memory: Memory, claude_mem: ClaudeMem) -> None:
    claude_mem.filled()
    data = bytearray(claude_mem.path.read_bytes())
    data[4096 : 4096 * 3] = os.urandom(4096 * 2)
    claude_mem.path.write_bytes(data)
    done = memory.ask("import", "claude-mem")
    assert done.exit_code == 2, "nothing of this source could be read"
    assert str(claude_mem.path) in done.output.replace("\n", "")


def test_json_has_the_contract_of_every_import(tool: str, memory: Memory) -> None:
    MAKERS[tool](memory)
    found = memory.json("import", tool)
    assert {"new", "grown", "skipped", "events", "errors"} <= found.keys()
    assert all(row["agent"] == tool for row in found["sessions"])
    json.dumps(found)
