"""The commands that look after a team, and that nobody pays for a server who does not run one."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from backstory.cli import team_serve
from backstory.errors import DependencyMissing
from backstory.paths import Home
from backstory.team.embedded_postgres import EmbeddedPostgres
from backstory.team_membership import Membership, write_membership
from tests.team import desk
from tests.team.serving import Served, served


@pytest.fixture(scope="module")
def own() -> Iterator[EmbeddedPostgres]:
    with desk.postgres() as found:
        yield found


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BACKSTORY_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def joins(site: Served, invite: str, home: Path, device: str) -> str:
    status, answer = site.asks("POST", "/v1/join", {"invite": invite.rpartition("/")[2], "device": device})
    assert status == 200
    write_membership(
        Home(home), Membership.from_answer(site.address, site.headers["backstory-server"], answer)
    )
    return str(answer["token"])


def run(*words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "backstory", "team", *words], capture_output=True, text=True, timeout=120
    )


def test_an_owner_opens_invites_revokes_and_purges_from_their_machine(
    own: EmbeddedPostgres, home: Path, tmp_path: Path
) -> None:
    with served(own, tmp_path / "graves.jsonl") as site:
        assert site.invitation
        joins(site, site.invitation, home, "olga-1")
        assert run("open", "github.com/acme/*").returncode == 0
        invited = run("invite", "Ada")
        assert invited.stdout.startswith(f"backstory team join {site.address}/j/")
        ada = joins(site, invited.stdout.split()[-1], tmp_path / "ada", "ada-1")
        row = desk.row(1, "the launch is called zebrafinch").as_json()
        body = {"wire": 1, "project": desk.SHOP, "rows": [row], "bury": []}
        assert site.asks("POST", "/v1/push", body, ada)[0] == 200
        listed = json.loads(run("devices", "--json").stdout)
        assert [(each["member"]["name"], each["name"]) for each in listed] == [
            ("Ada", "ada-1"),
            ("owner", "olga-1"),
        ]
        refused = run("purge", "zebrafinch")
        assert refused.returncode == 1, "nobody is there to ask"
        assert json.loads(run("purge", "zebrafinch", "--yes", "--json").stdout) == {
            "buried": [row["id"]],
            "erased": True,
        }
        assert run("revoke", "Ada").returncode == 0
        assert site.asks("GET", "/v1/me", None, ada)[0] == 401
        nobody = run("revoke", "Mallory")
        assert (nobody.returncode, len(nobody.stderr.splitlines())) == (2, 1)


def test_without_a_team_each_command_says_what_to_do(home: Path) -> None:
    for words in (("devices",), ("invite", "Ada"), ("open", desk.SHOP), ("revoke", "Ada")):
        done = run(*words)
        assert done.returncode == 2
        assert "team join" in done.stderr


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(team_serve, "find_spec", lambda name: None)
    done = CliRunner().invoke(team_serve.serve, ["--embedded"])
    assert isinstance(done.exception, DependencyMissing)
    assert "backstory[team]" in str(done.exception)


def test_nothing_of_the_server_is_loaded_before_it_is_served() -> None:
    code = (
        "import sys, backstory.cli.team, backstory.cli.team_members, backstory.cli.team_serve\n"
        "print([name for name in sys.modules if name.startswith(('psycopg', 'backstory.team.', 'starlette'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
