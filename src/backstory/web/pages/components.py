"""Events, sessions and memories as rows: the same wherever they are listed."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from pathlib import Path

from backstory import clock
from backstory.agents import AGENTS
from backstory.attribution import PERSON
from backstory.hook.brief_text import HANDLE
from backstory.model import Event, Kind, Memory, MemoryKind, MemoryStatus, Outcome, Project, Session
from backstory.present.plain_text import (
    MEMORY_STATES,
    UNTOLD,
    age_text,
    count_of,
    one_line,
    terminal_text,
    without_marks,
)
from backstory.web.markup import Child, Html, h
from backstory.web.request import PageRequest

_MOST_PROJECTS = 200
_ASKED_CHARS = 140
_BAD = (Outcome.FAILED, Outcome.INTERRUPTED)
_TONES: Mapping[str, str] = {
    MemoryKind.DECISION: "indigo",
    MemoryKind.LESSON: "green",
    MemoryKind.COMMAND: "green",
    MemoryKind.ATTEMPT: "red",
    MemoryKind.PREFERENCE: "amber",
    MemoryKind.FACT: "amber",
    MemoryKind.NEXT_STEP: "blue",
}
_VERBS: Mapping[Kind, str] = {
    Kind.SESSION_STARTED: "started",
    Kind.PROMPT: "asked",
    Kind.SAID: "said",
    Kind.REASONED: "reasoned",
    Kind.COMPACTING: "compacting",
    Kind.COMPACTED: "compacted",
    Kind.TURN_ENDED: "finished",
    Kind.TURN_FAILED: "broke off",
    Kind.SUBAGENT_ENDED: "sub-agent done",
    Kind.SESSION_ENDED: "ended",
    Kind.REMEMBERED: "remember",
    Kind.JUDGED: "judged",
}
_UNSAID: Mapping[Kind, str] = {
    Kind.SESSION_STARTED: "a session",
    Kind.TURN_ENDED: "the turn",
    Kind.SESSION_ENDED: "the session",
    Kind.SUBAGENT_ENDED: "its part",
}
# What a person calls them, in the order a page shows them.
KINDS: Mapping[MemoryKind, str] = {
    MemoryKind.DECISION: "Decisions",
    MemoryKind.LESSON: "Lessons",
    MemoryKind.ATTEMPT: "Failed attempts",
    MemoryKind.PREFERENCE: "Preferences",
    MemoryKind.FACT: "Facts",
    MemoryKind.COMMAND: "Commands",
    MemoryKind.NEXT_STEP: "Open steps",
    MemoryKind.SUMMARY: "Summaries",
}


def kind_colour(kind: str) -> str:
    """The colour of a kind of memory."""
    return _TONES.get(kind, "grey")


def event_tone(event: Event) -> str:
    """The colour of what happened."""
    if event.outcome in _BAD or event.kind is Kind.TURN_FAILED:
        return "red"
    return {Kind.PROMPT: "indigo", Kind.SAID: "green", Kind.TURN_ENDED: "green", Kind.TOOL: "blue"}.get(
        event.kind, "grey"
    )


def event_verb(event: Event) -> str:
    """What happened, in a word."""
    if event.kind is Kind.TOOL:
        return str(event.action) if event.action not in ("", "other") else one_line(event.tool, 24) or "tool"
    return _VERBS.get(event.kind, event.kind.replace("_", " "))


def event_target(event: Event) -> str:
    """What a tool worked on; a path as it reads in its project."""
    return event.target.removeprefix(f"{event.where.worktree or event.where.cwd}/")


def event_line(event: Event, longest: int) -> str:
    """What happened, in a line."""
    if event.kind is not Kind.TOOL:
        said = event.text or _UNSAID.get(event.kind) or event.reason or event.target
        return one_line(said, longest)
    if event.outcome in _BAD:
        return one_line(
            f"{one_line(event_target(event), longest // 2)} → {event.text or event.outcome}", longest
        )
    return one_line(event_target(event) or event.text, longest)


def short_path(text: str) -> str:
    """Text in which the user's own folder is ~."""
    return text.replace(str(Path.home()), "~")


