"""Vectors of passages: plain rows, and their signs in blocks that a search scans.

All vectors of a database are of one model. When another model takes over, everything made by the one before
is dropped and every passage waits for its new vector: two spaces never mix. A vector is kept with 8 bits a
dimension, its signs with one bit; `embed/` makes both, here they are bytes.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from struct import Struct
from typing import NamedTuple

from backstory.errors import Failed

BLOCK = 4_096
_NUMBER = Struct("<Q")
_NUMBER_BYTES = _NUMBER.size
# More that wait than so many are the passages without those that have a vector: an index tells that sooner.
_FEW = 10_000


class Unembedded(NamedTuple):
    """A passage that waits for its vector."""

    row: int
    project_id: str
    text: str


class Vector(NamedTuple):
    """The vector of a passage: 8 bits a dimension, and its signs."""

    row: int
    project_id: str
    values: bytes
    signs: bytes


class Vectors:
    """Writes and reads the vectors of one database."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection

    def model(self) -> str:
        """The model that made the vectors, or "" if there is none yet."""
        row = self._db.execute("SELECT value FROM meta WHERE key = 'embed_model'").fetchone()
        return "" if row is None else str(row[0])

    def dimensions(self) -> int:
        """How long the vectors are; 0 while there is none."""
        row = self._db.execute("SELECT length(vector) FROM vectors LIMIT 1").fetchone()
        return 0 if row is None else int(row[0])

    def adopt(self, model: str) -> bool:
        """Make `model` the one that makes vectors; True if another one did. Inside a transaction."""
        before = self.model()
        if before == model:
            return False
        self.start_again()
        self._db.execute(
            """
            INSERT INTO meta (key, value) VALUES ('embed_model', ?)
            ON CONFLICT (key) DO UPDATE SET value = excluded.value
            """,
            (model,),
        )
        return bool(before)

    def start_again(self) -> None:
        """Drop all vectors, and let every passage wait for a new one. Inside a transaction."""
        self.clear()
        self._db.execute("UPDATE passages SET model = '' WHERE model <> ''")

    def clear(self) -> None:
        """Drop all vectors."""
        self._db.execute("DELETE FROM vectors")
        self._db.execute("DELETE FROM blocks")

    def waiting(self, limit: int) -> list[Unembedded]:
        """Passages without a vector, the oldest first."""
        rows = self._db.execute(
            "SELECT row, project_id, text FROM passages WHERE model = '' ORDER BY row LIMIT ?", (limit,)
        )
        return [Unembedded(*row) for row in rows]

    def counts(self, wanted: str = "") -> tuple[int, int]:
        """How many passages have a vector, and how many wait for one; those of another model wait too."""
        if wanted and wanted != self.model():
            return 0, int(self._db.execute("SELECT count(*) FROM passages").fetchone()[0])
        # the blocks count them already; the table itself is hundreds of megabytes in a large memory
        done = self._db.execute("SELECT coalesce(sum(filled), 0) FROM blocks").fetchone()[0]
        few = "SELECT count(*) FROM (SELECT 1 FROM passages WHERE model = '' LIMIT ?)"
        waiting = self._db.execute(few, (_FEW,)).fetchone()[0]
        if waiting == _FEW:
            waiting = max(_FEW, self._db.execute("SELECT count(*) FROM passages").fetchone()[0] - done)
        return int(done), int(waiting)

    def count(self, project_id: str) -> int:
        """How many passages of a project have a vector."""
        query = "SELECT coalesce(sum(filled), 0) FROM blocks WHERE project_id = ?"
        return int(self._db.execute(query, (project_id,)).fetchone()[0])

    def put(self, vectors: Sequence[Vector]) -> None:
        """Write vectors of the model that was adopted; inside a transaction."""
        model, length = self.model(), self.dimensions()
        by_project: dict[str, list[Vector]] = {}
        for vector in vectors:
            length = length or len(vector.values)
            if len(vector.values) != length:
                raise Failed(
                    f"a vector of {len(vector.values)} dimensions among vectors of {length} was refused: "
                    f"set embed.model to one model that always gives as many"
                )
            by_project.setdefault(vector.project_id, []).append(vector)
        for project_id, some in by_project.items():
            self._append(model, project_id, some)
        self._db.executemany(
            "UPDATE passages SET model = ? WHERE row = ?", [(model, vector.row) for vector in vectors]
        )

    def _append(self, model: str, project_id: str, vectors: Sequence[Vector]) -> None:
        start = 0
        while start < len(vectors):
            block, filled, numbers, codes = self._open_block(model, project_id)
            some = vectors[start : start + BLOCK - filled]
            start += len(some)
            numbers += b"".join(_NUMBER.pack(vector.row) for vector in some)
            codes += b"".join(vector.signs for vector in some)
            self._db.execute(
                "UPDATE blocks SET filled = ?, numbers = ?, codes = ? WHERE number = ?",
                (filled + len(some), numbers, codes, block),
            )
            self._db.executemany(
                "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?, ?)",
                [(vector.row, model, project_id, block, vector.values) for vector in some],
            )

    def _open_block(self, model: str, project_id: str) -> tuple[int, int, bytes, bytes]:
        row = self._db.execute(
            """
            SELECT number, filled, numbers, codes FROM blocks
            WHERE model = ? AND project_id = ? AND filled < ? LIMIT 1
            """,
            (model, project_id, BLOCK),
        ).fetchone()
        if row is not None:
            return int(row[0]), int(row[1]), bytes(row[2]), bytes(row[3])
        number = self._db.execute(
            "INSERT INTO blocks (model, project_id, filled, numbers, codes) VALUES (?, ?, 0, x'', x'')",
            (model, project_id),
        ).lastrowid
        return int(number or 0), 0, b"", b""

    def remove(self, rows: Sequence[int]) -> None:
        """Take the vectors of passages out, and their signs out of their blocks."""
        gone: dict[int, set[int]] = {}
        for row in rows:
            found = self._db.execute("DELETE FROM vectors WHERE row = ? RETURNING block", (row,)).fetchone()
            if found is not None:
                gone.setdefault(found[0], set()).add(row)
        for block, numbers in gone.items():
            self._thin_out(block, numbers)

    def _thin_out(self, block: int, gone: set[int]) -> None:
        row = self._db.execute("SELECT numbers, codes FROM blocks WHERE number = ?", (block,)).fetchone()
        numbers, codes = bytearray(row[0]), bytearray(row[1])
        width = len(codes) // max(1, len(numbers) // _NUMBER_BYTES)
        places = {number: place for place, (number,) in enumerate(_NUMBER.iter_unpack(numbers))}
        for place in sorted((places[number] for number in gone & places.keys()), reverse=True):
            del numbers[place * _NUMBER_BYTES : (place + 1) * _NUMBER_BYTES]
            del codes[place * width : (place + 1) * width]
        self._db.execute(
            "UPDATE blocks SET filled = ?, numbers = ?, codes = ? WHERE number = ?",
            (len(numbers) // _NUMBER_BYTES, numbers, codes, block),
        )

    def blocks(self, model: str, project_id: str | None) -> Iterator[tuple[bytes, bytes]]:
        """The numbers of passages and their signs, block by block, of one project or of all."""
        condition = "" if project_id is None else "AND project_id = ?"
        values = (model,) if project_id is None else (model, project_id)
        query = f"SELECT numbers, codes FROM blocks WHERE model = ? {condition} AND filled > 0"  # noqa: S608
        yield from self._db.execute(query, values).fetchall()

    def read(self, model: str, rows: Sequence[int]) -> list[tuple[int, bytes]]:
        """The vectors of these passages that there are."""
        marks = ",".join("?" * len(rows))
        return self._db.execute(
            f"SELECT row, vector FROM vectors WHERE model = ? AND row IN ({marks})",  # noqa: S608
            (model, *rows),
        ).fetchall()
