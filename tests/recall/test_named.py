"""Which names reach a note alone."""

from dataclasses import replace

import pytest

from backstory.model import Memory, MemoryKind, MemoryStatus, Scope, Tier
from backstory.recall.named import strong

MEMORY = Memory(
    id="m0", project_id="", project_name="", session_id="", agent="", kind=MemoryKind.DECISION,
    tier=Tier.RULES, status=MemoryStatus.CANDIDATE, scope=Scope.PROJECT, text="", detail="", reason="",
    files=(), said_by="", at=0, weight=1.0, pinned=False, turn=0, made_by="",
)  # fmt: skip


def names(*texts: str, kind: MemoryKind = MemoryKind.DECISION) -> set[str]:
    return set(strong([replace(MEMORY, id=f"m{n}", text=text, kind=kind) for n, text in enumerate(texts)]))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Use NATS instead of Kafka for events", {"nats", "kafka"}),
        ("Acmeflow rather than Zorbly runs the jobs", {"zorbly"}),
        ("State lives in Zustand, Redux was too much", {"zustand", "Redux"}),
        ("We moved from MongoDB to Postgres", {"mongodb"}),
        ("Use Postgres instead of MySQL", {"mysql"}),
        ("Write it in Python instead of Rust, as JSON, not YAML", set()),
        ("Deploy with care, not on Friday", set()),
        ("Keep it in memory", set()),
        ("It talks to Gemini, not Droid, with Copilot", set()),
        ("Use Fleetbase instead of Onfleet", {"fleetbase", "onfleet"}),
    ],
)
def test_names_that_a_decision_takes_or_gives_up(text: str, found: set[str]) -> None:
    assert names(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Never push to main directly", {"push main"}),
        ("UTC, never in local time", {"local time"}),
        ("Never edit files in migrations/", {"migrations/"}),
        ("Do not touch anything below third_party/, src/vendor/**", {"third_party/", "src/vendor/"}),
        ("Always run the linter", set()),
        ("We don't need to know all of it, no support w/ Droid", set()),
        ("Sources are in src/", set()),
    ],
)
def test_what_a_rule_forbids_and_the_folders_it_protects(text: str, found: set[str]) -> None:
    assert names(text, kind=MemoryKind.PREFERENCE) == found


def test_a_name_that_many_notes_have_reaches_none_of_them_alone() -> None:
    assert "kafka" in names("Kafka for events", "Kafka has three brokers")
    assert "kafka" not in names("Kafka for events", "Kafka has three brokers", "Kafka keeps a week")


def test_what_was_tried_has_no_strong_names() -> None:
    assert names("`kafka-topics` failed: no broker, never push to main", kind=MemoryKind.LESSON) == set()
