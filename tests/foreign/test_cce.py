"""code-context-engine's sessions, decisions and summaries come over as they are."""

import json
from pathlib import Path

from tests.cli.memory import Memory

from .reading import events, found, memories
from .stores import DAY, SESSION, Engine


# CCE-71
def test_cce_71_migrating_twice_brings_each_session_once(memory: Memory, engine: Engine) -> None:
    """Marks are kept in our store; the source is not even marked."""
    engine.filled()
    first = memory.json("import", "cce")
    assert (first["new"], first["corrupt"]) == (2, 0)
    before = engine.path.read_bytes()
    assert memory.json("import", "cce")["events"] == 0
    assert memory.json("import", "cce", "--again")["events"] == 0
    assert engine.path.read_bytes() == before


# CCE-72
def test_cce_72_times_are_kept_also_zero_and_rows_say_whence_they_came(
    memory: Memory, engine: Engine
) -> None:
    engine.filled()
    memory.json("import", "cce")
    by_text = {event.text: event.at for event in events(memory)}
    assert by_text["Use pelican queue for mail."] == DAY + 60_000
    assert by_text["Keep ocelot flag."] == 0
    (ocelot,) = memory.json("search", "ocelot flag", "--all")["hits"][:1]
    assert (ocelot["agent"], ocelot["when"]) == ("cce", 0)


# CCE-73
def test_cce_73_rows_are_stored_as_written_in_the_form_of_our_own_and_marked_compressed(
    memory: Memory, engine: Engine
) -> None:
    engine.filled()
    memory.json("import", "cce")
    decisions = {known.text: known for known in memories(memory, "decision")}
    assert decisions["Use pelican queue for mail."].reason == "Cron lost messages."
    assert [known.text for known in memories(memory, "summary")] == ["Made zebra login pass."]
    tools = {event.text: event.tool for event in events(memory, "noted")}
    assert tools["Made zebra login pass."] == "compressed summary"
    assert tools["Keep ocelot flag."] == "compressed decision"
    (area,) = [known for known in memories(memory, "turn") if "Heron" in known.text]
    assert json.loads(area.files) == ["src/mail.py"]


def test_prompts_and_tool_calls_come_with_what_is_left_of_their_payloads(
    memory: Memory, engine: Engine
) -> None:
    engine.filled()
    memory.json("import", "cce")
    assert [event.text for event in events(memory, "prompt")] == ["Make the zebra login pass"]
    run, read = events(memory, "tool")
    assert (run.tool, run.target, run.text) == ("Bash", "make walrus", "walrus made")
    assert (read.tool, read.target, read.text) == ("Read", "", ""), "aged out at its source"


def test_the_project_is_the_folder_that_is_noted_beside_the_database(memory: Memory, engine: Engine) -> None:
    engine.filled()
    (engine.path.parent / "meta.json").write_text(json.dumps({"project_dir": str(memory.project)}))
    memory.json("import", "cce")
    assert memory.json("search", "pelican")["hits"]


def test_a_session_that_gained_its_summary_is_read_again(memory: Memory, engine: Engine) -> None:
    engine.session()
    memory.json("import", "cce")
    engine.run("UPDATE sessions SET rollup_summary = 'Fed tapir.'")
    done = memory.json("import", "cce")
    assert (done["grown"], done["events"]) == (1, 1)
    assert found(memory, "tapir")


def test_a_summary_of_the_first_second_of_1970_is_one(memory: Memory, engine: Engine) -> None:
    engine.session(started=0, rollup_summary="Began.")
    memory.json("import", "cce")
    assert [known.at for known in memories(memory, "summary")] == [0]


def test_another_tools_memory_db_is_left_alone(memory: Memory, tmp_path: Path) -> None:
    import sqlite3

    other = tmp_path / "other"
    other.mkdir()
    db = sqlite3.connect(other / "memory.db")
    db.execute("CREATE TABLE sessions (id)")
    db.commit()
    db.close()
    assert memory.json("import", "cce", "--path", str(other))["new"] == 0


def test_a_row_of_a_session_that_is_gone_is_kept(memory: Memory, engine: Engine) -> None:
    engine.decides("Shelter numbat.", "It rains.", "gone")
    engine.session(SESSION)
    memory.json("import", "cce")
    assert [known.text for known in memories(memory, "decision")] == ["Shelter numbat."]
