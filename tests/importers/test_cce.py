"""code-context-engine's sessions, decisions and summaries come over as they are."""

import json
from pathlib import Path

import pytest

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
    by_text = {event.text.split("\n")[0]: event.at for event in events(memory)}
    assert by_text["Use pelican queue for mail."] == DAY + 60_000
    assert by_text["Keep ocelot flag."] == 0
    (ocelot,) = memory.json("search", "ocelot flag", "--all")["hits"][:1]
    assert (ocelot["agent"], ocelot["when"]) == ("cce", 0)
    for event in memory.json("show", f"cce:{SESSION}")["events"]:
        assert event["origin"] == "migrated"


# CCE-73
def test_cce_73_rows_are_stored_as_written_in_the_form_of_our_own_and_marked_compressed(
    memory: Memory, engine: Engine
) -> None:
    engine.filled()
    memory.json("import", "cce")
    decisions = {known.text: known for known in memories(memory, "decision")}
    assert decisions["Use pelican queue for mail."].reason == "Cron lost messages."
    assert [known.text for known in memories(memory, "summary")] == ["Made zebra login pass."]
    tools = {event.text.split("\n")[0]: event.tool for event in events(memory, "noted")}
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


def test_where_the_engine_has_a_row_from_and_how_it_was_made_is_kept(memory: Memory, engine: Engine) -> None:
    engine.filled()
    memory.json("import", "cce")
    details = {known.text: known.detail for known in memories(memory)}
    assert "Metadata: source manual" in details["Use pelican queue for mail."]
    assert "Metadata: source migrated" in details["Keep ocelot flag."]
    assert "Metadata: tier extractive" in details["Ran flamingo build."]


BARE = {
    "sessions": "id TEXT, project, started_at_epoch, ended_at_epoch, exit_reason, prompt_count, status,"
    " rollup_summary",
    "prompts": "session_id, prompt_number, prompt_text, created_at_epoch",
    "tool_events": "session_id, prompt_number, tool_name, payload_id, created_at_epoch",
    "tool_event_payloads": "id, raw_input, raw_output, size_bytes",
    "turn_summaries": "session_id, prompt_number, summary, tier",
    "decisions": "session_id, decision, reason, source, created_at_epoch",
    "code_areas": "session_id, file_path, description",
}


class BareEngine(Engine):
    """The same without ids and without some of the times."""

    tables = BARE


@pytest.fixture
def bare(memory: Memory) -> BareEngine:
    store = BareEngine(memory.user / ".cce" / "projects" / "shop-bare" / "memory.db")
    start = DAY // 1000
    store.add("sessions", id=SESSION, project="shop", started_at_epoch=start, rollup_summary="Fed zebra.")
    for number in (1, 2, 3):
        at = start + number * 100
        store.add(
            "prompts", session_id=SESSION, prompt_number=number, prompt_text="go on", created_at_epoch=at
        )
        store.add("turn_summaries", session_id=SESSION, prompt_number=number, summary="Went on.", tier="llm")
        for _ in range(2):
            store.add("tool_events", session_id=SESSION, prompt_number=number, tool_name="Bash",
                      created_at_epoch=at + 1)  # fmt: skip
        store.add("decisions", session_id=SESSION, decision=f"Decision {number}.", reason="", source="auto",
                  created_at_epoch=at + 2)  # fmt: skip
        store.add("code_areas", session_id=SESSION, file_path=f"src/{number}.py", description="Heron")
    return store


def test_tables_without_ids_lose_no_row_and_the_dry_run_says_so_before(
    memory: Memory, bare: BareEngine
) -> None:
    dry = memory.json("import", "cce", "--dry-run")
    real = memory.json("import", "cce")
    assert dry["events"] == real["events"] == 2 + 3 * 6
    stored = events(memory)
    assert len(stored) == 20
    assert [event.tool for event in stored].count("Bash") == 6
    again = memory.json("import", "cce", "--again")
    assert again["events"] == 0


def test_a_row_without_a_time_has_that_of_its_prompt_or_its_session(memory: Memory, bare: BareEngine) -> None:
    memory.json("import", "cce")
    turns = [event.at for event in events(memory) if event.text.startswith("Went on.")]
    assert turns == [DAY + 100_000, DAY + 200_000, DAY + 300_000]
    assert {event.at for event in events(memory) if event.text.startswith("Heron")} == {DAY}


def test_a_session_that_ended_later_and_a_reason_that_changed_come_over(
    memory: Memory, engine: Engine
) -> None:
    engine.session()
    engine.decides("Use pelican queue.", "It is there.")
    memory.json("import", "cce")
    engine.run("UPDATE sessions SET ended_at_epoch = ?, exit_reason = 'clear'", DAY // 1000 + 900)
    engine.run("UPDATE decisions SET reason = 'Cron lost messages.'")
    done = memory.json("import", "cce")
    assert (done["grown"], done["events"]) == (1, 2)
    (session,) = memory.json("timeline", "--sessions", "--all")["sessions"]
    assert (session["status"], session["ended"]) == ("ended", DAY + 900_000)
    assert [known.reason for known in memories(memory, "decision")] == ["Cron lost messages."]
    assert memory.json("import", "cce")["grown"] == 0


def test_a_payload_that_aged_out_at_its_source_stays_here(memory: Memory, engine: Engine) -> None:
    engine.filled()
    memory.json("import", "cce")
    engine.run("UPDATE tool_event_payloads SET raw_input = '', raw_output = NULL")
    memory.json("import", "cce", "--again")
    assert "walrus made" in [event.text for event in events(memory, "tool")]


def test_a_note_and_the_memory_of_it_are_one_hit(memory: Memory, engine: Engine) -> None:
    engine.filled()
    memory.json("import", "cce")
    for question, said in (("heron mail sender", "Heron"), ("pelican queue", "pelican")):
        hits = memory.json("search", question, "--all")["hits"]
        assert len([hit for hit in hits if said in hit["text"]]) == 1, hits
