"""Every burial in a file of its own, beside the database: a backup that is restored brings nothing back.

A line is written and synced before the burial commits. So a line may speak of a burial that never was
acknowledged, which forgets what somebody asked to forget; the other way round nothing is lost. It holds ids,
never a text.
"""

import json
import os
import threading
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from backstory.atomic import make_private_dir
from backstory.file_reader import read_lines


@dataclass(frozen=True, slots=True)
class Burial:
    """One id that never comes back, and who said so."""

    tenant: str
    project: str
    id: str
    author: str


class GraveJournal:
    """The file. Appending is one write, so lines of two servers do not mix."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        if not path.parent.exists():  # one that is there keeps its mode: PostgreSQL's user may go through it
            make_private_dir(path.parent)
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._end_torn_line()

    def append(self, burials: Sequence[Burial]) -> None:
        """Keep them; when this returns they are on the disk."""
        text = "".join(json.dumps(asdict(each), sort_keys=True) + "\n" for each in burials)
        with self._lock:
            os.write(self._file, text.encode())
            os.fsync(self._file)

    def burials(self) -> Iterator[Burial]:
        """All of them, oldest first; a line that a kill tore is none."""
        for line in read_lines(self.path):
            try:
                kept = json.loads(line)
                yield Burial(*(str(kept[name]) for name in ("tenant", "project", "id", "author")))
            except (ValueError, KeyError, TypeError):
                continue

    def close(self) -> None:
        """Let the file go."""
        os.close(self._file)

    def _end_torn_line(self) -> None:
        """What a kill left without its end must not swallow the next line."""
        last = b"\n"
        for line in read_lines(self.path):
            last = line
        if not last.endswith(b"\n"):
            os.write(self._file, b"\n")
