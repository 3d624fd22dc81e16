"""What tests of the team's server use: a PostgreSQL, a site over it, devices of members that ask it."""

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import pytest

from backstory.errors import DependencyMissing
from backstory.team.admission import invite_owner, make_tenant
from backstory.team.embedded_postgres import EmbeddedPostgres, start_embedded
from backstory.team.migrator import SCHEMA, migrate
from backstory.team.rate_limit import RateLimit
from backstory.team.team_server import ServeOptions, opened
from backstory.team.team_site import TeamSite
from backstory.team_wire import BURIED, Proof, Row, mark

SHOP = "github.com/acme/shop"
Journaled = Callable[[Path], Any]


@contextmanager
def postgres() -> Iterator[EmbeddedPostgres]:
    """One in a folder that its own user may enter, also where tests run as root."""
    folder = Path(tempfile.mkdtemp(prefix="bs-team-"))
    folder.chmod(0o755)
    try:
        running = start_embedded(folder / "db")
    except DependencyMissing as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"SKIPPED: {error}")
    try:
        migrate(running.owner_url, "backstory_server")
        yield running
    finally:
        running.stop("immediate")
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def site(running: EmbeddedPostgres, journal: Path, **options: Any) -> Iterator[TeamSite]:
    """What a server answers with, without its port."""
    limit = RateLimit(options.pop("per_second", 1e6), options.pop("at_once", 1_000_000))
    chosen = ServeOptions(running.server_url, running.owner_url, journal, **options)
    with opened(chosen) as (database, erasure):
        yield TeamSite(database, erasure, "https://memory.example", frozenset({"localhost"}), limit, limit)


@dataclass
class Device:
    """A laptop of a member, and what it has read."""

    site: TeamSite
    token: str
    share_key: bytes
    member: dict[str, str]
    device: dict[str, str]
    cursor: int = 0
    rows: dict[str, dict[str, Any]] = field(default_factory=dict)
    graves: set[str] = field(default_factory=set)

    def asks(self, method: str, path: str, **body: Any) -> dict[str, Any]:
        data = json.dumps(body).encode()
        answer: dict[str, Any] = json.loads(
            json.dumps(self.site.answer(method, path, self.token, "test", data))
        )
        return answer

    def pushes(
        self, *rows: Row | dict[str, Any], bury: tuple[str, ...] = (), project: str = SHOP
    ) -> dict[str, Any]:
        sent = [row.as_json() if isinstance(row, Row) else row for row in rows]
        return self.asks("POST", "/v1/push", wire=1, project=project, rows=sent, bury=list(bury))

    def pulls(self, cursor: int = 0, limit: int = 500, project: str = SHOP) -> dict[str, Any]:
        return self.asks("POST", "/v1/pull", wire=1, project=project, cursor=cursor, limit=limit)

    def catches_up(self, project: str = SHOP) -> bool:
        """Read on to the end; whether the proof is that of what was read."""
        while True:
            answer = self.pulls(self.cursor, project=project)
            for row in answer["rows"]:
                if row["id"] not in self.graves:
                    self.rows[row["id"]] = row
            for grave in answer["graves"]:
                self.rows.pop(grave["id"], None)
                self.graves.add(grave["id"])
            self.cursor = answer["cursor"]
            if not answer["more"]:
                return bool(self.proof().as_json() == answer["proof"])

    def proof(self) -> Proof:
        proof = Proof()
        for row in self.rows.values():
            read = Row(row["id"], row["kind"], row["state"], row["at"], row["body"])
            proof = proof.with_(mark(read.id, read.hash))
        for each in self.graves:
            proof = proof.with_(mark(each, BURIED))
        return proof

    def invites(self, name: str, role: str = "member") -> str:
        return str(self.asks("POST", "/v1/invites", name=name, role=role)["invite"])


def joined(site: TeamSite, invite: str, device: str = "laptop") -> Device:
    body = json.dumps({"invite": invite, "device": device}).encode()
    answer = site.answer("POST", "/v1/join", "", "test", body)
    key = bytes.fromhex(answer["share_key"])
    return Device(site, answer["token"], key, answer["member"], answer["device"])


def founded(site: TeamSite, name: str = "acme") -> Device:
    """A new team's owner, with the project of the examples open."""
    tenant = make_tenant(site.database.owner_url, name)
    owner = joined(site, invite_owner(site.database, tenant, "Olga"), "olga-1")
    owner.asks("POST", "/v1/projects", project=SHOP)
    return owner


def row(number: int, text: str = "", **more: Any) -> Row:
    body = {"text": text or f"We chose way {number} because the other was slow", "level": "kept"}
    return Row(f"{number:032x}", "decision", "current", 1_700_000_000_000 + number, {**body, **more})


def owner_reads(running: EmbeddedPostgres, statement: str) -> list[tuple[Any, ...]]:
    """What really is there, past every policy."""
    with psycopg.connect(running.owner_url, options=f"-c search_path={SCHEMA}") as connection:
        return connection.execute(statement.encode()).fetchall()
