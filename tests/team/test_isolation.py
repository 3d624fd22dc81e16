"""Nobody sees or changes what is not theirs: with our WHERE clauses, and with those of the database alone."""

import contextlib
import random
import re
from typing import Any

import psycopg
import pytest

from backstory.errors import Failed
from backstory.team import team_server
from backstory.team.admission import admit
from backstory.team.database import Asking
from backstory.team.embedded_postgres import EmbeddedPostgres
from backstory.team.migrator import SCHEMA, require_bounded_role
from backstory.team.refusal import Refusal
from backstory.team.team_site import TeamSite
from tests.team import desk
from tests.team.desk import Device, row

CLOSED = "github.com/acme/secret"
LANE = "mine/github.com/acme/shop"
Held = dict[str, set[str]]  # what each device may see: texts


class Two:
    """Two teams with members of every sort, rows of everybody everywhere, and an oracle of who sees what."""

    def __init__(self, site: TeamSite, seed: int) -> None:
        self.rng = random.Random(seed)
        self.devices: list[tuple[str, Device]] = []
        self.may_see: dict[str, set[str]] = {}
        for team in ("acme", "umbrella"):
            owner = desk.founded(site, team)
            owner.asks("POST", "/v1/projects", project=CLOSED, restricted=True)
            owner.asks("POST", "/v1/projects", project=f"github.com/{team}/own")
            people = {"olga": owner}
            for name, role in (("ada", "member"), ("bob", "member"), ("rea", "reader")):
                people[name] = desk.joined(site, owner.invites(name, role), f"{name}-1")
            owner.asks("POST", "/v1/projects", project=CLOSED, member="ada", role="member")
            people["ada2"] = desk.joined(site, people["ada"].invites("ada"), "ada-2")
            for name, device in people.items():
                self.devices.append((f"{team}/{name}", device))
                self.may_see[f"{team}/{name}"] = set()
        self.number = 0

    def sees(self, who: str, writer: str, project: str) -> bool:
        """The oracle: by names alone, it knows nothing of the server."""
        (team, name), (other_team, other) = who.split("/"), writer.split("/")
        if team != other_team:
            return False
        if project == LANE:
            return name.rstrip("2") == other.rstrip("2")
        return project == desk.SHOP or name.rstrip("2") in ("olga", "ada")

    def writes(self) -> None:
        writer, device = self.rng.choice(self.devices)
        project = self.rng.choice((desk.SHOP, CLOSED, LANE))
        self.number += 1
        text = f"{writer} wrote number {self.number} into {project}"
        if not self.sees(writer, writer, project) or writer.endswith("rea"):
            with pytest.raises(Refusal, match=r"not open|do not write"):
                device.pushes(row(self.number, text), project=project)
            return
        device.pushes(row(self.number, text), project=project)
        for who, _ in self.devices:
            if self.sees(who, writer, project):
                self.may_see[who].add(text)

    def read_by(self, device: Device) -> set[str]:
        """Every text that any answer gives."""
        texts: set[str] = set()
        for project in (desk.SHOP, CLOSED, LANE):
            with contextlib.suppress(Refusal):
                texts |= {each["body"]["text"] for each in device.pulls(project=project)["rows"]}
        return texts


def test_everybody_reads_what_the_oracle_says_and_nothing_else(site: TeamSite) -> None:
    two = Two(site, 19)
    for _ in range(150):
        two.writes()
    assert sum(map(len, two.may_see.values())) > 200
    for who, device in two.devices:
        assert two.read_by(device) == two.may_see[who], who


# grants.member stands in a subquery of one row, which is about a role and about no row of anybody
_WHERE = re.compile(r"(?<![\w.])(?!grants\.member)(\w+(?:\.\w+)?) = (%s|%\(\w+\)s)")


