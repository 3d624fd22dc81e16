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
    memories = [replace(MEMORY, id=f"m{n}", text=text, kind=kind) for n, text in enumerate(texts)]
    return set(strong(memories).alone)


def places(text: str, reason: str = "") -> dict[str, str]:
    """What else a prompt must have one of, by the names that do not reach a decision alone."""
    within = strong([replace(MEMORY, text=text, reason=reason)]).within
    return {name: " ".join(told["m0"]) for name, told in within.items()}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Use NATS instead of Kafka for events", {"nats", "kafka"}),
        ("Acmeflow rather than Zorbly runs the jobs", {"zorbly"}),
        ("State lives in Zustand, Redux was too much", {"zustand", "Redux"}),
        ("We moved from MongoDB to Postgres", {"mongodb"}),
        ("Use Postgres instead of MySQL", set()),
        ("Use NATS instead of Kafka for now", {"nats", "kafka"}),
        ("Use NATS instead of Kafka in this project for performance reasons", {"nats", "kafka"}),
        ("We dropped Cypress in favour of Playwright for the browser tests", {"cypress", "playwright"}),
        ("We moved from MongoDB to Postgres in March", {"mongodb"}),
        ("Services talk gRPC, REST only at the edge", {"grpc"}),
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
        ("Use SQLite instead of Postgres in the unit tests", {"postgres": "sqlite unit"}),
        ("In the unit tests, use SQLite instead of Postgres", {"postgres": "sqlite unit"}),
        ("Use SQLite instead of Postgres, but only in unit tests", {"postgres": "sqlite unit"}),
        ("Use fetch instead of axios in the service worker", {"axios": "worker"}),
        ("Use fetch instead of axios for Safari", {"axios": "safari"}),
        ("We decided against Datadog for the hobby plan", {"datadog": "hobby"}),
        ("We use Terraform for staging only", {"terraform": "staging"}),
        ("Use NATS instead of Kafka for order events", {"nats": "kafka order", "kafka": "nats order"}),
        ("Podman rather than Docker on CI", {"podman": "ci docker", "docker": "ci podman"}),
        ("Sentry in the checkout of the mobile app", {"sentry": "checkout mobile"}),
        ("Use NATS instead of Kafka for events", {}),
    ],
)
def test_a_decision_that_holds_somewhere_is_reached_by_a_name_and_a_word_of_that_place(
    text: str, found: dict[str, str]
) -> None:
    assert places(text) == found
    assert not found or names(text) == set()


def test_a_name_in_the_reason_holds_where_the_decision_does() -> None:
    found = places("Use Kustomize instead of Helm for the preview clusters", "Argo and Helm are slow")
    assert found["helm"] == "kustomize preview"
    assert "terraform" in places("Use Kustomize for the preview clusters", "Terraform is slow")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Never push to main directly", {"push main"}),
        ("UTC, never in local time", {"local time"}),
        ("Never edit files in migrations/", {"migrations/"}),
        ("Do not touch anything below third_party/, src/vendor/**", {"third_party/", "src/vendor/"}),
        ("Never commit to the vendor folder.", {"commit vendor", "vendor/"}),
        ("Do not write into the `src/gen` directory", {"src/gen/"}),
        ("Never clean the root directory or the whole folder", {"clean root"}),
        ("It is in the vendor folder", set()),
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
