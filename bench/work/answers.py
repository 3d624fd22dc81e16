"""A model whose answers lie in a folder: an endpoint on this machine that looks up what it is asked.

An answer belongs to a question by a hash of its text, in which the scratch folder is left out, so that a
second run asks the same. Where none is there the question is written beside the others and refused as a
server refuses; whoever answers, puts `NAME.answer` beside `NAME.question` and starts again. With `wait` the
question stays open so long.
"""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from backstory.llm.prices import token_estimate

_POLL_SECONDS = 0.5


@dataclass(slots=True)
class Answers:
    """What was asked and answered so far; `missing` names the questions that wait for an answer."""

    folder: Path
    scratch: str
    wait: float = 0.0
    missing: list[str] = field(default_factory=list)
    tokens: list[tuple[int, int]] = field(default_factory=list)
    url: str = ""

    def answer(self, system: str, text: str, schema: str) -> str | None:
        """The recorded answer; None if there is none, with the question written down."""
        text = text.replace(self.scratch, "/scratch")
        name = blake2b(f"{system}\0{text}\0{schema}".encode(), digest_size=6).hexdigest()
        answered = self.folder / f"{name}.answer"
        if not answered.exists():
            question = self.folder / f"{name}.question"
            question.write_text(f"{system}\n\n{text}", "utf-8")
            deadline = time.monotonic() + self.wait
            while not answered.exists() and time.monotonic() < deadline:
                time.sleep(_POLL_SECONDS)
        if not answered.exists():
            if name not in self.missing:  # a refused question is asked again
                self.missing.append(name)
            return None
        said = answered.read_text("utf-8")
        self.tokens.append((token_estimate(system, text, schema), token_estimate(said)))
        return said


@contextmanager
def recorded(folder: Path, scratch: Path, wait: float = 0.0) -> Iterator[Answers]:
    """The endpoint, as long as the block lasts."""
    folder.mkdir(parents=True, exist_ok=True)
    answers = Answers(folder, str(scratch), wait)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            system, text = (message["content"] for message in body["messages"])
            said = answers.answer(system, text, json.dumps(body.get("response_format", "")))
            status, told = (404, _REFUSED) if said is None else (200, _reply(said, answers.tokens[-1]))
            data = json.dumps(told).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing: the table is what is printed."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    answers.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield answers
    finally:
        server.shutdown()
        server.server_close()


_REFUSED = {"error": {"message": "nobody has answered this yet"}}


def _reply(said: str, tokens: tuple[int, int]) -> dict[str, Any]:
    choice = {"message": {"role": "assistant", "content": said}, "finish_reason": "stop"}
    return {
        "choices": [choice],
        "usage": dict(zip(("prompt_tokens", "completion_tokens"), tokens, strict=True)),
    }
