"""Real work: whether what the memory says is what the next session needed.

labels.py    a project's transcripts in order, and its labels (`gold.json`)
replay.py    a transcript as the hook events that its agent would have sent
home.py      a scratch home: earlier sessions imported, hooks installed, asked by the real program
answers.py   a model whose answers were recorded: an endpoint that looks up what it is asked
scores.py    what is counted: needs told in time, rows of a start that are worth telling
naive.py     the baseline that anybody writes in an hour
fit_worth.py the weights of what a start is told, each project judged by the others
fit_notes.py the weights of what a note tells at work, likewise
run.py       the tables: told in time, the brief, search
"""
