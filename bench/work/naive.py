"""What anybody would write in an hour: the last words and commit subjects of the last sessions; FTS5."""

import json
import re
import sqlite3
from collections.abc import Iterator, Sequence

from bench.work.labels import Session
from bench.work.replay import Hook, hooks

_COMMIT = re.compile(r"git commit[^\n]{0,200}?-m\s{1,4}[\"'](?:\$\(cat <<'?EOF'?\n)?([^\n\"]{1,200})")
_WORD = re.compile(r"\w+")
_SMALL = frozenset(
    ["the", "and", "was", "what", "why", "how", "did", "does", "for", "with", "when", "which", "are", "our"]
)
_SESSIONS, _BRIEF, _HITS, _HIT, _PIECE = 5, 6_000, 8, 300, 1_000


class Naive:
    """The baseline's brief and search, over the same earlier sessions."""

    def __init__(self, earlier: Sequence[Session]) -> None:
        self._index = sqlite3.connect(":memory:")
        self._index.execute("CREATE VIRTUAL TABLE t USING fts5(x, tokenize='porter unicode61')")
        self._rows = [self._take(session) for session in earlier]

    def _take(self, session: Session) -> tuple[str, list[str]]:
        said = list(_said(session.text))
        commands = [c for c in map(_command, hooks(session.text)) if c]
        prompts = [h.fields["prompt"] for h in hooks(session.text) if h.event == "UserPromptSubmit"]
        for text in (*prompts, *said, *(command[:_PIECE] for command in commands)):
            for at in range(0, len(text), 900):
                self._index.execute("INSERT INTO t VALUES (?)", (text[at : at + _PIECE],))
        subjects = [m[1].strip()[:120] for command in commands if (m := _COMMIT.search(command))]
        return max(said[-4:], key=len, default="")[:900], list(dict.fromkeys(subjects))

    def brief(self) -> str:
        """The last words and commits of the last sessions, newest first."""
        rows = []
        for last, commits in self._rows[-_SESSIONS:][::-1]:
            rows += [f"- Last session ended: {last}", *(f"- commit: {each}" for each in commits)]
        return "\n".join(rows)[:_BRIEF]

    def search(self, question: str, hits: int = _HITS, hit: int = _HIT) -> str:
        """The best pieces by FTS5's own rank, of each its first `hit` characters."""
        words = [word for word in _WORD.findall(question.lower()) if len(word) > 2 and word not in _SMALL]
        if not words:
            return ""
        found = self._index.execute(
            "SELECT x FROM t WHERE t MATCH ? ORDER BY rank LIMIT ?",
            (" OR ".join(f'"{word}"' for word in words), hits),
        )
        return "\n".join(f"- {text[:hit]}" for (text,) in found)


def _command(hook: Hook) -> str:
    is_command = hook.event == "PreToolUse" and hook.fields["tool_name"] == "Bash"
    return str(hook.fields["tool_input"].get("command", "")) if is_command else ""


def _said(transcript: str) -> Iterator[str]:
    """What the agent said, message by message."""
    for line in transcript.splitlines():
        try:
            row = json.loads(line)
        except ValueError:
            continue
        item = row.get("payload") or {}
        if row.get("type") == "response_item" and item.get("role") == "assistant":
            blocks = item.get("content") or []
        elif row.get("type") == "assistant" and not row.get("isSidechain"):
            content = (row.get("message") or {}).get("content")
            blocks = content if isinstance(content, list) else [{"type": "text", "text": content or ""}]
        else:
            continue
        for block in blocks:
            if isinstance(block, dict) and (text := str(block.get("text") or "").strip()):
                yield text
