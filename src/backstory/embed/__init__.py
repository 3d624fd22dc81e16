"""Vectors of texts: offline by a table that ships with Backstory, or by an endpoint that the user names.

embedder.py       who makes vectors, by the settings; or why nobody does
word_pieces.py    text to the numbers of its word pieces
static_table.py   the table: a vector for each word piece, one for a text, how alike two words are
http_embedder.py  vectors over HTTP: any OpenAI-compatible endpoint, or Ollama
vector_codes.py   vectors as bytes: 8 bits a dimension, and their signs
data/             the table itself; tools/static_table.py makes it
"""

import os

# numpy reads it when it is loaded. Our matrices are small: more threads only wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