def text_with_code(text: str) -> list[Child]:
    """Text in which `code` looks like code."""
    text = without_marks(terminal_text(text))
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return [text]
    return [h("code", part) if number % 2 else part for number, part in enumerate(parts)]


def agent_name(name: str) -> str:
    """What an agent is called by people."""
    return AGENTS[name].title if name in AGENTS else {"user": "You"}.get(name, name)


def time_element(at: int, zone: tzinfo | None, short: bool = False) -> Html:
    """A time: how long ago, or within a day the time of day; whole when one points at it."""
    text = clock.stamp(at, zone)[11:] if short else age_text(at)
    iso = datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="seconds")
    return h("time", text, datetime=iso, title=clock.stamp(at, zone))


def chip(text: str, colour: str = "grey", **attributes: object) -> Html:
    """A word in a small coloured frame."""
    return h("span", text, class_=f"chip {colour}", **attributes)


def agent_chip(name: str) -> Html:
    """An agent, with its own mark."""
    return h("span", h("i", class_=f"dot {name}", aria_hidden="true"), agent_name(name), class_="agent")


def handle(full: str) -> Html:
    """A handle that a click copies."""
    short = full[:HANDLE]
    return h(
        "button",
        short,
        type="button",
        class_="handle",
        data_copy=short,
        title="Copy this handle",
        aria_label=f"Copy handle {short}",
    )


def session_line(
    session: Session, zone: tzinfo | None, project: bool = True, outcome: str = "", by_day: bool = False
) -> Html:
    """A session in a list: what came of it, what was asked, then who, where, how much; and when.

    `by_day`: a heading names the day.
    """
    title = session.title or "Untitled session"
    facts: list[Child] = [agent_chip(session.agent)]
    if project:
        facts.append(h("span", session.project_name))
    if session.branch:
        facts.append(h("span", session.branch, class_="mono"))
    facts += [
        h("span", count_of(session.prompt_count, "prompt")),
        h("span", count_of(session.event_count, "event")),
    ]
    return h(
        "li",
        h("a", text_with_code(outcome or f"Asked: {title}"), href=f"/sessions/{session.id}", class_="title"),
        h("p", "Asked: ", one_line(without_marks(title), _ASKED_CHARS), class_="reason") if outcome else None,
        h("div", facts, class_="facts"),
        h("div", session_state(session), time_element(session.last_at, zone, by_day), class_="when"),
        class_="row",
        data_row=True,
        id=session.id,
    )


def session_short(session: Session, zone: tzinfo | None) -> Html:
    """A session in a margin."""
    return h(
        "li",
        h(
            "a",
            one_line(without_marks(session.title), 90) or "Untitled session",
            href=f"/sessions/{session.id}",
            class_="title",
        ),
        h(
            "div",
            agent_chip(session.agent),
            h("span", session.project_name),
            time_element(session.last_at, zone),
            session_state(session),
            class_="facts",
        ),
        class_="row",
        data_row=True,
    )


def linked_line(kind: str, colour: str, text: str, link: str, when: Html | None = None) -> Html:
    """Something in one line: a chip, a link, a time."""
    words = h("a", text_with_code(text), href=link)
    return h("li", chip(kind, colour), words, when, class_="line", data_row=True)


def reason_text(reason: str) -> list[Child]:
    """A reason as it stands after a colon."""
    text = reason.strip()
    return text_with_code(text[8:] if text.lower().startswith("because ") else text)


def session_state(session: Session) -> Html | None:
    """Whether a session runs, is open or failed; nothing is said of one that just ended."""
    colours = {"running": "green", "open": "grey", "failed": "red"}
    told = session.state(clock.now_ms())
    return chip(told, colours[told]) if told in colours else None


