"""Projects: when and where they were seen last, and whose a folder was."""

from dataclasses import replace

from backstory.store import Store
from tests.store.conftest import BARN, SHOP


def test_a_folder_that_is_gone_is_known_by_its_nearest_parent(store: Store) -> None:
    with store.transaction():
        store.projects.note(SHOP)
        store.projects.note(BARN)
        store.projects.note_place("/home/dev/shop", SHOP.id, 1)
        store.projects.note_place("/home/dev/shop/barn", BARN.id, 1)
    found = {
        path: (place.name if (place := store.projects.of_place(path)) else None)
        for path in (
            "/home/dev/shop",
            "/home/dev/shop/src/x",
            "/home/dev/shop/barn/y",
            "/home/dev/shopping",
            "/",
            "",
        )
    }
    assert found == {
        "/home/dev/shop": "shop",
        "/home/dev/shop/src/x": "shop",
        "/home/dev/shop/barn/y": "barn",
        "/home/dev/shopping": None,
        "/": None,
        "": None,
    }


def test_a_project_remembers_when_and_where_it_was_seen_last(store: Store) -> None:
    with store.transaction():
        store.projects.note(SHOP)
        store.projects.note(replace(SHOP, root="/moved/shop", seen_at=9))
        store.projects.note(replace(SHOP, root="/moved/shop", seen_at=5))
    assert store.projects.get(SHOP.id) == replace(SHOP, root="/moved/shop", seen_at=9)
