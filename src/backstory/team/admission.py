"""Who is let in: invitations that count once, tokens looked up at every request, devices, roles.

A token and an invitation begin with the tenant's id, so that they are looked up in one place also where the
database is distributed; what proves anything is the 256 bits behind it, of which only a hash is stored.
"""

import secrets
import time
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import psycopg

from backstory.team.database import Asking, Database
from backstory.team.migrator import SCHEMA
from backstory.team.refusal import Refusal
from backstory.team_wire import OWN_LANE

ROLES = ("owner", "maintainer", "member", "reader")
INVITE_MS = 24 * 3_600_000
_SEEN_MS = 60_000  # how exactly it is known when a device was last seen
_LONGEST_NAME = 80
_TENANT_DIGITS = 32


@dataclass(frozen=True, slots=True)
class Asker:
    """Whom a token belongs to."""

    tenant: str
    member: str
    name: str
    role: str
    device: str
    device_name: str

    def require(self, *roles: str) -> None:
        """Refuse unless this is one of them."""
        if self.role not in roles:
            raise Refusal("not_allowed", f"that is for {' and '.join(f'{role}s' for role in roles)}")


def now_ms() -> int:
    """The server's clock; it is shown to people and ends invitations, and decides nothing else."""
    return int(time.time() * 1000)


def new_id() -> str:
    """An id of 128 bits."""
    return secrets.token_hex(16)


def tenants(owner_url: str) -> list[tuple[str, str, int]]:
    """Id, name and number of members of each team, for whoever runs the server."""
    with _as_owner(owner_url) as connection:
        return connection.execute(
            "SELECT tenant, tenants.name, count(member) FROM tenants LEFT JOIN members USING (tenant) "
            "GROUP BY tenant, tenants.name, created_at ORDER BY created_at"
        ).fetchall()


def make_tenant(owner_url: str, name: str) -> str:
    """A team of its own, made by whoever runs the server; gives its id."""
    tenant = new_id()
    with _as_owner(owner_url) as connection:
        connection.execute("INSERT INTO tenants VALUES (%s, %s, %s)", (tenant, name, now_ms()))
    return tenant


def invite_owner(database: Database, tenant: str, name: str) -> str:
    """An invitation for an owner, made by whoever runs the server."""

    def work(asking: Asking) -> str:
        asking.as_tenant(tenant)
        return _make_invite(asking, tenant, _name(name, "name"), "owner")[0]

    return database.run(work, again=False)


def _as_owner(owner_url: str) -> psycopg.Connection[tuple[Any, ...]]:
    return psycopg.connect(owner_url, options=f"-c search_path={SCHEMA}")


def admit(asking: Asking, token: str) -> Asker:
    """Begin the transaction of whom this token belongs to; a revoked or unknown one is refused."""
    tenant = _tenant_of(token, "unknown_token")
    asking.as_tenant(tenant)
    row = asking.one(
        "SELECT tokens.member, members.name, members.role, tokens.device, tokens.device_name, tokens.seen_at "
        "FROM tokens JOIN members ON members.tenant = tokens.tenant AND members.member = tokens.member "
        "WHERE tokens.tenant = %s AND tokens.hash = %s AND tokens.revoked_at IS NULL",
        tenant,
        _hash(token),
    )
    if row is None:
        raise Refusal("unknown_token", "this token is unknown here, or was revoked")
    asker = Asker(tenant, *row[:5])
    asking.as_member(asker.member, asker.role)
    if now_ms() - row[5] > _SEEN_MS:
        asking.do(
            "UPDATE tokens SET seen_at = %s WHERE tenant = %s AND hash = %s", now_ms(), tenant, _hash(token)
        )
    return asker


def join(asking: Asking, invite: str, device_name: str) -> dict[str, Any]:
    """A new device, and with an invitation for a new name a new member; the invitation is spent."""
    tenant = _tenant_of(invite, "not_allowed")
    device_name = _name(device_name, "device")
    asking.as_tenant(tenant)
    found = asking.one(
        "UPDATE invites SET used_at = %s WHERE tenant = %s AND hash = %s AND used_at IS NULL "
        "AND expires_at > %s RETURNING name, role",
        *(now_ms(), tenant, _hash(invite), now_ms()),
    )
    if found is None:
        raise Refusal(
            "not_allowed",
            "this invitation is unknown, older than a day, or was used",
            "ask an owner of the team for a new one",
        )
    name, role = found
    asking.do(
        "INSERT INTO members VALUES (%s, %s, %s, %s, %s) ON CONFLICT (tenant, name) DO NOTHING",
        *(tenant, new_id(), name, role, secrets.token_bytes(32)),
    )
    member = asking.one(
        "SELECT member, name, role, share_key FROM members WHERE tenant = %s AND name = %s", tenant, name
    )
    assert member is not None
    token, device = f"{tenant}.{secrets.token_urlsafe(32)}", new_id()
    asking.do(
        "INSERT INTO tokens VALUES (%s, %s, %s, %s, %s, %s, %s, NULL)",
        *(tenant, _hash(token), member[0], device, device_name, now_ms(), now_ms()),
    )
    return {
        "token": token,
        "tenant": tenant,
        "member": {"id": member[0], "name": member[1], "role": member[2]},
        "device": {"id": device, "name": device_name},
        "share_key": bytes(member[3]).hex(),
    }


