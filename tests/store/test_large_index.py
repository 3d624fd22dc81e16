"""Where there is much to find, common words find nothing by themselves, unless there are no others."""

from pathlib import Path

import pytest

from backstory.store import full_text_index
from tests.story import House


@pytest.fixture
def large(house: House, monkeypatch: pytest.MonkeyPatch) -> House:
    """Forty prompts about the blue whale, one of them about a zyzzyva; five passages are much."""
    story = house.session().starts()
    for number in range(40):
        story.prompts(f"The blue whale {number}" + (" and the zyzzyva" if number == 3 else ""))
    story.stops("Yes.")
    house.works()
    monkeypatch.setattr(full_text_index, "_ENOUGH", 5)
    monkeypatch.setattr(full_text_index, "_ENOUGH_IN_ALL", 5)
    return house


def found(house: House, *words: str, project_id: str | None = None) -> list[str]:
    terms = [f'"{word}"' for word in words]
    return [each.text for each in house.store.passages.search(terms, project_id, 8) if each.kind == "prompt"]


def test_the_rarer_words_find_the_candidates(large: House) -> None:
    assert found(large, "whale", "zyzzyva") == ["The blue whale 3 and the zyzzyva"]


def test_common_words_weigh_what_the_rarer_ones_find(large: House) -> None:
    story = large.session().starts().prompts("The zyzzyva sleeps").prompts("The zyzzyva eats krill")
    for number in range(6):
        story.prompts(f"Some krill {number}")
    story.stops("Yes.")
    large.works()
    assert found(large, "zyzzyva", "krill")[0] == "The zyzzyva eats krill"
    assert not any(text.startswith("Some") for text in found(large, "zyzzyva", "krill"))


def test_two_common_words_together_find_the_candidates(large: House) -> None:
    """Forty passages have one of them, ten have both: as many as are wanted."""
    story = large.session().starts()
    for number in range(10):
        story.prompts(f"Some krill for the blue whale {number}")
        story.prompts(f"Only krill, krill, krill and krill {number}")
    story.stops("Yes.")
    large.works()
    assert {text[:21] for text in found(large, "krill", "whale")} == {"Some krill for the bl"}


def test_a_question_of_common_words_is_answered(large: House) -> None:
    assert len(found(large, "blue", "whale")) > 3


def test_a_word_that_is_only_elsewhere_hides_nothing_here(large: House, tmp_path: Path) -> None:
    other = tmp_path / "zoo"
    other.mkdir()
    story = large.session(cwd=other).starts().prompts("A whale lives in this zoo").stops("Yes.")
    large.works()
    project_id = large.row(story).project_id
    assert found(large, "whale", "zyzzyva", project_id=project_id) == ["A whale lives in this zoo"]
