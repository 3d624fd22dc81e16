"""`backstory team serve`, as a process, over HTTP."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from backstory.errors import UsageError
from backstory.team.embedded_postgres import EmbeddedPostgres, start_embedded
from backstory.team.migrator import SCHEMA
from backstory.team.team_server import ServeOptions, require_safe
from backstory.team_wire import MOST_BYTES
from tests.team import desk
from tests.team.desk import row
from tests.team.serving import Served, command, served


@pytest.fixture(scope="module")
def own() -> Iterator[EmbeddedPostgres]:
    """One whose teams nobody else makes."""
    with desk.postgres() as found:
        yield found


@pytest.fixture(scope="module")
def team(own: EmbeddedPostgres, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, str]]:
    with served(own, tmp_path_factory.mktemp("team") / "graves.jsonl") as found:
        assert found.invitation
        status, answer = found.asks(
            "POST", "/v1/join", {"invite": found.invitation.rpartition("/")[2], "device": "a"}
        )
        assert status == 200
        token = str(answer["token"])
        assert found.asks("POST", "/v1/projects", {"project": desk.SHOP}, token)[0] == 200
        yield found, token


def push(*rows: Any, **more: Any) -> dict[str, Any]:
    sent = [each.as_json() for each in rows]
    return {"wire": 1, "project": desk.SHOP, "rows": sent, "bury": [], **more}


def test_it_joins_pushes_and_pulls_over_http(team: tuple[Served, str]) -> None:
    site, token = team
    status, answer = site.asks("POST", "/v1/push", push(row(1)), token)
    assert (status, answer["stored"]) == (200, [{"id": row(1).id, "hash": row(1).hash}])
    status, answer = site.asks("POST", "/v1/pull", {"wire": 1, "project": desk.SHOP, "cursor": 0}, token)
    assert [each["body"] for each in answer["rows"]] == [row(1).body]
    assert len(site.headers["backstory-server"]) == 32


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("POST", "/v1/push", b"\xff{", 400, "malformed"),
        ("POST", "/v1/push", b"[" * 100_000, 400, "malformed"),
        ("POST", "/v1/push", [], 400, "malformed"),
        ("POST", "/v1/push", {"wire": 1, "project": desk.SHOP, "rows": 5}, 400, "malformed"),
        ("POST", "/v1/pull", {"wire": 1, "project": desk.SHOP, "cursor": -1}, 400, "malformed"),
        ("POST", "/v1/pull", {"wire": 1, "project": desk.SHOP, "cursor": True}, 400, "malformed"),
        ("POST", "/v1/pull", {"wire": "1", "project": desk.SHOP}, 400, "malformed"),
        ("POST", "/v1/pull", {"wire": 7, "project": desk.SHOP}, 426, "newer_wire"),
        ("POST", "/v1/pull", {"wire": 1, "project": "github.com/no/such"}, 404, "unknown_project"),
        ("POST", "/v1/push", b"x" * (MOST_BYTES + 1), 413, "too_large"),
        ("POST", "/v1/push", {"wire": 1, "project": desk.SHOP, "bury": ["0" * 32] * 501}, 413, "too_large"),
        ("GET", "/v1/push", None, 404, "no_such_request"),
        ("GET", "/j/whatever", None, 404, "no_such_request"),
        ("DELETE", "/", None, 404, "no_such_request"),
    ],
)
def test_what_is_wrong_is_refused_in_the_protocols_form(
    team: tuple[Served, str], method: str, path: str, body: Any, status: int, code: str
) -> None:
    site, token = team
    found, answer = site.asks(method, path, body, token)
    assert (found, answer["error"]) == (status, code)
    assert answer["message"]
    assert answer["next"]
    assert "backstory-server" in site.headers


def test_a_host_that_is_not_ours_is_not_answered(team: tuple[Served, str]) -> None:
    site, token = team
    status, answer = site.asks("GET", "/v1/me", None, token, Host="evil.example")
    assert (status, answer["error"]) == (403, "not_allowed")


def test_nobody_is_let_in_without_a_token(team: tuple[Served, str]) -> None:
    site, _ = team
    for path in ("/v1/me", "/v1/projects", "/v1/devices"):
        assert site.asks("GET", path)[0] == 401
    for path in ("/v1/projects", "/v1/push", "/v1/pull", "/v1/invites", "/v1/revoke", "/v1/purge"):
        body = {"wire": 1, "project": desk.SHOP, "name": "Eve", "text": "all of it"}
        assert site.asks("POST", path, body)[0] == 401, path


def test_too_many_requests_are_told_when_to_come_back(team: tuple[Served, str]) -> None:
    site, _ = team
    answers = [site.asks("POST", "/v1/join", {"invite": "x", "device": "y"}) for _ in range(30)]
    assert answers[0][0] == 403
    assert answers[-1][0] == 429
    assert int(site.headers["retry-after"]) >= 1


def test_it_ends_orderly_and_a_second_start_is_the_same_server(own: EmbeddedPostgres, tmp_path: Path) -> None:
    ids = []
    for _ in range(2):
        with served(own, tmp_path / "graves.jsonl") as site:
            site.asks("GET", "/v1/me")
            ids.append(site.headers["backstory-server"])
            assert site.ends() == 0
    assert ids[0] == ids[1]


def test_without_its_database_it_says_so_and_comes_back_with_it(tmp_path: Path) -> None:
    with desk.postgres() as own, served(own, tmp_path / "graves.jsonl") as site:
        assert site.invitation
        body = {"invite": site.invitation.rpartition("/")[2], "device": "a"}
        token = str(site.asks("POST", "/v1/join", body)[1]["token"])
        own.stop("immediate")
        status, answer = site.asks("GET", "/v1/me", None, token)
        assert (status, answer["error"]) == (503, "no_database")
        start_embedded(own.folder)
        assert until_200(site, token)


def until_200(site: Served, token: str) -> bool:
    return any(site.asks("GET", "/v1/me", None, token)[0] == 200 for _ in range(20))


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "name one of"),
        (("--embedded", "--database", "x"), "name one of"),
        (("--database", "postgresql://nobody@127.0.0.1:1/none"), "does not answer"),
        (("--database", "x", "--listen", "0.0.0.0:0"), "--behind-proxy"),
        (("--database", "x", "--listen", "nowhere:x"), "--listen is"),
        (("--database", "x", "--tls-cert", "c.pem"), "belong together"),
    ],
)  # fmt: skip
def test_what_cannot_be_served_is_said_in_a_line(tmp_path: Path, words: tuple[str, ...], says: str) -> None:
    done = subprocess.run(
        command("--listen", "127.0.0.1:0", *words),
        capture_output=True,
        text=True,
        env={"BACKSTORY_HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
    )
    assert done.returncode in (1, 4)
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(("host", "more", "fair"), [
    ("127.0.0.1", {}, True), ("::1", {}, True), ("localhost", {}, True),
    ("0.0.0.0", {}, False), ("192.168.1.2", {}, False), ("memory.acme.dev", {}, False),
    ("0.0.0.0", {"behind_proxy": True}, True),
    ("0.0.0.0", {"tls_cert": Path("c"), "tls_key": Path("k")}, True),
])  # fmt: skip
def test_tokens_never_cross_a_network_in_the_clear(host: str, more: dict[str, Any], fair: bool) -> None:
    options = ServeOptions("", "", Path("j"), host=host, **more)
    if fair:
        require_safe(options)
        return
    with pytest.raises(UsageError, match="in the clear"):
        require_safe(options)


def test_a_newer_or_changed_schema_is_left_alone(own: EmbeddedPostgres, tmp_path: Path) -> None:
    with psycopg.connect(own.owner_url, options=f"-c search_path={SCHEMA}") as connection:
        connection.execute("INSERT INTO migrations VALUES (9999, '9999_later.sql', 'x')")
    try:
        with pytest.raises(AssertionError, match="9999_later"), served(own, tmp_path / "graves.jsonl"):
            pass
    finally:
        with psycopg.connect(own.owner_url, options=f"-c search_path={SCHEMA}") as connection:
            connection.execute("DELETE FROM migrations WHERE number = 9999")
