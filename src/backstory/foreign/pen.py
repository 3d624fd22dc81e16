"""What another tool has kept, written as events.

Three kinds: what the user asked, as that tool has recorded it (a prompt); what the tool itself noted at some
time (noted); and texts that it only stores (document). `tool` says what it is in the tool's own words.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from backstory.agents.claude_tools import describe
from backstory.agents.fields import mapping
from backstory.agents.ours import without_notes
from backstory.model import Action, Event, Kind, Outcome, Where

SUMMARY, NEXT_STEP, DECISION, FACT = "summary", "next step", "decision", "fact"
HEADER, LOG, INDEX, ARTICLE, DRAWER = "session", "log", "index", "article", "drawer"
COMPRESSED = "compressed "
READ, CHANGED, CONCEPTS, METADATA = "Files read: ", "Files changed: ", "Concepts: ", "Metadata: "
ASIDES = (READ, CHANGED, CONCEPTS, METADATA)


@dataclass(frozen=True, slots=True)
class Pen:
    """Writes the events of one session of one tool."""

    agent: str
    session: str
    cwd: str = ""

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
        return [self._made(Kind.SESSION_ENDED, at, "", "end", reason=reason)]

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
            origin=self.agent,
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
        return [self._made(kind, at, said, native, what, target, reason)] if said else []

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
            origin=self.agent,
        )


def lines(*parts: str) -> str:
    """The parts that say something, one below the other."""
    return "\n".join(filter(None, parts))


def labelled(label: str, text: str) -> str:
    """A part with its name before it, if there is one."""
    return f"{label}{text}" if text else ""


def bullets(texts: Iterable[str]) -> str:
    """A list, one a line."""
    return "\n".join(f"- {text}" for text in texts)
