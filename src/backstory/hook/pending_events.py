"""What still waits in the spool, as rows for the brief.

A session that ended a second ago, however it ended, must be in the next brief though nobody has distilled
it yet. So the newest files of this project are read as they lie there and summed up by session: what was
asked and what failed in its own words, the rest as lists. What may not be kept may not be shown either;
what cannot be read is left to the drain.
"""

from backstory.hook import spool
from backstory.hook.brief_text import Row, rows_of, shorten
from backstory.hook.ignore_globs import glob_matches, ignores_any, ignores_folder
from backstory.hook.payload import BadPayload, parse_payload
from backstory.hook.project_identity import LONGEST_PATH, Place, ident, resolve_place, session_id
from backstory.hook.remote_code import as_told, runs_remote_code
from backstory.hook.untrusted_text import quoted_output

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from backstory.hook.time_limit import TimeLimit

NEWEST = 300
LARGEST = 2 * 1024 * 1024
LARGEST_TOOL = 256 * 1024  # a larger one holds a tool's output, of which nothing would be shown
_SESSIONS = 4
_PROMPTS = 3
_FAILURES = 5
_FOLDERS = 50
_TEXT = 20_000  # of a text, that much is redacted, and then shortened; a longer command is not told
_MOST_NAMES = 2_000  # what is given more words and values than that may be about any file
_ROUNDS = 5  # what is cut out may leave another mark behind
_SAID_CHARS = 500
_OLDER_CHARS = 250
_LIST_CHARS = 400
#: Events of which nothing is shown; the shell knows them, too.
TELLS_NOTHING = ("SessionStart", "sessionStart", "SessionEnd", "sessionEnd", "SubagentStop", spool.RECEIPT)
_WRITES = (
    *("Write", "Edit", "MultiEdit", "NotebookEdit"),
    *("write", "write_file", "edit", "create", "replace", "apply_patch"),
)
_OUR_TOOLS = ("mcp__backstory__", "mcp__plugin_backstory_", "mcp_backstory_", "backstory-", "backstory_")
_TOOL_EVENTS = ("PostToolUse", "AfterTool")
_ENDS = 400  # in how much of an answer's end its exit code stands
_INJECTED = (
    ("<backstory-notes", "</backstory-notes>"),
    ("<hook_context>", "</hook_context>"),
    ("<system_notification>", "</system_notification>"),
)
_REFERENCED = "--- Content from referenced files ---"  # what an @ named, in Gemini CLI and Qwen Code
_SECTIONS = ("Error: ", "Exit Code: ", "Signal: ", "Background PIDs: ", "Process Group PGID: ")


class Waiting:
    """What one session left in the spool, newest first."""

    __slots__ = (
        "agent",
        "asked",
        "at",
        "events",
        "failed",
        "id",
        "notes",
        "passed",
        "ran",
        "said",
        "written",
    )

    def __init__(self, agent: str, id: str, at: int) -> None:
        self.agent = agent
        self.id = id
        self.at = at
        self.events = 0
        self.asked: list[tuple[str, int]] = []
        self.failed: list[tuple[str, str, int]] = []
        self.passed: dict[str, int] = {}
        self.ran: dict[str, int] = {}  # how it ended is not told
        self.written: dict[str, int] = {}
        self.said: tuple[str, int] = ("", 0)
        self.notes: list[Row] = []


def pending_rows(
    folder: str,
    place: Place,
    settings: "dict[str, Any]",
    redact: "Callable[[str], str]",
    forgotten: "Iterable[str]" = (),
    until: "TimeLimit | None" = None,
    joined: "Callable[[Place, str], bool] | None" = None,
) -> list[Row]:
    """Rows about what waits for this place's project, newest session first; stops at `until`."""
    sessions = pending_sessions(folder, place, settings, frozenset(forgotten), until, joined)
    found = [note for session in sessions for note in session.notes]
    for session in [session for session in sessions if session.events][:_SESSIONS]:
        found += _rows_of(session, place.root, redact)
    return found


