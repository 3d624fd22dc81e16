"""Projects: who sees which, and who may write to it.

A project of the team is opened by a maintainer, by its name or by a pattern (`github.com/acme/*`); a
restricted one needs a grant. `mine/NAME` is the lane of one member's own devices, kept as `mine/MEMBER/NAME`.
"""

from dataclasses import dataclass
from fnmatch import fnmatchcase
from hashlib import blake2b
from typing import Any

from backstory.team.admission import Asker, audit
from backstory.team.burial import rebury_of
from backstory.team.database import Asking
from backstory.team.refusal import Refusal
from backstory.team_wire import OWN_LANE

_LONGEST = 400
_SEEN = (
    "SELECT head, lane, (SELECT role FROM grants WHERE grants.tenant = projects.tenant "
    "AND grants.project = projects.project AND grants.member = %s) FROM projects "
    "WHERE tenant = %s AND project = %s"
)
_HELD = f"{_SEEN} FOR UPDATE"


@dataclass(frozen=True, slots=True)
class Project:
    """A project that this member sees; a lane is none yet (`made`) before something is put into it."""

    key: str
    head: int
    role: str
    made: bool = True


def project_name(value: object) -> str:
    """A name that somebody sent: a normalised remote, never a folder."""
    text = value if isinstance(value, str) else ""
    plain = text.removeprefix(OWN_LANE)
    parts = plain.split("/")
    fair = text.isascii() and text.isprintable() and " " not in text and len(text) <= _LONGEST
    if not fair or len(parts) < 2 or "" in parts or ".." in parts or text.count(OWN_LANE) > 1:
        raise Refusal("malformed", "project is a remote such as github.com/acme/shop")
    return text


def key_of(asker: Asker, name: str) -> str:
    """The key of a project's row: a lane's has its member in it."""
    return f"{OWN_LANE}{asker.member}/{name.removeprefix(OWN_LANE)}" if name.startswith(OWN_LANE) else name


def index_word(asker: Asker, name: str) -> str:
    """The word that stands for this project of this team in the index; no text has one with an underscore."""
    text = f"{asker.tenant}/{key_of(asker, name)}"
    return f"p_{blake2b(text.encode(), digest_size=8).hexdigest()}"


def find_project(asking: Asking, asker: Asker, value: object, write: bool = False) -> Project:
    """The project of this name. To `write`, its row is held until the commit, or made if it may be."""
    name = project_name(value)
    key = key_of(asker, name)
    if write and asker.role == "reader":
        raise Refusal("not_allowed", "readers do not write")
    found = _look(asking, asker, key, write)
    if found is None and (alias := _alias(asking, asker, name)):
        found = _look(asking, asker, alias, write)
    if found is None and write and (name.startswith(OWN_LANE) or _is_expected(asking, asker, name)):
        if _insert(asking, asker, key, False):
            rebury_of(asking, asker.tenant, key)
        found = _look(asking, asker, key, write)
    if found is None and name.startswith(OWN_LANE):
        return Project(key, 0, "member", made=False)
    if found is None:
        raise Refusal("unknown_project", f"{name} is not open to you here")
    if write and found.role == "reader":
        raise Refusal("not_allowed", "readers do not write")
    return found


def projects(asking: Asking, asker: Asker) -> list[dict[str, Any]]:
    """Every project that is open to this member."""
    rows = asking.all(
        "SELECT projects.project, lane, head, restricted, grants.role FROM projects "
        "LEFT JOIN grants ON grants.tenant = projects.tenant AND grants.project = projects.project "
        "AND grants.member = %s WHERE projects.tenant = %s ORDER BY project",
        *(asker.member, asker.tenant),
    )
    return [
        {
            "project": OWN_LANE + project.split("/", 2)[2] if lane else project,
            "role": _role(asker, lane, granted),
            "head": head,
            "restricted": restricted,
        }
        for project, lane, head, restricted, granted in rows
    ]


