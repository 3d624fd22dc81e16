"""Settings: one dataclass is the one table; its reader and its writer.

A field `brief_max_chars` is the setting `brief.max_chars`; its documentation stands in the metadata and is
what `backstory config` and docs/settings.md show. The file is TOML, the user's own: an unreadable one is
never overwritten, the defaults are used and `doctor` says so.
"""

import dataclasses
import re
import tomllib
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from backstory import file_reader
from backstory.atomic import write_atomic
from backstory.clock import known_zone
from backstory.errors import UsageError
from backstory.hook.session_brief import SOURCES
from backstory.paths import Home


def _setting(
    default: Any, doc: str, choices: tuple[str, ...] = (), allows: Callable[[Any], bool] = lambda value: True
) -> Any:
    metadata = {"doc": doc, "choices": choices, "allows": allows}
    if isinstance(default, tuple):
        return field(default_factory=lambda: default, metadata=metadata)
    return field(default=default, metadata=metadata)


def _is_amount(text: str) -> bool:
    return re.fullmatch(r"\d{1,9}(\.\d{1,6})?", text) is not None


def _are_numbers(rows: tuple[str, ...]) -> bool:
    return all(re.fullmatch(r"[0-9]{1,10}", row) for row in rows)


def _names_a_key(name: str) -> bool:
    """Whether a variable is one for models' keys: no other one's value is ever sent to a model's address."""
    known = r"|[A-Z][A-Z0-9_]*_API_KEY|BACKSTORY_[A-Z0-9_]+|ANTHROPIC_AUTH_TOKEN|HF_TOKEN"
    return re.fullmatch(known, name) is not None


