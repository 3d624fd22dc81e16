"""How a memory stands today: in force or history, fresh or overtaken by its files."""

from backstory.hook import file_stamps
from backstory.hook.brief_text import HANDLE
from backstory.model import Memory, MemoryKind, MemoryStatus
from backstory.recall.freshness import CHANGED, GONE, MOVED, Freshness
from backstory.recall.rows import Row, row
from backstory.store import Store

_WORDS = {CHANGED: file_stamps.CHANGED, GONE: file_stamps.GONE}
_INSTEAD_CHARS = 80


class Standing:
    """Says of memories of one store how they stand; looks at each work tree once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._fresh = Freshness(store)

    def label(self, *ids: str) -> str:
        """In a few words, "" if there is nothing to say: "superseded by m1a2b3c4d", "fresh", "gone".

        Of several that say the same, the first is shown; if another of them is history, all of it is.
        """
        kept = [memory for mid in ids if mid.startswith("m") and (memory := self._store.memories.kept(mid))]
        words = [self.succession(memory) for memory in kept] + [self._fresh.of(memory) for memory in kept[:1]]
        return ", ".join(dict.fromkeys(filter(None, words)))

    def succession(self, memory: Memory) -> str:
        """Whether it is history, and what is in force in its place."""
        if memory.status is not MemoryStatus.SUPERSEDED:
            return ""
        newer = self._store.supersessions.newer_than(memory.id)
        return f"superseded by {newer[:HANDLE]}" if newer else "superseded"

    def row(self, section: str, memory: Memory) -> Row:
        """Its row with what it replaced and, if its files are not as they were, that; no praise."""
        label = _warns(self._fresh.of(memory))
        return row(section, memory, self._instead(memory), label, self._fresh.files(memory))

    def _instead(self, memory: Memory) -> str:
        if memory.kind not in (MemoryKind.DECISION, MemoryKind.FACT):
            return ""
        older = [self._store.memories.kept(mid) for mid in self._store.supersessions.older_than(memory.id)]
        texts = [each.text for each in sorted(filter(None, older), key=lambda each: each.at)]
        if not texts:
            return ""
        text = texts[-1]
        return text if len(text) <= _INSTEAD_CHARS else text[: _INSTEAD_CHARS - 1] + "…"


def _warns(label: str) -> str:
    """What a brief says of a memory's files; nothing if they are as they were."""
    return f"its files: {label}" if label.startswith(MOVED) else _WORDS.get(label, "")
