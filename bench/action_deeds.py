"""Sessions of work for `bench/action.py`, and what is about to be done, or has just failed, after them.

`BEFORE` are commands and edits, `AFTER` commands with their errors; each names a piece of the note that it
should get, "" if none. Written by the hand that wrote the rules, from what a reviewer tried.
"""

from bench.recall.developers import Worked


def _mended(part: str) -> Worked:
    """A session that tests as it works: `pytest -q` fails on new code and is made to pass."""
    error = f"Exit code 1\nE   NameError: name '{part}_total' is not defined\n1 failed"
    steps = (
        ("fails", "pytest -q", error),
        ("edits", f"/bench/{part}.py", f"- return 0\n+ return {part}_total()"),
        ("runs", "pytest -q", "1 passed"),
    )
    return f"Write the {part} page", steps, "Done."


_STALE = "Exit code 1\nE   RuntimeError: stale entries in price_cache"
_TTL = ("- TTL = 60\n+ TTL = 86400", "- TTL = 86400\n+ TTL = 60")
_UNDEFINED = (
    "Exit code 1\nTypeError: Cannot read properties of undefined (reading 'map')\n"
    "    at {0} (src/{0}.tsx:9:2)"
)
_NIL = (
    "Exit code 2\npanic: runtime error: invalid memory address or nil pointer dereference\n"
    "\tstore/{}.go:40 +0x1d"
)
_TYPES = 'Exit code 1\nshop/{}.py:7: error: Incompatible return value type (got "str", expected "int")'
_REFUSED = '{} connection to server at "{}" ({}), port 5432 failed: Connection refused'
_WRAPPED = "sqlalchemy.exc.OperationalError: (psycopg2.OperationalError)"
_SOCKET = (
    "Exit code 1\npermission denied while trying to connect to the Docker daemon socket at "
    "unix:///var/run/docker.sock"
)
_YAML = "Exit code 1\nModuleNotFoundError: No module named '{}'"

SESSIONS: tuple[Worked, ...] = (
    *map(_mended, ("cart", "order", "login", "search", "mail", "stock", "price", "refund")),
    ("Load the settings", (
        ("fails", "python load.py", _YAML.format("yaml")),
        ("runs", "pip install pyyaml", "Successfully installed pyyaml"),
        ("runs", "python load.py", "loaded")), "It loads."),
    ("Fix the tax", (
        ("fails", "pytest tests/test_tax.py", "Exit code 1\nE   TaxError: no rate for region seven"),
        ("fails", "pytest tests/test_tax.py", "Exit code 1\nE   TaxError: no rate for region seven")),
        "Red."),
    ("Test all", (("runs", "pytest -x -q", "90 passed"),), "All pass."),
    ("Run the locale tests", (
        ("fails", "pytest -k locale", "Exit code 1\nE   ValueError: unknown month name Maerz for locale"),
        ("runs", "LC_ALL=C pytest -k locale", "4 passed")), "They pass in the C locale."),
    ("Run the page's tests", (
        ("fails", "npm test", "Exit code 1\nnpm error Missing script: test in package shop-root"),
        ("runs", "cd web && npm test", "12 passed")), "They pass."),
    ("Make the report", (
        ("fails", "make report", "Exit code 2\nError: cannot open the ledger of last year"),
        ("fails", "make report", "Exit code 2\nError: cannot open the ledger of last year")), "Still red."),
    ("Fix the mail", (
        ("fails", "pytest tests/test_mail.py", "Exit code 1\nE   MailError: no route to the relay"),
        ("fails", "pytest tests/test_mail.py", "Exit code 1\nE   MailError: no route to the relay")), "Red."),
    ("Test the dates", (("runs", "pytest -k dates -q", "4 passed"),), "They pass."),
    ("Make the cache faster", (
        ("edits", "/bench/cache.py", _TTL[0]),
        ("fails", "make check", _STALE),
        ("edits", "/bench/cache.py", _TTL[1]),
        ("runs", "make check", "ok")), "I took it back."),
    ("The cache is stale", (
        ("fails", "make check", _STALE),
        ("edits", "/bench/pool.py", "- SIZE = 1\n+ SIZE = 64"),
        ("fails", "make check", _STALE),
        ("edits", "/bench/store.py", "- flush = False\n+ flush = True"),
        ("runs", "make check", "ok")), "Fixed."),
    ("Speed up the import", (
        ("edits", "/bench/rows.py", "- for row in rows:\n+ for row in pool.map(parse, rows):"),
        ("fails", "make bench", "Exit code 1\nError: import took 40 s, limit 20 s"),
        ("runs", "git checkout -- rows.py", "")), "Taken back."),
    ("Fix the list", (
        ("fails", "npm run unit", _UNDEFINED.format("List")),
        ("edits", "/bench/src/List.tsx", "- items.map(\n+ (items ?? []).map("),
        ("runs", "npm run unit", "ok")), "Fixed."),
    ("Fix the store", (
        ("fails", "go test ./...", _NIL.format("book")),
        ("edits", "/bench/store/book.go", "- b.next()\n+ if b != nil { b.next() }"),
        ("runs", "go test ./...", "ok")), "Fixed."),
    ("Fix the types", (
        ("fails", "mypy .", _TYPES.format("vat")),
        ("edits", "/bench/shop/vat.py", "- return rate\n+ return int(rate)"),
        ("runs", "mypy .", "Success")), "Fixed."),
    ("Build the image", (
        ("fails", "docker build .", _SOCKET),
        ("runs", "sudo usermod -aG docker me", "done"),
        ("runs", "docker build .", "ok")), "It builds."),
    ("Bring up the database", (
        ("fails", "python report.py", _REFUSED.format(_WRAPPED, "db1.internal", "10.0.0.7")),
        ("runs", "docker compose up -d db", "Started"),
        ("runs", "python report.py", "ok")), "It was not running."),
)  # fmt: skip


