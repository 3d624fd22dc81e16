"""Files that others wrote, or that were damaged since, break nothing that reads them."""

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from backstory.agents.history_source import Source
from backstory.app import App
from backstory.capture.project_docs import document_sections
from backstory.errors import BackstoryError
from backstory.front_matter import split_front_matter
from backstory.hook import project_identity, remote_url
from backstory.importers.importer_table import FOREIGN
from backstory.knowledge import markdown_page
from backstory.llm.lenient_json import Unusable, read_object
from backstory.model import Event
from backstory.paths import Home
from backstory.store import backup_copy
from backstory.upkeep import export_file
from tests.importers.stores import ClaudeMem, Engine, Palace
from tests.story import House

from .test_parsers import ANYTHING, broken, mutated, quick

few = settings(
    deadline=None,
    max_examples=40,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # shrinking them takes longer than reading them
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
LINES = st.text(st.sampled_from('[]"= \\\n\t#;:/@.a0é\x00remoteurlgitdirprojectref'), max_size=120)


@quick
@given(config=LINES, head=LINES, claim=LINES | st.just('project = "x"'))
@example(
    config='[remote "origin"]\n\turl = https://[::1/x', head="ref: ../../etc/passwd", claim="project = '"
)
def test_no_repository_breaks_the_search_for_its_project(
    tmp_path: Path, config: str, head: str, claim: str
) -> None:
    git = tmp_path / ".git"
    (git / "objects").mkdir(parents=True, exist_ok=True)
    (git / "config").write_text(config)
    (git / "HEAD").write_text(head)
    (tmp_path / ".backstory.toml").write_text(claim)
    place = project_identity.resolve_place(
        str(tmp_path), {str(tmp_path): project_identity.claimed_project(str(tmp_path))}
    )
    assert place.identity
    assert isinstance(remote_url.normalise_url(config), str)
    assert isinstance(remote_url.remote_urls(config), dict)


@few
@given(brief=ANYTHING | mutated(), raw=st.none() | broken())
def test_no_prepared_brief_breaks_the_next_one(house: House, brief: Any, raw: bytes | None) -> None:
    """The hook reads them; it must have something to say all the same, or nothing."""
    story = house.session().starts().prompts("Count the blue whales").stops("Twelve.")
    house.works()
    row = house.row(story)
    for path in (
        house.home.briefs / f"{row.project_id}.json",
        house.home.briefs / "sessions" / f"{row.id}.json",
    ):
        known = json.loads(path.read_text()) if path.exists() else {}
        value = {**known, **dict.fromkeys(list(known)[:3], brief)} if isinstance(known, dict) else brief
        path.write_bytes(json.dumps(value).encode() if raw is None else raw)
        for source in ("startup", "resume", "compact"):
            assert isinstance(house.brief(source=source, story=story).text, str)
        path.unlink()
    with house.store.transaction():
        house.store.jobs.ask("brief", row.project_id, 1)
        house.store.jobs.ask("brief", row.id, 1)


def told(house: House) -> list[str]:
    """The lines of an export with something in every table."""
    story = house.session().starts().prompts("Count the blue whales").runs("wc", "12").stops("Twelve.")
    story.ends()
    house.works()
    with App(house.home) as app:
        app.remember("We deploy on Fridays", house.project)
        return list(app.export_lines(None, 0, 2**62))


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("told")
    (folder / "shop").mkdir()
    house = House(folder / "home", folder / "shop")
    found = told(house)
    house.close()
    return found


@few
@given(data=st.data())
def test_no_export_breaks_the_home_that_takes_it_in(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], data: st.DataObject
) -> None:
    """It is taken in or refused; either way the home can be used."""
    folder = tmp_path_factory.mktemp("taken")
    rows = [json.loads(line) for line in lines]
    for _ in range(data.draw(st.integers(1, 3))):
        row = rows[data.draw(st.integers(0, len(rows) - 1))]
        row[data.draw(st.sampled_from(sorted(row)))] = data.draw(ANYTHING)
    if data.draw(st.booleans()):
        del rows[data.draw(st.integers(0, len(rows) - 1))]
    path = folder / "x.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    home = Home(folder / "home")
    with App(home) as app, contextlib.suppress(BackstoryError):
        app.import_export(path)
    with App(home) as app:  # opened anew
        app.remember("It still works", folder)
        app.brief(folder, "claude-code")
        assert app.search("still works", None, floor=False).hits
        app.timeline(None, 0, 1_000)
        for _ in export_file.export_lines(app.store):
            pass


