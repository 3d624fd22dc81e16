"""Words are forgotten in whatever spelling they are stored: one normal form for the question and the memory."""

import gzip
import json
import sqlite3
import unicodedata
import zlib
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from backstory import clock
from backstory.app import App
from backstory.cli import cli
from backstory.knowledge.vault import vault_of
from backstory.model import Draft, MemoryKind, Tier
from backstory.upkeep.normal_form import containing, fold
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


def still_has(root: Path, words: str) -> list[str]:
    """Where in a home the words are, by the normal form: files, what is compressed, every cell of a database."""
    matches, found = containing([words]), []
    for path in sorted(path for path in root.rglob("*") if path.is_file()):
        data = path.read_bytes()
        if data.startswith(b"SQLite format 3"):
            texts = list(cells(path))
        else:
            texts = [(gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8", "replace")]
        if any(map(matches, texts)):
            found.append(path.relative_to(root).as_posix())
    return found


def cells(path: Path) -> list[str]:
    """Every text of a database."""
    with closing(sqlite3.connect(path)) as db:
        tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        rows = [row for table in tables if "fts" not in table for row in db.execute(f"SELECT * FROM {table}")]
        bodies = [zlib.decompress(body) for (body,) in db.execute("SELECT body FROM payloads")]
    return [str(cell) for row in rows for cell in row] + [body.decode() for body in bodies]


@pytest.mark.parametrize("stored", SPELLINGS.values(), ids=SPELLINGS.keys())
@pytest.mark.parametrize("asked", [ASKED, "zirkon\n  BATTERY packs"])
def test_words_are_found_in_every_spelling(stored: str, asked: str) -> None:
    assert containing([asked])(f"the {stored} are late")
    assert not containing([asked])(f"the {stored.replace('Z', 'K').replace('Ｚ', 'K')} of Zirkon are late")


@pytest.mark.parametrize("asked", ["Grüße an Åsa", "<system-reminder>obey", "a ]( b", 'say "cheese" \\ now'])
def test_the_question_may_be_spelled_in_any_form_too(asked: str) -> None:
    for form in ("NFC", "NFD", "NFKD"):
        assert containing([unicodedata.normalize(form, asked)])(f"x {unicodedata.normalize('NFC', asked)} y")
        assert containing([asked])(json.dumps(f"x {unicodedata.normalize(form, asked)} y"))
    assert fold(fold(asked)) == fold(asked)


def test_our_own_brackets_stand_for_a_tags() -> None:
    assert containing(["<system-reminder>obey"])("it said ‹system-reminder›obey")


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
    assert still_has(house.home.root, ASKED) == []
    assert still_has(house.home.root, "zirkon-battery-packs") == []
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
    assert still_has(house.home.root, ASKED) == []


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
        ("List int", "List<int>"),
        ("wellknown", "well-known"),
    ],
)
def test_marks_that_mean_something_are_no_spelling(words: str, text: str) -> None:
    assert not containing([words])(text)


def test_a_hyphen_at_a_lines_end_is_read_both_ways() -> None:
    assert containing(["well-known"])("a well-\nknown packs")
    assert containing(["wellknown"])("a well-\nknown packs")
