"""From logs to wiki: what is compiled, what it makes, and that it is whole whatever happens."""

import json
import os
import re
import signal
import subprocess
import sys

import pytest

from backstory import clock
from backstory.app import App
from backstory.errors import Failed
from backstory.failpoints import STEPS
from backstory.front_matter import front_matter, split_front_matter
from backstory.knowledge import compiler, daily_log, log_notes, rollup
from backstory.knowledge.compiler import Limits, stale_logs
from backstory.knowledge.log_notes import Note
from backstory.knowledge.markdown_page import links_in, page_sections, slug
from backstory.knowledge.page_transaction import Changes, take_back, unfinished_pages
from backstory.knowledge.vault import migrate_vault
from backstory.model import Act, MemoryKind, MemoryStatus
from tests.story import House

from .book import Book, logged_in, run

SECTIONS = ["Key Points", "Details", "Related Concepts", "Sources"]


@pytest.fixture
def written(house: House, book: Book) -> Book:
    """A book about two sessions that had to do with each other."""
    logged_in(house.told()).ends()
    second = house.told().starts().prompts("The login test is red again, see src/auth/tokens.py.")
    second.runs("pytest tests/test_login.py", fails="E  jwt.InvalidAlgorithmError: HS256")
    second.edits("src/auth/tokens.py").edits("src/auth/keys.py").runs(
        "pytest tests/test_login.py", "1 passed"
    )
    second.stops("The key is read from the vault now.").ends()
    book.writes_down()
    return book


def test_only_logs_that_differ_from_what_was_compiled_are_compiled(book: Book) -> None:
    """CM-19: by their content, not by their time."""
    book.says("2026-11-14", "we moved auth.py")
    book.says("2026-11-15", "we moved keys.py")
    assert [each.day for each in book.compiles().days] == ["2026-11-14", "2026-11-15"]
    assert book.compiles().days == ()
    path = book.vault.page("daily/2026-11-14")
    os.utime(path, (1, 1))
    assert book.compiles().days == ()
    book.says("2026-11-15", "and mail.py")
    assert [each.day for each in book.compiles().days] == ["2026-11-15"]


def test_all_file_and_dry_run_do_as_they_are_called(house: House, book: Book) -> None:
    """CM-20: and an unknown file exits 1 with its name in the message."""
    book.says("2026-11-14", "we moved auth.py")
    book.says("2026-11-15", "we moved keys.py")
    before = book.snapshot()
    done = run(house, "compile", "--dry-run", "--json")
    told = json.loads(done.stdout)
    assert [each["day"] for each in told["days"]] == ["2026-11-14", "2026-11-15"]
    assert set(told["created"]) >= {"concepts/auth-py", "concepts/keys-py"}
    assert book.snapshot() == before
    assert json.loads(run(house, "compile", "--file", "2026-11-15.md", "--json").stdout)["created"] == [
        "concepts/keys-py"
    ]
    done = run(house, "compile", "--file", "2026-12-24.md")
    assert done.exit_code == 1
    assert "2026-12-24.md" in done.stderr
    run(house, "compile")
    told = json.loads(run(house, "compile", "--all", "--json").stdout)
    assert [each["day"] for each in told["days"]] == ["2026-11-14", "2026-11-15"]
    assert told["created"] == []


@pytest.mark.parametrize("name", ["auth.py", "src/auth.py"])
def test_a_log_about_a_topic_with_an_article_updates_that_article(book: Book, name: str) -> None:
    """CM-21: of that name or with it among the aliases; the log is added to its sources."""
    book.says("2026-11-14", "begin")
    mine = front_matter(
        {"title": "Signing in", "aliases": [name], "tags": ["mine"], "sources": ["daily/2026-11-01"]}
    )
    page = book.vault.page("concepts/signing-in")
    page.parent.mkdir()
    page.write_text(f"{mine}\n# Signing in\n\nMy own words.\n\n## Details\n\nA paragraph.\n\nAnother one.\n")
    book.says("2026-11-15", "src/auth.py reads the keys now")
    done = book.compiles()
    assert "concepts/signing-in" in done.updated
    assert not [address for address in done.created if "auth" in address]
    fields, body = split_front_matter(page.read_text())
    assert fields["sources"] == ["daily/2026-11-01", "daily/2026-11-15"]
    assert fields["tags"] == ["mine"]
    assert "My own words." in body
    assert "A paragraph.\n\nAnother one." in body
    assert "src/auth.py reads the keys now" in page_sections(body)["Key Points"]


