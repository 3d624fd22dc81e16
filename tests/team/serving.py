"""A team's server as its own process, and plain HTTP to it."""

import http.client
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from backstory.team.embedded_postgres import EmbeddedPostgres


@dataclass
class Served:
    """One that runs: its process, where it is, the first invitation."""

    process: "subprocess.Popen[str]"
    address: str
    invitation: str | None
    headers: dict[str, str] = field(default_factory=dict)

    def asks(
        self, method: str, path: str, body: object = None, token: str = "", **headers: str
    ) -> tuple[int, dict[str, Any]]:
        """One request; its headers are kept."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode() if body is not None else None
        connection = http.client.HTTPConnection(str(urlsplit(self.address).netloc), timeout=60)
        try:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            if token:
                named["Authorization"] = f"Bearer {token}"
            connection.request(method, path, data, named)
            answer = connection.getresponse()
            self.headers = {name.lower(): value for name, value in answer.getheaders()}
            found: dict[str, Any] = json.loads(answer.read())
            return answer.status, found
        finally:
            connection.close()

    def ends(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(60)


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "backstory", "team", "serve", "--json", *words]


@contextmanager
def served(
    running: EmbeddedPostgres, journal: Path, *words: str, listen: str = "127.0.0.1:0"
) -> Iterator[Served]:
    database = ["--database", running.server_url, "--owner-database", running.owner_url]
    called = command(*database, "--journal", str(journal), "--listen", listen, *words)
    environ = {**os.environ, "BACKSTORY_HOME": str(journal.parent / "home")}
    process = subprocess.Popen(called, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environ)
    try:
        yield told(process)
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def told(process: "subprocess.Popen[str]") -> Served:
    """What it says once it answers: JSON over several lines."""
    assert process.stdout is not None
    text = ""
    for line in process.stdout:
        text += line
        if line.startswith("}"):
            found = json.loads(text)
            return Served(process, found["address"], found["invitation"])
    raise AssertionError(f"it did not start: {process.communicate()[1]}")
