"""The model of the demo: an endpoint on this machine that gives one recorded answer, whatever it is asked.

A real model names lines by their numbers and memories by their short ids; the recording names both by words
that they have, which are looked up in what was asked.
"""

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

_NAMED = {"lines": re.compile(r"(?m)^\[(\d+)\] (.*)$"), "memories": re.compile(r"(?m)^(m\d+) (.*)$")}


@contextmanager
def scripted_model(recording: Path) -> Iterator[tuple[str, list[str]]]:
    """Its address, and what it was asked so far."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked.append(body["messages"][-1]["content"])
            text = json.dumps(_numbered(json.loads(recording.read_text()), asked[-1]))
            usage = {
                "prompt_tokens": sum(len(message["content"]) for message in body["messages"]) // 4,
                "completion_tokens": len(text) // 4,
            }
            choice = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
            data = json.dumps({"choices": [choice], "usage": usage}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing: the story is told on the terminal."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", asked
    finally:
        server.shutdown()
        server.server_close()


def _numbered(value: Any, asked: str) -> Any:
    """The answer with numbers and ids in place of words."""
    if isinstance(value, dict):
        return {
            key: [_name(key, words, asked) for words in each] if key in _NAMED else _numbered(each, asked)
            for key, each in value.items()
        }
    return [_numbered(each, asked) for each in value] if isinstance(value, list) else value


def _name(key: str, words: str | int, asked: str) -> str | int:
    if isinstance(words, int) or re.fullmatch(r"m\d+", words):
        return words  # recorded from a real model, which was asked the same
    found = next((name for name, line in _NAMED[key].findall(asked) if words in line), "0")
    return int(found) if key == "lines" else str(found)
