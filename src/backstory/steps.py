"""Named steps at which a test may strike: `BACKSTORY_STRIKE=drain.stored=KILL@3` kills at the third one.

Between any two of them a process may die in real life. In a normal run a step costs one comparison.
"""

import os
import signal

_STRIKE = os.environ.get("BACKSTORY_STRIKE", "")
_passed: dict[str, int] = {}

# Every step there is, in the order in which a memory is made, kept and mended.
STEPS = (
    "drain.read",
    "drain.stored",
    "drain.released",
    "transcript.read",
    "distil.made",
    "distil.stored",
    "refine.answered",
    "refine.kept",
    "brief.prepared",
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
)


def step(name: str) -> None:
    """Go on, or be struck."""
    if _STRIKE:
        _strike(name)


def _strike(name: str) -> None:
    wanted, _, rest = _STRIKE.partition("=")
    kind, _, time = rest.partition("@")
    if name == wanted:
        _passed[name] = _passed.get(name, 0) + 1
        if _passed[name] == int(time or 1):
            os.kill(os.getpid(), getattr(signal, f"SIG{kind or 'KILL'}"))
