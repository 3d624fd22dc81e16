"""Search by meaning comes and goes: without a model, with another one, with half of the vectors made."""

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from backstory import distil, settings
from backstory.app import App
from backstory.embed import vector_codes
from backstory.embed.embedder import Means, endpoint_model
from backstory.embed.vector_codes import Floats
from backstory.errors import Failed
from backstory.model import Memory, MemoryKind, Tier
from backstory.model_pass import ModelPass
from backstory.search import meaning
from backstory.search.embedding import embed_waiting
from backstory.search.find import search
from backstory.store.passages import Passages
from backstory.store.records import Filters
from backstory.store.vectors import Vector
from tests.embed.serving import Endpoint, serving
from tests.story import House


class Small:
    """An embedder of few dimensions."""

    def __init__(self, model: str, dimensions: int, batch: int = 4) -> None:
        self.model, self.batch, self.dimensions = model, batch, dimensions
        self.seen: list[str] = []

    def embed(self, texts: Sequence[str]) -> Floats:
        self.seen += texts
        chance = np.random.default_rng(len(self.seen))
        made = chance.standard_normal((len(texts), self.dimensions))
        return np.asarray(made / np.linalg.norm(made, axis=1, keepdims=True), np.float32)


@pytest.fixture
def lived(house: House) -> House:
    story = house.session().starts()
    for n in range(12):
        story.prompts(f"Rotate the signing key number {n} of the gateway").stops(f"Key {n} is rotated.")
    house.works()
    return house


@pytest.fixture
def server() -> Iterator[Endpoint]:
    with serving() as running:
        yield running


def counts(house: House) -> tuple[int, int]:
    return house.store.vectors.counts()


def asked(house: House, question: str = "rotate signing key") -> tuple[int, str, str]:
    with App(house.home) as app:
        answer = app.search(question, None)
    return len(answer.hits), answer.mode, answer.lacking


def test_without_a_model_it_goes_by_words_and_vectors_come_once_there_is_one(house: House) -> None:
    """CCE-37: everything works by words, the user is told why, and vectors are made once they can be."""
    house.sets("embed.provider", "ollama")
    house.sets("embed.url", "http://127.0.0.1:9")
    house.sets("embed.model", "none")
    house.session().prompts("Rotate the signing key of the gateway").stops("It is rotated.")
    house.works()
    hits, mode, lacking = asked(house)
    assert hits
    assert "no vectors yet" in mode or "gives no answer" in mode
    assert lacking == mode
    assert counts(house)[0] == 0
    house.sets("embed.provider", "minilm")
    house.works()
    done, waiting = counts(house)
    assert (done > 0, waiting) == (True, 0)
    assert asked(house)[1:] == ("by words and meaning (all-MiniLM-L6-v2-int8)", "")


def test_whoever_switches_it_off_is_not_nagged(lived: House) -> None:
    lived.sets("embed.provider", "off")
    hits, mode, lacking = asked(lived)
    assert (hits > 0, mode, lacking) == (True, "by words only: embed.provider is off", "")


def test_without_numpy_search_works_and_says_what_to_install(lived: House) -> None:
    """CCE-37: no ImportError, and the reason stands on stderr."""
    code = (
        "import sys; sys.modules['numpy'] = None\n"
        "sys.argv = ['backstory', 'search', '--all', 'rotate signing key']\n"
        "from backstory.__main__ import main; main()"
    )
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "BACKSTORY_HOME": str(lived.home.root)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert "signing key" in done.stdout, done.stderr
    assert "pip install numpy" in done.stderr
    assert "Traceback" not in done.stderr


def test_vectors_are_made_batch_by_batch_off_the_start_and_where_they_stopped(lived: House) -> None:
    """CCE-39: incremental, restartable, and never part of opening the memory."""
    embedder = Small("small-1", 8)
    assert embed_waiting(lived.store, embedder, 0) is False
    assert counts(lived)[0] == 4
    lived.close()  # whoever made them is gone; the next one goes on
    assert embed_waiting(lived.store, embedder, 60) is True
    done, waiting = counts(lived)
    assert (done, waiting) == (len(embedder.seen), 0)
    assert len(set(embedder.seen)) == len(set(embedder.seen[:4])) + len(set(embedder.seen[4:]))
    before = len(embedder.seen)
    lived.session().prompts("One more key").stops("Done.")
    lived.sets("embed.provider", "off")
    lived.works()
    embed_waiting(lived.store, embedder, 60)
    assert 0 < len(embedder.seen) - before < before
    code = (
        "import sys; from backstory.app import App\nwith App() as a: a.store\nprint('numpy' in sys.modules)"
    )
    environment = {"PATH": os.environ["PATH"], "BACKSTORY_HOME": str(lived.home.root)}
    assert subprocess.check_output([sys.executable, "-c", code], env=environment, text=True) == "False\n"


