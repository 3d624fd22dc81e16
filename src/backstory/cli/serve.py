"""`backstory serve`: the viewer, in the browser."""

import os

import click

from backstory.cli.output import json_option, line, print_json, talk
from backstory.cli.project_scope import open_app


@click.command()
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, help="A fixed port; the system chooses one otherwise."
)
@click.option("--no-browser", is_flag=True, help="Print the link instead of opening it.")
@click.option("--read-only", is_flag=True, help="Look only: nothing can be changed, nothing is captured.")
@click.option(
    "--by-number",
    is_flag=True,
    help="A link with 127.0.0.1, for a browser that cannot open names that end in .localhost (Safari). "
    "Its cookie then also goes to other servers of this machine that you open.",
)
@json_option
def serve(port: int, no_browser: bool, read_only: bool, by_number: bool, as_json: bool) -> None:
    """Look at the memory in the browser: see, search, correct, forget.

    It answers on this machine only, and this user only. The link that it prints lets one browser in, once;
    programs show the token in the home's serve.token, which is new at each start. While it runs, it does the
    worker's work. Ctrl-C ends it.
    """
    from backstory.web.server import Options
    from backstory.web.server import serve as run

    with open_app() as app:
        home = app.home

    def ready(address: str, link: str) -> None:
        if as_json:
            print_json({"address": address, "link": link, "pid": os.getpid()})
        else:
            line(link)
        talk(f"The viewer is at {address}. The link lets one browser in. Ctrl-C ends it.")

    run(home, Options(port, read_only, not no_browser, by_number), ready)
    talk("The viewer has ended.")
