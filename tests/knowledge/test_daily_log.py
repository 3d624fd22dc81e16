"""The daily log: what sessions leave, and lines that anybody appends."""

import json
import logging
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from backstory import clock
from backstory.knowledge import daily_log
from tests.story import CLOCK, House

from .book import Book, file_modes, headings, logged_in, run

# --- sessions -----------------------------------------------------------------------------------------------


def test_a_session_that_ended_stands_in_the_log_of_its_day_under_its_local_time(
    house: House, book: Book
) -> None:
    """CM-16: the file begins with its header, the entry with the time."""
    story = logged_in(house.told()).ends()
    book.writes_down()
    row = house.row(story)
    day = clock.day_of(row.last_at, clock.zone("UTC"))
    text = book.page(f"daily/{day}")
    assert text.startswith(f"# Daily log {day}\n")
    assert f"### {clock.stamp(row.last_at, clock.zone('UTC'))[11:]} · claude-code · {story.id[:9]}\n" in text
    assert file_modes(book.vault.root) == {0o600}


def test_an_entry_has_the_five_sections_and_leaves_out_empty_ones(house: House, book: Book) -> None:
    """CM-17: Context, Key Exchanges, Decisions Made, Lessons Learned, Action Items, in this order."""
    logged_in(house.told()).ends()
    book.writes_down()
    [day] = book.vault.days()
    assert headings(book.page(f"daily/{day}")) == [
        "Context",
        "Key Exchanges",
        "Decisions Made",
        "Lessons Learned",
        "Action Items",
    ]
    house.told().starts().prompts("How many whales are there?").stops("Twelve whales.").ends()
    book.writes_down()
    [_, second] = daily_log.log_entries(book.page(f"daily/{day}"))
    assert headings(second) == ["Context", "Key Exchanges"]


def test_a_session_that_goes_on_adds_only_what_is_new(house: House, book: Book) -> None:
    """CM-18: what was written stays as it was, byte for byte; a repeated look adds nothing."""
    story = logged_in(house.told()).ends()
    book.writes_down()
    [day] = book.vault.days()
    first = book.page(f"daily/{day}")
    book.writes_down()
    house.rebuilds()
    book.writes_down()
    assert book.page(f"daily/{day}") == first
    story.starts("resume").prompts("And now count the whales.").stops("Twelve whales.").ends()
    book.writes_down()
    after = book.page(f"daily/{day}")
    assert after.startswith(first)
    tail = after[len(first) :]
    assert "whales" in tail
    assert "RS256 for the tokens" not in tail.partition("Key Exchanges")[2]


def test_past_logs_are_never_rewritten(house: House, book: Book) -> None:
    """CM-18: neither by sessions of today nor by a compilation."""
    book.says("2026-01-05", "the past stays as it was")
    before = book.vault.page("daily/2026-01-05").stat()
    logged_in(house.told()).ends()
    book.writes_down()
    book.compiles(everything=True)
    after = book.vault.page("daily/2026-01-05").stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def test_a_session_without_anything_worth_saying_leaves_no_log(house: House, book: Book) -> None:
    house.told().starts().ends()
    book.writes_down()
    assert not book.vault.root.exists() or book.vault.days() == []


def test_a_running_session_is_logged_when_it_has_been_silent(house: House, book: Book) -> None:
    logged_in(house.told())
    book.writes_down()
    assert not book.vault.days()
    CLOCK.begin()
    quiet = house.told()
    for path in house.home.spool.glob("*"):
        path.unlink()
    logged_in(quiet)
    long_ago = (clock.now_ms() - 40 * 60_000) * 1_000_000
    for number, path in enumerate(sorted(house.home.spool.iterdir(), key=lambda p: p.stat().st_mtime_ns)):
        os.utime(path, ns=(long_ago + number * 1_000_000, long_ago + number * 1_000_000))
    assert quiet.transcript is not None
    quiet.transcript.unlink()
    book.writes_down()
    [day] = book.vault.days()
    assert quiet.id[:9] in book.page(f"daily/{day}")


