"""The first page of any table or index is lost: a repaired home passes every command, and tells what is missing."""

import random
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from backstory.app import App
from backstory.hook.project_identity import session_id
from backstory.model import LOST
from backstory.store import schema
from backstory.store.records import Injection
from tests.cli.memory import Memory
from tests.story import House

from .test_repair import PAGE

DAY_MS = 86_400_000
# What is not derived from anything else.
KEPT = (
    "projects",
    "sessions",
    "turns",
    "events",
    "payloads",
    "memories",
    "injections",
    "tombstones",
    "counters",
)
GONE, TOLD, LIVE = (
    "00000000-aaaa-4bbb-8ccc-00000000000",
    "11111111-aaaa-4bbb-8ccc-00000000000",
    "22222222-aaaa",
)


def _tables() -> list[str]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        schema.apply_migrations(db, schema.migrations())
        rows = db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0")
        return sorted(name for (name,) in rows if not name.startswith("passage_fts"))


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lived-in home beside its project: old and new sessions, some whose transcripts are gone, a sub-agent."""
    root = tmp_path_factory.mktemp("template")
    project = root / "shop"
    project.mkdir()
    house = House(root / "home", project)
    house.home.root.mkdir(mode=0o700)
    for number in range(3):
        for name, with_file in ((GONE, False), (TOLD, True), (LIVE, True)):
            _session(house, f"{name}{number}", with_file, number)
    child = house.session(session=f"{LIVE}0").delegates()
    child.runs("wc -l", "3").stops("Three lines.")
    house.works()
    with house.store.transaction():
        house.store.briefs.add(
            Injection(session_id("claude-code", f"{LIVE}0"), 1_700_000_000_000, "startup", 9, 3, ("m1",))
        )
    house.close()
    with App(house.home) as app:
        app.remember("We always deploy on Tuesdays", project)
        app.forget(app.wanted([], text="Bluebird"), really=True)
    house.works()
    house.close()
    with closing(sqlite3.connect(house.home.database, isolation_level=None)) as db:
        old = f"SELECT id FROM sessions WHERE native_id LIKE '{GONE}%'"
        db.execute(f"UPDATE events SET at = at - {40 * DAY_MS} WHERE session_id IN ({old})")
        db.execute(
            f"""
            UPDATE sessions SET started_at = started_at - {40 * DAY_MS}, last_at = last_at - {40 * DAY_MS}
            WHERE id IN ({old})
            """
        )
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        db.execute("PRAGMA journal_mode = DELETE")
    for path in (root / "transcripts").glob(f"{GONE}*"):
        path.unlink()
    return root


def _session(house: House, name: str, with_file: bool, number: int) -> None:
    story = house.told(session=name) if with_file else house.session(session=name)
    story.starts().prompts(f"Question {number} of {name} about the blue whale")
    story.runs("pytest", fails="AssertionError: whale").edits("auth.py").runs("pytest", "1 passed")
    story.stops(f"Answer {number}: we use postgres instead of mysql, because it has ranges.")
    story.prompts("The merger is called Bluebird").stops("Noted.")
    if number:
        story.ends()


@pytest.fixture
def memory(template: Path, tmp_path: Path) -> Memory:
    shutil.copytree(template, tmp_path / "lived")
    (tmp_path / "user").mkdir()
    return Memory(tmp_path / "lived" / "home", tmp_path / "lived" / "shop", tmp_path / "user")


def roots(memory: Memory, *names: str) -> list[int]:
    with closing(sqlite3.connect(memory.home / "backstory.db")) as db:
        found = dict(db.execute("SELECT name, rootpage FROM sqlite_master WHERE rootpage > 0"))
    return [found[name] for name in names] if names else list(found.values())


def damage(memory: Memory, *pages: int) -> None:
    with (memory.home / "backstory.db").open("r+b") as file:
        for page in pages:
            file.seek((page - 1) * PAGE)
            file.write(random.Random(page).randbytes(PAGE))
    for end in ("-wal", "-shm"):
        (memory.home / f"backstory.db{end}").unlink(missing_ok=True)


def rows(memory: Memory, query: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(memory.home / "backstory.db")) as db:
        return db.execute(query).fetchall()


def passes_every_command(memory: Memory, folder: Path) -> None:
    handle = rows(memory, "SELECT id FROM sessions WHERE parent_id = '' ORDER BY id LIMIT 1")
    shown = [("show", str(handle[0][0]))] if handle else []
    for words in (
        ("status",),
        ("search", "blue whale", "--all"),
        ("import", "claude-code", "--again", "--path", str(memory.project.parent / "transcripts")),
        ("rebuild",),
        ("backup",),
        ("export", str(folder / "all.jsonl"), "--force"),
        ("cleanup",),
        ("timeline", "--all"),
        *shown,
        ("forget", "--text", "blue whale", "--dry-run"),
        ("scrub", "--dry-run"),
        ("brief",),
        ("repair", "--yes"),
        ("cleanup", "--max-age", "0"),
        ("restore", "--yes"),
    ):
        done = memory.ask(*words)
        assert done.exit_code == 0, (words, done.output)
    assert "integrity" in memory.ask("doctor", "--fix").output
    found = memory.ask("doctor").output
    assert not re.search(
        r"^FAIL +(database|integrity|writable|text index|search|jobs|captured|brief)", found, re.M
    )
    handed = memory.ask("handoff", "--all")
    assert handed.exit_code == 0, handed.output
    for resumed in re.findall(r"--resume (\S+)", handed.output):
        assert not re.fullmatch(r"'?(lost:|s[0-9a-f]{16}).*", resumed), "no agent has issued that"
    house = House(memory.home, memory.project)
    house.works()
    house.close()


def counted(memory: Memory) -> dict[str, int]:
    return {name: int(str(rows(memory, f"SELECT count(*) FROM {name}")[0][0])) for name in KEPT}


def repaired(memory: Memory) -> str:
    """What repair says; it never calls whole what is not."""
    done = memory.ask("repair", "--yes")
    assert done.exit_code == 0, done.output
    assert ("The database is repaired" in done.output) != ("not all of it came back" in done.output)
    assert not rows(memory, "SELECT 1 FROM sessions WHERE native_id = id OR agent = 'unknown'")
    assert rows(memory, "PRAGMA foreign_key_check") == []
    return done.output


@pytest.mark.parametrize("table", ["first page", *_tables()])
def test_a_home_whose_table_lost_its_root_passes_every_command_once_repaired(
    memory: Memory, tmp_path: Path, table: str
) -> None:
    before = counted(memory)
    damage(memory, *([1] if table == "first page" else roots(memory, table)))
    output = repaired(memory)
    now = counted(memory)
    missing = {name for name in KEPT if now[name] < before[name]}
    assert missing <= {table}, "nothing else is lost with it"
    assert not missing or "The database is repaired" not in output
    assert memory.json("status")["sessions"] == 9
    passes_every_command(memory, tmp_path)


@pytest.mark.parametrize("what", ["indexes", "text index"])
def test_lost_indexes_cost_nothing(memory: Memory, tmp_path: Path, what: str) -> None:
    kind = "type = 'index'" if what == "indexes" else "name LIKE 'passage_fts%' AND rootpage > 0"
    names = [str(name) for (name,) in rows(memory, f"SELECT name FROM sqlite_master WHERE {kind}")]
    before = counted(memory)
    damage(memory, *roots(memory, *names))
    assert "The database is repaired" in repaired(memory)
    assert counted(memory) == before
    passes_every_command(memory, tmp_path)


@pytest.mark.parametrize("seed", range(4))
def test_pages_lost_at_random_leave_a_home_that_passes_every_command(
    memory: Memory, tmp_path: Path, seed: int
) -> None:
    """Leaves, nodes and the ends of long rows alike."""
    count = (memory.home / "backstory.db").stat().st_size // PAGE
    damage(memory, *random.Random(seed).sample(range(2, count + 1), 6))
    repaired(memory)
    passes_every_command(memory, tmp_path)


@pytest.mark.parametrize("also", ["", "sqlite_autoindex_sessions_2", "transcripts", "payloads"])
def test_sessions_get_their_own_names_back_from_whatever_still_tells_them(memory: Memory, also: str) -> None:
    what = "id, agent, native_id, cwd, parent_id, title, project_id"
    before = rows(memory, f"SELECT {what} FROM sessions ORDER BY id")
    lost = ["sessions", "sessions_by_native", "sqlite_autoindex_sessions_2"] if also else ["sessions"]
    damage(memory, *roots(memory, *lost, *([also] if also in ("transcripts", "payloads") else [])))
    repaired(memory)
    assert rows(memory, f"SELECT {what} FROM sessions ORDER BY id") == before


def test_a_session_whose_name_is_nowhere_gets_none_and_its_agents_when_that_speaks_again(
    memory: Memory,
) -> None:
    sid = session_id("claude-code", f"{GONE}1")
    with closing(sqlite3.connect(memory.home / "backstory.db")) as db, db:
        db.execute(
            "DELETE FROM payloads WHERE event_row IN (SELECT row FROM events WHERE session_id = ?)", (sid,)
        )
    damage(memory, *roots(memory, "sessions", "sessions_by_native", "sqlite_autoindex_sessions_2"))
    assert memory.ask("repair", "--yes").exit_code == 0
    (name,) = rows(memory, f"SELECT native_id, agent FROM sessions WHERE id = '{sid}'")
    assert name == (f"{LOST}{sid}", "claude-code"), "its memories tell the agent"
    assert "--resume" not in memory.ask("handoff", "--all", "--session", sid).output
    house = House(memory.home, memory.project)
    house.session(session=f"{GONE}1").prompts("And now?")
    house.works()
    house.close()
    assert rows(memory, f"SELECT native_id FROM sessions WHERE id = '{sid}'") == [(f"{GONE}1",)]
