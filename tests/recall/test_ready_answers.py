"""Finished answers: the shell says what Python would say, byte for byte, or leaves it to Python."""

import json
import os
import shutil
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backstory.app import App
from backstory.capture.hook_bundle import write_hook_files, write_hook_settings
from backstory.hook import session_brief, spool
from backstory.hook.spool import RECEIPT, read_spooled
from backstory.recall import ready_answers
from backstory.settings import load_settings
from backstory.upkeep.erasure import ErasureRequest
from tests.conftest import Git
from tests.hook.stage import SHELLS
from tests.story import House

every_shell = pytest.mark.parametrize("shell", sorted(SHELLS))
HOSTILE = (
    "`touch {0}/ran` $(touch {0}/ran) '; touch {0}/ran; ' \" \\ \\' %s %n \\036 ${{HOME}}",
    "'\\''$(touch {0}/ran)'\\''",
    "!touch && touch {0}/ran\n`touch {0}/ran`\n\x1b[31m\x00\x07",
    "é ü \u2028 日本 " * 40,
)


@dataclass
class Start:
    """What a start printed, what its receipt says, and whether Python made the answer."""

    output: bytes
    receipt: dict[str, Any]
    by_python: bool


class Counter:
    """The hooks of a house, with an interpreter that notes each time it is asked to answer."""

    def __init__(self, house: House, tmp_path: Path) -> None:
        self.house = house
        self.note = tmp_path / "answered"
        python = tmp_path / "python"
        python.write_text(
            f'#!/bin/sh\n[ "$2" = -S ] || exit 0\n: >>"{self.note}"\nexec "{sys.executable}" "$@"\n'
        )
        python.chmod(0o755)
        write_hook_files(house.home.root, str(python))
        write_hook_settings(house.home.root, load_settings(house.home)[0].for_hook({}))

    def works(self) -> None:
        while self.house.works():
            pass

    def start(
        self,
        folder: Path | None = None,
        shell: str = "dash",
        agent: str = "claude-code",
        data: bytes = b"",
        env: dict[str, str] | None = None,
        **fields: Any,
    ) -> Start:
        """Run a start's hook; the spool is as before when it is done."""
        folder = folder or self.house.project
        payload = {
            "session_id": str(uuid.uuid4()),
            "transcript_path": "/nowhere/t.jsonl",
            "cwd": str(folder),
            "hook_event_name": "SessionStart",
            "source": "startup",
        } | fields
        data = data or json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode()
        before = set(self.house.home.spool.iterdir())
        self.note.unlink(missing_ok=True)
        done = subprocess.run(
            [*SHELLS[shell], "-c", self.house.command("SessionStart", agent)],
            input=data,
            capture_output=True,
            timeout=60,
            check=False,
            cwd=folder,
            env=env or {"PATH": ""},
        )
        assert (done.returncode, done.stderr) == (0, b"")
        receipt = {}
        for path in set(self.house.home.spool.iterdir()) - before:
            said = read_spooled(str(path))
            assert said is not None, f"{path.name} has no end"
            if f".{RECEIPT}." in path.name:
                receipt = json.loads(said)
            else:
                assert said == data, "what the agent sent is kept as it was"
            path.unlink()
        return Start(done.stdout, receipt, self.note.exists())

    def both(self, **how: Any) -> Start:
        """A start the fast way if it can be, and the same with no answer prepared: both must say the same."""
        how.setdefault("session_id", str(uuid.uuid4()))
        fast = self.start(**how)
        ready, away = self.house.home.ready, self.house.home.root / "ready.away"
        if ready.is_dir():
            ready.rename(away)
        slow = self.start(**how)
        if away.is_dir():
            away.rename(ready)
        assert slow.by_python
        assert fast.output == slow.output
        assert fast.receipt.keys() | {"at"} == slow.receipt.keys() | {"at"}
        assert {**fast.receipt, "at": 0} == {**slow.receipt, "at": 0}
        return fast