def pending_sessions(
    folder: str,
    place: Place,
    settings: "dict[str, Any]",
    forgotten: frozenset[str],
    until: "TimeLimit | None" = None,
    joined: "Callable[[Place, str], bool] | None" = None,
) -> list[Waiting]:
    """The sessions of this project that have files waiting, newest first."""
    sessions: dict[str, Waiting] = {}
    ours = _Ours(place, settings, joined)
    for entry in reversed(spool.spool_entries(folder, NEWEST, until)):
        largest = LARGEST_TOOL if entry.name.event in _TOOL_EVENTS else LARGEST
        if entry.name.event in TELLS_NOTHING or entry.size > largest:
            continue
        if until is not None and until.passed():
            break
        data = spool.read_spooled(entry.path)
        if data is None or not ours.may_hold(data):
            continue
        try:
            payload = parse_payload(data)
        except (BadPayload, SystemError):  # the second is what Python 3.11's C scanner makes of an error
            continue
        native = payload.get("parent_agent_id") or payload.get("session_id") or payload.get("sessionId")
        if not ours.holds(payload.get("cwd")) or not isinstance(native, str):
            continue
        sid = session_id(entry.name.agent, ident(native))
        if sid in forgotten:
            continue
        session = sessions.get(sid)
        if session is None:
            session = sessions[sid] = Waiting(entry.name.agent, sid, entry.mtime_ns // 1_000_000)
        if entry.name.agent == spool.USER:
            session.notes += rows_of([payload.get("row")])
        else:
            _note(session, entry, payload, settings)
    return [session for session in sessions.values() if session.events or session.notes]


class _Ours:
    """Tells this project's payloads from others'; each folder is looked up once."""

    __slots__ = ("_folders", "_identity", "_joined", "_settings")

    def __init__(
        self,
        place: Place,
        settings: "dict[str, Any]",
        joined: "Callable[[Place, str], bool] | None" = None,
    ) -> None:
        self._identity = place.identity
        self._settings = settings
        self._joined = joined
        self._folders: dict[str, bool] = {}

    def may_hold(self, data: bytes) -> bool:
        """A look at the bytes, to spare parsing: does any `"cwd"` name one of our folders?"""
        at = data.find(b'"cwd":')
        while at >= 0:
            start = data.find(b'"', at + 6)
            end = data.find(b'"', start + 1) if start >= 0 else -1
            if end < 0:  # cut off inside the folder's name
                return False
            literal = data[start + 1 : end]
            if b"\\" in literal or self.holds(literal.decode("utf-8", "replace")):
                return True
            at = data.find(b'"cwd":', end + 1)
        return False

    def holds(self, cwd: object) -> bool:
        """Whether a folder belongs to the project and is not ignored."""
        if not isinstance(cwd, str) or not cwd:
            return False
        known = self._folders.get(cwd)
        if known is None:
            if len(self._folders) >= _FOLDERS:
                return False
            if ignores_folder(cwd, self._settings.get("ignore_projects") or []):
                known = False
            else:
                chosen = self._settings
                place = resolve_place(
                    cwd, chosen.get("confirmed"), chosen.get("monorepo") or (), self._joined
                )
                known = place.identity == self._identity
            self._folders[cwd] = known
        return known


def _note(
    session: Waiting, entry: spool.Entry, payload: "dict[str, Any]", settings: "dict[str, Any]"
) -> None:
    """Take from one payload what its session's rows will tell."""
    at = entry.mtime_ns // 1_000_000
    main = not payload.get("agent_id")  # what a sub-agent says is not the session's word
    tool = _text(payload.get("tool_name") or payload.get("toolName"))
    if tool:
        _note_tool(session, tool, at, payload, settings)
        return
    said = _text(payload.get("last_assistant_message") or payload.get("prompt_response"))
    # Gemini repeats the prompt beside what was said
    prompt = "" if said else without_injected(_text(payload.get("prompt")))
    if prompt and main:
        session.asked.append((prompt, at))
    if said and main and not session.said[0]:
        session.said = (said, at)
    session.events += 1 if prompt or said else 0


def _note_tool(
    session: Waiting, tool: str, at: int, payload: "dict[str, Any]", settings: "dict[str, Any]"
) -> None:
    given = payload.get("tool_input")
    given = given if isinstance(given, dict) else {}
    command = _text(given.get("command"))
    named = (given.get(key) for key in ("file_path", "filePath", "notebook_path", "path"))
    path = next(filter(None, map(_text, named)), "")
    if tool.startswith(_OUR_TOOLS) or runs_backstory(command):
        return
    if any(glob_matches(tool, glob) for glob in settings.get("skip_tools") or ()):
        return
    error = _text(payload.get("error")) or _error_in_answer(payload)
    if _touches(settings.get("ignore_paths") or [], given, _words(command), error):
        return
    session.events += 1
    patch, command = command, command if len(command) <= _TEXT else ""
    what = command or f"{tool} {path}".strip()
    if tool == "apply_patch":
        for file in patched_files(patch):
            session.written.setdefault(file, at)
    elif error and not payload.get("is_interrupt"):
        session.failed.append((what, error, at))
    elif command and not error:
        told = not isinstance(payload.get("tool_response"), str)  # Codex gives the output alone
        (session.passed if told else session.ran).setdefault(command, at)
    elif path and tool in _WRITES and not error:
        session.written.setdefault(path, at)


def _touches(ignored: "list[str]", given: "dict[str, Any]", words: list[str], error: str) -> bool:
    """Whether a tool was about an ignored file: by what it was given, or by what a search answered."""
    if not ignored:
        return False
    named = [value for value in given.values() if isinstance(value, str)]
    found = [line.partition(":")[0] for line in error.splitlines()]
    said = dict.fromkeys((*named, *words, *found))
    if len(said) > _MOST_NAMES:
        return True  # what nobody can tell in time is not told
    # `git show HEAD:.env`
    said.update(dict.fromkeys(word.rpartition(":")[2] for word in words if ":" in word))
    folders = [name.rstrip("/") for name in named if " " not in name]
    below = words[: min(_WORDS_MOST, _MOST_NAMES // max(1, len(folders)))]
    said.update(dict.fromkeys(f"{folder}/{word}" for folder in folders for word in below))
    return ignores_any((word for word in said if 0 < len(word) <= LONGEST_PATH), ignored)


_WORDS_MOST = 40  # words of a command that are looked at below each folder which its tool was given
_PATCHED = ("*** Add File: ", "*** Update File: ", "*** Delete File: ")


def patched_files(patch: str) -> list[str]:
    """The files that a patch in Codex's own form touches."""
    lines = patch.splitlines()
    return [line.partition(": ")[2].strip() for line in lines if line.startswith(_PATCHED)]


def _error_in_answer(payload: "dict[str, Any]") -> str:
    """What a tool failed with, where no event of its own says so."""
    response, result = payload.get("tool_response"), payload.get("tool_result")
    if isinstance(response, dict):
        error = response.get("error")
        if told := _text(error.get("message") if isinstance(error, dict) else error):
            return told
        return _failed(_text(response.get("llmContent")), "Output: ", "\nExit Code: ", "\n", "\nExit Code: ")
    if isinstance(result, dict):
        answer = _text(result.get("text_result_for_llm"))
        return _failed(answer, "", " completed with exit code ", ">", "<shellId: ")
    return ""


def _failed(answer: str, before: str, label: str, after: str, end: str) -> str:
    """The output of a command whose exit code, behind `label` near the end of its answer, is not 0."""
    at = answer.rfind(label, max(0, len(answer) - _ENDS))
    code = answer[at + len(label) :].partition(after)[0].strip() if at >= 0 else ""
    if not code or code == "0":
        return ""
    output = answer[: answer.rfind(end)]
    return f"Exit code {code}\n{output[output.find(before) + len(before) :]}"


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


_SIGNS = dict.fromkeys(map(ord, "\n;|&()`$\"'{}=<>,"), " ")


def _words(command: str) -> list[str]:
    """What could be a program or a file in a command, whatever quotes and signs stand around it."""
    return command.translate(_SIGNS).split()


def without_injected(text: str) -> str:
    """A prompt without the block that an agent put our own notes into, and without the files it names."""
    for opening, closing in _INJECTED:
        for _ in range(_ROUNDS):
            if opening not in text:
                break
            text = _without_blocks(text, opening, closing)
        text = text.partition(opening)[0]
    return text.partition(_REFERENCED)[0].strip()


def _without_blocks(text: str, opening: str, closing: str) -> str:
    """A text without what stands between two marks; what is not closed goes to the end."""
    kept, at = [], 0
    while (start := text.find(opening, at)) >= 0:
        kept.append(text[at:start])
        end = text.find(closing, start)
        at = end + len(closing) if end >= 0 else len(text)
    return "".join(kept) + text[at:]


def runs_backstory(command: str) -> bool:
    """Whether a command seems to run us; what we said there must not come back as news. Errs to yes."""
    if "backstory" not in command:
        return False
    words = _words(command)
    return any(
        word.rpartition("/")[2] == "backstory" or (word.startswith("backstory") and words[at - 1] == "-m")
        for at, word in enumerate(words)
    )


def _rows_of(session: Waiting, root: str, redact: "Callable[[str], str]") -> list[Row]:
    """The best of each kind first, then older prompts and failures: a brief may have room for few."""

    def row(text: str, at: int, by: str = "") -> Row:
        return Row(session.id, "now", text, at, session.agent, session.id, by=by)

    def clean(text: str, limit: int = _SAID_CHARS) -> str:
        return shorten(" ".join(redact(text[:_TEXT]).split()), limit)

    asked = [
        row(f"The user asked: “{clean(prompt, _OLDER_CHARS if number else _SAID_CHARS)}”", at, "user")
        for number, (prompt, at) in enumerate(session.asked[:_PROMPTS])
    ]
    failed: dict[str, Row] = {}
    for what, error, at in session.failed:
        if what not in failed and len(failed) < _FAILURES:
            why = shorten(quoted_output(" ".join(first_line(redact(error[:_TEXT])).split())), _OLDER_CHARS)
            after = " (passed later)" if session.passed.get(what, 0) > at else ""
            tried = clean(as_told(what), _OLDER_CHARS).replace(root + "/", "")
            failed[what] = row(f"Failed: {tried} → {why}{after}", at)
    failures = list(failed.values())
    digest = []
    if session.said[0]:
        digest.append(row(f"The agent said last: “{clean(session.said[0])}”", session.said[1]))
    if session.written:
        names = [path[len(root) + 1 :] if path.startswith(root + "/") else path for path in session.written]
        digest.append(row(f"Files written: {_list(names, redact)}", max(session.written.values())))
    passed_here = [command for command in session.passed if not runs_remote_code(command)]
    if passed_here:
        passed = _list(passed_here, redact)
        digest.append(row(f"Commands that passed: {passed}", max(session.passed.values())))
    if session.ran:
        digest.append(
            row(f"Commands run: {_list(list(map(as_told, session.ran)), redact)}", max(session.ran.values()))
        )
    if session.events > 1:
        digest.append(row(f"{session.events} events of this session wait to be distilled.", session.at))
    return [*asked[:1], *failures[:2], *digest, *asked[1:], *failures[2:]]


def first_line(error: str) -> str:
    """The line of an error that tells most: after a bare exit code the first one, of a traceback the last."""
    lines = [line.strip() for line in error.splitlines() if line.strip()]
    if lines and lines[0].startswith("Command: "):
        lines = _output(lines) or lines
    code = ""
    if len(lines) > 1 and lines[0].startswith("Exit code "):
        code = f" ({lines[0].lower()})"
        lines = lines[1:]
    traced = any(line.startswith("Traceback (most recent call last)") for line in lines)
    return (lines[-1] if traced else lines[0]) + code if lines else ""


def _output(lines: list[str]) -> list[str]:
    """The output among the sections in which Qwen Code tells of a command."""
    begin = next((at for at, line in enumerate(lines) if line.startswith("Output: ")), len(lines))
    while lines and lines[-1].startswith(_SECTIONS):
        lines = lines[:-1]
    return [line.removeprefix("Output: ") for line in lines[begin:]]


def _list(items: list[str], redact: "Callable[[str], str]") -> str:
    """Newest first, as many as fit in a row, and how many more there are."""
    text = ""
    for number, item in enumerate(items):
        one = shorten(" ".join(redact(item[:_TEXT]).split()), 120)
        if text and len(text) + len(one) > _LIST_CHARS:
            return f"{text} · and {len(items) - number} more"
        text = f"{text} · {one}" if text else one
    return text
