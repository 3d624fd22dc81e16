"""A storm over a team's server: writers push, change and bury while server and database are killed.

Whatever was acknowledged must be there afterwards as it was acknowledged, once; what was buried must not; a
reader that only ever read on must have the same. All decisions come from one seed. As a script it is the soak:
`python -m tests.team.kill_storm --kills 300`.
"""

import argparse
import contextlib
import json
import os
import random
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from backstory.share.team_client import TeamClient, TeamTrouble
from backstory.team.embedded_postgres import EmbeddedPostgres, start_embedded
from backstory.team_wire import BURIED, Proof, Row, mark
from tests.team import desk
from tests.team.serving import Served, command, told

_WRITERS = 4
_LONGEST_WAIT = 150


@dataclass
class Storm:
    """How hard, and what was done to whom."""

    seed: int
    kills: int
    folder: Path
    port: int = 0
    over: bool = False
    failed_starts: int = 0
    killed: Counter[str] = field(default_factory=Counter)
    server: Served | None = None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def starts_server(self) -> Served:
        """Start it, or again; its database is started by it, or found running."""
        called = command("--embedded", str(self.folder / "team"), "--listen", f"127.0.0.1:{self.port}")
        environ = {**os.environ, "BACKSTORY_HOME": str(self.folder / "home")}
        for _ in range(30):  # one that meets a database which is just killed ends; whoever runs it starts it
            with (self.folder / "server.log").open("a") as log:
                process = subprocess.Popen(called, stdout=subprocess.PIPE, stderr=log, text=True, env=environ)
            with contextlib.suppress(AssertionError):
                self.server = told(process)
                return self.server
            self.failed_starts += 1
        said = (self.folder / "server.log").read_text()[-2000:]
        raise AssertionError(f"the server does not start any more: {said}")


class Writer(threading.Thread):
    """A device that sends each thing until it is acknowledged, and knows what it sent."""

    def __init__(self, storm: Storm, number: int, token: str) -> None:
        super().__init__(name=f"writer-{number}")
        self.storm, self.rng = storm, random.Random(f"{storm.seed}/{number}")
        self.client = TeamClient(storm.address, token, seconds=30)
        self.first = (number + 1) * 1_000_000
        self.told: dict[str, str] = {}  # id: hash of what was acknowledged last, or BURIED
        self.acknowledged = self.tries = self.wrong = 0
        self.failure: BaseException | None = None

    def run(self) -> None:
        try:
            while not self.storm.over:
                self._sends()
        except BaseException as error:
            self.failure = error

    def _sends(self) -> None:
        living = [key for key, found in self.told.items() if found != BURIED]
        rows: list[Row] = []
        bury: list[str] = []
        for _ in range(self.rng.choice((1, 1, 1, 5, 40))):
            rows.append(desk.row(self.first + len(self.told) + len(rows), f"said {self.rng.random()}"))
        if living and self.rng.random() < 0.3:
            rows.append(desk.row(int(self.rng.choice(living), 16), f"changed {self.rng.random()}"))
        if living and self.rng.random() < 0.2:
            bury = [self.rng.choice(living)]
        sent = {each.id: each.hash for each in rows if each.id not in bury}
        ends = time.monotonic() + _LONGEST_WAIT
        while True:
            self.tries += 1
            assert time.monotonic() < ends, "no answer for minutes"
            try:
                answer = self.client.push(desk.SHOP, [each.as_json() for each in rows], bury)
                break
            except TeamTrouble as trouble:
                self.wrong += trouble.code not in ("", "no_database", "busy", "failed")
                time.sleep(0.05)
        stored = {each["id"]: each["hash"] for each in answer["stored"]}
        assert stored == sent, (answer["refused"], answer["buried"])
        assert answer["buried"] == bury
        self.told.update(stored)
        self.told.update(dict.fromkeys(bury, BURIED))
        self.acknowledged += len(stored) + len(bury)


class Reader(threading.Thread):
    """A device that reads on and on, and never from the start."""

    def __init__(self, storm: Storm, token: str) -> None:
        super().__init__(name="reader")
        self.storm, self.client = storm, TeamClient(storm.address, token, seconds=30)
        self.cursor = 0
        self.rows: dict[str, str] = {}
        self.failure: BaseException | None = None

    def run(self) -> None:
        try:
            while not self.storm.over:
                with contextlib.suppress(TeamTrouble):
                    self.reads()
                time.sleep(0.05)
        except BaseException as error:
            self.failure = error

    def reads(self) -> dict[str, Any]:
        """On to the end; the last answer."""
        while True:
            answer = self.client.pull(desk.SHOP, self.cursor, 200)
            for row in answer["rows"]:
                assert self.rows.get(row["id"]) != BURIED, "nothing buried returns"
                self.rows[row["id"]] = Row(row["id"], row["kind"], row["state"], row["at"], row["body"]).hash
            self.rows.update({each["id"]: BURIED for each in answer["graves"]})
            self.cursor = answer["cursor"]
            if not answer["more"]:
                return answer


