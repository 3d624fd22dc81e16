"""Typed facts: one page each under `facts/`, and one index that lists them all, once.

What is true of the user, of how to work, of the project, or where to look. A fact of the project carries
dates that stay true: "yesterday" is written with its day.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta

from backstory.attribution import led_in
from backstory.errors import UsageError
from backstory.front_matter import front_matter, split_front_matter
from backstory.knowledge.index_page import article_links
from backstory.knowledge.markdown_page import harmless_line, links_in, slug, wikilink
from backstory.knowledge.page_transaction import Changes
from backstory.knowledge.vault import Vault

TYPES = ("user", "feedback", "project", "reference")
INDEX = "facts/index"
MOST_LINES = 200
LONGEST_LINE = 150
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NEAR = {"today": 0, "yesterday": -1, "tomorrow": 1, "tonight": 0, "last week": -7, "next week": 7}
_RELATIVE = re.compile(
    rf"\b(today|tonight|yesterday|tomorrow|(?:last|next) week|(?:last|next|this) (?:{'|'.join(_DAYS)}))\b"
    r"(?! \(\d{4}-)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Fact:
    """One typed fact, as its page says it."""

    link: str
    type: str
    name: str
    description: str
    text: str


def plan_fact(
    changes: Changes, kind: str, text: str, name: str, handle: str, today: str, lead: str = ""
) -> str:
    """Plan a fact's page and the index; gives its link. A fact of the same name is written anew.

    `lead` says whose words it is, if not the user's.
    """
    if kind not in TYPES:
        raise UsageError(f"{kind!r} is no type of fact: {', '.join(TYPES)}")
    said = harmless_line(text)
    title = harmless_line(name, 70) or harmless_line(
        re.split(r"(?<=\w)[.!?](?:\s|$)", said, maxsplit=1)[0], 70
    )
    address = f"facts/{kind}-{slug(title) or 'fact'}"
    if kind == "project":
        said = date_named_days(said, date.fromisoformat(today))
    said = led_in(lead, said)
    old, _ = split_front_matter(changes.read(f"{address}.md") or "")
    fields = {
        "name": title,
        "description": harmless_line(said, LONGEST_LINE - len(f"- {wikilink(address)} ")),
        "type": kind,
        "created": str(old.get("created") or today),
        "updated": today,
        "memory": handle,
    }
    changes.put(f"{address}.md", front_matter(fields) + f"\n# {title}\n\n{said}\n")
    put_index(changes)
    return address


def date_named_days(text: str, today: date) -> str:
    """Text in which a day that is named from today on carries its date."""

    def absolute(match: re.Match[str]) -> str:
        word = match[1].lower()
        if word in _NEAR:
            day = today + timedelta(days=_NEAR[word])
        else:
            which, _, name = word.partition(" ")
            ahead = (_DAYS.index(name) - today.weekday()) % 7
            days = ahead - 7 if which == "last" else ahead or 7 if which == "next" else ahead
            day = today + timedelta(days=days)
        return f"{match[1]} ({day.isoformat()})"

    return _RELATIVE.sub(absolute, text)


def fact_links(changes: Changes) -> list[str]:
    """The facts that there will be, as links."""
    return [address for address in article_links(changes, "facts") if address != INDEX]


def put_index(changes: Changes) -> None:
    """Plan the index of facts: one line each; none is ever left out."""
    rows = []
    for address in fact_links(changes):
        fields, _ = split_front_matter(changes.read(f"{address}.md") or "")
        rows.append(f"- {wikilink(address)} {fields.get('description') or fields.get('name') or ''}".rstrip())
    if rows or changes.read(f"{INDEX}.md") is not None:
        changes.put(f"{INDEX}.md", "\n".join(rows) + "\n")


def index_problems(vault: Vault) -> Iterator[tuple[str, str]]:
    """What is wrong with the index of facts, and how bad that is."""
    found = [address for address in vault.links("facts") if address != INDEX]
    lines = vault.read(INDEX).splitlines()
    listed = [target for line in lines for target in links_in(line)]
    for address in found:
        if listed.count(address) != 1:
            yield f"has {listed.count(address)} entries for {address}", "error"
    for target in dict.fromkeys(listed):
        if target not in found:
            yield f"names {target}, which is not there", "error"
    if len(lines) > MOST_LINES:
        yield f"has {len(lines)} lines, more than {MOST_LINES}: merge facts, or forget some", "warning"
    for number, line in enumerate(lines, 1):
        if len(line) > LONGEST_LINE:
            yield f"line {number} has {len(line)} characters, more than {LONGEST_LINE}", "warning"


def facts_of(vault: Vault) -> list[Fact]:
    """All typed facts of a vault."""
    found = []
    for address in vault.links("facts"):
        if address != INDEX:
            fields, body = split_front_matter(vault.read(address))
            kind, name, about = (str(fields.get(key) or "") for key in ("type", "name", "description"))
            found.append(Fact(address, kind, name, about, body.strip()))
    return found