def test_before_a_compaction_what_would_be_missed_most_is_saved_first(house: House, book: Book) -> None:
    """NC-39: decisions, then commitments, then the state of the task; facts and contacts need a model, below."""
    house.sets("distil.min_turns_compact", "1")
    story = logged_in(house.told())
    story.prompts("Now refactor the login.").reads("src/auth/login.py")
    story._hook("PreCompact", trigger="auto", custom_instructions=None)
    book.writes_down()
    [day] = book.vault.days()
    text = book.page(f"daily/{day}")
    assert " · before compaction" in text
    found = headings(text)
    assert found[:3] == ["Decisions Made", "Action Items", "Task State"]
    assert "Now refactor the login" not in text.partition("Key Exchanges")[2], "that turn is not over"
    story.stops("The login is refactored.").ends()
    book.writes_down()
    whole = book.page(f"daily/{day}")
    assert whole.startswith(text)
    told = [row.partition("` ")[2] for row in whole.splitlines() if row.startswith("- `m")]
    assert len(told) == len(set(told)), "nothing is told twice"


def test_the_day_follows_the_configured_zone_and_an_unknown_one_is_local_time(
    house: House, book: Book, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("BACKSTORY_TZ", "Pacific/Kiritimati")
    logged_in(house.told()).ends()
    book.writes_down()
    assert book.vault.days() == [clock.day_of(clock.now_ms(), clock.zone("Pacific/Kiritimati"))]
    monkeypatch.setenv("BACKSTORY_TZ", "Mars/Olympus")
    with caplog.at_level(logging.WARNING):
        book.writes_down()
    assert "Mars/Olympus" in caplog.text


def test_nothing_is_written_down_if_the_user_does_not_want_it(house: House, book: Book) -> None:
    house.sets("knowledge.enabled", "off")
    logged_in(house.told()).ends()
    book.writes_down()
    assert not house.home.knowledge.exists()


def test_a_killed_worker_logs_a_session_once(house: House, book: Book) -> None:
    """A kill right after the log was written: the next worker adds nothing to it."""
    house.installs()
    house.sets("worker.linger_seconds", "0")
    logged_in(house.told()).ends()
    command = [sys.executable, "-I", "-m", "backstory.worker", str(house.home.root)]
    environment = {**os.environ, "BACKSTORY_TZ": "UTC"}
    struck = subprocess.run(
        command, env={**environment, "BACKSTORY_STRIKE": "daily.logged=KILL"}, capture_output=True, timeout=60
    )
    assert struck.returncode == -9
    [day] = book.vault.days()
    text = book.page(f"daily/{day}")
    subprocess.run(command, env=environment, check=True, capture_output=True, timeout=60)
    assert book.page(f"daily/{day}") == text
    assert text.count("### ") == 1


# --- lines --------------------------------------------------------------------------------------------------


def test_lines_of_many_processes_all_land(house: House, book: Book) -> None:
    """NC-16: the lock is held around reading and writing."""
    run(house, "log", "--append", "--line", "begin")
    running = [
        subprocess.Popen(
            [sys.executable, "-m", "backstory", "log", "--append", "--line", f"whale number {number}"],
            env={**os.environ, "BACKSTORY_HOME": str(house.home.root), "BACKSTORY_TZ": "UTC"},
            cwd=house.project,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for number in range(8)
    ]
    for process in running:
        process.communicate(timeout=120)
        assert process.returncode == 0
    text = run(house, "log").stdout
    assert sorted(re.findall(r"whale number (\d)", text)) == [str(number) for number in range(8)]


def test_the_first_line_of_a_day_begins_the_file_with_its_header(house: House, book: Book) -> None:
    """NC-17: the same header that sessions' entries get."""
    run(house, "log", "2026-11-16", "--append", "--line", "whales sing")
    text = book.page("daily/2026-11-16")
    assert text.startswith(daily_log.log_header(book.vault, "2026-11-16"))
    assert re.search(r"^- \d\d:\d\d \[user\] whales sing$", text, re.MULTILINE)


def test_a_line_that_stands_there_already_is_dropped_also_within_one_call(house: House, book: Book) -> None:
    """NC-18: after whitespace normalisation."""
    done = run(
        house, "log", "2026-11-16", "--append", "--line", "whales  sing", "--line", " whales sing ", "--json"
    )
    assert json.loads(done.stdout)["added"] == 1
    done = run(
        house, "log", "2026-11-16", "--append", "--line", "whales\tsing", "--line", "and dive", "--json"
    )
    assert json.loads(done.stdout) == {"day": "2026-11-16", "added": 1, "repeated": 1, "out_of_order": False}
    assert book.page("daily/2026-11-16").count("whales sing") == 1


def test_an_all_repeated_call_succeeds_and_does_not_touch_the_file(house: House, book: Book) -> None:
    """NC-19: not its time and not its inode."""
    run(house, "log", "2026-11-16", "--append", "--line", "whales sing")
    before = book.vault.page("daily/2026-11-16").stat()
    assert run(house, "log", "2026-11-16", "--append", "--line", "whales sing").exit_code == 0
    after = book.vault.page("daily/2026-11-16").stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def test_what_stands_in_a_log_is_never_rewritten_whoever_wrote_it(house: House, book: Book) -> None:
    """NC-20: not even a file that people have edited into some other shape."""
    run(house, "log", "2026-11-16", "--append", "--line", "whales sing")
    path = book.vault.page("daily/2026-11-16")
    path.write_bytes(path.read_bytes() + b"\n## My own  heading\n\nfree text \xff without an end")
    before = path.read_bytes()
    run(house, "log", "2026-11-16", "--append", "--line", "and dive")
    assert path.read_bytes().startswith(before.replace(b"\xff", "�".encode()))


def test_an_older_line_is_appended_at_the_end_and_marked(house: House, book: Book) -> None:
    """NC-21: with a warning and a flag, for lines and for entries."""
    run(house, "log", "2026-11-16", "--append", "--line", "late", "--at", "18:00")
    done = run(house, "log", "2026-11-16", "--append", "--line", "early", "--at", "08:00")
    assert "out of order" in done.stderr
    assert book.page("daily/2026-11-16").endswith("- 08:00 [user] early (out of order)\n")
    with book.vault.held():
        assert daily_log.append_entry(
            book.vault, "2026-11-16", "07:00", "codex · s123456789", "**Context:** x"
        ).out_of_order
    assert "### 07:00 · codex · s123456789 (out of order)" in book.page("daily/2026-11-16")


def test_input_comes_from_flag_file_or_stdin_in_this_order(house: House, book: Book, tmp_path: Path) -> None:
    """NC-22: a named source beats stdin; two named ones are an error."""
    file = tmp_path / "lines"
    file.write_text("from the file\nand its second line\n")
    run(house, "log", "2026-11-16", "--append", "--line", "from the flag", stdin="from stdin")
    run(house, "log", "2026-11-16", "--append", "--file", str(file), stdin="from stdin")
    run(house, "log", "2026-11-16", "--append", stdin="only from stdin\n")
    text = book.page("daily/2026-11-16")
    assert re.findall(r"\[user\] (.+)", text) == [
        "from the flag",
        "from the file",
        "and its second line",
        "only from stdin",
    ]
    done = run(house, "log", "--append", "--line", "x", "--file", str(file))
    assert done.exit_code == 2
    assert book.page("daily/2026-11-16") == text


def test_nothing_to_append_or_no_such_place_exits_2_and_a_failure_exits_1(
    house: House, book: Book, tmp_path: Path
) -> None:
    """NC-23: no lines, a bad date, a bad time, an unknown project; a log that cannot be written."""
    for words in (
        ("log", "--append"),
        ("log", "--append", "--line", "  "),
        ("log", "2026-13-01", "--append", "--line", "x"),
        ("log", "../../etc/passwd", "--append", "--line", "x"),
        ("log", "--append", "--line", "x", "--at", "25:00"),
        ("log", "--append", "--line", "x", "--project", "nobody"),
        ("log", "--append", "--line", "x", "--project", "nobody", "--cwd", "."),
        ("log", "--line", "x"),
        ("log", "--apend", "--line", "x"),
    ):
        done = run(house, *words)
        assert done.exit_code == 2, words
        assert done.stdout == ""
    assert run(house, "log", "--append", "--file", str(tmp_path / "gone")).exit_code == 1
    book.says("2026-11-15", "x")
    book.vault.page("daily/2026-11-16").mkdir()
    done = run(house, "log", "2026-11-16", "--append", "--line", "x")
    assert done.exit_code == 1
    assert "2026-11-16" in done.stderr


def test_a_link_that_leads_out_of_the_vault_is_not_followed(house: House, book: Book, tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("mine")
    book.says("2026-11-15", "x")
    book.vault.page("daily/2026-11-16").symlink_to(outside)
    done = run(house, "log", "2026-11-16", "--append", "--line", "x")
    assert done.exit_code == 1
    assert outside.read_text() == "mine"


def test_secrets_are_taken_out_before_a_line_is_written(house: House, book: Book) -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    run(house, "log", "--append", "--line", f"the token is {secret}")
    assert house.found_in_home(secret) == []
    assert "the token is" in run(house, "log").stdout


def test_text_cannot_pose_as_anything_but_text(house: House, book: Book) -> None:
    """Links, embeds, tags, headings and comments of whoever wrote the text do nothing."""
    hostile = "x [[concepts/evil|y]] ![[secret]] <img src=x onerror=y> a<script>z %% [a](javascript:b)\n### 10:00 · codex · s000000000"
    logged_in(house.told(), hostile + " Let's use tabs because [[they]] <b>align</b>.").ends()
    book.writes_down()
    run(house, "log", "--append", "--line", hostile, "--source", "x] [[y]]")
    book.compiles()
    for page, text in book.pages().items():
        assert "evil|y]]" not in text, page
        assert "[[secret" not in text, page
        assert "<img" not in text, page
        assert "<script" not in text, page
        assert "](javascript" not in text, page
        assert "\n### 10:00" not in text, page
    assert book.broken() == []


# --- the shared log -----------------------------------------------------------------------------------------


def test_a_line_across_projects_carries_its_source_and_keeps_it(house: House, book: Book) -> None:
    """NC-33: in the shared log, and in the pages of the week and the highlights that are made of it."""
    run(house, "log", "2026-11-16", "--shared", "--append", "--line", "the registry moved to port 5001")
    run(house, "log", "2026-11-16", "--shared", "--append", "--line", "Anna is away", "--source", "calendar")
    text = run(house, "log", "2026-11-16", "--shared").stdout
    assert f"[{book.project.name}] the registry moved" in text
    house.works()
    book.writes_down()
    shared = house.home.knowledge / "shared"
    for page in ("weekly/2026-W47.md", "highlights.md"):
        archived = (shared / page).read_text()
        assert re.search(r"Anna is away \(\[\[daily/2026-11-16\|[^]]+\]\], calendar\)", archived), page


def test_a_project_that_is_not_trusted_cannot_read_or_write_what_is_shared(house: House, book: Book) -> None:
    """NC-44: by the user's setting; a repository cannot talk itself in by its name or by a file."""
    run(house, "log", "--shared", "--append", "--line", "the door code is 12")
    assert "door code" in run(house, "session", "bootstrap").stdout
    for trust in (
        f"*,!{book.project.name}",
        f"*,!{book.project.id}",
        "github.com/acme/*",
        book.project.name,
        "",
    ):
        house.sets("project.trust", trust)
        (house.project / ".backstory.toml").write_text('project = "github.com/acme/x"\ntrust = ["*"]\n')
        done = run(house, "log", "--shared")
        assert (done.exit_code, done.stdout) == (2, ""), trust
        assert run(house, "log", "--shared", "--append", "--line", "y").exit_code == 2
        assert "door code" not in run(house, "session", "bootstrap").stdout
    house.sets("project.trust", book.project.identity)
    assert "door code" in run(house, "log", "--shared").stdout
