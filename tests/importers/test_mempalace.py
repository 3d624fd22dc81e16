"""MemPalace's drawers come over as documents: found, labelled, and nobody's words."""

import json

from tests.cli.memory import Memory

from .reading import events, found, memories
from .stores import Palace


def test_each_drawer_is_found_with_its_wing_room_and_source(memory: Memory, palace: Palace) -> None:
    palace.filled()
    assert memory.json("import", "mempalace")["new"] == 2, "a session for each room"
    drawer = next(event for event in events(memory) if "walrus" in event.text)
    assert drawer.kind == "document"
    assert "Filed under shop / conversations" in drawer.text
    assert "added_by: claude" in drawer.text
    assert drawer.target.endswith("zebra_ses_1.jsonl")
    assert drawer.project == "shop"
    assert found(memory, "birds.py")


# MP-21
def test_mp_21_a_drawer_has_the_time_at_which_its_text_was_written(memory: Memory, palace: Palace) -> None:
    palace.filled()
    memory.json("import", "mempalace")
    times = {event.text.split("\n")[0]: event.at for event in events(memory)}
    assert times["> why zebra?"] == 1_767_603_600_000
    assert times["def flamingo(): ..."] == 1_767_690_000_000
    assert times["a pelican, which nobody dated"] == 1_767_607_200_000, "when it was put there"


def test_what_only_points_at_drawers_does_not_come_over(memory: Memory, palace: Palace) -> None:
    palace.filled()
    memory.json("import", "mempalace")
    assert len(events(memory)) == 3


def test_drawers_become_no_memories_and_are_in_no_brief(memory: Memory, palace: Palace) -> None:
    palace.filled()
    memory.json("import", "mempalace", "--project", str(memory.project))
    assert memories(memory) == []
    assert memory.ask("brief").stdout == ""


def test_a_drawer_without_text_is_counted_and_the_rest_comes_over(memory: Memory, palace: Palace) -> None:
    palace.drawer(None)
    palace.drawer("a tapir")
    done = memory.json("import", "mempalace")
    assert (done["corrupt"], done["events"]) == (1, 1)


# MP-15
def test_mp_15_a_new_drawer_is_all_that_is_added(memory: Memory, palace: Palace) -> None:
    palace.filled()
    memory.json("import", "mempalace")
    palace.drawer("an okapi")
    done = memory.json("import", "mempalace")
    assert (done["grown"], done["events"]) == (1, 1)


def test_a_drawer_that_was_rewritten_under_its_id_says_what_it_says_now(
    memory: Memory, palace: Palace
) -> None:
    palace.drawer("the walrus is slow")
    palace.drawer("an okapi")
    memory.json("import", "mempalace")
    palace.run(
        "UPDATE embedding_metadata SET string_value = 'a badger is quick' WHERE string_value LIKE '%walrus%'"
    )
    done = memory.json("import", "mempalace")
    assert (done["grown"], done["events"]) == (1, 1)
    assert [event.text.split("\n")[0] for event in events(memory)] == ["an okapi", "a badger is quick"]
    assert found(memory, "badger")
    assert not found(memory, "walrus")


def test_keys_of_the_users_own_are_kept_and_found(memory: Memory, palace: Palace) -> None:
    palace.drawer("an okapi", ticket="SHOP-77", mood=3)
    done = memory.json("import", "mempalace")
    assert done["unknown"] == 0
    (drawer,) = events(memory)
    assert "ticket: SHOP-77" in drawer.text
    assert "mood: 3" in drawer.text


def test_a_wing_is_the_project_whose_name_it_writes_in_its_own_way(memory: Memory, palace: Palace) -> None:
    memory.project = memory.project.rename(memory.project.with_name("Shop-API"))
    memory.worked_here()
    palace.drawer("an aardvark", wing="wing_shop_api")
    memory.json("import", "mempalace")
    assert memory.json("search", "aardvark")["hits"]


# MP-2
def test_mp_2_the_palace_is_where_its_configuration_says(memory: Memory, palace: Palace) -> None:
    palace.filled()
    moved = memory.user / "elsewhere"
    palace.path.parent.rename(moved)
    assert memory.ask("import", "mempalace").exit_code == 2
    config = memory.user / ".mempalace" / "config.json"
    config.write_text(json.dumps({"palace_path": str(moved)}))
    assert memory.json("import", "mempalace", "--dry-run")["new"] == 2
    config.unlink()
    memory.extra["MEMPALACE_PATH"] = str(moved)
    assert memory.json("import", "mempalace", "--dry-run")["new"] == 2
