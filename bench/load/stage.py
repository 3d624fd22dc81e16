"""An installed home to measure in, and what was measured."""

import contextlib
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from backstory.capture.hook_bundle import write_hook_files, write_hook_settings
from backstory.paths import Home
from backstory.settings import Settings

SIZE = 600  # bytes of an event
SETTLE_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table; `met` is None where nothing was promised."""

    what: str
    value: str
    target: str = ""
    met: bool | None = None


@dataclass(slots=True)
class Figures:
    """What was measured: as lines, and as numbers for programs."""

    rows: list[Row] = field(default_factory=list)
    numbers: dict[str, Any] = field(default_factory=dict)

    def add(
        self, key: str, number: Any, what: str, value: str, target: str = "", met: bool | None = None
    ) -> None:
        """One more figure."""
        self.numbers[key] = number
        self.rows.append(Row(what, value, target, met))


@contextlib.contextmanager
def stage(kept: Path | None = None) -> Iterator[tuple[Home, Path]]:
    """An installed home, and a project under git; in a folder that is kept, or in one that is not."""
    scratch = tempfile.TemporaryDirectory(prefix="backstory-load-")
    with scratch if kept is None else contextlib.nullcontext(str(kept)) as folder:
        top = Path(folder).resolve()
        project = top / "shop"
        (project / ".git" / "objects").mkdir(parents=True, exist_ok=True)
        (project / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        (project / ".git" / "config").write_text(
            '[remote "origin"]\n\turl = git@github.com:example/shop.git\n'
        )
        home = Home(top / "home")
        write_hook_files(home.root)
        write_hook_settings(home.root, Settings().for_hook({}))
        try:
            yield home, project
        finally:
            until(lambda: not workers(home), 30)


def until(holds: Callable[[], bool], seconds: float) -> bool:
    """Wait until it holds; False if it does not in so many seconds."""
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def workers(home: Home) -> list[int]:
    """The processes that are workers of this home."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                words = (entry / "cmdline").read_bytes().split(b"\0")
                if b"backstory.worker" in words and str(home.root).encode() in words:
                    found.append(int(entry.name))
    return found
