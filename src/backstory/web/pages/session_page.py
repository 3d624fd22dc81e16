"""One session as a story: what came of it, what was asked, what was done, what failed and what mended it.

The work of a long turn folds into one line that opens, between what was asked and what the agent said at its
end; in a short one only routine steps do, failures and words stand open. A very long session comes in parts.
"""

import itertools
from collections.abc import Iterable, Sequence

from backstory import clock
from backstory.agents import AGENTS
from backstory.app import App
from backstory.attribution import doer
from backstory.errors import SourceMissing
from backstory.hook.brief_text import HANDLE, shorten
from backstory.model import Event, Kind, Memory, MemoryKind, Outcome, Session, StoredEvent
from backstory.present.plain_text import count_of, one_line, terminal_text
from backstory.web.markup import Child, Html, h, join
from backstory.web.pages import components, handle_page
from backstory.web.request import Page, PageRequest, Redirect, parse_cursor
from backstory.web.wiki_html import render_wiki

_PART = 600
_SHORT_TURN = 12  # events; in a longer one the work is folded
_PROMPT_CHARS = 700  # of a prompt that stands open; the rest of a plan that was pasted opens
_OUTLINE_CHARS = 90
_OUTCOME_CHARS = 240
_SAID_CHARS = 4_000
_ERROR_CHARS = 1_500
_TARGET_CHARS = 300
_BAD = (Outcome.FAILED, Outcome.INTERRUPTED)
# Said by a heading or by nothing at all.
_SILENT = (Kind.SESSION_STARTED, Kind.TURN_ENDED, Kind.SUBAGENT_ENDED, Kind.SESSION_ENDED)
_WORDS = (Kind.PROMPT, Kind.SAID, Kind.REMEMBERED, Kind.NOTED, Kind.COMPACTED)
_OPEN_STEPS = 3
_FILES, _MOST_FILES = 8, 40
_OUTLINED = 2  # prompts
_TOLD_IN_TURN = (MemoryKind.DECISION, MemoryKind.LESSON, MemoryKind.ATTEMPT, MemoryKind.PREFERENCE)


def page(app: App, asked: PageRequest) -> Page | Redirect:
    """The story of a session."""
    session = app.store.events.session(asked.parts["id"])
    if session is None and (other := handle_page.handle_redirect(app, asked, "s")) is not None:
        return other
    if session is None or app.store.tombstones.among([session.id]):
        raise SourceMissing(f"there is no session {asked.parts['id']!r}")
    after = parse_cursor(asked.get("after"))
    start = (after[0], int(after[1])) if after and after[1].isdecimal() and len(after[1]) < 18 else (-1, -1)
    events = app.store.listings.session_events(session.id, start, _PART + 1)
    last = events[_PART - 1] if len(events) > _PART else None
    shown = events[:_PART]
    more = (
        h(
            "a",
            "Go on",
            href=f"/sessions/{session.id}?after={last.event.at}~{last.seq}",
            class_="button",
            rel="next",
        )
        if last
        else None
    )
    learned = app.store.memories.of_session(session.id, tuple(components.KINDS))
    outcome = app.came_of(session, _OUTCOME_CHARS)
    body = join(
        _head(session, outcome, asked),
        h(
            "div",
            h(
                "article",
                _turns(shown, learned, asked),
                h("nav", more, class_="pager", aria_label="Parts"),
                class_="wide story",
            ),
            h(
                "aside",
                _outline(shown),
                _aside(app, session, learned, asked),
                class_="narrow",
                aria_label="About this session",
            ),
            class_="columns",
        ),
    )
    return Page(outcome[:80] or session.title or "Session", body, "/sessions")


def _head(session: Session, outcome: str, asked: PageRequest) -> Html:
    title = session.title or "Untitled session"
    span = f"{clock.stamp(session.started_at, asked.zone)} – {clock.stamp(session.last_at, asked.zone)[11:]}"
    parent = (
        h("a", "part of another session", href=f"/sessions/{session.parent_id}")
        if session.parent_id
        else None
    )
    facts: list[Child] = [
        components.agent_chip(session.agent),
        h("a", session.project_name, href=f"/sessions?project={session.project_id}"),
        h("span", session.branch, class_="mono") if session.branch else None,
        h("span", span),
        h("span", f"{count_of(session.prompt_count, 'prompt')}, {count_of(session.event_count, 'event')}"),
        components.session_state(session),
        parent,
        components.handle(session.id),
        h("a", "Forget…", href=f"/forget?handle={session.id}", class_="quiet")
        if not asked.read_only
        else None,
    ]
    return h(
        "div",
        h("p", h("a", "Sessions", href="/sessions"), class_="crumb"),
        h(
            "h1",
            components.text_with_code(outcome or f"Asked: {title}"),
            class_="statement" if outcome else None,
        ),
        h("p", h("b", "Asked: "), title, class_="reason") if outcome else None,
        h("div", facts, class_="facts"),
        _ways_on(session),
        class_="top",
    )


