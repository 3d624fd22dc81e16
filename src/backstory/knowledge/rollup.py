"""What stays of many days: a page for each week, the highlights of the weeks, the runbook; all bounded.

Every row keeps its citation: whose it is, and the log that it stands in.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import date

from backstory.hook.brief_text import HANDLE
from backstory.knowledge.articles import citation
from backstory.knowledge.index_page import article_links
from backstory.knowledge.log_notes import Note, note_summary
from backstory.knowledge.markdown_page import harmless_line, page_sections, wikilink, with_block
from backstory.knowledge.page_transaction import Changes
from backstory.model import MemoryKind
from backstory.store import Store

WEEK_CHARS = 8_000
HIGHLIGHT_CHARS = 4_000
_ROW = 260
_COMMANDS = 40
# heading, the kinds under it, how many rows at most
_PARTS = (
    ("What came of it", ("outcome",), 12),
    ("Decisions", ("decision", "wish"), 14),
    ("Lessons", ("lesson", "attempt"), 14),
    ("Noted", ("line",), 14),
    ("Open threads", ("step",), 10),
    ("What was done", ("turn",), 16),
)
_HIGHLIGHTS = (("Decisions", 5), ("Lessons", 4), ("Noted", 2))
_WEEKS = 12
_FEW_WORDS = 3
_TAKEN_UP = 0.75


def week_of(day: str) -> str:
    """The week of a day, as its page is called: 2026-W47."""
    year, week, _ = date.fromisoformat(day).isocalendar()
    return f"{year}-W{week:02}"


def put_week(changes: Changes, week: str, notes: Iterable[Note]) -> None:
    """Plan the page of a week."""
    found = list(notes)
    if not found:
        return
    days = sorted({note.day for note in found})
    sessions = len({note.session for note in found if note.session})
    agents = sorted({note.source for note in found if note.session})
    head = f"{sessions} session{'' if sessions == 1 else 's'}"
    head += f" of {', '.join(agents)}" if agents else ""
    parts = [f"{head}; " + ", ".join(wikilink(f"daily/{day}", day) for day in days)]
    left = WEEK_CHARS - len(parts[0])
    asked = [(note, _words(note.text.partition(" Said: ")[0])) for note in found if note.kind == "turn"]
    for title, kinds, most in _PARTS:
        rows, left = _rows(
            [note for note in found if note.kind in kinds and not _taken_up(note, asked)], most, left
        )
        if rows:
            parts.append(f"## {title}\n\n" + "\n".join(rows))
    page = f"weekly/{week}.md"
    changes.put(page, with_block(changes.read(page) or "", f"# Week {week}\n", "\n\n".join(parts)))


def _taken_up(step: Note, asked: Sequence[tuple[Note, set[str]]]) -> bool:
    """Whether a step that was left open was asked for later on, nearly in its own words."""
    if step.kind != "step" or len(words := _words(step.text)) < _FEW_WORDS:
        return False
    return any(
        note.session != step.session
        and (note.day, note.time) > (step.day, step.time)
        and len(words & said) >= _TAKEN_UP * len(words)
        for note, said in asked
    )


def _words(text: str) -> set[str]:
    return {
        word for word in re.findall(r"\w{3,}", text.casefold()) if word not in ("todo", "next", "the", "and")
    }


def _rows(notes: Sequence[Note], most: int, room: int) -> tuple[list[str], int]:
    """The latest notes that fit, in the order they were made, each said once; and what room is left."""
    seen: set[str] = set()
    rows: list[str] = []
    dropped = 0
    for note in reversed(notes):
        said = note_summary(note)
        words = " ".join(said.casefold().split())
        row = f"- {harmless_line(said, _ROW)} {citation(note)}"
        if words in seen:
            continue
        seen.add(words)
        if len(rows) >= most or len(row) > room:
            dropped += 1
            continue
        room -= len(row) + 1
        rows.append(row)
    rows.reverse()
    if dropped:
        rows.append(f"- ({dropped} more in the daily logs)")
    return rows, room


def put_highlights(changes: Changes) -> None:
    """Plan the highlights: the first rows of the latest weeks' pages."""
    weeks = article_links(changes, "weekly")[-_WEEKS:]
    parts: list[str] = []
    room = HIGHLIGHT_CHARS
    for address in reversed(weeks):
        found = page_sections(changes.read(f"{address}.md") or "")
        rows = []
        for title, most in _HIGHLIGHTS:
            listed = [row for row in found.get(title, "").splitlines() if re.match(r"- [^(]", row)]
            rows += listed[-most:]
        text = f"## {wikilink(address, address.partition('/')[2])}\n\n" + "\n".join(rows)
        if rows and len(text) > room:
            break
        if rows:
            room -= len(text)
            parts.append(text)
    if parts:
        old = changes.read("highlights.md") or ""
        changes.put("highlights.md", with_block(old, "# Highlights\n", "\n\n".join(parts)))


def put_runbook(changes: Changes, store: Store, project_id: str) -> None:
    """Plan the runbook: commands that were run here, with how they went."""
    seen: set[str] = set()
    rows: list[str] = []
    for memory in store.memories.of_project(project_id, [MemoryKind.COMMAND], _COMMANDS * 4):
        words = memory.text.rpartition(":")[0] or memory.text
        if words not in seen and len(rows) < _COMMANDS:
            seen.add(words)
            rows.append(f"- {harmless_line(memory.text, _ROW)} (`{memory.id[:HANDLE]}`)")
    if rows:
        head = "# Runbook\n\nCommands that were run here, and how they went; the latest first.\n"
        changes.put("RUNBOOK.md", with_block(changes.read("RUNBOOK.md") or "", head, "\n".join(rows)))
