"""Briefs and sessions as documents that a client can attach."""

from pathlib import Path
from typing import Any

from backstory.app import App
from backstory.errors import SourceMissing
from backstory.hook.neutral import neutral
from backstory.mcp.calls import PATIENCE_SECONDS, document, quoted

MIME_TYPE = "text/markdown"
_SESSIONS = 20
_BRIEF, _SESSION = "backstory://brief", "backstory://session/"
TEMPLATES = (
    {
        "uriTemplate": f"{_SESSION}{{handle}}",
        "name": "session",
        "title": "A past session",
        "mimeType": MIME_TYPE,
    },
)


def listing(folder: str) -> list[dict[str, Any]]:
    """This project's brief and its latest sessions."""
    with App(patience=PATIENCE_SECONDS) as app:
        sessions = (
            app.sessions(app.project_at(Path(folder)).id, _SESSIONS) if app.home.database.exists() else []
        )
    brief = {"uri": _BRIEF, "name": "brief", "title": "What a session starting here is told"}
    return [
        {**brief, "mimeType": MIME_TYPE},
        *(
            {
                "uri": f"{_SESSION}{session.id}",
                "name": session.id,
                "title": neutral(f"{session.agent}: {session.title or 'untitled'}")[:120],
                "mimeType": MIME_TYPE,
            }
            for session in sessions
        ),
    ]


def read(uri: str, folder: str) -> str:
    """The text of a resource; `SourceMissing` if there is none."""
    with App(patience=PATIENCE_SECONDS) as app:
        if uri == _BRIEF:
            return app.brief(Path(folder), "claude-code").text
        if not uri.startswith(_SESSION):
            raise SourceMissing(f"there is no resource {uri!r}")
        return quoted(document(app.show(uri.removeprefix(_SESSION))))
