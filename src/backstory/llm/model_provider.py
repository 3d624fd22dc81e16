"""Who is asked, and the nouns of asking.

A provider turns a `Question` into a `Reply` or raises `Trouble`. It knows nothing of budgets: the governor
asks it. Keys are read from the environment when a question is asked, and never stored or printed.
"""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from backstory.errors import Failed
from backstory.settings import Settings

Schema = dict[str, Any]
_MOST_TOKENS = 10**9


@dataclass(frozen=True, slots=True)
class Question:
    """What a model is asked: how to behave, what to read, and the shape of its answer; {}: plain text."""

    system: str
    text: str
    schema: Schema
    max_tokens: int


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back, and what it took as the provider counted it; 0: it did not say.

    `cut`: the model was not through when it had said as much as it may.
    """

    text: str
    tokens_in: int = 0
    tokens_out: int = 0
    cut: bool = False


# So many seconds are waited after a model declined, or could not answer as it was asked: it will not in a
# moment either, and every try is paid for.
LATER = 3_600.0


def tokens_told(value: object) -> int:
    """A number of tokens as a provider tells it; 0 if it tells none that can be."""
    fits = isinstance(value, int | float) and 0 <= value <= _MOST_TOKENS
    return int(value) if fits else 0  # type: ignore[call-overload]


class Trouble(Failed):
    """A model gave no usable answer.

    `retry_after` is how many seconds to wait at least, as it asked us to or as makes sense, or 0. `sent`: the
    question may have been read, and be paid for. `said` is what came back instead of an answer; it may quote
    the question.
    """

    def __init__(self, message: str, retry_after: float = 0.0, sent: bool = True, said: str = "") -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.sent = sent
        self.said = said


class Unready(Trouble):
    """Nobody can be asked from here: a key or a program is missing. Nothing was sent, and no try is lost."""

    def __init__(self, message: str) -> None:
        super().__init__(message, sent=False)


class Provider(Protocol):
    """Somebody who can be asked.

    `name` is the provider's, `model` the model's; `overhead` is how many tokens it adds to every question.
    """

    name: str
    model: str
    overhead: int

    def ask(self, question: Question) -> Reply:
        """The answer, or a `Trouble`."""


@dataclass(frozen=True, slots=True)
class Access:
    """How to reach a provider: where, which model, with which key, how long to wait."""

    model: str
    url: str = ""
    key: str = ""
    seconds: float = 60.0
    folders: tuple[str, ...] = ()  # of projects: no program that lies in one is started
    users: tuple[int, ...] = ()  # of this machine, beside this one, who may be sent questions


@dataclass(frozen=True, slots=True)
class _Row:
    """What is to be known of a provider when the settings do not say it."""

    make: Callable[[Access], Provider]
    model: str
    url: str = ""
    key_env: str = ""
    needs_key: bool = False


def _anthropic(access: Access) -> Provider:
    from backstory.llm.anthropic import Anthropic

    return Anthropic(access)


def _openai(access: Access) -> Provider:
    from backstory.llm.openai import OpenAI

    return OpenAI(access)


def _ollama(access: Access) -> Provider:
    from backstory.llm.ollama import Ollama

    return Ollama(access)


def _claude(access: Access) -> Provider:
    from backstory.llm.agent_programs import CLAUDE, Program

    return Program(CLAUDE, access)


def _codex(access: Access) -> Provider:
    from backstory.llm.agent_programs import CODEX, Program

    return Program(CODEX, access)


# The models are the cheap ones: what they are asked is short and simple.
PROVIDERS: dict[str, _Row] = {
    "anthropic": _Row(
        _anthropic, "claude-haiku-4-5", "https://api.anthropic.com", "ANTHROPIC_API_KEY", needs_key=True
    ),
    "openai": _Row(_openai, "gpt-6-luna", "https://api.openai.com/v1", "OPENAI_API_KEY"),
    "ollama": _Row(_ollama, "qwen3:8b", "http://localhost:11434"),
    "claude": _Row(_claude, "claude-haiku-4-5"),
    "codex": _Row(_codex, "gpt-6-luna"),
}
OFF = "off"
_CONNECT_SECONDS = 3.0
_SECONDS, _NEAR_SECONDS = 60, 300  # a model on a desk reads slowly
PURPOSES = ("distil", "compile")


def model_for(settings: Settings, purpose: str) -> str:
    """The model that this purpose is served by; "" when models are off."""
    row = PROVIDERS.get(settings.model_provider)
    chosen: str = settings.model_compile if purpose == "compile" else settings.model_distil
    return chosen or row.model if row else ""


def provider(settings: Settings, purpose: str, folders: Iterable[str] = ()) -> Provider | None:
    """Who is asked for this purpose; None when models are off, `Unready` when something is missing.

    `folders` are those of projects, in which no program is looked for.
    """
    row = PROVIDERS.get(settings.model_provider)
    if row is None:
        return None
    key_env = settings.model_key_env or row.key_env
    key = os.environ.get(key_env, "") if key_env else ""
    if not key and (row.needs_key or (row.key_env and not settings.model_url)):
        raise Unready(f"the environment has no {key_env}: set it, or name another one in model.key_env")
    access = Access(
        model_for(settings, purpose),
        settings.model_url or row.url,
        key,
        answer_seconds(settings),
        tuple(folders),
        local_users(settings),
    )
    return row.make(access)


def local_users(settings: Settings) -> tuple[int, ...]:
    """Other users of this machine who may serve a model."""
    return tuple(map(int, settings.model_local_users))


def missing_here(settings: Settings) -> str:
    """What the environment of this process lacks to ask anybody, or ""; nothing is sent."""
    from backstory.program_lookup import find_program

    try:
        asked = provider(settings, "distil")
    except Unready as unready:
        return str(unready)
    if asked is None or PROVIDERS[asked.name].url or find_program(asked.name, ()):
        return ""
    return f"there is no program {asked.name} on PATH"


def answer_seconds(settings: Settings) -> int:
    """How long an answer may take."""
    from urllib.parse import urlsplit

    if settings.model_timeout_seconds or settings.model_provider == OFF:
        return settings.model_timeout_seconds or _SECONDS
    host = urlsplit(settings.model_url or PROVIDERS[settings.model_provider].url).hostname
    return _NEAR_SECONDS if host and is_near(host) else _SECONDS


def is_near(host: str) -> bool:
    """Whether it is this machine or a private network."""
    import ipaddress

    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return host == "localhost" or host.endswith((".localhost", ".local"))


def out_of_reach(settings: Settings, folders: Iterable[str] = ()) -> str:
    """Why the one who is to be asked cannot be reached, or ""; nothing is sent.

    A program must be on the PATH; at an address somebody must take the connection.
    """
    import socket  # of all commands only doctor looks (8 ms)
    from urllib.parse import urlsplit

    from backstory.llm.json_post import refuse_other_users
    from backstory.program_lookup import find_program

    row = PROVIDERS[settings.model_provider]
    url = settings.model_url or row.url
    if not row.url:
        there = find_program(settings.model_provider, folders)
        return "" if there else f"there is no program {settings.model_provider} on PATH"
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
        with socket.create_connection((host, port), _CONNECT_SECONDS) as connection:
            refuse_other_users(connection, url, local_users(settings))
    except (OSError, ValueError) as error:
        return f"{url} takes no connection ({getattr(error, 'strerror', None) or error})"
    except Trouble as error:
        return str(error)
    return ""
