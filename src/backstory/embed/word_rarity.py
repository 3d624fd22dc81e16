"""How rare words are in what developers write: log(1 / frequency), counted over English texts and code.

`data/rarities.txt` has word pieces and their rarities; a word that it lacks is cut into the longest pieces.
"""

from functools import lru_cache

from backstory.embed.bert_tokenizer import DATA

_LONGEST, _PER_CUT = 40, 0.5


@lru_cache(maxsize=1)
def _table() -> dict[str, float]:
    rows = (line.split("\t") for line in (DATA / "rarities.txt").read_text("ascii").splitlines())
    return {piece: float(rarity) for piece, rarity in rows}


@lru_cache(maxsize=8_192)
def rarity(word: str) -> float:
    """From about 1 ("the") to 12; more if it is cut into pieces, 0 for what has no Latin letter or digit."""
    table, low = _table(), "".join(c for c in word[:_LONGEST].lower() if c.isascii() and c.isalnum())
    found: list[float] = []
    start = 0
    while start < len(low):
        mark = "##" if start else ""
        ends = (end for end in range(len(low), start, -1) if mark + low[start:end] in table)
        end = next(ends, 0)
        if not end:
            break
        found.append(table[mark + low[start:end]])
        start = end
    return max(found, default=0.0) + _PER_CUT * max(len(found) - 1, 0)
