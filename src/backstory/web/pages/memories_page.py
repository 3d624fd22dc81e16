"""Memories: what is in force; and one of them, with what it rests on and what can be done to it."""

from collections.abc import Sequence

from backstory.app import App
from backstory.errors import SourceMissing
from backstory.model import Act, Kind, Memory, MemoryKind, MemoryStatus, StoredEvent
from backstory.present.plain_text import MADE_BY, MEMORY_STATES, UNTOLD, count_of, one_line, terminal_text
from backstory.recall.usefulness import done_in, usefulness
from backstory.web.markup import Html, h, join
from backstory.web.pages import components, handle_page
from backstory.web.pages.layout import heading
from backstory.web.request import Page, PageRequest, Redirect, clamped_limit, page_rows, parse_cursor

_IN_FORCE = (MemoryStatus.CANDIDATE, MemoryStatus.CONFIRMED)
_OFTEN = 2  # sessions
_STATES = {
    "": "Current",
    "candidate": "Not reviewed",
    "confirmed": "Confirmed",
    "superseded": "Superseded",
    "rejected": "Rejected",
    "pinned": "Pinned",
}


def kinds_of(text: str) -> list[MemoryKind]:
    """The kinds that were asked for, or all that people read."""
    return [MemoryKind(text)] if text in set(MemoryKind) else list(components.KINDS)[:5]


def listed_memories(app: App, asked: PageRequest) -> tuple[list[Memory], str]:
    """The memories that were asked for, and where the next page begins."""
    limit = clamped_limit(asked.get("limit"))
    state = asked.get("status")
    states = [MemoryStatus(state)] if state in set(MemoryStatus) else list(_IN_FORCE)
    before = parse_cursor(asked.get("before"))
    project = asked.get("project") or None
    kinds = kinds_of(asked.get("kind"))
    found = app.memories(kinds, states, project, before, limit + 1, pinned=state == "pinned")
    return page_rows(found, limit, lambda memory: (memory.at, memory.id))


def page(app: App, asked: PageRequest) -> Page:
    """The list."""
    found, more = listed_memories(app, asked)
    tabs = [
        h("a", title, href=asked.with_(kind=kind), aria_current="true" if asked.get("kind") == kind else None)
        for kind, title in [("", "All"), *((kind.value, title) for kind, title in components.KINDS.items())]
    ]
    acts = (
        ("confirm", "pin", "reject")
        if asked.get("status") not in ("rejected", "superseded")
        else ("restore",)
    )
    shown = [components.memory_line(memory, asked, _acts(memory, acts)) for memory in found]
    body = join(
        heading("Memories", "What your agents have learned, and what they will be told."),
        h("nav", tabs, class_="tabs", aria_label="Kinds"),
        _filters(app, asked),
        h("ul", shown, class_="rows") if shown else _none(asked),
        components.pager(asked, more),
        _remember(app, asked),
    )
    return Page("Memories", body, "/memories")


def _none(asked: PageRequest) -> Html:
    if any(asked.get(name) for name in ("kind", "status", "project", "before")):
        return components.empty_page(
            "Nothing of that kind", "Choose less, or ", h("a", "look at all", href="/memories"), "."
        )
    return components.empty_page(
        "Nothing learned yet", "Memories are made when a session's turn ends. Work on, then look again."
    )


def _acts(memory: Memory, acts: tuple[str, ...]) -> tuple[str, ...]:
    done = {"confirm"} if memory.status is MemoryStatus.CONFIRMED else set()
    return tuple("unpin" if act == "pin" and memory.pinned else act for act in acts if act not in done)


def _filters(app: App, asked: PageRequest) -> Html:
    return h(
        "form",
        h("input", type="hidden", name="kind", value=asked.get("kind")),
        components.project_list(app.projects(), asked.get("project")),
        components.select_list("status", "State", asked.get("status"), _STATES.items()),
        h("button", "Show", type="submit"),
        class_="filters",
        action="/memories",
    )


def _remember(app: App, asked: PageRequest) -> Html | None:
    projects = app.projects()[:200]
    if asked.read_only or not projects:
        return None
    return h(
        "section",
        h("h2", "Add a note"),
        components.post_form(
            "/remember",
            asked,
            h(
                "label",
                h("span", "What the next sessions should know"),
                h("textarea", name="text", rows=3, maxlength=20_000, required=True),
            ),
            components.select_list(
                "project", "Project", asked.get("project"), [(each.id, each.name) for each in projects]
            ),
            h("button", "Remember", type="submit", class_="button"),
            class_="tell",
        ),
    )


