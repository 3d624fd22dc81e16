"""Which newer decision takes the place of an older one; better none than a wrong one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backstory.distil.succession import read, successions, supersedes

SAME = [
    (
        "We decided to use Kafka for the event bus because ops already runs it",
        "We decided to use NATS instead of Kafka for the event bus because it is simpler to operate",
    ),
    ("Use Redis for the job queue", "Use Postgres as the job queue instead of Redis, one service less"),
    ("Use Redis for the cache", "Use memcached for the cache because it is simpler"),
    ("Use Celery for background jobs", "Drop Celery, background jobs run in Postgres now"),
    ("Python 3.11 is the minimum version", "Python 3.12 is the minimum version"),
    ("Sessions are kept in the database", "Keep sessions in signed cookies rather than the database"),
    ("Use Heroku for hosting", "We moved hosting from Heroku to Fly"),
    (
        "Let's use Postgres instead of MySQL because we need JSONB",
        "Go back to MySQL instead of Postgres, because ops refuses to run it",
    ),
    ("Deploys run through Jenkins", "Deploys run through GitHub Actions, no longer Jenkins"),
]
NEAR_MISSES = [
    ("We decided to use Redis for the cache", "We decided never to use Memcached for the cache"),
    ("We decided to use Redis for the cache", "We decided not to drop Redis for the cache"),
    ("We decided to use Postgres for the orders", "We will not replace Postgres for the orders"),
    ("Use Sentry for errors", "Do not use Rollbar for errors"),
    ("We use Vite for the build", "We decided against using Webpack for the build"),
    ("We use Stripe for payments", "We considered using Adyen for payments"),
    ("API v1 clients must use OAuth tokens", "API v2 clients must use OAuth tokens"),
    ("Keep the backups of shard 1 for a month", "Keep the backups of shard 2 for a month"),
    ("Use Redis for the cache", "Use Postgres for the job queue"),
    ("Use Redis for the job queue", "Use Redis for the rate limiter"),
    ("Use SQLite for the tests", "Use Postgres for production"),
    ("Use port 8000 for the API", "Use port 8001 for the worker"),
    ("The log level of the worker is debug", "The log level of the server is debug"),
    ("Use Postgres instead of Redis as the queue", "Use Redis for the cache, not for the queue"),
    ("Use Postgres instead of MySQL for orders", "Use Redis instead of Postgres for sessions"),
    ("Use tabs in Makefiles", "Use spaces instead of tabs in Python"),
    ("Retry webhooks 3 times", "Retry mails 5 times"),
    ("Round discounts half-even", "Round shipping costs up to full cents"),
    ("Use ruff for linting", "Use ruff for formatting"),
]


@pytest.mark.parametrize(("older", "newer"), SAME)
def test_a_matter_that_is_decided_anew_has_a_successor(older: str, newer: str) -> None:
    assert supersedes(read(newer), read(older))


@pytest.mark.parametrize(("older", "newer"), NEAR_MISSES)
def test_decisions_on_neighbouring_matters_stand_side_by_side(older: str, newer: str) -> None:
    assert not supersedes(read(newer), read(older))


@pytest.mark.parametrize(("older", "newer"), [*SAME, *NEAR_MISSES])
def test_saying_it_again_replaces_nothing(older: str, newer: str) -> None:
    assert not supersedes(read(older), read(older))
    assert not supersedes(read(newer), read(newer))


@pytest.mark.parametrize("text", ["", "?", "instead of", "use for", "决定用 Postgres", "3", "x" * 10_000])
def test_odd_texts_replace_nothing(text: str) -> None:
    assert not supersedes(read(text), read("Use Redis for the job queue"))
    assert not supersedes(read("Use Postgres instead of Redis for the job queue"), read(text))


def test_a_chain_of_decisions_leaves_the_newest_in_force() -> None:
    decisions = [
        ("m3", 3, "Use NATS for the event bus instead of Kafka"),
        ("m1", 1, "Use RabbitMQ for the event bus"),
        ("m2", 2, "Use Kafka for the event bus"),
        ("m4", 4, "Use pytest for the unit tests"),
    ]
    assert successions(decisions) == {"m1": "m2", "m2": "m3"}


_PARTS = st.lists(
    st.sampled_from(
        ["Redis", "Kafka", "queue", "cache", "3", "5", "times", "use", "for", "drop", "instead of"]
    ),
    max_size=9,
)
_DECISIONS = st.lists(
    st.sampled_from([text for pair in (*SAME, *NEAR_MISSES) for text in pair]) | _PARTS.map(" ".join),
    max_size=14,
)


@given(_DECISIONS)
def test_looking_only_at_what_has_something_in_common_misses_no_successor(texts: list[str]) -> None:
    every = [(f"m{at:02}", at, text) for at, text in enumerate(texts)]
    expected: dict[str, str] = {}
    for at, (newer, _, now) in enumerate(every):
        for older, _, before in every[:at]:
            if older not in expected and supersedes(read(now), read(before)):
                expected[older] = newer
    assert successions(every) == expected


def test_a_word_of_choosing_is_no_common_matter() -> None:
    older, newer = "We chose Postgres for billing", "We chose Redis instead of Postgres for the queue"
    assert not supersedes(read(newer), read(older))


def test_what_was_all_that_was_decided_is_given_up_without_a_purpose() -> None:
    newer = read("We decided to use Mercurial instead of Git")
    assert supersedes(newer, read("We use Git"))
    assert supersedes(newer, read("We chose Git over Subversion"))
    assert not supersedes(newer, read("Use Git for the vendored sources"))
