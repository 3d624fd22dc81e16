"""What is shown of a long text has what was asked for."""

from hypothesis import given
from hypothesis import strategies as st

from backstory.search.excerpt import excerpt

LONG = "nothing to see here " * 60 + "ZORBLAX-7781 was raised by the pump " + "and more of that " * 60


def test_a_word_far_behind_is_in_what_is_shown() -> None:
    shown = excerpt(LONG, "what about ZORBLAX-7781?", 500)
    assert shown.startswith("… ")
    assert "ZORBLAX-7781 was raised" in shown[:500]


def test_what_begins_with_it_or_is_short_begins_at_its_beginning() -> None:
    assert excerpt(LONG, "what is to see", 500).startswith("nothing to see here")
    assert excerpt("a  short\ntext", "text", 500) == "a short text"
    assert excerpt(LONG, "quite another thing", 500).startswith("nothing to see here")


@given(st.text(max_size=300), st.text(max_size=60), st.integers(10, 100))
def test_of_any_text_something_is_shown(text: str, asked: str, limit: int) -> None:
    shown = excerpt(text, asked, limit)
    assert bool(shown) == bool(text.split())
    assert shown.removeprefix("… ") in " ".join(text.split())
