"""Three weeks of work of four agents in three projects, for people and screenshots to look at."""

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from backstory import clock
from backstory.capture.history_reader import SPENT
from backstory.model import Action
from backstory.store.records import Injection
from tests.story import House, Story

_HOUR = 3600


def fill(root: Path) -> House:
    """A home under `root` that remembers the sample's sessions, and one that is still running."""
    projects = {name: _repository(root / name) for name in ("webshop", "billing-api", "atlas-docs")}
    house = House(root / ".backstory", projects["webshop"])
    house.home.root.mkdir(parents=True, mode=0o700, exist_ok=True)
    for hours, project, agent, tell in _SESSIONS:
        before = set(house.home.spool.iterdir()) if house.home.spool.exists() else set()
        story = house.session(projects[project], agent=agent)
        tell(story)
        _date(sorted(set(house.home.spool.iterdir()) - before, key=lambda p: p.stat().st_mtime_ns), hours)
        house.works()
    _leave_files(house)
    _brief(house)
    return house


def _leave_files(house: House) -> None:
    """The files that the sessions changed lie there, as old as the changes."""
    for stored in reversed(house.store.events.latest(None, 0, 1_000)):
        file = Path(stored.event.target)
        if stored.event.action in (Action.EDIT, Action.WRITE) and file.is_absolute():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.touch()
            os.utime(file, ns=(stored.event.at * 10**6,) * 2)
    house.works()


def _brief(house: House) -> None:
    """The receipts and counts that real hooks and transcripts would have left."""
    store = house.store
    with store.transaction():
        for number, session in enumerate(store.events.sessions(limit=100)):
            tokens = 400 + 170 * (number % 5)
            given = Injection(session.id, session.started_at, "startup", tokens * 4, tokens, ())
            store.briefs.add(given)
            if session.agent in ("claude-code", "codex"):
                day = clock.day_of(session.started_at)
                store.counters.add(day, {(session.agent, "", SPENT): 9_000 + 1_700 * session.event_count})


def _repository(folder: Path) -> Path:
    folder.mkdir(parents=True)
    subprocess.run(["git", "init", "--quiet", "-b", "main", str(folder)], check=True)
    return folder


def _date(files: list[Path], hours: float) -> None:
    """Let what these files hold have happened so many hours ago, a minute a step."""
    start = time.time_ns() - int(hours * _HOUR * 1e9)
    for number, file in enumerate(files):
        at = start + number * 40 * 10**9
        os.utime(file, ns=(at, at))


def _login(story: Story) -> None:
    story.starts().prompts(
        "Logins fail with a 500 since we rotated the signing keys. Find out why and fix it. "
        "And please never touch the files in migrations/, the DBA owns them."
    )
    story.reads("auth/tokens.py").reads("auth/keys.py").reads("tests/test_login.py").runs(
        "git log -3 --oneline", "f31 keys"
    )
    story.runs(
        "pytest tests/test_login.py -q",
        fails="Exit code 1\nFAILED tests/test_login.py::test_login - jwt.exceptions.InvalidAlgorithmError: "
        "The specified alg value is not allowed\n1 failed in 0.84s",
    )
    story.edits("auth/tokens.py", 'algorithms=["HS256"]', 'algorithms=["RS256"]')
    story.runs("pytest tests/test_login.py -q", "3 passed in 0.61s")
    story.stops(
        "Fixed. The new keys are RSA, but tokens.py still verified with HS256. We decided to use RS256 for the tokens "
        "instead of HS256, because the mobile app verifies tokens with the public key."
    )
    story.prompts("Good. Use uv instead of pip from now on, please.")
    story.runs("uv sync", "Resolved 41 packages").edits("README.md", "pip install", "uv sync")
    story.stops("README and CI use uv now. Next: rotate the staging keys, which are still HS256.").ends()


def _tokens(story: Story) -> None:
    story.starts().prompts("The mobile app needs to log in. Give it tokens.")
    story.reads("auth/tokens.py").edits("auth/tokens.py", "session_cookie()", "jwt.encode(claims, SECRET)")
    story.runs("pytest tests/test_login.py -q", "3 passed in 0.58s")
    story.stops(
        "The app logs in with JWTs. We decided to use HS256 for the tokens, because there is only one service "
        "that verifies them."
    ).ends()