def _ways_on(session: Session) -> Html:
    """What one types to go on with it, each to be copied by a click."""
    agent = AGENTS.get(session.agent)
    commands = {
        "resume it": agent.resume_command(session.native_id) if agent is not None else "",
        "hand it over": f"backstory handoff --session {session.id[:HANDLE]}",
        "print it": f"backstory show {session.id[:HANDLE]}",
    }
    return h(
        "div",
        h("span", "Copy the command to", class_="reason"),
        [
            h("button", name, type="button", data_copy=command, title=command)
            for name, command in commands.items()
            if command
        ],
        class_="acts",
    )


def _outline(events: Sequence[StoredEvent]) -> Html | None:
    """What was asked, turn by turn, as links to it."""
    asked = [stored for stored in events if stored.event.kind is Kind.PROMPT]
    if len(asked) < _OUTLINED:
        return None
    rows = [
        h("li", h("a", one_line(stored.event.text, _OUTLINE_CHARS) or "…", href=f"#{stored.id}"))
        for stored in asked
    ]
    return h("section", h("h2", "What was asked"), h("ul", rows))


def _turns(events: Sequence[StoredEvent], learned: Sequence[Memory], asked: PageRequest) -> Iterable[Html]:
    if not events:
        yield components.empty_page("No events", "They have left for the archive; what was learned stays.")
    newest = max((stored.turn for stored in events), default=0)
    for turn, group in itertools.groupby(events, lambda stored: stored.turn):
        told = [stored for stored in group if stored.event.kind not in _SILENT]
        found = [m for m in learned if m.turn == turn and m.kind in _TOLD_IN_TURN]
        parts = list(
            _parts(told, asked) if len(told) <= _SHORT_TURN else _folded(told, found, turn == newest, asked)
        )
        if parts:
            yield h(
                "section",
                parts,
                class_="turn",
                aria_label=f"Turn {turn}" if turn else "Before the first prompt",
            )


def _folded(
    events: Sequence[StoredEvent], learned: Sequence[Memory], newest: bool, asked: PageRequest
) -> Iterable[Html]:
    """A long turn: what was asked, its work in one line that opens, what it showed, and how it ended."""
    first = next((n for n, each in enumerate(events) if each.event.kind is not Kind.PROMPT), len(events))
    ended = events[-1].event.kind is Kind.SAID
    last = len(events) - 1 if ended and len(events) > first else len(events)
    yield from (_told(stored, asked) for stored in events[:first])
    work = events[first:last]
    if work:
        # where it broke off is what one looks for: it stands open
        yield h(
            "details",
            h("summary", _sum(work)),
            h("div", _parts(work, asked), class_="turn"),
            class_="fold work",
            open=newest and not ended,
        )
    if learned:
        shown = [
            components.linked_line(
                m.kind.replace("_", " "),
                components.kind_colour(m.kind),
                one_line(m.text, _TARGET_CHARS),
                f"/memories/{m.id}",
            )
            for m in learned
        ]
        yield h("ul", shown, class_="lines")
    yield from (_told(stored, asked) for stored in events[last:])


def _parts(events: Sequence[StoredEvent], asked: PageRequest) -> Iterable[Html]:
    for routine, group in itertools.groupby(events, _is_routine):
        steps = list(group)
        if not routine:
            yield from (_told(stored, asked) for stored in steps)
        elif len(steps) <= _OPEN_STEPS:
            yield h("ul", [_step(stored, asked) for stored in steps], class_="steps")
        else:
            rows = h("ul", [_step(stored, asked) for stored in steps], class_="steps")
            yield h("details", h("summary", _sum(steps)), rows, class_="fold")


def _is_routine(stored: StoredEvent) -> bool:
    event = stored.event
    return event.kind is Kind.REASONED or (event.kind is Kind.TOOL and event.outcome not in _BAD)


def _sum(steps: Sequence[StoredEvent]) -> str:
    """What a run of steps was, in words: 5 reads, 2 edits, how many failed, how long it took."""
    verbs: dict[str, int] = {}
    for stored in steps:
        verb = components.event_verb(stored.event)
        verbs[verb] = verbs.get(verb, 0) + 1
    told = f"{count_of(len(steps), 'step')}: " + ", ".join(
        f"{verb} ×{n}" if n > 1 else verb for verb, n in verbs.items()
    )
    failed = sum(stored.event.outcome in _BAD for stored in steps)
    minutes = round((steps[-1].event.at - steps[0].event.at) / 60_000)
    return "; ".join(
        filter(None, (told, f"{failed} failed" if failed else "", f"{minutes} min" if minutes else ""))
    )


def _step(stored: StoredEvent, asked: PageRequest) -> Html:
    event = stored.event
    return h(
        "li",
        components.chip(components.event_verb(event), components.event_tone(event)),
        h(
            "code",
            one_line(components.event_target(event) or event.text or event.tool, _TARGET_CHARS),
            class_="target",
        ),
        _raw(stored, asked),
        id=stored.id,
        class_="step",
        data_row=True,
    )


