"""Decisions, wishes and facts cite the files that their words name, and are labelled by these."""

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from backstory.app import App, MemoryView
from backstory.model import Memory, MemoryKind, MemoryStatus
from backstory.recall.freshness import Freshness
from backstory.store.records import Filters
from tests.story import CLOCK, House

Git = Callable[..., str]
FILE = "internal/cache/lru.go"


@pytest.fixture
def cache(house: House, git: Git) -> Path:
    """A file of the project, in git."""
    file = house.project / FILE
    file.parent.mkdir(parents=True)
    file.write_text("package cache\n")
    earlier = time.time() - 9_000
    os.utime(file, (earlier, earlier))
    git(house.project, "add", ".")
    git(house.project, "commit", "--quiet", "--message=The cache")
    return file


def told(house: House, text: str, kind: str = "") -> Memory:
    house.close()
    with App(house.home) as app:
        return app.remember(text, house.project, kind)


def label(house: House, memory: Memory) -> str:
    return Freshness(house.store).of(memory)


def changes(file: Path) -> None:
    file.write_text("package cache // another one\n")
    at = CLOCK.tick() / 1e9 + 3_600
    os.utime(file, (at, at))


def in_brief(house: House) -> str:
    house.works()
    return house.brief().text


def test_a_fact_is_fresh_changed_and_gone_with_the_file_that_it_names(
    house: House, cache: Path, git: Git
) -> None:
    fact = told(house, f"The LRU cache lives in {FILE}")
    assert (fact.kind, fact.files) == (MemoryKind.FACT, (FILE,))
    assert label(house, fact) == "fresh"
    assert "its files" not in in_brief(house)
    changes(cache)
    assert label(house, fact) == "changed since"
    told(house, "Something else was noted later")
    assert label(house, fact) == "changed since", "each note has its own time"
    git(house.project, "rm", "--quiet", "--force", FILE)
    git(house.project, "commit", "--quiet", "--message=No cache")
    assert label(house, fact) == "gone"
    assert "its files are gone" in in_brief(house)
    house.close()
    with App(house.home) as app:
        assert app.search("LRU cache", None).hits[0].label == "gone"
    house.rebuilds()
    assert label(house, fact) == "gone"


def test_a_file_that_never_was_is_not_gone(house: House, cache: Path) -> None:
    plan = told(house, "We decided to write the importer in cmd/importer/main.go", "decision")
    assert plan.files == ("cmd/importer/main.go",)
    assert label(house, plan) == ""
    lesson = told(house, "Without bench.json the run fails", "lesson")
    assert label(house, lesson) == ""


def test_a_decision_of_a_session_cites_what_it_names_by_the_path_that_it_has(
    house: House, cache: Path
) -> None:
    story = house.session().starts().prompts("We decided to keep the LRU in lru.go because it is small.")
    story.reads(FILE).edits("other.go").stops("Done.").ends()
    house.works()
    (decision,) = house.store.memories.listed([MemoryKind.DECISION], list(MemoryStatus), None, None, 5)
    assert decision.files == (FILE,), "other.go was changed in its turn, and is no part of what it says"
    assert label(house, decision) == "fresh"
    changes(cache)
    assert label(house, decision) == "changed since"
    assert "its files have changed since" in in_brief(house)


def test_a_wish_rests_on_its_file_being_there_not_on_what_it_says(house: House, cache: Path) -> None:
    house.session().starts().prompts(f"From now on always run gofmt on {FILE}.").stops("Ok.").ends()
    house.works()
    (wish,) = house.store.memories.listed([MemoryKind.PREFERENCE], list(MemoryStatus), None, None, 5)
    assert wish.files == (FILE,)
    changes(cache)
    assert label(house, wish) == "fresh"
    assert "its files" not in in_brief(house)
    cache.unlink()
    assert label(house, wish) == "gone"


def test_asked_for_a_file_the_decision_is_found_in_whose_turn_it_was_changed(house: House) -> None:
    story = house.session().starts().prompts("We decided to use RabbitMQ for events because ops runs it.")
    story.edits("internal/consumer.go").stops("Done.")
    story.prompts("We decided to use Kafka for logs because they are many.").edits("logs.go").stops(
        "Done."
    ).ends()
    house.works()
    house.close()
    with App(house.home) as app:

        def found(file: str, words: str) -> set[str]:
            return {hit.text for hit in app.search(words, None, filters=Filters(files=(file,))).hits}

        assert any("use RabbitMQ" in text for text in found("consumer.go", "rabbitmq decided events"))
        assert not any("decided to use Kafka" in text for text in found("consumer.go", "kafka decided logs"))


def test_a_memory_says_at_which_commit_it_was_said(house: House, cache: Path) -> None:
    head = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=house.project, capture_output=True, text=True, check=True
    ).stdout.strip()
    note = told(house, f"The LRU cache lives in {FILE}")
    with App(house.home) as app:
        shown = app.show(note.id)
        assert isinstance(shown, MemoryView)
        assert shown.commit == head


