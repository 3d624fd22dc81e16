"""OpenAI's chat completions, which Ollama, LM Studio, vLLM, OpenRouter and many others speak too."""

from typing import Any
from urllib.parse import urlsplit

from backstory.llm import json_post
from backstory.llm.model_provider import LATER, Access, Question, Reply, Trouble, tokens_told


class OpenAI:
    """An endpoint below whose address `/chat/completions` answers; it is a `Provider`."""

    name = "openai"
    overhead = 0

    def __init__(self, access: Access) -> None:
        self.model = access.model
        self._access = access
        self._url = access.url.rstrip("/") + "/chat/completions"
        self._where = urlsplit(access.url).netloc.rpartition("@")[2]
        self._takes_schema = True

    def ask(self, question: Question) -> Reply:
        """The answer, or a `Trouble`; a server that knows no schemas is asked again without."""
        answer = self._post(question)
        if self._takes_schema and question.schema and json_post.knows_no_schema(answer):
            self._takes_schema = False
            answer = self._post(question)
        json_post.raise_for_status(answer, self._where, self._access.key)
        return self._read(answer.json(self._where))

    def _post(self, question: Question) -> json_post.Answer:
        # OpenAI's own models take the longer name only, the others mostly know the older one.
        limit = "max_completion_tokens" if self._where == "api.openai.com" else "max_tokens"
        told = self._takes_schema and bool(question.schema)
        system = question.system if told or not question.schema else json_post.shape_in_words(question)
        body: dict[str, Any] = {
            "model": self.model,
            "messages": [
                {"role": "system", "content": system},
                {"role": "user", "content": question.text},
            ],
            limit: question.max_tokens,
        }
        if told:
            shape = {"name": "answer", "strict": True, "schema": question.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": shape}
        key = self._access.key
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        seconds, users = self._access.seconds, self._access.users
        return json_post.post_json(self._url, headers, body, seconds, key, users=users)

    def _read(self, told: Any) -> Reply:
        json_post.raise_if_error(told, self._where, self._access.key)
        try:
            choice = told["choices"][0]
            message = choice["message"]
            text, refusal = _text(message.get("content")), message.get("refusal") or ""
            ended = choice.get("finish_reason")
            usage = told.get("usage") or {}
            reply = Reply(
                text,
                tokens_told(usage.get("prompt_tokens")),
                tokens_told(usage.get("completion_tokens")),
                cut=ended == "length",
            )
        except (KeyError, IndexError, TypeError, AttributeError, ValueError):
            raise Trouble(
                f"{self._where} answered in a shape that is not OpenAI's: check model.url"
            ) from None
        if refusal or ended == "content_filter":
            raise Trouble(f"{self.model} refused to answer", LATER, said=str(refusal or ended)[:200])
        return reply


def _text(content: Any) -> str:
    """What a message says: a text, or a list of pieces, of which those that are thoughts are left out."""
    if isinstance(content, list):
        return "".join(piece["text"] for piece in content if piece.get("type") == "text")
    return str(content or "")
