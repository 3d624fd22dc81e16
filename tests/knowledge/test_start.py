"""What a session that starts is told of what is known."""

import json
import time

from tests.story import House

from .book import Book, logged_in


def test_a_start_is_answered_with_the_date_what_is_known_and_what_happened_last(
    house: House, book: Book
) -> None:
    """CM-40, CM-49: valid JSON from the real hook, however many days ago the last session was."""
    house.installs()
    logged_in(house.told()).ends()
    book.writes_down()
    answer = json.loads(
        house.fires("SessionStart", house.session().payload("SessionStart", source="startup")).stdout
    )
    text = answer["hookSpecificOutput"]["additionalContext"]
    assert f"today is {time.strftime('%Y-%m-%d')}" in text
    assert "use RS256 for the tokens (because Safari rejects HS256" in text, "a slice of what is known"
    assert "## Where we left off" in text, "what happened last"


def test_the_latest_logs_are_found_however_long_ago_they_are(book: Book) -> None:
    """CM-49: not only those of today and yesterday."""
    from backstory.knowledge.bootstrap import bootstrap

    book.says("2021-03-01", "the whales were counted")
    book.says("2023-07-09", "the whales were counted again")
    text = bootstrap(book.vault, None)
    assert "## daily/2023-07-09" in text
    assert "the whales were counted again" in text
