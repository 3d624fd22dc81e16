"""What agents have kept themselves comes into the store: each part of it once, as it was, from where it lies."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from backstory import clock, settings
from backstory.agents.history_source import Trail
from backstory.agents.importable_histories import history_of
from backstory.capture.importer import Importer, ImportLine, ImportOptions, ImportTally, trails_of
from backstory.capture.privacy import Privacy
from backstory.capture.project_lookup import ProjectLookup
from backstory.model import Kind, Outcome, SessionStatus
from backstory.settings import Settings
from backstory.upkeep import erasure
from tests.conftest import Git, repository
from tests.story import House, Story

WISH = ImportOptions(user="ada")


class Bringing:
    """Imports Claude Code's history from a folder into a house."""

    def __init__(self, house: House, folder: Path) -> None:
        self.house = house
        self.folder = folder
        self.lines: list[ImportLine] = []

    def __call__(self, dry: bool = False, path: Path | None = None, **wish: object) -> ImportTally:
        self.lines = []
        chosen, _ = settings.load_settings(self.house.home)
        store = self.house.store
        importer = Importer(store, Privacy(chosen), ProjectLookup(store, {}, ()), replace(WISH, **wish), dry)  # type: ignore[arg-type]
        found = trails_of(["claude-code"], path or self.folder)
        return importer.bring(found, self.lines.append, lambda done, of: None)

    def tags(self) -> dict[str, str]:
        return {line.session or line.path.stem: str(line.tag) for line in self.lines}


@pytest.fixture
def elsewhere(tmp_path: Path, project: Path) -> Iterator[House]:
    """A house whose agent writes transcripts while no hook tells us: its spool is nobody's."""
    opened = House(tmp_path / "elsewhere", project)
    opened.home.root.mkdir(mode=0o700)
    yield opened
    opened.close()


@pytest.fixture
def bring(house: House, tmp_path: Path) -> Bringing:
    return Bringing(house, tmp_path / "transcripts")


def worked(story: Story) -> Story:
    story.prompts("fix the login").says("Let me look.").runs("pytest", fails="1 failed: HS256")
    return story.edits("auth.py").runs("pytest", "3 passed").stops("Signed with RS256 now.")


def aged(story: Story, hours: float = 48) -> Story:
    """The file was last written long ago."""
    assert story.transcript is not None
    at = time.time() - hours * 3_600
    os.utime(story.transcript, (at, at))
    return story


def rewritten(story: Story, change: object) -> None:
    assert story.transcript is not None
    rows = [json.loads(line) for line in story.transcript.read_text("utf-8").splitlines()]
    rows = [change(row) for row in rows]  # type: ignore[operator]
    story.transcript.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


# --- what comes in ------------------------------------------------------------------------------------------


# MP-1, MP-10
def test_mp_1_mp_10_a_session_is_imported_in_order_and_its_source_stays_as_it_is(
    elsewhere: House, house: House, bring: Bringing
) -> None:
    """Each output is attached to its call."""
    story = aged(worked(elsewhere.told()))
    assert story.transcript is not None
    before = story.transcript.read_bytes(), story.transcript.stat().st_mtime_ns
    tally = bring()
    assert (tally.new, tally.grown, tally.skipped, tally.errors) == (1, 0, 0, 0)
    assert [
        (e.kind, e.target, e.text, e.outcome) for e in house.events(story) if e.kind is not Kind.TURN_ENDED
    ] == [
        (Kind.PROMPT, "", "fix the login", Outcome.NONE),
        (Kind.SAID, "", "Let me look.", Outcome.NONE),
        (Kind.TOOL, "pytest", "1 failed: HS256", Outcome.FAILED),
        (Kind.TOOL, f"{house.project}/auth.py", "- x = 1\n+ x = 2", Outcome.OK),
        (Kind.TOOL, "pytest", "3 passed", Outcome.OK),
        (Kind.SAID, "", "Signed with RS256 now.", Outcome.NONE),
    ]
    assert (story.transcript.read_bytes(), story.transcript.stat().st_mtime_ns) == before


# MP-14, CM-63, CCE-71
def test_mp_14_cm_63_cce_71_importing_twice_stores_nothing_new(
    elsewhere: House, house: House, bring: Bringing
) -> None:
    story = aged(worked(elsewhere.told()))
    first = bring()
    stored = [(e.id, e.seq, e.turn, e.event) for e in house.stored(story)]
    assert first.events == len(stored)
    again = bring()
    assert (again.new, again.grown, again.skipped, again.events) == (0, 0, 1, 0)
    assert bring(again=True).events == 0
    assert [(e.id, e.seq, e.turn, e.event) for e in house.stored(story)] == stored


