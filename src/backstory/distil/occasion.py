"""Whether something is said of one occasion only: a task for now, and no decision for later.

"Use the staging database for this run because production is locked" chooses and says why, and is over with
the run. Some words say so outright; others only where nobody speaks for all ("we") or keeps what there is,
and where nothing was open: "SQLite for now" is what a question about the store was settled with.
"""

import re

from backstory.distil.reasons import implied

FEWEST = 6  # characters before a "because" that can be a choice

_BECAUSE = re.compile(
    r"\b(?:because|since|due to|so that|otherwise|weil|denn|damit|sonst|parce|car|porque)\b", re.IGNORECASE
)
#: This run, this time, to show a bug: over as soon as it is done.
_ONCE = re.compile(
    r"\b(?:for|in|on) (?:this|the current|today's) (?:\w+ )?"
    r"(?:run|time|attempt|demo|repro\w*|call|experiment)\b"
    r"|\b(?:just |only )?this (?:once|time)\b"
    r"|\b(?:for|in|to) (?:the|a|my|your) (?:\w+ )?repro(?:duction|ducer)?\b"
    r"|\bto reproduce (?:it|this|that|the)\b"
    r"|\bfür diesen (?:lauf|test|versuch)\b|\b(?:nur )?(?:diesmal|dieses mal)\b",
    re.IGNORECASE,
)
#: What makes a demo or an example a thing that lasts.
_KIND = (
    r" (?:apps?|projects?|services?|repo\w*|sites?|servers?|environment|tenants?|mode|shop|folder|config)\b"
)
#: For now, at this place in the code, in a text that shows something, or something that has no name.
_SMALL = re.compile(
    r"(?<!\w)(?:for (?:now|the moment|the time being|today)|vorerst|fürs erste)\b(?!')"
    r"|^\W*(?:(?:please|just|let['’]?s) )*(?:use|take|write|return|call|try|pick|make)\b"
    r".*\bhere(?=\s*(?:[,;.!–—(]|$))"
    r"|\bin (?:the|this|that|our) (?:[\w-]+ )?"
    rf"(?:readme|examples?|snippet|screenshot|commit message|demo)\b(?!{_KIND})"
    rf"|\bfor (?:the|a|tomorrow's|today's) (?:[\w-]+ )?(?:demo|screenshot|example|snippet)\b(?!{_KIND})"
    r"|\b(?:use|used|pick|picked|take|took|choose|chose|go with|went with) (?:"
    r"(?:a different|another|some other)(?: [\w-]+){1,3}\s*(?=[,;.!–—(]|$)"
    r"|(?:the|my|your|his|her|\w+'s) (?:new|other|old|fresh|second|staging|test) (?:[\w-]+ ){0,2}?"
    r"(?:keys?|tokens?|passwords?|credentials?|secrets?|accounts?|logins?)"
    r"(?=\s*(?:[,;.!–—(]|$)| instead| for )"
    r"|the (?:first|second|third|last|other) (?:option|one|variant|approach)\s*(?=[,;.!–—(]|$))"
    r"|^\W*let['’]?s (?:test|try|debug|check|verify|measure|benchmark)\b.{0,20}? on (?:the )?"
    r"(?:staging|prod\w*|dev|qa) (?:\w+ )?(?:with|using)\b",
    re.IGNORECASE,
)
_LASTING = re.compile(
    r"\b(?:always|never|from now on|everywhere|every|immer|nie|ab jetzt|toujours|siempre)\b", re.IGNORECASE
)
_FOR_ALL = re.compile(
    r"\b(?:we|we'(?:ll|re|ve|d)|our team|decided|decision|agreed|wir|nous|nosotros)\b"
    r"|^\W*(?:let['’]?s )?(?:keep|stay|stick|remain|leave)\b",
    re.IGNORECASE,
)


def one_occasion(text: str, answers: bool = False) -> bool:
    """Whether a choice is made for one occasion; `answers`: it may settle what was asked or argued."""
    choice = _choice(text)
    if _LASTING.search(choice):
        return False
    if _ONCE.search(choice):
        return True
    return not answers and _FOR_ALL.search(choice) is None and _SMALL.search(choice) is not None


def _choice(text: str) -> str:
    """A sentence without its reason, if that stands behind: "for now" may be said of the reason as well."""
    cue = _BECAUSE.search(text, FEWEST)
    if cue is not None:
        return text[: cue.start()].rstrip()
    clause = implied(text, FEWEST)
    return clause.choice if clause is not None else text
