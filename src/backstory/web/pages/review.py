"""Review: what nobody has judged yet, with its evidence; and decisions that may contradict each other."""

import re
from collections.abc import Sequence

from backstory.app import App
from backstory.cli.review import REVIEWED
from backstory.model import Memory, MemoryKind, MemoryStatus
from backstory.web.asked import Asked, Page, clamped, cursor
from backstory.web.markup import Html, h, join
from backstory.web.pages import lines
from backstory.web.pages.frame import heading

_COMPARED = 120
_ALIKE = 0.4
_WORD = re.compile(r"[^\W\d_]{4,}")
_PAGE = 20


def page(app: App, asked: Asked) -> Page:
    """The inbox."""
    limit = clamped(asked.get("limit"), _PAGE)
    project = asked.get("project") or None
    before = cursor(asked.get("before"))
    found = app.memories(REVIEWED, [MemoryStatus.CANDIDATE], project, before, limit + 1)
    more = f"{found[limit - 1].at}~{found[limit - 1].id}" if len(found) > limit else ""
    body = join(
        heading("Review", "Made by rules and not judged yet. Say what is true; briefs put that first."),
        h(
            "form",
            lines.choose(
                "project",
                "Project",
                asked.get("project"),
                [("", "All projects"), *((each.id, each.name) for each in app.projects()[:200])],
            ),
            h("button", "Show", type="submit"),
            class_="filters",
            action="/review",
        ),
        _contradictions(app, asked, project) if before is None else None,
        h("ul", [_candidate(app, memory, asked) for memory in found[:limit]], class_="rows review")
        if found
        else lines.empty(
            "Nothing to review", "Everything was judged. New candidates come with the next sessions."
        ),
        lines.pager(asked, more),
    )
    return Page("Review", body, "/review")


def _candidate(app: App, memory: Memory, asked: Asked) -> Html:
    line = lines.memory_line(memory, asked, ("confirm", "reject", "pin"))
    events = [stored for eid in memory.sources[:3] if (stored := app.store.events.event(eid)) is not None]
    evidence = [
        lines.line(
            lines.verb(stored.event),
            lines.event_tone(stored.event),
            lines.told(stored.event, 240) or stored.id,
            f"/events/{stored.id}",
        )
        for stored in events
    ]
    edit = (
        None
        if asked.read_only
        else lines.post(
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
    """Decisions of one project that speak of the same matter in other words: the newer, then the older."""
    words = {memory.id: set(_WORD.findall(memory.text.lower())) for memory in decisions}
    found = []
    for number, newer in enumerate(decisions):
        for older in decisions[number + 1 :]:
            mine, theirs = words[newer.id], words[older.id]
            if newer.project_id != older.project_id or not mine or not theirs or mine == theirs:
                continue
            if len(mine & theirs) / min(len(mine), len(theirs)) >= _ALIKE and len(mine & theirs) >= 3:
                found.append((newer, older))
    return found


def _contradictions(app: App, asked: Asked, project: str | None) -> Html | None:
    in_force = [MemoryStatus.CANDIDATE, MemoryStatus.CONFIRMED]
    decisions = app.memories([MemoryKind.DECISION], in_force, project, None, _COMPARED)
    found = pairs(decisions)[:5]
    if not found:
        return None
    shown = [
        h(
            "li",
            h(
                "p",
                h("strong", "Newer "),
                h("a", newer.text, href=f"/memories/{newer.id}"),
                " ",
                lines.moment(newer.at, asked.zone),
            ),
            h(
                "p",
                h("strong", "Older "),
                h("a", older.text, href=f"/memories/{older.id}"),
                " ",
                lines.moment(older.at, asked.zone),
            ),
            h(
                "div",
                _merge(older, newer, "The newer holds", asked),
                _merge(newer, older, "The older holds", asked),
                class_="acts",
            )
            if not asked.read_only
            else None,
            class_="pair",
        )
        for newer, older in found
    ]
    return h("section", h("h2", "Do these contradict each other?"), h("ul", shown, class_="pairs"))


def _merge(gone: Memory, stays: Memory, says: str, asked: Asked) -> Html:
    other = h("input", type="hidden", name="text", value=stays.id)
    return lines.post(f"/memories/{gone.id}/supersede", asked, other, h("button", says, type="submit"))
