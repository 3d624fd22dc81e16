"""Codex's own rollouts (JSON lines), read into the same events that its hooks give.

Newer versions record each finished command, patch and MCP call as an item, with its exit code; those are
taken as they are. In older rollouts, and for tools without an item, a call and its output are paired. What
was said stands twice in many of them, as a message and as an event: it is taken once. Our own injections come
back in the developer's role, which is never read.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from backstory.agents import codex
from backstory.agents.call_pairing import Call
from backstory.agents.claude_code import assistant_event
from backstory.agents.claude_texts import wording_id
from backstory.agents.codex_texts import compaction_summary, rollout_prompt, typed_text, working_folder
from backstory.agents.codex_tools import Result, call_result, canonical_call, finished_call, tool_uses
from backstory.agents.history_source import JsonLines, Name, first_rows
from backstory.agents.json_lines import ORIGIN, LineReader, Row, milliseconds
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

Make = Callable[..., Event]

# Rows and events that say nothing about what happened. Anything else that we do not know is unknown.
_BOOKKEEPING = frozenset(
    {
        "world_state", "token_usage_record", "thread_settings_applied", "thread_rolled_back",
        "thread_name_updated", "item_started", "agent_reasoning_section_break", "turn_diff", "error",
        "stream_error", "warning", "entered_review_mode", "exited_review_mode", "ghost_snapshot",
        "context_compacted", "additional_tools", "inter_agent_communication",
        "inter_agent_communication_metadata",
        "mcp_tool_call_end", "exec_command_end", "patch_apply_end", "web_search_end", "view_image_tool_call",
    }
)  # fmt: skip
# The newest models call every tool from a script; what the script called is recorded as items.
_SCRIPTS = frozenset(("exec", "wait"))


class Reader(LineReader):
    """Reads one rollout, of a session or of a sub-agent, as its first line says."""

    def __init__(self, session: str, offset: int = 0, transcript: str = "") -> None:
        super().__init__(session, offset, transcript)
        self._subagent = ""
        self._subagent_type = ""
        self._cwd = ""
        self._branch = ""
        self._at = 0
        self._turn = ""
        self._asked: tuple[str, set[str]] = ("", set())
        self._told: set[tuple[str, str]] = set()
        self._items: set[str] = set()  # calls that items tell of
        self._compactions = 0
        self._meta_seen = False
        if offset and transcript:
            self._begin_in_the_middle(Path(transcript))

    def _begin_in_the_middle(self, file: Path) -> None:
        try:
            head = next(first_rows(file), {})
        except OSError:
            return
        kind, payload = _opened(head)
        if kind == "session_meta":
            self._session_meta(payload)

    # --- rows ---------------------------------------------------------------------------------------------

    def row(self, row: Row) -> None:
        """What one line means."""
        self._at = milliseconds(row.get("timestamp")) or self._at
        kind, payload = _opened(row)
        match kind:
            case "response_item":
                self._item(string(payload.get("type")), payload, row)
            case "event_msg":
                self._event(string(payload.get("type")), payload)
            case "turn_context":
                self._cwd = path(payload.get("cwd")) or self._cwd
                self._enter(ident(payload.get("turn_id")))
            case "session_meta":
                if not self._meta_seen:  # a fork copies its parent's after its own
                    self._session_meta(payload)
            case "compacted":
                self._compacted(payload)
            case _:
                self.counts["skipped" if kind in _BOOKKEEPING else "unknown"] += 1

    def _spent(self, payload: Row) -> None:
        """What the last call of the model took, without what came out of a cache."""
        last = mapping(mapping(payload.get("info")).get("last_token_usage"))
        self.counts["tokens"] += token_sum(last, ("input_tokens", "output_tokens"))
        self.counts["tokens"] -= min(
            token_sum(last, ("cached_input_tokens",)), token_sum(last, ("input_tokens",))
        )

    def _session_meta(self, payload: Row) -> None:
        self._meta_seen = True
        own, root = ident(payload.get("id")), ident(payload.get("session_id"))
        started = mapping(payload.get("source")).get("subagent")
        spawned = mapping(mapping(started).get("thread_spawn"))
        parent = ident(payload.get("parent_thread_id")) or ident(spawned.get("parent_thread_id"))
        if parent and own:
            self.session = (root if root != own else "") or parent
            self._subagent = own
            self._subagent_type = ident(spawned.get("agent_role")) or "default"
        elif started and own:  # a review, a guardian: Codex itself asks, and names nobody
            self._subagent, self._subagent_type = own, ident(started) or "codex"
        self._cwd = path(payload.get("cwd"))
        self._branch = string(mapping(payload.get("git")).get("branch"))

    def _enter(self, turn: str) -> None:
        """A turn begins, if it is another than the one that goes on."""
        if turn and turn != self._turn:
            self.give_up()
            self.turn_start = self.read
            self._turn = turn
            self._compactions = 0
            self._asked = ("", set())
            self._told.clear()
            self._items.clear()

    def _make(self) -> Make:
        return partial(
            Event,
            codex.NAME,
            self.session,
            at=self._at,
            transcript=self.transcript,
            where=Where(self._cwd, self._branch),
            subagent=self._subagent,
            subagent_type=self._subagent_type,
            origin=ORIGIN,
        )

    def _item(self, kind: str, payload: Row, row: Row) -> None:
        turn = mapping(payload.get("internal_chat_message_metadata_passthrough")).get("turn_id")
        self._enter(ident(turn))
        match kind:
            case "message":
                self._message(string(payload.get("role")), payload, row)
            case "reasoning":
                parts = [payload.get("summary"), payload.get("content")]
                for part in (one for each in parts if isinstance(each, list) for one in each):
                    self._reasoned(flatten_text(part), "item")
            case "function_call" | "custom_tool_call" | "local_shell_call":
                self._call(kind, payload)
            case "function_call_output" | "custom_tool_call_output":
                self._output(payload)
            case "web_search_call":
                self._searched(payload)
            case _:
                self.counts["skipped" if kind in _BOOKKEEPING else "unknown"] += 1

    def _event(self, kind: str, payload: Row) -> None:
        turn = ident(payload.get("turn_id"))
        match kind:
            case "task_started" | "turn_started":
                self._enter(turn)
            case "item_completed":  # perhaps of a command that an earlier turn left running
                self._finished(mapping(payload.get("item")))
            case "user_message":
                self._prompted(typed_text(string(payload.get("message"))), "event")
            case "agent_message":
                self._says(string(payload.get("message")), "event")
            case "agent_reasoning":
                self._reasoned(string(payload.get("text")), "event")
            case "token_count":
                self.counts["skipped"] += 1
                self._spent(payload)
            case "task_complete" | "turn_complete":
                self._ended(turn or self._turn, payload)
            case "turn_aborted":
                self._aborted(turn or self._turn, string(payload.get("reason")))
            case _:
                self.counts["skipped" if kind in _BOOKKEEPING else "unknown"] += 1

    # --- what was said --------------------------------------------------------------------------------------

    def _message(self, role: str, payload: Row, row: Row) -> None:
        compacting = mapping(row.get("metadata")).get("compaction_output") is True
        if role == "user":
            self._cwd = self._cwd or working_folder(payload)
            self._prompted(rollout_prompt(payload), "item")
        elif role == "assistant" and not compacting:
            self._says(flatten_text(payload.get("content")), "item")
        else:
            self.counts["skipped"] += 1

    def _prompted(self, text: str, form: str) -> None:
        if not text or self._subagent:  # a sub-agent's task is in the call that started it
            self.counts["skipped"] += 1
            return
        words = " ".join(text.split())
        asked, forms = self._asked
        if words == asked and form not in forms:
            forms.add(form)
            self.counts["skipped"] += 1
            return
        if not self._turn or self._turn.startswith("at-"):  # older rollouts do not number their turns
            self._enter(f"at-{self.read}")
        self._asked = (words, {form})
        shown = without_notes(text)
        self.pairs.add(
            self._make()(
                Kind.PROMPT,
                text=head_and_tail(shown, INPUT_LIMIT),
                native_id=wording_id(self._turn, text),
                recalled=not shown,
            )
        )

    def _says(self, text: str, form: str) -> None:
        if text.strip() and self._is_news(form, text):
            self.pairs.add(assistant_event(text.strip(), self._turn, self._make()))
        else:
            self.counts["skipped"] += 1

    def _reasoned(self, text: str, form: str) -> None:
        text = without_notes(text.strip())
        if text and self._is_news(form, f"thought {text}"):
            self.pairs.add(
                self._make()(Kind.REASONED, text=head_and_tail(text, INPUT_LIMIT), native_id=self._turn)
            )
        else:
            self.counts["skipped"] += 1

    def _is_news(self, form: str, text: str) -> bool:
        """Whether this was not told before in the rollout's other form."""
        words = " ".join(text.split())
        self._told.add((form, words))
        return ("event" if form == "item" else "item", words) not in self._told

    # --- turns ----------------------------------------------------------------------------------------------

    def _compacted(self, payload: Row) -> None:
        self._compactions += 1
        native_id = f"{self._turn}:compacted:{self._compactions}" if self._turn else ""
        text = compaction_summary(string(payload.get("message")))
        self.pairs.add(self._make()(Kind.COMPACTED, text=text, native_id=native_id))

    def _ended(self, turn: str, payload: Row) -> None:
        error = mapping(payload.get("error"))
        last = string(payload.get("last_agent_message")).strip()
        make = self._make()
        if self._subagent:
            native_id = wording_id(self._subagent, last)
            self.pairs.add(make(Kind.SUBAGENT_ENDED, outcome=Outcome.OK, native_id=native_id))
        elif error:
            text, reason = string(error.get("message")), error.get("codex_error_info")
            self.pairs.add(
                make(
                    Kind.TURN_FAILED,
                    text=head_and_tail(text, INPUT_LIMIT),
                    outcome=Outcome.FAILED,
                    reason=head_and_tail(reason if isinstance(reason, str) else "error", 200),
                    native_id=turn,
                )
            )
        else:
            self.pairs.add(make(Kind.TURN_ENDED, outcome=Outcome.OK, native_id=wording_id(turn, last)))

    def _aborted(self, turn: str, reason: str) -> None:
        self.give_up()
        if turn and not self._subagent:
            native_id, outcome = f"{turn}:interrupted", Outcome.INTERRUPTED
            self.pairs.add(
                self._make()(
                    Kind.TURN_ENDED, outcome=outcome, reason=head_and_tail(reason, 200), native_id=native_id
                )
            )

    # --- tool calls -----------------------------------------------------------------------------------------

    def _call(self, kind: str, payload: Row) -> None:
        call_id, name = ident(payload.get("call_id")) or ident(payload.get("id")), ident(payload.get("name"))
        given = payload.get("input") if kind == "custom_tool_call" else payload.get("arguments")
        if kind == "local_shell_call":
            name, given = "local_shell", mapping(payload.get("action"))
        if not call_id or (kind == "custom_tool_call" and name in _SCRIPTS):
            self._items.add(call_id)
            self.counts["skipped"] += 1
            return
        name, inputs = canonical_call(name, string(payload.get("namespace")), given)
        self.pairs.call(Call(call_id, self.read, name, inputs, self._make()))

    def _output(self, payload: Row) -> None:
        call_id = ident(payload.get("call_id"))
        call = self.pairs.answered(call_id)
        if call is not None:
            self._used(self._make(), call_id, call.name, call.inputs, call_result(payload.get("output")))
        else:
            self.counts["skipped" if call_id in self._items else "orphans"] += 1

    def _finished(self, item: Row) -> None:
        told, call_id = finished_call(item), ident(item.get("id"))
        if told is None or not call_id:
            self.counts["skipped"] += 1
            return
        self._items.add(call_id)
        self.pairs.answered(call_id)
        self._used(self._make(), call_id, *told)

    def _searched(self, payload: Row) -> None:
        query = mapping(payload.get("action")).get("query")
        call_id = ident(payload.get("id")) or wording_id(self._turn, string(query))
        self._used(self._make(), call_id, "web_search", {"query": query}, Result(""))

    def give_up(self) -> None:
        """The conversation went on: what it still waited for was interrupted."""
        for call in self.pairs.abandoned():
            self._used(call.make, call.id, call.name, call.inputs, Result(""), Outcome.INTERRUPTED)

    def _used(
        self,
        make: Make,
        call_id: str,
        name: str,
        inputs: Mapping[str, object],
        told: Result,
        outcome: Outcome | None = None,
    ) -> None:
        for native_id, use in tool_uses(name, inputs, told, call_id, self._cwd):
            told_use = replace(use, outcome=outcome) if outcome else use
            self.pairs.add(told_use.event(make, name, native_id))


def _opened(row: Row) -> tuple[str, Row]:
    """What kind of line it is, and what it holds; the oldest rollouts put nothing around their items."""
    if "payload" in row:
        return string(row.get("type")), mapping(row.get("payload"))
    if "record_type" in row:
        return "world_state", row
    return ("response_item" if "type" in row else "session_meta"), row


def _named(row: Row, file: Path) -> Name | None:
    """The first line of a rollout says whose it is."""
    kind, payload = _opened(row)
    own = ident(payload.get("id"))
    if kind != "session_meta" or not own:
        return None
    probe = Reader(own)
    probe.row(row)
    subagent = own if probe.session != own else ""
    return Name(probe.session, subagent=subagent, parent=ident(payload.get("forked_from_id")))


HISTORY = JsonLines(root=codex.sessions_dir, read=Reader, names=_named)
