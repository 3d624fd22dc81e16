"""Distilling by rules: sessions told as small scripts (see bench/distil/README.md for the format)."""

from bench.distil.sources import script

from backstory.distil import Limits, distil_session
from backstory.model import Draft, MemoryKind


def distilled(text: str, limits: Limits | None = None) -> list[Draft]:
    """All drafts of a session written as a script."""
    case = script("s", text)
    return distil_session(case.session, case.events, limits or Limits())


def of(kind: MemoryKind, text: str) -> list[Draft]:
    """The drafts of one kind."""
    return [draft for draft in distilled(text) if draft.kind is kind]
