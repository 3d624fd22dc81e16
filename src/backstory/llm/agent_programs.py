"""`claude -p` and `codex exec` as models: agents' programs, with the user's own login, on a short lead.

They run in an empty folder, in a process group of their own, with a scrubbed environment that carries the
guard, so that no hook of ours answers them; without settings, servers, plugins, tools or a kept session.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backstory.file_reader import read_text
from backstory.llm.model_provider import Access, Question, Reply, Trouble, Unready, tokens_told
from backstory.program_lookup import find_program, trusted_path

# All that a child is told of our environment; an agent's own variables would make it think it is inside one.
_NAMES = """
    PATH HOME USER LOGNAME LANG LC_ALL LC_CTYPE TMPDIR TZ XDG_CONFIG_HOME XDG_DATA_HOME XDG_CACHE_HOME
    SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS HTTPS_PROXY HTTP_PROXY NO_PROXY https_proxy http_proxy
    no_proxy SYSTEMROOT USERPROFILE APPDATA LOCALAPPDATA PATHEXT COMSPEC TEMP TMP
"""
_KEPT = frozenset(_NAMES.split())
_GUARD = {"BACKSTORY_GUARD": "1"}
_LAST = "answer.txt"
_SHAPE = "schema.json"


@dataclass(frozen=True, slots=True)
class Kind:
    """A program: its words and variables, how its output is read, how many tokens it adds to a question."""

    name: str
    words: Callable[[Access, Question, Path], list[str]]
    variables: Callable[[Access], dict[str, str]]
    read: Callable[[str, Path], Reply]
    keeps: frozenset[str]
    overhead: int


class Program:
    """A program that is asked by starting it; it is a `Provider`."""

    def __init__(self, kind: Kind, access: Access) -> None:
        self.name = kind.name
        self.model = access.model
        self.overhead = kind.overhead
        self._kind = kind
        self._access = access

    def ask(self, question: Question) -> Reply:
        """The answer, or a `Trouble`; when the time is over the whole group is killed."""
        program = find_program(self.name, self._access.folders)
        if program is None:
            raise Unready(f"there is no program {self.name} on PATH: install it, or set model.provider")
        with tempfile.TemporaryDirectory(prefix="backstory-") as scratch:
            folder = Path(scratch)
            (folder / _SHAPE).write_text(json.dumps(question.schema), "utf-8")
            words = [program, *self._kind.words(self._access, question, folder)]
            code, out, err = _run(words, question.text, folder, self._environment(), self._access.seconds)
            if code != 0:
                raise Trouble(
                    f"{self.name} ended with {code}: try `{self.name}` by hand", said=_excerpt(err or out)
                )
            if not out.strip():
                raise Trouble(f"{self.name} ended with 0 and said nothing", said=_excerpt(err))
            return self._kind.read(out, folder)

    def _environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if name in _KEPT | self._kind.keeps}
        kept["PATH"] = trusted_path(self._access.folders)
        return {**kept, **self._kind.variables(self._access), **_GUARD}


def _run(
    words: list[str], text: str, folder: Path, environment: Mapping[str, str], seconds: float
) -> tuple[int, str, str]:
    flags: dict[str, Any] = {"start_new_session": True}
    if sys.platform == "win32":
        flags = {"creationflags": subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP}
    try:
        child = subprocess.Popen(
            words, cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, **flags,
        )  # fmt: skip
    except OSError as error:
        raise Trouble(f"{words[0]} cannot be started: {error.strerror}", sent=False) from None
    try:
        out, err = child.communicate(text.encode(), timeout=seconds)
    except subprocess.TimeoutExpired:
        raise Trouble(
            f"{Path(words[0]).name} did not answer within {seconds:g} s: raise model.timeout_seconds"
        ) from None
    finally:
        _end(child)
    return child.returncode, out.decode("utf-8", "replace"), err.decode("utf-8", "replace")


def _end(child: subprocess.Popen[bytes]) -> None:
    """Leave nobody of its group behind, also if it ended and its own children did not."""
    with contextlib.suppress(OSError):
        if sys.platform == "win32":
            child.kill()
        else:
            os.killpg(child.pid, signal.SIGKILL)
    child.communicate()


def _excerpt(text: str) -> str:
    return " ".join(text.split())[-200:]


# --- claude -p --------------------------------------------------------------------------------------------


def _claude_words(access: Access, question: Question, folder: Path) -> list[str]:
    return [
        "-p", "--output-format", "json", "--model", access.model, "--system-prompt", question.system,
        "--setting-sources", "", "--strict-mcp-config", "--mcp-config", '{"mcpServers":{}}', "--tools", "",
        "--disable-slash-commands", "--no-session-persistence",
    ]  # fmt: skip


def _claude_variables(access: Access) -> dict[str, str]:
    quiet = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1"}
    return quiet | _given(ANTHROPIC_BASE_URL=access.url, ANTHROPIC_API_KEY=access.key)


def _claude_read(out: str, folder: Path) -> Reply:
    told = _last_object(out.splitlines(), "result")
    usage = told.get("usage") or {}
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    if told.get("is_error"):
        raise Trouble(
            "claude reports an error: try `claude -p` by hand", said=_excerpt(str(told.get("result")))
        )
    return Reply(
        str(told.get("result") or ""),
        sum(tokens_told(usage.get(name)) for name in names),
        tokens_told(usage.get("output_tokens")),
        cut=told.get("stop_reason") == "max_tokens",
    )


# --- codex exec -------------------------------------------------------------------------------------------


# What it needs for work and not for an answer; each is described to the model in every question.
_CODEX_FEATURES = (
    "hooks", "shell_tool", "unified_exec", "multi_agent", "apps", "plugins", "skill_search", "sleep_tool",
    "goals", "view_image", "image_generation", "browser_use", "computer_use", "tool_suggest",
    "code_mode_host",
)  # fmt: skip


def _codex_words(access: Access, question: Question, folder: Path) -> list[str]:
    words = [
        "exec", "--json", "--model", access.model, "--sandbox", "read-only", "--skip-git-repo-check",
        "--ephemeral", "--ignore-user-config", "--ignore-rules",
        "--output-last-message", str(folder / _LAST), "--cd", str(folder),
        "-c", f"instructions={json.dumps(question.system)}",
        "-c", "mcp_servers={}", "-c", "project_doc_max_bytes=0",  # /tmp may hold another user's AGENTS.md
    ]  # fmt: skip
    for feature in _CODEX_FEATURES:
        words += ["-c", f"features.{feature}=false"]
    if question.schema:
        words += ["--output-schema", str(folder / _SHAPE)]
    if access.url:
        own = {
            "name": "backstory",
            "base_url": access.url,
            "env_key": "CODEX_API_KEY",
            "wire_api": "responses",
        }
        table = ", ".join(f"{key} = {json.dumps(value)}" for key, value in own.items())
        words += ["-c", 'model_provider="backstory"', "-c", f"model_providers.backstory={{{table}}}"]
    return [*words, "-"]


def _codex_variables(access: Access) -> dict[str, str]:
    return _given(CODEX_API_KEY=access.key)


def _codex_read(out: str, folder: Path) -> Reply:
    usage = _last_object(out.splitlines(), "turn.completed").get("usage") or {}
    try:
        text = read_text(folder / _LAST)
    except OSError:
        text = ""
    return Reply(text, tokens_told(usage.get("input_tokens")), tokens_told(usage.get("output_tokens")))


def _given(**values: str) -> dict[str, str]:
    return {name: value for name, value in values.items() if value}


def _last_object(lines: Iterable[str], kind: str) -> dict[str, Any]:
    """The last JSON object of this type among lines of all sorts."""
    found: dict[str, Any] = {}
    for line in lines:
        with contextlib.suppress(ValueError, RecursionError):
            value = json.loads(line)
            if isinstance(value, dict) and value.get("type") == kind:
                found = value
    return found


CLAUDE = Kind("claude", _claude_words, _claude_variables, _claude_read, frozenset({"CLAUDE_CONFIG_DIR"}), 700)
CODEX = Kind("codex", _codex_words, _codex_variables, _codex_read, frozenset({"CODEX_HOME"}), 7_500)