def _edit(file: str, old: str, new: str) -> dict[str, str]:
    return {"file_path": f"/bench/{file}", "old_string": old, "new_string": new}


BEFORE: tuple[tuple[dict[str, str], str], ...] = (
    ({"command": "pytest -q"}, ""),
    ({"command": "pytest -q 2>&1 | tail -5"}, ""),
    ({"command": "python load.py"}, ""),
    ({"command": "pytest -k locale"}, "LC_ALL=C"),
    ({"command": "LC_ALL=C pytest -k locale"}, ""),
    ({"command": "npm test"}, "cd web"),
    ({"command": "cd web && npm test"}, ""),
    ({"command": "make report"}, "ledger"),
    ({"command": "git pull && make report 2>&1 | tail"}, "ledger"),
    ({"command": "timeout 60 make report > out.txt"}, "ledger"),
    ({"command": "make check"}, ""),
    ({"command": "make bench"}, "40 s"),
    ({"command": "npm run unit"}, ""),
    ({"command": "go test ./..."}, ""),
    ({"command": "mypy ."}, ""),
    ({"command": "python report.py"}, ""),
    ({"command": "docker compose up -d db"}, ""),
    ({"command": "pytest tests/test_tax.py"}, ""),
    ({"command": "pytest tests/test_mail.py"}, "no route"),
    ({"command": "git checkout -- rows.py"}, ""),
    (_edit("cache.py", "TTL = 60", "TTL = 86400"), "turned back"),
    (_edit("cache.py", "import os\nTTL = 60", "import os\nTTL = 86400"), "turned back"),
    (_edit("cache.py", "TTL = 86400", "TTL = 60"), ""),
    (_edit("cache.py", "TTL = 60", "TTL = 120"), ""),
    (_edit("other.py", "TTL = 60", "TTL = 86400"), ""),
    (_edit("pool.py", "SIZE = 1", "SIZE = 64"), "store.py"),
    (_edit("store.py", "flush = False", "flush = True"), ""),
    (_edit("rows.py", "for row in rows:", "for row in pool.map(parse, rows):"), "undone"),
    (_edit("cart.py", "return 0", "return cart_total()"), ""),
    (_edit("src/List.tsx", "items.map(", "(items ?? []).map("), ""),
)

AFTER: tuple[tuple[str, str, str], ...] = (
    ("python other.py", _YAML.format("yaml"), "pyyaml"),
    ("python other.py", _YAML.format("numpy"), ""),
    ("make migrate", _REFUSED.format("psycopg2.OperationalError:", "db1.internal", "10.0.0.7"), "up -d db"),
    ("make migrate", _REFUSED.format(_WRAPPED, "db.example.com", "10.1.0.2"), "up -d db"),
    ("make migrate", _REFUSED.format("OperationalError:", "localhost", "127.0.0.1"), "up -d db"),
    ("make migrate", "OperationalError: could not translate host name \"db\" to address", ""),
    ("npm run unit", _UNDEFINED.format("List"), "List.tsx"),
    ("npm run unit", _UNDEFINED.format("Table"), ""),
    ("npm run build", _UNDEFINED.format("Chart"), ""),
    ("go test ./...", _NIL.format("book"), "book.go"),
    ("go test ./...", _NIL.format("shelf"), ""),
    ("go run .", _NIL.format("main"), ""),
    ("mypy .", _TYPES.format("vat"), "vat.py"),
    ("mypy .", _TYPES.format("cart"), ""),
    ("make all", _STALE, "store.py"),
    ("pytest -q", "Exit code 1\nE   NameError: name 'wish_total' is not defined\n1 failed", ""),
    ("make report", "Exit code 2\nmake: *** [Makefile:3: report] Error 2", ""),
    ("docker ps", _SOCKET, "usermod"),
    ("cat /etc/shadow", "Exit code 1\ncat: /etc/shadow: Permission denied", ""),
    ("ls", "Exit code 2\nls: cannot access 'x': No such file or directory", ""),
)  # fmt: skip
