"""Two people, one server: what one of them learned is in the other's brief, and what is forgotten is gone."""

import json
from collections.abc import Callable

import pytest

from backstory.app import App
from backstory.errors import UsageError
from backstory.model import Act, MemoryKind
from tests.share.team import SHOP, Laptop, TeamServer

DECISION = "We use Postgres for orders because MySQL lost rows under load"


@pytest.fixture
def team(server: TeamServer, ada: Laptop, bob: Laptop) -> TeamServer:
    ada.joins(server.link("Ada"))
    bob.joins(server.link("Bob"))
    return server


def test_what_one_decided_is_in_the_others_brief_with_its_author(
    team: TeamServer, ada: Laptop, bob: Laptop
) -> None:
    ada.remembers(DECISION)
    ada.shares()
    bob.shares()
    assert bob.heard() == [f"Ada decided: {DECISION}"]
    brief = bob.start()
    assert f"Ada decided: {DECISION}" in brief
    assert "The user decided" not in brief
    assert "The user decided" in ada.start(), "to its author it is their own word"
    assert ada.heard() == [], "nobody is told their own words as somebody else's"
    with bob.app() as app:
        project = app.project_at(bob.project)
        hits = app.search("postgres orders", project.id).hits
        assert next(hit.text for hit in hits).startswith("Ada decided: ")
        assert hits[0].by != "user"


def test_both_sides_have_the_same_and_the_report_says_so(team: TeamServer, ada: Laptop, bob: Laptop) -> None:
    for number in range(3):
        ada.remembers(f"We chose way {number} for the parser, since the other one was slow")
    ada.shares()
    bob.shares()
    for each in (ada, bob):
        with each.app() as app:
            (shared,) = app.team_report().feeds
        assert (shared.here, shared.feed.there) == (3, 3)
        assert shared.feed.proved_at
        assert not shared.feed.trouble


def test_what_is_shown_before_sharing_is_what_crosses_the_wire(team: TeamServer, ada: Laptop) -> None:
    ada.remembers(f"Scripts of {ada.project}/tools are started from /home/carol/bin because of the path")
    ada.remembers("The key of staging is " + "sk-ant-" + "api03-" + "Q7x9" * 20, "fact")
    ada.remembers("Never read <private>the cellar</private> on Mondays", "fact")
    ada.remembers("Write 🐋 and \x00 as they are", "fact")
    with ada.app() as app:
        shown = app.choose_shared(app.project_at(ada.project), "kept", mine=False)
    assert team.wire.pushed() == []
    ada.shares()
    assert team.wire.pushed() == json.loads(json.dumps([each.row.as_json() for each in shown.rows]))
    assert len(shown.rows) == 4
    crossed = b"".join(asked.body for asked in team.wire.asked if asked.path == "/v1/push").decode()
    for never in (
        str(ada.project),
        "/home/carol",
        "carol",
        "sk-ant",
        "cellar",
        "\\u0000",
        str(ada.home.root),
    ):
        assert never not in crossed
    assert "tools are started from ~/bin" in crossed


def test_nothing_leaves_before_it_is_shared_and_preferences_never_to_the_team(
    team: TeamServer, ada: Laptop
) -> None:
    ada.remembers(DECISION)
    ada.remembers("I want short answers", "preference")
    assert ada.worker() == 0
    assert team.wire.pushed() == []
    ada.shares("learned")
    assert [row["kind"] for row in team.wire.pushed()] == ["decision"]


def test_a_memory_that_cites_an_ignored_file_stays(team: TeamServer, ada: Laptop) -> None:
    (ada.project / ".gitignore").write_text("secrets/\n*.key\n")
    ada.sets("privacy.ignore_paths", "vault/**")
    ada.remembers("The port is read from secrets/ports.txt because of the firewall", "fact")
    ada.remembers("Sign with deploy.key because the other one is old", "fact")
    ada.remembers("Look into vault/notes.md for the address", "fact")
    ada.remembers("Look into docs/notes.md for the address", "fact")
    with ada.app() as app:
        choice = app.choose_shared(app.project_at(ada.project), "kept", mine=False)
    assert [each.memory.text for each in choice.rows] == ["Look into docs/notes.md for the address"]
    assert choice.held_back == 3


def test_a_folder_without_a_remote_is_shared_with_nobody(team: TeamServer, ada: Laptop) -> None:
    other = ada.home.root.parent / "plain"
    other.mkdir()
    with ada.app() as app, pytest.raises(UsageError, match="known by its folder only"):
        app.choose_shared(app.project_at(other), "kept", mine=False)


def test_own_machines_meet_and_a_wish_is_told_as_the_users(
    team: TeamServer, ada: Laptop, clone: Callable[[str], Laptop]
) -> None:
    desktop = clone("desktop").joins(team.link("Ada"))
    ada.remembers("I want short answers", "preference")
    ada.shares("learned", mine=True)
    desktop.shares("learned", mine=True)
    assert desktop.heard() == ["Ada wants (on another machine of the user): I want short answers"]
    assert ada.heard() == []


def test_an_agents_word_is_told_as_an_agents(team: TeamServer, ada: Laptop, bob: Laptop) -> None:
    from backstory.model import Speaker

    with ada.app() as app:
        app.remember("The tests need a display", ada.project, "fact", Speaker.AGENT)
    ada.works()
    ada.shares("kept")
    assert team.wire.pushed() == [], "a person has not said it"
    ada.shares("learned")
    bob.shares()
    assert bob.heard() == ["Ada's agent noted: The tests need a display"]


