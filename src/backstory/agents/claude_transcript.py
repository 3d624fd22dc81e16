"""Claude Code's own transcripts (JSON lines), read into the same events that its hooks give.

A tool call is two lines, the use and the result; `Pairing` makes one event of them. A call that the next
prompt finds unanswered was interrupted. The client writes a line per block of a message, so each line of
text is one thing said; the last one is what a Stop hook reports. Our own injections come back as attachments
and are never read.

A fork's transcript begins with a copy of the conversation that it was forked from, in the times of the
original: what is older than the file's first line was written by somebody else.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path

from backstory.agents import claude_code
from backstory.agents.call_pairing import Call
from backstory.agents.claude_texts import (
    compact_summary,
    is_interruption,
    queued_text,
    typed_text,
    wording_id,
)
from backstory.agents.claude_tools import describe
from backstory.agents.history_source import JsonLines, Name
from backstory.agents.json_lines import LineReader, milliseconds
from backstory.agents.own_output import without_notes
from backstory.agents.payload_fields import (
    INPUT_LIMIT,
    flatten_text,
    head_and_tail,
    ident,
    mapping,
    path,
    string,
    token_sum,
)
from backstory.model import Event, Kind, Outcome, Where

ORIGIN = "history"

# Lines that say nothing about what happened. Anything else that we do not know is counted as unknown.
_BOOKKEEPING = frozenset(
    {
        "last-prompt", "mode", "permission-mode", "cost-state",
        "tools-used", "atis-latch", "api-request", "api-request-shape", "api-request-blob",
        "file-history-snapshot", "progress", "agent-name", "agent-color", "tag", "pr-link",
        "worktree-state", "content-replacement",
    }
)  # fmt: skip
# Lines that say what the session is called, the least to be believed first, and where in them.
_TITLES = {"summary": "summary", "ai-title": "aiTitle", "custom-title": "customTitle"}
# A line's own type stands near its beginning, behind plain values; most bookkeeping is not even parsed.
_TYPE, _NEAR = b'"type":"', 600
_PASSED_OVER = frozenset(kind.encode() for kind in _BOOKKEEPING)
_CONVERSATION = frozenset(("user", "assistant", "system", "attachment"))
# Lines of one moment are not written in the order of their times. A session that begins with an accepted plan
# stamps its first prompt up to seconds before the line that opens the file.
_JITTER_MS, _OPENING_MS = 500, 10_000
# What a message took; what came out of a cache was sent, and paid for, before.
_SPENT = ("input_tokens", "cache_creation_input_tokens", "output_tokens")
_SESSION_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_TURN_OVER = frozenset(("stop_hook_summary", "turn_duration"))

Make = Callable[..., Event]
Row = Mapping[str, object]


def read_lines(lines: Iterable[bytes], session: str, counts: Counter[str] | None = None) -> Iterator[Event]:
    """All events of one transcript. Lines that cannot be read are skipped and counted."""
    reader = Reader(session, counts=counts)
    for line in lines:
        yield from reader.feed(line)
    yield from reader.held()


class Reader(LineReader):
    """Reads one transcript line by line, from its beginning, a prompt (`turn_start`) or `offset`.

    `counts` gains: blank, malformed, unknown (no type we know), skipped (known, and no event), orphans
    (results whose call was not read), copied (lines of the session that this one was forked from), tokens
    (that the agent wrote down as spent).
    """

    def __init__(
        self, session: str, offset: int = 0, transcript: str = "", counts: Counter[str] | None = None
    ) -> None:
        super().__init__(session, offset, transcript)
        if counts is not None:
            self.counts = counts
        self._titled_by = ""
        self._summaries: dict[str, str] = {}
        self._last_line = ""
        self._at = 0
        self._where = Where()
        self._knows_prompt = offset == 0
        self._prompt = ""
        self._prompt_line = ""
        self._last_words = ""
        self._turn_open = False
        self._trigger = ""
        self._opened_at = 0 if offset == 0 else -1
        self._begins = offset == 0
        self._is_copy = False
        self._message = ""
        self._queue: list[tuple[int, str]] = []  # offset and text of what waits in the queue
        # Messages seen once that may be told a second time: above 0 by the queue, below by attachments.
        self._told_once: Counter[str] = Counter()

    @property
    def offset(self) -> int:
        """Everything before this byte has been given, nothing after it."""
        return min([super().offset, *(at for at, _ in self._queue)])

    def passes_over(self, line: bytes) -> bool:
        """Bookkeeping is not even parsed, once it is known whose transcript this is."""
        return bool(self._opened_at and line.endswith(b"}\n") and _type_at_start(line) in _PASSED_OVER)

    # --- rows ---------------------------------------------------------------------------------------------

    def row(self, row: Row) -> None:
        """What one line means."""
        kind = string(row.get("type"))
        message = row.get("message")
        if not isinstance(message, dict):
            message = row if "content" in row else {}
        role = string(message.get("role")) or kind
        if not self._opened_at:
            self._opened_at = milliseconds(row.get("timestamp"))
        if line_id := string(row.get("uuid")):
            self._last_line = line_id
            if self._summaries and line_id in self._summaries:
                self._call_it(self._summaries.pop(line_id), "summary")
        if self._copied(row, kind):
            self.counts["copied"] += 1
        elif kind in _TITLES:
            self._entitled(row, kind)
        elif kind == "system":
            self._system(row)
        elif kind == "attachment":
            self._attachment(row, mapping(row.get("attachment")))
        elif kind == "queue-operation":
            self._queued(row, string(row.get("operation")), queued_text(flatten_text(row.get("content"))))
        elif kind in _BOOKKEEPING or row.get("isMeta") is True:
            self.counts["skipped"] += 1
        elif role == "user" and "content" in message:
            self._user(row, message.get("content"))
        elif role == "assistant" and "content" in message:
            self._assistant(row, message)
        else:
            self.counts["skipped" if role == "system" else "unknown"] += 1

    def _entitled(self, row: Row, kind: str) -> None:
        """A title of this session; a summary names the last line of the session that it is of."""
        self.counts["skipped"] += 1
        if string(row.get("sessionId")) not in ("", self.session):
            return
        title, leaf = string(row.get(_TITLES[kind])).strip(), string(row.get("leafUuid"))
        if kind == "summary" and leaf != self._last_line:
            self._summaries[leaf] = title
        else:
            self._call_it(title, kind)

    def _call_it(self, title: str, kind: str) -> None:
        kinds = list(_TITLES)
        if title and (not self._titled_by or kinds.index(kind) >= kinds.index(self._titled_by)):
            self.title, self._titled_by = title, kind

    def _copied(self, row: Row, kind: str) -> bool:
        """Whether a line was copied from the session that this one was forked from."""
        if "forkedFrom" in row:
            return True
        if (self._begins or self._is_copy) and kind in ("user", "assistant"):
            slack = _OPENING_MS if self._begins else _JITTER_MS
            self._begins = False
            self._is_copy = 0 < milliseconds(row.get("timestamp")) < self._opened_at - slack
        return self._is_copy and kind in _CONVERSATION

    def _maker(self, row: Row) -> Make:
        cwd, branch = path(row.get("cwd")), string(row.get("gitBranch"))
        branch = "" if branch == "HEAD" else branch
        if (cwd, branch) != (self._where.cwd, self._where.branch):
            self._where = Where(cwd, branch)
        subagent = ident(row.get("agentId")) if row.get("isSidechain") is True else ""
        self._at = milliseconds(row.get("timestamp")) or self._at
        return partial(
            Event,
            claude_code.NAME,
            self.session or ident(row.get("sessionId")),
            at=self._at,
            transcript=self.transcript,
            where=self._where,
            subagent=subagent,
            subagent_type=ident(row.get("attributionAgent")) if subagent else "",
            origin=ORIGIN,
        )

    def _system(self, row: Row) -> None:
        subtype = row.get("subtype")
        if subtype == "compact_boundary":  # the summary follows
            self._trigger = ident(mapping(row.get("compactMetadata")).get("trigger"))
        elif subtype in _TURN_OVER and self._turn_open and row.get("isSidechain") is not True:
            self._turn_open = False
            if self._prompt:  # otherwise it began before we read, or the client gives its prompts no ids
                native_id = wording_id(self._prompt, self._last_words)
                self.pairs.add(self._maker(row)(Kind.TURN_ENDED, outcome=Outcome.OK, native_id=native_id))
        else:
            self.counts["skipped"] += 1

    def _attachment(self, row: Row, attachment: Row) -> None:
        """One kind is the user's: what was typed while the agent worked, taken in under the same prompt."""
        text = (
            queued_text(flatten_text(attachment.get("prompt")))
            if attachment.get("type") == "queued_command"
            else ""
        )
        if text and self._knows_prompt:
            self._taken_in(row, text, ident(row.get("uuid")), -1)
        else:
            self.counts["skipped"] += 1

    def _taken_in(self, row: Row, text: str, line_id: str, by: int) -> None:
        """A message that the agent has read while it works; `by` the queue (1) or an attachment (-1)."""
        if self._told_once[text] * by >= 0:
            self._prompted(self._maker(row), text, self._prompt, line_id)
        self._told_once[text] += by

    def _queued(self, row: Row, operation: str, text: str) -> None:
        """A message typed while the agent works: removed from the queue, the agent has taken it in.

        A dequeued one follows as a prompt of its own. Newer clients also write what was taken in as an
        attachment, under the same words.
        """
        self.counts["skipped"] += 1
        if operation == "enqueue":
            self._queue.append((self.read, text))
        elif operation in ("remove", "dequeue") and self._queue:
            _, text = self._queue.pop(0)
            if operation == "remove" and text and self._knows_prompt:
                self._taken_in(row, text, f"queued-{ident(row.get('timestamp'))}", 1)
        elif operation == "popAll":  # taken back by the user to be edited
            self._queue.clear()

    def _user(self, row: Row, content: object) -> None:
        make = self._maker(row)
        blocks = content if isinstance(content, list) else [content]
        results = [b for b in blocks if isinstance(b, dict) and b.get("type") == "tool_result"]
        for block in results:
            self._result(make, block, row.get("toolUseResult") if len(results) == 1 else None)
        texts = "\n".join(filter(None, (_text_of(block) for block in blocks)))
        sidechain = row.get("isSidechain") is True
        prompt_id = ident(row.get("promptId"))
        if prompt_id and not sidechain:  # also of what nobody typed, such as the news of a background task
            self._prompt, self._knows_prompt = prompt_id, True
        if row.get("isCompactSummary") is True:
            text = compact_summary(texts)
            native_id = wording_id(prompt_id, text) or ident(row.get("uuid"))
            self.pairs.add(make(Kind.COMPACTED, text=text, reason=self._trigger, native_id=native_id))
        elif is_interruption(texts) and not sidechain:
            self._interrupted(make)
        elif not sidechain and (text := typed_text(texts)):
            if results:  # said beside the results, while the agent works
                self._prompted(make, text, self._prompt, ident(row.get("uuid")))
            else:
                self._typed(make, text, prompt_id, ident(row.get("uuid")))
        elif not results:
            self.counts["skipped"] += 1  # a sub-agent's task is in the call that started it

    def _typed(self, make: Make, text: str, prompt_id: str, line_id: str) -> None:
        self.give_up()
        self.turn_start = self.read
        self._knows_prompt = True
        self._prompt, self._prompt_line = prompt_id, prompt_id or line_id
        self._last_words, self._turn_open = "", True
        self._prompted(make, text, prompt_id, line_id)

    def _prompted(self, make: Make, text: str, prompt_id: str, line_id: str) -> None:
        shown = without_notes(text)
        native_id = wording_id(prompt_id, text) or line_id
        self.pairs.add(
            make(Kind.PROMPT, text=head_and_tail(shown, INPUT_LIMIT), native_id=native_id, recalled=not shown)
        )

    def _interrupted(self, make: Make) -> None:
        self.give_up()
        self._turn_open = False
        if turn := self._prompt or self._prompt_line:
            native_id, outcome = f"{turn}:interrupted", Outcome.INTERRUPTED
            self.pairs.add(make(Kind.TURN_ENDED, outcome=outcome, reason="interrupted", native_id=native_id))

    def _assistant(self, row: Row, message: Row) -> None:
        if string(message.get("id")) != self._message:  # each block of a message repeats what it took
            self._message = string(message.get("id"))
            self.counts["tokens"] += token_sum(mapping(message.get("usage")), _SPENT)
        make = self._maker(row)
        content = message.get("content")
        blocks = content if isinstance(content, list) else [content]
        uses = [
            b for b in blocks if isinstance(b, dict) and b.get("type") == "tool_use" and ident(b.get("id"))
        ]
        for use in uses:
            self._call(make, use)
        thoughts = (b.get("thinking") for b in blocks if isinstance(b, dict) and b.get("type") == "thinking")
        thought = without_notes("\n".join(filter(None, map(string, thoughts))).strip())
        if thought:
            native_id = ident(row.get("uuid"))
            self.pairs.add(make(Kind.REASONED, text=head_and_tail(thought, INPUT_LIMIT), native_id=native_id))
        text = "\n".join(filter(None, (_text_of(block) for block in blocks))).strip()
        if row.get("isApiErrorMessage") is True:
            self._failed(make, text, flatten_text(row.get("error")))
            return
        if message.get("model") == "<synthetic>":
            self.counts["skipped"] += 1
            return
        sidechain = row.get("isSidechain") is True
        if text and (self._knows_prompt or sidechain):
            self.pairs.add(claude_code.assistant_event(text, "" if sidechain else self._prompt, make))
        if sidechain and message.get("stop_reason") == "end_turn" and row.get("attributionAgent"):
            native_id = wording_id(ident(row.get("agentId")), text)
            self.pairs.add(make(Kind.SUBAGENT_ENDED, outcome=Outcome.OK, native_id=native_id))
        if not sidechain:
            self._last_words = text
            self._turn_open = self._turn_open or bool(text)

    def _failed(self, make: Make, text: str, error: str) -> None:
        self.pairs.add(
            make(
                Kind.TURN_FAILED,
                text=head_and_tail(text, INPUT_LIMIT),
                outcome=Outcome.FAILED,
                reason=head_and_tail(error, 200),
                native_id=self._prompt or self._prompt_line,
            )
        )
        self._turn_open = False

    # --- tool calls -----------------------------------------------------------------------------------------

    def _call(self, make: Make, use: Row) -> None:
        call_id, name = ident(use.get("id")), ident(use.get("name"))
        self.pairs.call(Call(call_id, self.read, name, mapping(use.get("input")), make))

    def _result(self, make: Make, block: Row, response: object) -> None:
        call = self.pairs.answered(ident(block.get("tool_use_id")))
        if call is None:
            self.counts["orphans"] += 1
            return
        content = block.get("content")
        error = flatten_text(content) if block.get("is_error") is True else None
        self._used(call, make, content if response is None else response, error)

    def give_up(self) -> None:
        """The conversation went on: what it still waited for was interrupted."""
        for call in self.pairs.abandoned():
            self._used(call, call.make, None, None, interrupted=True)

    def _used(
        self,
        call: Call,
        make: Make,
        response: object,
        error: str | None,
        interrupted: bool = False,
    ) -> None:
        use = describe(call.name, call.inputs, response, error, interrupted)
        self.pairs.add(use.event(make, call.name, call.id))


def _type_at_start(line: bytes) -> bytes:
    at = line.find(_TYPE, 0, _NEAR)
    if at < 0 or b"{" in line[1:at] or b"[" in line[1:at]:
        return b""  # too far away, or not the line's own
    at += len(_TYPE)
    return line[at : line.find(b'"', at)]


def _text_of(block: object) -> str:
    if isinstance(block, str):
        return block
    return string(block.get("text")) if isinstance(block, dict) and block.get("type") == "text" else ""


def _named(row: Row, file: Path) -> Name | None:
    """A file is named after its session; a sub-agent's lies below it and says so in every line."""
    session = ident(row.get("sessionId"))
    if not session:
        return None
    if row.get("isSidechain") is True and file.stem.startswith("agent-"):
        return Name(session, subagent=ident(row.get("agentId")))
    return Name(file.stem if _SESSION_ID.fullmatch(file.stem) else session)


HISTORY = JsonLines(root=claude_code.history_dir, read=Reader, names=_named)
