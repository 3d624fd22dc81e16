"""Passages get their vectors: in batches, each its own transaction, so that a kill costs at most one."""

import logging
import time

from backstory.embed.embedder import Embedder
from backstory.store import Store
from backstory.store.vectors import Vector

log = logging.getLogger(__name__)


def embed_waiting(store: Store, embedder: Embedder, seconds: float) -> bool:
    """Make vectors of passages that have none, for about so long; True if none is left to be done."""
    from backstory.embed import vector_codes

    deadline = time.monotonic() + seconds
    with store.transaction():
        store.vectors.adopt(embedder.model)
    began = True
    while rows := store.vectors.waiting(embedder.batch):
        made = embedder.embed([row.text for row in rows])
        if began and store.vectors.dimensions() not in (0, made.shape[1]):
            log.warning("%s gives %d dimensions now: all vectors anew", embedder.model, made.shape[1])
            with store.transaction():
                store.vectors.start_again()
        began = False
        vectors = [
            Vector(row.row, row.project_id, values, signs)
            for row, values, signs in zip(
                rows, vector_codes.values(made), vector_codes.signs(made), strict=True
            )
        ]
        with store.transaction():
            store.vectors.put(vectors)
        if time.monotonic() > deadline:
            return False
    return True
