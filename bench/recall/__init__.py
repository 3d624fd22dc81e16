"""How well search finds: LoCoMo, LongMemEval, coding sessions, negative controls, latency, size.

run.py         the command, and its tables
data.py        the data sets as cases: sessions that go into a store, questions with what answers them
memory.py      a case becomes a home: sessions stored as sessions, distilled, indexed, embedded
methods.py     from a question to sessions or turns: the product, and what it is compared with
peer.py        MemPalace's own product, if it is installed somewhere
measures.py    recall, NDCG, MRR
controls.py    does an off-topic question get nothing, and an on-topic one something
everyday.py    questions that no project's memory should answer
developers.py  sessions of two small projects, and what developers ask of them in other words
load.py        latency and size with many memories
"""