def _raw(stored: StoredEvent, asked: PageRequest) -> Html:
    when = components.time_element(stored.event.at, asked.zone, short=True)
    return h("a", when, href=f"/events/{stored.id}", class_="raw", title="Everything about this event")


def _told(stored: StoredEvent, asked: PageRequest) -> Html:
    event = stored.event
    if event.kind is Kind.TOOL:
        return h(
            "div",
            h(
                "div",
                components.chip(f"{components.event_verb(event)} {event.outcome}", "red"),
                _raw(stored, asked),
                class_="who",
            ),
            h("pre", h("code", one_line(components.event_target(event), _TARGET_CHARS)), class_="command")
            if event.target
            else None,
            h("pre", shortened_text(event.text, _ERROR_CHARS), class_="error", tabindex="0")
            if event.text
            else None,
            id=stored.id,
            class_="failure",
            data_row=True,
        )
    if event.kind not in _WORDS:
        said = h("span", one_line(event.text or event.reason, 200)) if event.text or event.reason else None
        return h(
            "p",
            components.chip(components.event_verb(event), components.event_tone(event)),
            said,
            _raw(stored, asked),
            id=stored.id,
            class_="mark-line",
            data_row=True,
        )
    yours = event.kind in (Kind.PROMPT, Kind.REMEMBERED) and doer(event) == event.agent
    who = "You" if yours else components.agent_name(doer(event))
    prompt = event.kind is Kind.PROMPT
    label = "Summary after compaction" if event.kind is Kind.COMPACTED else who
    return h(
        "div",
        h("div", h("strong", label), _raw(stored, asked), class_="who"),
        _asked_words(event.text) if prompt else _said_words(event),
        id=stored.id,
        class_="prompt" if prompt else "reply",
        data_row=True,
    )


def _asked_words(text: str) -> Html:
    """A prompt as it was typed; what is far longer than one types opens."""
    whole = shortened_text(text, _SAID_CHARS)
    if len(whole) <= 2 * _PROMPT_CHARS:
        return h("div", whole, class_="words")
    return h(
        "details",
        h("summary", h("span", shorten(whole, _PROMPT_CHARS), class_="words")),
        h("div", whole, class_="words"),
    )


def _said_words(event: Event) -> Html:
    """What an agent wrote, as the Markdown that it is; a summary of the session before opens."""
    shown = h("div", render_wiki(shortened_text(event.text, _SAID_CHARS), _no_page), class_="prose")
    if event.kind is not Kind.COMPACTED:
        return shown
    return h("details", h("summary", one_line(event.text, 200)), shown)


def _no_page(target: str) -> str | None:
    return None


def shortened_text(text: str, longest: int) -> str:
    """As much of a text as a page bears; the event's own page has all of it."""
    return shorten(terminal_text(text[: 4 * longest]), longest)


def _aside(app: App, session: Session, learned: Sequence[Memory], asked: PageRequest) -> Iterable[Html]:
    for kind, title in components.KINDS.items():
        found = [memory for memory in learned if memory.kind is kind]
        if found:
            shown = [
                h(
                    "li",
                    h("a", components.text_with_code(one_line(m.text, 300)), href=f"/memories/{m.id}"),
                    data_row=True,
                )
                for m in found
            ]
            yield h(
                "section", h("h2", title), h("ul", shown, class_=f"learned {components.kind_colour(kind)}")
            )
    files = sorted({file for memory in learned if memory.kind is MemoryKind.SUMMARY for file in memory.files})
    if files:
        shown = [
            h("li", h("a", file, href=f"/search?file={_quoted(file)}&q={_quoted(file)}"))
            for file in files[:_MOST_FILES]
        ]
        rest = shown[_FILES:]
        more = (
            h("details", h("summary", f"{len(files) - _FILES} more"), h("ul", rest, class_="files mono"))
            if rest
            else None
        )
        yield h("section", h("h2", "Files"), h("ul", shown[:_FILES], class_="files mono"), more)
    children = app.store.events.children(session.id)
    if children:
        shown = [
            h(
                "li",
                h("a", child.title or child.subagent_type or "Sub-agent", href=f"/sessions/{child.id}"),
                h("span", count_of(child.event_count, "event"), class_="facts"),
            )
            for child in children
        ]
        fold = h("details", h("summary", count_of(len(children), "sub-agent")), h("ul", shown))
        yield h("section", h("h2", "Sub-agents"), fold)
    given = app.store.briefs.of_session(session.id)
    if given:
        shown = [
            h(
                "li",
                components.time_element(each.at, asked.zone),
                f" {each.source}: {each.tokens:,} tokens, {count_of(len(each.shown), 'memory')}",
            )
            for each in given
        ]
        yield h("section", h("h2", "What it was told"), h("ul", shown))


def _quoted(text: str) -> str:
    from urllib.parse import quote

    return quote(text, safe="")
