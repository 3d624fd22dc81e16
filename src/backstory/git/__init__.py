"""Reading a user's git repository without running git and without trusting it.

The repository may come out of an archive that somebody else packed. So no program is started; no
configuration, attributes, filters or hooks are read; nothing is written, nothing is fetched. What cannot be
read safely or in time is `Unavailable`, and the caller does without it.
See `docs/decisions/0007-no-git-program.md`.

boundary.py        how the rest of the program asks: whatever goes wrong is an unknown answer
read_limit.py      what a question may take of time and memory
object_store.py    commits, trees and blobs, by id; the only import of pygit2, which compares lines
pack_file.py       packed objects
index_file.py      the index: which files git tracks, and what they were when it last looked
repository.py      one repository, opened: HEAD, objects, index, and a time limit for all of it
tree_diff.py       what two trees differ in, with renames
commit_history.py  the last commits, and the commits that touched one file
ignore_rules.py    which files git leaves out
work_tree.py       which tracked files differ from HEAD, and by how many lines
"""
