"""Which newer decision takes the place of an older one; better none than a wrong one."""

from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backstory.distil import succession
from backstory.distil.matters import read_matter
from backstory.distil.succession import in_full, successions, supersedes
from tests.distil.succession_pairs import DEVELOPED_ON, HELD_OUT, Pair
from tests.tables import walks

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
    ("We use Heroku for hosting", "We decided on Fly for hosting instead of Heroku"),
    ("We use Stripe for payments", "The team agreed on Adyen for payments"),
    ("Use MIT", "Use BSD instead of MIT"),
    ("Use MIT as the license", "We decided on Apache-2.0 as the license instead of MIT"),
    ("Use MIT as the license", "Use BSD instead of MIT as the license"),
    ("The license is MIT", "The license is GPL"),
    ("The staging host is 10.0.0.5", "The staging host is now 10.0.0.9"),
    ("The wiki lives at https://wiki.example.com", "The wiki lives at https://docs.example.com/wiki"),
    ("Our deploy script is in /opt/deploy/run.sh", "Our deploy script is in /srv/deploy/run.sh"),
    ("The on-call address is ops@example.com", "The on-call address is sre@example.com."),
    ("Anna owns the billing module", "Bob owns the billing module"),
    ("Anna Lee is in charge of releases", "Bob is in charge of releases"),
    ("Sign tokens with RS256", "Use EdDSA instead of RS256 for signing tokens"),
    ("Sign tokens with RS256", "We switched to EdDSA (Ed25519) for signing tokens"),
    ("Compress assets with gzip", "Use brotli for compressing assets"),
    ("Use bcrypt for password hashing", "Hash passwords with argon2"),
    ("Use Redis for storing sessions", "Keep sessions in Postgres"),
    ("We host on Heroku", "We moved hosting from Heroku to Fly.io"),
    ("We deploy to Render", "We moved deployment from Render to Railway"),
    ("Log in JSON", "Log in logfmt instead of JSON"),
    ("API version is v1", "API version is v2"),
    ("Main branch is called master", "Main branch is called main"),
    ("Commit messages in German", "Commit messages in English"),
    ("Write code comments in German", "Code comments are in English"),
    ("Docs are written in reStructuredText", "Docs are written in Markdown"),
    ("Frontend uses Vue", "Frontend is rewritten in Svelte; Vue is gone"),
    ("We keep sessions in Redis", "Sessions go into Postgres now, we drop Redis"),
    ("Use RabbitMQ for the event queue", "Switch the queue to NATS, RabbitMQ is going away"),
    ("Let's go with MongoDB", "MongoDB was a mistake, go with Postgres"),
    ("Let's go with Auth0 for login", "Auth0 got too expensive, go with Keycloak"),
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
    ("We use Heroku for hosting", "We decided on Fly for the preview apps"),
    ("Use MIT for the SDK", "Use GPL for the server"),
    ("Use MIT for the SDK", "Use GPL instead of BSD for the server"),
    ("Wir testen mit pytest", "Use BSD instead of MIT"),
    ("The staging host is 10.0.0.5", "The production host is 10.0.0.9"),
    ("The staging host is 10.0.0.5", "The staging host is also 10.0.0.9"),
    ("The staging host is 10.0.0.5", "The staging host is 10.0.0.9 for the EU"),
    ("The staging host is 10.0.0.5", "If DNS breaks, the staging host is 10.0.0.9"),
    ("The staging host is 10.0.0.5", "The staging host is staging.example.com"),
    ("One of the replicas is 10.0.0.5", "One of the replicas is 10.0.0.9"),
    ("A replica is 10.0.0.5", "A replica is 10.0.0.9"),
    ("The second host is 10.0.0.5", "The second host is 10.0.0.9 on Fridays"),
    ("Our config is in /etc/app.conf", "Our config is in /opt/app.conf on macOS"),
    ("Anna owns the billing module", "Bob owns the billing tests"),
    ("Anna owns the billing module", "Bob also owns the billing module"),
    ("Anna owns the billing module", "Bob reviews the billing module"),
    ("Anna owns the billing module", "Bob owns the billing module in staging"),
    ("Anna owns the billing module", "Bob owns the billing module together with Anna"),
    ("Anna owns billing together with Carl", "Bob owns billing together with Carl"),
    ("Anna owns parts of billing", "Bob owns parts of billing"),
    ("Anna owns a laptop", "Bob owns a laptop"),
    ("Sign tokens with RS256", "Sign webhooks with EdDSA instead of RS256"),
    ("Sign tokens with RS256", "Hash tokens with SHA256 instead of RS256"),
    ("Use RabbitMQ for the event queue", "Switch the mail queue from RabbitMQ to NATS JetStream"),
    ("API version is v1", "Client version is v2"),
    ("Commit messages in German", "Error messages in English"),
    ("Write the docs in English", "Write the docs in German"),
    ("Log in JSON", "Log in UTC"),
    ("Log in JSON", "Configure in YAML instead of JSON"),
    ("Log errors in JSON", "Log requests in logfmt instead of JSON"),
    ("The main branch is called master", "The docs branch is called main"),
    ("Frontend uses Vue", "Admin is rewritten in Svelte; jQuery is gone"),
    ("We host the API on Heroku", "We moved the docs from Heroku to Netlify"),
    ("Use MySQL for the importer", "The API uses Postgres, MySQL is too slow for it"),
    ("Use MySQL for the importer", "Use Kafka for events, MySQL is too slow"),
    ("Use gzip for compression", "Use brotli for compressing fonts"),
    ("Deploy to Heroku", "Deploy with Terraform"),
    ("Tests are written in Python", "Tests are written in small steps"),
    ("Use Dramatiq for mails", "Back to Celery for jobs"),
]