@pytest.fixture
def counter(house: House, tmp_path: Path) -> Counter:
    made = Counter(house, tmp_path)
    story = (
        house.session()
        .starts()
        .prompts("Round the discount. We decided to round half-even in auth.py, always.")
    )
    story.edits("auth.py").runs("python -m unittest", "OK").stops(
        "The discount is rounded half-even now."
    ).ends()
    time.sleep(0.02)  # what follows is later than what the worker looks at, on a coarse clock, too
    made.works()
    return made


@every_shell
def test_a_plain_start_is_answered_without_python(counter: Counter, shell: str) -> None:
    said = counter.both(shell=shell)
    assert not said.by_python
    assert b"half-even" in said.output
    assert b"systemMessage" in said.output
    assert said.receipt["shown"]
    assert said.receipt["source"] == "startup"


def test_what_the_worker_makes_of_it_is_the_same(counter: Counter) -> None:
    """The start and its receipt are stored like any: what was told counts as told."""
    house = counter.house
    before = set(house.home.spool.iterdir())
    story = house.session()
    fast = json.dumps(story.payload("SessionStart", source="startup"), separators=(",", ":")).encode()
    counter.note.unlink(missing_ok=True)
    done = subprocess.run(
        ["/bin/sh", "-c", house.command("SessionStart")],
        input=fast, capture_output=True, check=True, cwd=house.project, env={"PATH": ""},
    )  # fmt: skip
    assert done.stdout
    assert not counter.note.exists()
    story.prompts("And now?").stops("Nothing.")
    assert before < set(house.home.spool.iterdir())
    counter.works()
    (given,) = house.store.briefs.of_session(story.id)
    assert given.source == "startup"
    assert given.shown
    assert abs(given.at - time.time() * 1000) < 60_000


@pytest.mark.parametrize("source", ["resume", "clear", "compact", "fork"])
def test_any_other_start_is_left_to_python(counter: Counter, source: str) -> None:
    assert counter.both(source=source).by_python


@pytest.mark.parametrize(
    "odd",
    [
        '{{"cwd":"{cwd}","source":"resume","x":{{"source":"startup"}},"session_id":"a"}}',
        '{{"source":"startup","cwd":"/","session_id":"a","x":["cwd"],"cwd":"{cwd}/.."}}',
        '{{"cwd":"{cwd}","source":"startup","source":"resume","session_id":"a"}}',
        '{{"cwd":"{cwd}","session_id":"a","text":"\\"source\\":\\"startup\\"","source":"compact"}}',
        '{{"cwd":"{cwd}","source":"startup","session_id":"a\\"b"}}',
        '{{"cwd":"{cwd}","source":"startup","session_id":"../../etc"}}',
        '{{"cwd":"{cwd}","source":"startup","session_id":""}}',
        '{{"cwd":"{cwd}","source":"startup"}}',
        '{{\n"cwd":"{cwd}","source":"startup","session_id":"a"\n}}',
        '{{"cwd":"{cwd}","source":"startup","session_id":"' + "a" * 300 + '"}}',
    ],
)
def test_a_payload_that_is_not_plain_is_left_to_python(counter: Counter, odd: str) -> None:
    data = odd.format(cwd=counter.house.project).encode()
    assert counter.both(data=data).by_python


def test_another_spelling_of_the_folder_is_left_to_python(counter: Counter, tmp_path: Path) -> None:
    project = counter.house.project
    link = tmp_path / "link"
    link.symlink_to(project)
    assert counter.both(folder=link).by_python
    assert counter.both(cwd=f"{project}/").by_python
    (project / "sub").mkdir()
    assert counter.both(folder=project / "sub").by_python


@every_shell
def test_whatever_waits_is_told(counter: Counter, shell: str) -> None:
    counter.house.session().prompts("A word that nobody has distilled yet")
    waits = sorted(counter.house.home.spool.iterdir())
    said = counter.both(shell=shell)
    assert said.by_python
    assert b"nobody has distilled" in said.output
    for path in waits:
        path.unlink()
    assert not counter.both(shell=shell).by_python
    counter.house.session().starts().ends()  # nothing of these is told
    assert not counter.both(shell=shell).by_python