def rage(storm: Storm, database: Path) -> None:
    """Kill server and database by turns, each time once something was written since."""
    rng = random.Random(storm.seed)
    while storm.killed.total() < storm.kills:
        time.sleep(rng.uniform(0.05, 0.6))
        whom = rng.choice(("server", "server", "postmaster", "backend", "backend"))
        assert storm.server is not None
        if whom == "server":
            storm.server.process.kill()
            storm.server.process.wait()
            storm.server.process.communicate()
            storm.starts_server()
        else:
            pid = postmaster(database)
            victims = [pid] if whom == "postmaster" and pid else children(pid)[-3:]
            if not victims or not kill(rng.choice(victims)):
                continue
        storm.killed[whom] += 1


def postmaster(database: Path) -> int:
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int((database / "postgres" / "postmaster.pid").read_text().split()[0])
    return 0


def children(pid: int) -> list[int]:
    with contextlib.suppress(OSError, ValueError):
        found = [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
        # not the process that recovers: without it this PostgreSQL waits for ever, until it is started anew
        return [each for each in found if b"startup" not in Path(f"/proc/{each}/cmdline").read_bytes()]
    return []


def kill(pid: int) -> bool:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
        return True
    return False


@contextlib.contextmanager
def stage(seed: int, kills: int) -> Iterator[Storm]:
    """A folder, a port, and a server that has been started; in the end nothing runs any more."""
    with tempfile.TemporaryDirectory(prefix="bs-storm-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        storm = Storm(seed, kills, folder, port)
        try:
            storm.starts_server()
            yield storm
        finally:
            if storm.server and storm.server.process.poll() is None:
                storm.server.ends()
                storm.server.process.communicate()
            if postmaster(folder / "team"):
                with contextlib.suppress(Exception):
                    start_embedded(folder / "team").stop("immediate")


def weather(seed: int, kills: int) -> dict[str, Any]:
    """Storm, then look: what was lost, doubled, or came back."""
    with stage(seed, kills) as storm:
        assert storm.server is not None
        assert storm.server.invitation
        owner, _ = TeamClient(storm.address).join(storm.server.invitation.rpartition("/")[2], "owner")
        asks = TeamClient(storm.address, owner["token"])
        asks.ask("POST", "/v1/projects", {"project": desk.SHOP})
        tokens = []
        for number in range(_WRITERS + 1):
            invite = asks.ask("POST", "/v1/invites", {"name": f"writer {number}", "role": "member"})
            tokens.append(TeamClient(storm.address).join(invite["invite"], f"d{number}")[0]["token"])
        writers = [Writer(storm, number, token) for number, token in enumerate(tokens[1:])]
        reader = Reader(storm, tokens[0])
        begun = time.monotonic()
        for thread in (*writers, reader):
            thread.start()
        try:
            rage(storm, storm.folder / "team")
        finally:
            storm.over = True
            for thread in (*writers, reader):
                thread.join(240)
        took = time.monotonic() - begun
        for failure in (*(writer.failure for writer in writers), reader.failure):
            if failure:
                raise failure
        running = start_embedded(storm.folder / "team")
        last = caught_up(reader)
        return {
            **judged(running, writers, reader, last),
            "kills": dict(storm.killed),
            "starts_failed": storm.failed_starts,
            "seconds": round(took),
        }


def caught_up(reader: Reader) -> dict[str, Any]:
    for _ in range(200):
        with contextlib.suppress(TeamTrouble):
            return reader.reads()
        time.sleep(0.2)
    raise AssertionError("the server did not come back")


def judged(
    running: EmbeddedPostgres, writers: list[Writer], reader: Reader, last: dict[str, Any]
) -> dict[str, Any]:
    """What is there, past everything of ours, beside what was acknowledged."""
    rows = desk.owner_reads(running, "SELECT id, hash, seq FROM memories")
    graves = desk.owner_reads(running, "SELECT id, seq FROM graves")
    there = {row_id: found for row_id, found, _ in rows} | {row_id: BURIED for row_id, _ in graves}
    told = {key: found for writer in writers for key, found in writer.told.items()}
    numbers = [seq for *_, seq in (*rows, *graves)]
    proof = Proof()
    for row_id, found in reader.rows.items():
        proof = proof.with_(mark(row_id, found))
    return {
        "acknowledged": sum(writer.acknowledged for writer in writers),
        "tries": sum(writer.tries for writer in writers),
        "wrong_answers": sum(writer.wrong for writer in writers),
        "lost": sum(there.get(key) != found for key, found in told.items()),
        "doubled": len(rows) + len(graves) - len(there),
        "unknown": len(there.keys() - told.keys()),
        "numbers_twice": len(numbers) - len(set(numbers)),
        "reader_differs": sum(reader.rows.get(key) != found for key, found in there.items()),
        "proof_differs": int(proof.as_json() != last["proof"]),
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    chosen = parser.parse_args()
    print(json.dumps({"seed": chosen.seed, **weather(chosen.seed, chosen.kills)}))


if __name__ == "__main__":
    main()
