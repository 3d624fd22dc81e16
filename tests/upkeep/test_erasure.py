"""Forgetting is complete, and stays."""

import gzip
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from backstory.app import App
from backstory.capture import written_files
from backstory.capture.transcript_archive import copy_of
from backstory.cli import cli
from backstory.errors import UsageError
from backstory.hook import deferred_brief
from backstory.model import Draft, MemoryKind, Tier
from tests.conftest import Git, repository
from tests.story import House, Story

from .conftest import lived


def everywhere(house: House, words: str) -> list[str]:
    """Files of the home that have the words, apart from backups; in any case, also compressed in the database."""
    found = [place for place in house.found_in_home(words) if not place.startswith("backups/")]
    return [place for place in found if place]


@pytest.mark.parametrize("words", ["blue whale", 'say "cheese" \\ now', "Grüße 世界"])
def test_after_forgetting_a_text_no_byte_of_it_is_left(house: House, app: App, words: str) -> None:
    lived(house, words)
    kept = lived(house, "red panda")
    house.close()
    done = app.forget(app.wanted([], text=words), really=True)
    assert done.reach.events
    assert done.reach.memories
    app.close()
    assert everywhere(house, words) == []
    assert "panda" in house.brief().text
    assert house.events(kept)
    with closing(sqlite3.connect(house.home.database)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        db.execute("INSERT INTO passage_fts (passage_fts) VALUES ('integrity-check')")


def test_a_brief_that_waits_for_a_prompt_is_forgotten_as_well(house: House, app: App) -> None:
    lived(house)
    assert deferred_brief.hold_brief(
        str(house.home.root), "gemini", "The user asked: “Grüße, blue whale”", {}
    )
    app.forget(app.wanted([], text="blue whale"), really=True)
    assert deferred_brief.take_brief(str(house.home.root), "gemini") == ("", {})


def test_what_a_forgotten_session_goes_on_to_say_is_shown_to_nobody(house: House, app: App) -> None:
    story = house.session().prompts("the merger is called Bluebird").stops("Noted.")
    house.works()
    assert "Bluebird" in house.brief().text
    house.close()
    app.forget(app.wanted([story.id]), really=True)
    story.prompts("Bluebird closes in May")
    assert "Bluebird" not in house.brief().text
    house.works()
    assert "Bluebird" not in house.brief().text


def test_a_dry_run_lists_what_would_go_and_changes_nothing(house: House, app: App) -> None:
    story = lived(house)
    before = app.status()
    plan = app.forget(app.wanted([], text="blue whale"), really=False)
    assert {stored.id for stored in house.stored(story) if "whale" in stored.event.text} <= plan.reach.events
    assert plan.sessions == {story.id: house.row(story).project_id}
    assert app.status() == before


def test_forgetting_a_session_takes_its_sub_agents_and_nothing_else(house: House, app: App) -> None:
    story = house.session()
    story.starts().prompts("Look at the blue whale")
    story.delegates().runs("cat whale.txt", "the whale is blue").ends()
    story.stops("It is blue.").ends()
    house.works()
    other = lived(house, "red panda")
    house.close()
    done = app.forget(app.wanted([story.id]), really=True)
    assert story.id in done.reach.sessions
    app.close()
    assert everywhere(house, "whale") == []
    assert house.events(other)


def test_forgetting_a_memory_takes_the_events_that_it_rests_on(house: House, app: App) -> None:
    story = lived(house)
    [decision] = [m for m in house.store.memories.of_session(story.id) if m.kind is MemoryKind.DECISION]
    app.forget(app.wanted([decision.id]), really=True)
    left = {stored.id for stored in house.stored(story)}
    assert not left & set(decision.sources)
    assert left
    house.rebuilds()
    assert house.store.memories.memory(decision.id) is None


def test_a_memory_that_is_named_is_buried_itself_and_one_that_only_goes_along_is_not(
    house: House, app: App
) -> None:
    """Whoever still has a copy of it, such as an archive or a restored backup, must not bring it back."""
    story = lived(house)
    [decision] = [m for m in house.store.memories.of_session(story.id) if m.kind is MemoryKind.DECISION]
    plan = app.forget(app.wanted([decision.id]), really=True)
    assert house.store.tombstones.of_kind("memory") == {decision.id}
    assert len(plan.reach.memories) > 1


def test_a_decision_whose_successor_is_forgotten_is_in_force_again(house: House, app: App) -> None:
    older, newer = house.session(), house.session()
    for story, choice in ((older, "mysql"), (newer, "postgres instead of mysql")):
        story.starts().prompts(f"We decided to use {choice} for the session store because it is quick.")
        story.runs("make", "ok").stops("Done.").ends()
        house.works()

    def in_force() -> list[str]:
        return [m.text for s in (older, newer) for m in house.store.memories.of_session(s.id)
                if m.kind is MemoryKind.DECISION]  # fmt: skip

    assert in_force() == ["We decided to use postgres instead of mysql for the session store"]
    app.forget(app.wanted([newer.id]), really=True)
    assert in_force() == ["We decided to use mysql for the session store"]


def test_words_take_what_has_them_and_nothing_else(house: House, app: App) -> None:
    """A summary has words of every prompt: that one of them is forgotten does not take the others along."""
    story = house.session()
    story.starts().prompts("Count the blue whales").stops("Twelve.")
    story.prompts("Feed the red panda").runs("feed panda", "fed").stops("Fed.").ends()
    house.works()
    app.forget(app.wanted([], text="blue whale"), really=True)
    assert [e.text for e in house.events(story) if e.kind == "prompt"] == ["Feed the red panda"]
    assert "red panda" in house.brief().text
    app.close()
    assert everywhere(house, "blue whale") == []


def test_no_hook_and_no_transcript_brings_it_back(
    house: House, app: App, project: Path, tmp_path: Path
) -> None:
    story = house.told()
    story.starts().prompts("The blue whale", prompt_id="p1").runs("ls", "blue whale", tool_use_id="t1")
    story.stops("There is a blue whale.").ends()
    house.works()
    spooled = [(event, json.dumps(payload)) for event, payload in story_payloads(story)]
    app.forget(app.wanted([], text="blue whale"), really=True)
    for event, data in spooled:
        house.leaves(data.encode(), event)
    with Path(house.row(story).transcript).open("a") as transcript:
        transcript.write("\n")
    story.stops()
    house.works()
    app.close()
    assert everywhere(house, "blue whale") == []


def story_payloads(story: object) -> list[tuple[str, dict[str, object]]]:
    """What the hooks of the story above would send if they were run once more."""
    payload = story.payload  # type: ignore[attr-defined]
    return [
        ("UserPromptSubmit", payload("UserPromptSubmit", prompt="The blue whale", prompt_id="p1")),
        (
            "PostToolUse",
            payload(
                "PostToolUse",
                tool_name="Bash",
                tool_input={"command": "ls"},
                tool_response={"stdout": "blue whale"},
                tool_use_id="t1",
            ),
        ),
    ]


def test_a_job_that_was_under_way_does_not_resurrect_it(house: House, app: App) -> None:
    """Forget racing an in-flight job: the drafts were made before, and come after."""
    story = lived(house)
    row = house.row(story)
    sources = tuple(stored.id for stored in house.stored(story) if "whale" in stored.event.text)
    draft = Draft(MemoryKind.LESSON, "whale", "the blue whale is missing", row.last_at, sources)
    app.forget(app.wanted([], text="blue whale"), really=True)
    with app.store.transaction():
        app.store.memories.replace(row, [draft], Tier.MODEL, "late")
        app.store.memories.add(row, draft, Tier.MODEL, "late")
    app.close()
    assert everywhere(house, "blue whale") == []


def test_what_waits_in_the_spool_and_in_quarantine_goes_too(house: House, app: App) -> None:
    lived(house, "red panda")
    house.leaves(b'{"session_id": "x", "prompt": "the blue whale', "UserPromptSubmit")
    house.works()
    assert everywhere(house, "blue whale")
    house.session().starts().prompts("the blue whale once more")
    app.forget(app.wanted([], text="blue whale"), really=True)
    app.close()
    assert everywhere(house, "blue whale") == []


def test_a_time_range_and_a_pattern_forget_what_they_name(house: House, app: App) -> None:
    story = lived(house, "ticket ABC-123")
    app.forget(app.wanted([], pattern=r"[A-Z]{3}-\d{3}"), really=True)
    assert not [e for e in house.events(story) if "ABC-123" in e.text + e.target]
    app.forget(app.wanted([], since=0), really=True)
    assert app.status().events == 0


def test_a_project_is_forgotten_but_may_go_on(house: House, app: App) -> None:
    story = lived(house)
    app.forget(app.wanted([], project_id=house.row(story).project_id), really=True)
    assert app.status().projects == 0
    again = lived(house, "red panda")
    assert house.events(again)
    assert "panda" in house.brief().text


def test_a_text_in_a_project_or_a_time_is_forgotten_there_only(
    house: House, app: App, tmp_path: Path, git: Git
) -> None:
    here = lived(house)
    elsewhere = House(house.home.root, repository(tmp_path / "zoo", git))
    there = lived(elsewhere)
    elsewhere.close()
    app.forget(app.wanted([], text="blue whale", project_id=house.row(there).project_id), really=True)
    assert not [e for e in house.events(there) if "whale" in e.text + e.target]
    assert len([e for e in house.events(here) if "whale" in e.text + e.target]) > 1
    assert [m for m in house.store.memories.of_session(here.id) if "whale" in m.text]
    app.forget(app.wanted([], text="blue whale", until=house.row(here).started_at), really=True)
    assert [e for e in house.events(here) if "whale" in e.text + e.target]


def test_backups_and_the_agents_own_files_are_named_as_out_of_reach(house: House, app: App) -> None:
    story = house.told()
    story.starts().prompts("The blue whale").stops("Yes, a blue whale.")
    house.works()
    backup = app.back_up().path
    plan = app.forget(app.wanted([story.id]), really=True)
    assert plan.backups == (backup,)
    assert plan.out_of_reach == (story.transcript and str(story.transcript),)


def test_every_copy_that_may_still_have_it_is_named(house: House, app: App) -> None:
    """What a repair set aside and what a killed backup left have it, too, not only the backups in the list."""
    lived(house)
    house.close()
    backup = app.back_up().path
    aside = app.repair().kept
    part = house.home.backups / "20261116T000000Z-by-hand.1.part"
    part.write_bytes(b"the blue whale")
    plan = app.forget(app.wanted([], text="blue whale"), really=True)
    app.close()
    assert set(plan.backups) == {backup, aside, part}
    named = tuple(str(path.relative_to(house.home.root)) for path in plan.backups)
    assert house.found_in_home("blue whale"), "or this test proves nothing"
    assert all(place.startswith(named) for place in house.found_in_home("blue whale"))


def test_what_was_deleted_before_is_erased_with_it(house: House, app: App) -> None:
    """What a distilling of earlier replaced still lies in free pages, from before anything was to be erased."""
    lived(house)
    house.close()
    with closing(sqlite3.connect(house.home.database, isolation_level=None)) as db:
        db.execute("PRAGMA secure_delete = OFF")
        db.execute("INSERT INTO meta VALUES ('once', ?)", ("the first blue whale " * 2_000,))
        db.execute("DELETE FROM meta WHERE key = 'once'")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert b"the first blue whale" in house.home.database.read_bytes()
    app.forget(app.wanted([], text="blue whale"), really=True)
    app.close()
    assert everywhere(house, "blue whale") == []


def test_what_replaces_the_database_and_was_never_finished_goes(house: House, app: App) -> None:
    lived(house)
    left = [
        house.home.root / name for name in ("restoring.db", "restoring.db-wal", "building-x/backstory.db-wal")
    ]
    left[2].parent.mkdir()
    for path in left:
        path.write_bytes(b"compressed, perhaps")
    done = app.forget(app.wanted([], text="blue whale"), really=True)
    assert set(left) <= set(done.files)
    assert not any(path.exists() for path in left)
    assert not left[2].parent.exists()


def test_words_that_stand_in_settings_too_are_named_and_those_files_stay(house: House, app: App) -> None:
    """Without them nobody knows which agents are connected, which files were agreed to, or what was set."""
    lived(house, "claude-code")
    house.sets("privacy.ignore_projects", '["/srv/claude-code"]')
    written_files.state_file(house.home).write_text('{"sites": ["claude-code"]}')
    house.home.confirmed.write_text('{"/srv/claude-code": "x"}')
    plan = app.forget(app.wanted([], text="claude-code"), really=True)
    files = {house.home.settings, written_files.state_file(house.home), house.home.confirmed}
    assert set(plan.needed) == files
    assert all(file.exists() for file in files)


def test_of_a_forgotten_project_no_path_is_left(house: House, app: App) -> None:
    """Agents put the folder's name into the path of their transcripts."""
    story = house.told()
    story.starts().prompts("Look around").stops("Looked.").ends()
    house.works()
    project = house.row(story).project_id
    house.close()
    assert story.transcript is not None
    assert house.found_in_home(story.transcript.name)
    app.forget(app.wanted([], project_id=project), really=True)
    app.close()
    assert house.found_in_home(story.transcript.name) == []


def test_words_that_only_the_kept_transcript_has_are_found_there(house: House, app: App) -> None:
    """An agent also writes down what becomes no event."""
    story = house.told()
    story.prompts("Look around").says("Hm.")
    assert story.transcript is not None
    with story.transcript.open("a") as file:
        file.write(
            json.dumps({"type": "system", "content": "the blue whale", "sessionId": story.session}) + "\n"
        )
    story.stops("Looked.")
    house.works()
    house.close()
    copy = copy_of(house.home, story.id)
    assert b"blue whale" in gzip.decompress(copy.read_bytes())
    plan = app.forget(app.wanted([], text="blue whale"), really=True)
    assert list(plan.sessions) == [story.id]
    assert not copy.exists()


@pytest.mark.parametrize("words", ["", "a", "  b "])
def test_a_text_that_would_match_everything_is_refused(app: App, words: str) -> None:
    if words.strip():
        with pytest.raises(UsageError, match="too short"):
            app.forget(app.wanted([], text=words), really=False)


def test_a_broken_pattern_is_explained(app: App) -> None:
    with pytest.raises(UsageError, match="no regular expression"):
        app.forget(app.wanted([], pattern="("), really=False)


def test_a_session_counts_the_events_that_it_still_has(house: House, app: App) -> None:
    story = lived(house)
    kept = lived(house, "red panda")
    before = house.row(kept).event_count
    app.forget(app.wanted([], text="blue whale"), really=True)
    assert house.row(story).event_count == len(house.events(story)) > 0
    assert house.row(kept).event_count == before


def test_every_file_that_would_go_or_change_is_named_before_and_no_other(house: House, app: App) -> None:
    """Kept transcripts and prepared briefs, too: `--dry-run` and `--json` list everything."""
    story = house.told()
    story.starts().prompts("Count the blue whale").stops("One blue whale.").ends()
    lived(house, "red panda")
    assert deferred_brief.hold_brief(str(house.home.root), "gemini", "brief", {})
    copy = copy_of(house.home, story.id)
    assert copy.exists()
    before = files_of(house)
    plan = app.forget(app.wanted([], text="blue whale"), really=False)
    assert copy in plan.files
    app.forget(app.wanted([], text="blue whale"), really=True)
    after = files_of(house)
    gone = {path for path, data in before.items() if after.get(path) != data}
    named = {*plan.files, *plan.pages, *plan.archives}
    assert gone <= named
    assert all(path in before for path in named)


def files_of(house: House) -> dict[Path, bytes]:
    """Every file of the home but the database, the logs and locks."""
    skipped = ("backstory.db", "worker", "logs", "spool")
    return {
        path: path.read_bytes()
        for path in house.home.root.rglob("*")
        if path.is_file() and not str(path.relative_to(house.home.root)).startswith(skipped)
    }


FINDING = "the ferret ledger balances only after the second import"


def retold(house: House, gone: Story) -> Story:
    """Another session, in which we told of the first: by an injected brief, and by a command's output."""
    [memory, *_] = house.store.memories.of_session(gone.id)
    house.close()
    other = house.told()
    other.starts().prompts("Count the pandas")
    assert other.transcript is not None
    brief = (
        f'<backstory-notes from="earlier">\nThe user asked: “{FINDING}” ({memory.id[:9]})\n</backstory-notes>'
    )
    plain = f"<backstory-notes>\nThe user asked: “{FINDING[:40]}…”\n</backstory-notes>"
    with other.transcript.open("a") as file:
        for text in (brief, plain):
            row = {"type": "attachment", "attachment": {"content": text}, "sessionId": other.session}
            file.write(json.dumps(row) + "\n")
    listed = f"2026-11-02 claude-code\n  The user asked: {FINDING[:40].upper()}…"
    other.runs("backstory search ledger", f"{memory.id[:9]}  {FINDING}").runs("backstory brief", listed)
    other.stops("Twelve pandas.").ends()
    house.works()
    return other


def words_in(path: Path) -> str:
    return gzip.decompress(path.read_bytes()).decode().casefold()


@pytest.mark.parametrize("by", ["session", "memory", "time"])
def test_what_we_told_another_session_of_it_goes_along(house: House, app: App, by: str) -> None:
    gone = house.session().starts().prompts(f"Remember that {FINDING}").stops("I see.").ends()
    house.works()
    memories = house.store.memories.of_session(gone.id)
    until = house.row(gone).last_at + 1
    other = retold(house, gone)
    copy = copy_of(house.home, other.id)
    assert FINDING in words_in(copy)
    assert [e for e in house.events(other) if "ferret ledger" in e.text.casefold()]
    house.close()
    wanted = {
        "session": app.wanted([gone.id]),
        "memory": app.wanted([m.id for m in memories]),
        "time": app.wanted([], until=until),
    }[by]
    plan = app.forget(wanted, really=False)
    assert plan.copies == (copy,)
    assert other.id not in plan.sessions, "it loses nothing of its own"
    app.forget(wanted, really=True)
    assert "ferret ledger" not in words_in(copy)
    assert "twelve pandas" in words_in(copy)
    assert [e.text for e in house.events(other) if e.kind == "prompt"] == ["Count the pandas"]
    app.close()
    house.close()
    assert everywhere(house, "ferret ledger") == []
    other.prompts("Once more").stops("Thirteen.")
    house.works()
    assert "thirteen" in words_in(copy)


def test_what_others_said_in_the_same_words_is_theirs(house: House, app: App) -> None:
    gone = house.session().starts().prompts(f"Remember that {FINDING}").stops("I see.").ends()
    again = house.told().starts().prompts(f"Remember that {FINDING}").stops("I see.").ends()
    house.works()
    app.forget(app.wanted([gone.id]), really=True)
    assert [e.text for e in house.events(again) if e.kind == "prompt"] == [f"Remember that {FINDING}"]
    assert FINDING in words_in(copy_of(house.home, again.id))


def test_words_that_only_a_project_is_called_by_are_told_and_how_to_forget_it(
    house: House, app: App, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(house.project, "remote", "add", "origin", "https://example.org/gigasecret/zoo.git")
    lived(house)
    house.close()
    plan = app.forget(app.wanted([], text="gigasecret"), really=False)
    assert not plan
    [name] = plan.projects
    monkeypatch.setenv("BACKSTORY_HOME", str(house.home.root))
    told = CliRunner().invoke(cli, ["forget", "--text", "gigasecret", "--dry-run"])
    assert f"`backstory forget --project {name}`" in told.output
    assert "nothing of that kind" not in told.output
    assert CliRunner().invoke(cli, ["forget", "--project", name, "--yes"]).exit_code == 0
    assert everywhere(house, "gigasecret") == []
