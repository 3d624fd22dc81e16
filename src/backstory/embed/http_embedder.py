"""Vectors over HTTP: any endpoint that speaks OpenAI's embeddings, or Ollama.

The key is read from the environment variable that `embed.key_env` names, never from a file of ours.
"""

import json
import math
import os
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from backstory.embed.embedder import endpoint_model
from backstory.errors import Failed
from backstory.llm.json_post import post_json

if TYPE_CHECKING:
    from backstory.embed.vector_codes import Floats

_LARGEST = 1e15  # its square is still a float of 32 bits


class Endpoint:
    """An embedding model behind a URL; it is an `Embedder`."""

    batch = 32

    def __init__(
        self,
        kind: str,
        url: str,
        name: str,
        key: str = "",
        seconds: float = 30.0,
        users: Collection[int] = (),
    ) -> None:
        self._users = users
        self._kind = kind
        self._url = url.rstrip("/")
        self._name = name
        self._key = key
        self._seconds = seconds
        self.model = endpoint_model(kind, name, url)

    def embed(self, texts: Sequence[str]) -> "Floats":
        """One unit vector per text."""
        import numpy as np

        rows = self._vectors(self._answer({"model": self._name, "input": list(texts)}))
        if len(rows) != len(texts):
            raise Failed(f"{self._url} gave {len(rows)} vectors for {len(texts)} texts: check embed.model")
        if not all(math.isfinite(x) and abs(x) < _LARGEST for row in rows for x in row):
            raise Failed(f"{self._url} gave numbers that no vector has: check embed.model")
        if len({len(row) for row in rows}) > 1:
            raise Failed(f"{self._url} gave vectors of several lengths: check embed.model")
        found = np.asarray(rows, np.float32)
        return np.asarray(found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-9), np.float32)

    def _answer(self, body: dict[str, Any]) -> Any:
        path = "/api/embed" if self._kind == "ollama" else "/embeddings"
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        answer = post_json(self._url + path, headers, body, self._seconds, self._key, "embed", self._users)
        if answer.status != 200:
            raise Failed(f"{self._url} answered {answer.status}: check embed.url and embed.model")
        try:
            return json.loads(answer.body)
        except (ValueError, RecursionError) as error:
            raise Failed(f"{self._url} gave something else than JSON: check embed.url") from error

    def _vectors(self, answer: Any) -> list[list[float]]:
        try:
            if self._kind == "ollama":
                return [[float(x) for x in row] for row in answer["embeddings"]]
            rows = sorted(answer["data"], key=lambda row: row.get("index", 0))
            return [[float(x) for x in row["embedding"]] for row in rows]
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise Failed(f"{self._url} gave something else than vectors: check embed.provider") from error


def endpoint(
    kind: str, url: str, name: str, key_env: str, seconds: float, users: Collection[int] = ()
) -> Endpoint:
    """The endpoint that the settings name; a Failed that says what is missing."""
    if not url:
        raise Failed(
            f"embed.provider is {kind}, but embed.url is empty: "
            "`backstory config embed.url ADDRESS` sets where its endpoint is"
        )
    if not url.startswith(("http://", "https://")):
        raise Failed(f"embed.url must begin with http:// or https://, not {url!r}: set it")
    if not name:
        raise Failed("embed.model is empty: set it to the model that the endpoint should use")
    return Endpoint(kind, url, name, os.environ.get(key_env, "") if key_env else "", seconds, users)
