"""A viewer as its own process, started by the command that people type, and a client that asks it."""

import http.client
import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

JSON = {"Content-Type": "application/json"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode("utf-8")

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Viewer:
    """`backstory serve` over a home, until `ends` or the test does."""

    def __init__(self, home: Path, *options: str, **environment: str) -> None:
        self.home = home
        self._env = {
            "PATH": os.environ["PATH"],
            "HOME": str(home.parent),
            "BACKSTORY_HOME": str(home),
            "PYTHONDONTWRITEBYTECODE": "1",
            **environment,
        }
        self.process = subprocess.Popen(
            [sys.executable, "-m", "backstory", "serve", "--no-browser", *options],
            env=self._env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        self.link = self.process.stdout.readline().strip()
        if self.link:
            self.host = urlsplit(self.link).netloc
            self.port = int(urlsplit(self.link).port or 0)
            self.token = (home / "serve.token").read_text("utf-8")

    @property
    def url(self) -> str:
        """The address that browsers know; programs may as well say 127.0.0.1."""
        return f"http://{self.host}"

    @property
    def numbers(self) -> str:
        """The address for programs: few of them know names that end in .localhost."""
        return f"http://127.0.0.1:{self.port}"

    def bare(
        self, method: str, path: str, headers: dict[str, str] | None = None, body: bytes | str | None = None
    ) -> Answer:
        """A request as it is: no token, no cookie."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body=body, headers={"Host": self.host, **(headers or {})})
            answer = connection.getresponse()
            return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        """A request of the home's owner: the body as JSON."""
        own = {"Authorization": f"Bearer {self.token}", **(JSON if body is not None else {})}
        sent = body if isinstance(body, bytes) or body is None else json.dumps(body)
        return self.bare(method, path, own | {k.replace("_", "-"): v for k, v in headers.items()}, sent)

    def get(self, path: str, **query: str) -> Answer:
        """A page."""
        whole = f"{path}?{urlencode(query)}" if query else path
        return self.ask("GET", whole, Accept="text/html")

    def post(self, path: str, **form: str) -> Answer:
        """What a form of a page does, with the cookie of a browser that came in."""
        headers = {**FORM, "Cookie": self.cookie, "Origin": self.url, "Accept": "text/html"}
        return self.bare("POST", path, headers, urlencode(form))

    @property
    def cookie(self) -> str:
        """The cookie that a fresh link is exchanged for."""
        link = self.ask("POST", "/links").json["link"]
        return self.bare("GET", link).headers["set-cookie"].partition(";")[0]

    def ends(self, signal: int = 15) -> tuple[int, str]:
        """End it by a signal; exit code and what it said."""
        self.process.send_signal(signal)
        _, said = self.process.communicate(timeout=60)
        return self.process.returncode, said

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()

    def listen(self, seconds: float) -> "Stream":
        """The live feed."""
        return Stream(self, seconds)


class Stream:
    """The live feed as a client reads it."""

    def __init__(self, viewer: Viewer, seconds: float) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", viewer.port, timeout=seconds)
        self._connection.request("GET", "/live", headers={"Authorization": f"Bearer {viewer.token}"})
        self._answer = self._connection.getresponse()
        self._until = time.monotonic() + seconds
        assert self._answer.readline() == b": listening\n"

    def told(self) -> list[dict[str, Any]]:
        """The next things that happened."""
        while time.monotonic() < self._until:
            line = self._answer.readline()
            if line.startswith(b"data: "):
                found: list[dict[str, Any]] = json.loads(line[6:])
                return found
        raise AssertionError("nothing happened in time")

    def close(self) -> None:
        self._connection.close()
