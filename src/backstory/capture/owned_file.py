"""A file that is all ours: an agent's hooks file or plugin, written as a whole and removed as a whole.

What was written is known by its digest, so that somebody's own changes can be told from an older Backstory's
text. A file in its place that does not run our script is somebody else's.
"""

import hashlib
from collections.abc import Mapping

from backstory.agents.agent import Owned
from backstory.capture.settings_entries import bears_our_mark


def owned_file_text(
    before: str | None, hooks: Owned, commands: Mapping[str, str], wrote: str
) -> tuple[str, str, str]:
    """The text, what is done to the file ("write", "keep" or "update"), and a warning or ""."""
    after = hooks.render(commands)
    if before is None:
        return after, "write", ""
    if before == after:
        return after, "keep", ""
    if not bears_our_mark(before):
        return after, "update", "it is not ours: it is replaced, and a copy goes to the backups"
    if wrote and text_digest(before) != wrote:
        return after, "update", "it was changed by hand: it is written again, and a copy goes to the backups"
    return after, "update", ""


def text_digest(text: str) -> str:
    """What tells our own text from one that somebody changed."""
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
