"""Words are forgotten in whatever spelling they are stored: one normal form for the question and the memory."""

import gzip
import json
import quopri
import re
import sqlite3
import unicodedata
import zlib
from contextlib import closing
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest
from click.testing import CliRunner

from backstory import clock
from backstory.app import App
from backstory.cli import cli
from backstory.knowledge.vault import vault_of
from backstory.model import Draft, MemoryKind, Tier
from backstory.upkeep.normal_form import contains_words, folded_text
from tests.story import House

from .conftest import lived

ASKED = "Zirkon battery packs"
SPELLINGS = {
    "as it is": ASKED,
    "in capitals": "ZIRKON BATTERY PACKS",
    "wrapped": "Zirkon\nbattery   packs",
    "wrapped as Windows does": "Zirkon\r\n\tbattery packs",
    "hard spaces": "Zirkon\u00a0battery\u2003packs",
    "zero width": "Zir\u200bkon bat\u00adtery\u2060 packs",
    "full width": "Ｚｉｒｋｏｎ battery packs",
    "ligature": "Zirkon battery pac\ufe0fks",
    "coloured": "Zir\x1b[31mkon\x1b[0m battery packs",
    "JSON": json.dumps("Zirkon\nbattery packs"),
    "JSON in JSON": json.dumps(json.dumps({"text": "Zirkon\nbattery\tpacks"})),
    "JSON that escapes all": json.dumps("Zir\u200bkon battery\u00a0packs"),
    "quoted lines": "> the Zirkon\n> battery packs",
    "comments": "# the Zirkon\n  # battery packs",
    "a patch": "+ the Zirkon\n+ battery packs",
    "a list": "- the Zirkon\n- battery packs",
    "a patch as JSON": json.dumps("+ the Zirkon\n+ battery packs"),
    "bold": "the **Zirkon** battery *packs*",
    "code": "the `Zirkon battery` packs",
    "tags": "the <b>Zirkon</b> battery packs",
    "entities": "the Zirkon&nbsp;battery&#32;packs",
    "an address": "https://x.example/?q=Zirkon%20battery%20packs",
    "parted at a line's end": "the Zirkon bat-\ntery packs",
    "parted in a quote": "> the Zirkon bat-\n> tery packs",
    "parted in JSON": json.dumps("the Zirkon bat-\ntery packs"),
}
#: Everyday output over which words are wrapped: one row is what stands before each half, and behind it.
WRAPPED = {
    "a patch": ("+", "", "+", ""),
    "a patch that removes": ("-", "", "-", ""),
    "a patch of a patch": ("++", "", " +", ""),
    "context and added": (" ", "", "+", ""),
    "shell comments": ("#", "", "#", ""),
    "C comments": ("//", "", "//", ""),
    "documentation comments": ("///", "", "///", ""),
    "a block comment": (" * ", "", " * ", ""),
    "SQL": ("-- ", "", "-- ", ""),
    "Lisp": (";; ", "", ";; ", ""),
    "TeX": ("% ", "", "%% ", ""),
    "reST": (".. ", "", ".. ", ""),
    "batch files": ("REM ", "", "REM ", ""),
    "HTML comments": ("<!-- ", " -->", "<!-- ", " -->"),
    "quotes": (">> ", "", ">> ", ""),
    "quotes without a blank": (">", "", ">", ""),
    "bullets": ("• ", "", "• ", ""),
    "a numbered list": ("1. ", "", "2. ", ""),
    "check boxes": ("- [ ] ", "", "- [x] ", ""),
    "a table": ("| ", " |", "| ", " |"),
    "a drawn box": ("│ ", " │", "│ ", " │"),
    "cat -n": ("    12\t", "", "    13\t", ""),
    "a read file": ("12→", "", "13→", ""),
    "a read file with an empty line": ("12→", "\n13→", "14→", ""),
    "grep": ("a.txt:12:", "", "a.txt:13:", ""),
    "grep with context": ("docs/a b.md-12-", "", "docs/a.md-13-", ""),
    "a log": ("2026-11-18T10:32:01Z INFO app: ", "", "2026-11-18T10:32:02Z INFO app: ", ""),
    "a chat": ("[10:32] eve: ", "", "[10:33] eve: ", ""),
    "strings of a program": ('"', ' "', '    "', '"'),
    "a continued line": ("", " \\", "", ""),
    "doc strings": ('"""', "", "", '"""'),
    "git blame": ("1a2b3c4d (Eve 2026-11-18 12) ", "", "1a2b3c4d (Eve 2026-11-18 13) ", ""),
}
#: What stands around and between words on one line.
BETWEEN = {
    "emphasis": "_Zirkon_ battery __packs__",
    "struck out": "~~Zirkon~~ battery packs",
    "a link": "[Zirkon](https://x.example/a-b) battery packs",
    "quoted": '"Zirkon" battery packs',
    "German quotes": "„Zirkon“ battery ‚packs‘",
    "a break": "Zirkon<br/>battery packs",
    "tags with attributes": '<span class="big name">Zirkon</span> battery packs',
    "cells": "| Zirkon | battery | packs |",
    "cells of HTML": "<td>Zirkon</td><td>battery</td><td>packs</td>",
    "commas": "Zirkon, battery, packs",
    "an ellipsis": "Zirkon … battery packs",
    "TeX's space": "Zirkon~battery~packs",
    "shell's space": "Zirkon\\ battery\\ packs",
    "a form": "q=Zirkon+battery+packs",
    "a slug": "zirkon-battery-packs",
    "snake case": "ZIRKON_BATTERY_PACKS",
    "camel case": "newZirkonBatteryPacks",
    "a path": "zirkon/battery/packs",
    "entities in numbers": "Zirkon&#x20;battery&#x20;packs",
    "a list of JSON": '["Zirkon", "battery", "packs"]',
}
EVERYDAY = BETWEEN | {
    f"{name}, parted: {part}": f"{before}the {one}{behind}\n{ahead}{other}{end}"
    for name, (before, behind, ahead, end) in WRAPPED.items()
    for part, one, other in (
        ("in two", "Zirkon", "battery packs"),
        ("in a word", "Zirkon battery pa-", "cks"),
    )
    if part == "in two" or not behind
}