def invite(asking: Asking, asker: Asker, name: str, role: str) -> tuple[str, int]:
    """An invitation, and when it ends. A name that is there already is invited with a further device."""
    name = _name(name, "name")
    if role not in ROLES:
        raise Refusal("malformed", f"role is one of {', '.join(ROLES)}")
    if name != asker.name:
        asker.require("owner")
    made = _make_invite(asking, asker.tenant, name, role)
    audit(asking, asker, "invite", f"{name} as {role}")
    return made


def _make_invite(asking: Asking, tenant: str, name: str, role: str) -> tuple[str, int]:
    made, ends = f"{tenant}.{secrets.token_urlsafe(32)}", now_ms() + INVITE_MS
    asking.do("INSERT INTO invites VALUES (%s, %s, %s, %s, %s, NULL)", tenant, _hash(made), name, role, ends)
    return made, ends


def revoke(asking: Asking, asker: Asker, device: str, member: str) -> list[str]:
    """End the tokens of a device, or of all of a member's; of others only an owner."""
    found = asking.all(
        "SELECT device, member FROM tokens WHERE tenant = %s AND revoked_at IS NULL "
        "AND (device = %s OR member = %s)",
        *(asker.tenant, device, member),
    )
    if any(whose != asker.member for _, whose in found):
        asker.require("owner")
    ended = [each for each, _ in found]
    asking.do(
        "UPDATE tokens SET revoked_at = %s WHERE tenant = %s AND device = ANY(%s)",
        *(now_ms(), asker.tenant, ended),
    )
    for each in ended:
        audit(asking, asker, "revoke", each)
    return ended


def devices(asking: Asking, asker: Asker) -> list[dict[str, Any]]:
    """The devices of this member, of an owner those of all; each with how far it has read each project."""
    rows = asking.all(
        "SELECT device, device_name, tokens.member, members.name, members.role, joined_at, seen_at, "
        "revoked_at FROM tokens JOIN members USING (tenant, member) "
        "WHERE tenant = %s AND (member = %s OR %s) ORDER BY members.name, joined_at",
        *(asker.tenant, asker.member, asker.role == "owner"),
    )
    read: dict[str, dict[str, int]] = {}
    for device, project, seq in asking.all(
        "SELECT device, project, seq FROM cursors WHERE tenant = %s ORDER BY project", asker.tenant
    ):
        lane = project.startswith(OWN_LANE)
        shown = f"{OWN_LANE}{project.split('/', 2)[2]}" if lane else project
        read.setdefault(device, {})[shown] = seq
    return [
        {
            "id": row[0],
            "name": row[1],
            "member": {"id": row[2], "name": row[3], "role": row[4]},
            "joined_at": row[5],
            "seen_at": row[6],
            "revoked_at": row[7],
            "cursors": read.get(row[0], {}),
        }
        for row in rows
    ]


def audit(asking: Asking, asker: Asker, act: str, about: str) -> None:
    """Write down who did what to whom; never a text."""
    asking.do(
        "INSERT INTO audit VALUES (%s, %s, %s, %s, %s, %s)",
        *(asker.tenant, new_id(), now_ms(), asker.member, act, about),
    )


def _tenant_of(secret: str, code: str) -> str:
    tenant, dot, rest = secret.partition(".")
    if not dot or len(tenant) != _TENANT_DIGITS or not tenant.isalnum() or not rest or not secret.isascii():
        raise Refusal(code, "this is no key of a team's server")
    return tenant.lower()


def _name(value: object, what: str) -> str:
    text = " ".join(value.split()) if isinstance(value, str) else ""
    if not text or len(text) > _LONGEST_NAME or not text.isprintable():
        raise Refusal("malformed", f"{what} is a name of at most {_LONGEST_NAME} characters")
    return text


def _hash(secret: str) -> bytes:
    return sha256(secret.encode()).digest()
