"""Whose word a memory is told as: the one place where words become somebody's."""

import re
from collections.abc import Mapping

from backstory.model import Event, Kind, Memory, MemoryKind, Speaker, Tier, speaker

USER_SAID, AGENT_SAID, MODEL_SAID = "The user said", "The agent said", "A model noted"
#: How the rules word the question that an agent left open.
UNANSWERED = "Asked, unanswered"
# Words that make a sentence look like the user's own.
_SPEAKS_OF_USER = re.compile(r"\b(?:users?|you|your|asked|human)\b", re.IGNORECASE)
_LEADS = {
    (MemoryKind.DECISION, Speaker.USER): "The user decided",
    (MemoryKind.DECISION, Speaker.AGENT): "The agent decided",
    (MemoryKind.DECISION, Speaker.NOBODY): "Decided",
    (MemoryKind.PREFERENCE, Speaker.USER): "The user wants",
    (MemoryKind.PREFERENCE, Speaker.AGENT): "The agent says that the user wants",
    (MemoryKind.FACT, Speaker.USER): "Told to remember",
    (MemoryKind.FACT, Speaker.AGENT): "The agent noted",
    (MemoryKind.FACT, Speaker.NOBODY): "Noted",
    (MemoryKind.LESSON, Speaker.USER): USER_SAID,
    (MemoryKind.LESSON, Speaker.AGENT): AGENT_SAID,
    (MemoryKind.ATTEMPT, Speaker.AGENT): AGENT_SAID,
    (MemoryKind.NEXT_STEP, Speaker.USER): USER_SAID,
    (MemoryKind.NEXT_STEP, Speaker.AGENT): AGENT_SAID,
}
#: Where an agent's own `remember` is led in like what it said in a session.
_SAYS_WHOSE = {
    (MemoryKind.DECISION, Speaker.AGENT),
    (MemoryKind.PREFERENCE, Speaker.AGENT),
    (MemoryKind.FACT, Speaker.AGENT),
}


#: What stands behind a kind of memory where hits are listed: whose word it is.
WHOSE = {
    Speaker.USER: " of the user",
    Speaker.AGENT: " of the agent",
    Speaker.TOOL: " (a tool or page said it)",
    Speaker.NOBODY: "",
}
#: Memories that others share hang on a session of this agent; `PERSON` said them, as the author themselves.
#: Neither is the user of this home, so neither has the user's trust.
TEAM, PERSON = "team", "person"
OWN_MACHINE = "mine"  # the origin of what the user's own other machine shares
_LONGEST_NAME = 60
# A name that would read like somebody else than its bearer.
_NOBODYS = re.compile(
    r"\b(?:users?|you|your|agents?|assistant|tools?|page|model|told|asked|human|system|everybody|nobody)\b",
    re.IGNORECASE,
)
_OTHERS = {
    (MemoryKind.DECISION, PERSON): "{} decided",
    (MemoryKind.DECISION, ""): "{}'s sessions decided",
    (MemoryKind.DECISION, Speaker.AGENT): "{}'s agent decided",
    (MemoryKind.PREFERENCE, PERSON): "{} wants",
    (MemoryKind.FACT, PERSON): "{} noted",
    (MemoryKind.FACT, Speaker.AGENT): "{}'s agent noted",
}
_OTHERS_ELSE = {
    PERSON: "{} said",
    Speaker.AGENT.value: "{}'s agent said",
    Speaker.TOOL.value: "A tool or page said in {}'s session",
    "": "Seen in {}'s sessions",
}


#: The tool of a note that an agent left by itself: it is kept among the user's notes, and is not the user's.
BY_AGENT = "mcp"
#: Who is named where an agent did by itself what people mostly do.
AN_AGENT = "agent"
#: What clients set for the commands that their tools run; what people set to configure them is not among it.
IN_AGENTS_SHELL = (
    "AI_AGENT", "CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID", "CODEX_CI", "CODEX_SANDBOX",
    "CODEX_SANDBOX_NETWORK_DISABLED", "CODEX_THREAD_ID", "COPILOT_AGENT_SESSION_ID", "COPILOT_CLI",
    "CURSOR_AGENT", "GEMINI_CLI", "GEMINI_SESSION_ID", "OPENCODE", "OPENCODE_PID", "PI_CODING_AGENT",
    "QWEN_CODE",
)  # fmt: skip