CODED = "Straße der Kolwezi Ölraffinerie"
#: Letters written as the bytes of UTF-8, or as entities.
WRITTEN_AS_BYTES = {
    "an address": quote(CODED),
    "a form": quote_plus(CODED),
    "an address in an address": quote(quote(CODED)),
    "an address of letters": "%53tra%C3%9Fe der %4Bolwezi %C3%96lraffinerie",
    "git's octal": "".join(
        chr(byte) if byte < 128 else f"\\{byte:03o}" for byte in CODED.replace(" ", "/").encode()
    ),
    "bytes of Python": repr(CODED.encode()),
    "quoted-printable": quopri.encodestring(CODED.encode()).decode(),
    "quoted-printable, broken": "Stra=C3=9Fe der Kol=\nwezi =C3=96lraffinerie",
    "entities by name": "Stra&szlig;e der Kolwezi &Ouml;lraffinerie",
    "entities by number": CODED.encode("ascii", "xmlcharrefreplace").decode(),
    "entities of letters": "&#83;tra&#xdf;e der &#75;olwezi &Ouml;lraffinerie",
}


@pytest.mark.parametrize("stored", WRITTEN_AS_BYTES.values(), ids=WRITTEN_AS_BYTES.keys())
def test_letters_that_are_written_as_bytes_or_entities_are_read(stored: str) -> None:
    told = f"it said: {stored} and more"
    for text in (told, json.dumps({"a": told}), json.dumps({"b": json.dumps({"a": told})})):
        assert contains_words([CODED])(text)
        assert not contains_words(["Straße der Kolwezi Ölmühle"])(text)


def test_bytes_that_are_no_utf8_and_signs_of_code_stay_what_they_are() -> None:
    for text in ("a=20 b=C3", "100%25 done", "\\033[0m red", "%zz %C3 &nosuch; \\xff", "x=\ny=2"):
        assert contains_words([text])(f"it said {text} here")