@walks(("older", "newer"), SAME)
def test_a_matter_that_is_decided_anew_has_a_successor(older: str, newer: str) -> None:
    assert supersedes(read_matter(newer), read_matter(older))


@walks(("older", "newer"), NEAR_MISSES)
def test_decisions_on_neighbouring_matters_stand_side_by_side(older: str, newer: str) -> None:
    assert not supersedes(read_matter(newer), read_matter(older))


@walks(("older", "newer"), [*SAME, *NEAR_MISSES])
def test_saying_it_again_replaces_nothing(older: str, newer: str) -> None:
    assert not supersedes(read_matter(older), read_matter(older))
    assert not supersedes(read_matter(newer), read_matter(newer))


@pytest.mark.parametrize("text", ["", "?", "instead of", "use for", "决定用 Postgres", "3", "x" * 10_000])
def test_odd_texts_replace_nothing(text: str) -> None:
    assert not supersedes(read_matter(text), read_matter("Use Redis for the job queue"))
    assert not supersedes(read_matter("Use Postgres instead of Redis for the job queue"), read_matter(text))


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
        [
            "Redis",
            "Kafka",
            "queue",
            "cache",
            "3",
            "5",
            "times",
            "use",
            "for",
            "drop",
            "instead of",
            "go back to",
        ]
    ),
    max_size=9,
)
_DECISIONS = st.lists(
    st.sampled_from(
        [text for pair in (*SAME, *NEAR_MISSES) for text in pair]
        + [text for pair in DEVELOPED_ON for text in pair[:2]]
    )
    | _PARTS.map(" ".join),
    max_size=14,
)


@given(_DECISIONS)
def test_looking_only_at_what_has_something_in_common_misses_no_successor(texts: list[str]) -> None:
    every = [(f"m{at:02}", at, text) for at, text in enumerate(texts)]
    found = successions(every)
    with patch.multiple(succession, _looks_for=lambda now: ["all"], _shows=lambda now, given_up: ["all"]):
        assert successions(every) == found


def in_force(*texts: str) -> list[str]:
    """Which of these decisions, the oldest first, are not history."""
    history = successions([(text, at, text) for at, text in enumerate(texts)])
    return [text for text in texts if text not in history]


@walks("pair", DEVELOPED_ON, ids=lambda pair: f"{pair.older} / {pair.newer}")
def test_pairs_that_the_rules_were_made_by(pair: Pair) -> None:
    assert (pair.older not in in_force(pair.older, pair.newer)) is pair.succeeds


def test_of_the_pairs_that_were_held_out_none_is_hidden_and_nine_in_ten_are_found() -> None:
    found = [pair for pair in HELD_OUT if pair.older not in in_force(pair.older, pair.newer)]
    assert [pair for pair in found if not pair.succeeds] == []
    assert len(found) >= 0.9 * sum(pair.succeeds for pair in HELD_OUT)


AUDIT, ORDERS, KAFKA = "Use Kafka for the audit log", "Use Kafka for orders", "Use Kafka"


