-- Long lists, newest first, over all projects: what the viewer pages through.

CREATE INDEX sessions_by_time ON sessions (last_at, id);
CREATE INDEX memories_by_time ON memories (kind, at, id);
CREATE INDEX injections_by_time ON injections (at);
