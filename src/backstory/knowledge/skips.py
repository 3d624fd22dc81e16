"""Work that was left out: a record for programs, shown to whoever comes next, and then gone."""

from backstory import clock
from backstory.knowledge.vault import Vault


def skip(vault: Vault, what: str, why: str) -> None:
    """Leave word that something was not done; the caller holds the vault."""
    rows = vault.state("skipped").get("skipped", [])
    vault.set_state("skipped", {"skipped": [*rows, {"what": what, "why": why, "at": clock.now_ms()}]})


def skips(vault: Vault) -> list[str]:
    """What was left out, in words."""
    return [
        f"{row['what']} was not finished: {row['why']}" for row in vault.state("skipped").get("skipped", [])
    ]


def take_skips(vault: Vault) -> list[str]:
    """What was left out, in words, and no longer on record; the caller holds the vault."""
    found = skips(vault)
    if found:
        vault.file(".backstory/skipped.json").unlink(missing_ok=True)
    return found