def memory_page(app: App, asked: PageRequest) -> Page | Redirect:
    """A memory, whatever its state."""
    memory = app.store.memories.kept(asked.parts["id"])
    if memory is None:
        if (other := handle_page.handle_redirect(app, asked, "m")) is not None:
            return other
        raise SourceMissing(f"there is no memory {asked.parts['id']!r}")
    sources = [stored for eid in memory.sources if (stored := app.store.events.event(eid)) is not None]
    sources.sort(key=lambda stored: (stored.event.at, stored.seq))
    facts = (
        ("Said", components.said_by(memory)),
        ("Project", h("a", memory.project_name, href=f"/memories?project={memory.project_id}")),
        ("Agent", components.agent_chip(memory.agent)),
        ("Session", h("a", "the session it comes from", href=f"/sessions/{memory.session_id}")),
        ("When", components.time_element(memory.at, asked.zone)),
        ("Instead of", _others(app, _older(app, memory))),
        ("Its place has", _others(app, [_newer(app, memory, sources)])),
        ("Told", UNTOLD if memory.untold else _told_to(app, memory, asked)),
        ("Files", ", ".join(memory.files)),
        ("Made by", f"{MADE_BY[memory.tier]} ({memory.made_by})"),
        ("Handle", components.handle(memory.id)),
    )
    rows = [h("div", h("dt", name), h("dd", value)) for name, value in facts if value]
    in_force = memory.status in _IN_FORCE
    acts = _acts(memory, ("confirm", "pin", "reject") if in_force else ("restore",))
    zone = asked.zone
    evidence = [
        components.linked_line(
            components.event_verb(stored.event),
            components.event_tone(stored.event),
            components.event_line(stored.event, 300) or stored.id,
            f"/events/{stored.id}",
            components.time_element(stored.event.at, zone),
        )
        for stored in sources
        if stored.event.kind is not Kind.JUDGED
    ]
    said = [
        components.linked_line(
            stored.event.reason,
            "amber",
            "your act",
            f"/events/{stored.id}",
            components.time_element(stored.event.at, zone),
        )
        for stored in sources
        if stored.event.kind is Kind.JUDGED
    ]
    detail = terminal_text(memory.detail) if memory.detail and memory.detail != memory.text else ""
    chips = (
        components.chip(memory.kind.replace("_", " "), components.kind_colour(memory.kind)),
        components.chip(MEMORY_STATES.get(memory.status, memory.status), "grey" if in_force else "red"),
        components.chip("pinned", "amber") if memory.pinned else None,
    )
    body = join(
        h(
            "div",
            h("p", h("a", "Memories", href="/memories"), class_="crumb"),
            h("div", chips, class_="chips"),
            h("h1", components.text_with_code(memory.text), class_="statement"),
            h("p", h("b", "Why: "), components.reason_text(memory.reason), class_="reason")
            if memory.reason
            else None,
            components.act_forms(memory, asked, acts) if not asked.read_only else None,
            class_="top",
        ),
        h(
            "div",
            h(
                "div",
                h("section", h("h2", "Made from"), h("ul", evidence, class_="lines")) if evidence else None,
                _sightings(app, memory, asked),
                h("section", h("h2", "Around it"), h("pre", detail[:20_000], tabindex="0"))
                if detail
                else None,
                h("section", h("h2", "What you did to it"), h("ul", said, class_="lines")) if said else None,
                _change(memory, asked) if not asked.read_only else None,
                class_="wide parts",
            ),
            h("aside", h("dl", rows, class_="sheet"), class_="narrow", aria_label="About this memory"),
            class_="columns",
        ),
    )
    return Page(memory.text[:60], body, "/memories")


def _sightings(app: App, memory: Memory, asked: PageRequest) -> Html | None:
    """The sessions that showed the same thing, over time."""
    found = app.store.memories.sightings(memory.id)
    if len(found) < _OFTEN:
        return None
    rows = []
    for sid, at, times in found:
        session = app.store.events.session(sid)
        words = one_line(session.title, 160) if session and session.title else sid
        when = components.time_element(at, asked.zone)
        rows.append(components.linked_line(f"{times} ×", "grey", words, f"/sessions/{sid}", when))
    title = f"Seen {sum(times for _, _, times in found)} times in {len(found)} sessions"
    return h("section", h("h2", title), h("ul", rows, class_="lines"))


def _told_to(app: App, memory: Memory, asked: PageRequest) -> list[Html | str]:
    """How often it was of use: in how many sessions an agent was told."""
    sessions, last = app.store.briefs.times_told(memory.id)
    if not sessions:
        return []
    of_use = usefulness(app.store, memory, done_in(app.store)).line
    told = [f"in {count_of(sessions, 'session')}, last ", components.time_element(last, asked.zone)]
    return [*told, f": {of_use}"] if of_use else told


def _older(app: App, memory: Memory) -> list[str]:
    """What it took the place of."""
    return [*app.store.supersessions.older_than(memory.id), *app.store.memories.gave_way_to(memory.id)]


def _newer(app: App, memory: Memory, sources: Sequence[StoredEvent]) -> str:
    """What took this one's place, as a person said or the rules found; "" if it is in force."""
    if memory.status is not MemoryStatus.SUPERSEDED:
        return app.store.memories.model_instead(memory.id)
    said = [stored.event.text for stored in sources if stored.event.reason == Act.SUPERSEDE]
    return said[-1] if said else app.store.supersessions.newer_than(memory.id)


def _others(app: App, ids: Sequence[str]) -> list[Html]:
    found = [other for mid in ids if mid and (other := app.store.memories.kept(mid)) is not None]
    return [
        h("p", h("a", components.text_with_code(one_line(other.text, 160)), href=f"/memories/{other.id}"))
        for other in found
    ]


def _change(memory: Memory, asked: PageRequest) -> Html:
    edit = components.post_form(
        f"/memories/{memory.id}/edit",
        asked,
        h(
            "label",
            h("span", "Edit"),
            h("textarea", memory.text, name="text", rows=4, maxlength=20_000, required=True),
        ),
        h("button", "Save", type="submit", class_="button"),
        class_="tell",
    )
    supersede = (
        components.post_form(
            f"/memories/{memory.id}/supersede",
            asked,
            h(
                "label",
                h("span", "Handle of the memory that has taken its place"),
                h("input", name="text", required=True, minlength=4, class_="mono"),
            ),
            h("button", "Supersede", type="submit", class_="button"),
            class_="tell",
        )
        if memory.kind is not MemoryKind.SUMMARY
        else None
    )
    return h("section", h("h2", "Correct it"), edit, supersede)