# MP-15
def test_mp_15_of_a_session_that_grew_exactly_the_new_part_is_imported(
    elsewhere: House, house: House, bring: Bringing
) -> None:
    story = worked(elsewhere.told())
    bring()
    before = {e.id for e in house.stored(story)}
    story.prompts("and the logout").runs("pytest tests/logout", "ok").stops("Done too.")
    tally = bring()
    assert (tally.new, tally.grown, tally.skipped) == (0, 1, 0)
    assert tally.events == len(house.stored(story)) - len(before)
    assert before < {e.id for e in house.stored(story)}
    assert [e.text for e in house.events(story) if e.kind is Kind.PROMPT] == [
        "fix the login",
        "and the logout",
    ]


def test_a_turn_that_is_still_going_on_comes_in_piece_by_piece(
    elsewhere: House, house: House, bring: Bringing
) -> None:
    story = elsewhere.told()
    story.prompts("go").says("one").says("two")
    bring()
    story.says("three")
    bring()
    story.stops("four")
    bring()
    assert [e.text for e in house.events(story) if e.kind is Kind.SAID] == ["one", "two", "three", "four"]


def test_words_without_ids_are_counted_anew_when_a_history_is_read_again(
    elsewhere: House, house: House, bring: Bringing
) -> None:
    """An older client gives no ids; two equal sentences stay two, however often they are read."""
    story = worked(elsewhere.told()).says("hm").says("hm")
    rewritten(aged(story), lambda row: {k: v for k, v in row.items() if k not in ("promptId", "uuid")})
    bring()
    assert [e.text for e in house.events(story)].count("hm") == 2
    count = len(house.stored(story))
    for _ in range(2):
        bring(again=True)
    assert len(house.stored(story)) == count


@pytest.mark.parametrize("first", ["live", "import"])
def test_live_capture_and_import_meet_in_the_same_rows_whichever_comes_first(
    house: House, bring: Bringing, first: str
) -> None:
    story = house.told()
    worked(story).prompts("next").reads("a.py").says("hm").says("hm?").stops("Done.")
    story.compacts("so far").ends()
    if first == "live":
        house.works()
        kinds = sorted(e.kind for e in house.events(story))
        assert bring().events == 0
    else:
        bring()
        assert house.events(story)
        house.works()
        kinds = sorted(e.kind for e in house.events(story))
    assert kinds.count(Kind.PROMPT) == 2
    assert kinds.count(Kind.TOOL) == 4
    assert kinds.count(Kind.SAID) == 5
    assert kinds.count(Kind.TURN_ENDED) == 2
    assert kinds.count(Kind.COMPACTED) == 1
    assert {e.turn for e in house.stored(story) if e.event.kind is Kind.PROMPT} == {1, 2}


# CCE-73
def test_cce_73_imported_rows_have_the_form_of_live_ones(
    house: House, elsewhere: House, bring: Bringing
) -> None:
    live, past = worked(house.told(session="0" * 8 + "-1111-4111-8111-" + "1" * 12)), worked(elsewhere.told())
    house.works()
    bring()

    def form(story: Story) -> list[object]:
        return [
            (e.kind, e.text, e.action, e.tool, e.target, e.outcome, e.where.cwd, e.recalled)
            for e in house.events(story)
        ]

    assert form(past) == form(live)


# MP-21, CCE-72
def test_mp_21_cce_72_times_are_the_original_ones_also_the_beginning_of_time(
    elsewhere: House, house: House, bring: Bringing
) -> None:
    story = worked(elsewhere.told())
    rewritten(story, lambda row: row | {"timestamp": row["timestamp"].replace("2026", "2025")})
    zero = worked(elsewhere.told())
    rewritten(zero, lambda row: row | {"timestamp": "1970-01-01T00:00:00.000Z"})
    bring()
    assert {clock.day_of(e.at)[:4] for e in house.events(story)} == {"2025"}
    assert clock.day_of(house.row(story).started_at)[:4] == "2025"
    assert {e.at for e in house.events(zero)} == {0}
    assert {e.origin for e in house.events(story)} == {"history"}, "marked as migrated"


