"""What could not be read is kept with its reason, redacted, and ages out with a notice. Never dropped."""

import logging
import time
from pathlib import Path

from backstory.atomic import make_private_dir, write_atomic
from backstory.capture.privacy import Privacy
from backstory.paths import Home

log = logging.getLogger(__name__)
KEPT_DAYS = 14
_REASON = ".reason"


def put(home: Home, file: Path, data: bytes, reason: str, privacy: Privacy) -> None:
    """Copy a spooled file's redacted bytes and the reason into quarantine; the caller removes the file."""
    make_private_dir(home.quarantine)
    target = home.quarantine / f"{file.name}.{time.time_ns():x}"
    write_atomic(target, privacy.raw(data))
    write_atomic(target.with_name(target.name + _REASON), reason.encode())
    log.warning("quarantined %s: %s", file.name, reason)


def listing(home: Home) -> list[tuple[str, str]]:
    """What lies in quarantine: file name and reason."""
    try:
        return sorted(
            (path.name.removesuffix(_REASON), path.read_text("utf-8"))
            for path in home.quarantine.iterdir()
            if path.name.endswith(_REASON)
        )
    except FileNotFoundError:
        return []


def age_out(home: Home) -> int:
    """Remove what has lain in quarantine for more than 14 days; says so in the log."""
    limit = time.time() - KEPT_DAYS * 86_400
    removed = 0
    for name, reason in listing(home):
        file = home.quarantine / name
        if file.exists() and file.stat().st_mtime < limit:
            file.unlink()
            file.with_name(name + _REASON).unlink(missing_ok=True)
            log.warning("removed %s from quarantine after %d days (%s)", name, KEPT_DAYS, reason)
            removed += 1
    return removed
