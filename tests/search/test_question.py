"""A question, taken apart: words, and the time that it speaks of."""

from datetime import UTC, datetime

import pytest

from backstory.search.question import question
from backstory.store.tokenizer import index_text, query_phrases

NOW = int(datetime(2026, 11, 18, 15, 0, tzinfo=UTC).timestamp() * 1000)  # a Wednesday


def days(text: str) -> tuple[str, str]:
    asked = question(text, NOW, UTC)
    return tuple(
        datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%d") if ms else ""
        for ms in (asked.since, asked.until)
    )  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("what broke yesterday", "2026-11-17", "2026-11-18"),
        ("what did we do today", "2026-11-18", "2026-11-18"),
        ("the login fix of last week", "2026-11-09", "2026-11-16"),
        ("what did we decide on Monday", "2026-11-16", "2026-11-17"),
        ("the release in March", "2026-03-01", "2026-04-01"),
        ("the release in December 2024", "2024-12-01", "2025-01-01"),
        ("what happened on 2026-02-03", "2026-02-03", "2026-02-04"),
        ("what did Maria start, as mentioned on 3 June, 2023?", "2023-06-03", "2023-06-04"),
        ("what broke on June 3rd", "2026-06-03", "2026-06-04"),
        ("what broke on the 24th of December", "2025-12-24", "2025-12-25"),
        ("where were we between August 11 and August 15 2023", "2023-08-11", "2023-08-16"),
        ("the deploys of the week before May 8, 2025", "2025-05-01", "2025-05-09"),
        ("how many releases by July 2025", "2025-07-01", "2025-08-01"),
        ("31 February", "", ""),
        ("the outage 2 weeks ago", "2026-11-01", "2026-11-08"),
        ("the outage", "", ""),
        ("version 2026-13-45", "", ""),
    ],
)
def test_time_words_are_a_time(text: str, since: str, until: str) -> None:
    assert days(text) == (since, until)


def test_time_words_are_not_searched_for_and_the_rest_is() -> None:
    for text in ("login fix last week", "login fix on 3 June, 2023", "the login fix of June 3rd"):
        assert [word.text for word in question(text, NOW, UTC).words] == ["login", "fix"]
    assert [word.text for word in question("yesterday", NOW, UTC).words] == ["yesterday"]
    assert "2026-02-03" in [word.text for word in question("login fix 2026-02-03", NOW, UTC).words]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Can you remind me which port the proxy listens on?", ["port", "proxy", "listens"]),
        ("I'm going back to our previous conversation about retries, any advice?", ["retries"]),
        ("I was wondering how many days passed between the two outages", ["two", "outages"]),
        ("remind me", ["remind"]),
        ("the reminder mail for our last session", ["reminder", "mail"]),
    ],
)
def test_how_one_asks_is_not_what_one_asks_for(text: str, words: list[str]) -> None:
    assert [word.text for word in question(text, NOW, UTC).words] == words


def test_only_small_words_are_still_words() -> None:
    """CCE-52: function words are taken out, unless there is nothing else."""
    assert [word.text for word in question("what did we do about the cache", NOW).words] == ["cache"]
    assert [word.text for word in question("what did you do", NOW).words] == ["what", "did", "you", "do"]


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("bge-small", ['"bge small"']),
        ("foo_bar.py:42", ['"foo bar py 42"']),
        ("--no-verify", ['"no verify"']),
        ("parseToken", ['"parsetoken"', '"parse token"']),
        ("parse_token", ['"parse token"', '"parsetoken"']),
        ("src/auth/token.py", ['"src auth token py"', '"token py"']),
        ("数据库", ['"数据"', '"据库"']),
        ("库", ['"库"*']),
        ("修复login错误", ['"login"', '"修复"', '"错误"']),
    ],
)
def test_each_word_is_looked_for_whole_and_in_its_parts(word: str, found: list[str]) -> None:
    """CCE-53"""
    assert query_phrases(word) == found


def test_every_pair_of_a_long_run_is_indexed() -> None:
    """No tail is dropped: the last two characters of a whole passage of them find themselves."""
    run = "".join(chr(0x4E00 + n) for n in range(999))
    assert index_text(run).split()[-1] == run[-2:]
    assert len(index_text(run).split()) == 998
