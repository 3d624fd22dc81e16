"""A real HTTP server that makes vectors, as an OpenAI-compatible endpoint and as Ollama do."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any


class Endpoint:
    """What the server was asked, and how it answers: vectors of `dimensions` numbers, or `broken` bytes."""

    def __init__(self) -> None:
        self.url = ""
        self.dimensions = 16
        self.broken = b""
        self.status = 200
        self.location = ""  # where it sends who asks
        self.drop_seconds = 0.0  # how long it takes for each of the first bytes
        self.requests: list[tuple[str, dict[str, Any], str]] = []

    def vector(self, text: str) -> list[float]:
        """The same text gets the same vector; texts that share words point the same way."""
        found = [0.0] * self.dimensions
        for word in text.lower().split():
            found[sum(word.encode()) % self.dimensions] += 1.0
        return found

    def answer(self, path: str, body: dict[str, Any]) -> bytes:
        """What goes back over the wire."""
        if self.broken:
            return self.broken
        vectors = [self.vector(text) for text in body["input"]]
        if path.endswith("/api/embed"):
            return json.dumps({"model": body["model"], "embeddings": vectors}).encode()
        data = [{"index": n, "object": "embedding", "embedding": v} for n, v in enumerate(vectors)]
        return json.dumps({"object": "list", "data": data[::-1]}).encode()  # order is in the index


@contextmanager
def serving() -> Iterator[Endpoint]:
    """The server, on a port of its own."""
    endpoint = Endpoint()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            endpoint.requests.append((self.path, body, self.headers.get("Authorization", "")))
            data = endpoint.answer(self.path, body)
            self.send_response(endpoint.status)
            self.send_header("Content-Length", str(len(data)))
            if endpoint.location:
                self.send_header("Location", endpoint.location)
            self.end_headers()
            with suppress(OSError):  # who asked may have hung up
                for byte in data[:100] if endpoint.drop_seconds else b"":
                    self.wfile.write(bytes((byte,)))
                    time.sleep(endpoint.drop_seconds)
                self.wfile.write(data[100:] if endpoint.drop_seconds else data)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    endpoint.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield endpoint
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