def _are_prices(rows: tuple[str, ...]) -> bool:
    return all(
        name and _is_amount(inward) and _is_amount(outward)
        for name, _, both in (row.partition("=") for row in rows)
        for inward, _, outward in [both.partition("/")]
    )


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything a user can set, with its default."""

    brief_max_chars: int = _setting(2_400, "Largest brief, in characters (an agent inlines about 10,000)")
    brief_max_tokens: int = _setting(670, "Largest brief, in estimated tokens")
    brief_sources: tuple[str, ...] = _setting(
        SOURCES, "Which starts of a session get a brief: startup, resume, clear, compact, fork", SOURCES
    )
    capture_skip_tools: tuple[str, ...] = _setting(
        (), "Tools whose calls are not stored, as globs; our own tools are always skipped"
    )
    capture_keep_transcripts: bool = _setting(
        True, "Keep redacted, compressed copies of agents' transcripts; agents delete theirs after a month"
    )
    capture_transcripts: bool = _setting(
        True, "Read the agent's own transcript for what hooks do not carry (assistant's words in mid-turn)"
    )
    distil_max_turns: int = _setting(30, "Most turns that a session's text shows")
    distil_max_chars: int = _setting(15_000, "Most characters that a session's text shows; cut between turns")
    distil_min_turns_end: int = _setting(1, "Fewest turns for a session to be distilled when it ends")
    distil_min_turns_compact: int = _setting(5, "Fewest turns for a session to be distilled at a compaction")
    embed_provider: str = _setting(
        "minilm",
        "Who makes vectors for search: minilm (offline, on this machine), openai (any compatible endpoint), "
        "ollama, off",
        ("minilm", "openai", "ollama", "off"),
    )
    embed_url: str = _setting(
        "",
        "The endpoint's address, such as http://localhost:11434 or https://…/v1; another one embeds "
        "everything anew",
    )
    embed_model: str = _setting("", "The endpoint's model; another one embeds everything again")
    embed_key_env: str = _setting(
        "",
        "The environment variable that holds the endpoint's key, if any: …_API_KEY or BACKSTORY_…",
        allows=_names_a_key,
    )
    model_provider: str = _setting(
        "off",
        "Who improves memories: off (nobody, nothing is ever sent), anthropic, openai (any compatible "
        "endpoint), ollama, claude (`claude -p`), codex (`codex exec`)",
        ("off", "anthropic", "openai", "ollama", "claude", "codex"),
    )
    model_url: str = _setting("", "The endpoint's address, such as http://localhost:11434/v1")
    model_key_env: str = _setting(
        "",
        "The environment variable that holds the key, …_API_KEY or BACKSTORY_…; the key is never stored",
        allows=_names_a_key,
    )
    model_distil: str = _setting("", "The model that reads sessions; empty: the provider's cheap one")
    model_compile: str = _setting("", "The model that writes the wiki; empty: the provider's cheap one")
    model_prices: tuple[str, ...] = _setting(
        ("claude-haiku-4-5=1/5", "gpt-6-luna=1/6", "qwen3:8b=0/0"),
        "What a million tokens cost, as model=in/out; without its row only the caps in tokens hold",
        allows=_are_prices,
    )
    model_batch_turns: int = _setting(
        100, "After how many finished turns a running session is read; one that ended is read at once"
    )
    model_imported: bool = _setting(
        False, "Have imported sessions read by the model too, in their order, within the same caps"
    )
    model_wiki: bool = _setting(
        True, "Let the worker have the model write introductions in the wiki; compile by hand always does"
    )
    model_local_users: tuple[str, ...] = _setting(
        (),
        "Other users of this machine, by number, who may serve models and embeddings here, and so read "
        "what is sent",
        allows=_are_numbers,
    )
    model_timeout_seconds: int = _setting(
        0,
        "How long an answer may take, all in all; 0: 60, or 300 from a model on this machine or a private "
        "network",
    )
    model_output_tokens: int = _setting(1_500, "Longest answer, in tokens")
    model_calls_hour: int = _setting(60, "Most calls in an hour; more are an anomaly and stop all calls")
    model_session_events: int = _setting(5_000, "Above so many events a session is no longer read by a model")
    model_call_tokens: int = _setting(12_000, "Most tokens of one call, question and answer; 0: no calls")
    model_call_money: str = _setting(
        "0.05", "Most money of one call, in the currency of model.prices", allows=_is_amount
    )
    model_session_tokens: int = _setting(60_000, "Most tokens of one session; 0: no calls")
    model_session_money: str = _setting(
        "0.20", "Most money of one session, in the currency of model.prices", allows=_is_amount
    )
    model_day_tokens: int = _setting(400_000, "Most tokens of a day; 0: no calls")
    model_day_money: str = _setting(
        "1.00", "Most money of a day, in the currency of model.prices", allows=_is_amount
    )
    model_month_tokens: int = _setting(5_000_000, "Most tokens of a month; 0: no calls")
    model_month_money: str = _setting(
        "10.00", "Most money of a month, in the currency of model.prices", allows=_is_amount
    )
    notes_prompt: bool = _setting(
        True, "With a prompt, tell what the project knows about it, if that is sure enough"
    )
    notes_before: bool = _setting(
        True, "Before a command whose like failed here, or an edit that failed, tell what is known"
    )
    notes_after: bool = _setting(True, "After an error, tell its fix, or what is known about it")
    notes_max_chars: int = _setting(
        900,
        "Most characters that notes have, each time; the first prompt has twice that; from 300",
        allows=lambda value: value >= 300,
    )
    privacy_redact_off: tuple[str, ...] = _setting(
        (), "Redaction rows to switch off by name, for example email, ip, phone"
    )
    privacy_ignore_paths: tuple[str, ...] = _setting(
        (".env", ".env.*", "*.pem", "id_rsa*", "id_ed25519*", "*.kdbx"),
        "Files whose content is never kept (globs on the name or the path)",
    )
    privacy_ignore_projects: tuple[str, ...] = _setting(
        (), "Folders in which nothing is captured or briefed (globs on the path)"
    )
    knowledge_enabled: bool = _setting(
        True, "Keep daily logs and a wiki of each project, as Markdown in the home's folder knowledge"
    )
    knowledge_interval_minutes: int = _setting(
        30, "Fewest minutes between two compilations of a wiki; BACKSTORY_COMPILE_INTERVAL_MIN overrides it"
    )
    knowledge_max_logs: int = _setting(60, "Most daily logs that one compilation takes in")
    knowledge_max_seconds: int = _setting(120, "After how many seconds a compilation begins no further log")
    knowledge_export: tuple[str, ...] = _setting(
        (), "Copies of vaults in repositories, as project=folder: shop=docs/knowledge; after each compilation"
    )
    project_trust: tuple[str, ...] = _setting(
        ("*",),
        "Projects that may use shared knowledge: ids or identities, * for any; !name takes one out again",
    )
    project_monorepo: tuple[str, ...] = _setting(
        (), "Remotes (host/owner/name) whose packages are projects of their own; * for all"
    )
    search_max_hits: int = _setting(
        7,
        "Most hits of a search that is not asked for more, from 1 to 100",
        allows=range(1, 101).__contains__,
    )
    mcp_answer_seconds: int = _setting(
        2,
        "How long an MCP call keeps its agent waiting, from 1 to 600; what takes longer goes on, and the "
        "same call again tells how it ended",
        allows=range(1, 601).__contains__,
    )
    time_zone: str = _setting(
        "", "Zone for days and shown times, such as Europe/Berlin; empty: the system's", allows=known_zone
    )
    sessions_max_silence_hours: int = _setting(
        24, "After how many hours without an event a session that never ended gets an end; 0: never"
    )
    retention_payload_days: int = _setting(
        0, "After how many days raw payloads leave for the archive; texts stay, and are found. 0: never"
    )
    retention_event_days: int = _setting(
        0, "After how many silent days a session's events leave for the archive; memories stay. 0: never"
    )
    retention_digest_days: int = _setting(
        0, "After how many days the digests of single turns leave for the archive; 0: never"
    )
    retention_decision_days: int = _setting(
        0, "After how many days decisions that nobody confirmed or pinned leave for the archive; 0: never"
    )
    retention_max_mb: int = _setting(
        0, "Above this size of the database the oldest payloads leave for the archive; 0: no limit"
    )
    worker_linger_seconds: int = _setting(3, "How long the worker waits for more before it ends")
    jobs_max_attempts: int = _setting(5, "After how many failures a job is not tried again")
    jobs_cpu_seconds: int = _setting(
        60,
        "How many seconds of processor time a job may take (ten times as long in all) before its worker is "
        "ended; after three times it is parked. 0: no limit",
    )

    def for_hook(self, confirmed: Mapping[str, str]) -> dict[str, Any]:
        """What the answering hook needs to know, in the form of its own small file."""
        return {
            "budget_chars": self.brief_max_chars,
            "budget_tokens": self.brief_max_tokens,
            "sources": list(self.brief_sources),
            "notes": {
                "prompt": self.notes_prompt,
                "before": self.notes_before,
                "after": self.notes_after,
                "max_chars": self.notes_max_chars,
            },
            "by_meaning": self.embed_provider == "minilm",
            "redact_off": list(self.privacy_redact_off),
            "skip_tools": list(self.capture_skip_tools),
            "ignore_paths": list(self.privacy_ignore_paths),
            "ignore_projects": list(self.privacy_ignore_projects),
            "confirmed": dict(confirmed),
            "monorepo": list(self.project_monorepo),
        }


_FIELDS = {f.name.replace("_", ".", 1): f for f in dataclasses.fields(Settings)}


# What decides where data goes and what is kept from it. A browser that was taken over must not be able to
# change that, so it is changed by a command on the terminal only.
_ON_THE_TERMINAL = ("model.", "embed.", "privacy.", "project.", "knowledge.export")


def on_terminal_only(key: str) -> bool:
    """Whether a setting cannot be changed in the viewer."""
    return key.startswith(_ON_THE_TERMINAL)


@dataclass(frozen=True, slots=True)
class Row:
    """One setting as `config` shows it."""

    key: str
    value: Any
    default: Any
    doc: str
    terminal_only: bool = False


def setting_rows(settings: Settings) -> list[Row]:
    """All settings with their values, defaults and meaning."""
    default = Settings()
    return [
        Row(
            key,
            getattr(settings, f.name),
            getattr(default, f.name),
            f.metadata["doc"],
            on_terminal_only(key),
        )
        for key, f in _FIELDS.items()
    ]


def load_settings(home: Home) -> tuple[Settings, list[str]]:
    """The settings in force, and what is wrong with the file (unknown keys, bad values, bad TOML)."""
    try:
        table = tomllib.loads(file_reader.read_text(home.settings))
    except FileNotFoundError:
        return Settings(), []
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        return Settings(), [f"{home.settings}: {error}; the defaults hold until it is fixed"]
    values: dict[str, Any] = {}
    problems: list[str] = []
    for section, entries in table.items():
        for name, value in entries.items() if isinstance(entries, dict) else [("", entries)]:
            key = f"{section}.{name}" if name else section
            if key not in _FIELDS:
                problems.append(f"{home.settings}: unknown setting {key}, ignored")
                continue
            try:
                values[_FIELDS[key].name] = _checked(key, value)
            except UsageError as error:
                problems.append(f"{home.settings}: {error}; the default holds")
    return Settings(**values), problems


def _checked(key: str, value: Any) -> Any:
    """`value` in the type of the setting, or a UsageError that says what is expected."""
    setting = _FIELDS[key]
    default = getattr(Settings(), setting.name)
    choices: tuple[str, ...] = setting.metadata["choices"]
    if isinstance(default, bool):
        if not isinstance(value, bool):
            raise UsageError(f"{key} must be true or false, not {value!r}")
    elif isinstance(default, int):
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise UsageError(f"{key} must be a whole number of 0 or more, not {value!r}")
        if not setting.metadata["allows"](value):
            raise UsageError(f"{key} cannot be {value!r}. {setting.metadata['doc']}")
    elif isinstance(default, tuple):
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise UsageError(f"{key} must be a list of words, not {value!r}")
        if choices and (unknown := [item for item in value if item not in choices]):
            raise UsageError(f"{key} takes {', '.join(choices)}; not {', '.join(unknown)}")
        return tuple(value)
    elif not isinstance(value, str):
        raise UsageError(f"{key} must be text, not {value!r}")
    elif choices and value not in choices:
        raise UsageError(f"{key} takes {', '.join(choices)}; not {value!r}")
    return value


def _from_text(key: str, text: str) -> Any:
    default = getattr(Settings(), _FIELDS[key].name)
    if isinstance(default, bool):
        return {"true": True, "on": True, "yes": True, "false": False, "off": False, "no": False}.get(
            text.lower(), text
        )
    if isinstance(default, int):
        return int(text) if text.isdecimal() else text
    if isinstance(default, tuple):
        return _list_from_text(key, text.strip())
    return text


def _list_from_text(key: str, text: str) -> list[str]:
    """A list as it is typed (a, b) or as `config` prints it and TOML has it (["a", "b"])."""
    if text[:1] not in ("[", '"', "'") and text[-1:] not in ("]", '"', "'"):
        return _split(text)
    try:
        value = tomllib.loads(f"list = {text if text[:1] == '[' else f'[{text}]'}")["list"]
    except tomllib.TOMLDecodeError:
        value = None
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        # a glob may begin with a set of letters: [ab]*.txt
        plain = _split(text)
        if '"' not in text and "'" not in text and all(map(_whole_glob, plain)):
            return plain
        raise UsageError(f'{key} takes a list such as: a, b or ["a", "b"]; not {text!r}')
    return value


def _split(text: str) -> list[str]:
    """What stands between commas; `*.{key,pem}` is one pattern."""
    items = [""]
    for part in text.split(","):
        open_brace = items[-1].rfind("{") > items[-1].rfind("}")
        items = [*items[:-1], f"{items[-1]},{part}"] if open_brace and "}" in part else [*items, part]
    return [item.strip() for item in items if item.strip()]


def _whole_glob(item: str) -> bool:
    """Whether brackets in a pattern are a set of letters and not what is left of a list."""
    return "[]" not in item and item.count("[") == item.count("]") and not re.fullmatch(r"\[.*\]", item)


def change_setting(home: Home, key: str, text: str | None) -> Any:
    """Set `key` from what the user typed, or unset it with None; comments in the file survive."""
    if key not in _FIELDS:
        raise UsageError(f"there is no setting {key!r}; `backstory config` lists them all")
    value = None if text is None else _checked(key, _from_text(key, text))
    if text is not None and not _FIELDS[key].metadata["allows"](value):
        raise UsageError(f"{key} cannot be {value!r}. {_FIELDS[key].metadata['doc']}")
    section, name = key.split(".", 1)
    try:
        document = tomlkit.parse(file_reader.read_text(home.settings))
    except FileNotFoundError:
        document = tomlkit.document()
    except (TOMLKitError, UnicodeDecodeError) as error:
        raise UsageError(f"{home.settings} is not valid TOML ({error}): fix or move it first") from None
    table = document.setdefault(section, tomlkit.table())
    if not isinstance(table, MutableMapping):
        raise UsageError(f"{home.settings}: {section} must be a table, [{section}]: fix it first")
    if text is None:
        table.pop(name, None)
        if not table:
            document.pop(section)
    else:
        table[name] = list(value) if isinstance(value, tuple) else value
    write_atomic(home.settings, tomlkit.dumps(document).encode())
    return value
