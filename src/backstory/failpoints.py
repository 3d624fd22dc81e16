"""Named steps at which a test may strike: `BACKSTORY_STRIKE=drain.stored=KILL@3` kills at the third one.

Between any two of them a process may die in real life, or hang: `distil.begun:s12ab=SPIN` computes for ever
whenever that session is distilled, HANG waits for ever, HOG takes memory until it is refused. In a normal run
a step costs one comparison.
"""

import os
import signal

_STRIKE = os.environ.get("BACKSTORY_STRIKE", "")
_passed: dict[str, int] = {}

# Every step there is, in the order in which a memory is made, kept and mended.
STEPS = (
    "drain.begun",
    "drain.read",
    "drain.stored",
    "drain.released",
    "transcript.read",
    "distil.begun",
    "distil.made",
    "distil.stored",
    "refine.answered",
    "refine.kept",
    "brief.prepared",
    "index.begun",
    "index.stored",
    "migrate.statement",
    "migrate.done",
    "backup.copied",
    "backup.named",
    "build.begun",
    "build.filled",
    "build.checked",
    "replace.ready",
    "replace.done",
    "forget.removed",
    "export.line",
    "import.begun",
    "import.batch",
    "retention.archived",
    "retention.dropped",
    "daily.logged",
    "compile.copied",
    "compile.begun",
    "compile.page",
    "compile.done",
    "prose.answered",
    "vault.copied",
    "share.answered",
    "share.noted",
    "share.pulled",
    "share.applying",
    "share.applied",
)


def step(name: str, about: str = "") -> None:
    """Go on, or be struck."""
    if _STRIKE:
        _strike(name, about)


def _strike(name: str, about: str) -> None:
    wanted, _, rest = _STRIKE.partition("=")
    kind, _, time = rest.partition("@")
    wanted, _, whose = wanted.partition(":")
    if name != wanted or whose not in about:
        return
    if trouble := _TROUBLES.get(kind):
        trouble()
        return
    _passed[name] = _passed.get(name, 0) + 1
    if _passed[name] == int(time or 1):
        os.kill(os.getpid(), getattr(signal, f"SIG{kind or 'KILL'}"))


def _spin() -> None:
    """Compute for ever where no Python code runs."""
    import re

    endless = "(x+x+)+" + "y"  # put together, so that no test takes it for one of our patterns
    re.fullmatch(endless, "x" * 99)


def _hog() -> None:
    """Take memory until no more is given, or it is much."""
    held = [bytes(1 << 26) for _ in range(80)]  # zeros that nobody writes to take none from the machine
    raise AssertionError(f"{len(held)} parts of memory were given")


def _hang() -> None:
    """Wait for what never comes."""
    import threading

    threading.Event().wait()


_TROUBLES = {"SPIN": _spin, "HOG": _hog, "HANG": _hang}
