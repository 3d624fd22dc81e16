"""How much room everything takes, and what could be freed.

Summing up payloads reads the whole of them: in a large database that is done once a day, by the worker.
"""

import json
import os
from pathlib import Path

from backstory import clock
from backstory.paths import Home
from backstory.store import Store

# What `bytes_freeable` counts as old: an age at which raw payloads are rarely asked for.
OLD_DAYS = 30
_DAY_MS = 86_400_000
_LARGE = 64_000_000
_NOTED = "payload_bytes"


def record_payload_sizes(store: Store) -> None:
    """Sum up the payloads, for `bytes_taken` and `bytes_freeable` to tell; inside a transaction."""
    store.meta.set(_NOTED, json.dumps(_summed(store)))


def bytes_taken(home: Home, store: Store | None) -> dict[str, int]:
    """The bytes of each part of the home; `payloads` are a part of the database."""
    database = home.database
    sizes = {
        "database": _file(database),
        "log": _file(database.with_name(database.name + "-wal")),
        "payloads": _payloads(store)[0] if store else 0,
    }
    folders = {
        "spool": home.spool,
        "transcripts": home.transcripts,
        "archive": home.archive,
        "backups": home.backups,
        "briefs": home.briefs,
        "logs": home.logs,
    }
    return sizes | {name: _folder(path) for name, path in folders.items()}


def bytes_freeable(store: Store) -> dict[str, int]:
    """Bytes that could go: free pages, and payloads that `retention.payload_days` would archive."""
    old = _payloads(store)[1]
    return {"free pages": store.retention.room().free, f"payloads older than {OLD_DAYS} days": old}


def _payloads(store: Store) -> tuple[int, int]:
    """The bytes of all payloads and of the old ones; of a large database as of the last day of work."""
    if store.retention.room().size <= _LARGE:
        return _summed(store)
    everything, old = json.loads(store.meta.get(_NOTED) or "[0, 0]")
    return int(everything), int(old)


def _summed(store: Store) -> tuple[int, int]:
    return store.retention.payload_bytes(clock.now_ms() - OLD_DAYS * _DAY_MS)


def _file(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _folder(path: Path) -> int:
    return sum(_file(Path(folder) / name) for folder, _, names in os.walk(path) for name in names)
