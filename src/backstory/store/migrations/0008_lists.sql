-- Memories by kind and state, newest first: a list of a rare state is as short to read as it is to show.

DROP INDEX memories_by_time;
CREATE INDEX memories_by_time ON memories (kind, status, at, id);
DROP INDEX memories_by_project;
CREATE INDEX memories_by_project ON memories (project_id, kind, status, at, id);
CREATE INDEX memories_pinned ON memories (kind, status, at, id) WHERE pinned = 1;

-- A session by what its agent calls it.
CREATE INDEX sessions_by_native ON sessions (native_id);
