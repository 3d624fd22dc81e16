"""What another tool has kept, written as events.

Three kinds: what the user asked, as that tool has recorded it (a prompt); what the tool itself noted at some
time (noted); and texts that it only stores (document). `tool` says what it is in the tool's own words.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b

from backstory.agents.claude_tools import describe
from backstory.agents.own_output import without_notes
from backstory.agents.payload_fields import mapping
from backstory.model import Action, Event, Kind, Outcome, Where

SUMMARY, NEXT_STEP, DECISION, FACT = "summary", "next step", "decision", "fact"
HEADER, LOG, INDEX, ARTICLE, DRAWER = "session", "log", "index", "article", "drawer"
COMPRESSED = "compressed "
MIGRATED = "migrated"
READ, CHANGED, CONCEPTS, METADATA = "Files read: ", "Files changed: ", "Concepts: ", "Metadata: "
ASIDES = (READ, CHANGED, CONCEPTS, METADATA)
_LETTERS = str.maketrans("0123456789", "ghijklmnop")  # digits might be taken for somebody's number
_MARK = re.compile(r"@[a-p]{16}$")


@dataclass(frozen=True, slots=True)
class Pen:
    """Writes the events of one session of one tool.

    `rewrites`: the tool may change in place what it noted. Then the event's id ends in a mark of what it
    says, so that what it says now is another event than what it said before.
    """

    agent: str
    session: str
    cwd: str = ""
    rewrites: bool = False

    def noted(
        self, what: str, at: int, text: str, native: str, *, reason: str = "", target: str = ""
    ) -> list[Event]:
        """Something that the tool noted; nothing if it says nothing."""
        return self._event(Kind.NOTED, at, text, native, what, target, reason)

    def document(self, what: str, at: int, text: str, native: str, target: str) -> list[Event]:
        """A text that the tool stores."""
        return self._event(Kind.DOCUMENT, at, text, native, what, target)

    def prompt(self, at: int, text: str, native: str) -> list[Event]:
        """What the user asked."""
        return self._event(Kind.PROMPT, at, text, native)

    def ended(self, at: int, reason: str) -> list[Event]:
        """The end of the session."""
        return [self._made(Kind.SESSION_ENDED, at, "", self._marked("end", str(at), reason), reason=reason)]

    def used(self, at: int, name: str, inputs: object, response: object, native: str, cwd: str = "") -> Event:
        """A tool call that the tool has recorded."""
        use = describe(name, mapping(inputs), response, None, interrupted=False)
        return Event(
            self.agent,
            self.session,
            Kind.TOOL,
            at,
            use.text if use.text or isinstance(inputs, dict) else str(inputs),
            use.action,
            name,
            use.target,
            use.outcome if response else Outcome.NONE,
            native_id=native,
            where=Where(cwd or self.cwd),
            recalled=use.recalled,
            origin=MIGRATED,
        )

    def _event(
        self,
        kind: Kind,
        at: int,
        text: str,
        native: str,
        what: str = "",
        target: str = "",
        reason: str = "",
    ) -> list[Event]:
        said = without_notes(text).strip()
        if kind is not Kind.PROMPT:  # what was asked was asked
            native = self._marked(native, said, what, target, reason)
        return [self._made(kind, at, said, native, what, target, reason)] if said else []

    def _marked(self, native: str, *said: str) -> str:
        if not self.rewrites:
            return native
        mark = blake2b("\0".join(said).encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()
        return f"{native}@{mark.translate(_LETTERS)}"

    def _made(
        self,
        kind: Kind,
        at: int,
        text: str,
        native: str,
        what: str = "",
        target: str = "",
        reason: str = "",
    ) -> Event:
        return Event(
            self.agent,
            self.session,
            kind,
            at,
            text,
            Action.NONE,
            what,
            target,
            reason=reason,
            native_id=native,
            where=Where(self.cwd),
            origin=MIGRATED,
        )


def row_of(native: str) -> str:
    """The row that an event is made of, whatever it says now: its id without the mark."""
    return _MARK.sub("", native)


def join_lines(*parts: str) -> str:
    """The parts that say something, one below the other."""
    return "\n".join(filter(None, parts))


def labelled_part(label: str, text: str) -> str:
    """A part with its name before it, if there is one."""
    return f"{label}{text}" if text else ""


def bullet_list(texts: Iterable[str]) -> str:
    """A list, one a line."""
    return "\n".join(f"- {text}" for text in texts)