# MP-22
def test_mp_22_non_ascii_text_survives_unchanged(elsewhere: House, house: House, bring: Bringing) -> None:
    words = "Größe prüfen 你好 🎉 ‒ naïve ﬁ"
    story = elsewhere.told().prompts(words).runs("echo ü", words).stops(words)
    bring()
    assert [e.text for e in house.events(story) if e.text] == [words, words, words]


# MP-23
def test_mp_23_every_imported_session_names_its_agent_and_who_imported_it(
    elsewhere: House, house: House, bring: Bringing
) -> None:
    past, live = worked(elsewhere.told()), worked(house.told())
    house.works()
    bring()
    assert (house.row(past).agent, house.row(past).imported_by) == ("claude-code", "ada")
    assert house.row(live).imported_by == ""


# MP-24
def test_mp_24_the_project_is_where_it_happened_or_the_one_that_was_chosen(
    elsewhere: House, house: House, bring: Bringing, git: Git, tmp_path: Path
) -> None:
    there = worked(elsewhere.told())
    bring()
    assert house.row(there).project_name == house.project.name
    other = repository(tmp_path / "other", git)
    chosen = ProjectLookup(house.store, {}, ()).project(str(other), 1)
    moved = worked(elsewhere.told())
    bring(project=chosen)
    assert house.row(moved).project_name == "other"


def test_the_project_of_a_folder_that_is_gone_is_the_one_it_had(
    elsewhere: House, house: House, bring: Bringing, tmp_path: Path
) -> None:
    gone = tmp_path / "gone"
    story = worked(elsewhere.told(cwd=gone))
    bring()
    assert house.row(story).project_name == "gone"
    assert house.store.projects.of_place(str(gone)) is not None


# MP-9
def test_mp_9_a_session_is_found_by_its_title_folder_day_and_agent(
    elsewhere: House, house: House, bring: Bringing
) -> None:
    story = worked(elsewhere.told())
    bring()
    house.works()
    for words in (['"login"', '"fix"'], [f'"{house.project.name}"'], ['"claude"']):
        found = house.store.passages.search(words, None, 50)
        headers = [hit for hit in found if hit.kind == "session"]
        assert [hit.owner for hit in headers] == [story.id], words
    assert "fix the login" in headers[0].text
    assert clock.day_of(house.row(story).started_at) in headers[0].text
    house.rebuilds()
    found = house.store.passages.search(['"claude"'], None, 50)
    assert [hit.owner for hit in found if hit.kind == "session"] == [story.id]


# MP-9
def test_mp_9_the_agents_own_title_wins_and_the_session_is_found_by_it(
    elsewhere: House, house: House, bring: Bringing
) -> None:
    story = worked(elsewhere.told())
    assert story.transcript is not None
    last = json.loads(story.transcript.read_text().splitlines()[-1])["uuid"]
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"

    def titled(**row: str) -> None:
        assert story.transcript is not None
        with story.transcript.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")

    titled(type="summary", summary="Somebody else's walrus", leafUuid="another-session")
    bring()
    assert house.row(story).title == "fix the login"
    for row, title in (
        ({"type": "summary", "summary": "Signing tokens", "leafUuid": last}, "Signing tokens"),
        ({"type": "ai-title", "aiTitle": f"Use {token}"}, "Use [redacted:"),
        ({"type": "custom-title", "customTitle": "The quokka login"}, "The quokka login"),
        ({"type": "ai-title", "aiTitle": "Never mind"}, "The quokka login"),
        ({"type": "custom-title", "customTitle": "Not mine", "sessionId": "x"}, "The quokka login"),
    ):
        titled(**row)
        bring()
        house.works()
        assert house.row(story).title.startswith(title), row
    house.works()
    found = house.store.passages.search(['"quokka"'], None, 50)
    assert [(hit.kind, hit.owner) for hit in found] == [("session", story.id)]
    assert house.store.passages.search(['"walrus"'], None, 50) == []