def _search(story: Story) -> None:
    story.starts().prompts("Product search takes 4 seconds. Make it fast.")
    story.runs(
        "psql -c 'explain analyze select * from products where name ilike …'",
        "Seq Scan on products (4012 ms)",
    )
    story.reads("shop/search.py").writes("shop/index.sql", "create index …")
    story.runs(
        "psql -f shop/index.sql",
        fails='ERROR: operator class "gin_trgm_ops" does not exist for access method "gin"',
    )
    story.runs("psql -c 'create extension pg_trgm'", "CREATE EXTENSION").runs(
        "psql -f shop/index.sql", "CREATE INDEX"
    )
    story.runs("pytest tests/test_search.py -q", "12 passed in 1.9s")
    story.stops(
        "Search takes 38 ms now. We chose a trigram index instead of Elasticsearch, because one more service is not "
        "worth it for 200,000 products. The index needs the extension pg_trgm to be created first."
    ).ends()


def _invoices(story: Story) -> None:
    story.starts().prompts("Invoices of 1 March show the wrong month for customers in Auckland.")
    story.reads("billing/invoice.py").runs(
        "pytest -q -k month", fails="Exit code 1\nE  AssertionError: '2026-02' != '2026-03'\n1 failed"
    )
    story.edits("billing/invoice.py", "utcnow()", "now(customer.zone)")
    story.runs("pytest -q -k month", "7 passed in 0.4s")
    story.stops(
        "The month follows the customer's zone now. We decided to store UTC and convert at the edge, because reports compare across zones."
    )
    story.ends()


def _webhooks(story: Story) -> None:
    story.starts().prompts("Stripe sends some webhooks twice and we bill twice. Make it idempotent.")
    story.reads("billing/webhooks.py").writes("billing/seen.py", "…").edits("billing/webhooks.py")
    child = story.delegates("reviewer")
    child.reads("billing/webhooks.py").reads("billing/seen.py").stops(
        "The unique key must be the event id, not the payment id."
    )
    story.edits("billing/seen.py").runs("pytest tests/test_webhooks.py -q", "9 passed in 0.8s")
    story.stops(
        "Each event id is stored in one transaction with its effect. Do not use the payment id as the key: a refund shares it."
    ).ends()


def _docs(story: Story) -> None:
    story.starts().prompts("Explain in the docs how a release is made. Always write short sentences.")
    story.reads("docs/index.md").writes("docs/release.md", "# Release …")
    story.runs(
        "mkdocs build --strict",
        fails="Exit code 1\nWARNING - Doc file 'release.md' contains a link to 'chagelog.md', which is not found",
    )
    story.edits("docs/release.md", "chagelog", "changelog").runs(
        "mkdocs build --strict", "Documentation built in 0.9 seconds"
    )
    story.stops("docs/release.md explains it in six steps.").ends()


def _small(prompt: str, file: str, said: str) -> Callable[[Story], None]:
    def tell(story: Story) -> None:
        story.starts().prompts(prompt).reads(file).edits(file).runs("pytest -q", "88 passed in 6.1s").stops(
            said
        ).ends()

    return tell


def _running(story: Story) -> None:
    story.starts().prompts(
        "The checkout button is hidden behind the cookie banner on phones. Fix the layout."
    )
    story.reads("shop/static/checkout.css").runs(
        "npm test -- checkout",
        fails="Exit code 1\n  ✗ the button can be clicked at 375 px\n    element is covered by <div class=cookies>",
    )
    story.edits("shop/static/checkout.css", "z-index: 1", "z-index: 20")


_SESSIONS: tuple[tuple[float, str, str, Callable[[Story], None]], ...] = (
    (500, "atlas-docs", "qwen-code", _docs),
    (430, "webshop", "claude-code", _small("Rename Basket to Cart in the API.", "shop/cart.py", "Renamed, with an alias for a release.")),
    (340, "billing-api", "codex", _invoices),
    (310, "webshop", "opencode", _small("Show prices with the customer's currency.", "shop/price.py", "Prices follow the locale.")),
    (290, "webshop", "claude-code", _tokens),
    (240, "webshop", "codex", _search),
    (170, "billing-api", "claude-code", _small("Add a health endpoint.", "billing/health.py", "GET /health answers with the version.")),
    (100, "billing-api", "claude-code", _webhooks),
    (52, "atlas-docs", "claude-code", _small("Fix the broken links in the guide.", "docs/guide.md", "All 14 links work.")),
    (26, "webshop", "claude-code", _login),
    (3, "billing-api", "opencode", _small("Round totals half up.", "billing/total.py", "Totals round half up, as the tax office wants it.")),
    (0.04, "webshop", "codex", _running),
)  # fmt: skip
