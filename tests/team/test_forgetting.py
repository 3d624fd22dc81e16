"""What is forgotten is gone: from answers, from whoever sends it again, from restored backups, from the disk."""

import json
import subprocess
from pathlib import Path

import psycopg
import pytest

from backstory.team import burial
from backstory.team.embedded_postgres import EmbeddedPostgres, programs
from backstory.team.grave_journal import Burial, GraveJournal
from backstory.team.migrator import SCHEMA
from backstory.team.refusal import Refusal
from backstory.team.team_site import TeamSite
from tests.team import desk
from tests.team.desk import Device, row

SECRET = "the launch is called zebrafinch"


def test_a_buried_id_is_never_stored_again_whoever_sends_it(ada: Device, bob: Device) -> None:
    """Invariant 6."""
    ada.pushes(row(1), row(2))
    bob.catches_up()
    assert ada.pushes(bury=(row(1).id,))["buried"] == [row(1).id]
    for device in (ada, bob):
        answer = device.pushes(row(1), row(1, "changed"))
        assert (answer["stored"], answer["buried"], answer["head"]) == ([], [row(1).id], 3)
    assert ada.pushes(bury=(row(1).id,))["head"] == 3, "a second time changes nothing"
    assert bob.catches_up()
    assert set(bob.rows) == {row(2).id}


def test_an_id_may_be_buried_before_it_ever_came(ada: Device) -> None:
    ada.pushes(bury=(row(1).id,))
    assert ada.pushes(row(1))["buried"] == [row(1).id]


def test_only_its_author_and_owners_bury(owner: Device, ada: Device, bob: Device) -> None:
    ada.pushes(row(1), row(2))
    assert bob.pushes(bury=(row(1).id,))["refused"][0]["id"] == row(1).id
    assert owner.pushes(bury=(row(1).id,))["buried"] == [row(1).id]
    assert [each["id"] for each in ada.pulls()["rows"]] == [row(2).id]


def test_it_is_known_which_devices_have_confirmed(owner: Device, ada: Device, bob: Device) -> None:
    ada.pushes(row(1))
    for device in (ada, bob):
        device.catches_up()
    ended = ada.pushes(bury=(row(1).id,))["head"]
    bob.catches_up()  # reads the grave
    bob.catches_up()  # and asks from there on: it has taken it in
    read = {
        each["name"]: each["cursors"].get(desk.SHOP) for each in owner.asks("GET", "/v1/devices")["devices"]
    }
    assert read == {"olga-1": None, "ada-1": 0, "bob-1": ended}
    assert [each["name"] for each in bob.asks("GET", "/v1/devices")["devices"]] == ["bob-1"]


def test_an_owner_ends_every_row_that_holds_a_text_and_it_is_audited(
    owner: Device, ada: Device, bob: Device, running: EmbeddedPostgres
) -> None:
    ada.pushes(row(1, SECRET), row(2))
    bob.pushes(row(3, f'He said "{SECRET}"\nand left'))
    with pytest.raises(Refusal, match="owners"):
        ada.asks("POST", "/v1/purge", project=desk.SHOP, text=SECRET)
    answer = owner.asks("POST", "/v1/purge", project=desk.SHOP, text=f'"{SECRET}"\nand')
    assert answer == {"buried": [row(3).id], "erased": True}
    assert owner.asks("POST", "/v1/purge", text=SECRET)["buried"] == [row(1).id]
    assert [each["id"] for each in bob.pulls()["rows"]] == [row(2).id]
    acts = desk.owner_reads(running, "SELECT act, about FROM audit ORDER BY at")
    assert ("purge", "1 rows") in acts
    assert not [about for _, about in acts if "zebrafinch" in about]


def test_the_bytes_of_what_was_forgotten_leave_the_disk(
    owner: Device, ada: Device, running: EmbeddedPostgres, tmp_path: Path
) -> None:
    """Heap, index, log, statistics: after the erasure no file of the database or beside it has the text."""
    rows = [row(n, f"{SECRET} {n}") for n in range(20)]
    ada.pushes(*rows, *(row(n) for n in range(100, 120)))
    ada.pushes(row(5, f"{SECRET} again"))
    checkpoint(running, "CHECKPOINT")
    checkpoint(running, "ANALYZE")
    samples = "SELECT 1 FROM pg_stats WHERE schemaname = 'backstory' AND attname IN ('body', 'words')"
    assert desk.owner_reads(running, samples) == [], "no burial finds what statistics keep, compressed"
    assert files_with(running, b"zebrafinch"), "it is there before"
    ada.pushes(bury=tuple(each.id for each in rows))
    assert files_with(running, b"zebrafinch"), "deleting is not forgetting"
    assert owner.site.erasure.now()
    assert files_with(running, b"zebrafinch") == []
    assert b"zebrafinch" not in (tmp_path / "graves.jsonl").read_bytes()
    assert len(ada.pulls()["rows"]) == 20


