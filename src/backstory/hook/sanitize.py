"""Text that cannot pretend to be anything but a quoted note.

What is remembered came from prompts, replies and tool output: it may carry terminal escapes, characters
that reorder or hide text, or tags that an agent's model takes for its own (`<system-reminder>`). One row of
a brief is one line; what looks like a tag gets other brackets, while code such as `List<String>` stays.
"""

from backstory.hook.untrusted_text import without_links, without_remote_code

_WORDS = frozenset(
    (
        *("system", "user", "assistant", "human", "developer", "instructions", "instruction", "context"),
        *("tool", "function", "thinking", "private", "invoke", "important", "reminder", "prompt", "notes"),
    )
)
_NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-:.|")
HIDDEN = dict.fromkeys(
    [
        *range(0x09), *range(0x0E, 0x1C), *range(0x7F, 0x85), *range(0x86, 0xA0),  # controls
        0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180E, 0x3164, 0xFEFF, 0xFFA0,  # invisible
        *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070),  # zero width, bidi
        *range(0xFFF9, 0xFFFC), *range(0xD800, 0xE000), *range(0xE0000, 0xE0080),  # annotations, halves, tags
    ]
)  # fmt: skip
_HIDDEN_OR_ALIKE = HIDDEN | {0xFF1C: "‹", 0xFF1E: "›", 0xFE64: "‹", 0xFE65: "›"}


def sanitized_line(text: str) -> str:
    """The text on one line, without what hides, reorders, impersonates or runs what it fetches."""
    if "\x1b" in text or "\x9b" in text:
        text = without_escapes(text)
    if not (text.isascii() and text.isprintable()):
        text = text.translate(_HIDDEN_OR_ALIKE)
    text = " ".join(text.split())
    if "](" in text:
        text = without_links(text)
    text = without_remote_code(text)
    if "<" in text:
        text = _without_tags(text)
    return text.replace("```", "'''") if "```" in text else text


def without_escapes(text: str) -> str:
    """Cut terminal sequences: colours and cursor moves, and titles and links up to their end."""
    kept = []
    at = 0
    while at < len(text):
        char = text[at]
        if char not in "\x1b\x9b":
            kept.append(char)
            at += 1
            continue
        kind = "[" if char == "\x9b" else text[at + 1 : at + 2]
        at += 1 if char == "\x9b" else 2
        if kind == "[":
            while at < len(text) and not "@" <= text[at] <= "~":
                at += 1
            at += 1
        elif kind and kind in "]PX^_":
            while at < len(text) and text[at] not in "\a\x9c" and text[at : at + 2] != "\x1b\\":
                at += 1
            at += 2 if text[at : at + 1] == "\x1b" else 1
    return "".join(kept)


def _without_tags(text: str) -> str:
    kept = []
    done = 0
    at = text.find("<")
    while at >= 0:
        end = _tag_end(text, at)
        if end:
            kept += [text[done:at], "‹", text[at + 1 : end].rstrip(">"), "›" if text[end - 1] == ">" else ""]
            done = end
        at = text.find("<", max(at + 1, done))
    return "".join(kept) + text[done:]


def _tag_end(text: str, start: int) -> int:
    """Where the tag that opens at `start` ends, or 0 if it is none: a comparison, a generic, a redirect."""
    at = start + 1
    while text[at : at + 1] in ("/", "!", "?", " ") and at < start + 4:
        at += 1
    first = at
    while at < len(text) and text[at] in _NAME:
        at += 1
    name = text[first:at].strip(":.|")
    if not name or not (name[0].isalpha() or name[0] == "_"):
        return 0
    words = name.lower().replace(":", "_").split("_")
    reserved = "-" in name or "|" in text[first:at] or not _WORDS.isdisjoint(words)
    if first > start + 1 and text[start + 1] == " " and not reserved:
        return 0  # `a < b`
    generic = start > 0 and (text[start - 1].isalnum() or text[start - 1] == "_") and text[start + 1] != "/"
    if generic and not reserved:
        return 0
    close = text.find(">", at, at + 400)
    between = text[at:close] if close >= 0 else ""
    if close >= 0 and "<" not in between and (reserved or between in ("", "/", " /") or "=" in between):
        return close + 1
    return at if reserved else 0
