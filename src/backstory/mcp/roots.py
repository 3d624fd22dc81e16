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


def from_roots(result: object) -> list[str]:
    """The folders of this machine among a client's roots, as it orders them."""
    roots = result.get("roots") if isinstance(result, dict) else None
    uris = [root.get("uri") for root in roots if isinstance(root, dict)] if isinstance(roots, list) else []
    return [folder for uri in uris if isinstance(uri, str) and (folder := _folder(uri))]


def _folder(uri: str) -> str:
    """The folder that a URI names, or "" if it is none, or another machine's."""
    if not uri.startswith("file://"):
        return ""
    from urllib.parse import unquote_to_bytes, urlsplit

    try:
        parts = urlsplit(uri)
        path = os.fsdecode(unquote_to_bytes(parts.path))
    except ValueError:  # such as file://[
        return ""
    if parts.netloc not in ("", "localhost") or "\0" in path:
        return ""
    if path[2:3] == ":" and path[1].isalpha() and path[3:4] in ("", "/"):  # of Windows: /C:/shop
        return path[1:] if os.name == "nt" else ""
    return path
