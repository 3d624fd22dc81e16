"""What a request may be refused with: one code, one status, and what to do next (docs/team-protocol.md)."""

from typing import Any

# code: status, what to do next
CODES = {
    "malformed": (400, "send what docs/team-protocol.md says"),
    "unknown_token": (401, "join again: an owner of the team makes an invitation"),
    "not_allowed": (403, "ask an owner of the team"),
    "unknown_project": (404, "a maintainer opens it: `backstory team open`"),
    "no_such_request": (404, "see docs/team-protocol.md"),
    "busy": (409, "try again"),
    "too_large": (413, "send less at once"),
    "newer_wire": (426, "upgrade the older of the two, laptop or server"),
    "too_many": (429, "wait as long as Retry-After says"),
    "failed": (500, "look into the server's log"),
    "no_database": (503, "nothing is lost: it is sent again later"),
}


class Refusal(Exception):
    """A request that is not answered as it was meant."""

    def __init__(self, code: str, message: str, next_: str = "", retry_after: int = 0) -> None:
        super().__init__(message)
        self.code, self.message, self.retry_after = code, message, retry_after
        self.status, default = CODES[code]
        self.next = next_ or default

    def as_json(self) -> dict[str, Any]:
        """As it crosses the wire."""
        return {"error": self.code, "message": self.message, "next": self.next}