@pytest.fixture
def careless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Our own conditions hold nothing any more; who asks is still looked up by the token."""
    execute: Any = psycopg.Connection.execute

    def without_where(self: Any, statement: Any, *values: Any, **more: Any) -> Any:
        text = statement.decode() if isinstance(statement, bytes) else statement
        if isinstance(text, str) and "tokens" not in text and text.lstrip().startswith(("SELECT", "WITH")):
            text = _WHERE.sub(r"(\1 = \2 OR true)", text)
        return execute(self, text.encode() if isinstance(text, str) else text, *values, **more)

    monkeypatch.setattr(psycopg.Connection, "execute", without_where)


def test_the_database_alone_lets_nobody_read_what_is_not_theirs(site: TeamSite, request: Any) -> None:
    """The policies hold without any WHERE of ours: what is wrongly asked for is not there."""
    two = Two(site, 7)
    for _ in range(120):
        two.writes()
    request.getfixturevalue("careless")
    more_than_asked = 0
    for who, device in two.devices:
        seen = two.read_by(device)
        assert seen <= two.may_see[who], who
        named = {each["project"] for each in device.asks("GET", "/v1/projects")["projects"]}
        own = f"github.com/{who.partition('/')[0]}/own"
        assert own in named
        assert named <= {desk.SHOP, LANE, own, *([CLOSED] if two.sees(who, who, CLOSED) else [])}, who
        asked = [each for each in seen if device.pulls()["rows"]]
        more_than_asked += len(asked)
    assert more_than_asked, "the conditions are really gone"
    shop = {each["body"]["text"] for each in two.devices[0][1].pulls()["rows"]}
    assert any("secret" in text for text in shop), "a pull without conditions gives all that is visible"


def test_whoever_asks_the_tables_directly_sees_and_changes_their_own_only(site: TeamSite) -> None:
    two = Two(site, 11)
    for _ in range(120):
        two.writes()
    before = everything(site)
    for who, device in two.devices:

        def look(asking: Asking, token: str = device.token) -> set[str]:
            admit(asking, token)
            return {body for (body,) in asking.all("SELECT body FROM memories")}

        bodies = site.database.run(look)
        assert len(bodies) == len(two.may_see[who])

        def strike(asking: Asking, token: str = device.token) -> tuple[int, int, str]:
            asker = admit(asking, token)
            changed = asking.do("UPDATE memories SET body = '{}'")
            ended = asking.do("DELETE FROM memories")
            with asking.connection.cursor() as cursor:  # nothing of this commits
                left = cursor.execute("SELECT count(*) FROM memories").fetchone()
            asking.roll_back()
            return changed, ended, f"{asker.role} {left}"

        changed, ended, _ = site.database.run(strike)
        own = {text for text in two.may_see[who] if text.startswith(who.rstrip("2"))}
        assert changed == len(own)
        assert ended == (len(two.may_see[who]) if who.endswith("olga") else len(own))
    assert everything(site) == before


@pytest.mark.parametrize("what", ["tenant", "author", "lane", "project"])
def test_a_forged_row_is_refused_by_the_database(site: TeamSite, ada: Device, what: str) -> None:
    other = desk.founded(site, "other")
    site_row = {"tenant": ada.token[:32], "project": desk.SHOP, "author": ada.member["id"]}
    site_row |= {
        "tenant": {"tenant": other.token[:32]},
        "author": {"author": other.member["id"]},
        "lane": {"project": f"mine/{other.member['id']}/github.com/acme/shop"},
        "project": {"project": CLOSED},
    }[what]

    def work(asking: Asking) -> None:
        admit(asking, ada.token)
        asking.do(
            "INSERT INTO memories VALUES (%s, %s, %s, %s, 'd', 1, 'h', 1, 'decision', 'current', 1, '{}')",
            *(site_row["tenant"], site_row["project"], row(1).id, site_row["author"]),
        )

    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        site.database.run(work)


def test_a_transaction_that_says_nobody_sees_nothing(site: TeamSite, ada: Device) -> None:
    ada.pushes(row(1))

    def work(asking: Asking) -> list[int]:
        asking.as_tenant(ada.token[:32])
        tables = ("memories", "projects", "graves", "cursors", "audit")
        return [len(asking.all(f"SELECT 1 FROM {table}")) for table in tables]

    assert site.database.run(work) == [0] * 5
    with psycopg.connect(site.database.url, options=f"-c search_path={SCHEMA}") as bare:
        for table in ("memories", "projects", "graves", "cursors", "audit", "members", "tokens", "invites"):
            assert bare.execute(f"SELECT count(*) FROM {table}".encode()).fetchone() == (0,), table


def test_the_words_of_the_index_tell_nobody_a_text(site: TeamSite, ada: Device) -> None:
    """The one table without a policy holds ids and words; the role may read it, a request never does."""
    ada.pushes(row(1, "Rollout on Friday"))
    with psycopg.connect(site.database.url, options=f"-c search_path={SCHEMA}") as bare:
        columns = bare.execute(
            "SELECT column_name FROM information_schema.columns WHERE table_name = 'words' ORDER BY 1"
        ).fetchall()
    assert [name for (name,) in columns] == ["id", "project", "tenant", "words"]


def test_a_server_whose_role_no_policy_binds_refuses_to_start(
    running: EmbeddedPostgres, tmp_path: Any
) -> None:
    options = team_server.ServeOptions(running.owner_url, "", tmp_path / "graves.jsonl")
    with pytest.raises(Failed, match="not bound by row-level security"), team_server.opened(options):
        pass


@pytest.mark.parametrize(
    ("change", "undo", "says"),
    [
        ("ALTER TABLE memories DISABLE ROW LEVEL SECURITY", "ALTER TABLE memories ENABLE ROW LEVEL SECURITY", "memories has no"),
        ("ALTER ROLE backstory_server BYPASSRLS", "ALTER ROLE backstory_server NOBYPASSRLS", "may bypass"),
        ("ALTER TABLE graves OWNER TO backstory_server", "ALTER TABLE graves OWNER TO postgres", "owns the table graves"),
    ],
)  # fmt: skip
def test_a_database_where_policies_do_not_hold_is_not_served(
    running: EmbeddedPostgres, change: str, undo: str, says: str
) -> None:
    strike(running, change)
    try:
        with (
            psycopg.connect(running.server_url, options=f"-c search_path={SCHEMA}") as bound,
            pytest.raises(Failed, match=says),
        ):
            require_bounded_role(bound)
    finally:
        strike(running, undo)
    with psycopg.connect(running.server_url, options=f"-c search_path={SCHEMA}") as bound:
        require_bounded_role(bound)


def strike(running: EmbeddedPostgres, change: str) -> None:
    with psycopg.connect(running.owner_url, options=f"-c search_path={SCHEMA}") as connection:
        connection.execute(change.encode())


def everything(site: TeamSite) -> list[tuple[Any, ...]]:
    with psycopg.connect(site.database.owner_url, options=f"-c search_path={SCHEMA}") as connection:
        return connection.execute("SELECT * FROM memories ORDER BY tenant, project, id").fetchall()