def test_a_title_of_which_something_was_forgotten_does_not_come_back(
    elsewhere: House, house: House, bring: Bringing
) -> None:
    story = worked(elsewhere.told())
    story._line("custom-title", None, customTitle="The quokka login")
    bring()
    house.works()
    what = erasure.plan_erasure(house.home, house.store, erasure.ErasureRequest((), text="quokka"))
    assert set(what.sessions) == {story.id}
    assert not what.reach
    erasure.carry_out(house.home, house.store, what)
    story._line("custom-title", None, customTitle="The quokka login")
    story.prompts("go on").stops("Yes.")
    bring(again=True)
    house.works()
    assert house.row(story).title == "fix the login"
    assert house.store.passages.search(['"quokka"'], None, 50) == []


# MP-11, CM-53
def test_mp_11_cm_53_reasoning_is_kept_and_labelled_but_is_nobodys_words(
    elsewhere: House, house: House, bring: Bringing
) -> None:
    story = elsewhere.told().prompts("choose a database")
    thought = {"type": "thinking", "thinking": "We decided to use Oracle because it is expensive."}
    story._line("assistant", {"role": "assistant", "content": [thought]})
    story._line("progress", None, data={"type": "step-start"})
    story.runs("ls", "x").stops("SQLite it is.").prompts("good").stops("Yes.")
    bring()
    house.works()
    assert [e.text for e in house.events(story) if e.kind is Kind.REASONED] == [thought["thinking"]]
    assert "step-start" not in str(house.events(story))
    memories = house.store.memories.of_session(story.id)
    assert memories
    assert not [memory for memory in memories if "Oracle" in memory.text + memory.detail + memory.reason]
    assert "Oracle" not in house.brief().text


# CM-53
def test_cm_53_what_sub_agents_left_hangs_below_the_session_that_started_them(
    elsewhere: House, house: House, bring: Bringing
) -> None:
    story = elsewhere.told()
    assert story.transcript is not None
    story.prompts("go").uses("Task", {"description": "look around", "prompt": "look"}, "found it").stops(
        "Done."
    )
    child = story.delegates()
    child.transcript = story.transcript.parent / story.session / "subagents" / f"agent-{child.subagent}.jsonl"
    child.runs("ls", "a.py").says("There is a.py.")
    rewritten(child, lambda row: row | {"isSidechain": True, "agentId": child.subagent})
    tally = bring()
    assert tally.errors == 0
    assert house.row(child).parent_id == story.id
    assert [(e.kind, e.text) for e in house.events(child)] == [
        (Kind.TOOL, "a.py"),
        (Kind.SAID, "There is a.py."),
    ]
    assert [e.kind for e in house.events(story)].count(Kind.TOOL) == 1


def handed_over(story: Story) -> Story:
    """A sub-agent that did one thing, in the file that Claude Code gives it."""
    assert story.transcript is not None
    child = story.delegates()
    child.transcript = story.transcript.parent / story.session / "subagents" / f"agent-{child.subagent}.jsonl"
    child.runs("ls", "a.py")
    rewritten(child, lambda row: row | {"isSidechain": True, "agentId": child.subagent})
    return child


def test_mp_16_a_dry_run_counts_short_sub_agents_as_the_real_run_does(
    elsewhere: House, house: House, bring: Bringing
) -> None:
    story = worked(elsewhere.told())
    child = handed_over(story)
    told = bring(dry=True)
    lines = [(line.tag, line.session, line.subagent, line.events) for line in bring.lines]
    assert lines == [("NEW", story.session, "", 7), ("NEW", story.session, child.subagent, 1)]
    real = bring()
    assert (real.new, real.skipped, real.events) == (told.new, told.skipped, told.events) == (2, 0, 8)
    assert [(line.tag, line.session, line.subagent, line.events) for line in bring.lines] == lines


def test_what_a_sub_agent_did_is_told_in_its_parents_story(
    elsewhere: House, house: House, bring: Bringing
) -> None:
    story = worked(elsewhere.told())
    bring()
    house.works()
    assert house.left() == {"done"}
    handed_over(story)
    bring()
    asked = set()
    with house.store.transaction():
        while (job := house.store.jobs.lease(clock.now_ms(), "distil")) is not None:
            asked.add(job.subject)
    assert story.id in asked


