"""Long hostile texts for every pure function that reads what others wrote; run in a process of its own.

    python -m tests.security.long_texts NAME…

names each function and ends when it has read them all. A function that takes the square of its text's length
would need many minutes for them; the process has two of processor time, which other load does not shorten.
"""

import contextlib
import resource
import sys
from collections.abc import Callable
from functools import partial

from backstory import jsonc
from backstory.agents import AGENTS, Unreadable
from backstory.agents.own_output import runs_backstory, without_notes
from backstory.distil import distil_session, failure, shell
from backstory.errors import BackstoryError
from backstory.file_mentions import cited_files
from backstory.front_matter import split_front_matter
from backstory.hook import error_signature, normalize, pending_events
from backstory.hook.payload import BadPayload, parse_payload
from backstory.hook.redact import Redactor
from backstory.hook.sanitize import sanitized_line
from backstory.knowledge import markdown_page
from backstory.llm.lenient_json import read_object
from backstory.model import Action, Event, Kind, Outcome, Session, SessionStatus, StoredEvent
from backstory.recall.informative import informative
from backstory.search.excerpt import excerpt
from backstory.search.question import question
from backstory.store.passages import split_passages
from backstory.store.tokenizer import index_text, query_phrases

LONG = 120_000
CPU_SECONDS = 120  # some fifty times what the functions of one process need
NOW = 1_760_000_000_000
PUMPS = (
    " ", "\n", "\t", "[", "[[", "`", "```\n", '"', '\\"', "'", "(", "$(", "{", "<", "</", "<!--", "/*", "1", ".",
    "a", "a.", "a/", "a_", "aA", "-", "*", "**", "|", ";", "&&", "cd a && ", "hm ", "ok, ", "and ", "@", "a@",
    "=", "\\", "\x1b[", "汉", "é", "<system-reminder>", "<command-args>", "<hook_context>", "FAILED ", "- \n",
    "+ \n", "Error: ", "\r\n", "http://", "-----BEGIN ", "option 1 ",
)  # fmt: skip


def texts(size: int) -> list[str]:
    """Each pump many times, alone and with a start and an end that make it look like something."""
    return [
        before + pump * (size // len(pump)) + after
        for pump in PUMPS
        for before, after in (("", ""), ("we decided to use ", " instead of Postgres?\x00"))
    ]


def _sessions(text: str) -> None:
    """Sessions whose every text is hostile; some rules read short prompts only."""
    for size in (100, 590, 30_000):
        _session(
            text[:size], "There are two ways:\n1. Redis\n2. A cookie\n\nWhich one do you prefer?", "1 please"
        )
        _session(text[:size], f"a) {text[:size]}\nb) Redis\n\n{text[:size]} which one?", f"b, {text[:600]}")


def _session(text: str, answer: str, reply: str) -> None:
    given = [
        Event("claude-code", "s", Kind.PROMPT, NOW, text + " please fix the login page"),
        Event("claude-code", "s", Kind.SAID, NOW + 1, answer),
        Event("claude-code", "s", Kind.PROMPT, NOW + 2, reply),
        *(
            Event(
                "claude-code", "s", Kind.TOOL, NOW + 3 + n, text[:1_500], Action.RUN, "Bash", target, outcome
            )
            for n, (target, outcome) in enumerate(
                [(text[:4_000], Outcome.FAILED), ("pytest -q", Outcome.FAILED), ("pytest -q", Outcome.OK)]
            )
        ),
        Event("claude-code", "s", Kind.SAID, NOW + 9, text[:12_000]),
    ]
    events = [StoredEvent(f"e{n}", "s", 1 + n // 2, n, 0, event) for n, event in enumerate(given)]
    distil_session(
        Session(
            "s",
            "claude-code",
            "s",
            "p",
            "p",
            "",
            "",
            "startup",
            "/p",
            "main",
            "",
            NOW,
            NOW + 9,
            NOW + 9,
            "",
            SessionStatus.ENDED,
            2,
            len(events),
            "",
        ),
        events,
    )


def _hooks(agent: str, text: str) -> None:
    """Every event of an agent with the text wherever it may stand."""
    result = {
        "stdout": text,
        "stderr": text,
        "output": text,
        "content": text,
        "llmContent": text,
        "textResultForLlm": text,
    }
    payload = {
        "session_id": "s", "sessionId": "s", "cwd": "/p", "prompt": text, "message": text, "text": text,
        "tool_name": "Bash", "toolName": "bash", "tool": "bash", "tool_input": {"command": text},
        "toolArgs": text, "tool_response": text, "toolResult": result, "error": text, "trigger": "auto",
        "compact_summary": text, "last_assistant_message": text, "hook_event_name": "PostToolUse",
    }  # fmt: skip
    for event in (hook.name for hook in AGENTS[agent].hooks):
        for answer in (text, result):
            with contextlib.suppress(Unreadable, BackstoryError):
                AGENTS[agent].read_hook(event, {**payload, "tool_response": answer}, NOW)


def _refusing(read: Callable[[str], object], *refusals: type[Exception]) -> Callable[[str], object]:
    def tried(text: str) -> None:
        with contextlib.suppress(*refusals):
            read(text)

    return tried


READERS: dict[str, tuple[int, Callable[[str], object]]] = {
    "distil": (LONG, _sessions),
    **{f"hooks of {agent}": (LONG, partial(_hooks, agent)) for agent in sorted(AGENTS)},
    "shell": (LONG, shell.parse),
    "failure": (LONG, failure.telling_line),
    "runs backstory": (LONG, lambda text: runs_backstory("backstory " + text)),
    "without notes": (LONG, lambda text: without_notes("<backstory-notes" + text)),
    "cited": (LONG, cited_files),
    "jsonc": (LONG, _refusing(jsonc.parse, BackstoryError)),
    "payload": (LONG, _refusing(lambda text: parse_payload(b'{"prompt": "' + text.encode()), BadPayload)),
    "redaction": (LONG, lambda text: Redactor().redact(text)),
    "redaction of a name": (LONG, lambda text: Redactor().redact("password = " + text)),
    "neutral": (LONG, sanitized_line),
    "command stems": (LONG, normalize.command_stems),
    "informative": (LONG, lambda text: informative("step", "tool", text)),
    "command keys": (LONG, normalize.command_keys),
    "edit keys": (LONG, lambda text: normalize.edit_keys("a.py", text, "/p")),
    "error words": (LONG, error_signature.error_words),
    "files of an error": (LONG, error_signature.error_files),
    "first line": (LONG, pending_events.first_line),
    "without injected": (LONG, pending_events.without_injected),
    "tokenizer": (LONG, index_text),
    "phrases": (LONG, query_phrases),
    "passages": (LONG, lambda text: list(split_passages(text))),
    "question": (4_000, lambda text: question(text, NOW)),
    "excerpt": (LONG, lambda text: excerpt(text, "what about a.b?", 500)),
    "wiki line": (LONG, lambda text: markdown_page.line_with_links(text, ["a"], 300)),
    "wiki page": (LONG, split_front_matter),
    "model's answer": (LONG, _refusing(read_object, BackstoryError, ValueError)),
    "model's brackets": (
        LONG,
        lambda text: _refusing(read_object, ValueError)(f'{{"a":{"[" * len(text)}{"]" * len(text)}'),
    ),
}


def main(*names: str) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    for name in names:
        print(name, flush=True)
        size, read = READERS[name]
        for text in texts(size):
            read(text)


if __name__ == "__main__":
    main(*sys.argv[1:])
