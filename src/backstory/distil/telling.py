"""A session's events, told as turns: who asked what, what was run and changed, what was said.

Everything that the rules read passes through here once: recalled events and reasoning are left out,
long texts are cut, commands are parsed and judged. The rules then see a `Story`, never events.
"""

from collections.abc import Sequence
from dataclasses import replace

from backstory.distil import failure, shell
from backstory.distil.harvest import refused_with
from backstory.distil.prose import INTERRUPTED, prompt_words
from backstory.distil.story import Change, Limits, Plan, Run, Said, Story, Turn, relative
from backstory.model import Action, Event, Kind, Outcome, Session, SessionStatus, StoredEvent
from backstory.typed_words import typed_words

# What a user refuses by its deed, not a plan or a question.
_REFUSABLE = frozenset({Action.RUN, Action.EDIT, Action.WRITE})


def cut(text: str, limit: int) -> str:
    """Head and tail of a long text (CCE-46)."""
    if len(text) <= limit:
        return text
    head = limit * 2 // 3
    return f"{text[:head]} … {text[-(limit - head) :]}"


def tell(session: Session, events: Sequence[StoredEvent], limits: Limits) -> Story:
    """Read the events once, in order."""
    story = Story(
        session, [], [], [], [], None, session.status is not SessionStatus.ACTIVE, session.end_reason
    )
    turn = Turn(0)
    for place, stored in enumerate(events):
        event = stored.event
        if event.recalled or event.kind is Kind.REASONED:
            continue
        if stored.turn != turn.number:
            if not turn.empty or turn.ids:
                story.turns.append(turn)
            turn = Turn(stored.turn)
        _take(story, turn, place, stored, limits)
    if not turn.empty or turn.ids:
        story.turns.append(turn)
    _judge_ends(story)
    return story


def _take(story: Story, turn: Turn, place: int, stored: StoredEvent, limits: Limits) -> None:
    event = stored.event
    match event.kind:
        case Kind.PROMPT:
            if INTERRUPTED.match(event.text):
                _interrupt(story, turn)
            words = prompt_words(cut(event.text, limits.max_input))
            if words:
                turn.ask = f"{turn.ask}\n{words}" if turn.ask else words
                turn.typed = f"{turn.typed}\n{prompt_words(typed_words(event.text))}".strip()
                turn.ask_id, turn.ask_place = turn.ask_id or stored.id, place
                turn.ended = turn.open_tool = False
        case Kind.SAID:
            text = prompt_words(cut(event.text, limits.max_input))
            if text:
                _say(story, turn, Said(stored.id, place, turn.number, event.at, text))
                turn.open_tool = False
        case Kind.TOOL:
            _use(story, turn, place, stored, limits)
        case Kind.TURN_ENDED:
            text = prompt_words(cut(event.text, limits.max_input))
            if text and (turn.last_said is None or turn.last_said.text != text):
                _say(story, turn, Said(stored.id, place, turn.number, event.at, text))
            turn.ended, turn.open_tool = True, False
            turn.interrupted = turn.interrupted or event.outcome is Outcome.INTERRUPTED
        case Kind.TURN_FAILED:
            turn.ended, turn.broken = True, event.reason or event.text or "error"
        case Kind.COMPACTED:
            story.compacted = (stored.id, event.at, cut(event.text, limits.max_input * 3))
            return
        case Kind.SESSION_ENDED:
            story.ended, story.end_reason = True, event.reason
            return
        case _:
            return
    turn.ids.append(stored.id)
    turn.at = max(turn.at, event.at)


def _say(story: Story, turn: Turn, said: Said) -> None:
    turn.said.append(said)
    story.said.append(said)


def _interrupt(story: Story, turn: Turn) -> None:
    target = turn if not turn.empty else next((t for t in reversed(story.turns) if not t.empty), turn)
    target.interrupted = True


def _use(story: Story, turn: Turn, place: int, stored: StoredEvent, limits: Limits) -> None:
    event = stored.event
    text = cut(event.text, limits.max_output)
    file = relative(event.target, story.session.cwd)
    ok = event.outcome in {Outcome.OK, Outcome.NONE}
    turn.last_tool = event.tool or event.action.value
    turn.open_tool = event.outcome is Outcome.NONE
    turn.ended = False
    if event.outcome is Outcome.INTERRUPTED and event.action in _REFUSABLE:
        refused = f"`{shell.parse(event.target).shown}`" if event.action is Action.RUN else file
        turn.refusals.append((stored.id, event.at, refused, refused_with(event)))
    match event.action:
        case Action.RUN:
            command = _at_home(shell.parse(cut(event.target, limits.max_input)), story.session.cwd, event)
            verdict = failure.verdict(event, command)
            error = failure.telling_line(event.text) if verdict is Outcome.FAILED else ""
            run = Run(
                stored.id,
                place,
                turn.number,
                event.at,
                event.target,
                command,
                failed=verdict is Outcome.FAILED,
                passed=verdict is Outcome.OK,
                text=text,
                interrupted=event.outcome is Outcome.INTERRUPTED,
                error=error,
                culprit=command.culprit(error) if error else command.main,
                branch=event.where.branch,
            )
            turn.runs.append(run)
            story.runs.append(run)
        case Action.EDIT | Action.WRITE if ok and file:
            change = Change(stored.id, place, turn.number, event.at, file, text, event.action is Action.WRITE)
            turn.changes.append(change)
            story.changes.append(change)
        case Action.READ if ok and file:
            turn.reads.append(file)
        case Action.PLAN:
            turn.plans.append(Plan(stored.id, event.at, event.tool, event.text))
        case Action.DELEGATE:
            turn.delegated.append((event.target, text))
        case _ if event.tool == "AskUserQuestion" and ok:
            turn.choices.append((stored.id, event.at, text))


def _at_home(command: shell.Command, cwd: str, event: Event) -> shell.Command:
    """A command with its folder as seen from the session's, or from the root of its worktree."""
    folder = command.folder
    for root in (event.where.worktree, cwd):
        folder = "" if root and folder.rstrip("/") == root.rstrip("/") else relative(folder, root)
    return command if folder == command.folder else replace(command, folder=folder)


def _judge_ends(story: Story) -> None:
    """A turn that was followed by another is over; the last one is over if the agent had the last word.

    Imported transcripts carry no "turn ended", so an answer that no tool call followed counts as one.
    """
    for turn, after in zip(story.turns, [*story.turns[1:], None], strict=False):
        if turn.interrupted:
            turn.ended = False
        elif not turn.ended and turn.said and not turn.open_tool:
            last_run = max(
                [run.place for run in turn.runs] + [change.place for change in turn.changes], default=-1
            )
            spoke_last = turn.said[-1].place > last_run and not turn.said[-1].text.rstrip().endswith(":")
            turn.ended = spoke_last and turn.said[-1].place > turn.ask_place
        if after is not None and not turn.interrupted:
            turn.ended = True  # the user had the next word, if only to leave
