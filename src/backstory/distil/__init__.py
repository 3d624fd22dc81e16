"""Distil by rules (T1): what a session leaves behind, found without a model; what one adds (T2).

- `session`    the entry: events in, drafts out; says why there is nothing to distil
- `story`      the nouns: turns, runs, changes, what was said; the limits
- `telling`    events told as a story, once
- `harvest`    passages: what was written for others to read, and what happened, turn by turn
- `messages`   commit messages, pull requests and issues inside command lines
- `signatures` by what a thing is the same in another session
- `shell`      command lines: what they are for, when two are the same
- `failure`    whether a command really failed, and the line that says why
- `prose`      sentences out of Markdown and prompts
- `phrases`    the prose rules as tables, per language
- `programs`   what programs are for, as a table
- `chains`     failing runs of one command and the run that ended them
- `fixes`      failure → what made it pass
- `reports`    trouble that the user reported, its cause and the files changed
- `undone`     edits that did not stay
- `vain`       edits of which the assistant says that they did not help
- `attempts`   what was tried in vain
- `refusals`   failures that were wanted, fixes that the user threw out
- `decisions`  decisions with their reason; standing wishes, refusals
- `succession` whether a newer decision takes the place of an older one
- `matters`    a decision taken apart: on what, what is chosen, what is given up, where
- `forms`      the forms in which people settle a matter, as tables
- `alternatives` things of which one takes one at a time, as a table
- `values`     facts that hold one value at a time
- `terms`      the words of a decision that tell something
- `spoken`     which kind of memory a sentence is that a person asks to remember
- `weights`    what each mark weighs, fitted offline
- `answers`    decisions that the user makes by answering
- `plan`       the agent's own todo list, as it stood last
- `later`      what the last messages leave open: its marks
- `steps`      what is open at the end
- `commands`   commands that work here
- `turns`      one digest per turn
- `summary`    the session as one row and as one page
- `checkpoint` what must survive a compaction
- `excerpt`    what a model is given of a session, if one is configured (T2)
- `log_lines`  a session as lines that a model can read
- `compaction` of a summary before a compaction, what a model is given
- `operations` what it says, read with care, with the events it cites
- `merge`      what that comes to, as memories beside what the rules observed
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from backstory.distil.session import VERSION, distil_session, too_little
    from backstory.distil.story import Limits

__all__ = ["VERSION", "Limits", "distil_session", "too_little"]


def __getattr__(name: str) -> Any:
    """The rules are imported when they are asked for: a hook that reads an error has no time for them."""
    if name not in __all__:
        raise AttributeError(name)
    from backstory.distil import session

    return getattr(session, name)