def commanded_by(environment: Mapping[str, str]) -> Speaker:
    """Whose word a command's is: an agent's if a client's variable tells that its tool runs the command."""
    return Speaker.AGENT if any(environment.get(name) for name in IN_AGENTS_SHELL) else Speaker.USER


def author(agent: str, said_by: str) -> str:
    """Who is named as the author of a memory."""
    return AN_AGENT if agent == Speaker.USER and speaker(said_by) is Speaker.AGENT else agent


def doer(event: Event) -> str:
    """Who is named as having done what an event says."""
    return AN_AGENT if event.kind is Kind.REMEMBERED and event.tool == BY_AGENT else event.agent


def told_as(memory: Memory) -> str:
    """The words that lead a memory in; "" where none are needed, because rules observed it."""
    who = speaker(memory.said_by)
    if memory.author:
        return ""  # its text says itself whose it is
    if who is not Speaker.TOOL and memory.said_by not in list(Speaker):
        return _LEADS.get((memory.kind, Speaker.NOBODY), "")  # another tool's row: nobody knows whose word
    if memory.tier is Tier.MODEL and who not in (Speaker.USER, Speaker.TOOL):
        return MODEL_SAID
    noted = who is Speaker.AGENT and memory.agent == Speaker.USER  # an agent's own `remember`
    if noted and (memory.kind, who) not in _SAYS_WHOSE:
        return "The agent noted"
    lead = _lead(memory.kind, who)
    return (
        "" if memory.agent == Speaker.USER and lead == USER_SAID else lead
    )  # the row names the user already


def told_by_other(kind: MemoryKind, text: str, author: str, origin: str, said_by: str) -> str:
    """What somebody else shared, with whose it is; never as the word of the user of this home."""
    who = said_by if said_by in _OTHERS_ELSE else Speaker.AGENT.value
    lead = _OTHERS.get((kind, who), _OTHERS_ELSE[who]).format(_named(author))
    return led_in(f"{lead} (on another machine of the user)" if origin == OWN_MACHINE else lead, text)


def person_name(name: str) -> str:
    """A person's name as it may be kept: one line of printable characters."""
    shown = " ".join("".join(char if char.isprintable() else " " for char in name).split())
    return shown[:_LONGEST_NAME].strip() or "somebody"


def _named(author: str) -> str:
    """How somebody is spoken of: a name that could be read as the user or an agent is told as a name."""
    plain = person_name(author).replace(":", " ").strip()
    return f'a teammate called "{plain}"' if _NOBODYS.search(plain) else plain


def whose(agent: str, said_by: str) -> str:
    """Whose word a thing is, behind what it is called; what somebody else shared says that itself."""
    return "" if agent == TEAM else WHOSE[speaker(said_by)]


def spoken(kind: MemoryKind, said_by: str, text: str) -> str:
    """A text behind the words that lead it in, which say whose it is."""
    return led_in(_lead(kind, speaker(said_by)), text)


def led_in(lead: str, text: str) -> str:
    """A text behind its lead; a question that was left open says itself what its agent did."""
    if lead == AGENT_SAID and text.startswith(f"{UNANSWERED}: "):
        return f"The agent asked, unanswered{text[len(UNANSWERED) :]}"
    return f"{lead}: {text}" if lead else text


def by_agent(text: str) -> str:
    """What an agent said, as a row tells it behind the agent's name: who else is spoken of is no speaker."""
    return led_in(AGENT_SAID, text) if _SPEAKS_OF_USER.search(text) else text


def _lead(kind: MemoryKind, who: Speaker) -> str:
    return "A tool or page said" if who is Speaker.TOOL else _LEADS.get((kind, who), "")
