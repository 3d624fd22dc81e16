"""What is open when a session stops: todos, red commands, unanswered asks, and what was said to come next.

Only the end counts: what an earlier turn announced has usually been done by a later one.
"""

import re
from collections.abc import Iterator

from backstory.distil import phrases
from backstory.distil.chains import Chain
from backstory.distil.plan import DONE, plan_items
from backstory.distil.prose import Sentence, gist, sentences, shorten
from backstory.distil.shell import CHECKS
from backstory.distil.story import Said, Story, Turn
from backstory.model import Draft, MemoryKind

HEADING = phrases.Rule("next_heading")
SENTENCE = phrases.Rule("next_sentence")
LATER = phrases.Rule("user_later")
OFFER = phrases.Rule("offer")
FILLER = phrases.Rule("filler")

MOST = 10
_MAYBE = re.compile(r"\b(?:would|could|might|if (?:a|we|it|they|someone|that)\b|whenever)\b", re.IGNORECASE)


def next_steps(story: Story, found: list[Chain]) -> list[Draft]:
    """What the next session should pick up."""
    turns = [turn for turn in story.turns if not turn.empty]
    if not turns:
        return []
    drafts = [*_unfinished(story), *_todos(turns), *_red(found, turns)]
    for number, turn in enumerate(reversed(turns[-4:])):
        if turn.last_said is not None and turn.last_said.place > turn.ask_place:
            drafts += _announced(turn.last_said, newest=number == 0)
        if turn.runs or turn.changes:
            break  # later work has overtaken what was announced before it
    if not story.subagent:
        drafts += _put_off(turns[-3:])
    return _once(drafts)[:MOST]


def _draft(subject: str, text: str, at: int, sources: tuple[str, ...], turn: int, who: str = "", weight: float = 1.0) -> Draft:
    return Draft(MemoryKind.NEXT_STEP, f"next:{subject}"[:140], shorten(text, 280), at, sources, said_by=who, weight=weight, turn=turn)


def _unfinished(story: Story) -> Iterator[Draft]:
    turn = story.unfinished
    if turn is None or not turn.ids:
        return
    ask = turn.ask or next((t.ask for t in reversed(story.turns) if t.ask and t.number <= turn.number), "")
    if not ask:
        return
    how = f"failed ({shorten(turn.broken, 60)})" if turn.broken else "was interrupted" if turn.interrupted else "was not finished"
    doing = _doing(turn)
    yield _draft(
        f"unfinished:{turn.number}",
        f"This {how}: {gist(ask, 160)}" + (f" (last: {doing})" if doing else ""),
        turn.at, (turn.ids[0], turn.ids[-1]), turn.number, weight=1.4,
    )


def _doing(turn: Turn) -> str:
    last = max([*turn.runs, *turn.changes], key=lambda item: item.place, default=None)
    if last is None:
        return ""
    return f"`{shorten(last.shown, 80)}`" if hasattr(last, "shown") else f"edited {last.file}"


def _todos(turns: list[Turn]) -> Iterator[Draft]:
    for item in plan_items(turns):
        if item.status not in DONE:
            yield _draft(item.content, item.content, item.at, (item.source,), item.turn, "assistant", 1.3)


def _red(found: list[Chain], turns: list[Turn]) -> Iterator[Draft]:
    """A check that was red when it was last run."""
    recent = {turn.number for turn in turns[-2:]}
    for chain in found:
        last = chain.failures[-1]
        step = last.culprit
        if chain.cure is None and step is not None and step.role in CHECKS and last.turn in recent:
            error = shorten(last.error, 120)
            yield _draft(
                f"red:{step.name} {' '.join(step.operands)}", f"`{last.shown}` still fails" + (f": {error}" if error else ""),
                last.at, (last.id,), last.turn, weight=1.3,
            )


def _announced(said: Said, newest: bool) -> Iterator[Draft]:
    """Lists under a heading that says "next", sentences that say what remains, and the last open question."""
    found = sentences(said.text)
    for number, sentence in enumerate(found):
        text = sentence.text
        if sentence.box.lower() == "x" or len(text) < 6:
            continue
        if HEADING.search(sentence.heading):
            if sentence.bullet and sentence.first and sentence.depth < 4:
                yield _step(text, said)
            elif not sentence.bullet and not text.endswith("?") and sentence.first and not _listed(found, sentence.heading):
                yield _step(text, said)
        elif sentence.box == " " or _remains(text):
            yield _step(text, said)
        elif newest and number >= len(found) - 3 and text.endswith(("?", "？")) and OFFER.search(text) and not FILLER.search(text):
            yield _draft(text, f"Asked, unanswered: {text}", said.at, (said.id,), said.turn, "assistant", 0.9)


def _remains(text: str) -> bool:
    """Whether a sentence says that something is still to do, and not only that it might be."""
    return len(text) <= 240 and not text.endswith("?") and bool(SENTENCE.search(text)) and not _MAYBE.search(text)


def _listed(found: tuple[Sentence, ...], heading: str) -> bool:
    return any(s.bullet and s.heading == heading for s in found)


def _step(text: str, said: Said) -> Draft:
    return _draft(text, text, said.at, (said.id,), said.turn, "assistant", 1.1)


def _put_off(turns: list[Turn]) -> Iterator[Draft]:
    for turn in turns:
        if not turn.ask or not LATER.search(turn.ask):
            continue
        for sentence in sentences(turn.ask):
            if LATER.search(sentence.text) and not sentence.text.endswith("?") and len(sentence.text) < 300:
                yield _draft(sentence.text, sentence.text, turn.at, (turn.ask_id,), turn.number, "user", 1.5)


def _once(drafts: list[Draft]) -> list[Draft]:
    kept: list[tuple[set[str], Draft]] = []
    for draft in drafts:
        words = set(re.findall(r"[^\W_]{3,}|[\u3040-\u30ff\u4e00-\u9fff]", draft.text.lower()))
        if not any(words and len(words & other) >= 0.75 * min(len(words), len(other)) for other, _ in kept):
            kept.append((words, draft))
    return [draft for _, draft in kept]
