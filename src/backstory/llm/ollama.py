"""Ollama's own protocol: unlike OpenAI's, which it speaks too, it takes the length of the context it needs.

Without being told, Ollama reads 4,096 tokens on most machines and leaves out what is beyond, silently.
"""

from typing import Any
from urllib.parse import urlsplit

from backstory.llm import json_post
from backstory.llm.model_provider import Access, Question, Reply, Schema, Trouble, tokens_told
from backstory.llm.prices import token_estimate

# Another length loads the model anew: so there are few of them.
_CONTEXTS = (8_192, 16_384, 32_768, 65_536, 131_072)


class Ollama:
    """An Ollama at an address, with or without `/v1`; it is a `Provider`."""

    name = "ollama"
    overhead = 0

    def __init__(self, access: Access) -> None:
        self.model = access.model
        self._access = access
        self._url = access.url.rstrip("/").removesuffix("/v1") + "/api/chat"
        self._where = urlsplit(access.url).netloc.rpartition("@")[2]

    def ask(self, question: Question) -> Reply:
        """The answer, or a `Trouble`; a model that cannot be held to a shape is asked again in words."""
        answer = self._post(question, question.system, shape=question.schema)
        if question.schema and json_post.knows_no_schema(answer):
            answer = self._post(question, json_post.shape_in_words(question))
        json_post.raise_for_status(answer, self._where, self._access.key)
        return self._read(answer.json(self._where))

    def _post(self, question: Question, system: str, shape: Schema | None = None) -> json_post.Answer:
        needed = token_estimate(system, question.text) + question.max_tokens
        body: dict[str, Any] = {
            "model": self.model,
            "messages": [
                {"role": "system", "content": system},
                {"role": "user", "content": question.text},
            ],
            "stream": False,
            "think": False,
            "options": {
                "num_ctx": next((size for size in _CONTEXTS if size >= needed), _CONTEXTS[-1]),
                "num_predict": question.max_tokens,
            },
        }
        if shape:
            body["format"] = shape
        key = self._access.key
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        seconds, users = self._access.seconds, self._access.users
        return json_post.post_json(self._url, headers, body, seconds, key, users=users)

    def _read(self, told: Any) -> Reply:
        json_post.raise_if_error(told, self._where, self._access.key)
        try:
            return Reply(
                str(told["message"]["content"]),
                tokens_told(told.get("prompt_eval_count")),
                tokens_told(told.get("eval_count")),
                cut=told.get("done_reason") == "length",
            )
        except (KeyError, TypeError, AttributeError, ValueError):
            raise Trouble(
                f"{self._where} answered in a shape that is not Ollama's: check model.url"
            ) from None
