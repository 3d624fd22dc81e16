"""Agreeing to what the assistant had argued for: "yup", "B it is", "B then!", "B is right".

The words of the choice are the assistant's, and so is the reason, unless the user adds one.
"""

import re
from collections.abc import Iterator

from backstory.distil import phrases
from backstory.distil.prose import content_words, sentences, shorten
from backstory.distil.reasons import CONTRAST, REASON, Read, judges, split_reason
from backstory.distil.story import Said

RECOMMEND = phrases.Rule("recommend")
APPROVAL = phrases.Rule("approval")

AGREED = "recommended, and the user agreed"
_YES = (
    r"^(?:\W*+(?:agreed|yes|y|yup|yeah|yep|ok(?:ay)?|right|good|fine|sure|true|ja|gut|genau|oui|"
    r"sí)\b[,.!:; ]++)*"
)
_TAKES = re.compile(
    _YES + r"(?P<what>[^,.;:!?]{2,60}?),? (?:it is(?: then)?|then|dann|(?:is|are|ist|sind) (?:right|correct|"
    r"richtig|better|best|besser|the (?:right|better|best) (?:call|choice|way|one|option)))(?=[.!,;:–—]|$)",
    re.IGNORECASE,
)
_OWN_LIST = re.compile(
    _YES + r"let'?s (?:do|go|try|make it):? (?P<list>1[.)] .{4,}? 2[.)] .{4,})$", re.IGNORECASE | re.DOTALL
)
_OPTION = re.compile(r"\b(?:option|variant|variante|approach|number) ([a-d]|[1-9])\b", re.IGNORECASE)
_OR = re.compile(r"\b(?:or|oder|ou)\b", re.IGNORECASE)
_ITEM = re.compile(r" [—–-] |[:：]\s+")


def own_list(ask: str, last: Said | None) -> Iterator[tuple[str, str]]:
    """The user agrees and puts what was proposed into an order of their own."""
    found = _OWN_LIST.match(ask) if len(ask) < 400 else None
    if found is not None and last is not None:
        argued = _argued(last, content_words(found.group("list")))
        yield found.group("list"), (argued.reason or argued.choice) if argued else "the user's answer"


def approved(ask: str, last: Said, options: dict[str, str]) -> Iterator[tuple[str, str]]:
    """The user agreed to what the assistant had recommended."""
    head, _, rest = ask.partition(",")
    if len(ask) > 80 or not (APPROVAL.match(ask) or (rest and APPROVAL.match(head))):
        return
    about = content_words(rest) if not APPROVAL.match(ask) else frozenset[str]()
    for sentence in reversed(sentences(last.text)):
        text = sentence.text
        if (about and not about & content_words(text)) or text.endswith(("?", ":")):
            continue
        if RECOMMEND.search(text):
            named = _OPTION.search(text)
            cue = REASON.search(text)
            if named is not None and named.group(1).upper() in options:
                yield f"Chosen: {shorten(options[named.group(1).upper()], 240)}", text
            elif cue is not None and cue.start() >= 8:
                yield text[: cue.start()].strip(" ,;–—-:("), text[cue.start() :]
            else:
                yield text, AGREED
            return


def _argued(last: Said, words: frozenset[str]) -> Read | None:
    """The sentence on these words that gives a reason, in itself or in the next one."""
    found = sentences(last.text)
    for number, sentence in enumerate(found):
        text = sentence.text
        if text.endswith(("?", ":")) or not words & content_words(text):
            continue
        following = found[number + 1].text if number + 1 < len(found) else ""
        cue = REASON.search(text)
        if cue is not None:
            return split_reason(text, cue)
        if (CONTRAST.search(text) or RECOMMEND.search(text)) and len(parts := _ITEM.split(text, 1)) == 2:
            return Read(parts[0], parts[1])
        if RECOMMEND.search(text):
            return Read(text, following if judges(following) else AGREED)
        if following and not following.endswith("?") and judges(following):
            return Read(text, following)
        if _OR.search(text):
            return Read(text, "")
    return None
