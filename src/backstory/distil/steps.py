"""What is open when a session stops: todos, red commands, unanswered asks, and what was said to come next.

Only the end counts: what an earlier turn announced has usually been done by a later one.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from backstory.attribution import UNANSWERED
from backstory.distil import phrases
from backstory.distil.chains import Chain
from backstory.distil.later import Spot, leaves_open, put_off
from backstory.distil.plan import DONE, plan_items
from backstory.distil.prose import Sentence, content_words, gist, once, sentences, shorten
from backstory.distil.shell import CHECKS, Role
from backstory.distil.story import Said, Story, Turn
from backstory.model import Draft, MemoryKind

HEADING = phrases.Rule("next_heading")
FILLER = phrases.Rule("filler")

MOST = 10
_CLOSES = re.compile(
    r"(?:\W*(?:ok(?:ay)?|y|yes|thx|thanks?|thank you|ty|ta|cheers|super|perfect|great|good|nice|cool|"
    r"awesome|excellent|lovely|sweet|"
    r"brilliant|bye|see you|works?|done|that'?s (?:it|all)|all good|stuff|very much|so much|a lot|"
    r"pushed|merged|merging|prima|"
    r"danke|passt|merci|parfait|gracias|genial|perfecto|vale|top)\b)*\W*$",
    re.IGNORECASE,
)
SHORT = 15  # an ask below this says nothing by itself


def next_steps(story: Story, found: list[Chain]) -> list[Draft]:
    """What the next session should pick up."""
    turns = [turn for turn in story.turns if not turn.empty]
    if not turns:
        return []
    drafts = [*_unfinished(story), *_todos(turns), *_red(found, turns)]
    for turn, spot in answers(story, turns):
        drafts += _announced(turn.last_said, spot)
    if not story.subagent:
        drafts += [
            _draft(text, text, turn.at, (turn.ask_id,), turn.number, "user", 1.5)
            for turn, text in put_off(turns)
        ]
    return once(drafts)[:MOST]


def answers(story: Story, turns: list[Turn]) -> Iterator[tuple[Turn, Spot]]:
    """The turns whose last message may announce something; later work has overtaken older ones."""
    tools = bool(story.runs or story.changes)  # where there are none, what was done since is unknown
    for ago, turn in enumerate(reversed(turns[-4:])):
        worked = bool(turn.runs or turn.changes)
        if turn.last_said is not None and turn.last_said.place > turn.ask_place:
            yield turn, Spot(False, ago, worked, False, "?" in turn.ask and not turn.changes, idle=tools)
        if worked:
            return


def placed(spot: Spot, number: int, count: int) -> Spot:
    """The place of one sentence of an answer: the last two are its end."""
    return replace(spot, final=number >= count - 2)


def _draft(
    subject: str, text: str, at: int, sources: tuple[str, ...], turn: int, who: str = "", weight: float = 1.0
) -> Draft:
    return Draft(
        MemoryKind.NEXT_STEP,
        f"next:{subject}"[:140],
        shorten(text, 280),
        at,
        sources,
        said_by=who,
        weight=weight,
        turn=turn,
    )


def _unfinished(story: Story) -> Iterator[Draft]:
    """The ask that the agent never came to the end of."""
    turn = story.unfinished
    ask = _ask(story, turn) if turn is not None else ""
    if turn is None or not turn.ids or not ask or (_CLOSES.match(turn.ask) and not turn.last_tool):
        return
    how = "was interrupted" if turn.interrupted else "was not finished"
    if turn.broken:
        how = f"failed ({shorten(turn.broken, 60)})"
    doing = _doing(turn)
    yield _draft(
        f"unfinished:{turn.number}",
        f"This {how}: {ask}" + (f" (last: {doing})" if doing else ""),
        turn.at,
        (turn.ids[0], turn.ids[-1]),
        turn.number,
        weight=1.4,
    )


def _ask(story: Story, turn: Turn) -> str:
    """What the turn was about; "continue" is about what was asked before it."""
    if len(turn.ask) >= SHORT:
        return gist(turn.asked, 160)
    earlier = next(
        (t.asked for t in reversed(story.turns) if t.number < turn.number and len(t.ask) >= SHORT), ""
    )
    if not turn.ask:
        return gist(earlier, 160)
    return f"{turn.ask} ({gist(earlier, 140)})" if earlier else turn.ask


def _doing(turn: Turn) -> str:
    run = turn.runs[-1] if turn.runs else None
    change = turn.changes[-1] if turn.changes else None
    if run is not None and (change is None or run.place > change.place):
        return f"`{shorten(run.shown, 80)}`"
    return f"edited {change.file}" if change is not None else ""


def _todos(turns: list[Turn]) -> Iterator[Draft]:
    for item in plan_items(turns):
        if item.status not in DONE:
            yield _draft(item.content, item.content, item.at, (item.source,), item.turn, "assistant", 1.3)


def _red(found: list[Chain], turns: list[Turn]) -> Iterator[Draft]:
    """A check that was red when it was last run, or any command with which the work ended in red."""
    recent = {turn.number for turn in turns[-2:]}
    runs = [run for turn in turns for run in turn.runs if run.command.role is not Role.PROBE]
    for chain in found:
        last = chain.failures[-1]
        step = last.culprit
        if chain.cure is not None or step is None or last.turn not in recent:
            continue
        if step.role in CHECKS or (step.role is Role.RUN and last is runs[-1]):
            error = shorten(last.error, 120)
            yield _draft(
                f"red:{step.name} {' '.join(step.operands)}",
                f"`{last.shown}` still fails" + (f": {error}" if error else ""),
                last.at,
                (last.id,),
                last.turn,
                weight=1.3,
            )


def _announced(said: Said | None, spot: Spot) -> Iterator[Draft]:
    """Lists under a heading that says "next", sentences that say what remains, and the last open question.

    In an answer to a question "X isn't implemented yet" tells how things are, and announces nothing.
    """
    if said is None:
        return
    found = sentences(said.text)
    for number, sentence in enumerate(found):
        text = sentence.text
        if sentence.box.lower() == "x" or len(text) < 6:
            continue
        if HEADING.search(sentence.heading):
            if _stands_for_list(sentence, found):
                yield _step(text, said)
        elif sentence.box == " " or leaves_open(text, placed(spot, number, len(found))):
            yield _step(text, said)
        elif not spot.ago and number >= len(found) - 3 and _asks(text):
            question = (
                text
                if number == 0
                or len(content_words(text)) > 2
                or len(content_words(found[number - 1].text)) < 2
                else f"{found[number - 1].text} {text}"
            )
            yield _draft(text, f"{UNANSWERED}: {question}", said.at, (said.id,), said.turn, "assistant", 0.9)


def _stands_for_list(sentence: Sentence, found: tuple[Sentence, ...]) -> bool:
    """A bullet at the outer level, or, under a heading without bullets, the first sentence of a line."""
    if not sentence.first:
        return False
    if sentence.bullet:
        return sentence.depth < 4
    listed = any(other.bullet and other.heading == sentence.heading for other in found)
    return not listed and not sentence.text.endswith("?")


def _asks(text: str) -> bool:
    """Whether a question offers work, and not only politeness."""
    return text.endswith(("?", "？")) and FILLER.search(text) is None


def _step(text: str, said: Said) -> Draft:
    return _draft(text, text, said.at, (said.id,), said.turn, "assistant", 1.1)
