"""The answering hook: prints the brief for the session that starts, or notes at work, and nothing else.

It reads four things (the payload, the prepared files of project and session, the spool) and writes one: the
receipt of what it gave, as a spool file. It never opens the database. Whatever goes wrong ends in a line in
`logs/hook.log` and silence; a timer of the kernel ends it at its deadline, even inside a C call.
"""

import os
import sys
import time
from _json import encode_basestring

from backstory.hook.agent_facts import facts_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from backstory.hook.brief_text import Brief, Row
    from backstory.hook.time_limit import TimeLimit

DEADLINE_MS = 2_000  # of processor time
_PATIENCE = 5  # so many times as long on the clock: agents wait 15 seconds
LOG_BYTES = 256 * 1024
_LOST = "Backstory could not write this session's start to its spool; `backstory doctor` explains."
_ROUNDING_MS = 600  # what is newer than this is never hidden by a clock that counts in seconds
_LONGEST_SILENCE = 10**10  # seconds; whoever says more does not count
_FORKED, _HEAD_BYTES = b'"forked_from_id":"', 4_096  # how Codex begins the rollout of a fork


def main(argv: list[str]) -> None:
    """`answer HOME AGENT EVENT [lost]` or, on Windows, `capture HOME AGENT EVENT`. Always exits 0."""
    if os.environ.get("BACKSTORY_GUARD"):
        os._exit(0)
    role, home, agent, event = argv[:4]
    try:
        if role == "capture":
            from backstory.hook import windows_hook

            windows_hook.capture_stdin(home, agent, event)
        else:
            text = answer_hook(home, agent, event, read_stdin(), lost="lost" in argv[4:])
            write_all(1, text.encode("utf-8", "replace"))
    except BaseException as error:  # nothing may reach the agent
        log_error(home, agent, event, error)
    os._exit(0)


def answer_hook(home: str, agent: str, event: str, data: bytes, lost: bool = False) -> str:
    """What to print for this payload; leaves the receipt. Empty if there is nothing to say."""
    from backstory.hook import deferred_brief, session_brief
    from backstory.hook.payload import BadPayload, parse_payload
    from backstory.hook.project_identity import ident
    from backstory.hook.time_limit import TimeLimit

    facts = facts_of(agent)
    if event in facts["delivers"] and (delivered := _delivered(home, agent, event, data)):
        return delivered
    if event in facts["notes"]:
        return _noted(home, agent, event, data)
    settings = session_brief.settings_file(home)
    deadline = session_brief.positive_number(settings.get("deadline_ms"), DEADLINE_MS) / 1000
    _arm(deadline, _PATIENCE * deadline)
    # the rest is for printing what was found until then
    until = TimeLimit(deadline / 2, _PATIENCE * deadline / 2)
    try:
        payload: dict[str, Any] = parse_payload(data)
    except BadPayload:
        if not lost:
            raise
        payload = {"cwd": os.getcwd()}  # what the agent sent went to a full disk
    cwd = payload.get("cwd")
    if not isinstance(cwd, str) or not cwd:
        raise BadPayload("no cwd")
    source = str(payload.get("source"))
    if source not in session_brief.SOURCES:
        source = "startup"
    native = ident(payload.get("session_id") or payload.get("sessionId"))
    asks = "prompt" in facts["notes"].values()
    owed = deferred_brief.owe_brief(home, agent, native, source) if asks else ""
    told = _brief(home, settings, agent, event, payload, source, until, lost)
    _flag(home, agent, event, settings, cwd)
    _arm(0, 0)
    deferred_brief.give_up(owed)
    receipt = _receipt(native, cwd, source, told)
    if facts["delivers"] and not lost and deferred_brief.hold_brief(home, native, told.text, receipt):
        return ""
    return _given(home, agent, event, told.text, receipt, seen_line(told.rows))