def test_a_fork_brings_only_what_happened_after_it_left(
    elsewhere: House, house: House, bring: Bringing
) -> None:
    """The client copies the conversation into the fork's own file, with its times and without a word."""
    first = worked(elsewhere.told())
    fork = elsewhere.told()
    assert first.transcript is not None
    assert fork.transcript is not None
    time.sleep(0.6)
    rows = [json.loads(line) for line in first.transcript.read_text().splitlines()]
    begin = {"type": "queue-operation", "operation": "enqueue", "sessionId": fork.session}
    begin["timestamp"] = time.strftime("%Y-%m-%dT%H:%M:%S.900Z", time.gmtime())
    copies = [row | {"sessionId": fork.session, "promptId": "rewritten"} for row in rows]
    fork.transcript.write_text("".join(json.dumps(row) + "\n" for row in [begin, *copies]))
    time.sleep(1)
    at = time.strftime("%Y-%m-%dT%H:%M:%S.999Z", time.gmtime(time.time() + 1))
    fork.prompts("another way").runs("make", "ok").stops("Other.")
    lines = fork.transcript.read_text().splitlines()
    own = [json.dumps(json.loads(line) | {"timestamp": at}) for line in lines[len(rows) + 1 :]]
    fork.transcript.write_text("\n".join([*lines[: len(rows) + 1], *own]) + "\n")
    bring()
    assert [e.text for e in house.events(fork) if e.kind is Kind.PROMPT] == ["another way"]
    assert [e.text for e in house.events(first) if e.kind is Kind.PROMPT] == ["fix the login"]


def test_what_was_compacted_and_our_own_notes_are_told_apart(
    elsewhere: House, house: House, bring: Bringing
) -> None:
    story = worked(elsewhere.told()).compacts("The login was fixed.")
    story.uses("mcp__backstory__search", {"q": "x"}, "a memory").stops("Ok.")
    bring()
    assert [e.text for e in house.events(story) if e.kind is Kind.COMPACTED] == ["The login was fixed."]
    assert not [e for e in house.events(story) if e.tool.startswith("mcp__backstory")]


# --- what stays out -----------------------------------------------------------------------------------------


# MP-8
def test_mp_8_sessions_that_are_too_short_are_skipped_and_counted(
    elsewhere: House, house: House, bring: Bringing
) -> None:
    short = elsewhere.told().prompts("hi").stops("Hello.")
    silent = elsewhere.told().prompts("one").prompts("two").prompts("three").prompts("four")
    tally = bring()
    assert (tally.new, tally.skipped, tally.events) == (0, 2, 0)
    assert {line.why for line in bring.lines} == {
        "too short (2 messages, --min-messages is 3)",
        "too short (no answer)",
    }
    assert bring().skipped == 2
    assert bring(min_messages=2).new == 1
    assert house.row(short).prompt_count == 1
    assert house.store.events.session(silent.id) is None, "nobody answered"


# MP-12, MP-13
def test_mp_12_mp_13_corrupt_lines_and_records_are_skipped_and_counted(
    elsewhere: House, house: House, bring: Bringing
) -> None:
    story = elsewhere.told().prompts("go").runs("make", "ok")
    assert story.transcript is not None
    with story.transcript.open("ab") as file:
        file.write(b'{"type": "assistant", "message": {"role": "assistant", "content": [{"ty\n')
        file.write(b"\x00\xff\xfe not json at all\n\n[]\n42\n")
        file.write(b'{"type": "user", "message": null}\n{"type": "assistant", "message": {"content": 7}}\n')
        file.write(b'{"type": "from-the-future", "uuid": "x", "novel": {"field": 1}}\n')
    story.says("still here").stops("Done.")
    tally = bring()
    assert (tally.new, tally.errors) == (1, 0)
    assert tally.corrupt == 4
    assert [e.text for e in house.events(story) if e.kind is Kind.SAID] == ["still here", "Done."]


# CM-52
def test_cm_52_a_transcript_that_begins_with_metadata_is_recognised_and_a_stranger_is_not(
    elsewhere: House, bring: Bringing
) -> None:
    story = worked(elsewhere.told())
    assert story.transcript is not None
    head = [{"type": "summary", "summary": f"part {n}", "leafUuid": "x"} for n in range(49)]
    lines = "".join(json.dumps(row) + "\n" for row in head)
    story.transcript.write_text(lines + story.transcript.read_text())
    (bring.folder / "strange.jsonl").write_text('{"kind": "metrics", "value": 3}\n' * 200)
    (bring.folder / "empty.jsonl").write_text("")
    (bring.folder / "notes.txt").write_text("no transcript")
    tally = bring()
    assert (tally.new, tally.skipped, tally.errors) == (1, 0, 0)


