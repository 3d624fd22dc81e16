"""`backstory search` as people and agents type it, and the calls that it prints."""

import json
import random
import re
import subprocess
import sys
import time
from zoneinfo import ZoneInfo

import pytest

from backstory import clock
from backstory.app import App
from backstory.paths import Home
from backstory.upkeep import retention_policy

from .memory import Memory

HANDLE = re.compile(r"^([em][0-9a-f]{8})  \d{4}-\d\d-\d\d · ", re.MULTILINE)


@pytest.fixture
def busy(memory: Memory) -> Memory:
    """Several sessions about caches, long and short."""
    for n, word in enumerate(("redis", "memcached", "sqlite", "varnish")):
        session = f"00000000-0000-4000-8000-00000000000{n}"
        memory.prompt(f"The {word} cache is stale after a deploy. Why?", session=session)
        memory.command(
            f"cat logs/{word}.log", f"{word} cache line\n" * 400 + f"{word} evicted", session=session
        )
        memory.command(f"make {word}", f"{word} cache refused the connection", failed=True, session=session)
        memory.command(f"make {word}", "ok", session=session)
        memory.hook(
            "Stop",
            session=session,
            last_assistant_message=f"The {word} cache had no expiry and evicted all. It has one now.",
        )
    memory.caught_up()
    return memory


def test_every_hit_has_its_date_and_the_handle_that_shows_its_source(busy: Memory) -> None:
    """CCE-57: on one line, since what is printed costs an agent's tokens."""
    done = busy.call("search", "stale cache after a deploy")
    hits = busy.json("search", "stale cache after a deploy")["hits"]
    assert len(HANDLE.findall(done.stdout)) == len(hits) > 2


def test_the_handles_that_are_printed_work_when_they_are_pasted(busy: Memory) -> None:
    """CCE-58: a random sample of questions; each call, as it stands, returns the source of its hit."""
    chance = random.Random(7)
    words = ["redis", "cache", "deploy", "evicted", "varnish", "make", "expiry", "refused", "connection"]
    tried = 0
    for _ in range(4):
        question = " ".join(chance.sample(words, 2))
        hits = busy.json("search", question, "--no-floor", "--limit", "20")["hits"]
        printed = busy.ask("search", question, "--no-floor", "--limit", "20").stdout
        calls = [f"backstory show {handle}" for handle in HANDLE.findall(printed)]
        assert len(calls) == len(hits)
        for call, hit in chance.sample(list(zip(calls, hits, strict=True)), 3):
            shown = subprocess.run(
                ["sh", "-c", call], env=busy.environment, cwd=busy.project, capture_output=True, text=True
            )
            assert shown.returncode == 0, shown.stderr
            whole = " ".join(shown.stdout.split())
            for line in hit["text"].splitlines():
                told = re.split(" → | … ", " ".join(line.removeprefix("$ ").split()))[0]
                assert told[:60] in whole, (call, line)
            tried += 1
    assert tried == 12


def test_the_printed_handles_of_many_hits_are_those_of_the_hits(busy: Memory) -> None:
    """CCE-58: every one of them, in this process."""
    for question in ("cache", "make", "evicted", "deploy"):
        for hit in busy.json("search", question, "--no-floor", "--limit", "50")["hits"]:
            shown = busy.json("show", hit["id"][:9])
            assert hit["id"] in json.dumps(shown)


