"""What the API takes, as a table; its checks and its description for programs come from the same rows."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backstory import __version__
from backstory.errors import UsageError

TEXT, COUNT, BOOLEAN = "string", "integer", "boolean"
_LONGEST = 100_000


@dataclass(frozen=True, slots=True)
class Field:
    """One thing that can be given: in the path, in the query, or in the body."""

    name: str
    type: str = TEXT
    says: str = ""
    choices: tuple[str, ...] = ()
    required: bool = False
    place: str = "query"

    def schema(self) -> dict[str, Any]:
        """As JSON Schema says it."""
        schema: dict[str, Any] = {"type": self.type}
        if self.choices:
            schema["enum"] = [str(choice) for choice in self.choices]
        if self.type == COUNT:
            schema["minimum"] = 1
        if self.says:
            schema["description"] = self.says
        return schema

    def checked(self, value: object) -> str:
        """The value as text, or what is wrong with it."""
        if self.type == BOOLEAN:
            text = str(value).lower()
            if text not in ("true", "false", "1", "0"):
                raise UsageError(f"{self.name} must be true or false")
            return (
                "true"
                if text in ("true", "1") and self.place == "body"
                else "1"
                if text in ("true", "1")
                else ""
            )
        if not isinstance(value, str) and not (self.type == COUNT and type(value) is int):
            raise UsageError(f"{self.name} must be a {self.type}")
        text = str(value)
        if self.type == COUNT and not (text.isascii() and text.isdecimal() and int(text[:20]) > 0):
            raise UsageError(f"{self.name} must be a whole number of 1 or more")
        if "\0" in text or len(text) > _LONGEST:
            raise UsageError(f"{self.name} must be text without NUL, of at most {_LONGEST} characters")
        if self.choices and text not in self.choices:
            raise UsageError(f"{self.name} takes {', '.join(self.choices)}")
        try:
            text.encode()
        except UnicodeEncodeError:
            raise UsageError(f"{self.name} is not valid Unicode") from None
        return text[:20] if self.type == COUNT else text


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One row of the API."""

    method: str
    path: str
    says: str
    run: Callable[..., Mapping[str, Any]]
    fields: tuple[Field, ...] = ()

    def checked(self, given: Mapping[str, object], place: str) -> dict[str, str]:
        """What was given of a place, as texts; refuses what is missing, unknown or wrong."""
        known = {field.name: field for field in self.fields if field.place == place}
        for name in given:
            if name not in known:
                raise UsageError(f"{self.path} takes no {name!r}; it takes {', '.join(known) or 'nothing'}")
        for name, field in known.items():
            if field.required and name not in given:
                raise UsageError(f"{self.path} needs {name!r}")
        return {name: known[name].checked(value) for name, value in given.items()}


def body_of(data: bytes) -> dict[str, object]:
    """The object in a request's body; an empty body is an empty object."""
    try:
        value = json.loads(data) if data.strip() else {}
    except (ValueError, RecursionError):
        raise UsageError("the body must be JSON") from None
    if not isinstance(value, dict):
        raise UsageError("the body must be a JSON object")
    return value


def document(endpoints: Sequence[Endpoint]) -> dict[str, Any]:
    """The description of the whole API, OpenAPI 3.1."""
    paths: dict[str, dict[str, Any]] = {}
    for endpoint in endpoints:
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = _operation(endpoint)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Backstory",
            "version": __version__,
            "description": "One memory for every coding agent.",
        },
        "paths": paths,
        "security": [{"token": []}],
        "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
    }


def _operation(endpoint: Endpoint) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "summary": endpoint.says,
        "operationId": endpoint.run.__name__.strip("_") + "_" + endpoint.method.lower(),
        "responses": {
            "200": {
                "description": "the answer",
                "content": {"application/json": {"schema": {"type": "object"}}},
            },
            **{
                str(status): {
                    "description": says,
                    "content": {
                        "application/json": {
                            "schema": {
                                "type": "object",
                                "properties": {"error": {"type": "string"}},
                                "required": ["error"],
                            }
                        }
                    },
                }
                for status, says in _REFUSALS.items()
            },
        },
    }
    parameters = [
        {
            "name": field.name,
            "in": field.place,
            "required": field.required or field.place == "path",
            "schema": field.schema(),
        }
        for field in endpoint.fields
        if field.place != "body"
    ]
    if parameters:
        operation["parameters"] = parameters
    if endpoint.method != "GET":
        inside = [field for field in endpoint.fields if field.place == "body"]
        schema = {
            "type": "object",
            "properties": {field.name: field.schema() for field in inside},
            "required": [field.name for field in inside if field.required],
            "additionalProperties": False,
        }
        operation["requestBody"] = {"content": {"application/json": {"schema": schema}}, "required": False}
    return operation


_REFUSALS = {
    400: "it cannot be understood",
    401: "the token is missing or wrong",
    403: "from another site, read-only, or for the terminal only",
    404: "there is no such thing",
    409: "it was tried and did not work",
    413: "too much",
    429: "too many changes at once",
}