# MP-7
def test_mp_7_one_session_only(elsewhere: House, house: House, bring: Bringing) -> None:
    one, two = worked(elsewhere.told()), worked(elsewhere.told())
    tally = bring(session=two.session)
    assert (tally.new, tally.skipped) == (1, 0)
    assert house.store.events.session(one.id) is None
    assert house.events(two)


# MP-5
def test_mp_5_since_looks_at_the_last_update(elsewhere: House, bring: Bringing) -> None:
    old, new = aged(worked(elsewhere.told()), hours=100), aged(worked(elsewhere.told()), hours=1)
    tally = bring(since=clock.now_ms() - 50 * 3_600_000)
    assert (tally.new, tally.skipped) == (1, 1)
    assert bring.tags() == {old.transcript.stem: "SKIP", new.session: "NEW"}  # type: ignore[union-attr]
    (just,) = [line.path for line in bring.lines if line.session == old.session]
    assert bring(since=just.stat().st_mtime_ns // 1_000_000).new == 1, "what was written at that very moment"


def test_ignored_folders_tools_and_files_stay_out(
    elsewhere: House, house: House, bring: Bringing, tmp_path: Path
) -> None:
    house.sets("privacy.ignore_projects", f"{tmp_path}/secret")
    house.sets("privacy.ignore_paths", "*.env")
    house.sets("capture.skip_tools", "Todo*")
    hidden = worked(elsewhere.told(cwd=tmp_path / "secret"))
    story = elsewhere.told().prompts("go").uses("TodoWrite", {"todos": ["x"]}, "ok")
    story.writes("prod.env", "PASSWORD_IS_KEPT_OUT").stops("Done.")
    bring()
    assert house.store.events.session(hidden.id) is None
    assert house.found_in_home("PASSWORD_IS_KEPT_OUT") == []
    assert [e.tool for e in house.events(story) if e.tool] == ["Write"]


def test_no_secret_of_a_history_reaches_the_home(elsewhere: House, house: House, bring: Bringing) -> None:
    """Not when it is cut to an excerpt either: half of a private key is no longer recognised as one."""
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    inner = "".join(f"MIIEvQIBADANBgkqhkiG9w0BAQEFAASC{n:032d}\n" for n in range(60))
    pem = f"-----BEGIN PRIVATE KEY-----\n{inner}-----END PRIVATE KEY-----"
    story = (
        elsewhere.told().prompts(f"use {token}").runs("cat key.pem", pem).runs("env", f"API_TOKEN={token}")
    )
    story.edits("key.pem", "old", pem).writes("key2.pem", "x" * 600 + pem)
    story.uses("Deploy", {"name": "API_KEY", "value": "hunter2hunter2X9"}, "ok")
    story.uses("TodoWrite", {"todos": [{"content": "x" * 5_000}], "password": "correct-horse-7"}, "ok")
    story.stops(f"It is {token}.")
    bring()
    house.works()
    assert len(house.events(story)) > 6
    for secret in (token, "hunter2hunter2X9", "correct-horse-7", "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC"):
        assert house.found_in_home(secret) == [], secret


# --- telling before doing -----------------------------------------------------------------------------------


# MP-16, MP-17
def test_mp_16_mp_17_a_dry_run_changes_nothing_and_tags_every_session(
    elsewhere: House, house: House, bring: Bringing
) -> None:
    old, grown = aged(worked(elsewhere.told())), aged(worked(elsewhere.told()))
    bring()
    grown.prompts("more").stops("Yes.")
    new = worked(elsewhere.told())
    house.close()
    before = house.home.database.read_bytes()
    tally = bring(dry=True)
    assert bring.tags() == {old.transcript.stem: "SKIP", grown.session: "GROWN", new.session: "NEW"}  # type: ignore[union-attr]
    assert (tally.new, tally.grown, tally.skipped) == (1, 1, 1)
    assert {line.session: line.events for line in bring.lines if line.events} == {
        grown.session: 3,
        new.session: 7,
    }
    house.close()
    assert house.home.database.read_bytes() == before
    real = bring()
    assert (real.new, real.grown, real.skipped, real.events) == (1, 1, 1, tally.events)


# MP-19
def test_mp_19_a_store_that_cannot_be_read_makes_everything_new_and_the_real_import_still_stores_once(
    elsewhere: House, house: House, bring: Bringing, monkeypatch: pytest.MonkeyPatch
) -> None:
    story = worked(elsewhere.told())
    bring()
    count = len(house.stored(story))

    def broken(_: object) -> None:
        raise OSError("disk I/O error")

    with monkeypatch.context() as patch:
        patch.setattr(type(house.store.transcript_marks), "all", broken)
        tally = bring(dry=True)
        assert (tally.new, tally.events) == (1, count)
    with house.store.transaction():
        house.store._connection.execute("DELETE FROM transcripts")
    assert bring().events == 0
    assert len(house.stored(story)) == count


# --- ends that nobody wrote ---------------------------------------------------------------------------------


def test_a_call_of_a_dead_session_was_interrupted_and_one_of_a_live_session_waits(
    elsewhere: House, house: House, bring: Bringing
) -> None:
    story = (
        elsewhere.told().prompts("go").runs("make", "ok").says("Now the long one.").runs("sleep 100", "never")
    )
    assert story.transcript is not None
    lines = story.transcript.read_bytes().splitlines(keepends=True)
    story.transcript.write_bytes(b"".join(lines[:-1]))  # its result has not come
    bring()
    assert [e.target for e in house.events(story) if e.kind is Kind.TOOL] == ["make"]
    assert house.row(story).status is SessionStatus.ACTIVE
    aged(story)
    assert bring().grown == 1
    calls = [(e.target, e.outcome) for e in house.events(story) if e.kind is Kind.TOOL]
    assert calls == [("make", Outcome.OK), ("sleep 100", Outcome.INTERRUPTED)]
    assert bring().skipped == 1


def test_a_session_that_hooks_know_to_be_alive_is_not_over_however_long_it_is_silent(
    house: House, bring: Bringing
) -> None:
    story = house.session(transcript=bring.folder / "live.jsonl").starts()
    story.prompts("go").runs("make", "ok").says("Now the long one.")
    house.works()
    story.runs("sleep 100000", "never")
    assert story.transcript is not None
    lines = story.transcript.read_bytes().splitlines(keepends=True)
    story.transcript.write_bytes(b"".join(lines[:-1]))  # its result has not come
    for spooled in house.spooled():
        (house.home.spool / spooled).unlink()
    aged(story)
    bring()
    assert [e.target for e in house.events(story) if e.kind is Kind.TOOL] == ["make"]
    assert house.row(story).status is SessionStatus.ACTIVE


def test_a_session_that_has_long_been_silent_is_over(elsewhere: House, house: House, bring: Bringing) -> None:
    story = aged(worked(elsewhere.told()))
    bring()
    assert house.row(story).status is SessionStatus.ENDED
    assert house.row(story).ended_at == house.events(story)[-1].at


def test_what_was_forgotten_is_not_brought_back(elsewhere: House, house: House, bring: Bringing) -> None:
    story = worked(elsewhere.told())
    with house.store.transaction():
        house.store.tombstones.add("session", [story.id], "forgotten", 1)
    tally = bring()
    assert tally.events == 0
    assert house.store.events.session(story.id) is None


def test_one_history_that_cannot_be_read_does_not_stop_the_others(
    elsewhere: House, house: House, bring: Bringing, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad, good = worked(elsewhere.told()), worked(elsewhere.told())
    history = type(history_of("claude-code").history)
    lines = history.lines

    def failing(self: object, trail: Trail, start: int) -> Iterator[bytes]:
        if trail.session == bad.session:
            raise PermissionError(13, "Permission denied", str(trail.path))
        return lines(self, trail, start)  # type: ignore[arg-type]

    monkeypatch.setattr(history, "lines", failing)
    tally = bring()
    assert (tally.new, tally.errors) == (1, 1)
    assert house.events(good)
    assert [line.why for line in bring.lines if line.failed] != [""]


# --- killed, and going on -----------------------------------------------------------------------------------

_CHILD = """
import sys
from pathlib import Path
from backstory.app import App
from backstory.capture.importer import ImportOptions
from backstory.paths import Home
with App(Home(Path(sys.argv[1]))) as app:
    app.import_history(["claude-code"], ImportOptions(user="ada"), Path(sys.argv[2]),
                       said=lambda line: print(line.tag, flush=True))
"""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_an_import_that_was_interrupted_goes_on_where_it_stopped(
    elsewhere: House, house: House, bring: Bringing, how: signal.Signals
) -> None:
    stories = []
    for _ in range(30):
        story = elsewhere.told()
        for n in range(40):
            story.prompts(f"ask {n}").runs(f"make {n}", "ok").stops(f"Done {n}.")
        stories.append(aged(story))
    child = subprocess.Popen(
        [sys.executable, "-c", _CHILD, str(house.home.root), str(bring.folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert child.stdout is not None
    for _ in range(5):
        assert child.stdout.readline().strip() == b"NEW"
    child.send_signal(how)
    child.wait(30)
    child.stdout.close()
    done = sum(house.store.events.session(story.id) is not None for story in stories)
    assert 5 <= done < 30, "it was interrupted in the middle"
    bring()
    for story in stories:
        assert len(house.stored(story)) == 160
        assert [e.text for e in house.events(story) if e.kind is Kind.PROMPT] == [
            f"ask {n}" for n in range(40)
        ]
    assert bring().skipped == 30


def test_a_long_session_killed_between_two_batches_is_neither_lost_nor_doubled(
    elsewhere: House, house: House, bring: Bringing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("backstory.capture.history_reader.BATCH", 10)
    story = elsewhere.told()
    for n in range(20):
        story.prompts(f"ask {n}").says("same words").runs("make", "ok").stops("same words")
    rewritten(aged(story), lambda row: {k: v for k, v in row.items() if k not in ("promptId", "uuid")})
    transcript_marks = type(house.store.transcript_marks)
    set_mark = transcript_marks.set
    batches = []

    def dying(self: object, *given: object) -> None:
        batches.append(given)
        if len(batches) == 4:
            raise KeyboardInterrupt
        set_mark(self, *given)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(transcript_marks, "set", dying)
        with pytest.raises(KeyboardInterrupt):
            bring()
    assert 0 < len(house.stored(story)) < 60
    assert bring().grown == 1
    kinds = [e.kind for e in house.events(story)]
    assert (kinds.count(Kind.PROMPT), kinds.count(Kind.SAID), kinds.count(Kind.TOOL)) == (20, 40, 20)


# --- afterwards ---------------------------------------------------------------------------------------------


def test_what_was_imported_is_distilled_newest_first(
    elsewhere: House, house: House, bring: Bringing, monkeypatch: pytest.MonkeyPatch
) -> None:
    for hours in (30, 10, 50):
        aged(worked(elsewhere.told()), hours)
    bring()
    order = []
    with house.store.transaction():
        while (job := house.store.jobs.lease(clock.now_ms(), "distil", newest=True)) is not None:
            order.append(house.store.events.session(job.subject))
    ages = [Path(session.transcript).stat().st_mtime for session in order if session]
    assert len(ages) == 3
    assert ages == sorted(ages, reverse=True)


def test_privacy_is_not_asked_about_lines_that_give_no_event(
    elsewhere: House, bring: Bringing, monkeypatch: pytest.MonkeyPatch
) -> None:
    story = worked(elsewhere.told()).reads("big.py", "token = 1\n" * 5_000)
    seen: list[int] = []
    text = Privacy.text
    monkeypatch.setattr(Privacy, "text", lambda self, given: (seen.append(len(given)), text(self, given))[1])  # type: ignore[func-returns-value]
    bring()
    assert story.transcript is not None
    assert seen
    assert max(seen) < 10_000, "a file that was read is no news, and need not be redacted"
    assert Settings().privacy_redact_off == ()


def test_an_imported_session_without_an_end_has_ended_even_if_its_file_was_just_copied(
    elsewhere: House, house: House, bring: Bringing
) -> None:
    story = worked(elsewhere.told())
    rewritten(story, lambda row: {**row, "timestamp": "2026-02-21T10:00:00Z"})
    bring()
    assert house.row(story).status is SessionStatus.ENDED


def test_a_session_that_is_imported_while_it_is_at_work_is_running(
    elsewhere: House, house: House, bring: Bringing
) -> None:
    story = worked(elsewhere.told())
    bring()
    row = house.row(story)
    assert row.state(row.last_at) == "running"


def test_a_dry_run_promises_what_is_stored_even_if_a_history_tells_a_thing_twice(
    elsewhere: House, house: House, bring: Bringing
) -> None:
    story = worked(elsewhere.told())
    assert story.transcript is not None
    whole = story.transcript.read_bytes()
    story.transcript.write_bytes(whole + whole.splitlines(keepends=True)[1])
    promised = bring(dry=True).events
    assert bring().events == promised
