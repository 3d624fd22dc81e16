"""Forget: first everything that it touches, then, if that is meant, for good."""

from backstory.app import App
from backstory.present.plain_text import count_of, one_line
from backstory.upkeep.erasure import ErasurePlan
from backstory.web.markup import Html, h, join
from backstory.web.pages import components
from backstory.web.pages.layout import heading
from backstory.web.request import Page, PageRequest

_SHOWN = 30
_MOST = 60


def page(app: App, asked: PageRequest) -> Page:
    """What forgetting a handle, or everything with some words, would touch."""
    handle, text = asked.get("handle"), asked.get("text")
    if not handle and not text:
        return Page("Forget", join(heading("Forget", "Say what should go."), _form(asked)), "/memories")
    plan = app.forget(app.wanted([handle] if handle else [], text=text), really=False)
    if not plan:
        says = "Only a project is called so" if plan.projects else "There is nothing of that kind"
        back = components.empty_page(says, h("a", "Back", href="/memories"))
        body = join(heading("Forget"), back, _rest(app, plan))
        return Page("Forget", body, "/memories")
    reach = plan.reach
    counts = ", ".join(
        (
            count_of(len(reach.sessions), "session"),
            count_of(len(reach.events), "event"),
            count_of(len(reach.memories), "memory"),
        )
    )
    body = join(
        heading("Forget this for good?", f"It touches {counts}. Nothing has been removed yet."),
        h("ul", _rows(app, plan), class_="lines"),
        _rest(app, plan),
        None
        if asked.read_only
        else h(
            "form",
            h("input", type="hidden", name="handle", value=handle),
            h("input", type="hidden", name="text", value=text),
            h("button", "Forget it for good", type="submit", class_="button danger"),
            h(
                "a",
                "Keep it",
                href=f"/memories/{handle}" if handle.startswith("m") else "/memories",
                class_="button",
            ),
            method="post",
            action="/forget",
            class_="acts",
        ),
    )
    return Page("Forget", body, "/memories")


def done_page(app: App, plan: ErasurePlan) -> Page:
    """What was forgotten, and what still has it."""
    reach = plan.reach
    says = (
        f"{count_of(len(reach.sessions), 'session')}, {count_of(len(reach.events), 'event')} and "
        f"{count_of(len(reach.memories), 'memory')} are gone, and no import brings them back."
    )
    body = join(
        heading("Forgotten", says), _rest(app, plan), h("p", h("a", "Back to the memories", href="/memories"))
    )
    return Page("Forgotten", body, "/memories")


def _form(asked: PageRequest) -> Html:
    field = h("input", name="text", minlength=3, required=True)
    return h(
        "form",
        h("label", h("span", "Everything that holds these words"), field),
        h("button", "Show what that touches", type="submit", class_="button"),
        action="/forget",
        class_="tell",
    )


def _rows(app: App, plan: ErasurePlan) -> list[Html]:
    rows = []
    for sid in sorted(plan.reach.sessions)[:_SHOWN]:
        session = app.store.events.session(sid)
        if session is not None:
            rows.append(_row("session", session.title or sid, f"/sessions/{sid}"))
    for mid in sorted(plan.reach.memories)[:_SHOWN]:
        memory = app.store.memories.kept(mid)
        if memory is not None:
            rows.append(_row(memory.kind.replace("_", " "), memory.text, f"/memories/{mid}"))
    for eid in sorted(plan.reach.events)[:_SHOWN]:
        stored = app.store.events.event(eid)
        if stored is not None:
            rows.append(
                _row(
                    components.event_verb(stored.event),
                    components.event_line(stored.event, 200),
                    f"/events/{eid}",
                )
            )
    rest = len(plan.reach.sessions) + len(plan.reach.memories) + len(plan.reach.events) - len(rows)
    if rest > 0:
        rows.append(h("li", f"and {rest:,} more", class_="line"))
    return rows


def _row(kind: str, text: str, link: str) -> Html:
    return components.linked_line(kind, "grey", one_line(text, 240) or "…", link)


def _rest(app: App, plan: ErasurePlan) -> Html | None:
    files, prepared = plan.told_files(app.home)
    said = [
        *(f"Deletes the file {file}" for file in files),
        *(
            [f"Deletes {count_of(prepared, 'prepared file')} (briefs, notes), made again without it"]
            if prepared
            else ()
        ),
        *(f"Takes it out of the page {file}" for file in (*plan.pages, *plan.exported)),
        *(f"Takes it out of the archive {file}" for file in plan.archives),
        *(f"Takes what Backstory told of it out of the kept transcript {file}" for file in plan.copies),
        *(f"Out of reach, may still have it: the backup {file}" for file in plan.backups),
        *(f"Stays as it is, and has the words: {file}" for file in plan.needed),
        *(
            f"Stays: the project {name}; `backstory forget --project` forgets all of it"
            for name in plan.projects
        ),
        *(f"Out of reach, may still have it: the agent's own file {file}" for file in plan.out_of_reach),
    ]
    return (
        h("ul", [h("li", components.short_path(each)) for each in said[:_MOST]], class_="rest")
        if said
        else None
    )
