"""What a thing is used for is its matter, also where the purpose sounds like a reason."""

import pytest

from backstory.distil.matters import read_matter
from backstory.distil.succession import supersedes
from backstory.model import Draft, MemoryKind
from tests.distil import of

TALK = "> How should we do it?\nsaid\n  Either way works.\nend\n"


def decided(prompt: str) -> list[Draft]:
    return of(MemoryKind.DECISION, f"{TALK}> {prompt}\nedit a.py\n  - x\n  + y\nsaid\n  Done.\nend\n")


@pytest.mark.parametrize(
    "newer",
    [
        "Let's not use Sentry for performance tracing.",
        "Let's not use Sentry for security audits.",
        "Let's not use Sentry for speed tests, they flood it.",
        "Let's not use Sentry for safety-critical code.",
        "Let's not use Sentry for compatibility checks because they are noisy.",
        "Let's not use Sentry for performance.",
        "Let's not use Sentry to keep release notes.",
        "Let's drop Sentry for performance tracing.",
        "Let's use Honeycomb instead of Sentry for performance tracing.",
    ],
)
def test_a_purpose_is_not_cut_off_as_a_reason(newer: str) -> None:
    (draft,) = decided(newer)
    assert supersedes(read_matter(draft.text), read_matter("Let's use Sentry for errors.")) is None


@pytest.mark.parametrize(
    ("prompt", "choice", "reason"),
    [
        ("Let's use Vite for speed.", "Let's use Vite", "for speed."),
        ("Let's use Vite for performance reasons.", "Let's use Vite", "for performance reasons."),
        ("Let's use UTF-8 for compatibility with PHP", "Let's use UTF-8", "for compatibility with PHP"),
        ("Let's not use Sentry, to avoid the cost", "Let's not use Sentry", "to avoid the cost"),
    ],
)
def test_a_quality_alone_is_a_reason(prompt: str, choice: str, reason: str) -> None:
    (draft,) = decided(prompt)
    assert (draft.text, draft.reason) == (choice, reason)