def open_project(asking: Asking, asker: Asker, name: str, restricted: bool) -> None:
    """Open one; whoever restricts it is its first maintainer. A second time changes nothing."""
    asker.require("owner", "maintainer")
    if name.startswith(OWN_LANE):
        raise Refusal("malformed", "a lane of one's own needs no opening")
    if _insert(asking, asker, name, restricted):
        _grant(asking, asker, name, asker.member, "maintainer")
        rebury_of(asking, asker.tenant, name)
        audit(asking, asker, "open", f"{name}{', restricted' if restricted else ''}")
    find_project(asking, asker, name)  # one that is there and restricted is not opened by opening it again


def open_pattern(asking: Asking, asker: Asker, pattern: object) -> None:
    """All projects whose name fits are opened by the first who pushes."""
    asker.require("owner", "maintainer")
    host = pattern.split("/")[0] if isinstance(pattern, str) else "*"
    if not isinstance(pattern, str) or "*" in host or not pattern.isascii() or pattern.count("*") > 2:
        raise Refusal("malformed", "a pattern is a host and then what fits, such as github.com/acme/*")
    asking.do(
        "INSERT INTO patterns VALUES (%s, %s, %s) ON CONFLICT DO NOTHING",
        *(asker.tenant, pattern[:_LONGEST], asker.member),
    )
    audit(asking, asker, "open", pattern[:_LONGEST])


def grant(asking: Asking, asker: Asker, name: str, member: str, role: str) -> None:
    """Let a member into a restricted project, or make them its maintainer; an owner may let themselves in."""
    if asker.role != "owner" and find_project(asking, asker, name).role != "maintainer":
        raise Refusal("not_allowed", "that is for the project's maintainers")
    if role not in ("maintainer", "member", "reader"):
        raise Refusal("malformed", "role in a project is maintainer, member or reader")
    known = asking.one(
        "SELECT member FROM members WHERE tenant = %s AND (member = %s OR name = %s)",
        *(asker.tenant, member, member),
    )
    if known is None:
        raise Refusal("malformed", f"there is no member {member[:80]!r}")
    _grant(asking, asker, name, known[0], role)
    audit(asking, asker, "grant", f"{name} to {known[0]} as {role}")


def _grant(asking: Asking, asker: Asker, name: str, member: str, role: str) -> None:
    asking.do(
        "INSERT INTO grants VALUES (%s, %s, %s, %s) ON CONFLICT (tenant, project, member) "
        "DO UPDATE SET role = excluded.role",
        *(asker.tenant, name, member, role),
    )


def patterns(asking: Asking, asker: Asker) -> list[str]:
    """The patterns that are open."""
    rows = asking.all("SELECT pattern FROM patterns WHERE tenant = %s ORDER BY pattern", asker.tenant)
    return [row[0] for row in rows]


def _look(asking: Asking, asker: Asker, key: str, hold: bool) -> Project | None:
    row = asking.one(_HELD if hold else _SEEN, asker.member, asker.tenant, key)
    return Project(key, row[0], _role(asker, row[1], row[2])) if row else None


def _role(asker: Asker, lane: str, granted: str | None) -> str:
    """What a member is in a project: what they are in the team, unless a grant says otherwise."""
    if asker.role in ("owner", "reader"):
        return asker.role
    return "member" if lane else granted or asker.role


def _alias(asking: Asking, asker: Asker, name: str) -> str | None:
    row = asking.one("SELECT project FROM aliases WHERE tenant = %s AND alias = %s", asker.tenant, name)
    return row[0] if row else None


def _is_expected(asking: Asking, asker: Asker, name: str) -> bool:
    """Whether a pattern opens it."""
    return any(fnmatchcase(name, each.replace("[", "[[]")) for each in patterns(asking, asker))


def _insert(asking: Asking, asker: Asker, key: str, restricted: bool) -> bool:
    lane = asker.member if key.startswith(OWN_LANE) else ""
    return bool(
        asking.do(
            "INSERT INTO projects (tenant, project, lane, restricted, opened_by) "
            "VALUES (%s, %s, %s, %s, %s) ON CONFLICT DO NOTHING",
            *(asker.tenant, key, lane, restricted, asker.member),
        )
    )
