"""Review: what nobody has judged yet, with its evidence; decisions that contradict each other, or did."""

import re
from collections.abc import Iterator, Sequence

from backstory.app import App
from backstory.model import Kind, Memory, MemoryKind, MemoryStatus
from backstory.web.markup import Html, h, join
from backstory.web.pages import components
from backstory.web.pages.layout import heading
from backstory.web.request import Page, PageRequest, clamped_limit, page_rows, parse_cursor

_COMPARED = 120
_PAIRS = 5
_ALIKE = 0.4
_WORD = re.compile(r"[^\W\d_]{4,}")
_PAGE = 20


def page(app: App, asked: PageRequest) -> Page:
    """The inbox."""
    limit = clamped_limit(asked.get("limit"), _PAGE)
    project = asked.get("project") or None
    before = parse_cursor(asked.get("before"))
    candidates = app.to_review(MemoryStatus.CANDIDATE, project, before, limit + 1)
    found, more = page_rows(candidates, limit, lambda memory: (memory.at, memory.id))
    body = join(
        heading(
            "Review", "Found by rules and not reviewed yet. Confirm what is true; briefs put that first."
        ),
        h(
            "form",
            components.project_list(app.projects(), asked.get("project")),
            h("button", "Show", type="submit"),
            class_="filters",
            action="/review",
        ),
        _contradictions(app, asked, project) if before is None else None,
        h("ul", [_candidate(app, memory, asked) for memory in found], class_="rows review")
        if found
        else components.empty_page(
            "Nothing to review", "Everything is reviewed. New memories come with the next sessions."
        ),
        components.pager(asked, more),
    )
    return Page("Review", body, "/review")


def _candidate(app: App, memory: Memory, asked: PageRequest) -> Html:
    line = components.memory_line(memory, asked, ("confirm", "reject", "pin"))
    events = [stored for eid in memory.sources[:3] if (stored := app.store.events.event(eid)) is not None]
    evidence = [
        components.linked_line(
            components.event_verb(stored.event),
            components.event_tone(stored.event),
            components.event_line(stored.event, 240) or stored.id,
            f"/events/{stored.id}",
        )
        for stored in events
    ]
    edit = (
        None
        if asked.read_only
        else components.post_form(
            f"/memories/{memory.id}/edit",
            asked,
            h(
                "textarea",
                memory.text,
                name="text",
                rows=3,
                maxlength=20_000,
                aria_label="New wording",
                required=True,
            ),
            h("button", "Save", type="submit", class_="button"),
            class_="tell",
        )
    )
    more = h("details", h("summary", "Evidence and wording"), h("ul", evidence, class_="lines"), edit)
    return h("li", h("ul", line, class_="rows bare"), more, class_="candidate")


def pairs(decisions: Sequence[Memory]) -> list[tuple[Memory, Memory]]:
    """Decisions of one project that speak of the same matter in other words: the newer, then the older.

    Two that were both confirmed hold, both.
    """
    words = {memory.id: set(_WORD.findall(memory.text.lower())) for memory in decisions}
    found = []
    for number, newer in enumerate(decisions):
        for older in decisions[number + 1 :]:
            mine, theirs = words[newer.id], words[older.id]
            if newer.project_id != older.project_id or not mine or not theirs or mine == theirs:
                continue
            if newer.status is older.status is MemoryStatus.CONFIRMED:
                continue
            if len(mine & theirs) / min(len(mine), len(theirs)) >= _ALIKE and len(mine & theirs) >= 3:
                found.append((newer, older))
    return found


def _contradictions(app: App, asked: PageRequest, project: str | None) -> Html:
    in_force = [MemoryStatus.CANDIDATE, MemoryStatus.CONFIRMED]
    decisions = app.memories([MemoryKind.DECISION], in_force, project, None, _COMPARED)
    told = app.memories([MemoryKind.FACT], in_force, project, None, _COMPARED)
    taken = [pair for newer in (*decisions, *told) for pair in _taken(app, newer)][:_PAIRS]
    return join(
        _pairs("Do these contradict each other?", pairs(decisions)[:_PAIRS], asked, _OPEN),
        _pairs("A newer decision took an older one's place. Is that right?", taken, asked, _TAKEN),
    )


def _taken(app: App, newer: Memory) -> Iterator[tuple[Memory, Memory]]:
    """The decisions whose place the rules gave to this one, and nobody has said yet whether that is right."""
    for mid in app.store.supersessions.older_than(newer.id):
        older = app.store.memories.kept(mid)
        if older is None or older.status is not MemoryStatus.SUPERSEDED:
            continue
        sources = [app.store.events.event(eid) for eid in older.sources]
        if not any(stored and stored.event.kind is Kind.JUDGED for stored in sources):
            yield newer, older


# What can be said of a pair: on the button, its key, what is done, and to which of the two.
_OPEN = (
    ("The newer holds", "c", "supersede", "older"),
    ("The older holds", "r", "supersede", "newer"),
    ("Both hold", "b", "confirm", "older"),
)
_TAKEN = (("Yes, the newer holds", "c", "supersede", "older"), ("No, both hold", "b", "restore", "older"))


def _pairs(
    title: str, found: Sequence[tuple[Memory, Memory]], asked: PageRequest, says: Sequence[tuple[str, ...]]
) -> Html | None:
    if not found:
        return None
    shown = [
        h(
            "li",
            _of_pair("Newer", newer, asked),
            _of_pair("Older", older, asked),
            h("div", [_verdict(newer, older, asked, *each) for each in says], class_="acts")
            if not asked.read_only
            else None,
            class_="pair",
            data_row=True,
        )
        for newer, older in found
    ]
    return h("section", h("h2", title), h("ul", shown, class_="pairs"))


def _of_pair(which: str, memory: Memory, asked: PageRequest) -> Html:
    return h(
        "p",
        h("strong", which),
        " ",
        h("a", components.text_with_code(memory.text), href=f"/memories/{memory.id}"),
        " ",
        h("small", h("b", "Why: "), components.reason_text(memory.reason), " ") if memory.reason else None,
        components.time_element(memory.at, asked.zone),
    )


def _verdict(
    newer: Memory, older: Memory, asked: PageRequest, says: str, key: str, act: str, to: str
) -> Html:
    touched, other = (older, newer) if to == "older" else (newer, older)
    name = "also" if act == "confirm" else "text"
    hidden = h("input", type="hidden", name=name, value=other.id) if act != "restore" else None
    button = h("button", says, type="submit", data_key=key)
    return components.post_form(f"/memories/{touched.id}/{act}", asked, hidden, button)
