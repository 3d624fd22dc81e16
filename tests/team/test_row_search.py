"""Search on the server: for readers that keep nothing themselves."""

import pytest

from backstory.team.refusal import Refusal
from backstory.team_wire import Row
from tests.team import desk
from tests.team.desk import Device, row


def finds(device: Device, query: str, project: str = desk.SHOP, limit: int = 10) -> list[str]:
    answer = device.asks("POST", "/v1/search", project=project, query=query, limit=limit)
    return [each["body"]["text"] for each in answer["rows"]]


def test_a_reader_finds_what_holds_the_rare_words_first(owner: Device, ada: Device) -> None:
    common = [row(n, f"The deploy of service {n} takes the green lane") for n in range(30)]
    ada.pushes(*common, row(100, "Deploy the ledger with parseInvoiceTotals first", said_by="user"))
    reader = desk.joined(owner.site, owner.invites("CI", "reader"), "ci")
    for query in ("how do we deploy the ledger?", "parse invoice", "LEDGER deploy"):
        assert finds(reader, query)[0].startswith("Deploy the ledger"), query
    assert len(finds(reader, "deploy", limit=5)) == 5
    assert finds(reader, "quokka") == finds(reader, "what is it?") == []


def test_what_is_history_and_what_an_agent_said_come_later(ada: Device) -> None:
    said = {"text": "Queue tasks in Redis", "said_by": "user"}
    ada.pushes(
        Row(row(1).id, "decision", "superseded", 9, {**said, "text": "Queue tasks in Postgres"}),
        Row(row(2).id, "decision", "current", 5, {"text": "Queue tasks in memory", "said_by": "agent"}),
        Row(row(3).id, "decision", "current", 1, said),
    )
    assert finds(ada, "queue tasks") == [
        "Queue tasks in Redis",
        "Queue tasks in memory",
        "Queue tasks in Postgres",
    ]


def test_search_stays_in_the_project_the_lane_and_the_team(owner: Device, ada: Device, bob: Device) -> None:
    lane, other = "mine/github.com/acme/shop", desk.founded(owner.site, "umbrella")
    ada.pushes(row(1, "zebrafinch of the team"))
    ada.pushes(row(2, "zebrafinch of my lane"), project=lane)
    other.pushes(row(3, "zebrafinch of another team"))
    assert finds(bob, "zebrafinch") == ["zebrafinch of the team"]
    assert finds(ada, "zebrafinch", lane) == ["zebrafinch of my lane"]
    assert finds(bob, "zebrafinch", lane) == []
    assert finds(other, "zebrafinch") == ["zebrafinch of another team"]


def test_what_is_buried_or_changed_is_found_no_more(ada: Device) -> None:
    ada.pushes(row(1, "the old harbour"), row(2, "the old crane"))
    ada.pushes(row(2, "the new crane"), bury=(row(1).id,))
    assert finds(ada, "old harbour crane") == ["the new crane"]


@pytest.mark.parametrize("query", ["", None, "x" * 3000, 5])
def test_a_query_that_is_none_is_refused(ada: Device, query: object) -> None:
    with pytest.raises(Refusal, match="query is"):
        ada.asks("POST", "/v1/search", project=desk.SHOP, query=query)


@pytest.mark.parametrize(
    "query", ["'; DROP TABLE words; --", "a & b | !c <-> d:*", "\\ ' \" :*A", "日本語 テスト"]
)
def test_no_query_is_a_statement(ada: Device, query: str) -> None:
    ada.pushes(row(1, "日本語 テスト with words"))
    assert isinstance(finds(ada, query), list)