Change = Callable[[House, Git], object]
CHANGES: dict[str, Change] = {
    "a file that a row speaks of is written": lambda h, _: (h.project / "auth.py").write_text("x = 9\n"),
    "a file that a row speaks of is gone": lambda h, _: (h.project / "auth.py").unlink(),
    "an older file takes its place": lambda h, _: shutil.copy2(_old_file(h), h.project / "auth.py"),
    "another branch": lambda h, git: git(h.project, "checkout", "--quiet", "-b", "other"),
    "a remote": lambda h, git: git(h.project, "remote", "add", "origin", "https://example.com/a/b.git"),
    "the settings": lambda h, _: write_hook_settings(
        h.home.root, load_settings(h.home)[0].for_hook({}) | {"budget_chars": 900}
    ),
    "the folder is ignored": lambda h, _: write_hook_settings(
        h.home.root, load_settings(h.home)[0].for_hook({}) | {"ignore_projects": [str(h.project)]}
    ),
    "no briefs at all": lambda h, _: write_hook_settings(
        h.home.root, load_settings(h.home)[0].for_hook({}) | {"sources": ["resume"]}
    ),
    "the rows": lambda h, _: [
        path.write_bytes(path.read_bytes().replace(b"half-even", b"half-odd"))
        for path in h.home.briefs.glob("p*.json")
    ],
    "no rows": lambda h, _: [
        path.replace(path.with_suffix(".old")) for path in h.home.briefs.glob("p*.json")
    ],
    "a worker in trouble": lambda h, _: h.home.trouble.write_text('{"since": 1}'),
    "the repository is gone": lambda h, _: shutil.rmtree(h.project / ".git"),
    "another repository was moved here": lambda h, git: _replaced(h.project, git),
    "the hook's own code": lambda h, _: (h.home.hook / "stamp").write_text("another\n"),
}


def _old_file(house: House) -> Path:
    file = house.home.root.parent / "old.py"
    file.write_text("x = 8\n")
    os.utime(file, (1_000_000_000, 1_000_000_000))
    return file


def _replaced(project: Path, git: Git) -> None:
    other = project.parent / "other"
    shutil.copytree(project, other, copy_function=shutil.copy2)
    git(other, "checkout", "--quiet", "-b", "elsewhere")
    os.utime(other / ".git" / "HEAD", (1_700_000_000, 1_700_000_000))
    project.rename(project.parent / "was")
    other.rename(project)


@pytest.mark.parametrize(
    ("change", "shell"),
    [(change, sorted(SHELLS)[number % len(SHELLS)]) for number, change in enumerate(sorted(CHANGES))],
)
def test_what_the_answer_was_made_from_has_changed(
    counter: Counter, git: Git, change: str, shell: str
) -> None:
    assert not counter.start(shell=shell).by_python
    CHANGES[change](counter.house, git)
    assert counter.both(shell=shell).by_python


def test_a_repository_around_or_within_is_noticed(counter: Counter, git: Git, tmp_path: Path) -> None:
    """A folder that was in none, and one within another."""
    house = counter.house
    plain = tmp_path / "plain" / "deep"
    plain.mkdir(parents=True)
    inner = house.project / "inner"
    inner.mkdir()
    for folder in (plain, inner):
        house.session(folder).starts().prompts("We decided to keep it simple.").stops("Simple it is.").ends()
    counter.works()
    for folder, place in ((plain, plain.parent), (inner, inner)):
        assert not counter.both(folder=folder).by_python
        git(place, "init", "--quiet")
        assert counter.both(folder=folder).by_python


def test_the_day_ends(counter: Counter, monkeypatch: pytest.MonkeyPatch) -> None:
    house = counter.house
    for path in house.home.ready.glob("p*"):
        assert path.stat().st_mtime > time.time()
        assert time.localtime(path.stat().st_mtime)[3:6] == (0, 0, 0)
        os.utime(path, (time.time() - 1,) * 2)
    assert counter.both().by_python


