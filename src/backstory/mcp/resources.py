"""Briefs and sessions as documents that a client can attach."""

from pathlib import Path
from typing import Any

from backstory.app import App
from backstory.errors import SourceMissing
from backstory.hook.sanitize import sanitized_line
from backstory.mcp.slow_calls import in_time
from backstory.mcp.tool_calls import PATIENCE_SECONDS, handle_document, quote_notes, well_formed
from backstory.model import Session

MIME_TYPE = "text/markdown"
_SESSIONS = 20
# As much of a session as one may attach to a conversation without filling it.
_LONGEST = 24_000
_BRIEF, _SESSION = "backstory://brief", "backstory://session/"
TEMPLATES = (
    {
        "uriTemplate": f"{_SESSION}{{handle}}",
        "name": "session",
        "title": "A past session",
        "mimeType": MIME_TYPE,
    },
)


def list_resources(folder: str) -> list[dict[str, Any]]:
    """This project's brief and its latest sessions."""
    sessions = in_time("resources/list", folder, lambda: _sessions(folder))
    brief = {"uri": _BRIEF, "name": "brief", "title": "What a session starting here is told"}
    return [
        {**brief, "mimeType": MIME_TYPE},
        *(
            {
                "uri": f"{_SESSION}{session.id}",
                "name": session.id,
                "title": sanitized_line(f"{session.agent}: {session.title or 'untitled'}")[:120],
                "mimeType": MIME_TYPE,
            }
            for session in sessions
        ),
    ]


def _sessions(folder: str) -> list[Session]:
    with App(patience=PATIENCE_SECONDS) as app:
        if not app.home.database.exists():
            return []
        return app.sessions(app.project_at(Path(folder)).id, _SESSIONS)


def read_resource(uri: str, folder: str) -> str:
    """The text of a resource; `SourceMissing` if there is none."""
    return in_time("resources/read", [uri, folder], lambda: _read(well_formed(uri), folder))


def _read(uri: str, folder: str) -> str:
    with App(patience=PATIENCE_SECONDS) as app:
        if uri == _BRIEF:
            return app.brief(Path(folder), "claude-code").text
        if not uri.startswith(_SESSION):
            raise SourceMissing(f"there is no resource {uri!r}")
        handle = uri.removeprefix(_SESSION)
        text = handle_document(app.show(handle))
        if (more := len(text) - _LONGEST) > 0:
            how = f"the tool get reads on, with handle={handle} and offset={_LONGEST}"
            text = f"{text[:_LONGEST]}\n[{more} characters more: {how}]"
        return quote_notes(text)