def test_a_decision_made_again_in_other_words_is_the_same_article(house: House, book: Book) -> None:
    """CM-21: near enough is the same."""
    for words in (
        "Let's use Postgres for the job queue because SQLite locks.",
        "Let's use Postgres for our job queue, because SQLite locks too often.",
    ):
        house.told().starts().prompts(words).stops("Postgres it is.").ends()
        book.writes_down()
    book.compiles()
    assert len([link for link in book.vault.links("concepts") if "postgres" in link]) == 1


def test_every_article_has_its_front_matter_and_its_four_sections(written: Book) -> None:
    """CM-22: title, aliases, tags, sources, created, updated; Key Points, Details, Related Concepts, Sources."""
    concepts = written.vault.links("concepts")
    assert {"concepts/invalidalgorithmerror", "concepts/working-agreements"} <= set(concepts)
    for link in concepts:
        fields, body = split_front_matter(written.page(link))
        assert list(fields) == ["title", "aliases", "tags", "sources", "created", "updated"]
        assert fields["sources"], link
        assert [name for name in page_sections(body) if name] == SECTIONS
        assert "no model wrote it" in body, "it says what it is"


def test_an_article_tells_what_it_knows_with_its_sources(written: Book) -> None:
    text = written.page("concepts/invalidalgorithmerror")
    points = page_sections(split_front_matter(text)[1])["Key Points"]
    assert "fixed by editing" in points
    rows = points.strip().splitlines()
    assert len(rows) == 2
    assert all(
        re.search(r"\(\[\[daily/\d{4}-\d\d-\d\d\|[^]]+\]\], claude-code, `m[0-9a-f]{8}`\)$", row)
        for row in rows
    )


def test_a_connection_names_at_least_two_concepts_that_exist(written: Book) -> None:
    """CM-23: which link back to it."""
    connections = written.vault.links("connections")
    assert connections
    for link in connections:
        fields, body = split_front_matter(written.page(link))
        assert len(fields["connects"]) >= 2
        for concept in fields["connects"]:
            assert concept in links_in(body)
            assert link in links_in(written.page(concept))


def test_the_index_has_one_row_for_each_article_and_none_for_a_missing_one(written: Book) -> None:
    """CM-25: after every compilation, also when people have added or deleted an article."""
    row = re.compile(r"^\| \[\[([^\]\\|]+)", re.MULTILINE)
    assert sorted(row.findall(written.page("index"))) == sorted(written.vault.articles())
    written.vault.page("concepts/working-agreements").unlink()
    written.vault.page("concepts/mine").write_text("# Mine | with a bar\n\nWords.\n")
    written.says("2026-11-02", "something about mail.py")
    written.compiles()
    rows = row.findall(written.page("index"))
    assert sorted(rows) == sorted(written.vault.articles())
    assert "concepts/mine" in rows
    assert "concepts/working-agreements" not in rows


def test_the_log_gains_one_entry_for_each_thing_done_and_is_only_appended_to(
    house: House, book: Book
) -> None:
    """CM-26: compile, ask and lint, with time and what was created and updated."""
    book.says("2026-11-14", "we moved auth.py to the keys folder")
    seen = ""
    for words, entry in (
        (("compile",), "compile"),
        (("ask", "where is auth.py?"), "ask"),
        (("ask", "--file-back", "where is auth.py?"), "ask"),
        (("lint",), "lint"),
    ):
        run(house, *words)
        now = book.page("log")
        assert now.startswith(seen)
        tail = now[len(seen) :]
        assert len(re.findall(rf"^## \d{{4}}-\d\d-\d\d \d\d:\d\d {entry}$", tail, re.MULTILINE)) == 1
        assert re.search(r"^- created: ", tail, re.MULTILINE)
        assert re.search(r"^- updated: ", tail, re.MULTILINE)
        seen = now
    assert "- created: `concepts/auth-py`" in seen
    assert "- created: `qa/where-is-auth-py`" in seen


