"""What happens under load: fifty agents at once, a worker that runs for long, a memory that has become large.

__main__.py  the command line: which parts, how large, the table
stage.py     an installed home to measure in, and what was measured
offered.py   fifty agents at fixed times, beside `sh -c 'cat >f'`
memory.py    one worker and how much memory it takes
million.py   a large memory, and how quickly it answers
"""