def test_somebody_elses_word_replaces_nothing_and_who_says_otherwise_is_told(
    team: TeamServer, ada: Laptop, bob: Laptop
) -> None:
    bob.remembers("We use MySQL instead of Postgres for orders")
    ada.remembers("We use Postgres instead of MySQL for orders")
    ada.shares()
    bob.shares()
    brief = bob.start()
    assert "The user decided: We use MySQL instead of Postgres" in brief
    assert "Ada decided: We use Postgres instead of MySQL" in brief
    assert "decided otherwise: Ada (" in brief
    assert "decided otherwise: you (" in brief


def test_who_is_muted_is_not_told_and_who_is_unmuted_is(team: TeamServer, ada: Laptop, bob: Laptop) -> None:
    ada.remembers(DECISION)
    ada.shares()
    bob.shares()
    with bob.app() as app:
        app.mute("Ada")
    assert "Ada" not in bob.start()
    with bob.app() as app:
        assert app.search("postgres orders", None).hits == ()
        app.unmute("Ada")
    assert "Ada decided" in bob.start()


def test_what_is_rejected_here_stays_so_when_it_comes_again(
    team: TeamServer, ada: Laptop, bob: Laptop
) -> None:
    mid = ada.remembers(DECISION)
    ada.shares()
    bob.shares()
    with bob.app() as app:
        (other,) = app.store.others.of_project(app.project_at(bob.project).id, [MemoryKind.DECISION], 5)
        app.judge(other.id, Act.REJECT)
    with ada.app() as app:
        app.judge(mid, Act.EDIT, DECISION + " and in tests")
    ada.syncs()
    bob.syncs()
    assert bob.heard() == []
    with bob.app() as app:
        kept = app.store.memories.kept(other.id)
    assert kept is not None
    assert kept.text.endswith("and in tests")


def test_what_was_forgotten_with_the_team_is_gone_from_both_homes_and_stays_gone(
    server: TeamServer, ada: Laptop, bob: Laptop
) -> None:
    """Ada is an owner here: only those are told of everybody's devices."""
    ada.joins(server.link("Ada", "owner"))
    bob.joins(server.link("Bob"))
    secret = "bluewhale-7731"
    ada.remembers(f"The cellar is called {secret} because of the merger", "fact")
    ada.remembers(DECISION)
    ada.shares()
    bob.shares()
    told = bob.session()
    told.starts().prompts("What is the cellar called?").stops(f"It is called {secret}, says Ada.").ends()
    bob.works()
    assert bob.holds(secret)
    with ada.app() as app:
        app.forget(app.wanted([], text=secret), really=True, with_team=True)
        burial = app.bury_with_team()
    assert not burial.trouble
    assert not burial.waits
    assert [name for name, _ in burial.behind] != []
    assert burial.confirmed == ()
    assert ada.holds(secret) == []
    assert secret not in json.dumps(server.owner.pulls(0))
    with bob.app() as app:
        app.forget(app.wanted([told.id]), really=True)  # what his own session says is his to forget
    bob.syncs()
    bob.worker()
    assert bob.holds(secret) == []
    assert bob.heard() == [f"Ada decided: {DECISION}"]
    with ada.app() as app:
        again = app.who_followed()
    assert len(again.confirmed) == 1, "Bob's laptop has"
    assert [name for name, _ in again.behind] == ["olga-1"]
    ada.syncs()
    bob.syncs()
    assert bob.holds(secret) == []
    assert ada.holds(secret) == []


def test_what_is_forgotten_at_home_only_is_withdrawn_from_the_team(
    team: TeamServer, ada: Laptop, bob: Laptop
) -> None:
    ada.remembers(DECISION)
    ada.shares()
    bob.shares()
    with ada.app() as app:
        app.forget(app.wanted([], text="Postgres"), really=True)
    ada.syncs()
    bob.syncs()
    assert bob.heard() == []
    assert team.owner.pulls(0)["rows"][0]["state"] == "withdrawn"
    assert "Postgres" not in json.dumps(team.owner.pulls(0)["rows"])


def test_leaving_takes_along_what_was_shared_and_drops_what_others_shared(
    team: TeamServer, ada: Laptop, bob: Laptop
) -> None:
    ada.remembers(DECISION)
    bob.remembers("We deploy on Fridays because the others sleep")
    ada.shares()
    bob.shares()
    ada.syncs()
    assert len(ada.heard()) == 1
    with ada.app() as app:
        assert app.leave_team(take_mine=True) == 1
        assert app.membership() is None
    assert ada.heard() == []
    bob.syncs()
    assert bob.heard() == []
    with ada.app() as app:
        assert "The user decided" in app.brief(ada.project, "claude-code").text


def test_at_most_a_third_of_a_brief_is_others(team: TeamServer, ada: Laptop, bob: Laptop) -> None:
    for number in range(30):
        ada.remembers(
            f"Module {number} is written by hand because its generator broke on line {number} twice"
        )
    bob.remembers("We deploy on Fridays because the others sleep")
    ada.shares()
    bob.shares()
    brief = bob.start()
    others = sum(len(line) for line in brief.splitlines() if "Ada decided" in line or "Ada noted" in line)
    assert 0 < others <= 2_400 // 3
    assert "We deploy on Fridays" in brief


def test_feed_of_the_shop_is_named_after_its_remote(team: TeamServer, ada: Laptop) -> None:
    ada.remembers(DECISION)
    ada.shares()
    with App(ada.home) as app:
        assert [feed.name for feed in app.store.feeds.all()] == [SHOP]