STORES: dict[str, type[ClaudeMem | Engine | Palace]] = {
    "claude-mem": ClaudeMem,
    "cce": Engine,
    "mempalace": Palace,
}


def read_all(source: Source, root: Path) -> None:
    for trail in source.history.find(root):
        with contextlib.suppress(OSError, BackstoryError):
            named = source.history.identify(trail)
            if named is None:
                continue
            reader = source.history.reader(named, 0)
            found = [event for line in source.history.lines(named, 0) for event in reader.feed(line)]
            assert all(isinstance(event, Event) for event in [*found, *reader.finish()])


@pytest.mark.parametrize("name", sorted(FOREIGN))
@few
@given(data=broken() | st.binary(max_size=300))
@example(data=b"SQLite format 3\0")
def test_no_file_breaks_the_reader_of_another_tools_store(name: str, data: bytes, tmp_path: Path) -> None:
    for file in ("claude-mem.db", "memory.db", "chroma.sqlite3", "MEMORY.md", "2026-01-01.md", "index.md"):
        (tmp_path / file).write_bytes(data)
    read_all(FOREIGN[name], tmp_path)


@pytest.mark.parametrize("name", sorted(STORES))
@few
@given(
    places=st.lists(st.tuples(st.floats(0, 1), st.binary(min_size=1, max_size=64)), min_size=1, max_size=4)
)
def test_no_damage_breaks_the_reader_of_another_tools_database(
    name: str, places: list[tuple[float, bytes]], tmp_path: Path
) -> None:
    whole = tmp_path / "whole.db"
    if not whole.exists():
        store = STORES[name](tmp_path / "made" / "x.db")
        store.filled()
        whole.write_bytes(store.path.read_bytes())
    data = bytearray(whole.read_bytes())
    for part, some in places:
        at = int(part * (len(data) - len(some)))
        data[at : at + len(some)] = some
    hurt = tmp_path / "hurt"
    hurt.mkdir(exist_ok=True)
    for file in ("claude-mem.db", "memory.db", "chroma.sqlite3"):
        (hurt / file).write_bytes(data)
    read_all(FOREIGN[name], hurt)


@few
@given(st.binary(max_size=300) | st.binary(max_size=300).map(lambda b: b"SQLite format 3\0" + b))
def test_no_file_breaks_the_look_at_a_backup(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "20260101T000000Z-by-hand.db"
    path.write_bytes(data)
    assert backup_copy.copy_contents(path).damage
    assert backup_copy.look_live(path).damage


@quick
@given(st.text(max_size=300) | mutated().map(json.dumps))
def test_whatever_a_model_answers_is_an_object_or_unusable(text: str) -> None:
    with contextlib.suppress(Unusable):
        assert isinstance(read_object(text), dict)


@quick
@given(st.text(st.sampled_from("-\n: []|#`ab\"'\\\x00é"), max_size=200))
def test_no_page_breaks_the_reader_of_pages(text: str) -> None:
    fields, body = split_front_matter(text)
    assert isinstance(fields, dict)
    assert text.endswith(body)
    assert all(isinstance(link, str) for link in markdown_page.links_in(text))
    assert isinstance(markdown_page.page_sections(body), dict)


@quick
@given(st.text(st.sampled_from("#=-\n `~ab\x00"), max_size=300))
def test_a_document_is_cut_and_nothing_of_it_is_dropped(text: str) -> None:
    words = [word for piece in document_sections(text) for word in piece.split()]
    assert [w for w in words if w.isalpha()] == [w for w in text.split() if w.isalpha()]
