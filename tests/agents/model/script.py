"""What the scripted model answers.

A script is stateless: the answer follows from the request alone, so a client's side calls (titles,
summaries, token counts) and its retries never shift it. The last prompt that the user typed is found, its
steps are looked up, and the number of assistant turns since then says which step is next.

Steps come from a rule (`script.when("add tests", Shell("pytest -q"), Say("done"))`) or stand in the prompt:
`[[shell:CMD]] [[write:PATH|TEXT]] [[read:PATH]] [[edit:PATH|OLD|NEW]] [[task:PROMPT]] [[tool:NAME|{json}]]
[[say:TEXT]] [[wait:SECONDS]]`. `Wait` is no turn of its own: it holds back the step after it, which is how a
test catches the agent in the middle of a turn.

Steps say what is meant, not which tool does it; `TOOLS` maps the meaning to the names and arguments of the
clients' own tools.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Say(NamedTuple):
    """`thought` is what the model reasons first, where the protocol can tell it."""

    text: str
    thought: str = ""


class Shell(NamedTuple):
    command: str


class Write(NamedTuple):
    path: str
    text: str


class Read(NamedTuple):
    path: str


class Edit(NamedTuple):
    path: str
    old: str
    new: str


class Task(NamedTuple):
    prompt: str


class Tool(NamedTuple):
    """`input` may follow from what the model was told so far, as text."""

    name: str
    input: dict[str, Any] | Callable[[str], dict[str, Any]]


class Wait(NamedTuple):
    seconds: float


Step = Say | Shell | Write | Read | Edit | Task | Tool | Wait


@dataclass(frozen=True)
class Conversation:
    """A request as every protocol can tell it: who spoke, and which tools are on offer.

    A turn is the text of a user, or None for the assistant; `calls` says of each assistant turn whether it
    called a tool (then the client is still in the middle of what was asked).
    """

    turns: list[str | None]
    calls: list[bool]
    tools: frozenset[str]


@dataclass(frozen=True)
class Answer:
    """One turn of the model: text, or a call of a tool that this client has; held back for a while."""

    text: str = ""
    tool: str = ""
    input: dict[str, Any] = field(default_factory=dict)
    wait: float = 0.0
    thought: str = ""
    follows: Callable[[str], dict[str, Any]] | None = None


def added(path: str, text: str) -> str:
    """A patch in Codex's own form that makes this file."""
    lines = "".join(f"+{line}\n" for line in text.splitlines())
    return f"*** Begin Patch\n*** Add File: {path}\n{lines}*** End Patch\n"


def patched(path: str, old: str, new: str) -> str:
    """A patch in Codex's own form that puts some lines of a file in the place of others."""
    lines = [f"-{line}" for line in old.splitlines()] + [f"+{line}" for line in new.splitlines()]
    return "\n".join(["*** Begin Patch", f"*** Update File: {path}", "@@", *lines, "*** End Patch", ""])


def scripted(tool: str, given: object) -> str:
    """JavaScript for Codex's `exec`, through which its newer models call every other tool."""
    return f"text(await tools.{tool}({json.dumps(given)}))"


def edited(path: str, old: str, new: str) -> dict[str, Any]:
    """An edit under every name that the clients with a tool `edit` have for its parts."""
    return {
        "filePath": path, "oldString": old, "newString": new,
        "file_path": path, "old_string": old, "new_string": new,
        "path": path, "old_str": old, "new_str": new, "edits": [{"oldText": old, "newText": new}],
    }  # fmt: skip


def delegated(prompt: str, to: str) -> dict[str, Any]:
    """A task for a sub-agent."""
    about = {"description": "scripted sub-task", "subagent_type": to, "run_in_background": False}
    return {**about, "prompt": prompt}


Arguments = Callable[..., dict[str, Any]]
TOOLS: dict[type, list[tuple[str, Arguments]]] = {
    Shell: [
        ("Bash", lambda command: {"command": command, "description": "Run a scripted command"}),
        ("bash", lambda command: {"command": command, "description": "Run a scripted command"}),
        ("run_shell_command", lambda command: {"command": command, "is_background": False}),
        ("exec_command", lambda command: {"cmd": command}),
        ("exec", lambda command: {"input": scripted("exec_command", {"cmd": command})}),
    ],
    Write: [
        ("Write", lambda path, text: {"file_path": path, "content": text}),
        ("write", lambda path, text: {"filePath": path, "path": path, "content": text}),
        ("write_file", lambda path, text: {"file_path": path, "content": text}),
        ("create", lambda path, text: {"path": path, "file_text": text}),
        ("apply_patch", lambda path, text: {"input": added(path, text)}),
        ("exec_command", lambda path, text: {"cmd": f"printf %s {shlex.quote(text)} > {shlex.quote(path)}"}),
        ("exec", lambda path, text: {"input": scripted("apply_patch", added(path, text))}),
    ],
    Read: [
        ("Read", lambda path: {"file_path": path}),
        ("read", lambda path: {"filePath": path, "path": path}),
        ("read_file", lambda path: {"file_path": path}),
        ("view", lambda path: {"path": path}),
    ],
    Edit: [
        ("Edit", lambda path, old, new: {"file_path": path, "old_string": old, "new_string": new}),
        ("edit", lambda path, old, new: edited(path, old, new)),
        ("replace", lambda path, old, new: {**edited(path, old, new), "instruction": "Change it"}),
        ("apply_patch", lambda path, old, new: {"input": patched(path, old, new)}),
    ],
    Task: [
        ("Agent", lambda prompt: delegated(prompt, "general-purpose")),
        ("agent", lambda prompt: delegated(prompt, "general-purpose")),
        ("task", lambda prompt: {**delegated(prompt, "general"), "agent_type": "task", "name": "sub"}),
        ("invoke_agent", lambda prompt: {"agent_name": "generalist", "prompt": prompt}),
        ("spawn_agent", lambda prompt: {"message": prompt}),
    ],
}