def in_git(house: House, git: Git, *files: str) -> None:
    """Files that were committed some hours ago."""
    earlier = time.time() - 9_000
    for file in files:
        (house.project / file).parent.mkdir(parents=True, exist_ok=True)
        (house.project / file).write_text(f"This is {file}\n" + "".join(f"{file} {n}\n" for n in range(9)))
        os.utime(house.project / file, (earlier, earlier))
    git(house.project, "add", ".")
    git(house.project, "commit", "--quiet", "--message=Files")


def decided(house: House, text: str, folder: str = ".") -> Memory:
    house.session(cwd=house.project / folder).starts().prompts(text).stops("Noted.").ends()
    house.works()
    return house.store.memories.listed([MemoryKind.DECISION], list(MemoryStatus), None, None, 1)[0]


def noted(house: House, text: str, folder: str = ".") -> Memory:
    house.close()
    with App(house.home) as app:
        return app.remember(text, house.project / folder, "decision")


@pytest.mark.parametrize("tells", [decided, noted])
def test_a_path_is_one_of_the_folder_that_was_worked_in(
    house: House, git: Git, tells: Callable[..., Memory]
) -> None:
    inner, outer = "packages/web/src/cart.ts", "src/cart.ts"
    in_git(house, git, inner, outer, "docs/adr.md")
    cart = tells(house, "We decided to keep the cart in src/cart.ts because of reuse.", "packages/web")
    changes(house.project / outer)
    assert label(house, cart) == "fresh", "another one of that name changed"
    assert Freshness(house.store).files(cart) == (inner,), "for hooks, too, which look at it"
    (house.project / outer).unlink()
    assert label(house, cart) == "fresh"
    changes(house.project / inner)
    assert label(house, cart) == "changed since"
    git(house.project, "rm", "--quiet", "--force", inner)
    git(house.project, "commit", "--quiet", "--message=No cart")
    (house.project / outer).write_text("back again\n")
    assert label(house, cart) == "gone"


def test_a_path_that_the_folder_has_not_is_one_of_the_project(house: House, git: Git) -> None:
    in_git(house, git, "packages/web/src/cart.ts", "docs/adr.md")
    rule = decided(house, "We decided to keep the reasons in docs/adr.md because of audits.", "packages/web")
    assert label(house, rule) == "fresh"
    changes(house.project / "docs/adr.md")
    assert label(house, rule) == "changed since"


def test_a_lesson_rests_on_the_file_of_the_folder_that_was_worked_in(house: House, git: Git) -> None:
    in_git(house, git, "packages/web/src/cart.ts", "src/cart.ts")
    story = house.session(cwd=house.project / "packages/web").starts().prompts("Make the cart load")
    story.runs("node cart", fails="Exit code 1\nTypeError: cart.items is not iterable at load")
    story.edits("src/cart.ts", "items", "items ?? []").runs("node cart", "loaded").stops("It loads.").ends()
    house.works()
    (lesson,) = house.store.memories.listed([MemoryKind.LESSON], list(MemoryStatus), None, None, 5)
    assert lesson.files == ("src/cart.ts",)
    (house.project / "src/cart.ts").unlink()
    assert label(house, lesson) == "fresh"
    changes(house.project / "packages/web/src/cart.ts")
    assert label(house, lesson) == "changed since"


@pytest.mark.parametrize("tells", [decided, noted])
def test_a_whole_path_inside_the_project_is_its_file(
    house: House, git: Git, tells: Callable[..., Memory]
) -> None:
    in_git(house, git, "top.py")
    top = tells(house, f"We decided to keep the setup in {house.project}/top.py because of order.")
    assert top.files == ("top.py",)
    assert label(house, top) == "fresh"
    changes(house.project / "top.py")
    assert label(house, top) == "changed since"


def test_a_name_alone_is_the_file_that_is_called_so_if_there_is_one(house: House, git: Git) -> None:
    in_git(house, git, "api/src/pay.py", "api/index.ts", "web/index.ts", "api/old.py", "web/twice.py")
    pay = noted(house, "Payments are computed in pay.py, not in the client")
    entry = noted(house, "The entry is index.ts in all of them")
    old = noted(house, "The importer of partners is old.py")
    twice = noted(house, "The retries are counted in twice.py")
    plan = noted(house, "The planner will be planner.py")
    assert [label(house, each) for each in (pay, entry, old, twice, plan)] == [
        "fresh",
        "",
        "fresh",
        "fresh",
        "",
    ]
    changes(house.project / "api/src/pay.py")
    git(house.project, "mv", "api/old.py", "api/partners.py")
    git(house.project, "rm", "--quiet", "web/twice.py")
    git(house.project, "commit", "--quiet", "--message=Moved")
    assert label(house, pay) == "changed since"
    assert label(house, old) == "moved to api/partners.py"
    assert label(house, twice) == "gone"
    in_git(house, git, "api/twice.py")
    assert label(house, twice) == "", "which of the two is meant nobody can tell"
