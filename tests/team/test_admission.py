"""Invitations, tokens, roles and projects: who is let in, and to what."""

from pathlib import Path

import pytest

from backstory.team import admission
from backstory.team.embedded_postgres import EmbeddedPostgres
from backstory.team.refusal import Refusal
from tests.team import desk
from tests.team.desk import Device, row


def test_an_invitation_counts_once(owner: Device) -> None:
    invite = owner.invites("Ada")
    ada = desk.joined(owner.site, invite)
    assert ada.member["name"] == "Ada"
    with pytest.raises(Refusal, match="was used"):
        desk.joined(owner.site, invite)


def test_an_invitation_ends_after_a_day(owner: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    invite = owner.invites("Ada")
    now = admission.now_ms()
    monkeypatch.setattr(admission, "now_ms", lambda: now + admission.INVITE_MS + 60_000)
    with pytest.raises(Refusal, match="older than a day"):
        desk.joined(owner.site, invite)


def test_what_proves_anything_is_stored_as_a_hash_only(owner: Device, running: EmbeddedPostgres) -> None:
    invite = owner.invites("Ada")
    ada = desk.joined(owner.site, invite)
    kept = repr(desk.owner_reads(running, "SELECT * FROM tokens")) + repr(
        desk.owner_reads(running, "SELECT * FROM invites")
    )
    for secret in (ada.token, owner.token, invite):
        assert secret.partition(".")[2] not in kept
        assert len(secret.partition(".")[2]) >= 43, "256 bits"


def test_revoking_holds_at_the_next_request(owner: Device, ada: Device) -> None:
    ada.pushes(row(1))
    assert owner.asks("POST", "/v1/revoke", device=ada.device["id"])["revoked"] == [ada.device["id"]]
    for path in ("/v1/push", "/v1/pull"):
        with pytest.raises(Refusal) as refused:
            ada.asks("POST", path, wire=1, project=desk.SHOP)
        assert (refused.value.status, refused.value.code) == (401, "unknown_token")
    again = desk.joined(owner.site, owner.invites("Ada"), "ada-2")
    assert again.share_key == ada.share_key


def test_members_revoke_their_own_devices_and_no_others(owner: Device, ada: Device, bob: Device) -> None:
    second = desk.joined(owner.site, ada.invites("Ada"), "ada-2")
    with pytest.raises(Refusal, match="owners"):
        ada.asks("POST", "/v1/revoke", device=bob.device["id"])
    assert ada.asks("POST", "/v1/revoke", device=second.device["id"])["revoked"] == [second.device["id"]]
    assert owner.asks("POST", "/v1/revoke", member=bob.member["id"])["revoked"] == [bob.device["id"]]
    assert bob.site.answer("GET", "/v1/me", ada.token, "", b"")["member"]["name"] == "Ada"


@pytest.mark.parametrize(
    "token", ["", "x", "0" * 32 + ".", "0" * 32 + "." + "a" * 43, "é" * 32 + ".a", "'; --"]
)
def test_a_token_that_is_none_is_refused(owner: Device, token: str) -> None:
    with pytest.raises(Refusal) as refused:
        owner.site.answer("GET", "/v1/me", token, "", b"")
    assert refused.value.code == "unknown_token"


def test_a_token_of_one_team_is_nothing_in_another(owner: Device, ada: Device) -> None:
    other = desk.founded(owner.site, "umbrella")
    mixed = other.token[:32] + ada.token[32:]
    with pytest.raises(Refusal) as refused:
        owner.site.answer("GET", "/v1/me", mixed, "", b"")
    assert refused.value.code == "unknown_token"


def test_members_invite_their_own_devices_only(ada: Device) -> None:
    assert desk.joined(ada.site, ada.invites("Ada"), "ada-2").member == ada.member
    with pytest.raises(Refusal, match="owners"):
        ada.invites("Mallory")


def test_an_invitation_for_oneself_raises_nobody(ada: Device) -> None:
    assert desk.joined(ada.site, ada.invites("Ada", "owner"), "ada-2").member["role"] == "member"


def test_readers_read(owner: Device, ada: Device) -> None:
    ada.pushes(row(1))
    reader = desk.joined(owner.site, owner.invites("CI", "reader"), "ci")
    assert len(reader.pulls()["rows"]) == 1
    for project in (desk.SHOP, "mine/github.com/acme/shop"):
        with pytest.raises(Refusal, match="do not write"):
            reader.pushes(row(2), project=project)


def test_a_project_is_opened_by_maintainers_and_by_patterns(owner: Device, ada: Device) -> None:
    web = "github.com/acme/web"
    with pytest.raises(Refusal) as refused:
        ada.pushes(row(1), project=web)
    assert (refused.value.status, refused.value.code) == (404, "unknown_project")
    with pytest.raises(Refusal, match="maintainers"):
        ada.asks("POST", "/v1/projects", project=web)
    owner.asks("POST", "/v1/projects", pattern="github.com/acme/*")
    assert ada.pushes(row(1), project=web)["head"] == 1
    with pytest.raises(Refusal, match="not open"):
        ada.pushes(row(1), project="github.com/other/web")
    opened = {each["project"]: each["role"] for each in ada.asks("GET", "/v1/projects")["projects"]}
    assert opened == {desk.SHOP: "member", web: "member"}


@pytest.mark.parametrize("pattern", ["*", "*/acme/shop", "git*/acme/*", 5, "github.com/*/*/*"])
def test_a_pattern_names_a_host(owner: Device, pattern: object) -> None:
    with pytest.raises(Refusal, match="a pattern is"):
        owner.asks("POST", "/v1/projects", pattern=pattern)


@pytest.mark.parametrize(
    "name",
    ["", "shop", "/home/ada/shop", "github.com/acme/../x", "mine/mine/a/b", "a b/c", None, "https://é/x"],
)
def test_a_project_is_a_remote_and_no_folder(owner: Device, name: object) -> None:
    with pytest.raises(Refusal) as refused:
        owner.asks("POST", "/v1/projects", project=name)
    assert refused.value.code == "malformed"


def test_a_restricted_project_needs_a_grant_and_opening_it_again_is_none(owner: Device, ada: Device) -> None:
    secret = "github.com/acme/secret"
    maintainer = desk.joined(owner.site, owner.invites("Max", "maintainer"), "max-1")
    owner.asks("POST", "/v1/projects", project=secret, restricted=True)
    owner.pushes(row(1), project=secret)
    for device in (ada, maintainer):
        with pytest.raises(Refusal, match="not open"):
            device.pulls(project=secret)
    with pytest.raises(Refusal, match="not open"):
        maintainer.asks("POST", "/v1/projects", project=secret)
    with pytest.raises(Refusal, match="not open"):
        maintainer.asks("POST", "/v1/projects", project=secret, member="Max", role="member")
    assert maintainer.asks("GET", "/v1/projects")["projects"][0]["project"] == desk.SHOP
    owner.asks("POST", "/v1/projects", project=secret, member="Ada", role="reader")
    assert len(ada.pulls(project=secret)["rows"]) == 1
    with pytest.raises(Refusal, match="do not write"):
        ada.pushes(row(2), project=secret)


def test_the_lane_of_my_devices_is_mine(owner: Device, ada: Device, bob: Device) -> None:
    lane = "mine/github.com/acme/shop"
    ada.pushes(row(1), project=lane)
    second = desk.joined(owner.site, ada.invites("Ada"), "ada-2")
    assert len(second.pulls(project=lane)["rows"]) == 1
    for device in (owner, bob):
        assert device.pulls(project=lane)["rows"] == []
        assert device.pulls(project=f"mine/{ada.member['id']}/github.com/acme/shop")["rows"] == []
    assert [each["project"] for each in ada.asks("GET", "/v1/projects")["projects"]] == [desk.SHOP, lane]


def test_the_proof_of_a_lane_is_of_that_lane(ada: Device, bob: Device, tmp_path: Path) -> None:
    lane = "mine/github.com/acme/shop"
    for n, device in enumerate((ada, bob)):
        device.pushes(*(row(10 * n + each) for each in range(n + 2)), project=lane)
        assert device.catches_up(lane)
        assert len(device.rows) == n + 2
