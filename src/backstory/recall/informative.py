"""What of a passage is worth telling: without the agent's announcements, small talk and bare commands.

Agents announce what they do next ("Let me check …", "Now run the tests:"), greet what worked ("Perfect!") and
ask ("Want me to push?"). Such a sentence stays only where it says something besides: a reason or a contrast,
with another one or with names of things. A command stands only behind a sentence that explains it, or if it
failed. Pure; it imports little, because hooks use it.
"""

import re

_SENTENCE = re.compile(r"(?<=[.!?:]) (?=[A-Z*`\"'(\[\d])| (?=- \*\*)")  # of one line
_FILLER = re.compile(
    r"^(?:(?:ok(?:ay)?|good|great|perfect|now|alright|right|yes|excellent|done|hmm|wait|actually|first|next"
    r"|then|finally|also|and|so|got it|all good|clean|nice|interesting)\b[\s,.!:—–-]*)+",
    re.IGNORECASE,
)
_ANNOUNCES = re.compile(
    r"(?:let me|let'?s|i'll|i will|i'm|i need to|i can|i see|i have|i should|i want|we need|we can|looking"
    r"|checking|running|reading|want me|would you|should i|shall i|ready)\b",
    re.IGNORECASE,
)
_NEXT = re.compile(r"now ", re.IGNORECASE)
_REASONS = re.compile(
    r"\b(?:because|since|so that|so the|therefore|due to|reason|cause[ds]?|instead|rather|but|not|never"
    r"|always|must|only|needs?|requires?|without|unless|until|fails?|failed|broke|works?|means?|turns out"
    r"|actually)\b|n't\b|[—–;:]\s",
    re.IGNORECASE,
)
_NAMES = re.compile(
    r"`[^`]{1,200}`|(?<![\w.-])[\w.-]{1,100}/[\w./-]+|\b\w+_\w+\b|\b[a-z]+[A-Z]\w*|\b[A-Z]{2,}\b|#\d+|\b\w+\.\w{1,4}\b|--\w+"
)
_COMMAND = re.compile(r"(?:^|\s)\$ (?=\S)")
_WORD = re.compile(r"[^\W\d_]{3,}")
_OUTCOME = " → "
_RETOLD = ("turn", "session", "summary")  # memories that say again what passages say
_SHORTEST, _FEWEST_WORDS, _SHORT_QUESTION, _LONG_ANNOUNCEMENT, _LONG_SENTENCE = 40, 6, 120, 50, 80


def informative(form: str, kind: str, text: str, *, short: bool = False) -> str:
    """What a passage tells, in one line; "" if it tells nothing. A memory is told as it is.

    `short` passages tell something beside others of their episode.
    """
    line = " ".join(text.split())
    if not form:
        return "" if kind in _RETOLD else line
    command = ""
    if form == "step" and (found := _COMMAND.search(line)):
        line, command = line[: found.start()], line[found.end() :]
    if line.startswith("…"):  # cut at its beginning: what is left of that sentence says nothing
        line = "".join(_SENTENCE.split(line, maxsplit=1)[1:])
    says = _is_no_question if form == "prompt" else _says
    line = " ".join(each for each in map(str.strip, _SENTENCE.split(line)) if each and says(each))
    if command:
        line = _with_command(line, command)
    least = 2 if short else 1
    enough = len(line) >= _SHORTEST // least and len(_WORD.findall(line)) >= _FEWEST_WORDS // least
    return line if enough else ""


def _with_command(line: str, command: str) -> str:
    command, failed, outcome = command.partition(_OUTCOME)
    if not failed and not (_REASONS.search(line) and (_NAMES.search(line) or len(line) > _LONG_SENTENCE)):
        return ""
    return f"{line} `{command}`{failed}{outcome}".strip()


def _says(sentence: str) -> bool:
    """Whether a sentence of the agent says more than what it is about to do."""
    if not _is_no_question(sentence):
        return False
    core = _FILLER.sub("", sentence)
    if not _ANNOUNCES.match(core) and not _NEXT.match(sentence):
        return bool(core)
    reasons = len(_REASONS.findall(core))
    return reasons > 0 and reasons + len(_NAMES.findall(core)) > 1 and len(core) > _LONG_ANNOUNCEMENT


def _is_no_question(sentence: str) -> bool:
    """Whether a sentence tells something beside what it asks, if it asks."""
    asks = sentence.endswith("?") and len(sentence) < _SHORT_QUESTION
    return not asks or _REASONS.search(sentence) is not None
