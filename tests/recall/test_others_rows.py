"""What others share among one's own rows: one row for what several know, no note before a tool."""

from backstory.app import App
from backstory.attribution import PERSON, told_by_other
from backstory.model import MemoryKind, Tier
from backstory.recall.brief_rows import project_rows
from backstory.store.others_memories import SharedMemory, shared_id
from tests.story import House

GOTCHA = "`pytest` failed: no display; `xvfb-run pytest` passes"


def _shared(author: str, text: str, kind: MemoryKind, signature: str = "", seen: int = 1) -> SharedMemory:
    return SharedMemory(
        shared_id(f"{author}{text}"), kind, text, "", (), "assistant", Tier.RULES, 1, author, "team",
        seen, seen, signature,
    )  # fmt: skip


def _told(house: House, *rows: SharedMemory) -> list[str]:
    house.close()
    with App(house.home, attended=True) as app:
        app.remember("We deploy on Fridays", house.project, "fact")
        project = app.project_at(house.project)
        with app.store.transaction():
            for row in rows:
                assert app.store.others.put(project.id, row)
        return [each["text"] for each in project_rows(app.store, project.id, str(house.project))]


def test_the_same_gotcha_of_two_people_is_one_row_with_its_witnesses(house: House) -> None:
    signature = "0123456789abcdef"
    told = _told(
        house,
        _shared("Ada", GOTCHA, MemoryKind.LESSON, signature, 3),
        _shared("Bob", GOTCHA + " here", MemoryKind.LESSON, signature, 2),
    )
    found = [text for text in told if "xvfb" in text]
    assert len(found) == 1
    assert found[0].endswith("(2 people, 5 sessions)")
    assert "'s agent said: " in found[0]


def test_others_commands_are_no_rows_and_no_notes(house: House) -> None:
    told = _told(house, _shared("Ada", "`make deploy` works", MemoryKind.COMMAND))
    assert not any("make deploy" in text for text in told)
    with App(house.home, attended=True) as app:
        project = app.project_at(house.project)
        assert app.store.memories.of_project(project.id, [MemoryKind.COMMAND], 50) == []


def test_nobody_is_called_so_that_it_reads_like_the_user() -> None:
    for name in ("The user", "your agent", "You", "user: x", "A model"):
        told = told_by_other(MemoryKind.DECISION, "x", name, "team", PERSON)
        assert told.startswith('a teammate called "')
    assert told_by_other(MemoryKind.DECISION, "x", "Ada", "team", PERSON) == "Ada decided: x"
