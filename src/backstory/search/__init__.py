"""Search: finding what was said, done and learned, or saying that there is nothing.

find.py          from a question to an answer
hits.py          what was found, as it is shown
question.py      a question, taken apart: its words, what it says of a time
question_words.py the words of a question that say what is sought
smallwords.py    words that say nothing of what is sought
spelling.py      typing errors: words that were meant otherwise
time_expressions.py the time that a question names: "last week", "since March"
requested_kinds.py what kind of thing a question about a time asks for
period_contents.py what a period holds, if nothing else is asked for
meaning.py       the nearest vectors (numpy)
marks.py         how well passages fit a question
ranking.py       words, context and meaning, weighed and summed; priors
names.py         names that are spelled out: that one or none
evidence.py      what speaks for passages being an answer
floor.py         whether there is an answer at all, and what is relevant enough
reasoning.py     what agents reasoned, searched on request
near_duplicates.py one thing stored in two forms is shown once
history.py       replaced decisions, and what only repeats them, come last
excerpt.py       what of a long text is shown
answer.py        what a search gives back
narrowing.py     what a search is narrowed to must be known
asking.py        who asks: nobody gets his own question back
embedding.py     passages get their vectors
"""