def test_an_event_says_whether_its_payload_is_there_aged_out_or_never_was(
    busy: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CCE-59"""
    event = next(e for e in busy.json("timeline")["events"] if e["kind"] == "tool")
    assert "--raw` prints it" in " ".join(busy.ask("show", event["id"]).stdout.split())
    note = busy.call("remember", "Deploys go out on Tuesdays").stdout.strip()
    [source] = busy.json("show", note)["sources"]
    assert "payload none of its own" in " ".join(busy.ask("show", source["id"]).stdout.split())
    busy.ask("config", "retention.payload_days", "1")
    real = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: real() + 3 * 86_400 * 10**9)
    with App(Home(busy.home)) as app:
        retention_policy.prune_expired(app.home, app.settings, app.store, lambda: False)
    assert "payload aged out" in " ".join(busy.ask("show", event["id"]).stdout.split())
    assert busy.ask("show", event["id"], "--raw").exit_code == 2


def test_a_decision_is_kept_cleaned_found_and_confirmed(memory: Memory) -> None:
    """CCE-60: it needs a text, secrets and addresses are taken out, it is stored as a decision, indexed and
    confirmed; a later one on the same matter takes its place."""
    assert "nothing to remember" in memory.ask("remember", "  ").stderr
    done = memory.call("remember", "We chose Postgres over MySQL; ask jane.roe@shopmail.io about it.")
    assert "Remembered for shop as a decision" in done.stderr
    handle = done.stdout.strip()
    kept = memory.json("show", handle)["memory"]
    assert "Postgres over MySQL" in kept["text"]
    assert "jane.roe" not in kept["text"]
    assert (kept["kind"], kept["status"]) == ("decision", "confirmed")
    assert memory.found("Postgres MySQL") == handle
    assert memory.json("search", "Postgres", "--kind", "decision")["hits"][0]["id"] == handle
    older = memory.call("remember", "We decided to use Kafka for the order events").stdout.strip()
    done = memory.call("remember", "We decided to use NATS instead of Kafka for the order events")
    assert f"It takes the place of {older[:9]}." in done.stderr
    newer = done.stdout.strip()
    assert memory.json("show", older)["label"].startswith(f"superseded by {newer[:9]}")
    brief = memory.json("brief", "--agent", "claude-code")
    assert {row["id"] for row in brief["rows"] if row["section"] == "decisions"} == {handle, newer}
    assert memory.json("remember", "We chose SQLite over BerkeleyDB", "--kind", "fact")["kind"] == "fact"


def test_a_decision_of_one_session_is_found_in_a_later_one_after_a_restart(memory: Memory) -> None:
    """CCE-61: each of these is a process of its own."""
    memory.worked_here()
    memory.prompt("Something else entirely", session="22222222-2222-4222-8222-222222222222")
    found = json.loads(memory.call("search", "which algorithm signs the tokens", "--json").stdout)
    assert any("RS256" in hit["text"] for hit in found["hits"])
    code = "from backstory.app import App\nwith App() as app: print(app.search('RS256 Safari', None).hits[0].text)"
    again = subprocess.run(
        [sys.executable, "-c", code], env=memory.environment, capture_output=True, text=True, check=True
    )
    assert "RS256" in again.stdout


def test_a_decision_that_was_recorded_is_found_in_a_later_session_after_a_restart(memory: Memory) -> None:
    """CCE-61: recorded by a command, taken in by a worker, found by other processes in another session."""
    memory.call("remember", "We decided to sign the invoices with Ed25519, as the bank wants it")
    memory.caught_up()
    memory.prompt("Something else entirely", session="22222222-2222-4222-8222-222222222222")
    memory.caught_up()
    [hit] = json.loads(memory.call("search", "which algorithm signs the invoices", "--json").stdout)["hits"]
    assert "Ed25519" in hit["text"]
    assert hit["kind"] == "decision"
    assert "Ed25519" in memory.call("brief", "--agent", "claude-code").stdout


@pytest.mark.parametrize(
    "question",
    [
        "x" * 1_000_000, "login " * 100_000, 'a" OR b', "NEAR(a b, 3)", "text : x", "a* ^b", "NOT AND OR",
        "the of and", "🙂", "🙂🙃 👩‍👩‍👧", "\u202e\u200b", "((((", "--", "scope : p", "'; DROP TABLE passages; --",
        "\ud800", "%", "_", "\\", "a\nb\tc", "٣٤٥",
    ],
)  # fmt: skip
def test_bad_questions_give_a_clear_result(worked: Memory, question: str) -> None:
    done = worked.ask("search", "--json", "--", question)
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout).keys() >= {"hits", "abstained"}
    assert worked.ask("search", "--", question).exit_code == 0


@pytest.mark.parametrize("question", ["", "   ", "\0", "\n\t"])
def test_an_empty_question_is_refused_with_what_to_write(worked: Memory, question: str) -> None:
    done = worked.ask("search", "--", question)
    assert (done.exit_code, done.stdout) == (1, "")
    assert "nothing to search for" in done.stderr


def test_filters_and_their_mistakes_are_named(worked: Memory) -> None:
    found = worked.json("search", "login", "--kind", "prompt", "--agent", "claude-code", "--since", "1h")[
        "hits"
    ]
    assert {hit["kind"] for hit in found} == {"prompt"}
    assert worked.json("search", "login", "--file", "tests/test_login.py")["hits"]
    assert worked.json("search", "login", "--until", "2w")["hits"] == []
    assert worked.ask("search", "login", "--since", "soonish").exit_code == 1
    assert worked.ask("search", "login", "--status", "wrong").exit_code == 1
    for option, value, says in (
        ("--kind", "nonsense", "there is no kind 'nonsense': known are "),
        ("--agent", "claude", "did you mean 'claude-code'?"),
        ("--agent", "codex", "no session of codex is remembered: known are claude-code, docs, user"),
        ("--branch", "no-such", "nothing happened on a branch 'no-such'"),
        ("--file", "./nowhere.py", "nothing is known that touched 'nowhere.py'"),
    ):
        done = worked.ask("search", "login", option, value)
        assert (done.exit_code in (1, 2), done.stdout) == (True, "")
        assert says in done.stderr
        assert len(done.stderr.splitlines()) == 1
    assert worked.json("search", "login", "--file", "./tests/test_login.py")["hits"]


def test_a_time_that_ends_before_it_begins_is_refused(worked: Memory) -> None:
    done = worked.ask("search", "login", "--since", "2026-03-02", "--until", "2026-03-01")
    assert (done.exit_code, done.stdout) == (1, "")
    assert "--since is later than --until" in done.stderr
    assert worked.ask("search", "login", "--since", "2026-03-02", "--until", "2026-03-02").exit_code == 0


def test_small_words_alone_find_nothing(worked: Memory) -> None:
    for words in ("what", "the", "a AND", "what.", "with"):
        assert worked.json("search", words)["hits"] == [], words
    assert worked.json("search", "the", "--no-floor")["hits"]


def test_a_question_that_is_too_long_to_be_read_is_said_to_be(worked: Memory) -> None:
    told = "Of the question only the first 2,000 characters were read."
    assert told in worked.ask("search", "login " * 400).stderr
    assert worked.json("search", "login " * 400)["reading"] == told
    assert told not in worked.ask("search", "login " * 300).stderr


def test_a_file_that_was_moved_is_found_by_its_new_name(memory: Memory) -> None:
    def git(*words: str) -> None:
        who = ("-c", "user.name=A", "-c", "user.email=a@b.example")
        subprocess.run(["git", *who, *words], cwd=memory.project, check=True, capture_output=True)

    file = memory.project / "tests" / "test_login.py"
    file.parent.mkdir(exist_ok=True)
    file.write_text("".join(f"line {number}\n" for number in range(20)))
    git("init")
    git("add", ".")
    git("commit", "-m", "All")
    memory.worked_here()
    git("mv", "tests/test_login.py", "tests/test_sign_in.py")
    for name in ("tests/test_sign_in.py", "./tests/test_sign_in.py", "test_sign_in.py"):
        told = memory.json("search", "login", "--file", name)
        assert told["hits"], name
        assert "as “tests/test_login.py”" in told["reading"]
    git("commit", "-m", "Moved")
    git("mv", "tests/test_sign_in.py", "tests/test_entry.py")
    git("commit", "-m", "Moved again")
    assert memory.json("search", "login", "--file", "tests/test_entry.py")["hits"]
    assert memory.ask("search", "login", "--file", "tests/test_exit.py").exit_code == 2


def test_words_that_look_like_an_option_are_told_how_to_be_searched_for(worked: Memory) -> None:
    done = worked.ask("search", "--no-verify")
    assert done.exit_code == 1
    assert "write -- before it: `backstory search -- --no-verify`" in done.stderr
    assert worked.ask("search", "--", "--no-verify").exit_code == 0


def test_how_many_hits_there_are_is_a_setting(busy: Memory) -> None:
    """CCE-55: seven, or what is set; what cannot be is not, and told."""

    def hits(*options: str) -> int:
        return len(busy.json("search", "cache", "--no-floor", *options)["hits"])

    assert hits() == 7
    busy.call("config", "search.max_hits", "3")
    assert (hits(), hits("--limit", "5")) == (3, 5)
    for wrong in ("0", "101", "many"):
        assert busy.ask("config", "search.max_hits", wrong).exit_code == 1
        (busy.home / "settings.toml").write_text(
            f"[search]\nmax_hits = {wrong if wrong != 'many' else repr(wrong)}\n"
        )
        assert hits() == 7
        assert "search.max_hits" in busy.ask("search", "cache").stderr


def test_explained_the_marks_and_the_way_of_searching_are_told(worked: Memory) -> None:
    done = worked.call("search", "login test", "--explain")
    explained = re.findall(r"score (\S+) = (.*) · relevance \d", done.stdout)
    assert explained
    for score, parts in explained:
        named = dict(re.findall(r"([a-z ]+?) (-?\d\.\d+)(?: \+ |$)", parts))
        assert {"words", "context", "meaning", "priors"} <= set(named)
        assert sum(map(float, named.values())) == pytest.approx(float(score), abs=1e-9)
    assert "-0.0000" not in done.stdout
    assert "Searched by words and meaning (all-MiniLM-L6-v2-int8)." in done.stderr


def test_the_project_where_it_is_asked_comes_first_among_all(worked: Memory) -> None:
    there = worked.project.parent / "other"
    there.mkdir()
    worked.call("remember", "The lighthouse lamp is changed by Ann", "--cwd", str(there))
    worked.call("remember", "The lighthouse lamp is changed by Bob")
    for folder, name in ((there, "Ann"), (worked.project, "Bob")):
        done = worked.call("search", "lighthouse lamp", "--all", "--json", cwd=folder)
        assert name in json.loads(done.stdout)["hits"][0]["text"]


def test_a_time_that_holds_nothing_is_told(worked: Memory) -> None:
    done = worked.ask("search", "what did we do in 2019")
    assert (done.exit_code, done.stdout) == (0, "")
    told = done.stderr.splitlines()
    assert told[0].startswith("Nothing of 2019 is remembered in this project. The nearest after: ")
    assert told[1].endswith("; --all searches every project.")
    as_json = worked.json("search", "what did we do in 2019")
    assert (as_json["hits"], as_json["time_note"]) == ([], told[0])
    beside = worked.ask("search", "login test in 2019")
    assert beside.stdout
    assert "these are of other times" in beside.stderr
    assert worked.ask("search", "login test").stderr == ""


def test_silence_ends_in_what_to_try_next(worked: Memory) -> None:
    """CCE-54"""
    done = worked.ask("search", "how to bake a sourdough bread with rye")
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr.endswith(
        "is relevant enough; --no-floor shows the nearest, --all searches every project.\n"
    )
    everywhere = worked.ask("search", "--all", "how to bake a sourdough bread with rye").stderr
    assert everywhere.endswith("is relevant enough; --no-floor shows the nearest.\n")


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Pacific/Pago_Pago", "UTC"])
def test_dates_are_days_of_the_users_zone_and_the_last_one_is_included(worked: Memory, zone: str) -> None:
    worked.extra["BACKSTORY_TZ"] = zone
    events = worked.json("timeline")["events"]
    first, last = (clock.day_of(at, ZoneInfo(zone)) for at in (events[-1]["when"], events[0]["when"]))
    before = clock.day_of(events[-1]["when"] - 86_400_000, ZoneInfo(zone))
    found = [hit["id"] for hit in worked.json("search", "login")["hits"]]
    within = worked.json("search", "login", "--since", first, "--until", last)["hits"]
    assert [hit["id"] for hit in within] == found
    assert worked.json("search", "login", "--until", before)["hits"] == []
    assert worked.json("timeline", "--since", first)["events"] == events
    shown = worked.json("forget", "--since", first, "--until", last, "--dry-run")
    assert len(shown["events"]) == len(events)
    assert worked.json("forget", "--until", before, "--dry-run")["events"] == []


def test_a_typing_error_is_told(busy: Memory) -> None:
    """In data with the words, to a person in a sentence on stderr."""
    assert busy.json("search", "evcited cache")["read_as"] == [{"typed": "evcited", "word": "evicted"}]
    assert "Read “evcited” as “evicted”." in busy.call("search", "evcited cache").stderr
    assert busy.json("search", "evicted cache")["read_as"] == []
