"""Other memory tools, for people who switch: what they have kept becomes events here, each once.

Each tool is a history like an agent's (`agents/history_source.py`): it is found, read as lines, and stored by
the importer. The events' agent is the tool, so that everywhere it shows who says so: we observed nothing of
it, and nothing of it is the user's own word but the prompts.

- `importer_table`                 all of them
- `claude_mem`, `cce`, `mempalace` tools that keep a database
- `memoria`, `memory_md`           tools that keep Markdown
- `database_sessions`              their sessions in databases
- `sqlite_tables`                  another tool's database, read and never touched
- `table_rows`                     rows of theirs as lines, and the reader of such lines
- `event_writer`                   what they say, written as events
- `markdown_pages`                 Markdown: sections, days
- `folder_names`                   the real folders behind the names that tools keep
- `imported_memories`              events of theirs → memories, also on a rebuild
"""