def test_an_embedder_that_breaks_keeps_what_it_made(lived: House) -> None:
    """CCE-39"""

    class Breaking(Small):
        def embed(self, texts: Sequence[str]) -> Floats:
            if self.seen:
                raise Failed("the endpoint went away")
            return super().embed(texts)

    with pytest.raises(Failed):
        embed_waiting(lived.store, Breaking("small-1", 8), 60)
    assert counts(lived)[0] == 4


def test_another_model_makes_all_vectors_anew_and_spaces_never_mix(lived: House) -> None:
    """CCE-40: model and version stand with every vector; until the new ones are there it goes by words."""
    with lived.store.transaction():
        lived.store.vectors.start_again()
    embed_waiting(lived.store, Small("small-1", 8), 60)
    before = counts(lived)
    newer = Small("small-2", 24)
    answer = search(lived.store, "rotate signing key", None, means=Means(newer))
    assert "vectors are of small-1, to be made anew" in answer.mode
    assert answer.hits
    assert newer.seen == [], "a question is not even embedded for another model's vectors"
    embed_waiting(lived.store, newer, 0)
    assert lived.store.vectors.model() == "small-2"
    assert counts(lived) == (4, sum(before) - 4), "nothing of the old model is left"
    embed_waiting(lived.store, newer, 60)
    assert (counts(lived), lived.store.vectors.dimensions()) == (before, 24)


def test_an_endpoint_whose_vectors_change_their_length_is_noticed(house: House, server: Endpoint) -> None:
    """CCE-40: the same model's name, other vectors."""
    for key, value in (("provider", "openai"), ("url", server.url), ("model", "m1")):
        house.sets(f"embed.{key}", value)
    house.session().prompts("Rotate the signing key").stops("It is rotated.")
    house.works()
    model = f"openai:m1@{server.url.removeprefix('http://')}"
    assert asked(house)[1] == f"by words and meaning ({model})"
    server.dimensions = 40
    hits, mode, _ = asked(house)
    assert hits
    assert "other vectors than before" in mode
    house.session().prompts("Rotate the other key").stops("Also rotated.")
    house.works()
    house.works()
    assert house.store.vectors.dimensions() == 40
    assert (counts(house)[1], asked(house)[1]) == (0, f"by words and meaning ({model})")


def test_the_same_models_name_at_another_address_is_another_model(house: House, server: Endpoint) -> None:
    """CCE-40: what is called alike elsewhere may make other vectors; never are two compared."""
    for key, value in (("provider", "openai"), ("url", server.url), ("model", "m1")):
        house.sets(f"embed.{key}", value)
    house.session().prompts("Rotate the signing key").stops("It is rotated.")
    house.works()
    before = house.store.vectors.model()
    house.sets("embed.url", f"{server.url}/")
    assert asked(house)[1] == f"by words and meaning ({before})", "the same address"
    with serving() as other:
        house.sets("embed.url", other.url)
        hits, mode, lacking = asked(house)
        assert (hits > 0, mode == lacking) == (True, True)
        assert f"vectors are of {before}, to be made anew" in mode
        house.works()
        after = house.store.vectors.model()
        assert (after != before, counts(house)[1]) == (True, 0)
        assert asked(house)[1] == f"by words and meaning ({after})"


def test_a_password_in_an_address_is_not_part_of_the_models_name() -> None:
    assert (
        endpoint_model("openai", "m1", "https://me:secret@host.example/v1/?key=x")
        == "openai:m1@host.example/v1/"
    )


def test_vectors_of_a_wrong_length_are_refused(lived: House) -> None:
    with lived.store.transaction():
        lived.store.vectors.start_again()
    rows = lived.store.vectors.waiting(2)

    def vector(n: int, dimensions: int) -> Vector:
        made = np.ones((1, dimensions), np.float32)
        return Vector(
            rows[n].row, rows[n].project_id, vector_codes.values(made)[0], vector_codes.signs(made)[0]
        )

    with lived.store.transaction():
        lived.store.vectors.put([vector(0, 16)])
    with (
        pytest.raises(Failed, match="17 dimensions among vectors of 16 was refused"),
        lived.store.transaction(),
    ):
        lived.store.vectors.put([vector(1, 17)])
    assert counts(lived)[0] == 1


NOWHERE = "http://127.0.0.1:9"
LACKING = {
    "embedder": {"embed.provider": "off"},
    "endpoint of embeddings": {"embed.provider": "ollama", "embed.url": NOWHERE, "embed.model": "none"},
    "model": {
        "model.provider": "openai",
        "model.url": NOWHERE,
        "model.distil": "none",
        "model.timeout_seconds": "1",
    },
    "anything": {
        "embed.provider": "off",
        "model.provider": "openai",
        "model.url": NOWHERE,
        "model.distil": "none",
    },
}


