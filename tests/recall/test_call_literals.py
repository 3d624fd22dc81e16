"""What a call's payload is searched for before Python starts: it may let too many pass, and never too few."""

import json
import os
import random
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from backstory.app import App
from backstory.hook.payload import parse_payload
from backstory.hook.work_notes import before_tool
from backstory.recall.call_literals import call_literals, filter_file, with_literals
from tests.recall.desk import Desk, finds_another_way
from tests.story import House

ROOT = "/srv/shop"
LONG = f"very-{'long/' * 30}name"
WORDS = [
    *("make", "ship", "git", "commit", "npm", "run", "lint", "python", "-q", "./load.py", "load.py", "x"),
    *(
        '"a',
        'b"',
        "don't",
        "C:\\test\\new",
        "übung",
        "日本",
        "a<b>&c",
        "k=v",
        "./",
        "././x",
        "--all",
        "\x07z",
    ),
    *(
        *("python", "python3", "node", "-u", "-m", "scripts/load.py", "run.mjs"),
        "pytest",
        "tests/test_tax.py",
        "\U0001f600",
        "$(date)",
        "timeout",
        "5",
        "time",
        "sudo",
        LONG,
        "A=1",
        "\ufffd",
    ),
]
SPACES = [
    " ",
    " ",
    " ",
    "  ",
    "\t",
    " \t",
    "\t ",
    "\n",
    "\n ",
    "\r\n",
    "\xa0",
    "\u2003",
    "\x0b",
    "\f",
    "\x1f",
]
SIGNS = ["&&", " && ", ";", " || ", " | ", "\n", " > out ", " | tail -3", " 2>&1", " <<EOF\n"]
FILES = [LONG, "cache.py", "src/it's.py", "übung.py", "日本.md", 'say "hi".txt', "a\\b.c", "tab\there", "x"]


