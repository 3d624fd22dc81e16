"""Who makes vectors, by the settings; or why nobody does. numpy is loaded here and nowhere earlier."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Protocol

from backstory.embed import MINILM
from backstory.errors import Failed
from backstory.settings import Settings

if TYPE_CHECKING:
    from backstory.embed.vector_codes import Floats


_NO_NUMPY = "by words only: numpy is missing; `pip install numpy` adds search by meaning"
_WORKER_SECONDS = 30.0
# A question waits for its vector only so long: the words alone answer it too.
QUESTION_SECONDS = 2.0


class Embedder(Protocol):
    """Makes vectors; `model` names it and its version, `batch` is how many texts it takes at once."""

    model: str
    batch: int

    def embed(self, texts: Sequence[str]) -> "Floats":
        """One unit vector per text."""


@dataclass(frozen=True, slots=True)
class Means:
    """What there is to search by meaning with. `why` says what is missing, and what to do about it.

    `off`: nobody wants it.
    """

    embedder: Embedder | None = None
    why: str = ""
    off: bool = False


def configured_model(settings: Settings) -> str:
    """The model that the settings ask for, or ""; loads nothing."""
    kind = settings.embed_provider
    known = {"off": "", "minilm": MINILM}
    return known[kind] if kind in known else endpoint_model(kind, settings.embed_model, settings.embed_url)


def endpoint_model(kind: str, name: str, url: str) -> str:
    """What the vectors of an endpoint's model are known by: the same name elsewhere may be another model."""
    _, _, place = url.strip().rstrip("/").rpartition("://")
    return f"{kind}:{name}@{place.partition('?')[0].rpartition('@')[2]}"  # never with a password


def check_model_files(settings: Settings) -> str:
    """What is wrong with the files that vectors are made with, if something is; reads all of them."""
    if settings.embed_provider != "minilm":
        return ""
    try:
        from backstory.embed.minilm import check_weights

        check_weights()
    except ImportError:
        return _NO_NUMPY
    except (Failed, OSError) as error:
        return f"by words only: {error}"
    return ""


def missing_model(settings: Settings) -> str:
    """What keeps search from going by meaning, if that can be told without loading anything."""
    if settings.embed_provider != "off" and find_spec("numpy") is None:
        return _NO_NUMPY
    return ""


def load_embedder(settings: Settings, seconds: float = _WORKER_SECONDS) -> Means:
    """What the settings ask for, as far as it can be had; an endpoint has so long to answer."""
    if settings.embed_provider == "off":
        return Means(why="by words only: embed.provider is off", off=True)
    try:
        return Means(_embedder(settings, seconds))
    except ImportError:
        return Means(why=_NO_NUMPY)
    except Failed as error:
        return Means(why=f"by words only: {error}")


def _embedder(settings: Settings, seconds: float) -> Embedder:
    if settings.embed_provider == "minilm":
        from backstory.embed.minilm import minilm

        return minilm()
    from backstory.embed.http_embedder import endpoint

    return endpoint(
        settings.embed_provider,
        settings.embed_url,
        settings.embed_model,
        settings.embed_key_env,
        seconds,
        tuple(map(int, settings.model_local_users)),
    )
