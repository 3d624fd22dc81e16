"""Knowledge: daily logs and a wiki, Markdown that people own.

vault.py               the folder of a project: where its pages lie, its lock, its format
markdown_page.py       Markdown made and read: harmless text, slugs, front matter, links, sections
page_transaction.py    several pages written together or not at all; a killed change is taken back
daily_log.py           the daily log: entries and lines, appended once
log_entry.py           what a session leaves in the log, by section
log_state.py           which sessions are to be logged, and how far they were
log_notes.py           a log, read back: what each entry says, and about what
topics.py              what a note is about: files, modules, tools, errors, decisions
articles.py            articles made of notes, and brought up to date without a word of people's lost
compiler.py            logs to wiki: what is stale, in which order, within which limits
rollup.py              weekly pages, highlights, the runbook
index_page.py          index.md and log.md
lint_checks.py         seven checks and two of the index of facts; fixes what needs no thought
question_answering.py  an answer from the wiki and the memory, with its sources
facts.py               typed facts and their index · discoveries.py what may become one
bootstrap.py           what a session of a host is told at its start
sharing_trust.py       which projects may use what is shared
page_erasure.py        what was forgotten leaves every page
writer_protocol.py     the seam for a model · model_prose.py what it may write
skipped_work.py        work that was left out, on record until somebody has seen it
vault_export.py        a copy in the repository, for those who want it there
log_writer.py          the worker's part: what is due, written down
"""