def memory_line(memory: Memory, asked: PageRequest, acts: Sequence[str] = ()) -> Html:
    """A memory in a list, with what can be done to it."""
    return h(
        "li",
        h(
            "div",
            chip(memory.kind.replace("_", " "), kind_colour(memory.kind)),
            chip("pinned", "amber") if memory.pinned else None,
            chip(MEMORY_STATES.get(memory.status, memory.status), "grey")
            if memory.status is not MemoryStatus.CANDIDATE
            else None,
            chip("not told yet", "grey", title=UNTOLD) if memory.untold else None,
            class_="chips",
        ),
        h("a", text_with_code(one_line(memory.text, 600)), href=f"/memories/{memory.id}", class_="title"),
        h("p", h("b", "Why: "), reason_text(memory.reason), class_="reason") if memory.reason else None,
        h(
            "div",
            agent_chip(memory.agent),
            h("span", memory.project_name),
            h("span", said_by(memory)) if memory.said_by else None,
            time_element(memory.at, asked.zone),
            handle(memory.id),
            class_="facts",
        ),
        act_forms(memory, asked, acts) if acts and not asked.read_only else None,
        class_="row memory",
        data_row=True,
        id=memory.id,
    )


def said_by(memory: Memory) -> str:
    """Whose words these are."""
    return _SAID_BY.get(memory.said_by, memory.said_by)


_SAID_BY = {
    "user": "you said so",
    "assistant": "the agent said so",
    "tool": "seen in a result",
    PERSON: "its author said so",
}
_KEYS = {"confirm": "c", "reject": "r", "pin": "p", "unpin": "p"}


def act_forms(memory: Memory, asked: PageRequest, acts: Iterable[str]) -> Html:
    """Buttons, one form each, so that they work without a script."""
    return h(
        "div",
        [
            post_form(
                f"/memories/{memory.id}/{act}",
                asked,
                h("button", act.capitalize(), type="submit", class_=act, data_key=_KEYS.get(act)),
            )
            for act in acts
        ],
        h("a", "Forget…", href=f"/forget?handle={memory.id}", class_="quiet"),
        class_="acts",
    )


def post_form(action: str, asked: PageRequest, *children: Child, **attributes: object) -> Html:
    """A form that changes something, and comes back to this page."""
    back = h("input", type="hidden", name="next", value=asked.with_())
    return h("form", back, *children, method="post", action=action, **attributes)


def empty_page(title: str, *says: Child) -> Html:
    """What a page says when it has nothing to show: what to do."""
    return h("div", h("h2", title), h("p", *says), class_="empty")


def pager(asked: PageRequest, more: str) -> Html | None:
    """The way to older rows, if there are some."""
    first = h("a", "Newest", href=asked.with_()) if asked.get("before") else None
    older = h("a", "Older", href=asked.with_(before=more), rel="next", class_="button") if more else None
    return h("nav", first, older, class_="pager", aria_label="Pages") if first or older else None


def project_list(projects: Sequence[Project], chosen: str, every: bool = True) -> Html:
    """The projects to choose from, and `every` one of them; namesakes are told by their folders."""
    names = Counter(each.name for each in projects)
    known = [
        (each.id, f"{each.name} ({short_path(each.root)})" if names[each.name] > 1 else each.name)
        for each in projects[:_MOST_PROJECTS]
    ]
    return select_list("project", "Project", chosen, [*([("", "All projects")] if every else []), *known])


def agent_list(agents: Iterable[str], chosen: str) -> Html:
    """The agents to choose from."""
    return select_list("agent", "Agent", chosen, [("", "All agents"), *((a, agent_name(a)) for a in agents)])


def select_list(name: str, label: str, chosen: str, options: Iterable[tuple[str, str]]) -> Html:
    """A list to choose from; the first means everything."""
    shown = [h("option", text, value=value, selected=value == chosen) for value, text in options]
    return h("label", h("span", label), h("select", shown, name=name, data_submit=True))