@pytest.mark.parametrize("lacking", LACKING)
def test_without_who_could_do_better_a_session_is_summed_up_by_cutting_and_its_tier_says_so(
    house: House, tmp_path: Path, lacking: str
) -> None:
    """CCE-42: what cannot be reached is missed by nobody; the summary is what the rules cut, and says T1."""

    def summed_up(home: House) -> Memory:
        story = home.session(session="long").starts()
        story.prompts("Rewrite the parser " + "so that it reads very long files " * 60).edits("parser.py")
        story.stops("The parser reads line by line now. " * 60).ends()
        home.works()
        loaded, _ = settings.load_settings(home.home)
        if loaded.model_provider != "off":
            assert ModelPass(home.home, loaded, home.store, lambda seconds: None).run() == 0
            home.works()
        [found] = [m for m in home.store.memories.of_session(story.id) if m.kind is MemoryKind.SUMMARY]
        return found

    for key, value in LACKING[lacking].items():
        house.sets(key, value)
    summary = summed_up(house)
    other = House(tmp_path / "other", house.project)
    with closing(other):
        assert summed_up(other).text == summary.text
    assert summary.text.startswith("Asked: Rewrite the parser so that it reads")
    assert summary.text.count("so that it reads very long files") < 10, "cut"
    assert "…" in summary.text
    assert len(summary.text) <= 700
    assert (summary.tier, summary.made_by) == (Tier.RULES, distil.VERSION)
    shown = subprocess.check_output(
        [sys.executable, "-m", "backstory", "show", summary.id],
        env={"PATH": os.environ["PATH"], "BACKSTORY_HOME": str(house.home.root)},
        text=True,
    )
    assert "found by rules" in shown


def test_index_and_vectors_follow_what_they_are_made_from(lived: House) -> None:
    """CCE-38: on insert, update and delete."""
    store, index = lived.store, lived.store.passages
    assert isinstance(index, Passages)
    session = store.events.sessions(None, 1)[0]

    def put(text: str) -> None:
        with store.transaction():
            index.put("m-test", session.project_id, session.id, "fact", 1, text)
        embed_waiting(store, Small("small-1", 8), 60)

    def state(word: str) -> tuple[int, int]:
        found = [f for f in index.search([f'"{word}"'], None, 50) if f.owner == "m-test"]
        return len(found), len(store.vectors.read("small-1", [f.row for f in found]))

    def scanned() -> int:
        return sum(len(rows) // 8 for rows, _ in store.vectors.blocks("small-1", None))

    def kept() -> int:
        with closing(sqlite3.connect(lived.home.database)) as database:
            return int(database.execute("SELECT count(*) FROM vectors").fetchone()[0])

    embed_waiting(store, Small("small-1", 8), 60)
    before = scanned()
    assert kept() == before
    put("the zeppelin is green")
    assert state("zeppelin") == (1, 1)
    assert scanned() == before + 1
    row = index.search(['"zeppelin"'], None, 50)[0].row
    with store.transaction():
        index.put("m-test", session.project_id, session.id, "fact", 1, "the zeppelin is green")
    assert state("zeppelin") == (1, 1), (
        "a session distilled again needs no new vectors for what it said before"
    )
    assert index.search(['"zeppelin"'], None, 50)[0].row == row
    put("the balloon is red " * 120)  # several passages now
    assert state("zeppelin") == (0, 0)
    found, vectors = state("balloon")
    assert found == vectors > 1
    assert scanned() == kept() == before + found
    with store.transaction():
        index.remove("m-test")
    assert (state("balloon"), scanned(), kept()) == ((0, 0), before, before)
    assert index.is_consistent()


class Ramp:
    """An embedder whose vectors have the same signs, each a little nearer to the last direction."""

    model, batch = "ramp", 100

    def __init__(self) -> None:
        self.seen = 0

    def embed(self, texts: Sequence[str]) -> Floats:
        made = np.ones((len(texts), 8), np.float32)
        made[:, 7] += np.arange(self.seen, self.seen + len(texts))
        self.seen += len(texts)
        return np.asarray(made / np.linalg.norm(made, axis=1, keepdims=True), np.float32)


@pytest.mark.parametrize("filters", [None, Filters(kinds=("prompt", "said"))], ids=["all", "narrowed"])
def test_of_many_with_the_same_signs_the_nearest_is_found_by_exact_comparison(
    lived: House, filters: Filters | None
) -> None:
    ramp = Ramp()
    assert embed_waiting(lived.store, ramp, 60)
    asked = np.asarray([0.01] * 7 + [1.0], np.float32)
    passages, vectors = lived.store.passages, lived.store.vectors
    through = (lambda rows: passages.passing(rows, filters)) if filters else None
    near, among = meaning.nearest(vectors, ramp.model, asked, None, 200, through)
    assert among == counts(lived)[0] > 20
    rows = passages.passing(list(range(1, 200)), filters or Filters())
    assert near == meaning.cosines(vectors, ramp.model, asked, rows)
