"""Which team this machine belongs to: the server's address, the token, the person's share key (`team.json`).

The file is the home's, 0600, and holds what lets this machine in: it is never exported, never printed.
"""

import json
from dataclasses import dataclass
from typing import Any

from backstory.atomic import write_state
from backstory.errors import SourceMissing
from backstory.file_reader import UnusableFile, read_bytes
from backstory.paths import Home


@dataclass(frozen=True, slots=True)
class Person:
    """A member or a device, as the server names it; `role` is a member's only."""

    id: str
    name: str
    role: str = ""


@dataclass(frozen=True, slots=True)
class Membership:
    """What `join` answered, with the address that was joined."""

    address: str
    token: str
    share_key: bytes
    server: str
    tenant: str
    member: Person
    device: Person

    @classmethod
    def from_answer(cls, address: str, server: str, answer: dict[str, Any]) -> "Membership":
        """Of the answer to `join`, and of the file; raises `ValueError` if it is none."""
        try:
            return cls(
                _text(address),
                _text(answer["token"]),
                bytes.fromhex(_text(answer["share_key"])),
                _text(server),
                _text(answer["tenant"]),
                _person(answer["member"]),
                _person(answer["device"]),
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError("this is no membership of a team") from error

    def as_json(self) -> dict[str, Any]:
        """As the file holds it."""
        member, device = self.member, self.device
        return {
            "address": self.address,
            "token": self.token,
            "share_key": self.share_key.hex(),
            "server": self.server,
            "tenant": self.tenant,
            "member": {"id": member.id, "name": member.name, "role": member.role},
            "device": {"id": device.id, "name": device.name},
        }


def read_membership(home: Home) -> Membership | None:
    """The membership of a home; None where there is none. A damaged file raises, it is not replaced."""
    path = home.team
    try:
        kept = json.loads(read_bytes(path))
        return Membership.from_answer(kept["address"], kept["server"], kept)
    except FileNotFoundError:
        return None
    except (UnusableFile, ValueError, KeyError, TypeError, RecursionError) as error:
        raise SourceMissing(f"{path} cannot be read: `backstory team join LINK` makes it anew") from error


def write_membership(home: Home, membership: Membership) -> None:
    """Keep it for this home."""
    write_state(home.team, membership.as_json())


def leave_team(home: Home) -> None:
    """This machine belongs to no team any more."""
    home.team.unlink(missing_ok=True)


def _person(value: dict[str, Any]) -> Person:
    return Person(_text(value["id"]), _text(value["name"]), _text(value.get("role", "")))


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value
