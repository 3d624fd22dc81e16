"""Names in the middle of long outputs and files, which the text index leaves out."""

from collections.abc import Callable

import pytest

from backstory.embed.embedder import Means, load_embedder
from backstory.search import find
from backstory.search.answer import Answer
from backstory.search.find import search
from backstory.settings import Settings
from backstory.store.records import Filters
from tests.story import House, Story

LINES = [f"line {number} says nothing that anybody would look for" for number in range(600)]
LONG = "\n".join([*LINES[:300], "here stands GIZMO_MIDDLE_7722 alone", *LINES[300:]])


def ask(house: House, text: str, **options: object) -> Answer:
    return search(house.store, text, None, **{"means": load_embedder(Settings()), **options})  # type: ignore[arg-type]


@pytest.fixture
def begun(house: House) -> Story:
    return house.session().starts().prompts("Look at the gadget, please")


@pytest.mark.parametrize(
    "does",
    [
        lambda story: story.runs("make all", LONG),
        lambda story: story.runs("make all", fails=f"Exit code 2\n{LONG}"),
        lambda story: story.writes("gadget.txt", LONG),
        lambda story: story.edits("gadget.txt", "old", LONG),
    ],
    ids=["output", "failure", "file", "edit"],
)
@pytest.mark.parametrize(
    "how", [Means(why="by words only"), load_embedder(Settings())], ids=["words", "meaning"]
)
def test_a_name_in_the_middle_is_found_and_shown(
    house: House, begun: Story, does: Callable[[Story], Story], how: Means
) -> None:
    does(begun).stops("Done.")
    house.works()
    for text in ("GIZMO_MIDDLE_7722", "gizmo_middle_7722", "where did we see GIZMO_MIDDLE_7722?"):
        answer = ask(house, text, means=how)
        assert "here stands GIZMO_MIDDLE_7722 alone" in answer.hits[0].text
        assert answer.hits[0].kind == "tool"
        assert answer.unknown == ()
        assert not answer.abstained
    assert ask(house, "GIZMO_MIDDLE_77").hits == (), "a part of a name is another name"


def test_an_output_that_has_one_of_two_words_is_no_answer(house: House, begun: Story) -> None:
    begun.runs("make all", LONG.replace("GIZMO_MIDDLE_7722", "a quokka")).stops("The gadget runs again.")
    house.works()
    assert ask(house, "how do I run the quokka").hits == ()


def test_a_plain_word_is_found_there_if_it_is_all_that_is_asked_for(house: House, begun: Story) -> None:
    begun.runs("make all", LONG.replace("GIZMO_MIDDLE_7722", "a quokka")).stops("Done.")
    house.works()
    assert "a quokka alone" in ask(house, "quokka").hits[0].text


def test_filters_and_projects_hold_there_too(house: House, begun: Story) -> None:
    begun.runs("make all", LONG).stops("Done.")
    house.works()
    assert ask(house, "GIZMO_MIDDLE_7722", filters=Filters(kinds=("tool",))).hits
    assert ask(house, "GIZMO_MIDDLE_7722", filters=Filters(kinds=("prompt",))).hits == ()
    assert search(house.store, "GIZMO_MIDDLE_7722", "another project").hits == ()


def test_what_backstory_itself_printed_is_not_found_there(house: House, begun: Story) -> None:
    begun.runs("backstory search gadget", LONG).stops("Done.")
    house.works()
    assert ask(house, "GIZMO_MIDDLE_7722").hits == ()


def test_a_name_that_nothing_has_is_told_so(house: House, begun: Story) -> None:
    begun.runs("make all", LONG).stops("Done.")
    house.works()
    answer = ask(house, "GIZMO_MIDDLE_9999")
    assert answer.hits == ()
    assert answer.reading == "Nothing here has “gizmo_middle_9999”."


def test_what_could_not_be_looked_through_is_not_denied(
    house: House, begun: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun.runs("make all", LONG).runs("make more", LONG).stops("Done.")
    house.works()
    some = ": of some long outputs and files only both ends."
    wanted = f"Nothing that was looked through has “gizmo_middle_9999”{some}"
    with monkeypatch.context() as patch:
        patch.setattr(find, "_DEEP_SECONDS", -1.0)
        assert ask(house, "GIZMO_MIDDLE_9999").reading == wanted
    assert ask(house, "GIZMO_MIDDLE_9999").reading == "Nothing here has “gizmo_middle_9999”."
    old = house.store.retention.payloads(2**53, (0, 0), 100)
    with house.store.transaction():
        house.store.retention.drop_payloads(old.numbers)
    assert ask(house, "GIZMO_MIDDLE_9999").reading == wanted, "archived"


@pytest.mark.parametrize("filters", [Filters(kinds=("decision",)), Filters(since=2**42)])
def test_what_was_narrowed_away_is_not_denied(house: House, begun: Story, filters: Filters) -> None:
    begun.runs("make all", LONG).stops("Done.")
    house.works()
    answer = ask(house, "GIZMO_MIDDLE_7722", filters=filters)
    assert answer.hits == ()
    assert answer.reading == "Nothing that you narrowed it to has “gizmo_middle_7722”."
