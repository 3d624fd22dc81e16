"""JSON for the hook path, without importing `json`.

A hook that answers has some 30 ms; `json` alone costs 11 of them (it pulls in `re`). The C scanner inside it
can be called directly, which is all that reading a payload needs. Input comes from other people's programs:
whatever it is, `parse_payload` gives a dictionary or raises `BadPayload`.
"""

try:
    from _json import encode_basestring_ascii, make_scanner
except ImportError:  # a Python without the C parts
    from json import JSONDecoder
    from json.encoder import encode_basestring_ascii

    def make_scanner(_: object) -> "Any":  # type: ignore[no-redef]
        decoder = JSONDecoder(strict=False, parse_float=_finite, parse_constant=_no_number)
        return decoder.scan_once  # type: ignore[attr-defined]


TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

TRAILER = b"\x1e"
_SPACE = " \t\r\n"
_DEEPEST = 200


class BadPayload(Exception):
    """What came in is no payload: empty, truncated, not json, not an object, or nested too deeply."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def _finite(text: str) -> float | None:
    """A number that one can count with: `1e999` is none."""
    value = float(text)
    return value if value - value == 0.0 else None


def _no_number(text: str) -> None:
    """NaN and Infinity, which JSON does not know and nobody here expects."""


class _Options:
    """What the C scanner asks of its caller. Raw control characters in strings are let through."""

    strict = False
    object_hook = None
    object_pairs_hook = None
    parse_float = staticmethod(_finite)
    parse_int = int
    parse_constant = staticmethod(_no_number)


_scan = make_scanner(_Options)  # type: ignore[arg-type]


def parse_payload(data: bytes) -> "dict[str, object]":
    """The payload in these bytes, repaired where Windows paths were not escaped."""
    text = _decode(data)
    if not text:
        raise BadPayload("empty")
    try:
        value = _value(text)
    except BadPayload:
        if "\\" not in text:
            raise
        from backstory.hook import windows_paths

        value = windows_paths.parse_unescaped(text, _value)
    if not isinstance(value, dict):
        raise BadPayload("not an object")
    if "\\u" in text and ("\\ud" in text or "\\uD" in text):
        value = _without_lone_surrogates(value)
    if _has_broken_path(value):
        from backstory.hook import windows_paths

        windows_paths.restore_paths(value)
    return value


def _decode(data: bytes) -> str:
    data = data.removesuffix(TRAILER)
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        text = data.decode("utf-16", "replace")
    elif data[1:2] == b"\0" and data[:1] != b"\0":
        text = data.decode("utf-16-le", "replace")  # what PowerShell makes of a pipe
    else:
        text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    return text.strip(_SPACE)


def _value(text: str) -> object:
    try:
        value, end = _scan(text, 0)
    except StopIteration as stop:
        raise BadPayload("truncated" if stop.value == len(text) else "not json") from None
    except RecursionError:
        raise BadPayload("nested too deeply") from None
    except (ValueError, KeyError, SystemError) as error:  # the last: 3.11 without the json module
        where = getattr(error, "pos", 0)
        unfinished = where >= len(text) or str(error).startswith("Unterminated string")
        raise BadPayload("truncated" if unfinished else "not json") from None
    if end != len(text):
        raise BadPayload("not json")
    return value


# --- what a parsed payload may still hide ----------------------------------------------------------------

_TOP_PATHS = ("cwd", "transcript_path", "agent_transcript_path", "file_path")
_INPUT_PATHS = ("file_path", "path", "notebook_path")


def _has_broken_path(payload: "dict[str, Any]") -> bool:
    """Whether a path holds a character that no path has: then its backslashes were read as escapes."""
    for key in _TOP_PATHS:
        value = payload.get(key)
        if value and isinstance(value, str) and not value.isprintable():
            return True
    inputs = payload.get("tool_input")
    if isinstance(inputs, dict):
        for key in _INPUT_PATHS:
            value = inputs.get(key)
            if value and isinstance(value, str) and not value.isprintable():
                return True
    return False


def _without_lone_surrogates(value: "Any", depth: int = 0) -> "Any":
    """Half an emoji is valid JSON, and nothing that could be stored or printed."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode() if not value.isascii() else value
    if depth > _DEEPEST:
        raise BadPayload("nested too deeply")
    if isinstance(value, dict):
        return {
            _without_lone_surrogates(k, depth): _without_lone_surrogates(v, depth + 1)
            for k, v in value.items()
        }
    if isinstance(value, list):
        return [_without_lone_surrogates(item, depth + 1) for item in value]
    return value


# --- the other direction ---------------------------------------------------------------------------------


def encode_json(value: object, depth: int = 0) -> str:
    """The value as JSON in ASCII, which every console and code page can print."""
    if isinstance(value, str):
        return encode_basestring_ascii(value)
    if value is None or value is True or value is False:
        return "null" if value is None else "true" if value else "false"
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, float):
        return float.__repr__(value) if value - value == 0.0 else "null"  # JSON knows no NaN
    if depth > _DEEPEST:
        raise ValueError("nested too deeply for JSON")
    if isinstance(value, dict):
        pairs = [f"{encode_json(str(key))}:{encode_json(item, depth + 1)}" for key, item in value.items()]
        return "{" + ",".join(pairs) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join([encode_json(item, depth + 1) for item in value]) + "]"
    raise TypeError(f"{type(value).__name__} has no JSON form")
