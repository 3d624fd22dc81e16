"""Printing: nothing that is stored can do anything to a terminal, and times read well."""

import json
import sys
from datetime import UTC

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backstory.present import plain_text

MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000


@pytest.mark.parametrize(
    ("hostile", "harmless"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;new title\x07text", "text"),
        ("\x1b]8;;https://evil.example\x1b\\click\x1b]8;;\x1b\\", "click"),
        ("\x9b2Jcleared", "cleared"),
        ("\x1bc\x1b(0reset", "reset"),
        ("ab\x08\x08\x7fcd\x00", "abcd"),
        ("user\u202egnp.exe\u202c", "usergnp.exe"),
        ("a\u2066b\u2069\u200fc", "abc"),
        ("hidden\U000e0041\U000e0042tags", "hiddentags"),
        ("half\ud800character", "halfcharacter"),
        ("one\r\ntwo\rthree\u2028four", "one\ntwo\nthree\nfour"),
        ("tab\tstays\nlines too", "tab\tstays\nlines too"),
        ("日本語 émoji 👩‍👩‍👧 می‌خواهم", "日本語 émoji 👩‍👩‍👧 می‌خواهم"),
        ("\x1b[", ""),
        ("\x1b]52;c;never ended", ""),
    ],
)
def test_plain_text_only_appears(hostile: str, harmless: str) -> None:
    assert plain_text.terminal_text(hostile) == harmless


@pytest.mark.parametrize(
    ("marked", "read"),
    [
        ("Opened PR [#10875](https://github.com/jdx/mise/pull/10875): done", "Opened PR #10875: done"),
        ("see [the page](https://exa … and on", "see [the page](https://exa … and on"),
        ("see [the page](https://exa …", "see the page…"),
        ("1. **FullSchema comment** and **`down()` twice**", "1. FullSchema comment and `down()` twice"),
        ("`src/**` and `tests/**/*.py`, **/x, a**b and f(**kwargs, **other)", None),
        ("rows[i](x) and [x](relative/page.md)", None),
    ],
)
def test_markdown_in_a_line_reads_as_it_is_meant(marked: str, read: str | None) -> None:
    assert plain_text.without_marks(marked) == (marked if read is None else read)


@given(st.text(st.characters() | st.sampled_from("\x1b\x9b\x07[]m0;\u202e\r\n\x00\ud800")))
def test_nothing_passes_that_a_terminal_obeys(text: str) -> None:
    shown = plain_text.terminal_text(text)
    assert all(char in "\n\t" or char >= " " for char in shown)
    assert not {"\x1b", "\x9b", "\x7f", "\u202e"} & set(shown)
    assert plain_text.terminal_text(shown) == shown
    shown.encode()  # no halves of characters


@given(st.text())
def test_json_loses_nothing_and_escapes_what_could_hurt(text: str) -> None:
    printed = plain_text.to_json({"text": text})
    assert json.loads(printed) == {"text": text}
    assert not {"\x1b", "\x9b", "\u202e"} & set(printed)


def test_json_keeps_other_alphabets_readable() -> None:
    assert "日本語" in plain_text.to_json(["日本語"])


def test_a_line_is_cut_at_its_end_only() -> None:
    assert plain_text.one_line("a\n b\t\tc") == "a b c"
    assert plain_text.one_line("abcdef", 4) == "ab …"


@pytest.mark.parametrize(
    ("ago", "words"),
    [
        (0, "just now"),
        (-5 * MINUTE, "just now"),
        (59_999, "just now"),
        (MINUTE, "1 min ago"),
        (3 * HOUR, "3 h ago"),
        (47 * HOUR, "47 h ago"),
        (3 * DAY, "3 d ago"),
        (20 * DAY, "2 w ago"),
        (100 * DAY, "3 months ago"),
        (800 * DAY, "2 years ago"),
    ],
)
def test_ages_have_one_unit(ago: int, words: str) -> None:
    now = 2_000_000_000_000
    assert plain_text.age_text(now - ago, now) == words


def test_epoch_zero_is_1970_and_not_now() -> None:
    """CCE-15"""
    assert plain_text.when_text(0, UTC).startswith("1970-01-01 00:00 (5")


def test_numbers_of_things_read_well() -> None:
    assert [plain_text.count_of(n, "memory") for n in (0, 1, 2000)] == [
        "0 memories",
        "1 memory",
        "2,000 memories",
    ]
    assert plain_text.comma_list(["a", "b", "c"]) == "a, b and c"
    assert plain_text.comma_list(["a"]) == "a"
    assert plain_text.comma_list([]) == ""


def test_what_is_taken_out_of_text_is_never_printable() -> None:
    """Printable text is left as it is without a look at its characters, so none of those may be hostile."""
    taken = [chr(n) for n in range(sys.maxunicode + 1) if plain_text.terminal_text(f"\0{chr(n)}") != chr(n)]
    assert len(taken) > 2_000
    assert not [character for character in taken if character.isprintable()]
