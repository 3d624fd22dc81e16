"""Asking the memory: brief, search, show, timeline, remember."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .memory import AGENT, SESSION, Memory

HIT = {"id", "kind", "text", "score", "session", "agent", "project", "when"}


# --- brief ------------------------------------------------------------------------------------------------


def test_the_brief_is_the_bare_text(worked: Memory) -> None:
    done = worked.call("brief", "--cwd", str(worked.project), "--agent", AGENT, "--source", "startup")
    assert done.returncode == 0
    assert done.stderr == ""
    assert done.stdout.startswith('<backstory-notes project="shop">')
    assert "RS256" in done.stdout


def test_the_brief_as_json_has_text_chars_and_rows(worked: Memory) -> None:
    made = worked.json("brief")
    assert made["chars"] == len(made["text"])
    assert made["tokens"] > 0
    assert {"id", "section", "text", "when", "agent", "session"} <= made["rows"][0].keys()


def test_nothing_known_is_an_empty_brief_and_valid_json(memory: Memory) -> None:
    """CM-41: nothing known is valid JSON; for programs that read text it is said on stderr alone."""
    assert memory.json("brief") == {"text": "", "chars": 0, "tokens": 0, "rows": []}
    done = memory.call("brief")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith("Nothing is known yet about this project")
    assert done.stderr.count("\n") == 1
    assert not memory.home.exists()


def test_the_brief_is_what_the_installed_hook_prints(worked: Memory) -> None:
    assert worked.ask("install", AGENT, "--yes").exit_code == 0
    worked.ask("config", "worker.linger_seconds", "0")  # the hook starts one
    settings = json.loads((worked.user / ".claude" / "settings.json").read_text())
    command = settings["hooks"]["SessionStart"][0]["hooks"][0]["command"]
    for source in ("startup", "clear", "resume", "compact"):
        payload = {"session_id": SESSION, "cwd": str(worked.project), "source": source}
        asked = worked.ask("brief", "--source", source, "--session", SESSION)
        hook = subprocess.run(
            ["sh", "-c", command],
            input=json.dumps(payload),
            capture_output=True,
            text=True,
            env=worked.environment,
        )
        printed = json.loads(hook.stdout)["hookSpecificOutput"]["additionalContext"] if hook.stdout else ""
        assert asked.stdout.removesuffix("\n") == printed, source


def test_the_brief_says_what_became_of_files_since_it_was_prepared(memory: Memory) -> None:
    file = memory.project / "login.py"
    file.write_text("ALGORITHM = 'RS256'\n")
    os.utime(file, (1, 1))
    memory.hook("SessionStart", source="startup")
    memory.prompt("The login test fails. Fix it.")
    memory.command("pytest tests/test_login.py", "E  jwt.InvalidAlgorithmError: HS256", failed=True)
    edit = {"file_path": str(file), "old_string": "'HS256'", "new_string": "'RS256'"}
    memory.hook("PostToolUse", tool_name="Edit", tool_input=edit, tool_use_id="e", tool_response={})
    memory.command("pytest tests/test_login.py", "1 passed in 0.12s")
    memory.hook("SessionEnd", reason="prompt_input_exit")
    memory.caught_up()
    assert "fixed by editing login.py" in memory.call("brief").stdout
    assert "its files" not in memory.call("brief").stdout
    file.unlink()
    assert "[its files are gone] (m" in memory.call("brief").stdout
    assert [row for row in memory.json("brief")["rows"] if row["text"].endswith("[its files are gone]")]


def test_asking_for_a_brief_leaves_no_receipt(worked: Memory) -> None:
    worked.ask("brief")
    status = worked.json("status")
    assert (status["briefs"], status["spooled"]) == (0, 0)


def test_what_still_waits_in_the_spool_is_in_the_brief(worked: Memory) -> None:
    worked.prompt("And now rotate the signing keys every month, please.")
    assert "rotate the signing keys" in worked.call("brief").stdout


def test_a_source_that_is_switched_off_gets_no_brief(worked: Memory) -> None:
    worked.ask("config", "brief.sources", "resume,compact")
    assert worked.json("brief")["text"] == ""


# --- search -----------------------------------------------------------------------------------------------


def test_search_as_json_keeps_its_contract(worked: Memory) -> None:
    answer = worked.json("search", "login test", "--limit", "3")
    assert answer["abstained"] is False
    assert 0 < len(answer["hits"]) <= 3
    assert answer["hits"][0].keys() >= HIT
    assert all(hit["agent"] == AGENT and hit["project"] == "shop" for hit in answer["hits"])


def test_search_prints_a_handle_that_show_takes(worked: Memory) -> None:
    done = worked.call("search", "RS256")
    assert done.returncode == 0
    hits = [row.split()[0] for row in done.stdout.splitlines() if re.match(r"[em][0-9a-f]{8} ", row)]
    assert hits
    assert "RS256" in worked.call("show", hits[0]).stdout


def test_the_words_of_a_question_need_no_quotes(worked: Memory) -> None:
    assert worked.ask("search", "login", "test").stdout == worked.ask("search", "login test").stdout


def test_an_irrelevant_question_abstains_and_no_floor_does_not(worked: Memory) -> None:
    question = "kubernetes ingress certificates renewal for the tokens cluster"
    answer = worked.json("search", question)
    assert (answer["hits"], answer["abstained"]) == ([], True)
    assert worked.json("search", question, "--no-floor")["hits"]
    done = worked.call("search", question)
    assert done.stdout == ""
    assert "--no-floor" in done.stderr


def test_search_stays_in_its_project_unless_told(worked: Memory, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    done = worked.ask("search", "RS256", "--cwd", str(elsewhere))
    assert done.stdout == ""
    assert "--all" in done.stderr
    assert worked.json("search", "RS256", "--all")["hits"]
    assert worked.json("search", "RS256", "--project", "shop")["hits"]


def test_a_folder_that_is_gone_still_names_its_project(worked: Memory, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    shutil.rmtree(worked.project)
    for words in (["search", "RS256"], ["timeline"], ["brief"]):
        done = worked.call(*words, "--cwd", str(worked.project), cwd=elsewhere)
        assert done.returncode == 0
        assert "RS256" in done.stdout


def test_a_repository_that_is_gone_still_has_its_brief(memory: Memory, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(memory.project)], check=True)
    remote = [
        "git",
        "-C",
        str(memory.project),
        "remote",
        "add",
        "origin",
        "https://example.org/acme/shop.git",
    ]
    subprocess.run(remote, check=True)
    memory.worked_here()
    shutil.rmtree(memory.project)
    for words in (["brief"], ["search", "RS256"]):
        assert "RS256" in memory.call(*words, "--cwd", str(memory.project), cwd=tmp_path).stdout


def test_a_current_folder_that_is_gone_is_known_by_the_shell(worked: Memory) -> None:
    here = worked.project
    script = f"cd {here} && rm -r {here} && exec {sys.executable} -m backstory search RS256"
    done = subprocess.run(["sh", "-c", script], env=worked.environment, capture_output=True, text=True)
    assert (done.returncode, "RS256" in done.stdout) == (0, True), done.stderr


def test_search_in_other_alphabets(memory: Memory) -> None:
    memory.prompt("Die Prüfung der Größe schlägt fehl: überlauf in größe.py. Ошибка сборки тоже.")
    memory.caught_up()
    assert memory.json("search", "Größe Prüfung")["hits"]
    assert "Größe" in memory.call("search", "сборки").stdout


# --- show and timeline ------------------------------------------------------------------------------------


def test_show_tells_a_memory_with_what_it_rests_on(worked: Memory) -> None:
    lesson = next(
        h for h in worked.json("search", "login test", "--limit", "20")["hits"] if h["id"].startswith("m")
    )
    view = worked.json("show", lesson["id"])
    assert view["memory"]["id"] == lesson["id"]
    assert view["sources"]
    assert "Made from" in worked.ask("show", lesson["id"]).stdout


def test_show_tells_a_session_from_start_to_end(worked: Memory) -> None:
    session = worked.json("timeline", "--sessions")["sessions"][0]
    view = worked.json("show", session["id"])
    kinds = [event["kind"] for event in view["events"]]
    assert kinds[0] == "session_started"
    assert kinds[-1] == "session_ended"
    assert view["memories"]
    printed = worked.ask("show", session["id"]).stdout
    assert "What was learned" in printed
    assert "What happened" in printed
    assert "prompt_input_exit" in printed


def test_show_prints_an_events_payload_as_it_was_sent(worked: Memory) -> None:
    event = next(e for e in worked.json("timeline")["events"] if e["kind"] == "tool")
    payload = json.loads(worked.ask("show", event["id"], "--raw").stdout)
    assert payload["tool_name"] == "Bash"
    assert json.loads(worked.json("show", event["id"])["payload"]) == payload


def test_a_handle_may_be_pasted_with_what_stood_around_it(worked: Memory) -> None:
    handle = worked.found("RS256")
    assert worked.ask("show", f"({handle[:9]})").exit_code == 0
    assert worked.ask("show", f"`{handle}`.").exit_code == 0


def test_an_unknown_handle_is_missing_and_an_ambiguous_one_is_usage(worked: Memory) -> None:
    for handle in ("m0000000", "e", "zzz", "x1234567", "m%", "e' OR 1=1 --", "m" * 5000):
        done = worked.ask("show", handle)
        assert done.exit_code == 2
        assert done.stderr.count("\n") == 1
    assert worked.ask("show", worked.found("login"), "--raw").exit_code in (0, 1)


def test_the_timeline_is_newest_first_and_obeys_since_and_limit(worked: Memory) -> None:
    events = worked.json("timeline")["events"]
    assert [e["when"] for e in events] == sorted((e["when"] for e in events), reverse=True)
    assert {e["session"] for e in events} == {events[0]["session"]}
    assert len(worked.json("timeline", "--limit", "2")["events"]) == 2
    assert worked.json("timeline", "--since", "2999-01-01")["events"] == []
    assert len(worked.json("timeline", "--since", "1h")["events"]) == len(events)
    assert "since 2999-01-01" in worked.ask("timeline", "--since", "2999-01-01").stderr


def test_times_are_shown_in_the_users_zone_with_their_age(worked: Memory) -> None:
    worked.extra["BACKSTORY_TZ"] = "Pacific/Kiritimati"  # 14 h ahead of UTC
    there = worked.call("timeline", "--limit", "1").stdout.split()[1:3]
    worked.extra["BACKSTORY_TZ"] = "UTC"
    here = worked.call("timeline", "--limit", "1").stdout.split()[1:3]
    assert there != here
    assert "(just now)" in worked.call("timeline").stdout


# --- remember ---------------------------------------------------------------------------------------------


def test_what_is_remembered_is_found_and_in_the_next_brief(memory: Memory) -> None:
    done = memory.call("remember", "Deploys go out on Tuesdays only.")
    assert done.returncode == 0
    handle = done.stdout.strip()
    assert handle.startswith("m")
    assert "Remembered for shop" in done.stderr
    assert "Deploys go out" in memory.call("brief").stdout
    assert memory.found("Tuesdays") == handle


def test_remember_reads_stdin(memory: Memory) -> None:
    made = json.loads(memory.call("remember", "-", "--json", stdin="Größe zählt\n".encode()).stdout)
    assert made["text"] == "Größe zählt"
    assert made["project"] == "shop"


def test_a_secret_is_not_remembered(memory: Memory) -> None:
    memory.call("remember", "The token is ghp_R8x2LmQ0vTz5Yk7Ns3Pd1Wc9Bf6Hj4Ga2Ue, keep it.")
    for path in memory.home.rglob("*"):
        assert not path.is_file() or b"ghp_R8x2LmQ0" not in path.read_bytes()


@pytest.mark.parametrize("text", ["", "   ", "\n"])
def test_nothing_cannot_be_remembered(memory: Memory, text: str) -> None:
    assert memory.ask("remember", text).exit_code == 1
    assert memory.ask("remember", "-", stdin=text.encode()).exit_code == 1
