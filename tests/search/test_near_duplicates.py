"""One thing stored in two forms is shown once, as the richer of the two."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backstory.embed.embedder import Means, load_embedder
from backstory.search.find import BY_WORDS, search
from backstory.search.near_duplicates import canonical, collapse
from backstory.settings import Settings
from tests.story import House

KEPT = (
    "src/auth/The_Parser.py", "https://example.org/A/b?x=The", "v1.2.3-rc1", "2026-11-16", "parseToken",
    "SCREAMING_CASE", "`a = the(x)`", "--no-verify", "foo_bar.py:42", "C:\\The\\a",
)  # fmt: skip


@given(st.text(max_size=300) | st.lists(st.sampled_from(["The", "a", "an", "Cat,", *KEPT])).map(" ".join))
def test_the_key_is_the_same_every_time_and_when_it_is_made_of_itself(text: str) -> None:
    """CCE-47: deterministic and idempotent."""
    assert canonical(text) == canonical(text)
    assert canonical(canonical(text)) == canonical(text)


@pytest.mark.parametrize("thing", KEPT)
def test_what_has_structure_survives_byte_for_byte(thing: str) -> None:
    """CCE-47: code, paths, addresses, versions, dates, identifiers; and texts are stored as written."""
    assert thing in canonical(f"The file {thing} is in a folder")


def test_articles_case_and_spacing_do_not_tell_two_texts_apart() -> None:
    """CCE-47"""
    assert canonical("The cache is  in a file.") == canonical("the Cache is in\nfile.")
    assert canonical("the cache is in A.py") != canonical("the cache is in a.py")


def test_the_longer_of_two_that_say_the_same_is_kept_in_the_better_place() -> None:
    """CCE-51"""
    short = "The login test fails because the token has no expiry date"
    rich = f"{short}; fixed in auth/parse_token.py by adding exp, see the commit"
    other = "The cart was renamed to basket in fourteen files of the shop"
    kept = collapse([short, other, rich], str, lambda a, b: max(a, b, key=len), 5)
    assert kept == [rich, other]


TWINS = st.lists(
    st.tuples(st.sampled_from(["cache", "login", "basket"]), st.integers(0, 4)), min_size=1, max_size=12
)


@given(TWINS, st.integers(1, 12))
def test_the_richest_is_kept_however_few_are_wanted(said: list[tuple[str, int]], few: int) -> None:
    """CCE-51: with `--limit 1` the better placed, poorer twin was shown."""
    things = [
        f"The {name} test of the {name} fails because {name} has no {name} at all{'; see more' * more}"
        for name, more in said
    ]

    def longer(one: str, other: str) -> str:
        return max(one, other, key=len)

    assert collapse(things, str, longer, few) == collapse(things, str, longer, 100)[:few]


def test_a_decision_and_the_prompt_that_it_came_from_are_one_hit_with_both_handles(house: House) -> None:
    """CCE-50, CCE-51: fused from words and meaning, each fact once; the memory is shown, which can be
    drilled into."""
    house.session().starts().prompts(
        "We sign the tokens with RS256 because Safari rejects HS256 in the embedded view."
    ).stops("Understood, RS256 it is.")
    house.session().prompts("The automobile was mended in the garage").stops("Good.")
    house.works()
    answer = search(
        house.store, "sign tokens RS256 Safari", None, means=load_embedder(Settings()), explain=True
    )
    telling = [hit for hit in answer.hits if "Safari rejects HS256" in hit.text]
    assert len(telling) == 1
    assert telling[0].also
    assert telling[0].id.startswith("m")
    for each in (telling[0].id, *telling[0].also):
        assert house.store.events.ids_like(each) == [each]
    by_meaning = search(
        house.store, "car repair", None, means=load_embedder(Settings()), explain=True, floor=False
    )
    assert any("automobile" in h.text and h.why and h.why.found_by == "meaning" for h in by_meaning.hits)


def test_words_and_meaning_are_weighed_together(house: House) -> None:
    """CCE-50: one list of both: what fits by meaning too stands before what only has more of the words."""
    for told in (
        "The car keyword breaks the parser grammar, mend the grammar",
        "The automobile has a broken gearbox, the garage repaired the vehicle",
        "The invoice list is sorted by date",
    ):
        house.session().starts().prompts(told).stops("Done.").ends()
    house.works()

    def first(means: Means) -> str:
        return search(house.store, "car repair", None, means=means, floor=False).hits[0].text

    assert "parser grammar" in first(BY_WORDS)
    assert "gearbox" in first(load_embedder(Settings()))