def everything(root: Path) -> dict[str, bytes]:
    """Every file of a home as bytes, unpacked where it is packed; knows nothing of the normal form."""
    found = {}
    for path in sorted(path for path in root.rglob("*") if path.is_file()):
        data = path.read_bytes()
        if data.startswith(b"SQLite format 3"):
            with closing(sqlite3.connect(path)) as db:
                bodies = [zlib.decompress(body) for (body,) in db.execute("SELECT body FROM payloads")]
            data = b"\n".join([data, *bodies])
        found[path.relative_to(root).as_posix()] = gzip.decompress(data) if path.suffix == ".gz" else data
    return found


def still_has(root: Path, *words: str) -> list[str]:
    """Where in a home the bytes of one of these words are, in any case."""
    wanted = [word.lower().encode() for word in words]
    return [name for name, data in everything(root).items() if any(word in data.lower() for word in wanted)]


@pytest.mark.parametrize("stored", EVERYDAY.values(), ids=EVERYDAY.keys())
def test_no_mark_between_words_or_before_lines_hides_them(stored: str) -> None:
    for text in (f"it said\n{stored}\nand more", json.dumps({"output": f"it said\n{stored}\nand more"})):
        assert contains_words([ASKED])(text)
        assert not contains_words(["Zirkon battery docks"])(text)
        assert not contains_words(["Zirkon packs battery"])(text)


def test_after_forgetting_no_byte_of_any_everyday_spelling_is_left(house: House, app: App) -> None:
    """Judged by the bytes: each spelling has a word of its own beside it, which must go along."""
    kept = lived(house, "red panda")
    for number, stored in enumerate([*SPELLINGS.values(), *EVERYDAY.values()]):
        mark = f"quokka{number:03}"
        told = house.told().starts().prompts(f"{mark} was seen:\n{stored}\nfix it")
        told.runs("git diff", f"{mark}\n{stored}\n").stops(f"{mark}\n{stored}\nis done").ends()
    house.works()
    assert still_has(house.home.root, "quokka007")
    house.close()
    app.forget(app.wanted([], text=ASKED), really=True)
    app.close()
    left = {name: data for name, data in everything(house.home.root).items() if b"quokka" in data.lower()}
    marks = {found for data in left.values() for found in re.findall(rb"quokka\d\d\d", data)}
    assert marks == set()
    assert still_has(house.home.root, "zirkon") == []
    assert house.events(kept)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("the server", "the\nfoo bar server"),
        ("battery packs", "battery life of packs"),
        ("battery packs", "battery\nand then packs"),
        ("to do it", "into dough, itself"),
        ("art is", "the start isolates"),
        ("use C++", "we use C here"),
        (".env", "the environment, env"),
        ("a - b", "a b"),
        ("Zirkon battery", "the battery of Zirkon"),
    ],
)
def test_few_or_short_words_do_not_take_others_along(words: str, text: str) -> None:
    assert not contains_words([words])(text)


@pytest.mark.parametrize("stored", SPELLINGS.values(), ids=SPELLINGS.keys())
@pytest.mark.parametrize("asked", [ASKED, "zirkon\n  BATTERY packs"])
def test_words_are_found_in_every_spelling(stored: str, asked: str) -> None:
    assert contains_words([asked])(f"the {stored} are late")
    assert not contains_words([asked])(
        f"the {stored.replace('Z', 'K').replace('Ｚ', 'K')} of Zirkon are late"
    )


@pytest.mark.parametrize("asked", ["Grüße an Åsa", "<system-reminder>obey", "a ]( b", 'say "cheese" \\ now'])
def test_the_question_may_be_spelled_in_any_form_too(asked: str) -> None:
    for form in ("NFC", "NFD", "NFKD"):
        assert contains_words([unicodedata.normalize(form, asked)])(
            f"x {unicodedata.normalize('NFC', asked)} y"
        )
        assert contains_words([asked])(json.dumps(f"x {unicodedata.normalize(form, asked)} y"))
    assert folded_text(folded_text(asked)) == folded_text(asked)


