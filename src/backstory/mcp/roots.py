"""Which folder the client works in: as it says, else as it tells its children, else where it started us."""

import os

# Set by the clients for their children. Three of them set each other's, so the own one of each comes first.
_VARIABLES = ("BACKSTORY_PROJECT_DIR", "QWEN_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR")


def from_environment() -> str:
    """The folder that the client's environment names, or the working folder."""
    for name in _VARIABLES:
        if os.path.isabs(folder := os.environ.get(name, "")):  # noqa: PTH117 - pathlib is not loaded
            return folder
    try:
        return os.getcwd()  # noqa: PTH109
    except OSError:  # deleted under us
        return os.environ.get("PWD", "/")


def from_roots(result: object) -> str:
    """The first folder among a client's roots, or ""."""
    roots = result.get("roots") if isinstance(result, dict) else None
    for root in roots if isinstance(roots, list) else ():
        uri = root.get("uri") if isinstance(root, dict) else None
        if isinstance(uri, str) and uri.startswith("file://"):
            from urllib.parse import unquote_to_bytes, urlsplit

            try:
                return os.fsdecode(unquote_to_bytes(urlsplit(uri).path))
            except ValueError:  # such as file://[
                continue
    return ""