def _brief(
    home: str,
    settings: "dict[str, Any]",
    agent: str,
    event: str,
    payload: "dict[str, Any]",
    source: str,
    until: "TimeLimit",
    lost: bool = False,
) -> "Brief":
    """The brief of the session that a payload is of."""
    from backstory.hook import session_brief
    from backstory.hook.project_identity import ident

    return session_brief.brief_for(
        home,
        settings,
        payload["cwd"],
        agent,
        source,
        ident(payload.get("session_id") or payload.get("sessionId")),
        _Redact(settings),
        until,
        (_LOST,) if lost else (),
        failed=lambda error: log_error(home, agent, event, error),
        spoke=_last_spoke(payload),
        forked=_forked_from(payload) if source == "fork" else "",
    )


def _receipt(native: str, cwd: object, source: str, told: "Brief") -> "dict[str, Any]":
    """What is kept of having told something."""
    return {
        "session_id": native,
        "cwd": cwd,
        "source": source,
        "shown": told.shown,
        "chars": len(told.text),
        "tokens": round(told.tokens),
    }


def seen_line(rows: "list[Row]") -> str:
    """The one line that the user sees of a brief: how much was told."""
    notes, sessions = len(rows), len({row.session for row in rows if row.session})
    told = f"Backstory: {notes} note{'s' if notes > 1 else ''}"
    return f"{told} from {sessions} session{'s' if sessions > 1 else ''}" if sessions else told


def _flag(home: str, agent: str, event: str, settings: "dict[str, Any]", cwd: str) -> None:
    """Let notes come in this folder; a brief is given whatever becomes of that."""
    from backstory.hook import work_notes

    try:
        work_notes.put_flags(home, settings, cwd)
    except (OSError, ValueError) as error:
        log_error(home, agent, event, error)


def _delivered(home: str, agent: str, event: str, data: bytes) -> str:
    """What to print for the first prompt of a session whose brief was held back until now."""
    from backstory.hook import deferred_brief
    from backstory.hook.payload import parse_payload

    text, receipt = deferred_brief.take_brief(home, str(parse_payload(data).get("session_id") or ""))
    return _given(home, agent, event, text, receipt)


def _noted(home: str, agent: str, event: str, data: bytes) -> str:
    """What the memory has to say about a prompt or a tool's use; mostly nothing.

    With the session's own prompt also the brief that its start could not give in time.
    """
    from backstory.hook import deferred_brief, session_brief, work_notes
    from backstory.hook.payload import parse_payload
    from backstory.hook.project_identity import ident
    from backstory.hook.time_limit import TimeLimit

    kind = facts_of(agent)["notes"][event]
    processor, clock = work_notes.LIMITS[kind]
    _arm(processor, clock)
    payload = parse_payload(data)
    settings = session_brief.settings_file(home)
    native, subagent = (
        ident(payload.get("session_id") or payload.get("sessionId")),
        ident(payload.get("agent_id")),
    )
    cwd, told = payload.get("cwd"), []
    owed = deferred_brief.take_owed(home, agent, native) if kind == "prompt" and not subagent else ""
    if owed in session_brief.SOURCES and isinstance(cwd, str) and cwd:
        until = TimeLimit(processor / 2, clock / 2)
        told.append((owed, _brief(home, settings, agent, event, payload, owed, until)))
    told.append((kind, work_notes.notes_for(home, settings, agent, event, payload)))
    _arm(0, 0)
    for source, said in told:
        receipt = _receipt(native, cwd, source, said)
        if subagent:
            receipt["agent_id"] = subagent
        _leave(home, agent, event, said.text, receipt)
    text = "\n".join(said.text for _, said in told if said.text)
    return shape_answer(agent, event, text) if text else ""


def _given(home: str, agent: str, event: str, text: str, receipt: "dict[str, Any]", seen: str = "") -> str:
    """What to print so that the agent is told this now, and its user sees a line; leaves the receipt."""
    _leave(home, agent, event, text, receipt)
    return shape_answer(agent, event, text, seen) if text else ""


