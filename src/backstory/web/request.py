"""A request as pages and actions see it, and a page as the site sends it."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import tzinfo
from typing import TypeVar
from urllib.parse import urlencode

from backstory.errors import BackstoryError, Failed, SourceMissing, UsageError
from backstory.web.markup import Html

T = TypeVar("T")
PAGE = 50
_CURSOR = re.compile(r"(-?[0-9]{1,17})~(.*)", re.DOTALL)
MOST = 200


@dataclass(frozen=True, slots=True)
class PageRequest:
    """What was asked: the path with its parts, the query or the form, and what holds for all pages."""

    path: str = "/"
    parts: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, str] = field(default_factory=dict)
    zone: tzinfo | None = None
    read_only: bool = False
    fragment: bool = False

    def get(self, name: str) -> str:
        """A value of query or form, or ""."""
        return self.values.get(name, "").strip()

    def with_(self, **changes: str) -> str:
        """The address of this page with other values; the cursor never survives a change."""
        passing = ("before", "part", "did")
        kept = {key: value for key, value in self.values.items() if value and key not in passing}
        kept.update(changes)
        query = urlencode({key: value for key, value in kept.items() if value})
        return f"{self.path}?{query}" if query else self.path


@dataclass(frozen=True, slots=True)
class Page:
    """What a page function gives: a title for the window, the content, which part of the site it is in."""

    title: str
    body: Html
    here: str = ""
    status: int = 200


@dataclass(frozen=True, slots=True)
class Redirect:
    """What an action gives: where to look next, and what to say there."""

    path: str


class NotInTheBrowser(UsageError):
    """It is done on the terminal only."""


def status_of(error: BackstoryError) -> int:
    """The status that HTTP has for what went wrong."""
    statuses = ((NotInTheBrowser, 403), (SourceMissing, 404), (Failed, 409))
    return next((status for kind, status in statuses if isinstance(error, kind)), 400)


def parse_cursor(text: str) -> tuple[int, str] | None:
    """A cursor as a link carries it, `at~id`; None if there is none."""
    if not text:
        return None
    if not (found := _CURSOR.fullmatch(text)):
        raise UsageError(f"{text[:40]!r} is no place in a list: `before` is what a page gave as its next")
    return int(found[1]), found[2]


def page_rows(found: list[T], limit: int, at: Callable[[T], tuple[int, str]]) -> tuple[list[T], str]:
    """A page out of one row more than fits, and the cursor of the next one; "" if there is none."""
    if len(found) <= limit:
        return found, ""
    when, key = at(found[limit - 1])
    return found[:limit], f"{when}~{key}"


def clamped_limit(text: str, default: int = PAGE, most: int = MOST) -> int:
    """A number of rows within reason, whatever was asked for."""
    return min(max(int(text), 1), most) if text.isdecimal() and len(text) < 10 else default


def local_path(path: str) -> str:
    """A path of this site, or the beginning of it."""
    odd = any(char <= " " or char == "\x7f" for char in path)  # which a browser, or a parser here, leaves out
    return path if path.startswith("/") and not path.startswith(("//", "/\\")) and not odd else "/"