_DIRECTIVE = re.compile(r"\[\[(shell|write|read|edit|task|tool|say|wait):(.*?)\]\]", re.S)


def inline_steps(prompt: str) -> list[Step]:
    """The steps that stand in the prompt itself."""
    steps: list[Step] = []
    for kind, argument in _DIRECTIVE.findall(prompt):
        match kind:
            case "shell":
                steps.append(Shell(argument))
            case "write":
                path, _, text = argument.partition("|")
                steps.append(Write(path, text.replace("\\n", "\n")))
            case "read":
                steps.append(Read(argument))
            case "edit":
                steps.append(Edit(*argument.split("|", 2)))
            case "task":
                steps.append(Task(argument))
            case "tool":
                name, _, arguments = argument.partition("|")
                steps.append(Tool(name, json.loads(arguments or "{}")))
            case "say":
                steps.append(Say(argument))
            case "wait":
                steps.append(Wait(float(argument)))
    return steps


@dataclass
class Script:
    """Rules first, then what stands in the prompt, then `OK.`

    A call without tools is no turn of an agent: `aside` says what it is answered with.
    """

    rules: list[tuple[str, tuple[Step, ...]]] = field(default_factory=list)
    asides: list[tuple[str, Callable[[str], str]]] = field(default_factory=list)

    def when(self, part_of_prompt: str, *steps: Step) -> None:
        """A later rule wins, so that a test can change its mind."""
        self.rules.insert(0, (part_of_prompt, steps))

    def aside(self, part_of_prompt: str, answer: Callable[[str], str] | str) -> None:
        """What a call without tools is answered with, or how that follows from its prompt."""
        told = answer if callable(answer) else lambda _: answer
        self.asides.insert(0, (part_of_prompt, told))

    def _aside(self, conversation: Conversation) -> str:
        prompt = next((turn for turn in reversed(conversation.turns) if turn is not None), "")
        return next((told(prompt) for part, told in self.asides if part in prompt), "Scripted title")

    def steps(self, prompt: str) -> Iterable[Step]:
        for part, steps in self.rules:
            if part in prompt:
                return steps
        return inline_steps(prompt)

    def answer(self, conversation: Conversation) -> Answer:
        if not conversation.tools:  # a side call of the client: a title, a summary
            return Answer(text=self._aside(conversation))
        prompt, done = self._position(conversation)
        wait, index = 0.0, 0
        for step in self.steps(prompt):
            if isinstance(step, Wait):
                wait = step.seconds if index == done else 0.0
            elif index == done:
                return _speak(step, conversation.tools, wait)
            else:
                index += 1
        return Answer(text="Done." if index else "OK.", wait=wait)

    def _position(self, conversation: Conversation) -> tuple[str, int]:
        """The prompt that is being worked on, and how many steps of it are done.

        Neighbouring user messages are one prompt (clients put injected context beside it). A message without
        a script in the middle of a scripted turn, such as a reminder between two tool calls, does not end it.
        """
        prompts: list[tuple[str, int]] = []
        spoken = 0
        for before, turn in zip([None, *conversation.turns], conversation.turns, strict=False):
            if turn is None:
                spoken += 1
            elif before is not None:
                prompts[-1] = (f"{prompts[-1][0]}\n{turn}", prompts[-1][1])
            else:
                prompts.append((turn, spoken))
        for prompt, start in reversed(prompts):
            if self.steps(prompt):
                if (prompt, start) == prompts[-1] or all(conversation.calls[start:]):
                    return prompt, spoken - start
                break
        return "", 0


def _speak(step: Step, tools: frozenset[str], wait: float) -> Answer:
    match step:
        case Say(text, thought):
            return Answer(text=text, wait=wait, thought=thought)
        case Tool(name, arguments):
            if callable(arguments):
                return Answer(tool=name, wait=wait, follows=arguments)
            return Answer(tool=name, input=arguments, wait=wait)
    for name, shaped in TOOLS[type(step)]:
        if name in tools:
            return Answer(tool=name, input=shaped(*step), wait=wait)
    return Answer(text=f"(this client offers no tool for {step})", wait=wait)