def plain(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")


def as_go_writes(value: object) -> bytes:
    text = json.dumps(value, ensure_ascii=False)
    for char in "<>&\u2028":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text.encode()


def as_php_writes(value: object) -> bytes:
    return json.dumps(value).replace("/", "\\/").encode()


def as_a_table(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent="\t").encode()


ENCODERS: list[Callable[[object], bytes]] = [
    plain, lambda value: json.dumps(value, separators=(",", ":")).encode(), as_go_writes, as_php_writes, as_a_table,
]  # fmt: skip


def passes(prepared: dict[str, Any], payload: bytes) -> bool:
    """Whether `grep` would find one of the literals in a line."""
    literals = filter_file(call_literals(prepared)).split(b"\n")[:-1]
    return any(literal in line for literal in literals for line in payload.split(b"\n"))


def command(chance: random.Random) -> str:
    words = chance.choices(WORDS, k=chance.randint(1, 5))
    text = words[0]
    for word in words[1:]:
        text += chance.choice(SIGNS if chance.random() < 0.15 else SPACES) + word
    return chance.choice(["", "", "", "cd /x && ", "time ", "sudo ", " "]) + text


class Asked(dict[str, list[str]]):
    """A table of notes that has each key that it is asked for."""

    def get(self, key: str, _: object = None) -> list[str]:
        return [key]


def keys_of(payload: bytes, table: str) -> list[str]:
    """The keys under which the hook would look for a note on such a call."""
    return before_tool(parse_payload(payload), {table: Asked()}, ROOT)


@pytest.mark.parametrize("table", ["commands", "stems", "edits"])
def test_whatever_note_a_call_has_its_payload_passes_however_it_is_written(
    table: str,
) -> None:
    chance = random.Random(7)
    looked = 0
    for _ in range(4_000):
        given: dict[str, Any]
        if table == "edits":
            file = chance.choice(["", f"{ROOT}/", "/else/where/"]) + chance.choice(FILES)
            given = {"file_path": file, "old_string": "a = 1", "new_string": "a = 2", "content": "new"}
        else:
            given = {"command": command(chance)}
        payload = {"cwd": ROOT, "tool_name": "Bash", "tool_input": given}
        for encode in ENCODERS:
            for key in keys_of(encode(payload), table):
                looked += 1
                assert passes({table: {key: ["m1"]}}, encode(payload)), (key, given, encode)
    assert looked > 4_000


def test_a_call_passes_whatever_spaces_it_is_written_with() -> None:
    for text in ("make ship", "make   ship", "make\tship", "make \t ship", "make\n ship", "make ./ship",
                 "make ././ship", "make\xa0ship", "make\r\nship", "cd /x && make ship 2>&1", "make ./ ship"):  # fmt: skip
        for table in ("commands", "stems"):
            payload = plain({"tool_input": {"command": text}})
            for key in keys_of(payload, table):
                assert passes({table: {key: ["m1"]}}, payload), (text, key)


def test_what_has_no_note_has_no_literal_and_another_call_does_not_pass(tmp_path: Path) -> None:
    prepared = {
        "commands": {"make ship": ["m1"], "make nothing": []},
        "stems": {"git commit": ["e1"], "go vet": []},
        "edits": {"src/cache.py\n0123": ["m2"]},
    }
    literals = call_literals(prepared)
    assert "make ship" in literals
    assert "git commit" in literals
    assert "src/cache.py" in literals
    assert not any("nothing" in each or "vet" in each for each in literals)
    for text in ("ls -la", "make check && git status", "shipmake", "cat cache.py"):
        assert not passes(prepared, plain({"tool_input": {"command": text}})), text
    file = tmp_path / "literals"
    file.write_bytes(filter_file(literals))
    for text, code in (("ls -la", 1), ("git  commit -m x", 0), ("ls\r", 0), ("ls\xa0", 0)):
        data = plain({"tool_input": {"command": text}})
        done = subprocess.run(
            ["grep", "-qaF", "-f", file], input=data, env={"LC_ALL": "C", "PATH": os.defpath}
        )
        assert done.returncode == code, text


def test_what_grep_is_given_stays_small_whatever_commands_ran() -> None:
    """It is read at every call of every agent, in whatever project the long commands ran."""
    texts = [f"./run-{number} {chr(97 + number % 26) * 3000}" for number in range(40)]
    few = filter_file(call_literals({"commands": {text: ["m1"] for text in texts}}))
    assert max(map(len, few.split(b"\n"))) < 60
    prepared = {"commands": {f"./run-some-script-{number:06}": ["m1"] for number in range(20_000)}}
    for file in (filter_file(call_literals(prepared)), with_literals(few, call_literals(prepared))):
        assert len(file) < 64 * 1024
        lines = [line for line in file.decode().split("\n") if line]
        payload = plain({"tool_input": {"command": "./run-some-script-000007"}}).decode()
        assert any(line in payload for line in lines), (
            "too many to be told apart: then every call is looked at"
        )
        assert with_literals(file, ["another literal"]) == file


def test_a_filter_takes_up_what_is_new_and_keeps_what_it_has() -> None:
    file = filter_file(["make ship"])
    assert with_literals(file, ["make ship"]) == file
    assert with_literals(file, ["git commit"]) == filter_file(["make ship", "git commit"])


# --- the installed hook ------------------------------------------------------------------------------------


def leaves_every_kind(house: House) -> None:
    """Notes on a command, on an edit, on a written file, on a command whose like failed."""
    finds_another_way(house)
    story = house.session().starts().prompts("Make the cache faster")
    story.edits("cache.py", "TTL = 60", "TTL = 86400").runs(
        "pytest", fails="Exit code 1\nE  stale entries: 3"
    )
    story.edits("cache.py", "TTL = 86400", "TTL = 60").stops("I took it back.").ends()
    story = house.session().starts().prompts("Ship the übung release")
    for _ in range(2):
        story.runs('make "übung" ship', fails="Exit code 2\nError: cannot open the ledger of last year")
    story.stops("The übung release does not ship: the ledger of last year must be restored first.").ends()
    house.works()


@pytest.fixture
def desk(house: House) -> Desk:
    return Desk(house)


def test_every_kind_of_note_is_said_with_the_filter_as_without_it(house: House, desk: Desk) -> None:
    leaves_every_kind(house)
    literals = house.home.call_literals
    kept = literals.read_bytes()
    calls: list[Callable[[str], str]] = [
        lambda session, text=text: desk.is_about_to_run(text, session=session)
        for text in (
            *(
                "python load.py",
                "python   ./load.py",
                "cd /x&&python\tload.py | tail -3",
                "git pull;python load.py",
            ),
            *('make "übung" ship', 'make  "übung"\nship', "make something", "pytest", "pytest -q tests/x.py"),
            *("ls", "echo python load.py", "git status", "cat cache.py", ""),
        )
    ] + [
        lambda session: desk.is_about_to_edit("cache.py", "TTL = 60", "TTL = 86400", session=session),
        lambda session: desk.is_about_to_edit("cache.py", "TTL = 60", "TTL = 120", session=session),
        lambda session: desk.is_about_to_write("cache.py", "TTL = 86400\n", session=session),
    ]
    said = silent = 0
    for number, call in enumerate(calls):
        with_filter = call(f"with {number}")
        literals.unlink()
        without = call(f"without {number}")
        literals.write_bytes(kept)
        assert with_filter == without
        said += bool(without)
        silent += not without
    assert said >= 7
    assert silent >= 5


def test_the_filter_is_private_of_all_projects_and_follows_the_notes(house: House, tmp_path: Path) -> None:
    finds_another_way(house)
    literals = house.home.call_literals
    assert b"load.py" in literals.read_bytes()
    assert literals.stat().st_mode & 0o777 == 0o600
    (prepared,) = house.home.notes.glob("*.json")
    other = prepared.with_name("p0000000000000000.json")
    other.write_text(json.dumps({"commands": {"make elsewhere": ["m1"]}}))
    for outdated in (None, b"load.py\n", b""):
        literals.unlink()
        if outdated is not None:
            literals.write_bytes(outdated)
        finds_another_way(house)
        assert b"elsewhere" in literals.read_bytes()
        assert b"load.py" in literals.read_bytes()


def test_other_projects_notes_are_read_again_once_a_day_and_not_each_time(house: House) -> None:
    """Else what a worker does for each of a thousand projects grows with their number."""
    finds_another_way(house)
    literals = house.home.call_literals
    (prepared,) = house.home.notes.glob("*.json")
    other = prepared.with_name("p0000000000000000.json")
    other.write_text(json.dumps({"commands": {"make elsewhere": ["m1"]}}))
    leaves_every_kind(house)
    assert "übung".encode() in literals.read_bytes()
    assert b"load.py" in literals.read_bytes()
    assert b"elsewhere" not in literals.read_bytes()
    yesterday = literals.stat().st_mtime - 2 * 86_400
    os.utime(literals, (yesterday, yesterday))
    finds_another_way(house)
    assert b"elsewhere" in literals.read_bytes()
    assert literals.stat().st_mtime > yesterday + 86_400


def test_what_is_forgotten_is_in_no_filter_when_forget_returns(
    house: House, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even if no worker comes to prepare anew what is left."""
    finds_another_way(house)
    assert b"load.py" in house.home.call_literals.read_bytes()
    with monkeypatch.context() as patch, App(house.home) as app:
        patch.setattr(App, "_have_done", lambda self: None)
        app.forget(app.wanted([], text="python load.py"), really=True)
    assert not house.home.call_literals.exists()
    house.works()
    assert b"load.py" not in house.home.call_literals.read_bytes()


def test_without_a_grep_that_can_every_call_is_looked_at(house: House, desk: Desk, tmp_path: Path) -> None:
    finds_another_way(house)
    script = house.home.hook / "hook.sh"
    grep = shutil.which("grep", path="/bin:/usr/bin")
    assert grep is not None
    other = tmp_path / "grep"
    other.write_text("#!/bin/sh\necho 'unknown option -a' >&2\nexit 2\n")
    other.chmod(0o755)
    body = script.read_text()
    for number, stands_for in enumerate(("/nowhere/grep", str(other))):
        script.write_text(body.replace(grep, stands_for))
        assert script.read_text() != body
        assert desk.is_about_to_run("python load.py", session=f"s{number}"), stands_for