def _leave(home: str, agent: str, event: str, text: str, receipt: "dict[str, Any]") -> None:
    """Leave the receipt of a text, if there is one."""
    from backstory.hook import spool
    from backstory.hook.payload import encode_json

    if not text or not receipt["session_id"]:
        return
    receipt["at"] = time.time_ns() // 1_000_000
    try:
        spool.write_spooled(os.path.join(home, "spool"), agent, spool.RECEIPT, encode_json(receipt).encode())
    except OSError as error:  # a full disk: the brief is worth more than its receipt
        log_error(home, agent, event, error)


def _last_spoke(payload: "dict[str, Any]") -> int:
    """When the agent last answered in this context, as it counts in whole seconds; 0 if it does not say."""
    seconds = payload.get("seconds_since_last_response")
    if not isinstance(seconds, int | float) or not 0 <= seconds < _LONGEST_SILENCE:
        return 0
    return int(time.time_ns() // 1_000_000 - seconds * 1000 + _ROUNDING_MS)


def _forked_from(payload: "dict[str, Any]") -> str:
    """The session that a fork went out from, if the first line of its own history tells it, else ""."""
    from backstory.hook.project_identity import ident
    from backstory.hook.regular_file import read_head

    file = payload.get("transcript_path")
    head = read_head(file, _HEAD_BYTES) if isinstance(file, str) else b""
    told = head.partition(b"\n")[0].partition(_FORKED)[2].partition(b'"')[0]
    return ident(told.decode("utf-8", "replace"))


def shape_answer(agent: str, event: str, text: str, seen: str = "") -> str:
    """The brief in the form that the agent takes; UTF-8, so that its size is what was counted."""
    line = f'"systemMessage":{encode_basestring(seen)},' if seen and facts_of(agent)["visible"] else ""
    quoted = encode_basestring(text)
    if facts_of(agent)["top_level"]:
        return f'{{"additionalContext":{quoted}}}'
    name = encode_basestring(event)
    return f'{{{line}"hookSpecificOutput":{{"hookEventName":{name},"additionalContext":{quoted}}}}}'


class _Redact:
    """Takes secrets out of a text; loaded only when there is a text."""

    __slots__ = ("_redactor", "_settings")

    def __init__(self, settings: "dict[str, Any]") -> None:
        self._settings = settings
        self._redactor: Any = None

    def __call__(self, text: str) -> str:
        if self._redactor is None:
            from backstory.hook.redact import Redactor

            self._redactor = Redactor(off=tuple(self._settings.get("redact_off") or ()))
        return str(self._redactor.redact(text))


def _arm(processor: float, clock: float) -> None:
    """Let the kernel end this process then (see `TimeLimit`); 0 calls it off. It works inside C code too."""
    try:
        from _signal import ITIMER_PROF, ITIMER_REAL, setitimer  # type: ignore[import-not-found]
    except ImportError:  # Windows: the agent's own timeout must do
        return
    setitimer(ITIMER_PROF, processor)
    setitimer(ITIMER_REAL, clock)


def read_stdin() -> bytes:
    """All that the agent sent."""
    chunks = []
    while chunk := os.read(0, 1 << 20):
        chunks.append(chunk)
    return b"".join(chunks)


def write_all(fd: int, data: bytes) -> None:
    """All of it, in as few steps as the system takes."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def log_error(home: str, agent: str, event: str, error: BaseException) -> None:
    """One line about what went wrong, without anything of the payload; a large log is started anew."""
    where = ""
    trace = error.__traceback__
    while trace is not None:
        where = f" at {trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
        trace = trace.tb_next
    when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    line = " ".join(f"{when} {agent} {event}: {type(error).__name__}{where}: {error}".split())[:1_000]
    try:
        folder = os.path.join(home, "logs")
        if not os.path.isdir(folder):
            os.mkdir(folder, 0o700)  # never the home itself: it may have been deleted on purpose
        path = os.path.join(folder, "hook.log")
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NONBLOCK", 0), 0o600)
        try:
            if os.fstat(fd).st_size > LOG_BYTES:
                os.replace(path, path + ".1")
            os.write(fd, line.encode("utf-8", "replace") + b"\n")
        finally:
            os.close(fd)
    except OSError:
        pass


if __name__ == "__main__":
    main(sys.argv[1:])
