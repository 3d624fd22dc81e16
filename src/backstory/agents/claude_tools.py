"""What a tool call of Claude Code comes to: an action, a target, a readable text, an outcome.

One table says it for each tool; hooks and transcripts both go through `describe`, so that a call captured
live and the same call read from history give the same event. Codex names its tools alike.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from backstory.agents.own_output import is_our_tool, runs_backstory, without_notes
from backstory.agents.payload_fields import (
    INPUT_LIMIT,
    OUTPUT_LIMIT,
    Excerpt,
    as_json,
    flatten_text,
    head_and_tail,
    join_excerpts,
    mapping,
    string,
)
from backstory.model import Action, Event, Kind, Outcome

_EDIT_LIMIT = 400
_EDITS_SHOWN = 3
_TARGET_OF_UNKNOWN = 200

Inputs = Mapping[str, object]


def _output(_: Inputs, response: object) -> str:
    """What a tool gave back, without the frame it came in."""
    if isinstance(response, dict):
        if "stdout" in response:
            out, err = string(response.get("stdout")), string(response.get("stderr"))
            return f"{out}\n{err}" if out and err else out or err
        names = response.get("filenames")
        if isinstance(names, list) and not response.get("content"):
            return "\n".join(name for name in names if isinstance(name, str))
    return flatten_text(response)


def _nothing(_: Inputs, __: object) -> str:
    """A file that was read is no news: indexing it would drown what was said about it."""
    return ""


def _written(inputs: Inputs, _: object) -> str:
    return string(inputs.get("content"))


def _edited(inputs: Inputs, _: object) -> str:
    listed = inputs.get("edits")
    edits = listed[:_EDITS_SHOWN] if isinstance(listed, list) else [inputs]
    return join_excerpts("\n", (_one_edit(mapping(edit)) for edit in edits))


def _one_edit(edit: Mapping[str, object]) -> str:
    old = head_and_tail(string(edit.get("old_string")), _EDIT_LIMIT)
    new = head_and_tail(string(edit.get("new_string")) or string(edit.get("new_source")), _EDIT_LIMIT)
    return join_excerpts(
        "\n", (join_excerpts("", (sign, text)) for sign, text in (("- ", old), ("+ ", new)) if text)
    )


def _found_on_web(_: Inputs, response: object) -> str:
    """WebFetch gives {result: text}; WebSearch {results: [text or {content: [{title, url}]}]}."""
    results = mapping(response).get("results")
    if not isinstance(results, list):
        return flatten_text(response)
    lines = []
    for item in results:
        links = mapping(item).get("content")
        if isinstance(links, list):
            pairs = (mapping(link) for link in links)
            lines += [f"{string(link.get('title'))} {string(link.get('url'))}".strip() for link in pairs]
        else:
            lines.append(flatten_text(item))
    return "\n".join(filter(None, lines))


def _as_json(inputs: Inputs, _: object) -> str:
    whole = as_json(inputs)
    if len(whole) <= INPUT_LIMIT:
        return whole
    short = as_json(_shortened(inputs))  # still JSON after the cut
    return Excerpt(short, lambda clean: as_json(_shortened(clean.value(inputs))))


def _shortened(value: object, depth: int = 0) -> object:
    if isinstance(value, str):
        return head_and_tail(value, 1_500 if depth < 2 else 200)
    if isinstance(value, dict):
        return {str(k): _shortened(v, depth + 1) for k, v in list(value.items())[:20]} if depth < 5 else {}
    if isinstance(value, list):
        return [_shortened(item, depth + 1) for item in value[:20]] if depth < 5 else []
    return value


def _answered(_: Inputs, response: object) -> str:
    """What the user answered when the agent asked."""
    answers = mapping(response).get("answers")
    if not isinstance(answers, dict):
        return flatten_text(response)
    return "\n".join(f"{question}\n→ {flatten_text(answer)}" for question, answer in answers.items())


@dataclass(frozen=True, slots=True)
class _Tool:
    action: Action
    target: tuple[str, ...]
    """The input fields that may name what it worked on, best first."""
    text: Callable[[Inputs, object], str] = _output


_SHELL = _Tool(Action.RUN, ("command",))
_EDIT = _Tool(Action.EDIT, ("file_path", "notebook_path"), _edited)
_PLAN = _Tool(Action.PLAN, ("subject", "taskId"), _as_json)
_DELEGATE = _Tool(Action.DELEGATE, ("description", "prompt"))

TOOLS: dict[str, _Tool] = {
    "Bash": _SHELL,
    "PowerShell": _SHELL,
    "Read": _Tool(Action.READ, ("file_path",), _nothing),
    "NotebookRead": _Tool(Action.READ, ("notebook_path",), _nothing),
    "Write": _Tool(Action.WRITE, ("file_path",), _written),
    "Edit": _EDIT,
    "MultiEdit": _EDIT,
    "NotebookEdit": _EDIT,
    "Grep": _Tool(Action.FIND, ("pattern",)),
    "Glob": _Tool(Action.FIND, ("pattern",)),
    "LS": _Tool(Action.FIND, ("path",)),
    "WebFetch": _Tool(Action.FETCH, ("url",), _found_on_web),
    "WebSearch": _Tool(Action.FETCH, ("query",), _found_on_web),
    "Agent": _DELEGATE,
    "Task": _DELEGATE,
    "TodoWrite": _PLAN,
    "TaskCreate": _PLAN,
    "TaskUpdate": _PLAN,
    "ExitPlanMode": _PLAN,
    "AskUserQuestion": _Tool(Action.OTHER, (), _answered),
}
_OTHER = _Tool(Action.OTHER, ())

# How Claude Code words a call that the user, not the tool, brought to an end.
_STOPPED_BY_USER = (
    "[Request interrupted by user",
    "The user doesn't want to proceed",
    "The user doesn't want to take this action",
    "User rejected tool use",
)


@dataclass(frozen=True, slots=True)
class Use:
    """A tool call, described."""

    action: Action
    target: str
    text: str
    outcome: Outcome
    recalled: bool

    def event(self, make: Callable[..., Event], tool: str, native_id: str = "") -> Event:
        """The event of this call; `make` builds it at its place and time."""
        return make(
            Kind.TOOL,
            text=self.text,
            action=self.action,
            tool=tool,
            target=self.target,
            outcome=self.outcome,
            native_id=native_id,
            recalled=self.recalled,
        )


def describe(name: str, inputs: Inputs, response: object, error: str | None, interrupted: bool) -> Use:
    """`error` is what the tool failed with, None if it did not."""
    tool = TOOLS.get(name, _OTHER)
    target = _target(tool, inputs)
    if error is None:
        text = tool.text(inputs, response)
        if text.startswith(_STOPPED_BY_USER):  # only Claude Code itself speaks so, and only in an error
            text = f"output: {text}"
        outcome = Outcome.INTERRUPTED if interrupted else _outcome(response)
    else:
        text = error.removeprefix("<tool_use_error>").removesuffix("</tool_use_error>")
        stopped = interrupted or text.startswith(_STOPPED_BY_USER)
        outcome = Outcome.INTERRUPTED if stopped else Outcome.FAILED
    shown = without_notes(text)
    recalled = (
        is_our_tool(name)
        or (tool.action is Action.RUN and runs_backstory(target))
        or (shown is not text and not shown)
    )
    if tool.text is not _as_json or error is not None:
        shown = head_and_tail(shown, OUTPUT_LIMIT)
    return Use(tool.action, head_and_tail(target, INPUT_LIMIT), shown, outcome, recalled)


def _target(tool: _Tool, inputs: Inputs) -> str:
    for field in tool.target:
        value = inputs.get(field)
        if isinstance(value, str) and value:
            return value
    if tool is _OTHER and inputs:
        return head_and_tail(as_json(inputs), _TARGET_OF_UNKNOWN)
    return ""


def _outcome(response: object) -> Outcome:
    if not isinstance(response, dict):
        return Outcome.OK
    if response.get("interrupted") is True:
        return Outcome.INTERRUPTED
    if response.get("backgroundTaskId") or response.get("status") == "async_launched":
        return Outcome.NONE  # still running: nobody knows yet
    code = response.get("exit_code", response.get("exitCode", 0))
    if isinstance(code, int) and code != 0:
        return Outcome.FAILED
    return Outcome.OK
