"""How a thing is recognised in another session: a command's stem, an error's shape, a rule's name.

What varies from session to session is abstracted: paths, branches, numbers, hashes, quoted words. A signature
is a hash, so that it holds no word that somebody may want forgotten.
"""

import re
from hashlib import blake2b

from backstory.distil.shell import Role, Step

_WORD = re.compile(r"[a-z][\w:-]*")
_RULE = re.compile(r"\(([a-z][\w-]{2,40})\)\s*$|\b([A-Z]{1,5}\d{3,5})\b|\b(MD\d{3})/")
_VARIABLE = re.compile(
    r"`[^`]{0,200}`|'[^']{0,200}'|\"[^\"]{0,200}\"|(?<!\S)\S*[/\\\d]\S*|\b[0-9a-f]{7,40}\b|"
    r"\b[\w.]{1,80}\.[a-z]{1,5}(?::\S*)?|\b\w+(?:[-_]\w+)+\b|"
    r"(?<=\b[Cc]urrent branch )\S+|(?<=\b[Oo]n branch )\S+"  # as git names one
)
_BETWEEN = re.compile(r"[^a-z§]+")
_MOST_WORDS = 2
_SHAPE_CHARS = 120


def stem(step: Step) -> str:
    """A command without what it was run on: `mix test`, `mise run lint`, `git push`."""
    if step.role is Role.RUN:  # a script is what it runs
        return " ".join((step.name, *(word.rpartition("/")[2] for word in step.operands[:1])))
    words = [word for word in step.operands if _WORD.fullmatch(word)] if not step.verb else []
    return " ".join((step.name, *words[:_MOST_WORDS]))


def shape(error: str, branch: str = "") -> str:
    """An error without what varies; the name of the rule that was broken, if it has one.

    `branch` is where it came, for an error of git: its name may be any word.
    """
    if branch:
        error = re.sub(rf"(?<![\w/.-]){re.escape(branch)}(?![\w/-])", "§", error)
    rule = _RULE.search(error)
    if rule is not None:
        return str(next(filter(None, rule.groups())))
    return _BETWEEN.sub(" ", _VARIABLE.sub("§", error).lower()).strip()[:_SHAPE_CHARS]


def signature(*parts: str) -> str:
    """What is the same in every session that shows the same thing."""
    return blake2b("\0".join(parts).encode(), digest_size=8).hexdigest()
