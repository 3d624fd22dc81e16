"""Vectors over HTTP, against a real server."""

from collections.abc import Iterator

import numpy as np
import pytest

from backstory.embed.embedder import load_embedder
from backstory.embed.http_embedder import endpoint
from backstory.errors import Failed
from backstory.settings import Settings

from .serving import Endpoint, serving


@pytest.fixture
def server() -> Iterator[Endpoint]:
    with serving() as running:
        yield running


@pytest.mark.parametrize(
    ("kind", "base", "path"), [("openai", "/v1", "/v1/embeddings"), ("ollama", "", "/api/embed")]
)
def test_an_endpoint_gives_unit_vectors_in_the_order_of_the_texts(
    server: Endpoint, kind: str, base: str, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OUR_KEY", "sesame")
    there = endpoint(kind, server.url + base, "m1", "OUR_KEY", 5)
    found = there.embed(["alpha beta", "gamma"])
    assert np.allclose(np.linalg.norm(found, axis=1), 1)
    assert np.argmax(found[1]) == np.argmax(server.vector("gamma"))
    assert server.requests == [(path, {"model": "m1", "input": ["alpha beta", "gamma"]}, "Bearer sesame")]
    assert there.model == f"{kind}:m1@{server.url.removeprefix('http://')}{base}"


def test_without_a_key_none_is_sent(server: Endpoint) -> None:
    endpoint("openai", server.url, "m1", "", 5).embed(["x"])
    assert server.requests[0][2] == ""


@pytest.mark.parametrize(
    "broken",
    [
        b"<html>",
        b"{}",
        b'{"data": 3}',
        b'{"data": [{"embedding": "x"}]}',
        b'{"data": []}',
        b'{"data": [{"embedding": [1, 2]}, {"embedding": [1]}]}',
        b'{"data": [{"embedding": [1, NaN]}, {"embedding": [1, 2]}]}',
        b'{"data": [{"embedding": [1, 1e999]}, {"embedding": [1, 2]}]}',
        b'{"data": [{"embedding": [1, 1e38]}, {"embedding": [1, 2]}]}',
        b'{"data": [{"embedding": [1, 1%b]}, {"embedding": [1, 2]}]}' % (b"0" * 400),
    ],
)
def test_an_answer_that_is_no_vectors_is_refused_with_what_to_do(server: Endpoint, broken: bytes) -> None:
    server.broken = broken
    with pytest.raises(Failed, match=r"check embed\."):
        endpoint("openai", server.url, "m1", "", 5).embed(["x", "y"])


def test_an_error_of_the_server_and_no_server_at_all_are_named(server: Endpoint) -> None:
    server.status = 500
    with pytest.raises(Failed, match=r"500.*check embed\.url"):
        endpoint("openai", server.url, "m1", "", 5).embed(["x"])
    with pytest.raises(Failed, match=r"check embed\.url"):
        endpoint("ollama", "http://127.0.0.1:9", "m1", "", 1).embed(["x"])


def test_settings_that_name_no_endpoint_say_what_is_missing() -> None:
    bare = load_embedder(Settings(embed_provider="ollama", embed_model="m")).why
    assert bare.startswith("by words only: embed.provider is ollama, but embed.url is empty")
    odd = Settings(embed_provider="ollama", embed_model="m", embed_url="localhost")
    assert "embed.url must begin" in load_embedder(odd).why
    assert (
        "embed.model is empty" in load_embedder(Settings(embed_provider="openai", embed_url="http://x")).why
    )


def test_a_key_follows_no_redirect(server: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OUR_KEY", "sesame")
    with serving() as stranger:
        server.status, server.location = 302, stranger.url + "/embeddings"
        with pytest.raises(Failed, match="answered 302"):
            endpoint("openai", server.url, "m1", "OUR_KEY", 5).embed(["x"])
        assert stranger.requests == []


def test_a_key_is_not_sent_in_the_clear_to_a_stranger(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OUR_KEY", "sesame")
    with pytest.raises(Failed, match=r"unencrypted: use https:// in embed\.url"):
        endpoint("openai", "http://vectors.example", "m1", "OUR_KEY", 1).embed(["x"])


def test_an_answer_that_comes_in_drops_ends_with_the_time_that_it_has(server: Endpoint) -> None:
    server.drop_seconds = 0.2  # each one within the time of a socket
    with pytest.raises(Failed, match="did not answer within 1 s"):
        endpoint("openai", server.url, "m1", "", 1).embed(["x"])
