"""How well search finds: LoCoMo, LongMemEval, coding sessions, negative controls, latency, size.

run.py         the command, and its tables
data.py        the data sets as cases: sessions that go into a store, questions with what answers them
memory.py      a case becomes a home: sessions stored as sessions, distilled, indexed, embedded
methods.py     from a question to sessions or turns: the product, and what it is compared with
measures.py    recall, NDCG, MRR
everyday.py    questions that no project's memory should answer
load.py        latency and size with many memories
"""
