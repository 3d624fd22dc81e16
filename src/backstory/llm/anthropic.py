"""The Anthropic Messages protocol."""

from typing import Any
from urllib.parse import urlsplit

from backstory.llm import json_post
from backstory.llm.model_provider import LATER, Access, Question, Reply, Trouble, tokens_told

_VERSION = "2023-06-01"
_CUT = ("max_tokens", "model_context_window_exceeded")
_READ = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


class Anthropic:
    """An endpoint below whose address `/v1/messages` answers; it is a `Provider`."""

    name = "anthropic"
    overhead = 0

    def __init__(self, access: Access) -> None:
        self.model = access.model
        self._access = access
        self._url = access.url.rstrip("/").removesuffix("/v1") + "/v1/messages"
        self._where = urlsplit(access.url).netloc.rpartition("@")[2]
        self._takes_schema = True

    def ask(self, question: Question) -> Reply:
        """The answer, or a `Trouble`; a model that knows no schemas is asked again without."""
        answer = self._post(question)
        if self._takes_schema and question.schema and json_post.knows_no_schema(answer):
            self._takes_schema = False
            answer = self._post(question)
        json_post.raise_for_status(answer, self._where, self._access.key)
        return self._read(answer.json(self._where))

    def _post(self, question: Question) -> json_post.Answer:
        told = self._takes_schema and bool(question.schema)
        system = question.system if told or not question.schema else json_post.shape_in_words(question)
        body: dict[str, Any] = {
            "model": self.model,
            "system": system,
            "messages": [{"role": "user", "content": question.text}],
            "max_tokens": question.max_tokens,
        }
        if told:
            body["output_config"] = {"format": {"type": "json_schema", "schema": question.schema}}
        headers = {"x-api-key": self._access.key, "anthropic-version": _VERSION}
        access = self._access
        return json_post.post_json(self._url, headers, body, access.seconds, access.key, users=access.users)

    def _read(self, told: Any) -> Reply:
        json_post.raise_if_error(told, self._where, self._access.key)
        try:
            text = "".join(block["text"] for block in told["content"] if block["type"] == "text")
            usage = told.get("usage") or {}
            stopped = told.get("stop_reason")
            reply = Reply(
                text,
                sum(tokens_told(usage.get(name)) for name in _READ),
                tokens_told(usage.get("output_tokens")),
                cut=stopped in _CUT,
            )
        except (KeyError, TypeError, AttributeError, ValueError):
            raise Trouble(
                f"{self._where} answered in a shape that is not Anthropic's: check model.url"
            ) from None
        if stopped == "refusal":
            raise Trouble(f"{self.model} refused to answer", LATER)
        return reply
