"""A pipe, a device, a socket or a folder where a file belongs: nobody hangs, nobody crashes, all else goes on.

A command runs here, under an alarm that only a hang meets; hooks' readers and workers are real processes too.
"""

import contextlib
import itertools
import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from backstory.agents import AGENTS
from backstory.agents.importable_histories import histories
from backstory.importers.importer_table import FOREIGN
from tests.cli.memory import Memory
from tests.conftest import eventually

pytestmark = pytest.mark.skipif(os.name != "posix", reason="kinds of files of POSIX")
AS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
DOCTORS = (2,)  # how doctor says that something is wrong
LATE_NS = 10_000_000_000 * 1_000_000_000  # in 2286


def socket_at(path: Path) -> None:
    before = Path.cwd()
    os.chdir(path.parent)  # the address of a socket is short
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(path.name)
    finally:
        os.chdir(before)


KINDS: dict[str, Callable[[Path], None]] = {
    "pipe": os.mkfifo,
    "device": lambda path: path.symlink_to("/dev/zero"),
    "socket": socket_at,
    "folder": Path.mkdir,
}
kinds = pytest.mark.parametrize("kind", KINDS)


def put(path: Path, kind: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_file() or path.is_symlink():
        path.unlink()
    KINDS[kind](path)
    return path


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    project, user = tmp_path / "shop", tmp_path / "user"
    project.mkdir()
    user.mkdir()
    return Memory(tmp_path / "home", project, user)


@pytest.fixture
def worked(memory: Memory) -> Memory:
    memory.worked_here()
    return memory


class HungError(BaseException):
    """Passes whatever a command expects of a file."""


def _ring(*_: object) -> None:
    raise HungError


@contextlib.contextmanager
def no_hang(seconds: float = 60) -> Iterator[None]:
    """Ends what blocks: the signal interrupts any system call, and a pattern that searches for ever."""
    before = signal.signal(signal.SIGALRM, _ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def tried(memory: Memory, *words: str) -> subprocess.CompletedProcess[str]:
    """A command, which comes to its end."""
    with no_hang():
        done = memory.ask(*words)
    return subprocess.CompletedProcess(words, done.exit_code, done.stdout, done.stderr)


def work(memory: Memory) -> int:
    """A worker's process, to its end."""
    return subprocess.run(
        [sys.executable, "-m", "backstory.worker", str(memory.home)],
        env={**memory.environment, "BACKSTORY_LINGER": "0"},
        stdin=subprocess.DEVNULL,
        timeout=120,
        check=False,
    ).returncode


def test_what_hangs_is_found_here(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(HungError), no_hang(0.2), (tmp_path / "pipe").open():
        pass


# --- what agents name and keep --------------------------------------------------------------------------------


@kinds
def test_a_transcript_that_is_no_file_holds_up_nobody(memory: Memory, tmp_path: Path, kind: str) -> None:
    named = str(put(tmp_path / "transcript.jsonl", kind))
    memory.prompt("Count the blue whales", transcript_path=named)
    memory.hook("Stop", last_assistant_message="Twelve blue whales.", transcript_path=named)
    memory.prompt("Count the red foxes", session="another-session")
    memory.hook("Stop", session="another-session", last_assistant_message="Four red foxes.")
    assert work(memory) == 0
    found = tried(memory, "search", "whales", "--json").stdout
    assert "blue whales" in found
    assert "red foxes" in tried(memory, "search", "foxes").stdout
    assert not list((memory.home / "spool").iterdir())


def test_a_transcript_that_becomes_a_pipe_before_it_is_copied_holds_up_nobody(
    memory: Memory, tmp_path: Path
) -> None:
    transcript = tmp_path / "transcript.jsonl"
    row = {"type": "user", "sessionId": "s", "uuid": "u", "timestamp": "2026-11-01T10:00:00Z",
           "cwd": str(memory.project), "message": {"role": "user", "content": "Count the blue whales"}}  # fmt: skip
    transcript.write_text(json.dumps(row) + "\n")
    memory.prompt("Count the blue whales", transcript_path=str(transcript))
    memory.hook("Stop", last_assistant_message="Twelve.", transcript_path=str(transcript))
    memory.caught_up()
    put(transcript, "pipe")
    assert work(memory) == 0
    assert tried(memory, "status").returncode == 0


NAMES = (
    *("x.jsonl", "session-x.json", "opencode.db", "storage/session/p/ses_1.json", "x.md", "MEMORY.md"),
    *(".aider.chat.history.md", "memory/x.md", "daily/2026-11-01.md", "knowledge/x.md", "claude-mem.db"),
    *("chroma.sqlite3", "memory.db", "chats/session-x.jsonl", "a/b/rollout-x.jsonl", "events.jsonl"),
)


def databases() -> Iterator[str]:
    """The names of the databases that other tools keep."""
    for module in sys.modules.values():
        if getattr(module, "__name__", "").startswith("backstory.importers."):
            yield from (value for name, value in vars(module).items() if name == "_FILE")


@pytest.mark.parametrize(
    ("source", "kind"),
    list(zip(sorted({*histories(), *FOREIGN}), itertools.cycle(("pipe", "device")), strict=False)),
)
def test_no_history_hangs_on_what_is_no_file(memory: Memory, tmp_path: Path, source: str, kind: str) -> None:
    place = tmp_path / "history"
    for name in {*NAMES, *databases()}:
        put(place / name, kind)
    done = tried(memory, "import", source, "--path", str(place))
    assert done.returncode in (0, 2), done.stderr


def test_an_agents_history_comes_over_beside_a_pipe(memory: Memory) -> None:
    folder = memory.user / ".claude" / "projects" / "-shop"
    folder.mkdir(parents=True)
    texts = ("Count the blue whales", "Twelve blue whales", "And the grey ones", "Nine grey ones")
    rows = [
        {"type": role, "sessionId": "native-1", "uuid": f"u{number}", "cwd": str(memory.project),
         "timestamp": f"2026-11-01T10:00:0{number}Z", "message": {"role": role, "content": text}}
        for number, (role, text) in enumerate(zip(("user", "assistant") * 2, texts, strict=True))
    ]  # fmt: skip
    (folder / "native-1.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for kind in KINDS:
        put(folder / f"{kind}.jsonl", kind)
    assert tried(memory, "import").returncode == 0
    assert "blue whales" in tried(memory, "search", "whales").stdout
    assert tried(memory, "install", "claude-code", "--yes").returncode == 0
    assert tried(memory, "doctor").returncode in (0, 1, 2)


@kinds
def test_documents_come_over_beside_what_is_no_file(memory: Memory, kind: str) -> None:
    (memory.project / "guide.md").write_text("# Guide\n\nThe blue whale is the largest.\n")
    put(memory.project / "other.md", kind)
    assert tried(memory, "import", "docs", "--path", str(memory.project)).returncode == 0
    assert "blue whale" in tried(memory, "search", "whale").stdout
    named = tried(memory, "import", "docs", "--path", str(memory.project / "other.md"))
    assert named.returncode in (0, 1, 2)


@kinds
def test_what_is_no_file_is_no_place_to_import_from_nor_an_export(
    memory: Memory, tmp_path: Path, kind: str
) -> None:
    place = put(tmp_path / "place", kind)
    assert tried(memory, "import", "claude-code", "--path", str(place)).returncode in (0, 2)
    assert tried(memory, "import", "backstory", "--path", str(place)).returncode in (1, 2)


def test_a_line_that_is_too_long_is_skipped_and_the_others_are_read(memory: Memory, tmp_path: Path) -> None:
    """Most of it is a hole in the file; nobody holds it whole, and the process has little memory."""
    history = tmp_path / "native-1.jsonl"
    texts = ("Count the blue whales", "Twelve blue whales", "And the grey ones", "Nine grey ones")
    rows = [
        json.dumps(
            {"type": role, "sessionId": "native-1", "uuid": f"u{number}", "cwd": str(memory.project),
             "timestamp": f"2026-11-01T10:00:0{number}Z", "message": {"role": role, "content": text}}
        ) + "\n"
        for number, (role, text) in enumerate(zip(("user", "assistant") * 2, texts, strict=True))
    ]  # fmt: skip
    with history.open("wb") as file:
        file.write("".join(rows[:2]).encode())
        file.seek(1_000_000_000, os.SEEK_CUR)
        file.write(b"\n" + "".join(rows[2:]).encode())
    limited = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (900_000_000, 900_000_000)); "
        "from backstory.cli.main import main; sys.argv = ['backstory', *sys.argv[1:]]; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", limited, "import", "claude-code", "--path", str(history), "--json"],
        env=memory.environment,
        cwd=memory.project,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    told = [event["text"] for event in memory.json("timeline", "--limit", "20")["events"]]
    assert set(texts) <= set(told)
    assert json.loads(done.stdout)["corrupt"] == 1


# --- agents' settings -----------------------------------------------------------------------------------------


@kinds
@pytest.mark.parametrize("file", [".claude/settings.json", ".claude/CLAUDE.md"])
def test_settings_that_are_no_file_are_refused_and_stay(memory: Memory, file: str, kind: str) -> None:
    target = put(memory.user / file, kind)
    before = target.lstat()
    done = tried(memory, "install", "claude-code", "--instructions", "--yes")
    assert done.returncode == 1, done.stderr
    assert f"{target} cannot be read" in done.stderr
    after = target.lstat()
    assert (after.st_ino, after.st_mode) == (before.st_ino, before.st_mode)
    assert tried(memory, "doctor").returncode in (0, 1, 2)
    assert tried(memory, "status").returncode == 0
    assert tried(memory, "uninstall", "claude-code", "--yes").returncode in (0, 1)
    assert target.lstat().st_ino == before.st_ino


@pytest.mark.parametrize("agent", sorted(AGENTS))
def test_no_agents_settings_that_are_a_pipe_hang_install(
    memory: Memory, agent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever install reads of an agent is a pipe."""
    for name, value in memory.environment.items():
        monkeypatch.setenv(name, value)
    planned = tried(memory, "install", agent, "--instructions", "--dry-run")
    paths = set(re.findall(re.escape(str(memory.user)) + r"[^\s'\":,]+", planned.stdout + planned.stderr))
    files = [Path(path) for path in paths if Path(path).suffix and not Path(path).exists()]
    assert files, planned.stdout
    for file in files:
        put(file, "pipe")
    done = tried(memory, "install", agent, "--instructions", "--yes")
    assert done.returncode == 1, done.stderr
    assert all(stat.S_ISFIFO(file.lstat().st_mode) for file in files)


@pytest.mark.skipif(not AS_ROOT, reason="only root makes devices")
def test_a_device_is_never_replaced_not_even_by_root(worked: Memory, tmp_path: Path) -> None:
    device = tmp_path / "device"
    try:
        os.mknod(device, 0o666 | stat.S_IFCHR, os.makedev(1, 3))  # a null device of our own
    except PermissionError:
        pytest.skip("this container may make no devices")
    settings = worked.user / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.symlink_to(device)
    for command in (
        ["install", "claude-code", "--yes"],
        ["export", str(device)],
        ["export", str(device), "--force"],
    ):
        done = tried(worked, *command)
        assert done.returncode == 1, command
        assert "a device, not a regular file" in done.stderr
        assert stat.S_ISCHR(device.lstat().st_mode)


# --- exports --------------------------------------------------------------------------------------------------


@kinds
@pytest.mark.parametrize("force", [[], ["--force"]])
def test_an_export_never_replaces_what_is_no_file(
    worked: Memory, tmp_path: Path, kind: str, force: list[str]
) -> None:
    target = put(tmp_path / "export.jsonl", kind)
    inode = target.lstat().st_ino
    done = tried(worked, "export", str(target), *force)
    assert done.returncode in (1, 2), "a folder is refused by the command line itself"
    assert done.stdout == ""
    assert target.lstat().st_ino == inode
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".export")] == []


def test_two_exports_to_one_file_do_not_meet(worked: Memory, tmp_path: Path) -> None:
    """One of them writes the file, the other says that it is there; each has a file of its own until then."""
    target = tmp_path / "export.jsonl"
    slow = (
        "import sys, time; from backstory.upkeep import export_file\n"
        "def step(name):\n    time.sleep(0.02)\n"
        "export_file.step = step\n"
        "from backstory.cli.main import main; sys.argv = ['backstory', *sys.argv[1:]]; main()"
    )
    running = [
        subprocess.Popen(
            [sys.executable, "-c", slow, "export", str(target)],
            env=worked.environment,
            cwd=worked.project,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    told = [process.communicate(timeout=120)[1] for process in running]
    assert sorted(process.returncode for process in running) == [0, 1, 1], told
    assert sum("is there already" in said for said in told) == 2
    rows = [json.loads(line) for line in target.read_text().splitlines()]
    assert rows[1:] == [json.loads(line) for line in tried(worked, "export").stdout.splitlines()][1:]
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


# --- the spool ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("finished", [True, False])
def test_a_spool_file_from_after_2262_is_taken_in_like_any_other(memory: Memory, finished: bool) -> None:
    memory.prompt("Count the blue whales")
    (file,) = (memory.home / "spool").iterdir()
    if not finished:
        file.write_bytes(file.read_bytes()[:-1])
    os.utime(file, ns=(LATE_NS, LATE_NS))
    if file.stat().st_mtime_ns != LATE_NS:
        pytest.skip("this file system knows no such time")
    assert work(memory) == 0
    assert not list((memory.home / "spool").glob("*.*.*.*"))
    for words in (["search", "whales"], ["backup"], ["doctor", "--fix"], ["repair", "--yes"], ["timeline"]):
        done = tried(memory, *words)
        assert done.returncode in (0, 1, *DOCTORS), (words, done.stderr)
    events = memory.json("timeline", "--limit", "5")["events"]
    assert [event["text"] for event in events] == (["Count the blue whales"] if finished else [])
    assert not re.search(r"22\d\d-", tried(memory, "timeline").stdout), "nothing has happened in the future"


def test_a_document_from_after_2262_comes_over(memory: Memory) -> None:
    page = memory.project / "guide.md"
    page.write_text("# Guide\n\nThe blue whale is the largest.\n")
    os.utime(page, ns=(LATE_NS, LATE_NS))
    assert tried(memory, "import", "docs", "--path", str(page)).returncode == 0
    assert "blue whale" in tried(memory, "search", "whale").stdout


# --- our own state --------------------------------------------------------------------------------------------

STATE = (
    *("confirmed.json", "briefs/forgotten.json", "installed.json", "trouble.json", "serve.json"),
    *("hook/settings.json", "settings.toml", "spare.jsonl", "logs/worker.log", "logs/cli.log"),
)
WRONG = ("[]", "7", "null", '"text"', "{", "", '{"sessions": 7}', '{"/x": 7}', '{"sessions": [[1], 2]}')
COMMANDS = (["status"], ["brief"], ["search", "tokens"], ["timeline"], ["compile"], ["log"], ["doctor"])


@pytest.mark.parametrize("name", STATE)
def test_state_of_a_wrong_type_stops_no_command(worked: Memory, name: str) -> None:
    assert tried(worked, "install", "claude-code", "--yes").returncode == 0
    path = worked.home / name
    for (row, wrong), (column, words) in itertools.product(enumerate(WRONG), enumerate(COMMANDS)):
        if (STATE.index(name) + row + column) % 3:
            continue  # each two of file, content and command meet; not each three
        path.parent.mkdir(exist_ok=True)
        path.write_text(wrong)
        done = worked.ask(*words)
        assert done.exit_code in (0, 1, *DOCTORS), (wrong, words, done.stderr)


# Each kind in the place of some of them: the reader, which they share, is tried with every kind by itself.
@pytest.mark.parametrize(("name", "kind"), list(zip(STATE, itertools.cycle(KINDS), strict=False)))
def test_state_that_is_no_file_stops_no_command(worked: Memory, name: str, kind: str) -> None:
    assert tried(worked, "install", "claude-code", "--yes").returncode == 0
    for words in (["status"], ["search", "tokens"], ["compile"], ["doctor"]):
        if not (worked.home / name).exists() or (worked.home / name).is_file():
            put(worked.home / name, kind)
        done = tried(worked, *words)
        assert done.returncode in (0, 1, *DOCTORS), (words, done.stderr)
    memory_works(worked)


@pytest.mark.parametrize("kind", ["pipe", "folder"])
def test_rebuild_makes_all_state_again_that_is_no_file(worked: Memory, kind: str) -> None:
    assert worked.run("install", "claude-code", "--yes").returncode == 0
    assert worked.run("compile").returncode == 0
    known = {worked.home / name for name in STATE if name.endswith((".json", ".jsonl"))}
    for path in known | set(worked.home.rglob("*.json")):
        put(path, kind)
    done = worked.run("rebuild")
    assert done.returncode == 0, done.stderr
    eventually("all work is done", lambda: worked.json("jobs")["jobs"] == [], 60)
    assert all(path.is_file() for path in (worked.home / "briefs").glob("*.json"))
    done = worked.run("compile")
    assert done.returncode == 0, done.stderr
    memory_works(worked)


def memory_works(memory: Memory) -> None:
    memory.prompt("Count the blue whales")
    memory.hook("Stop", last_assistant_message="Twelve.")
    assert work(memory) in (0, 4)
    assert memory.run("search", "whales").returncode == 0, "also when its worker cannot work"


@pytest.mark.parametrize("wrong", ["[]", "7", '{"notes": 7}', '{"hash": "x", "size": 1, "notes": [7]}', "{"])
def test_what_was_compiled_of_a_day_may_be_of_any_shape(worked: Memory, wrong: str) -> None:
    assert tried(worked, "compile").returncode == 0
    (vault,) = (worked.home / "knowledge").iterdir()
    days = list((vault / ".backstory" / "days").glob("*.json"))
    assert days
    for words in (["compile"], ["lint"], ["ask", "tokens"], ["forget", "--text", "RS256", "--yes"]):
        for day in days:
            day.write_text(wrong)
        done = worked.ask(*words)
        assert done.exit_code in (0, 1), (words, done.stderr)
    assert not [path for path in vault.rglob("*") if path.is_file() and b"RS256" in path.read_bytes()]


def test_state_that_was_kept_aside_forgets_too(worked: Memory) -> None:
    assert tried(worked, "compile").returncode == 0
    (vault,) = (worked.home / "knowledge").iterdir()
    (day,) = (vault / ".backstory" / "days").glob("*.json")
    day.write_text(day.read_text()[:-20])
    assert tried(worked, "compile", "--file", f"{day.stem}.md").returncode == 0
    (kept,) = day.parent.glob("*.bak-*")
    assert "RS256" in kept.read_text()
    assert tried(worked, "forget", "--text", "RS256", "--yes").returncode == 0
    assert not kept.exists()


# --- the wiki -------------------------------------------------------------------------------------------------


@kinds
def test_a_page_that_is_no_file_holds_up_nobody_who_reads_the_wiki(worked: Memory, kind: str) -> None:
    assert tried(worked, "compile").returncode == 0
    (vault,) = (worked.home / "knowledge").iterdir()
    for folder in ("", "concepts", "connections", "qa", "daily", "weekly", "facts", "reports"):
        put(vault / folder / "odd.md", kind)
    put(vault / "daily" / "2026-01-02.md", kind)
    put(vault / ".backstory" / "days" / "2026-01-02.json", kind)
    commands = (
        ["compile"],
        ["compile", "--all"],
        ["lint"],
        ["ask", "tokens"],
        ["log"],
        ["session", "bootstrap"],
    )
    for words in (*commands, ["forget", "--text", "RS256", "--yes"], ["scrub", "--yes"]):
        done = tried(worked, *words)
        assert done.returncode in (0, 1), (words, done.stderr)
    assert not [path for path in vault.rglob("*") if path.is_file() and b"RS256" in path.read_bytes()]
