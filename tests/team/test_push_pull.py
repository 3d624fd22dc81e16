"""Rows go to the server and come back: exactly once, in the order of commits, each with its author."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from backstory.team.refusal import Refusal
from backstory.team.team_site import TeamSite
from backstory.team_wire import LONGEST_ROW, Row
from tests.team import desk
from tests.team.desk import Device, row


def test_what_one_pushes_another_pulls_with_its_author(ada: Device, bob: Device) -> None:
    answer = ada.pushes(row(1), row(2))
    assert answer["refused"] == answer["buried"] == []
    assert answer["stored"] == [{"id": row(n).id, "hash": row(n).hash} for n in (1, 2)]
    pulled = bob.pulls()
    assert [each["id"] for each in pulled["rows"]] == [row(1).id, row(2).id]
    assert pulled["rows"][0]["body"] == row(1).body
    assert pulled["rows"][0]["author"] == {"id": ada.member["id"], "name": "Ada", "role": "member"}
    assert (pulled["cursor"], pulled["head"], pulled["more"]) == (2, 2, False)


def test_the_same_row_again_takes_no_new_number(ada: Device) -> None:
    """Invariant 3: exactly once by id and hash."""
    first = ada.pushes(row(1))
    again = ada.pushes(row(1))
    assert again["stored"] == first["stored"]
    assert again["head"] == first["head"] == 1
    changed = Row(row(1).id, "decision", "superseded", row(1).at, row(1).body)
    assert ada.pushes(changed)["head"] == 2
    assert [each["state"] for each in ada.pulls()["rows"]] == ["superseded"]


def test_a_row_of_another_member_is_refused_and_stops_nothing(ada: Device, bob: Device) -> None:
    """Invariants 2 and 9."""
    ada.pushes(row(1))
    forged = {**row(1, "Bob says otherwise").as_json(), "author": ada.member["id"]}
    answer = bob.pushes(forged, row(2))
    assert [each["id"] for each in answer["stored"]] == [row(2).id]
    assert answer["refused"] == [{"id": row(1).id, "reason": "not yours: another member wrote it"}]
    assert ada.pulls()["rows"][0]["body"] == row(1).body
    assert bob.pushes(bury=(row(1).id,))["refused"][0]["reason"].startswith("not yours")


def test_the_devices_of_one_member_write_the_same_rows(owner: Device, ada: Device) -> None:
    second = desk.joined(owner.site, ada.invites("Ada"), "ada-2")
    assert (second.member["id"], second.share_key) == (ada.member["id"], ada.share_key)
    ada.pushes(row(1))
    assert second.pushes(row(1, "And now so"))["refused"] == []
    assert ada.pulls()["rows"][0]["body"]["text"] == "And now so"


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ({"text": "a NUL \0 in it"}, "NUL"),
        ({"text": "half \ud800 of one"}, "half a character"),
        ({"text": "x" * LONGEST_ROW}, "at most"),
        ({"text": "the key is AKIAIOSFODNN7EXAMPLQ, use it"}, "secret"),
        ({"deep": {"er": ["password=hunter2hunter2"]}}, "secret"),
    ],
)
def test_a_poisoned_row_is_set_aside_with_its_reason(
    ada: Device, bad: dict[str, object], reason: str
) -> None:
    """Invariant 9."""
    answer = ada.pushes({**row(1).as_json(), "body": bad}, row(2))
    assert reason in answer["refused"][0]["reason"]
    assert answer["refused"][0]["id"] == row(1).id
    assert [each["id"] for each in ada.pulls()["rows"]] == [row(2).id]


def test_unknown_kinds_and_fields_are_kept_as_they_came(ada: Device, bob: Device) -> None:
    """Invariant 10."""
    strange = Row(row(1).id, "moon_phase", "current", 5, {"text": "full", "tides": [1, {"two": None}]})
    assert ada.pushes({**strange.as_json(), "later": 1})["refused"] == []
    [found] = bob.pulls()["rows"]
    assert (found["kind"], found["body"]) == ("moon_phase", strange.body)


def test_a_wire_that_is_not_spoken_is_refused(ada: Device) -> None:
    with pytest.raises(Refusal) as refused:
        ada.asks("POST", "/v1/push", wire=2, project=desk.SHOP, rows=[])
    assert (refused.value.status, refused.value.code) == (426, "newer_wire")


def test_pages_hold_every_row_once_and_the_proof_is_of_all(ada: Device, bob: Device) -> None:
    """Invariants 4 and 7."""
    for start in range(0, 90, 30):
        ada.pushes(*(row(n) for n in range(start, start + 30)))
        ada.pushes(bury=tuple(row(n).id for n in range(start, start + 5)))
    seen, cursor = [], 0
    while True:
        page = bob.pulls(cursor, limit=7)
        seen += [each["id"] for each in (*page["rows"], *page["graves"])]
        assert page["proof"]["count"] == 90
        cursor = page["cursor"]
        if not page["more"]:
            break
    assert sorted(seen) == [row(n).id for n in range(90)]
    assert bob.catches_up()
    assert len(bob.rows) == 75


def test_a_page_is_never_larger_than_a_laptop_takes(ada: Device, bob: Device) -> None:
    for start in range(0, 60, 20):
        ada.pushes(*(row(n, "long words here " * 1900) for n in range(start, start + 20)))
    page = bob.pulls()
    assert page["more"]
    assert 20 < len(page["rows"]) < 40
    assert bob.catches_up()
    assert len(bob.rows) == 60


def test_a_reader_never_misses_a_row_that_commits_late(site: TeamSite, ada: Device, bob: Device) -> None:
    """Invariant 1: with numbers from a sequence this loses rows (`test_a_sequence_would_miss_rows`)."""
    done = threading.Event()

    def writes(device: Device, first: int) -> None:
        for n in range(first, first + 40):
            device.pushes(row(n), row(n + 100))

    reader = desk.joined(site, ada.invites("Ada"), "reader")

    def reads() -> None:
        while not done.is_set():
            reader.catches_up()

    with ThreadPoolExecutor(4) as pool:
        reading = pool.submit(reads)
        for each in [pool.submit(writes, ada, 1000), pool.submit(writes, bob, 2000)]:
            each.result()
        done.set()
        reading.result()
    assert reader.catches_up()
    assert len(reader.rows) == 160
