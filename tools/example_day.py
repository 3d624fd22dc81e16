"""A day of ten sessions on three projects, told step by step; `example_vault.py` replays it.

The projects, people and events are made up. Times are UTC.
"""

# ruff: noqa: E501 - lines are as long as what was said

from typing import NamedTuple

DAY = "2026-11-16"


class Step(NamedTuple):
    """One thing that an agent's hook reports: asked, ran, failed, edited, said."""

    kind: str
    text: str
    more: str = ""


class Session(NamedTuple):
    """One session: where, when, by whom, and what happened."""

    project: str
    at: str
    agent: str
    steps: tuple[Step, ...]


def asked(text: str) -> Step:
    return Step("asked", text)


def ran(command: str, output: str = "ok") -> Step:
    return Step("ran", command, output)


def failed(command: str, output: str) -> Step:
    return Step("failed", command, output)


def edited(path: str, change: str = "x = 1 → x = 2") -> Step:
    return Step("edited", path, change)


def said(text: str) -> Step:
    return Step("said", text)


SESSIONS = (
    Session("shop", "08:40", "claude-code", (
        asked("The login test fails since yesterday. Find out why and fix it."),
        failed("pytest tests/test_login.py -q", "E  jwt.exceptions.InvalidAlgorithmError: HS256 is not allowed"),
        edited("src/auth/tokens.py", 'ALGORITHM = "HS256" → ALGORITHM = "RS256"'),
        ran("pytest tests/test_login.py -q", "4 passed in 0.31s"),
        said("The verifier only accepts RS256; the signer still used HS256. It signs with RS256 now and the four tests pass."),
        asked("Good. Let's keep RS256 everywhere, because the mobile app can only check public keys."),
        edited("src/auth/keys.py", "load_secret() → load_private_key()"),
        ran("pytest tests -q", "61 passed in 4.02s"),
        said("RS256 is used everywhere now. TODO: publish the public key at /.well-known/jwks.json."),
    )),
    Session("mailer", "09:15", "claude-code", (
        asked("Mails go out twice when a worker restarts. Make sending idempotent."),
        failed("go test ./queue/...", "--- FAIL: TestRestart: sent 2 mails, want 1"),
        edited("queue/lease.go", "ack before send → ack after send, keyed by message id"),
        ran("go test ./queue/...", "ok  mailer/queue 0.41s"),
        said("A message is now acknowledged after it was sent, and a message id that was sent is not sent again."),
        asked("Always use table tests in this repository, please."),
        edited("queue/lease_test.go", "three tests → one table"),
        ran("go test ./queue/...", "ok  mailer/queue 0.39s"),
        said("The lease tests are one table now."),
    )),
    Session("infra", "09:50", "codex", (
        asked("terraform plan wants to replace the database. Why?"),
        ran("terraform plan -no-color", "aws_db_instance.main must be replaced: storage_type \"gp2\" -> \"gp3\""),
        edited("modules/database/main.tf", "storage_type = gp3 → lifecycle ignore_changes storage_type"),
        ran("terraform plan -no-color", "No changes. Your infrastructure matches the configuration."),
        said("The module's default moved from gp2 to gp3, which forces a replacement. The plan is empty again."),
    )),
    Session("shop", "10:30", "codex", (
        asked("Publish the public key at /.well-known/jwks.json."),
        edited("src/web/wellknown.py", "→ def jwks(): ..."),
        edited("src/auth/keys.py", "→ def public_jwk(): ..."),
        ran("pytest tests/test_wellknown.py -q", "3 passed in 0.22s"),
        said("GET /.well-known/jwks.json returns the public key; three tests."),
    )),
    Session("mailer", "11:20", "codex", (
        asked("Let's use Postgres for the send queue instead of SQLite, because two workers lock each other out."),
        edited("queue/store.go", "sqlite → pgx"),
        edited("queue/lease.go", "BEGIN IMMEDIATE → SELECT ... FOR UPDATE SKIP LOCKED"),
        ran("go test ./queue/...", "ok  mailer/queue 1.10s"),
        said("The queue runs on Postgres with SKIP LOCKED. TODO: write the migration for messages that are still in SQLite."),
    )),
    Session("infra", "13:05", "claude-code", (
        asked("The deploy of the mailer fails. Look at the pipeline script."),
        failed("./deploy.sh mailer staging", "deploy.sh: line 41: KUBECONFIG: unbound variable"),
        edited("deploy.sh", "$KUBECONFIG → ${KUBECONFIG:?set it to the cluster's file}"),
        failed("./deploy.sh mailer staging", "deploy.sh: line 41: KUBECONFIG: set it to the cluster's file"),
        ran("KUBECONFIG=kube/staging.yaml ./deploy.sh mailer staging", "deployment mailer rolled out"),
        said("It needs KUBECONFIG; the script now says so instead of failing on an unbound variable. Staging is deployed."),
        asked("Never deploy to production on a Friday."),
        said("Noted: no production deploys on Fridays."),
    )),
    Session("shop", "14:10", "claude-code", (
        asked("The basket shows NaN when a coupon has expired."),
        failed("npm test -- basket", "TypeError: Cannot read properties of undefined (reading 'percent')"),
        edited("web/basket.ts", "coupon.percent → coupon?.percent ?? 0"),
        ran("npm test -- basket", "Tests: 12 passed"),
        said("An expired coupon is undefined there; it now counts as no discount, and there is a test for it."),
    )),
    Session("mailer", "15:00", "claude-code", (
        asked("Write the migration for messages that are still in SQLite."),
        edited("cmd/migrate/main.go", "→ copies unsent messages, once"),
        failed("go run ./cmd/migrate --dry-run", "pq: duplicate key value violates unique constraint \"messages_pkey\""),
        edited("cmd/migrate/main.go", "INSERT → INSERT ... ON CONFLICT DO NOTHING"),
        ran("go run ./cmd/migrate --dry-run", "would copy 1204 messages"),
        said("The migration copies what is unsent and can be run twice. Next: run it on staging."),
    )),
    Session("infra", "16:20", "codex", (
        asked("Let's pin the module versions, because an upgrade of a default nearly replaced our database."),
        edited("modules/database/main.tf", "→ version pinned to 4.2.1"),
        edited("versions.tf", ">= 5.0 → = 5.31.0"),
        ran("terraform init -upgrade=false", "Terraform has been successfully initialized!"),
        ran("terraform plan -no-color", "No changes."),
        said("All modules and the provider are pinned. TODO: let Renovate propose upgrades."),
    )),
    Session("shop", "17:15", "claude-code", (
        asked("pytest is slow: find out why the login tests take so long now."),
        ran("pytest tests/test_login.py --durations=5", "2.10s setup test_login_ok"),
        edited("tests/conftest.py", "key per test → key per session"),
        edited("src/auth/keys.py", "→ caches the parsed key"),
        failed("pytest tests/test_login.py -q", "E  jwt.exceptions.InvalidAlgorithmError: RS256 needs a parsed key"),
        edited("src/auth/tokens.py", "sign(pem) → sign(load_private_key())"),
        ran("pytest tests/test_login.py -q", "4 passed in 0.12s"),
        said("Each test made its own RSA key. One key per session is enough: 2.1 s → 0.1 s."),
    )),
)  # fmt: skip
