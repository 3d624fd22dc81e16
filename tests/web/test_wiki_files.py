"""The viewer's wiki pages beside a pipe, a device and a socket: each is shown, and none hangs."""

import os
import socket

import pytest

from tests.knowledge.book import Book, logged_in
from tests.story import House

from .viewer import Viewer


def test_a_wiki_with_a_pipe_among_its_pages_is_shown_again_and_again(
    house: House, viewer: Viewer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many views as the viewer has threads: one that waits for the pipe would be missed at the end."""
    book = Book(house)
    logged_in(house.told()).ends()
    book.writes_down()
    vault = book.vault
    house.close()
    for folder in ("concepts", "daily", "."):
        os.mkfifo(vault.root / folder / "pipe.md")
        (vault.root / folder / "device.md").symlink_to("/dev/zero")
        with socket.socket(socket.AF_UNIX) as server:
            monkeypatch.chdir(vault.root / folder)  # the address of a socket is short
            server.bind("socket.md")
    for _ in range(45):
        assert viewer.get("/forget", text="RS256").status == 200
        shown = viewer.get("/knowledge", vault=vault.root.name)
        assert shown.status == 200
    assert "pipe" not in shown.text
    for page in ("concepts/pipe", "daily/pipe", "pipe", "concepts/device", "concepts/socket"):
        assert viewer.get(f"/knowledge/{vault.root.name}/{page}").status == 404
    assert viewer.get(f"/knowledge/{vault.root.name}/index").status == 200