def test_links_are_folder_and_slug_and_none_is_broken(written: Book) -> None:
    """CM-27: without extension, slugs lowercase with hyphens; all pages, as Obsidian follows them."""
    assert written.broken() == []
    for link in written.vault.articles():
        assert re.fullmatch(r"(?:concepts|connections|qa)/[a-z0-9]+(?:-[a-z0-9]+)*", link)
    targets = {target for text in written.pages().values() for target in links_in(text)}
    assert not any(target.endswith(".md") for target in targets)
    assert slug("Ünïcode / Größe__x.PY") == "unicode-grosse-x-py".replace("grosse", "groe")


def test_a_grown_log_is_read_from_where_it_was_left(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    """CM-58: only the tail, if the compiled part is its exact beginning; else all of it."""
    read: list[str] = []
    whole = log_notes.notes_in

    def spy(text: str, *rest: object) -> list[Note]:
        read.append(text)
        return whole(text, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(compiler, "notes_in", spy)
    book.says("2026-11-15", "first we moved auth.py")
    book.compiles()
    book.says("2026-11-15", "then we moved mail.py")
    assert stale_logs(book.vault) == [compiler.Stale("2026-11-15", "grown")]
    book.compiles()
    assert "auth.py" not in read[-1]
    assert "mail.py" in read[-1]
    path = book.vault.page("daily/2026-11-15")
    path.write_text(path.read_text().replace("first we moved auth.py", "first we deleted auth.py"))
    assert stale_logs(book.vault) == [compiler.Stale("2026-11-15", "changed")]
    book.compiles()
    assert "deleted auth.py" in read[-1]
    article = book.page("concepts/auth-py")
    assert "deleted auth.py" in article
    assert "first we moved auth.py" not in article, "what the log no longer says is gone"


def test_an_article_that_nothing_is_left_of_goes_with_every_link_to_it(written: Book) -> None:
    written.says("2026-11-02", "the mailer in src/mail.py sends twice")
    written.compiles()
    assert "concepts/src-mail-py" in written.vault.links("concepts")
    path = written.vault.page("daily/2026-11-02")
    path.write_text("# Daily log 2026-11-02\n")
    done = written.compiles()
    assert "concepts/src-mail-py" in done.removed
    assert written.broken() == []


def test_a_failed_compilation_changes_nothing_and_exits_non_zero(
    house: House, book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CM-50: no page and no state."""
    book.says("2026-11-15", "we moved auth.py")
    before = book.snapshot()

    def fail(*_: object) -> None:
        raise Failed("the sky fell")

    monkeypatch.setattr(rollup, "put_highlights", fail)
    assert run(house, "compile").exit_code != 0
    assert book.snapshot() == before
    monkeypatch.undo()
    monkeypatch.setenv("BACKSTORY_TZ", "UTC")
    assert run(house, "compile").exit_code == 0
    assert "concepts/auth-py" in book.vault.links("concepts")


def judged(house: House, words: str, act: Act, text: str = "") -> str:
    """A person judges the decision that has these words; gives its handle."""
    statuses = list(MemoryStatus)
    with App(house.home) as app:
        [memory] = [one for one in app.memories([MemoryKind.DECISION], statuses) if words in one.text]
        app.judge(memory.id, act, text)
    return memory.id[:9]


def test_what_a_person_rejects_leaves_the_wiki_and_comes_back_if_it_is_restored(
    house: House, written: Book
) -> None:
    """NC-42: the wiki keeps no copy of its own: it tells what the memory says now. The log stays as it is."""
    log = {page: text for page, text in written.pages().items() if page.startswith("daily/")}
    handle = judged(house, "RS256", Act.REJECT)
    holding = [page for page, text in written.pages().items() if handle in text]
    assert "concepts/decision-use-rs256-for-the-tokens" in holding
    told = run(house, "ask", "why RS256 for the tokens?").stdout
    assert handle not in told, "at once, before anything is compiled"
    assert handle not in run(house, "session", "bootstrap").stdout
    done = written.compiles()
    assert [each.how for each in done.days] == ["judged"]
    assert done.removed == ("concepts/decision-use-rs256-for-the-tokens",)
    assert [page for page, text in written.pages().items() if handle in text] == list(log)
    assert written.broken() == []
    assert written.compiles().days == (), "once"
    judged(house, "RS256", Act.RESTORE)
    written.compiles()
    assert sorted(page for page, text in written.pages().items() if handle in text) == sorted(holding)
    assert {page: text for page, text in written.pages().items() if page.startswith("daily/")} == log


def test_what_a_person_words_anew_is_told_in_the_new_words(house: House, written: Book) -> None:
    """NC-42."""
    handle = judged(house, "RS256", Act.EDIT, "Use ES256 for the tokens")
    assert [each.how for each in written.compiles().days] == ["judged"]
    pages = {
        page: text
        for page, text in written.pages().items()
        if handle in text and not page.startswith("daily/") and "Key Points" in text
    }
    assert any("The user decided: use ES256 for the tokens" in text for text in pages.values())
    assert not any("decided: use RS256" in text for text in pages.values())
    assert written.compiles().days == ()


def test_a_damaged_state_is_told_before_a_log_is_compiled_anew(house: House, book: Book) -> None:
    """MEMORIA-11: not silently, not by the worker; lint says it, and whoever names the log has it done."""
    book.says("2026-11-14", "we moved auth.py")
    book.says("2026-11-15", "we moved keys.py")
    book.compiles()
    week = book.page("weekly/2026-W46")
    state = book.vault.own / "days" / "2026-11-14.json"
    for damage in ("[]", '{"hash": 1}', '{"hash": "x', '{"hash": "x", "size": 1, "notes": [7]}'):
        state.write_text(damage)
        book.says("2026-11-15", f"and then {len(damage)}.py")
        done = run(house, "compile")
        assert done.exit_code == 0
        assert "What was compiled of 2026-11-14 is damaged" in done.stderr
        assert "compile --file 2026-11-14.md" in done.stderr
        assert state.read_text() == damage
        assert "we moved auth.py" in book.page("weekly/2026-W46"), "what it says is not lost from its week"
    assert "damaged" in run(house, "lint").stdout
    told = json.loads(run(house, "compile", "--file", "2026-11-14.md", "--json").stdout)
    assert (told["created"], told["damaged"]) == ([], [])
    assert json.loads(state.read_text())["notes"]
    assert list(state.parent.glob("2026-11-14.json.bak-*")), "moved aside, for whoever wants to look"
    assert stale_logs(book.vault) == []
    assert set(week.splitlines()) <= set(book.page("weekly/2026-W46").splitlines())


def test_a_long_log_is_read_in_pieces_of_whole_sections(book: Book) -> None:
    """MEMORIA-34: they concatenate to the log, byte by byte; a section that is too long is a piece of its own."""
    sections_ = [f"### {n:02}:00 · x\r\n\n- part{n}.py {'é' * (50 + 400 * (n == 3))}\n" for n in range(8)]
    text = "# Daily log\n\nBegin.\n#### no section\n" + "".join(sections_) + "the end, without a line break"
    pieces = daily_log.log_chunks(text, 200)
    assert "".join(pieces) == text
    assert all(piece.startswith("### ") for piece in pieces[1:])
    assert all(len(piece) <= 200 or piece.count("\n### ") == 0 for piece in pieces)
    assert any(len(piece) > 200 for piece in pieces)
    assert max(piece.count("### ") for piece in pieces) > 1, "several that fit go together"
    assert daily_log.log_chunks("") == []
    book.says("2026-11-14", "begin")
    path = book.vault.page("daily/2026-11-14")
    rows = "".join(f"\n### Part {n}\n\n- the notes{n}.py {'word ' * 60}\n" for n in range(400))
    path.write_text(path.read_text() + rows)
    assert len(daily_log.log_chunks(path.read_text())) > 1
    book.compiles()
    assert {f"concepts/notes{n}-py" for n in range(400)} <= set(book.vault.links("concepts"))


def test_a_log_of_which_a_piece_fails_is_not_compiled(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    """MEMORIA-35: state is written after all pieces have succeeded."""
    book.says("2026-11-13", "we moved auth.py")
    book.compiles()
    before = book.snapshot()
    path = book.vault.page("daily/2026-11-13")
    path.write_text(
        path.read_text() + "\n### More\n\n- moved mail.py again\n\n### Last\n\n- moved last.py too\n"
    )
    written = path.read_bytes()
    whole = log_notes._notes

    def failing(text: str, *rest: object) -> object:
        if "last.py" in text:
            raise Failed("a piece too hard to read")
        return whole(text, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(log_notes, "_notes", failing)
    monkeypatch.setattr(daily_log.log_chunks, "__defaults__", (10,))
    with pytest.raises(Failed):
        book.compiles()
    assert book.snapshot() == {**before, "daily/2026-11-13.md": written}
    assert [each.how for each in stale_logs(book.vault)] == ["grown"]
    monkeypatch.undo()
    assert [each.how for each in book.compiles().days] == ["grown"]
    assert "concepts/last-py" in book.vault.links("concepts")


STRIKES = [f"{name}=KILL@{time}" for name in STEPS if name.startswith("compile.") for time in (1, 3)]


@pytest.mark.faults
@pytest.mark.parametrize("strike", STRIKES)
def test_a_compilation_killed_at_any_step_is_taken_back_by_the_next(written: Book, strike: str) -> None:
    """CM-59, NC-40: with its state; the next run then says what it took back, and finishes."""
    written.says("2026-11-02", "mail.py and src/auth/tokens.py belong together")
    before = written.snapshot()
    environment = {
        **os.environ,
        "BACKSTORY_HOME": str(written.house.home.root),
        "BACKSTORY_TZ": "UTC",
        "BACKSTORY_STRIKE": strike,
    }
    command = [sys.executable, "-m", "backstory", "compile"]
    struck = subprocess.run(
        command, env=environment, cwd=written.house.project, capture_output=True, timeout=60
    )
    begun = unfinished_pages(written.vault)
    if struck.returncode == 0:
        assert strike.endswith("@3"), "a step that is passed once"
        assert not strike.startswith("compile.page"), "many pages are written"
        return
    assert struck.returncode == -signal.SIGKILL
    if strike.startswith(("compile.begun", "compile.page")):
        assert begun, "what was begun and not finished is known"
        with written.vault.held():
            assert take_back(written.vault) == begun
    now = {name: data for name, data in written.snapshot().items() if not name.startswith(".backstory/undo")}
    if strike.startswith("compile.done"):
        assert now != before
    else:
        assert now == before
    done = written.compiles()
    assert done.days or strike.startswith("compile.done")
    assert "concepts/mail-py" in written.vault.links("concepts")
    assert written.broken() == []
    assert not (written.vault.own / "undo").exists()


def test_what_people_wrote_after_a_kill_is_not_taken_back(book: Book) -> None:
    book.says("2026-11-15", "x")
    with book.vault.held():
        changes = Changes(book.vault)
        changes.put("concepts/a.md", "new")
        changes.put("concepts/b.md", "new")
        undo = book.vault.file(".backstory/undo")
        undo.mkdir()
        manifest = [
            {"page": name, "was": False, "new": compiler.content_digest(b"new")}
            for name in ("concepts/a.md", "concepts/b.md")
        ]
        (undo / "manifest.json").write_text(json.dumps(manifest))
        book.vault.page("concepts/a").parent.mkdir()
        book.vault.page("concepts/a").write_text("new")
        book.vault.page("concepts/b").write_text("mine")
        take_back(book.vault)
    assert book.page("concepts/a") == ""
    assert book.page("concepts/b") == "mine"


def test_a_compilation_takes_on_so_much_and_leaves_the_rest_on_record(house: House, book: Book) -> None:
    """CM-60, NC-41: by number and by time; past days first; what is left is said, once, and not marked done."""
    for day in range(10, 16):
        book.says(f"2026-11-{day}", f"we moved part{day}.py")
    done = book.compiles(limits=Limits(logs=2, seconds=60))
    assert [each.day for each in done.days] == ["2026-11-10", "2026-11-11"]
    assert done.left == ("2026-11-12", "2026-11-13", "2026-11-14", "2026-11-15")
    assert [each.day for each in stale_logs(book.vault)] == list(done.left), "unverified work has no stamp"
    record = json.loads((book.vault.own / "skipped.json").read_text())["skipped"]
    assert record[0]["what"] == "compile"
    done = book.compiles(limits=Limits(logs=60, seconds=0))
    assert [each.day for each in done.days] == ["2026-11-12"], "at least one, then the time is over"
    assert any("4 logs left" in said for said in done.skipped), "what was left out is surfaced"
    done = book.compiles()
    assert any("3 logs left" in said for said in done.skipped)
    assert not (book.vault.own / "skipped.json").exists(), "and then removed"
    assert book.compiles().skipped == ()


def test_the_worker_compiles_what_is_stale_when_the_interval_has_passed(
    house: House, book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    """MEMORIA-19, MEMORIA-20: changed AND interval passed, at whatever hour; the interval is a setting."""
    logged_in(house.told()).ends()
    book.writes_down()
    assert book.vault.articles()
    compiled = book.vault.state("compiled")["at"]
    house.sets("knowledge.interval_minutes", "0")
    with house.store.transaction():
        house.store.meta.set("written_down", "")  # once an hour all projects are looked at
    book.writes_down()
    assert book.vault.state("compiled")["at"] == compiled, "nothing changed, whatever time has passed"
    house.sets("knowledge.interval_minutes", "90")
    book.says("2026-11-02", "we moved mail.py")
    house.told().starts().prompts("Count whales").stops("Twelve.").ends()
    book.writes_down()
    assert "concepts/mail-py" not in book.vault.articles(), "not so soon"
    [job] = [each for each in house.store.jobs.all("waiting") if each.kind == "compile"]
    assert job.not_before == compiled + 90 * 60_000, "it waits for its time, not for an hour of the day"
    monkeypatch.setenv("BACKSTORY_COMPILE_INTERVAL_MIN", "0")
    house.told().starts().prompts("Count whales again").stops("Thirteen.").ends()
    book.writes_down()
    assert "concepts/mail-py" in book.vault.articles()


def test_a_clock_that_was_a_year_ahead_holds_nothing_up_when_it_is_right_again(
    house: House, book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = clock.now_ms
    monkeypatch.setattr(clock, "now_ms", lambda: right() + 400 * 86_400_000)
    logged_in(house.told()).ends()
    book.writes_down()
    book.says("2026-11-02", "we moved mail.py")
    house.told().starts().prompts("Count whales").stops("Twelve.").ends()
    book.writes_down()
    [job] = [each for each in house.store.jobs.all("waiting") if each.kind == "compile"]
    assert job.not_before > right() + 399 * 86_400_000
    leased = house.store.jobs.lease(job.not_before, "compile")
    assert leased is not None
    with house.store.transaction():
        house.store.jobs.failed(leased, "the disk was full", job.not_before, 5)
    monkeypatch.setattr(clock, "now_ms", right)
    house.told().starts().prompts("Count whales again").stops("Thirteen.").ends()
    book.writes_down()
    assert "concepts/mail-py" in book.vault.articles()
    assert book.vault.state("compiled")["at"] <= right()


def test_weeks_and_highlights_stay_small_and_keep_who_said_it(book: Book) -> None:
    """NC-37: however much was logged."""
    for day in range(2, 16):
        lines = [
            f"number {number} of day {day}: we decided about part{number}.py and wrote a long line of it " * 3
            for number in range(40)
        ]
        book.says(f"2026-11-{day:02}", *lines, source=f"agent-{day}")
    book.compiles()
    weeks = book.vault.links("weekly")
    assert weeks == ["weekly/2026-W45", "weekly/2026-W46"] or weeks == [
        "weekly/2026-W45",
        "weekly/2026-W46",
        "weekly/2026-W44",
    ]
    for page in weeks:
        text = book.page(page)
        assert len(text) < rollup.WEEK_CHARS + 1_000
        assert re.search(r"\], agent-\d+\)", text)
        assert "more in the daily logs" in text
    highlights = book.page("highlights")
    assert 0 < len(highlights) < rollup.HIGHLIGHT_CHARS + 500
    assert re.search(r"\], agent-\d+\)", highlights)


def test_the_runbook_says_what_was_run_here_and_keeps_peoples_words(house: House, book: Book) -> None:
    logged_in(house.told()).ends()
    book.writes_down()
    page = book.vault.page("RUNBOOK")
    assert "`ruff check .`" in page.read_text()
    page.write_text(
        page.read_text().replace("# Runbook", "# Runbook\n\nAsk Anna before a deploy.") + "\nMy end.\n"
    )
    book.compiles(everything=True)
    text = page.read_text()
    assert "Ask Anna before a deploy." in text
    assert text.endswith("\nMy end.\n")
    assert text.count("`ruff check .`") == 1


def test_the_wiki_makes_no_memories_and_memories_no_second_wiki(house: House, book: Book) -> None:
    """NC-42: compiling and asking add nothing to the memory, and a typed fact stands on its own page only."""
    logged_in(house.told()).ends()
    book.writes_down()
    run(house, "remember", "--type", "reference", "The whale register is kept at whales.example")
    with App(house.home) as app:
        before = app.status().memories
    run(house, "compile", "--all")
    run(house, "ask", "--file-back", "what failed in the login test?")
    with App(house.home) as app:
        assert app.status().memories == before
    holding = [page for page, text in book.pages().items() if "The whale register is kept at" in text]
    assert holding == [
        "facts/index",
        next(iter(link for link in book.vault.links("facts") if "whale" in link)),
    ]
    told = [
        row
        for page in book.vault.links("concepts")
        for row in book.page(page).splitlines()
        if row.startswith("- ") and "`m" in row and "fixed by" in row
    ]
    assert len(told) == len(set(told)), "a note is told in one article"


def test_the_format_is_brought_up_to_date_by_its_owner_once_and_an_unknown_one_is_refused(
    house: House, book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    """NC-45: byte-identical when current."""
    book.says("2026-11-15", "x")
    path = book.vault.own / "format.json"
    before = path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_ino
    assert migrate_vault(book.vault) is False
    assert (path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_ino) == before
    path.unlink()
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    with pytest.raises(Failed, match="another user"):
        migrate_vault(book.vault)
    monkeypatch.undo()
    monkeypatch.setenv("BACKSTORY_TZ", "UTC")
    assert migrate_vault(book.vault) is True
    assert path.read_bytes() == before[0]
    path.write_text('{"version": 2}')
    log = book.page("daily/2026-11-15")
    assert run(house, "log", "2026-11-15", "--append", "--line", "y").exit_code == 1
    assert run(house, "compile").exit_code == 4
    assert path.read_text() == '{"version": 2}'
    assert book.page("daily/2026-11-15") == log


@pytest.mark.parametrize(
    "broken", ['{"version": "x"}', '{"version": -1}', "[", "", "{}", "[1]", "[" * 100_000]
)
def test_a_broken_format_file_is_kept_aside_and_work_goes_on(house: House, book: Book, broken: str) -> None:
    book.says("2026-11-15", "the gateway is called gate-7")
    path = book.vault.own / "format.json"
    path.write_text(broken)
    assert run(house, "log", "2026-11-15", "--append", "--line", "y").exit_code == 0
    assert json.loads(path.read_text()) == {"version": 1}
    (kept,) = path.parent.glob("format.json.bak-*")
    assert kept.read_text() == broken
    for command in (["compile"], ["ask", "gateway"], ["lint"]):
        assert run(house, *command).exit_code == 0, command


@pytest.mark.parametrize("broken", ["[]", '{"at": "soon"}', '{"at": null}', "{", "7"])
def test_a_broken_note_of_the_last_compilation_is_kept_aside_and_work_goes_on(
    house: House, book: Book, broken: str
) -> None:
    logged_in(house.told()).ends()
    book.writes_down()
    path = book.vault.own / "compiled.json"
    path.write_text(broken)
    book.says("2026-11-15", "the gateway is called gate-8")
    house.told().starts().prompts("Count whales").stops("Twelve.").ends()
    book.writes_down()
    assert json.loads(path.read_text())["at"] > 0
    (kept,) = path.parent.glob("compiled.json.bak-*")
    assert kept.read_text() == broken
