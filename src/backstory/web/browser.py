"""Opening the user's browser without telling anybody else the key.

A program's arguments can be read by every user of the machine, so the link must not be one. The browser is
given a file that only its owner can read, which forwards to the link, and which is gone once it was used.
"""

import logging
import os
import threading
import time
import webbrowser
from collections.abc import Callable

from backstory.atomic import write_own
from backstory.paths import Home
from backstory.program_lookup import trusted_path
from backstory.web.markup import h

log = logging.getLogger(__name__)
_SECONDS = 60.0
_POLL_SECONDS = 0.2


def open_browser(home: Home, link: str, used: Callable[[], bool]) -> threading.Thread:
    """Let the user's browser open the link, beside whatever else is done."""
    opening = threading.Thread(target=_open, args=(home, link, used), name="browser", daemon=True)
    opening.start()
    return opening


def _open(home: Home, link: str, used: Callable[[], bool]) -> None:
    try:
        write_own(home.open_viewer, forwarding_page(link).encode())
        os.environ["PATH"] = trusted_path()  # what opens browsers is looked for by name, and does so itself
        webbrowser.open(home.open_viewer.as_uri())
        until = time.monotonic() + _SECONDS
        while not used() and time.monotonic() < until:
            time.sleep(_POLL_SECONDS)
    except (OSError, webbrowser.Error):
        log.exception("the browser could not be opened")
    finally:
        home.open_viewer.unlink(missing_ok=True)


def forwarding_page(link: str) -> str:
    """A page that leads on at once."""
    head = h(
        "head",
        h("meta", charset="utf-8"),
        h("meta", name="referrer", content="no-referrer"),
        h("meta", http_equiv="refresh", content=f"0;url={link}"),
        h("title", "Backstory"),
    )
    return f"<!doctype html>\n{h('html', head, h('body', h('a', 'Open the viewer', href=link)), lang='en')}\n"