def test_days_are_counted_where_the_agent_is(counter: Counter) -> None:
    assert counter.both(env={"PATH": "", "TZ": "Pacific/Kiritimati"}).by_python


@pytest.mark.parametrize("by", ["words", "session"])
def test_what_is_forgotten_is_in_no_answer(counter: Counter, by: str) -> None:
    house = counter.house
    (session,) = house.store.events.sessions()
    assert any(b"half-even" in path.read_bytes() for path in house.home.ready.glob("p*"))
    house.close()
    wanted = ErasureRequest(text="half-even") if by == "words" else ErasureRequest(ids=(session.id,))
    with App(house.home) as app:
        app.forget(wanted, really=True)
        left = [path for path in house.home.ready.rglob("*") if path.is_file()]
    assert not [path for path in left if b"half-even" in path.read_bytes()]
    assert b"half-even" not in counter.start().output


def test_answers_are_private_and_old_ones_do_not_stay(counter: Counter) -> None:
    house = counter.house
    (first,) = house.home.ready.glob("p*")
    house.session().starts().prompts("We decided to sort prices by name.").stops("Sorted by name.").ends()
    counter.works()
    (second,) = house.home.ready.glob("p*")
    assert first != second
    for path in [house.home.ready, *house.home.ready.rglob("*")]:
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600), path


def test_an_answer_that_a_power_cut_left_empty_is_none(counter: Counter) -> None:
    home = counter.house.home
    lists = list((home.ready / "at").rglob(".claude-code.SessionStart"))
    (answer,) = home.ready.glob("p*")
    whole = answer.stat().st_mtime_ns
    answer.write_bytes(b"")
    os.utime(answer, ns=(whole, whole))
    assert counter.both().by_python
    for path in lists:
        when = path.stat().st_mtime_ns
        path.write_bytes(b"")
        os.utime(path, ns=(when, when))
    assert counter.both().by_python


@every_shell
def test_a_list_that_was_cut_off_anywhere_loses_no_start(counter: Counter, shell: str) -> None:
    """A shell may end at what is no shell any more: what the agent sent is whole by then, with its trailer."""
    (path,) = (counter.house.home.ready / "at").rglob(".claude-code.SessionStart")
    whole, when = path.read_bytes(), path.stat().st_mtime_ns
    told = counter.start(shell=shell).output
    for cut in [*range(1, len(whole), 41), len(whole) - 2]:
        for data in (whole[:cut], whole[:cut] + bytes(len(whole) - cut)):
            path.write_bytes(data)
            os.utime(path, ns=(when, when))
            assert counter.start(shell=shell).output in (b"", told)


@every_shell
def test_hostile_words_and_names_are_printed_and_never_run(house: House, tmp_path: Path, shell: str) -> None:
    counter = Counter(house, tmp_path)
    folder = tmp_path / "it's $(touch ran) `touch ran`; touch ran & é"
    folder.mkdir()
    for text in HOSTILE:
        said = text.format(tmp_path)
        (folder / "a'$(touch ran).py").write_text("x = 1\n")
        story = house.session(folder).starts().prompts(f"We decided to print {said}")
        story.edits("a'$(touch ran).py").stops(f"It prints {said} now.").ends()
    counter.works()
    made = counter.both(folder=folder, shell=shell)
    assert not made.by_python
    assert b"touch" in made.output
    assert not list(tmp_path.rglob("ran"))
    assert not Path("ran").exists()


def test_a_folder_named_like_a_list_disturbs_nobody(house: House, tmp_path: Path) -> None:
    counter = Counter(house, tmp_path)
    odd = house.project / ".claude-code.SessionStart"
    odd.mkdir()
    for folder in (odd, house.project):
        house.session(folder).starts().prompts("We decided to keep it.").stops("Kept.").ends()
        counter.works()
    for folder in (odd, house.project):
        counter.both(folder=folder)


