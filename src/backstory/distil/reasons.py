"""Where the reason of a choice stands: after a "because", in a second clause, in the next sentence, before.

A reason has a weight, by how sure it is that it is one. A clause or sentence without a "because" is a reason
when it says how things are: not an order, not a question, not what the speaker is about to do.
"""

import re
from dataclasses import dataclass

from backstory.distil import phrases

USER_CHOICE = phrases.Rule("user_choice")
CONTRAST = phrases.Rule("contrast")
REASON = phrases.Rule("reason")
OPENER = phrases.Rule("opener")
DIRECTIVE = phrases.Rule("directive")
MERIT = phrases.Rule("merit")
CHORE = phrases.Rule("chore")
OWN_PLAN = phrases.Rule("own_plan")

EXPLICIT, IMPLIED = 4, 4  # a "because"; a clause behind the choice that states how things are
HINTED = 2  # such a clause without a clear verb: it may be a list
MERITED, FAINT, STATED = 4, 2, 1  # the next sentence, if it praises or blames; if it may do so; if not
ALONE = 4  # the next sentence, if the prompt holds nothing but the two
BEFORE = 2  # the sentence before

CLAUSE = re.compile(
    r"(?:(?<!\s)\s++)?(?:[,;:–—(]|(?<=\s)-\s|(?<!\.)\.{2,}|…)\s++|(?<=\d)\.\s++(?=[a-z])"
    r"|(?<!\s)\s++(?:and|but|und|aber)\s++(?=(?:no|not|"
    r"don|kein|nicht)\b)"
)
SO = re.compile(
    r"^(.{12,}?)(?<![\s,;.…-])[\s,;.…-]++(?:so|hence|therefore|thus|deshalb|daher|also nehmen|donc|"
    r"así que|因此|"
    r"所以)[,\s]+(?=\S)",
    re.IGNORECASE,
)
_STARTS_SO = re.compile(r"(?:so|hence|therefore|thus|deshalb|daher|donc|así que)[,\s]", re.IGNORECASE)
_BUT = re.compile(
    r"^(.{12,}?),? (?:but|aber|mais|pero) (?=.{0,300}\b(?:should|must|has to|needs? to|let'?s|we want)\b)",
    re.I,
)
_STATES = re.compile(
    r"(?!(?:and|then|also|please|can|could|would you|what|why|how|when|where|who|which|like|such|e\.g)\b)"
    r"(?=\S+ \S+ \S).*\b(?:is|are|was|were|has|have|had|can|could|would|will|does|do|did|need|never|get|"
    r"ist|sind|hat|"
    r"haben|kann|wird|würde|dürfen|\w+n't|cannot|\w+'s|\w{2,}(?:s|ed))\b",
    re.IGNORECASE,
)
_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|can|could|would|will|does|do|did|need|never|get|ist|sind|hat|"
    r"haben|kann|"
    r"wird|würde|dürfen|\w+n't|cannot|it's|that's|there's)\b",
    re.IGNORECASE,
)
_SUBJECT = re.compile(
    r"(?:somebody|someone|nobody|everybody|they|it|we|you|the|this|that|there) \w", re.IGNORECASE
)
#: Words that may judge and mostly do not: a neighbour with none but these is hardly a reason.
_FAINT = re.compile(
    r"\b(?:not|no|needs?|it (?:is|was|has|would|will)|it's|they're|must|us|we (?:get|had|can|have|only)|"
    r"only|"
    r"same|would|asked|already|every|again|at least|up to|don'?t|doesn'?t|nothing|clear|nicht|kein\w*|nur|"
    r"wieder)\b",
    re.IGNORECASE,
)
_WHEN = re.compile(
    r"\b(?:yesterday|this morning|today|just now|before lunch|on my side|gestern)\b", re.IGNORECASE
)
#: A sentence that goes on with the task, or tells what the speaker did, gives no reason for the one before.
_GOES_ON = re.compile(
    r"(?:so|then|also|and|in particular|for (?:each|example|now)|go|have|use|add|put|make|show|let'?s|"
    r"give|need|"
    r"can have|now|once|after|presumably|obviously|we (?:should|want|need|also|don'?t want)|you (?:should|"
    r"need)|"
    r"i (?:also|ran|tested|tried|installed|did|want|need|added)|last one|next|here(?:'s| is)|see|dann|"
    r"außerdem)\b",
    re.IGNORECASE,
)
#: Tells of a decision, which is one of its own and no reason for the sentence beside it.
_DECIDES = re.compile(
    r"(?:we|i|(?:the|our|my) team)(?:'ve| have| has)?(?: just| already| finally)? (?:decided|chose|chosen|"
    r"opted for|settled on|agreed (?:on|to use)|went with|picked|standardi[sz]ed on)\b"
    r"|wir haben (?:uns )?(?:für|gegen|beschlossen|entschieden)\b",
    re.IGNORECASE,
)
#: What for: of what is not done it says which matter is meant, not why ("don't use Redis to keep sessions").
_PURPOSE = re.compile(r"(?:for (?!now)|to )\w", re.IGNORECASE)
_DENIED = re.compile(
    r"\b(?:not|never|no|dont|against|avoid|drop|ditch|stop|remove|abandon)\b|n['’]t\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Read:
    """A choice, its reason and what was said with it; `ahead`: the next sentence is used up as the reason."""

    choice: str
    reason: str
    ahead: bool = False
    context: str = ""


@dataclass(frozen=True, slots=True)
class Around:
    """The sentences before and after, and whether these two are the whole prompt."""

    previous: str = ""
    following: str = ""
    alone: bool = False
    earlier: str = ""
    next: str = ""


def reason_of(text: str, end: int, around: Around, plain: bool) -> tuple[Read, int]:
    """The reason that weighs most, cut from the choice that ends at `end`, with its weight."""
    previous, following = around.previous, around.following
    cue = REASON.search(text)
    if cue is not None:
        return split_reason(text, cue), EXPLICIT
    so = SO.match(text)
    if so is not None and end > so.end():
        return Read(text[so.end() :], so.group(1)), EXPLICIT
    if previous and _STARTS_SO.match(text) and states(previous):
        return Read(text, previous), EXPLICIT
    if following and not following.endswith("?") and REASON.match(following):
        return Read(text, following, ahead=True), EXPLICIT
    clause = implied(text, end)
    if clause is not None and (not plain or MERIT.search(clause.reason)):
        sure = _VERB.search(clause.reason) or MERIT.search(clause.reason) or _SUBJECT.match(clause.reason)
        return clause, IMPLIED if sure else HINTED
    if (but := _BUT.match(text)) is not None:
        return Read(text[but.end() :], but.group(1)), IMPLIED
    return _neighbour(text, around)


def _neighbour(text: str, around: Around) -> tuple[Read, int]:
    """A reason outside the sentence, or the alternative that lost."""
    previous, following = around.previous, around.following
    if states(following) and not _GOES_ON.match(following):
        faint = FAINT if MERIT.search(following) else STATED
        alone = around.alone and not _WHEN.search(following)
        weight = MERITED if judges(following) else ALONE if alone else faint
        return Read(text, following, ahead=True), weight
    if states(previous) and judges(previous) and not _GOES_ON.match(previous):
        return Read(text, previous), BEFORE
    contrast = CONTRAST.search(text)
    head = text[: contrast.start()].strip(" ,;") if contrast is not None else ""
    if contrast is not None and " " in head and not contrast.group(0).startswith("rather "):
        return Read(head, text[contrast.start() :].strip(" ,;")), 0
    return Read(text, ""), 0


def implied(text: str, end: int) -> Read | None:
    """A clause behind the choice that states how things are: "drop the preview, nobody reads it"."""
    cuts = sorted(CLAUSE.finditer(text, end), key=lambda cut: cut.group(0).strip() in {",", "(", ";"})
    for cut in cuts:
        clause = text[cut.end() :]
        if text.count("`", 0, cut.start()) % 2 or text.count('"', 0, cut.start()) % 2:
            continue  # inside of code or a quotation
        if len(clause) > 12 and states(clause) and not CONTRAST.match(text[cut.start() :].lstrip()):
            return Read(text[: cut.start()], clause)
    return None


def opening(text: str) -> int:
    """Where the sentence begins behind its "ok, so then", in whatever mix of languages."""
    end = 0
    while (opener := OPENER.match(text[end:])) is not None and opener.end():
        end += opener.end()
    return end


def goes_on(text: str) -> bool:
    """Whether a sentence goes on with the task."""
    return _GOES_ON.match(text) is not None


def judges(text: str) -> bool:
    """Whether a sentence gives a cause, or plainly praises or blames."""
    return REASON.search(text) is not None or MERIT.search(_FAINT.sub(" ", text)) is not None


def decides(text: str) -> bool:
    """Whether a sentence says of somebody that they decided."""
    return _DECIDES.match(text) is not None


def states(text: str) -> bool:
    """Whether a clause says how things are, and is neither an order nor the speaker's own plan."""
    if len(text) < 12 or text.endswith(("?", "？", ":")) or OWN_PLAN.match(text):
        return False
    text = text.lstrip("\"'“„(")
    bare = text[opening(text) :]
    if CHORE.match(text) or CHORE.match(bare) or decides(bare):
        return False
    if _STATES.match(text) is None and (text.count(" ") < 3 or MERIT.search(text) is None):
        return False
    return DIRECTIVE.match(bare) is None or (
        MERIT.search(bare) is not None and USER_CHOICE.search(bare) is None
    )


def split_reason(text: str, cue: re.Match[str]) -> Read:
    """Cut a sentence at its "because"; when it begins with one, at the comma."""
    head = text[: cue.start()]
    before, after = head.strip(" ,;–—-:("), text[cue.start() :].strip(" ,;)")
    if _PURPOSE.match(after) and head.rstrip() == before and _DENIED.search(before):
        return Read(text, "")
    if len(before) >= 6:
        return Read(before, after)
    reason, comma, choice = after.partition(",")
    return Read(choice.strip(), reason.strip()) if comma and len(choice) >= 8 else Read(text, "")
