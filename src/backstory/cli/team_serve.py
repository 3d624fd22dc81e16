"""`backstory team serve`: the team's server, on a PostgreSQL of its own or on one that runs."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from backstory.cli.output import json_option, line, print_json, talk
from backstory.errors import DependencyMissing, UsageError
from backstory.paths import default_home

if TYPE_CHECKING:
    from backstory.team.team_server import ServeOptions

_PORT = 8787
_OWNER = "BACKSTORY_TEAM_OWNER_DATABASE"
_DATABASE = "BACKSTORY_TEAM_DATABASE"


@click.command()
@click.option(
    "--embedded",
    is_flag=False,
    flag_value="",
    metavar="[FOLDER]",
    help="A PostgreSQL of its own in this folder; without one, team-server in Backstory's home.",
)
@click.option(
    "--database", metavar="URL", envvar=_DATABASE, help="A PostgreSQL that runs, as the role of the server."
)
@click.option(
    "--owner-database",
    metavar="URL",
    envvar=_OWNER,
    help="The same as the role that owns the tables: makes and upgrades them, erases what is forgotten.",
)
@click.option("--listen", metavar="[HOST:]PORT", default=f"127.0.0.1:{_PORT}", help="Where to listen.")
@click.option(
    "--address", metavar="URL", default="", help="What laptops call it, if that is another address."
)
@click.option("--tls-cert", type=click.Path(path_type=Path), help="The certificate, PEM.")
@click.option("--tls-key", type=click.Path(path_type=Path), help="Its key, PEM.")
@click.option("--behind-proxy", is_flag=True, help="A proxy in front does TLS; nobody else reaches this.")
@click.option(
    "--journal",
    type=click.Path(path_type=Path),
    help="The file of burials beside the database; never goes back with a backup.",
)
@json_option
def serve(
    embedded: str | None,
    database: str | None,
    owner_database: str | None,
    listen: str,
    address: str,
    tls_cert: Path | None,
    tls_key: Path | None,
    behind_proxy: bool,
    journal: Path | None,
    as_json: bool,
) -> None:
    """Run the team's server: it orders, guards and forgets what laptops share.

    While nobody has joined, each start prints an invitation for the owner. Ctrl-C ends it. How to run it for
    others (roles, TLS, backups, upgrades) is in docs/team-operators.md.
    """
    if (embedded is None) == (database is None):
        raise UsageError("name one of --embedded and --database URL")
    if find_spec("psycopg") is None or find_spec("psycopg_pool") is None:
        raise DependencyMissing(
            "the team's server needs psycopg: `pip install 'backstory[team]'`, "
            "or 'backstory[team-embedded]' for --embedded"
        )
    from backstory.team.team_server import ServeOptions, require_safe, serve_team

    folder = Path(embedded or default_home() / "team-server")
    host, port = _listen(listen)
    options = ServeOptions(
        url=database or "",
        owner_url=owner_database or "",
        journal=journal or folder / "graves.jsonl",
        host=host,
        port=port,
        tls_cert=tls_cert,
        tls_key=tls_key,
        behind_proxy=behind_proxy,
        address=address.rstrip("/"),
    )
    require_safe(options)  # before anything is made or started

    def ready(found: str, link: str) -> None:
        if as_json:
            print_json({"address": found, "invitation": link or None, "pid": os.getpid()})
        elif link:
            line(f"backstory team join {link}")
            talk("That invites the owner: it counts once, for 24 hours.")
        talk(f"The team's server is at {found}. Ctrl-C ends it.")

    with _database(options, None if embedded is None else folder) as served:
        serve_team(served, ready)
    talk("The team's server has ended.")


@contextmanager
def _database(options: "ServeOptions", folder: Path | None) -> Iterator["ServeOptions"]:
    """The options with the database that runs; our own is started, and ends with us."""
    if folder is None:
        yield options
        return
    from backstory.team.embedded_postgres import kept_running

    with kept_running(folder) as running:
        yield replace(options, url=running.server_url, owner_url=running.owner_url)


def _listen(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not port.isdecimal() or not port.isascii() or int(port) > 65_535:
        raise UsageError(f"--listen is HOST:PORT or PORT, and not {text!r}")
    return host.strip("[]") or "127.0.0.1", int(port)