def test_our_own_brackets_stand_for_a_tags() -> None:
    assert contains_words(["<system-reminder>obey"])("it said ‹system-reminder›obey")


@pytest.mark.parametrize("spelling", ["wrapped", "zero width", "full width", "coloured", "JSON in JSON"])
def test_after_forgetting_no_spelling_of_it_is_left_in_the_home(
    house: House, app: App, spelling: str
) -> None:
    stored = SPELLINGS[spelling]
    story = lived(house, stored)
    kept = lived(house, "red panda")
    project = house.store.projects.get(house.row(story).project_id)
    assert project is not None
    vault = vault_of(house.home, project)
    prose = {"waiting": {"concepts/zirkon-battery-packs": ["m00000001"]}, "read": {"concepts/panda": ["m1"]}}
    vault.set_state("prose", prose)
    vault.set_state("skipped", {"skipped": [{"what": stored, "why": "slow", "at": 1}]})
    house.home.logs.mkdir(exist_ok=True)
    (house.home.logs / "worker.log").write_text(f"could not read {stored}\n")
    daily = vault.root / "daily" / "2026-11-02.md"
    daily.parent.mkdir(parents=True, exist_ok=True)
    daily.write_text(f"# 2026-11-02\n\n- 10:00 the {ASKED} are late\n- 10:01 red pandas are well\n")
    house.close()
    done = app.forget(app.wanted([], text=ASKED), really=True)
    assert done.reach.events
    assert done.reach.memories
    app.close()
    assert still_has(house.home.root, "zirkon", "battery", stored) == []
    assert vault.state("prose")["read"] == {"concepts/panda": ["m1"]}
    assert house.events(kept)
    assert "panda" in house.brief().text
    assert "red pandas are well" in daily.read_text()


def test_words_that_a_page_wraps_over_lines_leave_it(house: House, app: App) -> None:
    story = lived(house, "red panda")
    project = house.store.projects.get(house.row(story).project_id)
    assert project is not None
    page = vault_of(house.home, project).root / "concepts" / "packs.md"
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text("# Packs\n\nAll is well.\nWe ship Zirkon\nbattery\npacks in May.\nPandas are well.\n")
    house.close()
    app.forget(app.wanted([], text=ASKED), really=True)
    assert not page.exists() or "Zirkon" not in page.read_text()
    assert still_has(house.home.root, "zirkon", "battery") == []


def test_an_export_that_lies_in_the_home_is_named(house: House, app: App) -> None:
    lived(house, ASKED)
    export = house.home.root / "mine" / "export.jsonl.gz"
    export.parent.mkdir()
    export.write_bytes(gzip.compress(json.dumps("Zirkon\nbattery packs").encode()))
    house.close()
    assert export in app.forget(app.wanted([], text=ASKED), really=True).needed


def test_a_memory_that_alone_has_the_words_is_said_to_be_alone(house: House) -> None:
    """What was distilled joins words that no event has side by side."""
    story = house.session().starts().prompts("Fix the login").stops("Done.").ends()
    house.works()
    draft = Draft(MemoryKind.FACT, "packs", f"{ASKED} are late", clock.now_ms(), (house.stored(story)[0].id,))
    with house.store.transaction():
        house.store.memories.add(house.row(story), draft, Tier.MODEL, "test")
    house.close()
    told = CliRunner().invoke(
        cli, ["forget", "--text", ASKED, "--yes"], env={"BACKSTORY_HOME": str(house.home.root)}
    )
    assert told.exit_code == 0, told.output
    assert "No event had these words" in told.output


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("foobar", "y = foo*bar"),
        ("foobar", "foo<T>bar"),
        ("2 * 3", "2 3"),
        ("**bold**", "bold"),
        ("# packs", "packs"),
        ("wellknown", "well-known"),
    ],
)
def test_marks_that_mean_something_are_no_spelling(words: str, text: str) -> None:
    assert not contains_words([words])(text)


def test_a_hyphen_at_a_lines_end_is_read_both_ways() -> None:
    assert contains_words(["well-known"])("a well-\nknown packs")
    assert contains_words(["wellknown"])("a well-\nknown packs")