def test_each_agent_has_its_own(counter: Counter) -> None:
    house = counter.house
    for agent in ("codex", "copilot", "gemini-cli"):
        house.session(agent=agent).starts().prompts("Tidy up the tests").stops("Tidied up.").ends()
        counter.works()
    for agent, source in (("claude-code", "startup"), ("codex", "startup"), ("copilot", "new")):
        assert not counter.both(agent=agent, source=source).by_python, agent
    assert counter.start(agent="gemini-cli").by_python, "its brief waits for the first prompt"


def test_another_repository_in_the_folder_is_noticed_by_each_agent(counter: Counter, git: Git) -> None:
    """An older clone of another project at the same path: one agent's start there says nothing to the next."""
    house = counter.house
    house.session(agent="codex").starts().prompts("Tidy up the tests").stops("Tidied up.").ends()
    counter.works()
    assert not counter.both().by_python
    dot = house.project / ".git"
    older = (dot / "HEAD").stat().st_mtime_ns - 3_600 * 10**9
    dot.rename(house.home.root.parent / "first.git")
    git(house.project, "init", "--quiet")
    git(house.project, "remote", "add", "origin", "https://git.example/another.git")
    for path in (dot / "HEAD", dot / "config"):
        os.utime(path, ns=(older, older))
    house.session(agent="codex").starts().prompts("Write the letter").stops("Written.").ends()
    counter.works()
    assert b"half-even" not in counter.start().output


def test_a_time_that_an_archive_gave_tells_nothing(counter: Counter) -> None:
    """Archives and images give every file the same whole second."""
    house = counter.house
    head = house.project / ".git" / "HEAD"
    whole = head.stat().st_mtime_ns // 10**9 * 10**9
    os.utime(head, ns=(whole, whole))
    house.session().starts().prompts("Tidy up the tests").stops("Tidied up.").ends()
    counter.works()
    assert counter.both().by_python


def test_a_receipt_that_cannot_be_left_is_left_by_python(
    counter: Counter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its name is taken, as after a restart of the machine: the shell overwrites nothing."""
    done = subprocess.run(
        ["/bin/sh", "-c", f': >"{counter.house.home.spool}/claude-code.brief.$PPID.$$"; ' + counter.house.command("SessionStart")],
        input=json.dumps({"session_id": "s", "cwd": str(counter.house.project), "source": "startup"}).encode(),
        capture_output=True, check=True, cwd=counter.house.project,
    )  # fmt: skip
    assert b"half-even" in done.stdout
    assert counter.note.exists()
    (start,) = counter.house.home.spool.glob("*.SessionStart.*")
    assert json.loads(read_spooled(str(start)) or b"")["session_id"] == "s", "it ends in one trailer"


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_whatever_is_done_in_between_both_ways_say_the_same(
    counter: Counter, git: Git, data: st.DataObject
) -> None:
    """Starts, changes and the worker's rounds in any order; each change is undone by nobody."""
    harmless = sorted(
        set(CHANGES)
        - {
            "no rows",
            "the repository is gone",
            "another repository was moved here",
            "another branch",
            "a remote",
        }
    )
    for _ in range(data.draw(st.integers(1, 4))):
        step = data.draw(st.sampled_from(["work", "start", "session", *harmless]))
        if step == "work":
            counter.house.home.trouble.unlink(missing_ok=True)
            (counter.house.project / "auth.py").touch()
            counter.works()
        elif step == "session":
            said = data.draw(st.text(st.characters(codec="utf-8"), min_size=1, max_size=60))
            counter.house.session().starts().prompts(f"We decided: {said}").stops("Done.")
        elif step != "start":
            (counter.house.project / "auth.py").touch()
            CHANGES[step](counter.house, git)
        counter.both(shell=data.draw(st.sampled_from(sorted(SHELLS))))


def test_the_brief_without_what_waits_is_what_is_prepared(counter: Counter) -> None:
    """The seam between both ways: nothing of the spool, whatever lies there."""
    house = counter.house
    house.session().prompts("Only in the spool")
    given = session_brief.settings_file(str(house.home.root))
    told = ready_answers._told(house.home, given, "claude-code", str(house.project))
    assert "Only in the spool" not in told.text
    assert spool.spool_entries(str(house.home.spool))