def test_a_burial_erases_by_itself(running: EmbeddedPostgres, tmp_path: Path) -> None:
    with desk.site(running, tmp_path / "graves.jsonl", erase_seconds=0.05) as site:
        owner = desk.founded(site)
        owner.pushes(row(1, "the kestrelmoth is out"))
        checkpoint(running, "CHECKPOINT")
        assert files_with(running, b"kestrelmoth")
        owner.pushes(bury=(row(1).id,))
    assert files_with(running, b"kestrelmoth") == [], "what was due is done before the end"


def test_a_restored_backup_brings_nothing_back(running: EmbeddedPostgres, tmp_path: Path) -> None:
    """Invariant 8: backup, work, restore; a project that the backup did not know is no way around it."""
    journal, dump = tmp_path / "graves.jsonl", tmp_path / "team.dump"
    later = "github.com/acme/later"
    with desk.site(running, journal) as site:
        owner = desk.founded(site)
        owner.pushes(row(1, SECRET), row(2))
        backup(running, dump)
        owner.pushes(bury=(row(1).id,))
        owner.asks("POST", "/v1/projects", project=later)
        owner.pushes(row(7, SECRET), project=later)
        owner.pushes(bury=(row(7).id,), project=later)
        owner.catches_up()
        token = owner.token
    restore(running, dump)
    with desk.site(running, journal) as site:
        again = Device(site, token, b"", {}, {})
        assert [each["id"] for each in again.pulls()["rows"]] == [row(2).id]
        assert [each["id"] for each in again.pulls()["graves"]] == [row(1).id]
        assert again.pushes(row(1, SECRET))["buried"] == [row(1).id]
        again.asks("POST", "/v1/projects", project=later)
        assert again.pushes(row(7, SECRET), project=later)["buried"] == [row(7).id]
        assert again.catches_up()


def test_without_the_journal_it_would_come_back(
    running: EmbeddedPostgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test above fails without its mechanism."""
    dump = tmp_path / "team.dump"
    with desk.site(running, tmp_path / "graves.jsonl") as site:
        owner = desk.founded(site)
        owner.pushes(row(1, SECRET))
        backup(running, dump)
        owner.pushes(bury=(row(1).id,))
    restore(running, dump)
    with desk.site(running, tmp_path / "other.jsonl") as site:
        again = Device(site, owner.token, b"", {}, {})
        assert [each["id"] for each in again.pulls()["rows"]] == [row(1).id]


def test_a_burial_is_in_the_journal_before_it_is_anywhere(
    ada: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kill between the two: the row still stands, and the next start ends it."""
    ada.pushes(row(1))

    def struck(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(burial, "_end", struck)
    with pytest.raises(KeyboardInterrupt):
        ada.pushes(bury=(row(1).id,))
    monkeypatch.undo()
    assert [each["id"] for each in ada.pulls()["rows"]] == [row(1).id]
    [line] = (tmp_path / "graves.jsonl").read_text().splitlines()
    assert json.loads(line)["id"] == row(1).id
    connect_anew(ada.site)
    assert ada.pulls()["rows"] == []
    assert ada.catches_up()


def test_a_torn_line_of_the_journal_costs_nothing_but_itself(tmp_path: Path) -> None:
    path = tmp_path / "graves.jsonl"
    journal = GraveJournal(path)
    one, two = (Burial("t", desk.SHOP, row(n).id, "m") for n in (1, 2))
    journal.append([one])
    journal.close()
    path.write_bytes(path.read_bytes() + b'{"author": "m", "id": "0')
    journal = GraveJournal(path)
    journal.append([two])
    assert list(journal.burials()) == [one, two]
    journal.close()


def connect_anew(site: TeamSite) -> None:
    """As a server that starts."""
    with psycopg.connect(site.database.url, autocommit=True, options=f"-c search_path={SCHEMA}") as bare:
        burial.replay(bare, site.database.journal)


def checkpoint(running: EmbeddedPostgres, statement: str) -> None:
    with psycopg.connect(running.owner_url, autocommit=True) as connection:
        connection.execute(statement.encode())


def files_with(running: EmbeddedPostgres, needle: bytes) -> list[str]:
    """Files of the database, and beside it, that hold these bytes."""
    found = [path for path in running.folder.rglob("*") if path.is_file()]
    return [str(path.relative_to(running.folder)) for path in found if needle in path.read_bytes()]


def backup(running: EmbeddedPostgres, dump: Path) -> None:
    subprocess.run([programs() / "pg_dump", "-Fc", "-f", dump, running.owner_url], check=True)


def restore(running: EmbeddedPostgres, dump: Path) -> None:
    words = ["--clean", "--if-exists", "-d", running.owner_url, str(dump)]
    subprocess.run([programs() / "pg_restore", *words], check=True)
