"""How memories stand today: in force or history, fresh or overtaken by their files."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from backstory.app import App, MemoryView
from backstory.model import Act, Memory, MemoryKind, MemoryStatus
from backstory.recall.freshness import Freshness, _Tree
from tests.story import CLOCK, House

Git = Callable[..., str]

REDIS = "We decided to use Redis for the job queue because it is fast."
POSTGRES = "We decided to use Postgres for the job queue instead of Redis because one service less is better."


def decides(house: House, words: str) -> None:
    house.session().starts().prompts(words).stops("Understood.").ends()
    house.works()


def decisions(house: House) -> dict[str, Memory]:
    """Every decision of the project by a word of it, history too."""
    listed = house.store.memories.listed([MemoryKind.DECISION], list(MemoryStatus), None, None, 50)
    return {
        name: memory for memory in listed for name in ("Postgres", "Redis", "pytest") if _chose(memory, name)
    }


def _chose(memory: Memory, name: str) -> bool:
    return f"use {name}" in memory.text


# --- supersession --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("older", "newer", "gone"),
    [
        (
            "Let's use RabbitMQ for the event bus because ops runs it.",
            "Switch from RabbitMQ to NATS for the event bus, RabbitMQ's memory alarms killed us twice.",
            "use RabbitMQ",
        ),
        ("Let's use npm because everybody has it.", "Use pnpm instead of npm.", "use npm"),
        (
            "We decided to sign tokens with RS256 because the partner must verify without our secret.",
            "actually let's sign tokens with EdDSA instead of RS256, keys are smaller",
            "sign tokens with RS256",
        ),
        (
            "We decided to use RabbitMQ for the event queue because the ops team already runs it.",
            "Let's switch the queue to NATS JetStream, RabbitMQ is going away",
            "use RabbitMQ",
        ),
        (
            "We decided to keep sessions in Redis because it is fast.",
            "Sessions go into Postgres now, we drop Redis.",
            "keep sessions in Redis",
        ),
    ],
)
def test_a_task_that_opens_a_session_and_gives_something_up_makes_it_history(
    house: House, older: str, newer: str, gone: str
) -> None:
    decides(house, older)
    assert gone in house.brief().text
    decides(house, newer)
    (history,) = house.store.memories.listed([MemoryKind.DECISION], [MemoryStatus.SUPERSEDED], None, None, 9)
    assert gone in history.text


def test_a_newer_decision_on_the_same_matter_makes_the_older_one_history(house: House) -> None:
    decides(house, REDIS)
    assert "use Redis" in house.brief().text
    decides(house, POSTGRES)
    found = decisions(house)
    assert found["Redis"].status is MemoryStatus.SUPERSEDED
    assert found["Postgres"].status is MemoryStatus.CANDIDATE
    rows = [row.text for row in house.brief().rows if row.section == "decisions"]
    assert len(rows) == 1
    assert "use Postgres" in rows[0]
    assert "[before: " in rows[0], "the brief says what held before"


def test_history_is_found_and_shown_with_what_took_its_place(house: House) -> None:
    decides(house, REDIS)
    decides(house, POSTGRES)
    found = decisions(house)
    old, new = found["Redis"].id, found["Postgres"].id
    house.close()
    with App(house.home) as app:
        answer = app.search("which database is the job queue in, Redis?", None)
        assert {hit.label for hit in answer.hits if old in (hit.id, *hit.also)} == {
            f"superseded by {new[:9]}"
        }
        assert {hit.label for hit in answer.hits if new in (hit.id, *hit.also)} == {""}
        shown = app.show(old)
        assert isinstance(shown, MemoryView)
        assert (shown.replaced_by, shown.label) == (new, f"superseded by {new[:9]}")
        now = app.show(new)
        assert isinstance(now, MemoryView)
        assert now.replaced == (old,)


def test_history_is_told_after_what_took_its_place(house: House) -> None:
    decides(house, REDIS)
    decides(house, POSTGRES)
    found = decisions(house)
    with App(house.home) as app:
        for question in ("which job queue do we use", "why redis for the job queue"):
            ids = [hit.id for hit in app.search(question, None, floor=False).hits]
            assert ids.index(found["Postgres"].id) < ids.index(found["Redis"].id), question


def test_what_only_repeats_a_replaced_decision_is_history_with_it(house: House) -> None:
    house.session().starts().prompts(REDIS).stops("Agreed: Redis for the job queue.").ends()
    house.session().starts().prompts(POSTGRES).stops("Done: Postgres for the job queue.").ends()
    house.works()
    new = decisions(house)["Postgres"].id
    with App(house.home) as app:
        hits = app.search("job queue", None).hits
    labels = {hit.text: hit.label for hit in hits}
    assert labels["Agreed: Redis for the job queue."] == f"superseded by {new[:9]}"
    assert labels["Done: Postgres for the job queue."] == ""
    texts = [hit.text for hit in hits]
    assert texts.index("Done: Postgres for the job queue.") < texts.index("Agreed: Redis for the job queue.")


def test_a_rebuild_comes_to_the_same(house: House) -> None:
    decides(house, REDIS)
    decides(house, POSTGRES)
    before = {name: (memory.id, memory.status) for name, memory in decisions(house).items()}
    house.rebuilds()
    assert {name: (memory.id, memory.status) for name, memory in decisions(house).items()} == before
    assert house.store.supersessions.newer_than(before["Redis"][0]) == before["Postgres"][0]


def test_when_the_newer_one_is_rejected_the_older_one_is_in_force_again(house: House) -> None:
    decides(house, REDIS)
    decides(house, POSTGRES)
    new = decisions(house)["Postgres"].id
    house.close()
    with App(house.home) as app:
        app.judge(new, Act.REJECT)
    decides(house, "We decided to use pytest for the unit tests because it is short.")
    assert decisions(house)["Redis"].status is MemoryStatus.CANDIDATE


def test_what_a_person_confirmed_or_restored_is_never_made_history(house: House) -> None:
    decides(house, REDIS)
    decides(house, POSTGRES)
    old = decisions(house)["Redis"].id
    house.close()
    with App(house.home) as app:
        app.judge(old, Act.RESTORE)
    decides(house, "We decided to use pytest for the unit tests because it is short.")
    decides(house, "We decided to use nose for the unit tests instead of pytest because we know it.")
    assert decisions(house)["Redis"].status is MemoryStatus.CANDIDATE
    house.rebuilds()
    assert decisions(house)["pytest"].status is MemoryStatus.SUPERSEDED
    assert decisions(house)["Redis"].status is MemoryStatus.CANDIDATE


def test_decisions_of_two_projects_do_not_meet(house: House, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    house.session(cwd=other).starts().prompts(REDIS).stops("Understood.").ends()
    decides(house, POSTGRES)
    assert decisions(house)["Redis"].status is MemoryStatus.CANDIDATE


# --- freshness -----------------------------------------------------------------------------------------------


@pytest.fixture
def lesson(house: House, git: Git) -> Memory:
    """What a session learned about reader.py, which was committed after it."""
    reader = house.project / "reader.py"
    reader.write_text("SEPARATOR = ','\n")
    story = house.session().starts().prompts("Make the reader pass")
    story.runs("python check.py", fails="Exit code 1\nAssertionError: separator is wrong here")
    story.edits("reader.py", "';'", "','").runs("python check.py", "ok").stops("Done.").ends()
    house.works()
    earlier = time.time() - 30
    os.utime(reader, (earlier, earlier))
    git(house.project, "add", ".")
    git(house.project, "commit", "--quiet", "--message=The reader")
    (found,) = house.store.memories.listed([MemoryKind.LESSON], list(MemoryStatus), None, None, 5)
    assert found.files == ("reader.py",)
    return found


def later(file: Path) -> None:
    """The file was touched an hour after everything that has happened."""
    at = CLOCK.tick() / 1e9 + 3_600
    os.utime(file, (at, at))


def label(house: House, memory: Memory) -> str:
    return Freshness(house.store).of(memory)


def test_what_was_committed_after_the_session_and_not_touched_since_is_fresh(
    house: House, lesson: Memory
) -> None:
    assert label(house, lesson) == "fresh"


def test_a_file_that_was_edited_since_is_changed(house: House, lesson: Memory) -> None:
    (house.project / "reader.py").write_text("SEPARATOR = '|'\n")
    later(house.project / "reader.py")
    assert label(house, lesson) == "changed since"


def test_a_file_that_was_edited_and_committed_since_is_changed(house: House, lesson: Memory) -> None:
    (house.project / "reader.py").write_text("SEPARATOR = '|'\n")
    later(house.project / "reader.py")
    commits_later(house)
    assert label(house, lesson) == "changed since"


def test_a_clone_touches_everything_and_changes_nothing(house: House, lesson: Memory) -> None:
    later(house.project / "reader.py")
    assert label(house, lesson) == "fresh"


def test_a_file_that_is_not_there_is_gone(house: House, lesson: Memory) -> None:
    (house.project / "reader.py").unlink()
    assert label(house, lesson) == "gone"


@pytest.mark.parametrize(
    "name",
    [
        "the reader.py",
        "lésé.py",
        'say "hi".py',
        "日本.py",
        "tab\there.py",
        "sub dir/ö.py",
        " led.py",
        "a -> b.py",
    ],
)
@pytest.mark.parametrize("within", ["", "packages/shop"], ids=["top", "folder"])
def test_a_file_with_any_name_is_seen_to_be_edited_and_not_to_be(
    house: House, git: Git, name: str, within: str
) -> None:
    root = house.project / within
    file = root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("one\n")
    git(house.project, "add", ".")
    git(house.project, "commit", "--quiet", "--message=All")
    later(file)
    now = int(time.time() * 1000)
    assert _Tree(root).state(name, now) == "fresh"
    file.write_text("two\n")
    later(file)
    assert _Tree(root).state(name, now) == "changed since"


@pytest.fixture
def moves(house: House, git: Git) -> Callable[[str, str], None]:
    """Moves a file with git and commits that, two hours from now, so that no session can have done it."""
    (house.project / "old name.py").write_text("".join(f"line {number}\n" for number in range(30)))
    git(house.project, "add", ".")
    git(house.project, "commit", "--quiet", "--message=All")

    def move(old: str, new: str) -> None:
        (house.project / new).parent.mkdir(exist_ok=True)
        git(house.project, "mv", old, new)
        later(house.project / new)
        commits_later(house)

    return move


def commits_later(house: House) -> None:
    who = {
        f"GIT_{who}_{what}": "a@b.example" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
    }
    subprocess.run(
        ["git", "commit", "--quiet", "--all", "--message=Later"],
        cwd=house.project,
        env={**os.environ, **who, "GIT_COMMITTER_DATE": f"@{int(time.time()) + 2 * 3_600} +0000"},
        check=True,
    )


def state(house: House, file: str, within: str = "") -> str:
    return _Tree(house.project / within).state(file, int(time.time() * 1000))


Moves = Callable[[str, str], None]


def test_a_file_that_git_moved_is_said_to_be_where_it_went(house: House, git: Git, moves: Moves) -> None:
    git(house.project, "mv", "old name.py", "new name.py")
    assert state(house, "old name.py") == "moved to new name.py", "not committed yet"
    commits_later(house)
    assert state(house, "old name.py") == "moved to new name.py"
    assert state(house, "new name.py") == "fresh", "it says what it said"
    moves("new name.py", "shop/last name.py")
    assert state(house, "old name.py") == "moved to shop/last name.py"


def test_a_file_that_was_moved_within_a_folder_of_the_work_tree_is_named_from_there(
    house: House, git: Git, moves: Moves
) -> None:
    (house.project / "shop").mkdir()
    git(house.project, "mv", "old name.py", "shop/a.py")
    git(house.project, "commit", "--quiet", "--message=Into the shop")
    moves("shop/a.py", "shop/b.py")
    assert state(house, "a.py", "shop") == "moved to b.py"


def test_a_file_that_was_moved_and_edited_has_changed(house: House, moves: Moves) -> None:
    moves("old name.py", "new name.py")
    with (house.project / "new name.py").open("a") as file:
        file.write("one more\n")
    later(house.project / "new name.py")
    assert state(house, "old name.py") == "changed since"
    commits_later(house)
    assert state(house, "old name.py") == "changed since"


def test_a_file_that_was_moved_and_deleted_is_gone(house: House, git: Git, moves: Moves) -> None:
    moves("old name.py", "new name.py")
    git(house.project, "rm", "--quiet", "new name.py")
    assert state(house, "old name.py") == "gone"
    commits_later(house)
    assert state(house, "old name.py") == "gone"


def test_a_file_that_took_the_name_of_a_moved_one_is_gone_when_it_is_deleted(
    house: House, git: Git, moves: Moves
) -> None:
    moves("old name.py", "new name.py")
    (house.project / "old name.py").write_text("another\n")
    git(house.project, "add", ".")
    commits_later(house)
    git(house.project, "rm", "--quiet", "old name.py")
    commits_later(house)
    assert state(house, "old name.py") == "gone"


def test_brief_and_hits_say_where_a_file_went(house: House, git: Git, lesson: Memory) -> None:
    git(house.project, "mv", "reader.py", "parser.py")
    assert label(house, lesson) == "moved to parser.py"
    house.session().starts().prompts("Something else").stops("Yes.").ends()
    house.works()
    assert "its files: moved to parser.py" in house.brief().text


def test_outside_of_git_the_time_of_the_file_decides(house: House, tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    (folder / "reader.py").write_text("x\n")
    story = house.session(cwd=folder).starts().prompts("Make the reader pass")
    story.runs("python check.py", fails="Exit code 1\nAssertionError: separator is wrong here")
    story.edits("reader.py", "';'", "','").runs("python check.py", "ok").stops("Done.").ends()
    house.works()
    (found,) = house.store.memories.listed([MemoryKind.LESSON], list(MemoryStatus), None, None, 5)
    earlier = time.time() - 60
    os.utime(folder / "reader.py", (earlier, earlier))
    assert label(house, found) == "fresh"
    later(folder / "reader.py")
    assert label(house, found) == "changed since"


def test_a_memory_without_files_has_no_such_label(house: House) -> None:
    decides(house, REDIS)
    assert label(house, decisions(house)["Redis"]) == ""


def test_brief_hits_and_show_say_so(house: House, lesson: Memory) -> None:
    (house.project / "reader.py").unlink()
    house.session().starts().prompts("Something else").stops("Yes.").ends()
    house.works()
    assert "its files are gone" in house.brief().text
    house.close()
    with App(house.home) as app:
        answer = app.search("reader separator check", None)
        assert {hit.label for hit in answer.hits if lesson.id in (hit.id, *hit.also)} == {"gone"}
        shown = app.show(lesson.id)
        assert isinstance(shown, MemoryView)
        assert shown.label == "gone"


def test_the_command_line_prints_labels(house: House, lesson: Memory) -> None:
    house.close()

    def printed(*words: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "backstory", *words],
            env={"PATH": os.environ["PATH"], "BACKSTORY_HOME": str(house.home.root)},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    assert json.loads(printed("show", lesson.id, "--json"))["label"] == "fresh"
    assert ["today", "fresh"] in [line.split() for line in printed("show", lesson.id).splitlines()]
    assert "fresh" in printed("search", "reader separator check", "--all")