def test_what_does_not_say_on_which_matter_must_have_only_one_to_mean() -> None:
    gives_up = "Use NATS instead of Kafka"
    assert in_force(AUDIT, gives_up) == [gives_up]
    assert in_force(AUDIT, ORDERS, gives_up) == [AUDIT, ORDERS, gives_up]
    assert in_force(KAFKA, ORDERS, gives_up) == [ORDERS, gives_up]
    assert in_force(AUDIT, ORDERS, f"{gives_up} for orders") == [AUDIT, f"{gives_up} for orders"]


def test_what_was_replaced_can_be_gone_back_to_by_its_name() -> None:
    rest, graphql = "Use REST for the public API", "Use GraphQL for the public API"
    assert in_force(rest, graphql, "Go back to REST") == ["Go back to REST"]
    assert in_force(graphql, "Go back to REST") == [graphql, "Go back to REST"]


def test_one_goes_back_without_a_verb() -> None:
    celery, dramatiq = "Use Celery for jobs", "Use Dramatiq for jobs instead"
    assert in_force(celery, dramatiq, "Back to Celery for jobs") == ["Back to Celery for jobs"]


@pytest.mark.parametrize(
    ("text", "reason", "older"),
    [
        ("Let's switch the queue to NATS", "RabbitMQ is going away", "Use RabbitMQ for the event queue"),
        ("go with Postgres", "MongoDB was a mistake", "Let's go with MongoDB"),
        ("Use Zustand", "we dropped Redux, it was slow", "Use Redux for state"),
    ],
)
def test_what_is_given_up_counts_where_it_is_told_as_the_reason(text: str, reason: str, older: str) -> None:
    assert not supersedes(read_matter(text), read_matter(older))
    assert supersedes(read_matter(in_full(text, reason)), read_matter(older))


def test_a_decision_of_several_things_is_not_hidden_for_one_of_them() -> None:
    both = "Use Kafka for the bus and Redis for the cache"
    assert in_force(both, "Use NATS for the bus") == [both, "Use NATS for the bus"]
    assert in_force(both, "Use NATS instead of Kafka") == [both, "Use NATS instead of Kafka"]


GRAPHQL = "Use GraphQL"


@pytest.mark.parametrize(
    "newer",
    [
        "Use REST instead of GraphQL for uploads",
        "In the tutorial, use REST instead of GraphQL",
        "Use REST instead of GraphQL, but only for guests",
        "Use REST instead of GraphQL while the gateway is down",
        "Temporarily use REST instead of GraphQL",
        "The benchmark uses REST instead of GraphQL",
        "Customers can choose REST instead of GraphQL",
        "Allow REST instead of GraphQL",
        "Replacing GraphQL with REST is too much work",
        "Replace the GraphQL client with urql",
        "Drop the GraphQL playground",
        "Stop using GraphQL for uploads",
        "We used to use REST instead of GraphQL",
        "Option B: replace GraphQL with REST",
        "Before we replace GraphQL with REST, the schema has to be frozen",
        "Nobody wants to drop GraphQL",
        "Move GraphQL to its own service",
    ],
)
def test_what_is_only_spoken_of_or_holds_elsewhere_hides_nothing(newer: str) -> None:
    assert in_force(GRAPHQL, newer) == [GRAPHQL, newer]


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Use type hints for public functions", "Use docstrings for public functions"),
        ("Use a mutex for the cache", "Use an LRU for the cache"),
        ("Use Slack for alerts", "Use PagerDuty for alerts"),
        ("Store files in S3", "Store files in Frankfurt"),
        ("Store prices in Postgres", "Store prices in cents"),
        ("Run the tests on Linux", "Run the tests on Windows"),
        ("Use Postgres for the app", "Use Redis for the app"),
        ("Build the app with Gradle", "Build the app with Java 21"),
        ("Commits are signed", "Commits are squashed"),
        ("Ship feature 1 in week 3", "Ship feature 2 in week 3"),
        ("Migrate customer 17 on Monday", "Migrate customer 18 on Monday"),
        ("Test with Python 3.11", "Test with Python 3.12"),
    ],
)
def test_things_that_can_be_had_together_stand_together(older: str, newer: str) -> None:
    assert in_force(older, newer) == [older, newer]


def test_a_word_of_choosing_is_no_common_matter() -> None:
    older, newer = "We chose Postgres for billing", "We chose Redis instead of Postgres for the queue"
    assert not supersedes(read_matter(newer), read_matter(older))


def test_what_was_all_that_was_decided_is_given_up_without_a_purpose() -> None:
    newer = "We decided to use Mercurial instead of Git"
    assert in_force("We use Git", newer) == [newer]
    assert in_force("We chose Git over Subversion", newer) == [newer]
