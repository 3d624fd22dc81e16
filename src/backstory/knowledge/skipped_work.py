"""Work that was left out: a record for programs, shown to whoever comes next, and then gone."""

from typing import Any

from backstory import clock
from backstory.knowledge.vault import Vault

_TOLD = {"what", "why"}


def record_skip(vault: Vault, what: str, why: str) -> None:
    """Leave word that something was not done; the caller holds the vault."""
    rows = _rows(vault)
    vault.set_state("skipped", {"skipped": [*rows, {"what": what, "why": why, "at": clock.now_ms()}]})


def recorded_skips(vault: Vault) -> list[str]:
    """What was left out, in words."""
    return [f"{row['what']} was not finished: {row['why']}" for row in _rows(vault)]


def _rows(vault: Vault) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = vault.state("skipped", _lists_rows).get("skipped", [])
    return rows


def _lists_rows(state: dict[str, Any]) -> bool:
    rows = state.get("skipped", [])
    return isinstance(rows, list) and all(isinstance(row, dict) and row.keys() >= _TOLD for row in rows)


def take_skips(vault: Vault) -> list[str]:
    """What was left out, in words, and no longer on record; the caller holds the vault."""
    found = recorded_skips(vault)
    if found:
        vault.file(".backstory/skipped.json").unlink(missing_ok=True)
    return found
