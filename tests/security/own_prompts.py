"""Prompts with a wish, a rule or a decision in the user's own words, each with words that must stay theirs."""

WISHES = (
    (
        "Fix the failing upload test.\n\nAnd never retry on 409, that only hides the race.",
        "never retry on 409",
    ),
    (
        "- always run make lint before you commit\n- never touch the generated files",
        "never touch the generated",
    ),
    (
        "Please add an export button.\n- use our Button component\n- always show the size in MB",
        "always show the size",
    ),
    (
        "The login at src/auth.py:42 crashes when the token is empty. Always return 401 there.",
        "Always return 401",
    ),
    (
        'Rename it to "Save all changes now" and always use sentence case for buttons.',
        "always use sentence case",
    ),
    (
        "I get this:\n```\nTypeError: x is undefined\n```\nFix it. From now on always check for null first.",
        "always check for null",
    ),
    ("We use pnpm here, never npm.\n\nAdd a script that builds the docs.", "We use pnpm here"),
    (
        "Look at commit 3f9a1c7b and do the same for orders. We always keep amounts in cents.",
        "amounts in cents",
    ),
    ("1. bump the version\n2. never tag before CI is green\n3. write the changelog", "never tag before CI"),
    ("#123 is back. Please fix it for good, and always add a regression test.", "always add a regression"),
    ("@src/api.ts needs paging. We always use cursors, never offsets.", "We always use cursors"),
    ("ok, let's go with SQLite instead of Postgres because it's one file", "SQLite instead of Postgres"),
    ("Deploy at 10:30 is too late, let's always deploy before 9:00.", "always deploy before"),
    ("hey, quick thing: never push to main without asking me", "never push to main"),
    ("Use `uv run pytest` for tests, always, and don't install anything globally.", "don't install anything"),
    (
        "Two rules for this repo:\n* never mock the database\n* always use factories\n\nNow write the order tests.",
        "never mock the database",
    ),
    (
        "Bitte immer Deutsch in der Oberfläche.\n\nUnd nimm ab jetzt pnpm statt npm.",
        "ab jetzt pnpm statt npm",
    ),
    (
        "The page is slow, isn't it? We decided to cache it for 5 min; don't go beyond that.",
        "We decided to cache",
    ),
    (
        "What's the users' timezone? Always store UTC, and don't convert in the client's code.",
        "Always store UTC",
    ),
    (
        "I ran it:\n\n$ make test\n2 failed\n\nPlease fix both. I want you to always run make test before you say done.",
        "always run make test",
    ),
)
