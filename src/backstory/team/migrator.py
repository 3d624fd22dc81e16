"""The team's schema: numbered SQL files, applied in order by the database's owner, each once.

The server itself works under another role, which owns nothing: `migrate` gives it what it needs and no more.
"""

import secrets
from hashlib import sha256
from importlib import resources

import psycopg
from psycopg import sql

from backstory.errors import Failed, NewerSchema

SCHEMA = "backstory"
# What the server's role may do, table by table; nothing where it is not told.
_ALL = "SELECT, INSERT, UPDATE, DELETE"
_RIGHTS = {
    "server": "SELECT",
    "migrations": "SELECT",
    "tenants": "SELECT",
    "members": "SELECT, INSERT, UPDATE",
    "tokens": "SELECT, INSERT, UPDATE",
    "invites": "SELECT, INSERT, UPDATE",
    "projects": "SELECT, INSERT, UPDATE",
    "patterns": "SELECT, INSERT, DELETE",
    "aliases": "SELECT, INSERT, DELETE",
    "grants": _ALL,
    "memories": _ALL,
    "graves": "SELECT, INSERT",
    "words": _ALL,
    "cursors": _ALL,
    "audit": "SELECT, INSERT",
}


def migrations() -> list[tuple[int, str, str]]:
    """Number, name and text of each migration, in order."""
    folder = resources.files("backstory.team") / "migrations"
    found = [each for each in folder.iterdir() if each.name.endswith(".sql")]
    return sorted((int(each.name[:4]), each.name, each.read_text("utf-8")) for each in found)


def migrate(owner_url: str, server_role: str) -> int:
    """Bring the database to the newest schema and let `server_role` use it; how many steps that took."""
    with psycopg.connect(owner_url, options=f"-c search_path={SCHEMA}") as connection:
        role, schema = sql.Identifier(server_role), sql.Identifier(SCHEMA)
        connection.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(schema))
        connection.execute(
            "CREATE TABLE IF NOT EXISTS migrations (number int PRIMARY KEY, name text NOT NULL, "
            "digest text NOT NULL)"
        )
        connection.execute("ALTER TABLE migrations ENABLE ROW LEVEL SECURITY")
        connection.execute("DROP POLICY IF EXISTS everyone ON migrations")
        connection.execute("CREATE POLICY everyone ON migrations FOR SELECT USING (true)")
        connection.execute("LOCK TABLE migrations IN EXCLUSIVE MODE")  # two servers may start at once
        done = _applied(connection)
        waiting = [each for each in migrations() if each[0] not in done]
        for number, name, text in waiting:
            connection.execute(text.encode())
            connection.execute("INSERT INTO migrations VALUES (%s, %s, %s)", (number, name, _digest(text)))
        connection.execute(
            "INSERT INTO server (id) VALUES (%s) ON CONFLICT DO NOTHING", (secrets.token_hex(16),)
        )
        connection.execute(sql.SQL("GRANT USAGE ON SCHEMA {} TO {}").format(schema, role))
        for table, rights in _RIGHTS.items():
            connection.execute(
                sql.SQL("GRANT {} ON {} TO {}").format(sql.SQL(rights), sql.Identifier(table), role)
            )
    return len(waiting)


def _applied(connection: psycopg.Connection[tuple[object, ...]]) -> set[object]:
    """The numbers of what was applied; raises if that was something else than what we have."""
    known = {number: _digest(text) for number, _, text in migrations()}
    rows = connection.execute("SELECT number, name, digest FROM migrations").fetchall()
    for number, name, digest in rows:
        if number not in known:
            raise NewerSchema(
                f"the team's database has {name}, which this Backstory does not know: upgrade it"
            )
        if known[number] != digest:
            raise Failed(f"{name} of the team's database is not the one of this Backstory")
    return {row[0] for row in rows}


def require_newest(connection: psycopg.Connection[tuple[object, ...]]) -> None:
    """Raise unless the database is at this Backstory's schema."""
    try:
        done = _applied(connection)
    except psycopg.errors.Error as error:
        raise Failed(
            f"this database holds no team ({str(error).splitlines()[0]}): "
            "start once with --owner-database URL, whose role may make tables"
        ) from error
    if len(done) < len(migrations()):
        raise Failed("the team's database is older than this Backstory: start once with --owner-database URL")


def require_bounded_role(connection: psycopg.Connection[tuple[object, ...]]) -> None:
    """Raise unless row-level security holds for whom we are: no superuser, no owner, no BYPASSRLS."""
    row = connection.execute(
        "SELECT current_user, rolsuper, rolbypassrls FROM pg_roles WHERE rolname = current_user"
    ).fetchone()
    name, superuser, bypasses = row or ("?", True, True)
    todo = "name a role in --database that was made by `CREATE ROLE backstory_server LOGIN PASSWORD …`"
    if superuser or bypasses:
        raise Failed(f"the role {name} is not bound by row-level security (it may bypass it): {todo}")
    tables = connection.execute(
        "SELECT relname, relrowsecurity, pg_has_role(current_user, relowner, 'MEMBER') FROM pg_class "
        "WHERE relnamespace = %s::regnamespace AND relkind IN ('r', 'p')",
        (SCHEMA,),
    ).fetchall()
    for table, secured, owns in tables:
        if owns:
            raise Failed(f"the role {name} owns the table {table}, so no policy holds for it: {todo}")
        if not secured and table != "words":
            raise Failed(f"the table {table} has no row-level security: it was switched off by hand")


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()
