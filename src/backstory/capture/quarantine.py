"""What could not be read is kept with its reason, redacted, and ages out with a notice. Never dropped."""

import logging
import time
from pathlib import Path

from backstory.atomic import make_private_dir, write_atomic
from backstory.capture.privacy import Privacy
from backstory.file_reader import LARGEST_HISTORY, read_bytes, read_text
from backstory.hook.spool import Entry
from backstory.paths import Home

log = logging.getLogger(__name__)
KEPT_DAYS = 14
_REASON = ".reason"


def quarantine_file(home: Home, entry: Entry, reason: str, privacy: Privacy, readable: bool = True) -> bool:
    """Copy a spooled file, redacted, and the reason into quarantine; the caller removes the file.

    One that cannot even be redacted, because that ended the worker, is not `readable`: only how large it was
    is kept.

    False if the file is gone or not ours to read. The name is the same each time, so that a drain that
    was killed in between leaves one copy.
    """
    file = Path(entry.path)
    try:
        data = (
            read_bytes(file, LARGEST_HISTORY)
            if readable
            else b"%d bytes that could not be redacted" % file.stat().st_size
        )
    except OSError as error:
        log.warning("%s cannot be read: %s", file.name, error)
        return False
    target = make_private_dir(home.quarantine) / f"{file.name}.{entry.mtime_ns:x}"
    write_atomic(target.with_name(target.name + _REASON), reason.encode())
    write_atomic(target, privacy.raw(data))
    log.warning("quarantined %s: %s", file.name, reason)
    return True


def quarantined_files(home: Home) -> list[tuple[str, str]]:
    """What lies in quarantine: file name and reason."""
    try:
        return sorted(
            (path.name.removesuffix(_REASON), read_text(path))
            for path in home.quarantine.iterdir()
            if path.name.endswith(_REASON)
        )
    except (OSError, ValueError):  # none yet, not for us, or not what we wrote
        return []


def age_out(home: Home) -> int:
    """Remove what has lain in quarantine for more than 14 days; says so in the log."""
    limit = time.time() - KEPT_DAYS * 86_400
    removed = 0
    for name, reason in quarantined_files(home):
        file = home.quarantine / name
        noted = file.with_name(name + _REASON)
        if noted.stat().st_mtime < limit:
            file.unlink(missing_ok=True)
            noted.unlink()
            log.warning("removed %s from quarantine after %d days (%s)", name, KEPT_DAYS, reason)
            removed += 1
    return removed
