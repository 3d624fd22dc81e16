"""Whether what was told was of use, told from what agents did after they had been told."""

import json

from backstory.model import Memory, MemoryKind
from backstory.recall.brief_rows import project_rows
from backstory.recall.usefulness import Usefulness, done_in, usefulness
from backstory.store.records import Injection
from tests.knowledge.book import run
from tests.story import House, Story

COMMAND = "pytest -q tests/test_rates.py"


def learned(house: House) -> Memory:
    """A lesson: a command that failed, and the file whose change made it pass."""
    story = house.session().starts().prompts("The rates are off by a cent, find out why")
    story.runs(COMMAND, fails="E  decimal.InvalidOperation: quantize result has too many digits\n1 failed")
    story.edits("rates.py", "rate * amount", "quantize(rate * amount)").runs(COMMAND, "4 passed")
    story.stops("Fixed: the context of decimal had too few digits.").ends()
    house.works()
    (lesson,) = [m for m in house.store.memories.of_session(story.id) if m.kind is MemoryKind.LESSON]
    return lesson


def told(house: House, memory: Memory) -> Story:
    """A session that was told this when it started."""
    story = house.session().starts().prompts("Go on with the rates")
    house.works()
    with house.store.transaction():
        house.store.briefs.add(Injection(story.id, 0, "startup", 100, 30, (memory.id,)))
    return story


def of_use(house: House, memory: Memory) -> Usefulness:
    house.works()
    return usefulness(house.store, memory, done_in(house.store))


def test_told_to_nobody_nothing_is_said_of_it(house: House) -> None:
    assert of_use(house, learned(house)) == Usefulness()


def test_the_command_that_passes_then_was_helped_and_the_one_that_fails_again_was_not(house: House) -> None:
    memory = learned(house)
    told(house, memory).runs(COMMAND, "4 passed").stops("Green.").ends()
    assert of_use(house, memory) == Usefulness(helped=1)
    told(house, memory).runs(COMMAND, fails="E  AssertionError\n1 failed").stops("Red.").ends()
    assert of_use(house, memory) == Usefulness(helped=1, harmed=1)


def test_opening_it_or_changing_its_file_is_use_and_else_it_was_idle(house: House) -> None:
    memory = learned(house)
    told(house, memory).runs(f"backstory show {memory.id[:9]}", "…").stops("I see.").ends()
    told(house, memory).edits("rates.py", "a", "b").stops("Done.").ends()
    told(house, memory).runs("ls", "rates.py").stops("Nothing to do.").ends()
    assert of_use(house, memory) == Usefulness(helped=2, idle=1)
    assert of_use(house, memory).line == "helped in 2, idle in 1"


def test_what_harms_more_than_it_helps_is_told_for_less(house: House) -> None:
    memory = learned(house)
    before = {row["id"]: row["worth"] for row in project_rows(house.store, memory.project_id)}
    assert memory.id in before
    told(house, memory).runs(COMMAND, fails="E  AssertionError\n1 failed").stops("Red.").ends()
    house.works()
    assert usefulness(house.store, memory, done_in(house.store)).factor < 1
    after = {row["id"]: row["worth"] for row in project_rows(house.store, memory.project_id)}
    assert after.get(memory.id, 0) < before[memory.id]


def test_review_shows_it(house: House) -> None:
    memory = learned(house)
    told(house, memory).runs(COMMAND, "4 passed").stops("Green.").ends()
    house.works()
    rows = json.loads(run(house, "review", "--json").stdout)["memories"]
    (row,) = [row for row in rows if row["id"] == memory.id]
    assert row["of_use"] == {"helped": 1, "harmed": 0, "idle": 0}
    assert "(helped in 1)" in " ".join(run(house, "review").stdout.split())
